//! Datums as iac-code 0.16 sends them.

use a2a_wire::{PartContent, StreamItem};

fn summary(json: &str) -> String {
    match StreamItem::decode(json.as_bytes()) {
        Ok(StreamItem::Task(task)) => format!(
            "task {} in {} is {}, {} messages",
            task.id,
            task.context_id.as_deref().unwrap_or("-"),
            task.status.state,
            task.history.len()
        ),
        Ok(StreamItem::StatusUpdate(update)) => format!(
            "{} {} at {}: {:?} {}",
            update.task_id,
            update.status.state,
            update.status.timestamp.as_deref().unwrap_or("-"),
            update.status.message.unwrap_or_default().texts().collect::<Vec<_>>(),
            update.metadata.map_or("-", |raw| raw.get())
        ),
        Ok(StreamItem::ArtifactUpdate(update)) => format!(
            "{} {:?} {:?} last={}",
            update.artifact.artifact_id,
            update.artifact.name.as_deref(),
            update.artifact.parts.iter().map(content).collect::<Vec<_>>(),
            update.last_chunk
        ),
        Ok(StreamItem::Message(message)) => {
            format!(
                "{} {:?} {:?}",
                message.message_id,
                message.role,
                message.parts.iter().map(content).collect::<Vec<_>>()
            )
        }
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

fn content(part: &a2a_wire::Part<'_>) -> String {
    match &part.content {
        PartContent::Data(data) => format!("{data} as {:?}", part.media_type.as_deref()),
        PartContent::Url(url) => format!("at {url}"),
        _ => format!("{part:?}"),
    }
}

#[test]
fn recorded_status_updates_are_read() {
    let cases = [
        (
            r#"{"result":{"statusUpdate":{"taskId":"4152e060-fd08","contextId":"agui-8b983fb9","status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-11-30T15:09:54.718986Z"},"metadata":{"iac_code":{"iacCodeSessionId":"770026bd-56fa"}}}},"id":"72b242e2-2d1c","jsonrpc":"2.0"}"#,
            r#"4152e060-fd08 TASK_STATE_INPUT_REQUIRED at 2026-11-30T15:09:54.718986Z: [] {"iac_code":{"iacCodeSessionId":"770026bd-56fa"}}"#,
        ),
        (
            r#"{"result":{"statusUpdate":{"taskId":"a89d8f14-b268","contextId":"agui-dd26dc6c","status":{"state":"TASK_STATE_FAILED","message":{"messageId":"a89d8f14-b268-message","contextId":"agui-dd26dc6c","taskId":"a89d8f14-b268","role":"ROLE_AGENT","parts":[{"text":"BadRequestError: Error code: 400 - bad request from lab"}]}},"metadata":{"iac_code":{"iacCodeSessionId":"1f11306e-e142","error":{"errorId":"61d36af3f057","retryable":false}}}}},"id":"1825ea25-6fb0","jsonrpc":"2.0"}"#,
            r#"a89d8f14-b268 TASK_STATE_FAILED at -: ["BadRequestError: Error code: 400 - bad request from lab"] {"iac_code":{"iacCodeSessionId":"1f11306e-e142","error":{"errorId":"61d36af3f057","retryable":false}}}"#,
        ),
        (
            r#"{"result":{"statusUpdate":{"taskId":"2cad8e94-fa35","contextId":"agui-f70ba179","status":{"state":"TASK_STATE_WORKING"},"metadata":{"iac_code":{"iacCodeSessionId":"ea0aaf9d-d023","usage":{"inputTokens":0.0,"model":"other","totalTokens":0.0,"provider":"openai"}}}}},"id":"9aac0ebf-82fd","jsonrpc":"2.0"}"#,
            r#"2cad8e94-fa35 TASK_STATE_WORKING at -: [] {"iac_code":{"iacCodeSessionId":"ea0aaf9d-d023","usage":{"inputTokens":0.0,"model":"other","totalTokens":0.0,"provider":"openai"}}}"#,
        ),
    ];
    for (json, expected) in cases {
        assert_eq!(summary(json), expected);
    }
}

#[test]
fn recorded_tasks_messages_and_artifacts_are_read() {
    let cases = [
        (
            r#"{"result":{"task":{"id":"a4d81423-b886","contextId":"agui-688f537d","status":{"state":"TASK_STATE_SUBMITTED"},"history":[{"messageId":"m1","contextId":"agui-688f537d","taskId":"a4d81423-b886","role":"ROLE_USER","parts":[{"text":""}],"metadata":{"iac_code":{"preferredLanguage":"en","cleanupOnly":false,"cwd":"/workspace/ws","rosInvocationId":"inv-thread-s3"}}}]}},"id":"1f50f5d8-2aa2","jsonrpc":"2.0"}"#,
            "task a4d81423-b886 in agui-688f537d is TASK_STATE_SUBMITTED, 1 messages",
        ),
        (
            r#"{"result":{"id":"dfe4633e-fcf1","contextId":"agui-f70ba179","status":{"state":"TASK_STATE_CANCELED","message":{"messageId":"dfe4633e-fcf1-5","role":"ROLE_AGENT","parts":[{"text":"Task canceled."}]},"timestamp":"2026-11-30T15:22:09.800596Z"},"metadata":{"iac_code":{"executionControl":{"revision":0.0,"pauseId":null}}}},"id":"cbda824c-a5ce","jsonrpc":"2.0"}"#,
            "task dfe4633e-fcf1 in agui-f70ba179 is TASK_STATE_CANCELED, 0 messages",
        ),
        (
            r#"{"result":{"message":{"messageId":"permission-ack-be18e527","contextId":"agui-bfd79463","taskId":"17874d73-a57e","role":"ROLE_AGENT","parts":[{"data":{"kind":"permission_ack","accepted":true,"decision":"allow_once","inputId":"permission-a0095aa5","schemaVersion":1.0,"toolUseId":"call_w_1"},"mediaType":"application/json"}]}},"id":"256b1341-e1e4","jsonrpc":"2.0"}"#,
            r#"permission-ack-be18e527 Agent ["{\"kind\":\"permission_ack\",\"accepted\":true,\"decision\":\"allow_once\",\"inputId\":\"permission-a0095aa5\",\"schemaVersion\":1.0,\"toolUseId\":\"call_w_1\"} as Some(\"application/json\")"]"#,
        ),
        (
            r#"{"result":{"artifactUpdate":{"taskId":"e2d84f17-0744","contextId":"agui-5f228387","artifact":{"artifactId":"74688558-3dbf","name":"2-ha-ecs.yml","parts":[{"url":"iac-code-artifact://74688558-3dbf/2-ha-ecs.yml","metadata":{"mediaType":"text/yaml","byteSize":128.0},"filename":"2-ha-ecs.yml","mediaType":"text/yaml"}],"metadata":{"byteSize":128.0}},"lastChunk":true}},"id":"cb98296b-87d3","jsonrpc":"2.0"}"#,
            r#"74688558-3dbf Some("2-ha-ecs.yml") ["at iac-code-artifact://74688558-3dbf/2-ha-ecs.yml"] last=true"#,
        ),
    ];
    for (json, expected) in cases {
        assert_eq!(summary(json), expected);
    }
}
