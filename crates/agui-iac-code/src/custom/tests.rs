use super::*;
use crate::Notes;

fn raw(text: &str) -> &RawValue {
    serde_json::from_str(text).unwrap()
}

fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

#[test]
fn s6_1_the_session_has_all_its_ids() {
    let session = SessionV1::new("thread-a", "run-a1", "e1", "agui-1", "inv-1");

    assert_eq!(
        written(&session.clone().with_task_id("T1").with_session_id("S1")),
        r#"{"schemaVersion":1,"threadId":"thread-a","aguiRunId":"run-a1","executionId":"e1","contextId":"agui-1","taskId":"T1","rosInvocationId":"inv-1","sessionId":"S1"}"#
    );
    assert_eq!(
        written(&session),
        r#"{"schemaVersion":1,"threadId":"thread-a","aguiRunId":"run-a1","executionId":"e1","contextId":"agui-1","taskId":null,"rosInvocationId":"inv-1","sessionId":null}"#
    );
}

#[test]
fn s6_2_an_artifact_keeps_its_text_and_gets_the_flags_that_came() {
    let artifact =
        r#"{ "artifactId":"A1","parts":[{"url":"x","metadata":{"byteSize":19.0,"n":1234567890123456789}}] }"#;
    let cases = [
        (
            ArtifactV1::new(raw(artifact)),
            r#"{"schemaVersion":1,"artifactId":"A1","parts":[{"url":"x","metadata":{"byteSize":19.0,"n":1234567890123456789}}]}"#,
        ),
        (
            ArtifactV1::new(raw(r#"{"artifactId":"A1"}"#)).with_append(false).with_last_chunk(true),
            r#"{"schemaVersion":1,"artifactId":"A1","append":false,"lastChunk":true}"#,
        ),
        (
            ArtifactV1::new(raw(
                r#"{"schemaVersion":9,"append":"odd","lastChunk":"kept","name":1,"name":2}"#,
            ))
            .with_append(true),
            r#"{"schemaVersion":1,"lastChunk":"kept","name":2,"append":true}"#,
        ),
        (ArtifactV1::new(raw("null")), r#"{"schemaVersion":1}"#),
        (ArtifactV1::new(raw("[1]")).with_last_chunk(false), r#"{"schemaVersion":1,"lastChunk":false}"#),
    ];
    for (artifact, expected) in cases {
        assert_eq!(written(&artifact), expected);
    }
}

#[test]
fn s6_3_tool_progress_is_the_tool_object_with_a_version() {
    let tool = r#"{"status":"progress","toolUseId":"call_2","mcp":{"progress":3.0}}"#;

    assert_eq!(
        written(&ToolProgressV1::new(raw(tool))),
        r#"{"schemaVersion":1,"status":"progress","toolUseId":"call_2","mcp":{"progress":3.0}}"#
    );
}

#[test]
fn s6_6_a_pipeline_event_is_passed_on_unchanged() {
    let text =
        r#"{ "sequence": 7.0, "eventId":"evt-1", "eventType":"candidate_started", "data":{"n":1E400} }"#;
    let envelope = PipelineEnvelope::read(raw(text), &mut Notes::default()).unwrap();

    assert_eq!(written(&PipelineV1::new(&envelope).unwrap()), text);
}

#[test]
fn s6_4_an_event_that_is_not_listed_has_no_value() {
    for event_type in ["text_delta", "pipeline_failed", "step_started", "invented", ""] {
        let text = format!(r#"{{"eventType":"{event_type}"}}"#);
        let envelope = PipelineEnvelope::read(raw(&text), &mut Notes::default()).unwrap();

        assert!(PipelineV1::new(&envelope).is_none(), "{event_type}");
    }
}

#[test]
fn a_recovered_pipeline_is_an_activity_with_one_message_id() {
    let activity = PipelineActivityV1::new("C1", raw(r#"{"status":"working","lastSequence":9}"#));

    assert_eq!(
        written(&activity),
        r#"{"schemaVersion":1,"pipelineRunId":"C1","snapshot":{"status":"working","lastSequence":9}}"#
    );
    assert_eq!(activity.message_id(), "pipeline:C1");
}
