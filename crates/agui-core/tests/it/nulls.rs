//! Where `null` is taken for absent, member by member, for each way of reading.

use agui_core::{Reading, RunAgentInput, decode_event_with};
use serde_json::{Value, json};

/// Every member of a document, as JSON pointers, from the outside in.
fn members(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let pointer = format!("{at}/{key}");
                out.push(pointer.clone());
                members(value, &pointer, out);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                members(value, &format!("{at}/{index}"), out);
            }
        }
        _ => {}
    }
}

/// The members of `document` that may be replaced by `null`.
fn nullable(document: &Value, accepts: impl Fn(&[u8]) -> bool) -> Vec<String> {
    assert!(accepts(document.to_string().as_bytes()), "{document}");
    let mut pointers = Vec::new();
    members(document, "", &mut pointers);
    pointers.retain(|pointer| {
        let mut changed = document.clone();
        *changed.pointer_mut(pointer).unwrap() = Value::Null;
        accepts(changed.to_string().as_bytes())
    });
    pointers
}

fn request() -> Value {
    json!({
        "threadId": "t", "runId": "r", "protocolVersion": "1.0", "parentRunId": "p",
        "state": 1, "forwardedProps": 1,
        "messages": [
            { "role": "assistant", "id": "1", "content": "c", "name": "n", "encryptedValue": "e",
              "toolCalls": [{ "id": "c", "type": "function", "function": { "name": "f", "arguments": "" },
                              "encryptedValue": "e", "metadata": {} }],
              "metadata": {}, "subagentRunId": "s" },
            { "role": "tool", "id": "2", "toolCallId": "c", "content": "x", "error": "e" },
            { "role": "user", "id": "3", "content": [
                { "type": "text", "text": "x", "id": "i", "metadata": 1 },
                { "type": "image", "source": { "type": "url", "value": "u", "mimeType": "m" },
                  "id": "i", "metadata": 1 },
                { "type": "video", "source": { "type": "file", "value": "u", "mimeType": "m", "provider": "p" } },
            ] },
        ],
        "tools": [{ "name": "f", "description": "", "parameters": 1, "metadata": {} }],
        "context": [{ "description": "d", "value": "v" }],
        "resume": [{ "interruptId": "i", "status": "resolved", "payload": 1, "metadata": {} }],
    })
}

#[test]
fn a_server_takes_null_for_absent_on_every_optional_member() {
    let found = nullable(&request(), |body| RunAgentInput::decode(body).is_ok());
    let expected = [
        "/context",
        "/forwardedProps",
        "/messages/0/content",
        "/messages/0/encryptedValue",
        "/messages/0/metadata",
        "/messages/0/name",
        "/messages/0/subagentRunId",
        "/messages/0/toolCalls",
        "/messages/0/toolCalls/0/encryptedValue",
        "/messages/0/toolCalls/0/metadata",
        "/messages/1/error",
        "/messages/2/content/0/id",
        "/messages/2/content/0/metadata",
        "/messages/2/content/1/id",
        "/messages/2/content/1/metadata",
        "/messages/2/content/1/source/mimeType",
        "/messages/2/content/2/source/mimeType",
        "/messages/2/content/2/source/provider",
        "/parentRunId",
        "/protocolVersion",
        "/resume",
        "/resume/0/metadata",
        "/resume/0/payload",
        "/state",
        "/tools",
        "/tools/0/metadata",
        "/tools/0/parameters",
    ];
    assert_eq!(sorted(found), expected);
}

#[test]
fn the_schema_takes_null_for_absent_on_state_only() {
    let found = nullable(&request(), |body| RunAgentInput::from_json(body, Reading::Exact).is_ok());
    assert_eq!(found, ["/state"]);
}

#[test]
fn a_consumer_takes_null_for_absent_where_the_released_client_does() {
    let input = json!({ "type": "RUN_STARTED", "threadId": "t", "runId": "r", "input": request() });
    let found = nullable(&input, |frame| decode_event_with(frame, Reading::Stream).is_ok());
    let expected = [
        "/input/forwardedProps",
        "/input/messages/2/content/1/metadata",
        "/input/resume/0/payload",
        "/input/state",
        "/input/tools/0/parameters",
    ];
    assert_eq!(sorted(found), expected);

    let found = nullable(&input, |frame| decode_event_with(frame, Reading::Exact).is_ok());
    assert_eq!(found, ["/input/state"]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn nulls_in_events_are_refused_by_the_schema_and_tolerated_in_few_places() {
    let base = json!({ "timestamp": 1, "rawEvent": 1, "metadata": {}, "subagentRunId": "s" });
    let usage = json!([{ "provider": "p", "model": "m", "inputTokens": 1, "outputTokens": 1, "totalTokens": 1,
        "reasoningTokens": 1, "cachedInputTokens": 1, "cacheWriteInputTokens": 1 }]);
    let interrupts = json!([{ "id": "i", "reason": "r", "message": "m", "toolCallId": "c", "responseSchema": {},
        "expiresAt": "e", "metadata": {}, "subagentRunId": "s" }]);
    // The event, then what the schema accepts, then what a consumer accepts besides.
    // `subagentRunId` is not a member of run events, so any value passes there.
    let cases: Vec<(Value, &[&str], &[&str])> = vec![
        (
            json!({ "type": "RUN_STARTED", "threadId": "t", "runId": "r", "protocolVersion": "1.0", "parentRunId": "p",
                    "input": { "threadId": "t", "runId": "r", "messages": [] } }),
            &["/subagentRunId"],
            &[],
        ),
        (
            json!({ "type": "RUN_FINISHED", "threadId": "t", "runId": "r", "result": 1, "usage": usage,
                    "outcome": { "type": "interrupt", "interrupts": interrupts } }),
            &["/subagentRunId"],
            &["/outcome", "/result"],
        ),
        (
            json!({ "type": "RUN_FINISHED", "threadId": "t", "runId": "r",
                    "outcome": { "type": "success", "pendingToolCallIds": [] } }),
            &["/subagentRunId"],
            &["/outcome"],
        ),
        (
            json!({ "type": "RUN_ERROR", "message": "m", "code": "c", "usage": usage }),
            &["/subagentRunId"],
            &[],
        ),
        (json!({ "type": "MESSAGES_SNAPSHOT", "messages": [] }), &["/subagentRunId"], &[]),
        (json!({ "type": "STEP_STARTED", "stepName": "s" }), &[], &[]),
        (json!({ "type": "TEXT_MESSAGE_START", "messageId": "m", "role": "user", "name": "n" }), &[], &[]),
        (json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "d" }), &[], &[]),
        (
            json!({ "type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "role": "user", "name": "n", "delta": "d" }),
            &[],
            &[],
        ),
        (
            json!({ "type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f", "parentMessageId": "m" }),
            &[],
            &["/parentMessageId"],
        ),
        (
            json!({ "type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "f", "parentMessageId": "m",
                    "delta": "d" }),
            &[],
            &["/parentMessageId"],
        ),
        (
            json!({ "type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c", "content": "x",
                    "role": "tool" }),
            &[],
            &[],
        ),
        (json!({ "type": "STATE_SNAPSHOT", "snapshot": 1 }), &["/snapshot"], &[]),
        (
            json!({ "type": "STATE_DELTA", "delta": [{ "op": "add", "path": "", "value": 1, "extra": 1 }] }),
            &["/delta/0/extra", "/delta/0/value"],
            &[],
        ),
        (
            json!({ "type": "ACTIVITY_SNAPSHOT", "messageId": "m", "activityType": "a", "content": {},
                    "replace": true }),
            &[],
            &[],
        ),
        (json!({ "type": "RAW", "event": 1, "source": "s" }), &["/event"], &[]),
        (json!({ "type": "CUSTOM", "name": "n", "value": 1 }), &["/value"], &[]),
        (json!({ "type": "REASONING_MESSAGE_START", "messageId": "m", "role": "reasoning" }), &[], &[]),
        (json!({ "type": "REASONING_MESSAGE_CHUNK", "messageId": "m", "delta": "d" }), &[], &[]),
        (
            json!({ "type": "SUBAGENT_STARTED", "name": "n", "description": "d", "parentSubagentRunId": "p",
                    "parentToolCallId": "c", "parentMessageId": "m" }),
            &[],
            &[],
        ),
        (
            json!({ "type": "SUBAGENT_FINISHED", "result": 1, "outcome": { "type": "suspended", "interruptIds": [] } }),
            &[],
            &["/result"],
        ),
        (json!({ "type": "SUBAGENT_ERROR", "message": "m", "code": "c" }), &[], &[]),
    ];
    for (mut event, exact, besides) in cases {
        for (key, value) in base.as_object().unwrap() {
            event[key.as_str()] = value.clone();
        }
        let found = nullable(&event, |frame| decode_event_with(frame, Reading::Exact).is_ok());
        assert_eq!(sorted(found), *exact, "{event}");

        let mut expected: Vec<&str> = exact.iter().chain(besides).copied().chain(["/rawEvent"]).collect();
        expected.sort_unstable();
        let found = nullable(&event, |frame| decode_event_with(frame, Reading::Stream).is_ok());
        assert_eq!(sorted(found), expected, "{event}");
    }
}

fn sorted(mut pointers: Vec<String>) -> Vec<String> {
    pointers.sort_unstable();
    pointers
}
