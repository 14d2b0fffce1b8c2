//! Any sequence of events becomes a valid stream.

use agui_core::{
    ActivityDelta, ActivitySnapshot, AssistantMessage, Custom, EncryptedValueSubtype, Event, FunctionCall,
    Interrupt, Json, JsonObject, Message, MessagesSnapshot, Outcome, Raw, ReasoningEncryptedValue,
    ReasoningEnd, ReasoningMessage, ReasoningMessageChunk, ReasoningMessageContent, ReasoningMessageEnd,
    ReasoningMessageStart, ReasoningStart, Repairer, RunAgentInput, RunError, RunFinished, RunStarted,
    StateDelta, StateSnapshot, StepFinished, StepStarted, SubagentError, SubagentFinished, SubagentRunId,
    SubagentStarted, TextMessageChunk, TextMessageContent, TextMessageEnd, TextMessageStart, TextRole,
    ToolCall, ToolCallArgs, ToolCallChunk, ToolCallEnd, ToolCallResult, ToolCallStart, Verifier,
};
use proptest::prelude::*;

/// Few ids, so that events meet.
fn id() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("a"), Just("b"), Just("")]
}

fn owner() -> impl Strategy<Value = Option<SubagentRunId>> {
    prop::option::weighted(0.4, prop_oneof![Just("s"), Just("u"), Just("")].prop_map(SubagentRunId::from))
}

fn message() -> impl Strategy<Value = Message> {
    (id(), id(), owner(), any::<bool>()).prop_map(|(id, call, owner, reasoning)| {
        if reasoning {
            let mut message = ReasoningMessage::new(id, "x");
            message.subagent_run_id = owner;
            message.into()
        } else {
            let call = ToolCall::new(call, FunctionCall::new("f", ""));
            let mut message = AssistantMessage::new(id).with_tool_calls([call]);
            message.subagent_run_id = owner;
            message.into()
        }
    })
}

/// An event, and whether it names a subagent.
fn event() -> impl Strategy<Value = Event> {
    let run = prop_oneof![
        3 => (id(), id()).prop_map(|(thread, run)| RunStarted::new(thread, run).into()),
        2 => (id(), prop::collection::vec(message(), 0..3)).prop_map(|(run, messages)| {
            RunStarted::new("t", run).with_input(RunAgentInput::new("t", run, messages)).into()
        }),
        1 => (id(), prop::collection::vec(id(), 0..3)).prop_map(|(run, ids)| {
            let interrupts: Vec<Interrupt> = ids.into_iter().map(|id| Interrupt::new(id, "x")).collect();
            RunFinished::new("t", run).with_outcome(Outcome::interrupt(interrupts)).into()
        }),
        1 => id().prop_map(|run| RunFinished::new("t", run).with_outcome(Outcome::Cancelled).into()),
        1 => Just(RunError::new("no").into()),
        3 => prop::collection::vec(message(), 0..3).prop_map(|messages| MessagesSnapshot::new(messages).into()),
    ];
    let span =
        (0..24_u8, id(), id(), owner()).prop_map(|(kind, id, other, owner)| spans(kind, id, other, owner));
    let chunk = (0..3_u8, prop::option::of(id()), prop::option::of(id()), owner(), any::<bool>())
        .prop_map(|(kind, id, name, owner, delta)| chunks(kind, id, name, owner, delta));
    prop_oneof![1 => run, 8 => span, 4 => chunk]
}

fn object() -> JsonObject {
    JsonObject::from_string("{}".to_owned()).unwrap()
}

fn spans(kind: u8, id: &str, other: &str, owner: Option<SubagentRunId>) -> Event {
    macro_rules! tagged {
        ($event:expr) => {{
            let mut event = $event;
            event.subagent_run_id = owner;
            Event::from(event)
        }};
    }
    match kind {
        0 => tagged!(StepStarted::new(id)),
        1 => tagged!(StepFinished::new(id)),
        2 | 3 => tagged!(TextMessageStart::new(id)),
        4 | 5 => tagged!(TextMessageContent::new(id, "x")),
        6 => tagged!(TextMessageEnd::new(id)),
        7 => tagged!(ToolCallStart::new(id, "f")),
        8 => tagged!(ToolCallStart::new(id, "f").with_parent_message_id(other)),
        9 => tagged!(ToolCallArgs::new(id, "x")),
        10 => tagged!(ToolCallEnd::new(id)),
        11 => tagged!(ToolCallResult::new(id, other, "x")),
        12 => tagged!(ReasoningStart::new(id)),
        13 => tagged!(ReasoningEnd::new(id)),
        14 => tagged!(ReasoningMessageStart::new(id)),
        15 => tagged!(ReasoningMessageContent::new(id, "x")),
        16 => tagged!(ReasoningMessageEnd::new(id)),
        17 => tagged!(ReasoningEncryptedValue::new(EncryptedValueSubtype::Message, id, "x")),
        18 => tagged!(ActivitySnapshot::new(id, "x", object())),
        19 => tagged!(ActivityDelta::new(id, "x", [])),
        20 => SubagentStarted::new(id, "n").with_parent_subagent_run_id(other).into(),
        21 => SubagentStarted::new(id, "n").into(),
        22 => SubagentFinished::new(id).into(),
        _ => SubagentError::new(id, "no").into(),
    }
}

fn chunks(
    kind: u8,
    id: Option<&str>,
    name: Option<&str>,
    owner: Option<SubagentRunId>,
    delta: bool,
) -> Event {
    let delta = delta.then(|| "x".to_owned());
    match kind {
        0 => {
            let mut chunk = TextMessageChunk::new();
            chunk.message_id = id.map(Into::into);
            chunk.role = name.map(|name| if name == "a" { TextRole::User } else { TextRole::Assistant });
            (chunk.delta, chunk.subagent_run_id) = (delta, owner);
            chunk.into()
        }
        1 => {
            let mut chunk = ToolCallChunk::new();
            chunk.tool_call_id = id.map(Into::into);
            chunk.tool_call_name = name.map(Into::into);
            (chunk.delta, chunk.subagent_run_id) = (delta, owner);
            chunk.into()
        }
        _ => {
            let mut chunk = ReasoningMessageChunk::new();
            chunk.message_id = id.map(Into::into);
            (chunk.delta, chunk.subagent_run_id) = (delta, owner);
            chunk.into()
        }
    }
}

fn repair(events: Vec<Event>) -> Vec<Event> {
    let mut repairer = Repairer::new("t", "a");
    let mut out = Vec::new();
    for event in events {
        repairer.push(event, &mut out);
    }
    repairer.close(RunError::new("cut"), &mut out);
    out
}

fn verify(verifier: &mut Verifier, events: &[Event]) -> Result<(), agui_core::Violation> {
    events.iter().try_for_each(|event| verifier.check(event))?;
    verifier.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_an_agent_sends_a_consumer_accepts(events in prop::collection::vec(event(), 0..40)) {
        let out = repair(events);
        prop_assert_eq!(verify(&mut Verifier::for_run("t", "a"), &out), Ok(()), "{:#?}", out);
        prop_assert_eq!(verify(&mut Verifier::new(), &out), Ok(()));
        let ends = out.iter().filter(|e| matches!(e, Event::RunFinished(_) | Event::RunError(_))).count();
        prop_assert_eq!(ends, 1);
    }

    #[test]
    fn a_repaired_stream_needs_no_more_repair(events in prop::collection::vec(event(), 0..40)) {
        let out = repair(events);
        prop_assert_eq!(repair(out.clone()), out);
    }

    #[test]
    fn a_stream_that_is_accepted_loses_nothing(events in prop::collection::vec(event(), 0..12)) {
        let mut stream = vec![Event::from(RunStarted::new("t", "a"))];
        stream.extend(events.into_iter().filter(|event| !is_chunk(event)));
        let mut verifier = Verifier::for_run("t", "a");
        let accepted: Vec<Event> = stream.into_iter().take_while(|event| verifier.check(event).is_ok()).collect();
        let mut repairer = Repairer::new("t", "a");
        let mut out = Vec::new();
        for event in &accepted {
            let repaired = repairer.push(event.clone(), &mut out);
            let closes_first = matches!(event, Event::RunError(_));
            prop_assert!(repaired.is_clean() || closes_first);
        }
        out.retain(|event| accepted.contains(event));
        prop_assert_eq!(out.len(), accepted.len());
    }
}

fn is_chunk(event: &Event) -> bool {
    matches!(event, Event::TextMessageChunk(_) | Event::ToolCallChunk(_) | Event::ReasoningMessageChunk(_))
}

#[test]
fn events_without_a_place_in_the_order_pass() {
    let inner = [
        Event::from(StateSnapshot::new(Json::null())),
        StateDelta::new([]).into(),
        Raw::new(Json::null()).into(),
        Custom::new("v.n", Json::null()).into(),
    ];
    let mut stream = vec![Event::from(RunStarted::new("t", "a"))];
    stream.extend(inner);
    stream.push(RunFinished::new("t", "a").into());
    assert_eq!(verify(&mut Verifier::new(), &stream), Ok(()));
    assert_eq!(repair(stream.clone()), stream);
}
