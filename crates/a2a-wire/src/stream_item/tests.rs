use super::*;

/// One line that says all a mapper would look at.
fn summary(json: &str) -> String {
    match StreamItem::decode(json.as_bytes()) {
        Ok(item) => describe(&item),
        Err(error) => error.to_string(),
    }
}

fn describe(item: &StreamItem<'_>) -> String {
    match item {
        StreamItem::Task(task) => format!(
            "task {} {:?} {} history={} artifacts={} {}",
            task.id,
            task.context_id,
            status(&task.status),
            task.history.len(),
            task.artifacts.len(),
            raw(task.metadata)
        ),
        StreamItem::Message(message) => format!("message {}", said(message)),
        StreamItem::StatusUpdate(update) => format!(
            "status {} {} {} final={:?} {}",
            update.task_id,
            update.context_id,
            status(&update.status),
            update.is_final,
            raw(update.metadata)
        ),
        StreamItem::ArtifactUpdate(update) => format!(
            "artifact {} {} {} append={} last={} parts={} {}",
            update.task_id,
            update.context_id,
            update.artifact.artifact_id,
            update.append,
            update.last_chunk,
            update.artifact.parts.len(),
            raw(update.artifact.raw)
        ),
        StreamItem::Unknown { kind, raw } => format!("unknown {kind:?} {raw}"),
    }
}

fn status(status: &crate::TaskStatus<'_>) -> String {
    let said = status.message.as_ref().map_or_else(|| "-".to_owned(), said);
    format!("{} {said}", status.state)
}

fn said(message: &Message<'_>) -> String {
    format!("{} {:?} {:?}", message.message_id, message.role, message.texts().collect::<Vec<_>>())
}

fn raw(raw: Option<&RawValue>) -> &str {
    raw.map_or("-", RawValue::get)
}

#[test]
fn items_of_1_0_are_read() {
    let cases = [
        (
            r#"{"result":{"task":{"id":"T1","contextId":"C1","status":{"state":"TASK_STATE_SUBMITTED"},"history":[{"messageId":"u-1","role":"ROLE_USER","parts":[{"text":"q"}],"metadata":{"iac_code":{"cwd":"/ws/a"}}}]}},"id":"7","jsonrpc":"2.0"}"#,
            r#"task T1 Some("C1") TASK_STATE_SUBMITTED - history=1 artifacts=0 -"#,
        ),
        (
            r#"{"result":{"statusUpdate":{"taskId":"T1","contextId":"C1","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"T1-message","contextId":"C1","taskId":"T1","role":"ROLE_AGENT","parts":[{"text":"Hel"}]},"timestamp":"2026-11-30T15:09:54.244469Z"},"metadata":{"iac_code":{"iacCodeSessionId":"S1"}}}},"id":"7","jsonrpc":"2.0"}"#,
            r#"status T1 C1 TASK_STATE_WORKING T1-message Agent ["Hel"] final=None {"iac_code":{"iacCodeSessionId":"S1"}}"#,
        ),
        (
            r#"{"result":{"artifactUpdate":{"taskId":"T1","contextId":"C1","artifact":{"artifactId":"A1","name":"t.yaml","parts":[{"url":"file:///t.yaml"}],"x":1.0},"lastChunk":true}},"id":"7"}"#,
            r#"artifact T1 C1 A1 append=false last=true parts=1 {"artifactId":"A1","name":"t.yaml","parts":[{"url":"file:///t.yaml"}],"x":1.0}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"7","result":{"message":{"messageId":"m9","role":"ROLE_AGENT","parts":[{"text":"direct"},{"data":{}},{"text":" reply"}]}}}"#,
            r#"message m9 Agent ["direct", " reply"]"#,
        ),
        (
            r#"{"result":{"id":"T1","contextId":"C1","status":{"state":"TASK_STATE_CANCELED"},"metadata":{}},"id":"a2"}"#,
            r#"task T1 Some("C1") TASK_STATE_CANCELED - history=0 artifacts=0 {}"#,
        ),
        (
            r#"{"result":{"status_update":{"task_id":"T1","context_id":"C1","status":{"state":6}}}}"#,
            "status T1 C1 TASK_STATE_INPUT_REQUIRED - final=None -",
        ),
        (
            r#"{"result":{"task":null,"extra":[1],"statusUpdate":{"taskId":"T1","status":null,"metadata":null}}}"#,
            "status T1  TASK_STATE_UNSPECIFIED - final=None -",
        ),
    ];
    for (json, expected) in cases {
        assert_eq!(summary(json), expected, "{json}");
    }
}

#[test]
fn items_of_0_3_are_read() {
    let cases = [
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"T1","contextId":"C1","status":{"state":"submitted"},"artifacts":[{"artifactId":"A1","parts":[]}]}}"#,
            r#"task T1 Some("C1") TASK_STATE_SUBMITTED - history=0 artifacts=1 -"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"taskId":"T1","contextId":"C1","final":false,"status":{"state":"input-required","message":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"Which?"}]}},"kind":"status-update"}}"#,
            r#"status T1 C1 TASK_STATE_INPUT_REQUIRED m Agent ["Which?"] final=Some(false) -"#,
        ),
        (
            r#"{"result":{"kind":"artifact-update","taskId":"T1","contextId":"C1","append":true,"artifact":{"artifactId":"A1","parts":[{"kind":"file","file":{"uri":"u"}}]}}}"#,
            r#"artifact T1 C1 A1 append=true last=false parts=1 {"artifactId":"A1","parts":[{"kind":"file","file":{"uri":"u"}}]}"#,
        ),
        (
            r#"{"result":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"hi"}]}}"#,
            r#"message m Agent ["hi"]"#,
        ),
    ];
    for (json, expected) in cases {
        assert_eq!(summary(json), expected, "{json}");
    }
}

#[test]
fn missing_kind_is_guessed_from_the_shape() {
    let cases = [
        (
            r#"{"result":{"id":"T1","status":{"state":"working"}}}"#,
            "task T1 None TASK_STATE_WORKING - history=0 artifacts=0 -",
        ),
        (
            r#"{"result":{"taskId":"T1","status":{"state":"working"}}}"#,
            "status T1  TASK_STATE_WORKING - final=None -",
        ),
        (r#"{"result":{"taskId":"T1","artifact":{}}}"#, "artifact T1   append=false last=false parts=0 {}"),
        (r#"{"result":{"messageId":"m","parts":[{"text":"x"}]}}"#, r#"message m Unspecified ["x"]"#),
    ];
    for (json, expected) in cases {
        assert_eq!(summary(json), expected, "{json}");
    }
}

#[test]
fn unknown_items_survive_as_they_are() {
    let cases = [
        (r#"{"result":{"progress":{"n":1.0}}}"#, r#"unknown Some("progress") {"progress":{"n":1.0}}"#),
        (
            r#"{"result":{"kind":"heartbeat","n":1E400}}"#,
            r#"unknown Some("heartbeat") {"kind":"heartbeat","n":1E400}"#,
        ),
        (r#"{"result":{}}"#, "unknown None {}"),
        (r#"{"result":null}"#, "unknown None null"),
        (r#"{"result":[1]}"#, "unknown None [1]"),
        (r#"{"result":7.0}"#, "unknown None 7.0"),
    ];
    for (json, expected) in cases {
        assert_eq!(summary(json), expected, "{json}");
    }
}

#[test]
fn error_wins_over_a_result_and_envelope_ids_are_never_task_ids() {
    let cases = [
        (r#"{"error":{"code":-32001,"message":"Task not found"},"id":"a1"}"#, "reply is error -32001"),
        (r#"{"result":{"task":{"id":"T1"}},"error":{"code":-32603},"id":"a1"}"#, "reply is error -32603"),
        (r#"{"id":"a1","jsonrpc":"2.0"}"#, "reply has neither result nor error"),
    ];
    for (json, expected) in cases {
        assert_eq!(summary(json), expected, "{json}");
    }
}

#[test]
fn free_form_values_keep_their_digits() {
    let metadata = r#"{"accountId":1234567890123456789,"price":0.1,"v":1.0,"e":1E400,"m":-0}"#;
    let json = format!(r#"{{"result":{{"statusUpdate":{{"taskId":"T1","metadata":{metadata}}}}}}}"#);
    assert_eq!(summary(&json), format!("status T1  TASK_STATE_UNSPECIFIED - final=None {metadata}"));
}

#[test]
fn deep_nesting_in_free_form_and_unknown_members_is_survived() {
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    let json = format!(
        r#"{{"x":{deep},"result":{{"y":{deep},"statusUpdate":{{"taskId":"T1","z":{deep},"metadata":{{"a":{deep}}},
           "status":{{"message":{{"parts":[{{"data":{deep}}}]}}}}}}}}}}"#
    );
    let Ok(StreamItem::StatusUpdate(update)) = StreamItem::decode(json.as_bytes()) else {
        panic!("a status update");
    };
    assert_eq!(update.metadata.map(|raw| raw.get().len()), Some(40_006));
}

#[test]
fn deep_nesting_in_a_known_member_is_an_error() {
    let json = format!(r#"{{"result":{{"statusUpdate":{{"taskId":{}}}}}}}"#, "[".repeat(20_000));
    assert_eq!(
        StreamItem::decode(json.as_bytes()).unwrap_err().to_string(),
        "invalid JSON at line 1, column 20037"
    );
}

#[test]
fn strings_borrow_from_the_input() {
    let json = r#"{"result":{"statusUpdate":{"taskId":"T1","status":{"message":{"parts":[{"text":"你好 \u2028"}]}}}}}"#;
    let Ok(StreamItem::StatusUpdate(update)) = StreamItem::decode(json.as_bytes()) else {
        panic!("a status update");
    };
    assert!(matches!(update.task_id, Cow::Borrowed("T1")));
}

#[test]
fn members_of_little_weight_cost_nothing_of_what_stands_beside_them() {
    let cases = [
        (
            r#"{"result":{"statusUpdate":{"taskId":"T1","contextId":"C1","final":"yes","status":{"state":"working",
                "timestamp":1764523800,"message":{"messageId":"m","role":"agent",
                "parts":[null,"a",{"text":"b","mediaType":7},{"kind":[],"text":"c"}]}}}}}"#,
            r#"status T1 C1 TASK_STATE_WORKING m Agent ["a", "b", "c"] final=Some(false) -"#,
        ),
        (
            r#"{"result":{"artifactUpdate":{"taskId":"T1","contextId":"C1","append":"true","lastChunk":1,
                "artifact":{"artifactId":"A1","name":{},"description":[],"parts":[]}}}}"#,
            r#"artifact T1 C1 A1 append=true last=false parts=0 {"artifactId":"A1","name":{},"description":[],"parts":[]}"#,
        ),
    ];
    for (json, expected) in cases {
        assert_eq!(summary(json), expected);
    }
}
