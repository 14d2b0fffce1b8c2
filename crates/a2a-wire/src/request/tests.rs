use serde_json::value::RawValue;

use super::*;

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn request() -> SendMessage {
    let message = OutgoingMessage::new(
        "u-1",
        vec![
            OutgoingPart::text("a\u{2028}\"b\""),
            OutgoingPart::data(raw(r#"{"n":1234567890123456789}"#)).with_media_type("application/json"),
            OutgoingPart::raw("AA==").with_media_type("image/png").with_filename("a.png"),
            OutgoingPart::url("file:///t.yaml"),
        ],
    )
    .with_context_id("C1")
    .with_task_id("T1")
    .with_metadata(raw(r#"{"iac_code":{"cwd":"/ws"}}"#));
    SendMessage::new(message).with_history_length(0).with_return_immediately(true)
}

fn text(json: Result<Vec<u8>, serde_json::Error>) -> String {
    String::from_utf8(json.unwrap()).unwrap()
}

#[test]
fn message_is_written_for_1_0() {
    let json = text(request().to_json(ProtocolVersion::V1_0, Method::SendStreamingMessage, "7"));
    assert_eq!(
        json,
        concat!(
            r#"{"jsonrpc":"2.0","id":"7","method":"SendStreamingMessage","params":{"#,
            r#""message":{"role":"ROLE_USER","messageId":"u-1","parts":["#,
            "{\"text\":\"a\u{2028}\\\"b\\\"\"},",
            r#"{"data":{"n":1234567890123456789},"mediaType":"application/json"},"#,
            r#"{"raw":"AA==","mediaType":"image/png","filename":"a.png"},"#,
            r#"{"url":"file:///t.yaml"}],"#,
            r#""contextId":"C1","taskId":"T1","metadata":{"iac_code":{"cwd":"/ws"}}},"#,
            r#""configuration":{"acceptedOutputModes":["text/plain"],"historyLength":0,"returnImmediately":true}}}"#,
        )
    );
}

#[test]
fn message_is_written_for_0_3() {
    let json = text(request().to_json(ProtocolVersion::V0_3, Method::SendMessage, "7"));
    assert_eq!(
        json,
        concat!(
            r#"{"jsonrpc":"2.0","id":"7","method":"message/send","params":{"#,
            r#""message":{"kind":"message","role":"user","messageId":"u-1","parts":["#,
            "{\"kind\":\"text\",\"text\":\"a\u{2028}\\\"b\\\"\"},",
            r#"{"kind":"data","data":{"n":1234567890123456789}},"#,
            r#"{"kind":"file","file":{"bytes":"AA==","mimeType":"image/png","name":"a.png"}},"#,
            r#"{"kind":"file","file":{"uri":"file:///t.yaml"}}],"#,
            r#""contextId":"C1","taskId":"T1","metadata":{"iac_code":{"cwd":"/ws"}}},"#,
            r#""configuration":{"acceptedOutputModes":["text/plain"],"historyLength":0,"blocking":false}}}"#,
        )
    );
}

#[test]
fn absent_members_are_left_out() {
    let message = OutgoingMessage::new("u-1", vec![OutgoingPart::text("hi")]);
    let json = text(SendMessage::new(message).with_accepted_output_modes(Vec::new()).to_json(
        ProtocolVersion::V1_0,
        Method::SendMessage,
        "1",
    ));
    assert_eq!(
        json,
        concat!(
            r#"{"jsonrpc":"2.0","id":"1","method":"SendMessage","params":"#,
            r#"{"message":{"role":"ROLE_USER","messageId":"u-1","parts":[{"text":"hi"}]}}}"#,
        )
    );
}

#[test]
fn a_conversation_is_listed_without_its_messages() {
    assert_eq!(
        text(ListRequest::new("c-1").to_json(ProtocolVersion::V1_0, "7")),
        concat!(
            r#"{"jsonrpc":"2.0","id":"7","method":"ListTasks","#,
            r#""params":{"contextId":"c-1","pageSize":100,"historyLength":0}}"#,
        )
    );
    let of_tenant = |version| text(ListRequest::new("c-1").to_tenant_json(version, "7", Some("blue")));
    assert!(of_tenant(ProtocolVersion::V1_0).ends_with(r#""historyLength":0,"tenant":"blue"}}"#));
    assert!(of_tenant(ProtocolVersion::V0_3).ends_with(r#""historyLength":0}}"#));
}

#[test]
fn task_requests_are_written_for_both_versions() {
    let get = TaskRequest::new("T1").with_history_length(100);
    let cases = [
        (
            get.to_json(ProtocolVersion::V1_0, Method::GetTask, "1"),
            r#"{"jsonrpc":"2.0","id":"1","method":"GetTask","params":{"id":"T1","historyLength":100}}"#,
        ),
        (
            get.to_json(ProtocolVersion::V0_3, Method::GetTask, "1"),
            r#"{"jsonrpc":"2.0","id":"1","method":"tasks/get","params":{"id":"T1","historyLength":100}}"#,
        ),
        (
            TaskRequest::new("T1").to_json(ProtocolVersion::V1_0, Method::CancelTask, "2"),
            r#"{"jsonrpc":"2.0","id":"2","method":"CancelTask","params":{"id":"T1"}}"#,
        ),
        (
            TaskRequest::new("T1").to_json(ProtocolVersion::V0_3, Method::SubscribeToTask, "3"),
            r#"{"jsonrpc":"2.0","id":"3","method":"tasks/resubscribe","params":{"id":"T1"}}"#,
        ),
    ];
    for (json, expected) in cases {
        assert_eq!(text(json), expected);
    }
}

#[test]
fn a_tenant_is_named_where_the_version_has_tenants() {
    let message = OutgoingMessage::new("u-1", vec![OutgoingPart::text("hi")]);
    let send = SendMessage::new(message).with_accepted_output_modes(Vec::new());
    let tenant = Some("blue");
    let of = |version| {
        let method = Method::SendMessage;
        let sent = text(send.to_tenant_json(version, method, "1", tenant));
        let get = text(TaskRequest::new("T1").to_tenant_json(version, Method::GetTask, "2", tenant));
        (sent.ends_with(r#","tenant":"blue"}}"#), get.ends_with(r#"{"id":"T1","tenant":"blue"}}"#))
    };
    assert_eq!(of(ProtocolVersion::V1_0), (true, true));
    assert_eq!(of(ProtocolVersion::V0_3), (false, false));
}

#[test]
fn debug_output_holds_no_content() {
    let message = OutgoingMessage::new("u-1", vec![OutgoingPart::text("sk-1")])
        .with_metadata(raw(r#"{"iac_code":{"iac_code_api_key":"sk-2"}}"#));
    let shown = format!("{:?} {:?}", message.parts, SendMessage::new(message.clone()));
    assert!(shown.contains("u-1") && !shown.contains("sk-"), "{shown}");
}
