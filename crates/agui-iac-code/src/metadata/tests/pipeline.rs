//! Pipeline events.

use super::*;
use crate::{PermissionDecision, PipelineEventType};

fn event(text: &str) -> PipelineEnvelope<'_> {
    let mut notes = Notes::default();
    let event = PipelineEnvelope::read(raw(text), &mut notes).unwrap();
    assert!(notes.is_empty(), "{text}: {notes:?}");
    event
}

#[test]
fn an_envelope_is_read() {
    let text = r#"{"schemaVersion":"1.0","extensionUri":"urn:x","eventId":"evt-01","sequence":7.0,"createdAt":
        "2026-01-02T03:04:05Z","eventType":"candidate_step_started","scope":"candidate_step","pipelineRunId":"C1",
        "taskId":"T1","contextId":"C1","deliveryTaskId":"T2","deliveryContextId":"C2","pipelineName":"selling",
        "status":"working","iacCodeSessionId":"S1","visibility":"committed",
        "step":{"id":"plan","runId":"step-plan-1","attempt":1.0,"index":2.0,"total":3.0,"type":"normal","uiMode":null},
        "candidate":{"id":"sub-0","runId":"candidate-sub-0-0-1","index":0.0,"attempt":1.0,"name":"Basic",
        "pipelineName":"evaluate","totalSteps":2.0,"steps":[{"status":"pending"}]},
        "candidateStep":{"id":"template","runId":"candidate-sub-0-0-1-template-1","attempt":1.0},
        "data":{"stepId":"template"}}"#;

    let event = event(text);

    assert_eq!((event.event_id.as_deref(), event.sequence), (Some("evt-01"), Some(7)));
    assert_eq!(event.event_type, PipelineEventType::CandidateStepStarted);
    assert_eq!((event.scope, event.status), (Some(Scope::CandidateStep), Some(PipelineStatus::Working)));
    let texts = [
        (&event.pipeline_run_id, "C1"),
        (&event.task_id, "T1"),
        (&event.context_id, "C1"),
        (&event.delivery_task_id, "T2"),
        (&event.delivery_context_id, "C2"),
        (&event.pipeline_name, "selling"),
        (&event.session_id, "S1"),
        (&event.created_at, "2026-01-02T03:04:05Z"),
        (&event.data_step_id, "template"),
    ];
    for (found, expected) in texts {
        assert_eq!(found.as_deref(), Some(expected));
    }
    let step = StepRef {
        id: Some("plan".into()),
        run_id: Some("step-plan-1".into()),
        attempt: Some(1),
        index: Some(2),
        total: Some(3),
        kind: Some("normal".into()),
        ui_mode: None,
    };
    assert_eq!(event.step.as_deref(), Some(&step));
    let candidate = event.candidate.as_deref().unwrap();
    assert_eq!(
        (candidate.id.as_deref(), candidate.index, candidate.total_steps),
        (Some("sub-0"), Some(0), Some(2))
    );
    assert_eq!(candidate.steps.unwrap().get(), r#"[{"status":"pending"}]"#);
    assert_eq!(event.step_id(), Some("template"));
    assert!(!event.is_pending_backup());
    assert_eq!((event.raw.get(), event.payload), (text, PipelinePayload::Unread));
}

#[test]
fn the_step_of_an_event_is_the_innermost_one() {
    let cases = [
        (r#"{"eventType":"step_started","step":{"id":"plan"}}"#, Some("plan")),
        (r#"{"eventType":"step_completed","step":{"id":"plan"},"data":{"stepId":"other"}}"#, Some("other")),
        (
            r#"{"eventType":"candidate_step_failed","step":{"id":"plan"},"candidateStep":{"id":"cost"}}"#,
            Some("cost"),
        ),
        (r#"{"eventType":"candidate_step_completed","data":{"stepId":"cost"}}"#, Some("cost")),
        (r#"{"eventType":"step_started"}"#, None),
    ];
    for (text, id) in cases {
        assert_eq!(event(text).step_id(), id, "{text}");
    }
}

#[test]
fn text_reasoning_and_messages_are_read() {
    let cases = [
        (
            r#"{"eventType":"text_delta","data":{"text":"two merged deltas"}}"#,
            PipelinePayload::Text("two merged deltas".into()),
        ),
        (
            r#"{"eventType":"thinking_delta","data":{"type":"raw_thinking","text":"hm"}}"#,
            PipelinePayload::Thinking(Thinking {
                kind: Some("raw_thinking".into()),
                text: Some("hm".into()),
            }),
        ),
        (
            r#"{"eventType":"message_started","data":{"messageId":"msg_1"}}"#,
            PipelinePayload::MessageStarted(Some("msg_1".into())),
        ),
        (
            r#"{"eventType":"message_tombstone","data":{"messageId":"msg_1","affectedToolUseIds":["c1","c2"]}}"#,
            PipelinePayload::MessageWithdrawn {
                message_id: Some("msg_1".into()),
                tool_use_ids: vec!["c1".into(), "c2".into()],
            },
        ),
        (
            r#"{"eventType":"usage","data":{"inputTokens":50.0,"model":"m"}}"#,
            PipelinePayload::Usage(Box::new(Usage {
                input_tokens: Some(50),
                model: Some("m".into()),
                ..Usage::default()
            })),
        ),
        (
            r#"{"eventType":"backup_committed","data":{"committedEventId":"evt-1","committedSequence":11.0}}"#,
            PipelinePayload::BackupCommitted(Some("evt-1".into())),
        ),
        (
            r#"{"eventType":"rollback_completed","data":{"fromStep":"b","toStep":"a","reason":"x"}}"#,
            PipelinePayload::RolledBack { from_step: Some("b".into()), to_step: Some("a".into()) },
        ),
        (
            r#"{"eventType":"rollback_completed","data":{"rollbackScope":"candidate","toStepId":"a"}}"#,
            PipelinePayload::RolledBack { from_step: None, to_step: Some("a".into()) },
        ),
        (r#"{"eventType":"text_delta","data":{}}"#, PipelinePayload::Unread),
        (r#"{"eventType":"text_delta"}"#, PipelinePayload::Unread),
        (r#"{"eventType":"of_the_future","data":{"text":"x"}}"#, PipelinePayload::Unread),
    ];
    for (text, payload) in cases {
        assert_eq!(event(text).payload, payload, "{text}");
    }
}

#[test]
fn tools_of_a_pipeline_are_read_like_those_of_a_turn() {
    let cases = [
        (
            r#"{"eventType":"tool_started","data":{"toolName":"bash","toolUseId":"c1","input":{"a":1.0}}}"#,
            ToolStatus::InputComplete,
        ),
        (
            r#"{"eventType":"tool_result","data":{"toolName":"bash","toolUseId":"c1","isError":false,"result":"ok"}}"#,
            ToolStatus::Completed,
        ),
        (
            r#"{"eventType":"tool_result","data":{"toolName":"bash","toolUseId":"c1","isError":true,"result":"no"}}"#,
            ToolStatus::Failed,
        ),
        (
            r#"{"eventType":"tool_progress","data":{"toolName":"bash","toolUseId":"c1","serverName":"s","mcpToolName":"t","progress":1.0,"isError":true}}"#,
            ToolStatus::Progress,
        ),
    ];
    for (text, status) in cases {
        let PipelinePayload::Tool(tool) = event(text).payload else { panic!("{text}") };
        assert_eq!(tool.status, status, "{text}");
        assert_eq!((tool.name.as_deref(), tool.tool_use_id.as_deref()), (Some("bash"), Some("c1")), "{text}");
        assert_eq!(tool.mcp.is_some(), status == ToolStatus::Progress, "{text}");
        assert_eq!(tool.tool_input.map(Raw::get), text.contains("input").then_some(r#"{"a":1.0}"#), "{text}");
    }
}

#[test]
fn a_question_without_id_is_completed_from_its_envelope() {
    let text = r#"{"eventType":"input_required","eventId":"evt-9","taskId":"T1","contextId":"C1","scope":"step",
        "status":"input_required","data":{"kind":"candidate_selection","prompt":"Please choose a plan:",
        "options":[{"name":"cheap","candidate_index":0.0,"summary":"s"}]}}"#;

    let PipelinePayload::InputRequired(input) = event(text).payload else { panic!() };

    assert_eq!(input.kind, InputKind::CandidateSelection);
    assert_eq!(input.interrupt_id(), "input-evt-9");
    assert_eq!((input.request_task_id.as_deref(), input.context_id.as_deref()), (Some("T1"), Some("C1")));
    assert_eq!((input.scope, input.is_open()), (Some(Scope::Step), true));
    assert_eq!(input.choices()[0].id, "0");
}

#[test]
fn questions_that_only_a_pipeline_event_tells_are_read() {
    let deployment = r#"{"eventType":"input_required","eventId":"evt-1","taskId":"T1","data":{
        "kind":"deployment_confirmation","prompt":"Deploy?","solution_summary":"one VPC","template_url":"oss://t",
        "cost":{"total":"10"},"preview_ready_for_create":true,"options":["yes"]}}"#;
    let pause = r#"{"eventType":"input_required","eventId":"evt-2","data":{"kind":"pipeline_pause_confirmation",
        "prompt":"Go on?","reason":"user asked","paused":true,"options":[]}}"#;
    let blocked =
        r#"{"eventType":"backup_blocked","data":{"reason":"terminal","error":"disk","recoverable":true}}"#;

    let deployment = event(deployment);
    let PipelinePayload::InputRequired(input) = deployment.payload else { panic!() };
    assert_eq!(
        (input.kind, input.interrupt_id().as_ref()),
        (InputKind::DeploymentConfirmation, "input-evt-1")
    );
    assert_eq!(input.choices()[0].answer, "yes");
    let public = serde_json::to_value(input.public_members()).unwrap();
    assert_eq!((&public["solution_summary"], &public["cost"]["total"]), (&"one VPC".into(), &"10".into()));

    let PipelinePayload::InputRequired(input) = event(pause).payload else { panic!() };
    assert_eq!(
        (input.kind, input.reason.as_deref()),
        (InputKind::PipelinePauseConfirmation, Some("user asked"))
    );

    let PipelinePayload::BackupBlocked(blocked) = event(blocked).payload else { panic!() };
    assert_eq!((blocked.reason.as_deref(), blocked.recoverable), (Some("terminal"), Some(true)));
}

#[test]
fn a_question_is_read_from_input_rather_than_data() {
    let text = r#"{"eventType":"input_required","data":{"kind":"ask_user_question","inputId":"ask-1"},
        "input":{"kind":"ask_user_question","inputId":"ask-1","required":false}}"#;

    let PipelinePayload::InputRequired(input) = event(text).payload else { panic!() };

    assert!(!input.is_open());
}

#[test]
fn permissions_of_a_pipeline_are_read() {
    let requested = r#"{"eventType":"permission_requested","eventId":"evt-1","taskId":"T1","contextId":"C1",
        "scope":"candidate_step","candidate":{"id":"sub-0"},"data":{"toolName":"write_file","toolUseId":"c1"},
        "permission":{"inputId":"permission-95","permissionId":"perm-c1","pending":true,"toolUseId":"c1",
        "toolName":"write_file","title":"Change a file"}}"#;
    let resolved = r#"{"eventType":"permission_resolved","data":{"kind":"permission","permissionId":"perm-c1",
        "inputId":"permission-95","toolUseId":"c1","decision":"deny","pending":false,"canceled":true,
        "automatic":false,"timedOut":true}}"#;

    let PipelinePayload::PermissionRequested(input) = event(requested).payload else { panic!() };
    assert_eq!((input.kind, input.kind_name.as_ref()), (InputKind::Permission, "permission"));
    assert_eq!(
        (input.interrupt_id().as_ref(), input.title.as_deref()),
        ("permission-95", Some("Change a file"))
    );
    assert_eq!(
        (input.request_task_id.as_deref(), input.sub_pipeline_id.as_deref()),
        (Some("T1"), Some("sub-0"))
    );
    assert!(input.is_sideband() && input.is_open());

    let PipelinePayload::PermissionResolved(resolved) = event(resolved).payload else { panic!() };
    let expected = PermissionResolved {
        input_id: Some("permission-95".into()),
        permission_id: Some("perm-c1".into()),
        tool_use_id: Some("c1".into()),
        decision: Some(PermissionDecision::Deny),
        canceled: Some(true),
        automatic: Some(false),
        timed_out: Some(true),
    };
    assert_eq!(*resolved, expected);
}

#[test]
fn answers_and_artifacts_of_a_pipeline_are_read() {
    let received = r#"{"eventType":"input_received","data":{"kind":"candidate_selection","selectedIndex":1.0,
        "selectedValue":"ha","selectedId":"1","userInputLength":2.0}}"#;
    let artifact =
        r#"{"eventType":"artifact_created","data":{"artifactId":"D"},"artifact":{"artifactId":"A"}}"#;

    let PipelinePayload::InputReceived(received) = event(received).payload else { panic!() };
    assert_eq!((received.kind, received.selected_index), (Some(InputKind::CandidateSelection), Some(1)));
    assert_eq!(
        (received.selected_id.as_deref(), received.selected_value.as_deref()),
        (Some("1"), Some("ha"))
    );

    let PipelinePayload::Artifact(artifact) = event(artifact).payload else { panic!() };
    assert_eq!(artifact.artifact_id.as_deref(), Some("A"));
}

#[test]
fn events_come_in_sending_order() {
    let text = metadata(
        r#""pipeline":{"eventId":"evt-3","eventType":"usage"},
        "pipelineBatch":{"schemaVersion":"1.0","extensionUri":"urn:x","events":[{"eventId":"evt-1"},
        {"eventId":"evt-2","visibility":"pending_backup"}]}"#,
    );

    let update = read(&text);

    let ids: Vec<_> = update.envelopes().map(|event| event.event_id.as_deref().unwrap()).collect();
    assert_eq!(ids, ["evt-1", "evt-2", "evt-3"]);
    let pending: Vec<_> = update.envelopes().map(PipelineEnvelope::is_pending_backup).collect();
    assert_eq!(pending, [false, true, false]);
}
