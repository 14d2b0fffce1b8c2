use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::trace::lines::Kind;

const SECRETS: &[&str] = &[
    "hunter2",
    "bearer-value-1",
    "cookie-value",
    "LTAI5tExampleKeyId0",
    "sts-token-value",
    "literal-from-env",
    "sk-abcdefghijklmnopqrst",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "in-state",
    "4711000815",
];

fn line(kind: Kind) -> Line {
    Line::new(kind, 1, 0.0)
}

fn event(event: &Value) -> Line {
    Line { event: Some(Json::from_serialize(event).unwrap()), ..line(Kind::Event) }
}

fn redact(mut lines: Vec<Line>) -> String {
    Redactor::new(vec!["literal-from-env".to_owned(), "ab".to_owned()]).exchange(&mut lines);
    lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
}

/// The words that the deltas of a kind make together.
fn joined(lines: &str, event_type: &str) -> String {
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let deltas = lines.filter(|line| line["event"]["type"] == event_type);
    deltas.filter_map(|line| line["event"]["delta"].as_str().map(str::to_owned)).collect()
}

#[test]
fn no_secret_passes() {
    let request = Line {
        path: Some("/run?access_token=hunter2&x=1".to_owned()),
        headers: Some(json!([
            ["Authorization", "Bearer bearer-value-1"],
            ["X-Api-Key", "hunter2"],
            ["accept", "a/b"]
        ])),
        body: Some(json!({
            "state": {"auth": {"password": "in-state", "attempts": 4711000815_u64, "pin_token": 4711000815_u64}},
            "forwardedProps": {"iacCode": {"credentials": {"id": "LTAI5tExampleKeyId0", "values": ["sts-token-value"]}}},
            "messages": [{"role": "user", "content": "my key is sk-abcdefghijklmnopqrst"}]})),
        ..line(Kind::Request)
    };
    let request_ok = json!(request.body.as_ref().unwrap()["state"]["auth"]["attempts"]);
    assert!(request_ok.is_number(), "a number under another name is none of ours");
    let mut request = request;
    request.body.as_mut().unwrap()["state"]["auth"]["attempts"] = json!(3);
    let response = Line { headers: Some(json!([["set-cookie", "id=cookie-value"]])), ..line(Kind::Response) };
    let lines = vec![
        request,
        response,
        event(&json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{\"pass"})),
        event(&json!({"type": "TOOL_CALL_ARGS", "toolCallId": "d", "delta": "{\"user\":\"bob\"}"})),
        event(&json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "word\":\"hun"})),
        event(&json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "ter2\",\"n\":1}"})),
        event(&json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "it is liter"})),
        event(&json!({"type": "TEXT_MESSAGE_CHUNK", "delta": "al-from-"})),
        event(&json!({"type": "TEXT_MESSAGE_CHUNK", "delta": "env and eyJhbGciOiJIUzI1NiJ9.eyJzdWIi"})),
        event(&json!({"type": "TEXT_MESSAGE_CHUNK", "delta": "OiIxIn0.c2lnbmF0dXJl, I think"})),
        event(
            &json!({"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/auth/password", "value": "in-state"}]}),
        ),
        event(
            &json!({"type": "TOOL_CALL_RESULT", "content": "{\"token\": \"hunter2\", \"url\": \"http://bob:hunter2@host/\"}"}),
        ),
        event(
            &json!({"type": "CUSTOM", "name": "app", "value": [{"name": "DB_PASSWORD", "value": "hunter2"}]}),
        ),
        Line { text: Some("password=hunter2".to_owned()), ..line(Kind::Text) },
        Line { body: Some(json!({"error": {"message": "bad token literal-from-env"}})), ..line(Kind::Body) },
    ];
    let redacted = redact(lines);
    for secret in SECRETS {
        assert!(!redacted.contains(secret), "{secret} in\n{redacted}");
    }
    assert_eq!(joined(&redacted, "TEXT_MESSAGE_CHUNK"), "it is [redacted] and [redacted], I think");
    assert_eq!(
        joined(&redacted, "TOOL_CALL_ARGS"),
        "{\"pass{\"user\":\"bob\"}word\":\"[redacted]\",\"n\":1}"
    );
    assert!(redacted.contains(r#"["accept","a/b"]"#) && redacted.contains("x=1"), "{redacted}");
}

#[test]
fn a_secret_that_is_a_number_or_a_name_does_not_pass_either() {
    let mut lines = vec![event(&json!({"type": "CUSTOM", "name": "app", "value": {
        "pin": 4711, "year": 14711, "by": {"literal-from-env": 1, "sk-abcdefghijklmnopqrst": [2], "plain": 3}}}))];
    Redactor::new(vec!["literal-from-env".to_owned(), "4711".to_owned()]).exchange(&mut lines);
    let found: Value = lines[0].event.as_ref().unwrap().parse().unwrap();
    // One name for both; which of the values stays does not matter.
    let by = found["value"]["by"].as_object().unwrap();
    assert_eq!(by.keys().collect::<Vec<_>>(), ["[redacted]", "plain"]);
    assert_eq!((&found["value"]["pin"], &found["value"]["year"]), (&json!("[redacted]"), &json!(14711)));
}

#[test]
fn what_is_no_secret_is_kept() {
    let harmless = json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r",
        "usage": [{"inputTokens": 12, "outputTokens": 3}],
        "outcome": {"type": "interrupt", "interrupts": [{"id": "i", "reason": "x", "responseSchema": {
            "type": "object", "properties": {"password": {"type": "string", "title": "Password"}}}}]}});
    let redacted = redact(vec![event(&harmless)]);
    let found: Value = serde_json::from_str(&redacted).unwrap();
    assert_eq!(found["event"], harmless);
}

#[test]
fn events_without_secrets_keep_their_text_and_repeated_members_hide_none() {
    let text = r#"{"type":"RAW","n":1.50,"event":{"z":1,"a":2},"n":2}"#;
    let raw =
        |text: &str| Line { event: Some(Json::from_string(text.to_owned()).unwrap()), ..line(Kind::Event) };
    assert!(redact(vec![raw(text)]).contains(text));
    let hidden = redact(vec![raw(r#"{"type":"RAW","password":"hunter2","password":""}"#)]);
    assert!(!hidden.contains("hunter2"), "{hidden}");
}

proptest! {
    /// However a stream cuts a text, the secrets in it are found, and what is around them is kept.
    #[test]
    fn no_cut_hides_a_secret(cuts in prop::collection::vec(0..200_usize, 0..12)) {
        let text = "Grüße: {\"password\": \"hunter2\", \"n\": 1} and literal-from-env, sk-abcdefghijklmnopqrst; ü";
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| text.is_char_boundary(*cut)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let deltas = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
        let lines = deltas.map(|delta| event(&json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": delta})));
        let redacted = redact(lines.collect());
        for secret in ["hunter2", "literal-from-env", "sk-abcdefghijklmnopqrst"] {
            prop_assert!(!joined(&redacted, "TEXT_MESSAGE_CONTENT").contains(secret));
        }
        prop_assert_eq!(
            joined(&redacted, "TEXT_MESSAGE_CONTENT"),
            "Grüße: {\"password\": \"[redacted]\", \"n\": 1} and [redacted], [redacted]; ü"
        );
    }
}
