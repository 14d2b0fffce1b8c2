//! What is refused in events, and what is left out.

use agui_core::{DecodeErrorKind, Decoded, Expected, Reading, decode_event, decode_event_with};

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn frames_that_are_no_events_are_refused_with_their_place() {
    use DecodeErrorKind as K;
    let cases: &[(&str, &str, K)] = &[
        ("", "", K::Syntax),
        ("[DONE]", "", K::Syntax),
        ("{\"type\":\"RAW\",\"event\":NaN}", "", K::Syntax),
        ("{\"type\":\"RAW\",\"event\":1}{}", "", K::Syntax),
        ("[]", "", K::WrongType(Expected::Object)),
        ("null", "", K::WrongType(Expected::Object)),
        ("{}", "/type", K::Missing),
        (r#"{"type":""}"#, "/type", K::Empty),
        (r#"{"type":5}"#, "/type", K::WrongType(Expected::String)),
        (r#"{"type":"RAW","type":"RAW","event":1}"#, "/type", K::DuplicateKey),
        (r#"{"type":"RAW","event":1,"event":2}"#, "/event", K::DuplicateKey),
        (r#"{"type":"RAW"}"#, "/event", K::Missing),
        (r#"{"type":"RUN_ERROR","message":"m","code":500}"#, "/code", K::WrongType(Expected::String)),
        (r#"{"type":"RUN_ERROR","message":"m","usage":{}}"#, "/usage", K::WrongType(Expected::Array)),
        (
            r#"{"type":"RUN_ERROR","message":"m","usage":[{"inputTokens":1.5}]}"#,
            "/usage/0/inputTokens",
            K::OutOfRange,
        ),
        (
            r#"{"type":"RUN_ERROR","message":"m","usage":[{"inputTokens":-1}]}"#,
            "/usage/0/inputTokens",
            K::OutOfRange,
        ),
        (r#"{"type":"RUN_ERROR","message":"m","timestamp":1.5}"#, "/timestamp", K::OutOfRange),
        (r#"{"type":"RUN_ERROR","message":"m","timestamp":9007199254740992}"#, "/timestamp", K::OutOfRange),
        (
            r#"{"type":"RUN_ERROR","message":"m","timestamp":"2026"}"#,
            "/timestamp",
            K::WrongType(Expected::Integer),
        ),
        (r#"{"type":"RUN_ERROR","message":"m","metadata":[]}"#, "/metadata", K::WrongType(Expected::Object)),
        (r#"{"type":"TEXT_MESSAGE_START","messageId":1}"#, "/messageId", K::WrongType(Expected::String)),
        (r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"tool"}"#, "/role", K::NotAllowed),
        (
            r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"","role":"assistant"}"#,
            "/role",
            K::NotAllowed,
        ),
        (
            r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":{}}"#,
            "/content",
            K::WrongType(Expected::StringOrArray),
        ),
        (r#"{"type":"REASONING_MESSAGE_START","messageId":"m"}"#, "/role", K::Missing),
        (r#"{"type":"REASONING_MESSAGE_START","messageId":"m","role":"assistant"}"#, "/role", K::NotAllowed),
        (
            r#"{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool_call","entityId":"e","encryptedValue":"v"}"#,
            "/subtype",
            K::NotAllowed,
        ),
        (r#"{"type":"STATE_DELTA","delta":{}}"#, "/delta", K::WrongType(Expected::Array)),
        (r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a"}]}"#, "/delta/0/value", K::Missing),
        (r#"{"type":"STATE_DELTA","delta":[{"op":"move","path":"/a"}]}"#, "/delta/0/from", K::Missing),
        (r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"a"}]}"#, "/delta/0/path", K::BadPointer),
        (r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/~2"}]}"#, "/delta/0/path", K::BadPointer),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":"success"}"#,
            "/outcome",
            K::WrongType(Expected::Object),
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[]}}"#,
            "/outcome/interrupts",
            K::Empty,
        ),
        (
            r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":"x"}"#,
            "/content",
            K::WrongType(Expected::Object),
        ),
    ];
    for (frame, pointer, kind) in cases {
        let error = decode_event(frame.as_bytes()).expect_err(frame);
        assert_eq!((error.pointer.as_str(), error.kind), (*pointer, *kind), "{frame}");
    }
}

#[test]
fn what_is_unknown_inside_a_known_event_is_left_out_with_a_note() {
    let cases = [
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"paused"}}"#,
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#,
            vec!["/outcome"],
        ),
        (
            r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":{"type":"paused"}}"#,
            r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}"#,
            vec!["/outcome"],
        ),
        (
            r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"narrator"}"#,
            r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#,
            vec!["/role"],
        ),
        (
            r#"{"type":"STATE_DELTA","delta":[{"op":"increment","path":"/a"},{"op":"remove","path":"/b"}]}"#,
            r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/b"}]}"#,
            vec!["/delta/0"],
        ),
        (
            r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"narrator","id":"1"},{"role":"user","id":"2","content":[{"type":"hologram"},{"type":"image","source":{"type":"cloud"}},{"type":"text","text":"x","new":1}]}]}"#,
            r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","id":"2","content":[{"type":"text","text":"x"}]}]}"#,
            vec!["/messages/0", "/messages/1/content/0", "/messages/1/content/1/source"],
        ),
    ];
    for (frame, expected, notes) in cases {
        let (decoded, skipped) = decode_event_with(frame.as_bytes(), Reading::Stream).unwrap();
        let Decoded::Known(event) = decoded else { panic!("unknown: {frame}") };
        assert_eq!(serde_json::to_string(&event).unwrap(), expected);
        let pointers: Vec<&str> = skipped.iter().map(|skipped| skipped.pointer.as_str()).collect();
        assert_eq!(pointers, notes);
        let error = decode_event_with(frame.as_bytes(), Reading::Exact).unwrap_err();
        assert!(matches!(error.kind, DecodeErrorKind::UnknownMember), "{frame}: {error:?}");
    }
}
