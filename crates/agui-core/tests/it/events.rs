//! The exact JSON of every event, and the way back.

use agui_core::{
    ActivityDelta, ActivitySnapshot, ContentPart, Custom, DataSource, DecodeErrorKind, Decoded,
    EncryptedValueSubtype, Event, EventType, FileSource, ImagePart, Interrupt, Json, JsonObject, JsonPointer,
    Message, MessagesSnapshot, Outcome, PatchAction, PatchOp, Raw, Reading, ReasoningEncryptedValue,
    ReasoningEnd, ReasoningMessageChunk, ReasoningMessageContent, ReasoningMessageEnd, ReasoningMessageStart,
    ReasoningStart, RunAgentInput, RunError, RunFinished, RunStarted, StateDelta, StateSnapshot,
    StepFinished, StepStarted, SubagentError, SubagentFinished, SubagentOutcome, SubagentStarted,
    TextMessageChunk, TextMessageContent, TextMessageEnd, TextMessageStart, TextPart, TextRole, TokenUsage,
    ToolCallArgs, ToolCallChunk, ToolCallEnd, ToolCallResult, ToolCallStart, ToolRole, UnixMillis,
    UserMessage, decode_event, decode_event_with,
};

fn json(text: &str) -> Json {
    Json::from_string(text.to_owned()).unwrap()
}

fn object(text: &str) -> JsonObject {
    JsonObject::from_string(text.to_owned()).unwrap()
}

fn pointer(text: &str) -> JsonPointer {
    JsonPointer::new(text).unwrap()
}

fn encoded(event: &Event) -> String {
    let mut out = Vec::new();
    event.to_json_into(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Each event with its required members only, and the JSON for it.
#[expect(clippy::too_many_lines, reason = "a table")]
fn bare() -> Vec<(Event, &'static str)> {
    vec![
        (RunStarted::new("t", "r").into(), r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#),
        (RunFinished::new("t", "r").into(), r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#),
        (RunError::new("no").into(), r#"{"type":"RUN_ERROR","message":"no"}"#),
        (StepStarted::new("s").into(), r#"{"type":"STEP_STARTED","stepName":"s"}"#),
        (StepFinished::new("s").into(), r#"{"type":"STEP_FINISHED","stepName":"s"}"#),
        (TextMessageStart::new("m").into(), r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#),
        (
            TextMessageContent::new("m", "a\"\n\u{1F600}").into(),
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a\"\n😀"}"#,
        ),
        (TextMessageEnd::new("m").into(), r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#),
        (TextMessageChunk::new().into(), r#"{"type":"TEXT_MESSAGE_CHUNK"}"#),
        (
            ToolCallStart::new("c", "f").into(),
            r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}"#,
        ),
        (
            ToolCallArgs::new("c", "{\"a\":").into(),
            r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"a\":"}"#,
        ),
        (ToolCallEnd::new("c").into(), r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#),
        (ToolCallChunk::new().into(), r#"{"type":"TOOL_CALL_CHUNK"}"#),
        (
            ToolCallResult::new("m", "c", "ok").into(),
            r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"ok"}"#,
        ),
        (StateSnapshot::new(Json::null()).into(), r#"{"type":"STATE_SNAPSHOT","snapshot":null}"#),
        (StateDelta::new([]).into(), r#"{"type":"STATE_DELTA","delta":[]}"#),
        (MessagesSnapshot::new([]).into(), r#"{"type":"MESSAGES_SNAPSHOT","messages":[]}"#),
        (
            ActivitySnapshot::new("a", "search", object(r#"{"hits":3}"#)).into(),
            r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"search","content":{"hits":3}}"#,
        ),
        (
            ActivityDelta::new("a", "search", []).into(),
            r#"{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"search","patch":[]}"#,
        ),
        (Raw::new(Json::null()).into(), r#"{"type":"RAW","event":null}"#),
        (Custom::new("v.n", Json::null()).into(), r#"{"type":"CUSTOM","name":"v.n","value":null}"#),
        (ReasoningStart::new("z").into(), r#"{"type":"REASONING_START","messageId":"z"}"#),
        (ReasoningEnd::new("z").into(), r#"{"type":"REASONING_END","messageId":"z"}"#),
        (
            ReasoningMessageStart::new("z").into(),
            r#"{"type":"REASONING_MESSAGE_START","role":"reasoning","messageId":"z"}"#,
        ),
        (
            ReasoningMessageContent::new("z", "").into(),
            r#"{"type":"REASONING_MESSAGE_CONTENT","messageId":"z","delta":""}"#,
        ),
        (ReasoningMessageEnd::new("z").into(), r#"{"type":"REASONING_MESSAGE_END","messageId":"z"}"#),
        (ReasoningMessageChunk::new().into(), r#"{"type":"REASONING_MESSAGE_CHUNK"}"#),
        (
            ReasoningEncryptedValue::new(EncryptedValueSubtype::ToolCall, "c", "x").into(),
            r#"{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool-call","entityId":"c","encryptedValue":"x"}"#,
        ),
        (
            SubagentStarted::new("s", "helper").into(),
            r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"helper"}"#,
        ),
        (SubagentFinished::new("s").into(), r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}"#),
        (
            SubagentError::new("s", "no").into(),
            r#"{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"no"}"#,
        ),
    ]
}

/// Events with optional members, and the JSON for them.
#[expect(clippy::too_many_lines, reason = "a table")]
fn full() -> Vec<(Event, &'static str)> {
    let at = UnixMillis::new(1_700_000_000_000);
    let usage = TokenUsage::new().with_model("m").with_input_tokens(7_u64).with_output_tokens(0_u64);
    let interrupt = Interrupt::new("i", "tool_call")
        .with_message("May I?")
        .with_tool_call_id("c")
        .with_response_schema(object(r#"{"type":"object"}"#))
        .with_expires_at("2026-01-01T00:00:00Z")
        .with_metadata(object(r#"{"k":null}"#))
        .with_subagent_run_id("s");
    let image = ImagePart::new(DataSource::new("aGk=", "image/png")).with_metadata(json("1.50"));
    let file = ImagePart::new(FileSource::new("f-1").with_provider("p")).with_id("p2");
    let mut extra = PatchOp::remove(pointer("/a"));
    extra.extra.push(("note".to_owned(), json("[1, 2]")));
    vec![
        (
            RunStarted::new("t", "r")
                .with_protocol_version("1.0")
                .with_parent_run_id("p")
                .with_input(
                    RunAgentInput::new("t", "r", [Message::from(UserMessage::new("u", "hi"))])
                        .with_state(json("{}"))
                        .with_forwarded_props(json(r#"{"n":1234567890123456789}"#)),
                )
                .with_timestamp(at)
                .into(),
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0","parentRunId":"p","input":{"threadId":"t","runId":"r","messages":[{"role":"user","id":"u","content":"hi"}],"state":{},"tools":[],"context":[],"forwardedProps":{"n":1234567890123456789}},"timestamp":1700000000000}"#,
        ),
        (
            RunFinished::new("t", "r")
                .with_result(json("1E400"))
                .with_outcome(Outcome::Success { pending_tool_call_ids: Some(vec!["c".into()]) })
                .with_usage([usage.clone()])
                .into(),
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":1E400,"outcome":{"type":"success","pendingToolCallIds":["c"]},"usage":[{"model":"m","inputTokens":7,"outputTokens":0}]}"#,
        ),
        (
            RunFinished::new("t", "r").with_outcome(Outcome::interrupt([interrupt])).into(),
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"tool_call","message":"May I?","toolCallId":"c","responseSchema":{"type":"object"},"expiresAt":"2026-01-01T00:00:00Z","metadata":{"k":null},"subagentRunId":"s"}]}}"#,
        ),
        (
            RunFinished::new("t", "r").with_outcome(Outcome::Cancelled).into(),
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}"#,
        ),
        (
            RunError::new("no").with_code("X").with_usage([usage]).with_metadata(object("{}")).into(),
            r#"{"type":"RUN_ERROR","message":"no","code":"X","usage":[{"model":"m","inputTokens":7,"outputTokens":0}],"metadata":{}}"#,
        ),
        (
            TextMessageStart::new("m")
                .with_role(TextRole::Assistant)
                .with_name("n")
                .with_subagent_run_id("s")
                .with_raw_event(json("false"))
                .into(),
            r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","name":"n","subagentRunId":"s","rawEvent":false}"#,
        ),
        (
            TextMessageChunk::new().with_message_id("m").with_role(TextRole::User).with_delta("d").into(),
            r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","delta":"d"}"#,
        ),
        (
            ToolCallChunk::new()
                .with_tool_call_id("c")
                .with_tool_call_name("f")
                .with_parent_message_id("m")
                .with_delta("")
                .into(),
            r#"{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","parentMessageId":"m","delta":""}"#,
        ),
        (
            ToolCallResult::new(
                "m",
                "c",
                vec![ContentPart::from(TextPart::new("x")), image.into(), file.into()],
            )
            .with_role(ToolRole::Tool)
            .into(),
            r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"data","value":"aGk=","mimeType":"image/png"},"metadata":1.50},{"type":"image","source":{"type":"file","value":"f-1","provider":"p"},"id":"p2"}],"role":"tool"}"#,
        ),
        (
            StateDelta::new([
                PatchOp::add(JsonPointer::from_tokens(["a/b", "c~d"]), Json::null()),
                PatchOp::replace(pointer(""), json("-0")),
                PatchOp::new(pointer("/y"), PatchAction::Move { from: pointer("/x") }),
                PatchOp::new(pointer("/z"), PatchAction::Copy { from: pointer("/y") }),
                PatchOp::new(pointer("/z"), PatchAction::Test { value: json("0.10") }),
                extra,
            ])
            .into(),
            r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a~1b/c~0d","value":null},{"op":"replace","path":"","value":-0},{"op":"move","from":"/x","path":"/y"},{"op":"copy","from":"/y","path":"/z"},{"op":"test","path":"/z","value":0.10},{"op":"remove","path":"/a","note":[1, 2]}]}"#,
        ),
        (
            ActivitySnapshot::new("a", "t", object("{}")).with_replace(false).into(),
            r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"t","content":{},"replace":false}"#,
        ),
        (
            SubagentStarted::new("s", "n")
                .with_description("d")
                .with_parent_subagent_run_id("p")
                .with_parent_tool_call_id("c")
                .with_parent_message_id("m")
                .into(),
            r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","description":"d","parentSubagentRunId":"p","parentToolCallId":"c","parentMessageId":"m"}"#,
        ),
        (
            SubagentFinished::new("s")
                .with_result(json("\"\""))
                .with_outcome(SubagentOutcome::Suspended { interrupt_ids: Some(vec!["i".into()]) })
                .into(),
            r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":"","outcome":{"type":"suspended","interruptIds":["i"]}}"#,
        ),
        (
            Raw::new(json(r#"{"b":1,"a":[]}"#)).with_source("src").into(),
            r#"{"type":"RAW","event":{"b":1,"a":[]},"source":"src"}"#,
        ),
    ]
}

#[test]
fn every_event_has_its_exact_json_and_reads_back() {
    for (event, expected) in bare().into_iter().chain(full()) {
        assert_eq!(encoded(&event), expected);
        assert_eq!(decode_event(expected.as_bytes()), Ok(Decoded::Known(event.clone())), "{expected}");
        let (exact, skipped) = decode_event_with(expected.as_bytes(), Reading::Exact).unwrap();
        assert_eq!((exact, skipped.len()), (Decoded::Known(event.clone()), 0), "{expected}");
        assert_eq!(serde_json::from_str::<Event>(expected).unwrap(), event);
    }
}

#[test]
fn the_table_of_events_is_complete() {
    let types: Vec<EventType> = bare().iter().map(|(event, _)| event.event_type()).collect();
    assert_eq!(types, EventType::ALL);
    assert_eq!(types.len(), 31);
    for known in EventType::ALL {
        assert_eq!(known.as_str().parse(), Ok(*known));
    }
}

#[test]
fn a_time_can_be_set_on_any_event() {
    for (mut event, bare) in bare() {
        event.set_timestamp(UnixMillis::new(5));
        let expected = format!("{},\"timestamp\":5}}", bare.strip_suffix('}').unwrap());
        assert_eq!(encoded(&event), expected);
    }
    let mut event = Event::from(TextMessageEnd::new("m"));
    event.set_timestamp(UnixMillis::new(u64::MAX));
    assert_eq!(event.base().timestamp, Some(9_007_199_254_740_991));
}

#[test]
fn c49_null_is_never_written_for_a_member_that_may_be_absent() {
    let finished = RunFinished::new("t", "r").with_result(Json::null()).with_raw_event(Json::null());
    assert_eq!(encoded(&finished.into()), r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#);
}

#[test]
fn c67_numbers_and_order_pass_unchanged() {
    let value = r#"{"accountId":1234567890123456789,"price":0.10,"v":1.0,"e":1E400,"m":-0,"a":1,"a":2}"#;
    let frame = format!(r#"{{"type":"CUSTOM","name":"n","value":{value}}}"#);
    let Ok(Decoded::Known(event)) = decode_event(frame.as_bytes()) else { panic!("not decoded") };
    assert_eq!(encoded(&event), frame);
}

#[test]
fn c44_half_a_surrogate_pair_reads_as_a_replacement_character() {
    let frame = br#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"plan \ud83d done \ud83d\ude00"}"#;
    let expected = TextMessageContent::new("m", "plan \u{FFFD} done \u{1F600}");
    assert_eq!(decode_event(frame), Ok(Decoded::Known(expected.into())));

    let frame = br#"{"type":"CUSTOM","name":"n","value":{"x":"\ud83d"}}"#;
    let Ok(Decoded::Known(event)) = decode_event(frame) else { panic!("not decoded") };
    assert_eq!(encoded(&event), r#"{"type":"CUSTOM","name":"n","value":{"x":"\ufffd"}}"#);

    let frame = br#"{"type":"TEXT_MESSAGE_END","messageId":"\ud83d"}"#;
    let error = decode_event(frame).unwrap_err();
    assert_eq!((error.pointer.as_str(), error.kind), ("/messageId", DecodeErrorKind::LoneSurrogate));
}

#[test]
fn an_event_is_always_one_line() {
    let frame = "{\n \"type\": \"STATE_SNAPSHOT\",\r\n \"snapshot\": {\n\t\"a\": \"x\\n y\"\n }\n}";
    let Ok(Decoded::Known(event)) = decode_event(frame.as_bytes()) else { panic!("not decoded") };
    assert_eq!(encoded(&event), r#"{"type":"STATE_SNAPSHOT","snapshot":{"a":"x\n y"}}"#);
}

#[test]
fn unknown_events_are_given_as_they_are() {
    let frame = r#"{"type":"THINKING_START","title":"x"}"#;
    let Ok(Decoded::Unknown(unknown)) = decode_event(frame.as_bytes()) else { panic!("not unknown") };
    assert_eq!((&*unknown.event_type, unknown.raw.get()), ("THINKING_START", frame));
}
