//! What a normal turn says.

use std::borrow::Cow;

use super::*;
use crate::PermissionDecision;

#[test]
fn a_text_update_has_the_session_only() {
    let expected = IacMetadata { session_id: Some("S1".into()), ..IacMetadata::default() };

    let update = read(r#"{"iac_code":{"iacCodeSessionId":"S1"}}"#);

    assert_eq!(update, expected);
    assert!(matches!(update.session_id, Some(Cow::Borrowed(_))));
}

#[test]
fn reasoning_and_usage_are_read() {
    let text = metadata(
        r#""thinking":{"type":"raw_thinking","text":"compare\nzones"},"usage":{"inputTokens":11.0,"outputTokens":6.0,
        "totalTokens":20.0,"provider":"openai","model":"m","cachedInputTokens":3.0}"#,
    );

    let update = read(&text);

    let thinking = Thinking { kind: Some("raw_thinking".into()), text: Some("compare\nzones".into()) };
    assert_eq!(update.thinking, Some(thinking));
    let usage = Usage {
        provider: Some("openai".into()),
        model: Some("m".into()),
        input_tokens: Some(11),
        output_tokens: Some(6),
        total_tokens: Some(20),
        cached_input_tokens: Some(3),
    };
    assert_eq!(update.usage, Some(Box::new(usage)));
}

#[test]
fn s5_3_a_count_that_did_not_come_is_absent() {
    let text = metadata(r#""usage":{"inputTokens":-1,"outputTokens":null,"totalTokens":2.5}"#);

    let update = IacMetadata::read(raw(&text));

    assert_eq!(update.usage, Some(Box::default()));
    assert_eq!(told(&update.notes), ["usage.inputTokens", "usage.totalTokens"]);
}

#[test]
fn every_status_of_a_tool_is_read() {
    let cases = [
        (r#"{"status":"started","toolUseId":"c1","name":"bash"}"#, ToolStatus::Started, None),
        (
            r#"{"status":"input_delta","toolUseId":"c1","partialJsonLength":65.0}"#,
            ToolStatus::InputDelta,
            None,
        ),
        (
            r#"{"status":"input_complete","toolUseId":"c1","name":"bash","toolInput":{"command":"ls"}}"#,
            ToolStatus::InputComplete,
            None,
        ),
        (
            r#"{"status":"completed","toolUseId":"c1","result":"Exit\tcode: 0"}"#,
            ToolStatus::Completed,
            Some("Exit\tcode: 0"),
        ),
        (
            r#"{"status":"completed","toolUseId":"c1","result":{"n":1.0}}"#,
            ToolStatus::Completed,
            Some(r#"{"n":1.0}"#),
        ),
        (r#"{"status":"completed","toolUseId":"c1","result":false}"#, ToolStatus::Completed, Some("false")),
        (r#"{"status":"completed","toolUseId":"c1","result":null}"#, ToolStatus::Completed, None),
        (r#"{"status":"failed","toolUseId":"c1","result":"denied"}"#, ToolStatus::Failed, Some("denied")),
        (r#"{"status":"progress","toolUseId":"c1"}"#, ToolStatus::Progress, None),
        (r#"{"status":"dancing","toolUseId":"c1"}"#, ToolStatus::Other, None),
        (r#"{"toolUseId":"c1"}"#, ToolStatus::Other, None),
    ];
    for (tool, status, result) in cases {
        let text = metadata(&format!(r#""tool":{tool}"#));
        let read = read(&text).tool.unwrap();
        assert_eq!((read.status, read.tool_use_id.as_deref()), (status, Some("c1")), "{tool}");
        assert_eq!(read.result_text().as_deref(), result, "{tool}");
        assert_eq!(read.raw.get(), tool);
    }
}

#[test]
fn the_parts_of_a_tool_update_are_read() {
    let text = metadata(
        r#""tool":{"status":"completed","toolUseId":"c1","name":"bash","partialJsonLength":9.0,
        "toolInput":{"id":1234567890123456789},"inputSummary":{"tool_name":"bash"},"artifact":{"artifactId":"A1",
        "filename":"t.yaml","mediaType":"text/yaml","byteSize":120.0,"sha256":"0f","uri":"file:///t","role":"final",
        "sourcePath":"/ws/t.yaml"},"mcp":{"serverName":"srv","toolName":"scan","progress":3.0,"total":9.5,
        "message":"page 3"},"mcpProgress":{"status":"progress"}}"#,
    );

    let tool = read(&text).tool.unwrap();

    assert_eq!(tool.name.as_deref(), Some("bash"));
    assert_eq!(tool.partial_json_length, Some(9));
    assert_eq!(tool.tool_input.unwrap().get(), r#"{"id":1234567890123456789}"#);
    assert_eq!(tool.input_summary.unwrap().get(), r#"{"tool_name":"bash"}"#);
    let artifact = tool.artifact.unwrap();
    assert_eq!(
        ArtifactRef { raw: Raw::default(), ..*artifact },
        ArtifactRef {
            raw: Raw::default(),
            artifact_id: Some("A1".into()),
            filename: Some("t.yaml".into()),
            media_type: Some("text/yaml".into()),
            byte_size: Some(120),
            sha256: Some("0f".into()),
            uri: Some("file:///t".into()),
            role: Some("final".into()),
            source_path: Some("/ws/t.yaml".into()),
        }
    );
    let mcp = McpProgress {
        server_name: Some("srv".into()),
        tool_name: Some("scan".into()),
        progress: Some(3.0),
        total: Some(9.5),
        message: Some("page 3".into()),
    };
    assert_eq!(*tool.mcp.unwrap(), mcp);
}

#[test]
fn the_end_of_a_turn_is_read() {
    let text = metadata(
        r#""assistantFinal":{"complete":true},"cleanupOnly":{"requested":true,"status":"completed",
        "resourceCount":0.0,"resources":[]},"error":{"retryable":true,"errorId":"ab12"},
        "backupBlocked":{"reason":"terminal","blockedTerminalState":"failed","error":"x","recoverable":true},
        "mcpWarning":{"serverName":"s","code":"parse_error","message":"m","severity":"fatal","scope":"user"},
        "mcpStatus":{"servers":[],"warnings":[]}"#,
    );

    let update = read(&text);

    assert_eq!(update.assistant_final, Some(true));
    let error = ErrorSignal { retryable: Some(true), error_id: Some("ab12".into()) };
    assert_eq!(update.error, Some(Box::new(error)));
    let blocked = BackupBlocked {
        reason: Some("terminal".into()),
        blocked_terminal_state: Some("failed".into()),
        error: Some("x".into()),
        recoverable: Some(true),
    };
    assert_eq!(update.backup_blocked, Some(Box::new(blocked)));
    let cleanup = update.cleanup_only.unwrap();
    assert_eq!((cleanup.requested, cleanup.resource_count), (Some(true), Some(0)));
    assert_eq!((cleanup.status.as_deref(), cleanup.resources.unwrap().get()), (Some("completed"), "[]"));
    let warning = McpWarning {
        server_name: Some("s".into()),
        code: Some("parse_error".into()),
        message: Some("m".into()),
        severity: Some("fatal".into()),
        scope: Some("user".into()),
    };
    assert_eq!(update.mcp_warning, Some(Box::new(warning)));
    assert_eq!(update.mcp_status.unwrap().get(), r#"{"servers":[],"warnings":[]}"#);
}

#[test]
fn what_became_of_an_answer_is_read() {
    let text = metadata(
        r#""inputReceived":{"kind":"permission","inputId":"p1","toolUseId":"c1","decision":"allow_once",
        "recovered":true,"duplicate":false},
        "permissionAck":{"schemaVersion":1.0,"kind":"permission_ack","inputId":"p1","toolUseId":"c1",
        "decision":"deny","accepted":true},
        "permissionRecovered":{"inputId":"p1","toolUseId":"c1"},
        "permissionWait":{"status":"suspended","resumable":true},
        "permissionIdentityError":{"code":"identity_mismatch","retryable":true,"inputId":"p1","toolUseId":"c1"},
        "permission":{"autoApproved":true,"pending":false,"toolName":"bash","toolUseId":"c1"}"#,
    );

    let update = read(&text);

    let received = InputReceived {
        kind: Some(InputKind::Permission),
        input_id: Some("p1".into()),
        tool_use_id: Some("c1".into()),
        decision: Some(PermissionDecision::AllowOnce),
        recovered: Some(true),
        duplicate: Some(false),
        ..InputReceived::default()
    };
    assert_eq!(update.input_received, Some(Box::new(received)));
    let ack = PermissionAck {
        input_id: Some("p1".into()),
        tool_use_id: Some("c1".into()),
        decision: Some(PermissionDecision::Deny),
        accepted: Some(true),
    };
    assert_eq!(update.permission_ack, Some(Box::new(ack)));
    assert_eq!(update.permission_recovered.unwrap().input_id.as_deref(), Some("p1"));
    let wait = PermissionWait { status: Some(PermissionWaitStatus::Suspended), resumable: Some(true) };
    assert_eq!(update.permission_wait, Some(wait));
    let identity = PermissionIdentityError {
        code: Some("identity_mismatch".into()),
        retryable: Some(true),
        input_id: Some("p1".into()),
        tool_use_id: Some("c1".into()),
    };
    assert_eq!(update.permission_identity_error, Some(Box::new(identity)));
    let notice = update.permission.unwrap();
    assert_eq!((notice.auto_approved, notice.pending), (Some(true), Some(false)));
}

#[test]
fn a_direct_acknowledgement_is_read_from_its_data_part() {
    let part = r#"{"schemaVersion":1.0,"kind":"permission_ack","inputId":"p1","toolUseId":"c1","decision":"deny","accepted":true}"#;

    let ack = PermissionAck::read_part(raw(part)).unwrap();

    assert_eq!((ack.input_id.as_deref(), ack.decision), (Some("p1"), Some(PermissionDecision::Deny)));
    for other in [r#"{"kind":"permission"}"#, r#"{"inputId":"p1"}"#, "[]", "\"permission_ack\"", "null"] {
        assert_eq!(PermissionAck::read_part(raw(other)), None, "{other}");
    }
}

#[test]
fn execution_control_is_read() {
    let control = r#"{"executionId":"exec-1","taskId":"T1","contextId":"C1","phase":"running","executionStatus":
        "input-required","revision":2.0,"connectionEpoch":-1.0,"streamAvailable":true,"pauseId":null}"#;
    let text = metadata(&format!(r#""executionControl":{control}"#));

    let control = read(&text).execution_control.unwrap();

    assert_eq!(control.execution_id.as_deref(), Some("exec-1"));
    assert_eq!(
        (control.phase.as_deref(), control.execution_status.as_deref()),
        (Some("running"), Some("input-required"))
    );
    assert_eq!((control.revision, control.connection_epoch), (Some(2), Some(-1.0)));
    assert_eq!((control.stream_available, &control.pause_id), (Some(true), &None));
}
