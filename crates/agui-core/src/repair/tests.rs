use super::{AGENT_ERROR, Repair, Repairer};
use crate::{
    Custom, Event, EventType, Interrupt, Json, Outcome, ReasoningMessageContent, ReasoningStart, Rule,
    RunError, RunFinished, RunStarted, StepFinished, StepStarted, SubagentStarted, TextMessageChunk,
    TextMessageContent, TextMessageEnd, TextMessageStart, ToolCallArgs, ToolCallChunk, ToolCallEnd,
    ToolCallStart, UnixMillis, Verifier,
};

/// One repair in short: `+` put in, `~` changed, `-` left out.
fn shown(repair: &Repair) -> String {
    match repair {
        Repair::Inserted { event } => format!("+{event}"),
        Repair::Changed { event, violation } => format!("~{event} {}", violation.rule()),
        Repair::Dropped { event, violation } => format!("-{event} {}", violation.rule()),
    }
}

/// What comes out, one JSON text for each event, and the repairs; checked to be a valid stream.
fn repaired(events: impl IntoIterator<Item = Event>) -> (Vec<String>, Vec<String>) {
    let mut repairer = Repairer::new("t", "r");
    let (mut out, mut repairs) = (Vec::new(), Vec::new());
    for event in events {
        repairs.extend(repairer.push(event, &mut out).repairs.iter().map(shown));
    }
    let closed = repairer.close(RunError::new("cut").with_code(AGENT_ERROR), &mut out);
    repairs.extend(closed.repairs.iter().map(shown));
    let mut verifier = Verifier::for_run("t", "r");
    for event in &out {
        verifier.check(event).unwrap();
    }
    verifier.finish().unwrap();
    (out.iter().map(|event| serde_json::to_string(event).unwrap()).collect(), repairs)
}

fn started() -> Event {
    RunStarted::new("t", "r").into()
}
fn finished() -> Event {
    RunFinished::new("t", "r").into()
}

const STARTED: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
const FINISHED: &str = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;
const CUT: &str = r#"{"type":"RUN_ERROR","message":"cut","code":"AGENT_ERROR"}"#;

/// Checks one fault inside a run: what stands between start and end, and the repairs.
fn assert_inside(inner: Vec<Event>, expected: &[&str], repairs: &[&str]) {
    let events = [vec![started()], inner, vec![finished()]].concat();
    let (out, found) = repaired(events);
    assert_eq!(out, [&[STARTED], expected, &[FINISHED]].concat());
    assert_eq!(found, repairs);
}

#[test]
fn a_valid_stream_passes_unchanged() {
    assert_inside(
        vec![
            TextMessageStart::new("m").into(),
            TextMessageContent::new("m", "x").into(),
            TextMessageEnd::new("m").into(),
        ],
        &[
            r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}"#,
            r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
        ],
        &[],
    );
}

#[test]
fn a_run_is_opened_and_closed_with_the_ids_of_the_request() {
    let (out, repairs) = repaired([
        Custom::new("n", Json::null()).with_timestamp(UnixMillis::new(7)).into(),
        RunStarted::new("x", "y").into(),
        RunFinished::new("x", "y").into(),
        finished(),
        RunError::new("late").into(),
    ]);
    assert_eq!(
        out,
        [
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0","timestamp":7}"#,
            r#"{"type":"CUSTOM","name":"n","value":null,"timestamp":7}"#,
            FINISHED
        ]
    );
    assert_eq!(
        repairs,
        [
            "+RUN_STARTED",
            "-RUN_STARTED run-still-active",
            "~RUN_FINISHED run-ids",
            "-RUN_FINISHED after-run-finished",
            "-RUN_ERROR after-run-finished"
        ]
    );
}

#[test]
fn a_run_that_was_left_is_closed_with_the_error() {
    let (out, repairs) = repaired([
        started(),
        SubagentStarted::new("s", "n").into(),
        StepStarted::new("a").with_subagent_run_id("s").into(),
        ReasoningStart::new("z").into(),
        ToolCallStart::new("c", "f").into(),
    ]);
    assert_eq!(
        out[5..],
        [
            r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#,
            r#"{"type":"REASONING_END","messageId":"z"}"#,
            r#"{"type":"STEP_FINISHED","stepName":"a","subagentRunId":"s"}"#,
            r#"{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"cut","code":"AGENT_ERROR"}"#,
            CUT
        ]
    );
    assert_eq!(repairs, ["+TOOL_CALL_END", "+REASONING_END", "+STEP_FINISHED", "+SUBAGENT_ERROR"]);
    assert_eq!(repaired([]), (vec![CUT.to_owned()], vec![]));
}

#[test]
fn open_spans_are_closed_before_the_end() {
    assert_inside(
        vec![StepStarted::new("a").into(), TextMessageStart::new("m").with_subagent_run_id("s").into()],
        &[
            r#"{"type":"STEP_STARTED","stepName":"a"}"#,
            r#"{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":"s"}"#,
            r#"{"type":"TEXT_MESSAGE_END","messageId":"m","subagentRunId":"s"}"#,
            r#"{"type":"STEP_FINISHED","stepName":"a"}"#,
        ],
        &["+TEXT_MESSAGE_END", "+STEP_FINISHED"],
    );
}

#[test]
fn open_subagents_end_as_the_run_does() {
    let outcomes = [
        (Outcome::success(), r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}"#),
        (
            Outcome::interrupt([Interrupt::new("i", "confirmation")]),
            r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":{"type":"suspended"}}"#,
        ),
        (
            Outcome::Cancelled,
            r#"{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"The run was cancelled.","code":"CANCELLED"}"#,
        ),
    ];
    for (outcome, expected) in outcomes {
        let end = RunFinished::new("t", "r").with_outcome(outcome);
        let (out, _) = repaired([started(), SubagentStarted::new("s", "n").into(), end.into()]);
        assert_eq!(out[2], expected);
    }
}

#[test]
fn text_keeps_its_words_and_orphaned_arguments_are_left_out() {
    assert_inside(
        vec![
            TextMessageContent::new("m", "x").with_subagent_run_id("s").into(),
            ReasoningMessageContent::new("z", "y").into(),
            ToolCallArgs::new("c", "{}").into(),
            ToolCallEnd::new("c").into(),
            TextMessageEnd::new("other").into(),
            StepFinished::new("a").into(),
        ],
        &[
            r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","subagentRunId":"s"}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x","subagentRunId":"s"}"#,
            r#"{"type":"REASONING_MESSAGE_START","role":"reasoning","messageId":"z"}"#,
            r#"{"type":"REASONING_MESSAGE_CONTENT","messageId":"z","delta":"y"}"#,
            r#"{"type":"REASONING_MESSAGE_END","messageId":"z"}"#,
            r#"{"type":"TEXT_MESSAGE_END","messageId":"m","subagentRunId":"s"}"#,
        ],
        &[
            "+TEXT_MESSAGE_START",
            "+REASONING_MESSAGE_START",
            "-TOOL_CALL_ARGS not-open",
            "-TOOL_CALL_END not-open",
            "-TEXT_MESSAGE_END not-open",
            "-STEP_FINISHED not-open",
            "+REASONING_MESSAGE_END",
            "+TEXT_MESSAGE_END",
        ],
    );
}

#[test]
fn wrong_tags_and_parents_are_taken_away() {
    assert_inside(
        vec![
            TextMessageStart::new("m").with_subagent_run_id("s").into(),
            TextMessageContent::new("m", "x").with_subagent_run_id("other").into(),
            TextMessageEnd::new("m").into(),
            ToolCallStart::new("c", "f").with_parent_message_id("m").with_subagent_run_id("other").into(),
            ToolCallEnd::new("c").into(),
            StepStarted::new("a").with_subagent_run_id("s").into(),
            StepFinished::new("a").into(),
            SubagentStarted::new("s", "n").with_parent_subagent_run_id("unknown").into(),
        ],
        &[
            r#"{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":"s"}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}"#,
            r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
            r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}"#,
            r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#,
            r#"{"type":"STEP_STARTED","stepName":"a","subagentRunId":"s"}"#,
            r#"{"type":"STEP_FINISHED","stepName":"a","subagentRunId":"s"}"#,
            r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}"#,
            r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}"#,
        ],
        &[
            "~TEXT_MESSAGE_CONTENT owner-mismatch",
            "~TOOL_CALL_START parent-owner-mismatch",
            "~STEP_FINISHED step-owner",
            "~SUBAGENT_STARTED unknown-parent-subagent",
            "+SUBAGENT_FINISHED",
        ],
    );
}

#[test]
fn chunks_become_whole_events() {
    let chunk = || TextMessageChunk::new().with_delta("x");
    assert_inside(
        vec![
            chunk().with_message_id("m").into(),
            chunk().with_name("somebody").into(),
            ToolCallChunk::new().with_tool_call_id("c").into(),
            Custom::new("n", Json::null()).into(),
            chunk().into(),
        ],
        &[
            r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}"#,
            r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
            r#"{"type":"CUSTOM","name":"n","value":null}"#,
        ],
        &[
            "~TEXT_MESSAGE_CHUNK chunk-conflict",
            "-TOOL_CALL_CHUNK chunk-incomplete",
            "-TEXT_MESSAGE_CHUNK chunk-incomplete",
        ],
    );
}

#[test]
fn interrupts_are_made_distinct_and_asking_nothing_is_a_failure() {
    let asks = |ids: &[&str]| {
        let interrupts: Vec<Interrupt> = ids.iter().map(|id| Interrupt::new(*id, "x")).collect();
        Event::from(RunFinished::new("t", "r").with_outcome(Outcome::interrupt(interrupts)))
    };
    let (out, repairs) = repaired([started(), asks(&["a", "b", "a"])]);
    assert_eq!(
        out[1],
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"a","reason":"x"},{"id":"b","reason":"x"}]}}"#
    );
    assert_eq!(repairs, ["~RUN_FINISHED duplicate-interrupt"]);

    let (out, repairs) = repaired([started(), asks(&[])]);
    assert_eq!(
        out[1],
        r#"{"type":"RUN_ERROR","message":"The agent waits for an answer but asked nothing.","code":"AGENT_ERROR"}"#
    );
    assert_eq!(repairs, ["~RUN_FINISHED no-interrupt"]);
}

#[test]
fn nothing_is_recorded_for_a_clean_event() {
    let mut repairer = Repairer::new("t", "r");
    let mut out = Vec::new();
    assert!(repairer.push(started(), &mut out).is_clean());
    assert!(!repairer.has_ended());
    let dropped = repairer.push(ToolCallEnd::new("c"), &mut out);
    let Some(Repair::Dropped { event, violation }) = dropped.repairs.first() else { panic!("not dropped") };
    assert_eq!((*event, violation.rule()), (EventType::ToolCallEnd, Rule::NotOpen));
    assert_eq!(
        dropped.repairs[0].to_string(),
        "left out TOOL_CALL_END: TOOL_CALL_END came while tool call \"c\" was not open"
    );
    repairer.push(finished(), &mut out);
    assert!(repairer.has_ended() && repairer.open().is_empty());
}
