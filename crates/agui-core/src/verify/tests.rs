use super::{Rule, Span, Verifier};
use crate::{
    ActivityDelta, ActivitySnapshot, AssistantMessage, Custom, EncryptedValueSubtype, Event, FunctionCall,
    Interrupt, Json, JsonObject, Message, MessagesSnapshot, Outcome, Raw, ReasoningEncryptedValue,
    ReasoningEnd, ReasoningMessage, ReasoningMessageChunk, ReasoningMessageContent, ReasoningMessageEnd,
    ReasoningMessageStart, ReasoningStart, RunAgentInput, RunError, RunFinished, RunStarted, StepFinished,
    StepStarted, SubagentError, SubagentFinished, SubagentStarted, TextMessageChunk, TextMessageContent,
    TextMessageEnd, TextMessageStart, TextRole, ToolCall, ToolCallArgs, ToolCallChunk, ToolCallEnd,
    ToolCallResult, ToolCallStart,
};

/// A stream and the verdict: the index of the event that breaks a rule (the length means the end of the
/// stream) and the rule.
type Case = (&'static str, Vec<Event>, Option<(usize, Rule)>);

fn verdict(verifier: &mut Verifier, events: &[Event]) -> Option<(usize, Rule)> {
    for (index, event) in events.iter().enumerate() {
        if let Err(violation) = verifier.check(event) {
            assert!(!violation.describe().is_empty());
            return Some((index, violation.rule()));
        }
    }
    verifier.finish().err().map(|violation| (events.len(), violation.rule()))
}

fn assert_cases(cases: Vec<Case>) {
    for (name, events, expected) in cases {
        assert_eq!(verdict(&mut Verifier::new(), &events), expected, "{name}");
    }
}

/// Puts the run around `inner`, so that the index of an inner event is one more.
fn in_run(inner: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let mut events = vec![started()];
    events.extend(inner);
    events.push(finished());
    events
}

fn started() -> Event {
    RunStarted::new("t", "r").into()
}
fn finished() -> Event {
    RunFinished::new("t", "r").into()
}
fn failed() -> Event {
    RunError::new("no").into()
}
fn text_start(id: &str) -> Event {
    TextMessageStart::new(id).into()
}
fn text(id: &str) -> Event {
    TextMessageContent::new(id, "x").into()
}
fn text_end(id: &str) -> Event {
    TextMessageEnd::new(id).into()
}
fn call_start(id: &str) -> Event {
    ToolCallStart::new(id, "f").into()
}
fn call_args(id: &str) -> Event {
    ToolCallArgs::new(id, "{}").into()
}
fn call_end(id: &str) -> Event {
    ToolCallEnd::new(id).into()
}
fn span_start(id: &str) -> Event {
    ReasoningStart::new(id).into()
}
fn span_end(id: &str) -> Event {
    ReasoningEnd::new(id).into()
}
fn thought_start(id: &str) -> Event {
    ReasoningMessageStart::new(id).into()
}
fn thought(id: &str) -> Event {
    ReasoningMessageContent::new(id, "x").into()
}
fn thought_end(id: &str) -> Event {
    ReasoningMessageEnd::new(id).into()
}
fn step_start(name: &str) -> Event {
    StepStarted::new(name).into()
}
fn step_end(name: &str) -> Event {
    StepFinished::new(name).into()
}
fn sub_start(id: &str) -> Event {
    SubagentStarted::new(id, "helper").into()
}
fn sub_end(id: &str) -> Event {
    SubagentFinished::new(id).into()
}
fn custom() -> Event {
    Custom::new("v.n", Json::null()).into()
}
fn object() -> JsonObject {
    JsonObject::from_string("{}".to_owned()).unwrap()
}
fn activity(id: &str) -> ActivitySnapshot {
    ActivitySnapshot::new(id, "a", object())
}
fn activity_delta(id: &str) -> Event {
    ActivityDelta::new(id, "a", []).into()
}
fn text_chunk(id: Option<&str>) -> TextMessageChunk {
    let chunk = TextMessageChunk::new().with_delta("x");
    match id {
        Some(id) => chunk.with_message_id(id),
        None => chunk,
    }
}
fn call_chunk(id: &str, name: &str) -> Event {
    ToolCallChunk::new().with_tool_call_id(id).with_tool_call_name(name).with_delta("x").into()
}

/// Tags an event with a subagent.
fn by(owner: &str, event: impl Into<Event>) -> Event {
    let mut event = event.into();
    event.set_owner(Some(owner.into()));
    event
}

#[test]
fn runs_begin_and_end_in_order() {
    let second = || [RunStarted::new("t", "r2").into(), RunFinished::new("t", "r2").into()];
    assert_cases(vec![
        ("an empty run", vec![started(), finished()], None),
        ("a failed run", vec![started(), failed()], None),
        ("a failure before the run", vec![failed()], None),
        ("a late failure", vec![started(), finished(), failed()], None),
        ("two runs", [vec![started(), finished()], second().to_vec()].concat(), None),
        ("a run after a failed one", [vec![started(), failed()], second().to_vec()].concat(), None),
        ("a run after an early failure", [vec![failed()], second().to_vec()].concat(), None),
        ("text first", vec![text_start("m")], Some((0, Rule::FirstEvent))),
        ("the end first", vec![finished()], Some((0, Rule::FirstEvent))),
        ("a run in a run", vec![started(), started()], Some((1, Rule::RunStillActive))),
        ("after the end", vec![started(), finished(), custom()], Some((2, Rule::AfterRunFinished))),
        ("two ends", vec![started(), finished(), finished()], Some((2, Rule::AfterRunFinished))),
        ("after the failure", vec![started(), failed(), custom()], Some((2, Rule::AfterRunError))),
        ("two failures", vec![started(), failed(), failed()], Some((2, Rule::AfterRunError))),
        ("an end after the failure", vec![started(), failed(), finished()], Some((2, Rule::AfterRunError))),
        (
            "two late failures",
            vec![started(), finished(), failed(), failed()],
            Some((3, Rule::AfterRunError)),
        ),
        ("nothing", vec![], Some((0, Rule::Unterminated))),
        ("cut off", vec![started(), custom()], Some((2, Rule::Unterminated))),
        (
            "cut off in the second run",
            vec![started(), finished(), RunStarted::new("t", "r2").into()],
            Some((3, Rule::Unterminated)),
        ),
    ]);
}

#[test]
fn ids_of_a_run_stay_the_same() {
    assert_cases(vec![
        ("other run", vec![started(), RunFinished::new("t", "x").into()], Some((1, Rule::RunIds))),
        ("other thread", vec![started(), RunFinished::new("x", "r").into()], Some((1, Rule::RunIds))),
        (
            "a second run on another thread",
            vec![started(), finished(), RunStarted::new("x", "r2").into()],
            Some((2, Rule::ThreadChanged)),
        ),
    ]);
}

#[test]
fn a_producer_answers_one_request_with_one_run() {
    let check = |events: &[Event]| verdict(&mut Verifier::for_run("t", "r"), events);
    assert_eq!(check(&[started(), finished()]), None);
    assert_eq!(check(&[started(), failed()]), None);
    assert_eq!(check(&[failed()]), None);
    assert_eq!(check(&[RunStarted::new("t", "x").into()]), Some((0, Rule::RunIds)));
    assert_eq!(check(&[RunStarted::new("x", "r").into()]), Some((0, Rule::RunIds)));
    assert_eq!(check(&[started(), finished(), failed()]), Some((2, Rule::AfterRunFinished)));
    assert_eq!(check(&[started(), finished(), started()]), Some((2, Rule::SecondRun)));
    assert_eq!(check(&[failed(), started()]), Some((1, Rule::SecondRun)));
}

#[test]
fn spans_are_opened_continued_and_closed() {
    type One = fn(&str) -> Event;
    let kinds: [(&str, One, Option<One>, One); 6] = [
        ("text", text_start, Some(text), text_end),
        ("call", call_start, Some(call_args), call_end),
        ("thought", thought_start, Some(thought), thought_end),
        ("span", span_start, None, span_end),
        ("step", step_start, None, step_end),
        ("subagent", sub_start, None, sub_end),
    ];
    for (kind, start, content, end) in kinds {
        let verdict = |inner: Vec<Event>| verdict(&mut Verifier::new(), &in_run(inner));
        assert_eq!(verdict(vec![start("a"), end("a")]), None, "{kind}");
        assert_eq!(verdict(vec![start("a"), start("b"), end("a"), end("b")]), None, "{kind} in parallel");
        assert_eq!(verdict(vec![start("a"), start("a")]), Some((2, Rule::AlreadyOpen)), "{kind}");
        assert_eq!(verdict(vec![end("a")]), Some((1, Rule::NotOpen)), "{kind}");
        assert_eq!(verdict(vec![start("a"), end("b")]), Some((2, Rule::NotOpen)), "{kind}");
        assert_eq!(verdict(vec![start("a"), end("a"), end("a")]), Some((3, Rule::NotOpen)), "{kind}");
        assert_eq!(verdict(vec![start("a")]), Some((2, Rule::StillOpen)), "{kind}");
        let again = verdict(vec![start("a"), end("a"), start("a"), end("a")]);
        let reused = (kind == "subagent").then_some((3, Rule::SubagentReused));
        assert_eq!(again, reused, "{kind} again");
        if let Some(content) = content {
            assert_eq!(verdict(vec![start("a"), content("a"), end("a")]), None, "{kind}");
            assert_eq!(verdict(vec![content("a")]), Some((1, Rule::NotOpen)), "{kind}");
            assert_eq!(verdict(vec![start("a"), end("a"), content("a")]), Some((3, Rule::NotOpen)), "{kind}");
        }
    }
    assert_cases(vec![
        ("a failure with open spans", vec![started(), text_start("m"), step_start("s"), failed()], None),
        (
            "span and message share an id",
            in_run([span_start("z"), thought_start("z"), thought("z"), thought_end("z"), span_end("z")]),
            None,
        ),
        ("a message outside a span", in_run([thought_start("z"), thought_end("z")]), None),
        ("a span is not a message", in_run([span_start("z"), thought("z")]), Some((2, Rule::NotOpen))),
        ("text is not a thought", in_run([text_start("m"), thought("m")]), Some((2, Rule::NotOpen))),
        (
            "a call in an open message",
            in_run([text_start("m"), call_start("c"), call_end("c"), text_end("m")]),
            None,
        ),
        ("a result for an unknown call", in_run([ToolCallResult::new("m", "c", "x").into()]), None),
        ("a subagent that failed", in_run([sub_start("s"), SubagentError::new("s", "no").into()]), None),
        (
            "a new run forgets",
            {
                let again = [RunStarted::new("t", "r2").into(), text("m")];
                [vec![started(), text_start("m"), failed()], again.to_vec()].concat()
            },
            Some((4, Rule::NotOpen)),
        ),
    ]);
}

#[test]
fn open_spans_are_listed_in_the_order_of_opening() {
    let mut verifier = Verifier::new();
    for event in [started(), step_start("s"), by("x", text_start("m")), call_start("c")] {
        verifier.check(&event).unwrap();
    }
    let open: Vec<(&Span, Option<&str>)> =
        verifier.open().iter().map(|open| (&open.span, open.owner.as_ref().map(AsRef::as_ref))).collect();
    assert_eq!(
        open,
        [
            (&Span::Step("s".into()), None),
            (&Span::TextMessage("m".into()), Some("x")),
            (&Span::ToolCall("c".into()), None)
        ]
    );
    let violation = verifier.check(&finished()).unwrap_err();
    assert_eq!(
        violation.describe(),
        "RUN_FINISHED came while these were open: step \"s\"; text message \"m\"; tool call \"c\";"
    );
}

#[test]
fn steps_belong_to_the_agent_that_opened_them() {
    assert_cases(vec![
        (
            "the same name for two agents",
            in_run([step_start("a"), by("s", step_start("a")), by("s", step_end("a")), step_end("a")]),
            None,
        ),
        (
            "finished by a subagent",
            in_run([step_start("a"), by("s", step_end("a"))]),
            Some((2, Rule::StepOwner)),
        ),
        (
            "finished by the parent",
            in_run([by("s", step_start("a")), step_end("a")]),
            Some((2, Rule::StepOwner)),
        ),
        (
            "an empty id is not the parent",
            in_run([step_start("a"), by("", step_end("a"))]),
            Some((2, Rule::StepOwner)),
        ),
    ]);
}

#[test]
fn subagents_are_started_once_under_a_known_parent() {
    let child =
        |parent: &str| Event::from(SubagentStarted::new("c", "n").with_parent_subagent_run_id(parent));
    assert_cases(vec![
        ("under an open one", in_run([sub_start("p"), child("p"), sub_end("c"), sub_end("p")]), None),
        ("under an ended one", in_run([sub_start("p"), sub_end("p"), child("p"), sub_end("c")]), None),
        ("under an unknown one", in_run([child("p")]), Some((1, Rule::UnknownParentSubagent))),
        (
            "again after a failure",
            in_run([sub_start("s"), SubagentError::new("s", "no").into(), sub_start("s")]),
            Some((3, Rule::SubagentReused)),
        ),
        ("a tag without a subagent", in_run([by("s", text_start("m")), text_end("m")]), None),
        (
            "a tag of an ended subagent",
            in_run([sub_start("s"), sub_end("s"), by("s", text_start("m")), by("s", text_end("m"))]),
            None,
        ),
    ]);
}

#[test]
fn a_continuation_has_the_owner_of_its_opener() {
    type One = fn(&str) -> Event;
    let kinds: [(One, Option<One>, One); 4] = [
        (text_start, Some(text), text_end),
        (call_start, Some(call_args), call_end),
        (thought_start, Some(thought), thought_end),
        (span_start, None, span_end),
    ];
    for (start, content, end) in kinds {
        for next in content.into_iter().chain([end]) {
            let verdict =
                |inner: Vec<Event>| verdict(&mut Verifier::new(), &[vec![started()], inner].concat());
            let wrong = Some((2, Rule::OwnerMismatch));
            assert_eq!(verdict(vec![by("s", start("a")), by("x", next("a"))]), wrong);
            assert_eq!(verdict(vec![start("a"), by("s", next("a"))]), wrong);
            let fine = Some((3, Rule::Unterminated));
            assert_eq!(verdict(vec![by("s", start("a")), by("s", next("a"))]), fine);
            assert_eq!(verdict(vec![by("s", start("a")), next("a")]), fine);
        }
        let again = |tag: Option<&str>, content_tag: &str| {
            let second = tag.map_or_else(|| start("a"), |tag| by(tag, start("a")));
            let events = [started(), by("s", start("a")), end("a"), second, by(content_tag, end("a"))];
            verdict(&mut Verifier::new(), &events)
        };
        assert_eq!(again(Some("x"), "x"), Some((3, Rule::OwnerMismatch)));
        assert_eq!(again(None, "s"), Some((5, Rule::Unterminated)));
        assert_eq!(again(None, "x"), Some((4, Rule::OwnerMismatch)));
    }
}

#[test]
fn activities_and_encrypted_values_have_an_owner_too() {
    let value = |subtype, id: &str| ReasoningEncryptedValue::new(subtype, id, "v");
    let call = EncryptedValueSubtype::ToolCall;
    let message = EncryptedValueSubtype::Message;
    assert_cases(vec![
        ("a delta of the owner", in_run([by("s", activity("a")), by("s", activity_delta("a"))]), None),
        ("a delta without a tag", in_run([by("s", activity("a")), activity_delta("a")]), None),
        ("a delta of nothing", in_run([by("s", activity_delta("a"))]), None),
        (
            "a delta of another",
            in_run([by("s", activity("a")), by("x", activity_delta("a"))]),
            Some((2, Rule::OwnerMismatch)),
        ),
        (
            "a snapshot takes over",
            in_run([by("s", activity("a")), by("x", activity("a")), by("x", activity_delta("a"))]),
            None,
        ),
        (
            "a snapshot that does not replace does not",
            in_run([
                by("s", activity("a")),
                by("x", activity("a").with_replace(false)),
                by("x", activity_delta("a")),
            ]),
            Some((3, Rule::OwnerMismatch)),
        ),
        (
            "a value for a call",
            in_run([by("s", call_start("c")), call_end("c"), by("x", value(call, "c"))]),
            Some((3, Rule::OwnerMismatch)),
        ),
        (
            "a value for a thought",
            in_run([by("s", thought_start("z")), thought_end("z"), by("x", value(message, "z"))]),
            Some((3, Rule::OwnerMismatch)),
        ),
        (
            "a value of the wrong kind",
            in_run([by("s", call_start("c")), call_end("c"), by("x", value(message, "c"))]),
            None,
        ),
        ("a value for nothing", in_run([by("x", value(message, "z"))]), None),
        (
            "a result makes its own message",
            in_run([by("s", ToolCallResult::new("m", "c", "x")), by("x", text_start("m"))]),
            Some((2, Rule::OwnerMismatch)),
        ),
    ]);
}

#[test]
fn a_call_has_the_owner_of_its_message() {
    let call = |parent: &str| Event::from(ToolCallStart::new("c", "f").with_parent_message_id(parent));
    let message = |owner: Option<&str>, id: &str| match owner {
        Some(owner) => [by(owner, text_start(id)), text_end(id)],
        None => [text_start(id), text_end(id)],
    };
    let stream = |owner, rest: Vec<Event>| [vec![started()], message(owner, "m").to_vec(), rest].concat();
    let fine = Some((5, Rule::Unterminated));
    let cases = [
        ("inherits", stream(Some("s"), vec![call("m"), by("s", call_end("c"))]), fine),
        (
            "inherits the parent",
            stream(None, vec![call("m"), by("s", call_end("c"))]),
            Some((4, Rule::OwnerMismatch)),
        ),
        ("agrees", stream(Some("s"), vec![by("s", call("m")), call_end("c")]), fine),
        ("differs", stream(Some("s"), vec![by("x", call("m"))]), Some((3, Rule::ParentOwnerMismatch))),
        (
            "differs from the parent",
            stream(None, vec![by("x", call("m"))]),
            Some((3, Rule::ParentOwnerMismatch)),
        ),
        ("an unknown message", stream(None, vec![by("x", call("other")), call_end("c")]), fine),
    ];
    for (name, events, expected) in cases {
        assert_eq!(verdict(&mut Verifier::new(), &events), expected, "{name}");
    }
    let moved = [
        vec![started()],
        message(Some("s"), "m").to_vec(),
        message(Some("x"), "n").to_vec(),
        vec![call("m"), call_end("c"), call("n")],
    ]
    .concat();
    assert_eq!(verdict(&mut Verifier::new(), &moved), Some((7, Rule::ParentOwnerMismatch)));
}

#[test]
fn history_and_snapshots_say_who_owns_what() {
    let owned = |owner: &str| {
        let call = ToolCall::new("c", FunctionCall::new("f", "{}"));
        vec![
            Message::from(AssistantMessage::new("m").with_tool_calls([call]).with_subagent_run_id(owner)),
            Message::from(ReasoningMessage::new("z", "hm").with_subagent_run_id(owner)),
        ]
    };
    let with_history =
        Event::from(RunStarted::new("t", "r").with_input(RunAgentInput::new("t", "r", owned("s"))));
    for wrong in [by("x", text_start("m")), by("x", call_start("c")), by("x", thought_start("z"))] {
        let events = [with_history.clone(), wrong.clone()];
        assert_eq!(verdict(&mut Verifier::new(), &events), Some((1, Rule::OwnerMismatch)));
        let replaced = [with_history.clone(), MessagesSnapshot::new(owned("x")).into(), wrong];
        assert_eq!(verdict(&mut Verifier::new(), &replaced), Some((3, Rule::Unterminated)));
    }
    let while_open =
        [started(), by("s", text_start("m")), MessagesSnapshot::new(owned("x")).into(), by("s", text("m"))];
    assert_eq!(verdict(&mut Verifier::new(), &while_open), Some((3, Rule::OwnerMismatch)));
}

#[test]
fn interrupts_are_there_and_distinct() {
    let ending = |ids: &[&str]| {
        let interrupts: Vec<Interrupt> = ids.iter().map(|id| Interrupt::new(*id, "confirmation")).collect();
        vec![started(), RunFinished::new("t", "r").with_outcome(Outcome::interrupt(interrupts)).into()]
    };
    assert_cases(vec![
        ("two questions", ending(&["a", "b"]), None),
        ("the same question twice", ending(&["a", "b", "a"]), Some((1, Rule::DuplicateInterrupt))),
        ("no question", ending(&[]), Some((1, Rule::NoInterrupt))),
    ]);
}

#[test]
fn chunks_stand_for_whole_events() {
    let role = |role| Event::from(text_chunk(Some("m")).with_role(role));
    let thought = |id: Option<&str>| {
        let chunk = ReasoningMessageChunk::new().with_delta("x");
        Event::from(match id {
            Some(id) => chunk.with_message_id(id),
            None => chunk,
        })
    };
    let first = || Event::from(text_chunk(Some("m")));
    let more = || Event::from(text_chunk(None));
    let raw = || Event::from(Raw::new(Json::null()));
    assert_cases(vec![
        ("a message", in_run([first(), more()]), None),
        ("two messages", in_run([first(), text_chunk(Some("n")).into(), first()]), None),
        ("three kinds", in_run([first(), call_chunk("c", "f"), thought(Some("z")), thought(None)]), None),
        ("no id", in_run([more()]), Some((1, Rule::ChunkIncomplete))),
        ("no id of this kind", in_run([first(), thought(None)]), Some((2, Rule::ChunkIncomplete))),
        (
            "a call without a name",
            in_run([ToolCallChunk::new().with_tool_call_id("c").into()]),
            Some((1, Rule::ChunkIncomplete)),
        ),
        (
            "a call without an id",
            in_run([ToolCallChunk::new().with_tool_call_name("f").into()]),
            Some((1, Rule::ChunkIncomplete)),
        ),
        ("the name again", in_run([call_chunk("c", "f"), call_chunk("c", "f")]), None),
        (
            "another name",
            in_run([call_chunk("c", "f"), call_chunk("c", "g")]),
            Some((2, Rule::ChunkConflict)),
        ),
        ("the role again", in_run([role(TextRole::User), role(TextRole::User)]), None),
        (
            "another role",
            in_run([role(TextRole::User), role(TextRole::Assistant)]),
            Some((2, Rule::ChunkConflict)),
        ),
        ("the role that was meant", in_run([first(), role(TextRole::Assistant)]), None),
        (
            "not the role that was meant",
            in_run([first(), role(TextRole::User)]),
            Some((2, Rule::ChunkConflict)),
        ),
        ("another event closes it", in_run([first(), custom(), more()]), Some((3, Rule::ChunkIncomplete))),
        ("a raw event does not", in_run([first(), raw(), more()]), None),
        ("an explicit end", in_run([first(), text_end("m")]), Some((2, Rule::NotOpen))),
        ("explicit content", in_run([first(), text("m")]), Some((2, Rule::NotOpen))),
        ("a chunk for an open message", in_run([text_start("m"), first()]), Some((2, Rule::AlreadyOpen))),
        ("a cut", vec![started(), first()], Some((2, Rule::Unterminated))),
        (
            "a lane for each owner",
            in_run([by("a", first()), by("b", text_chunk(Some("n"))), by("a", more()), by("b", more())]),
            None,
        ),
        (
            "no telling which",
            in_run([by("a", first()), by("b", text_chunk(Some("n"))), more()]),
            Some((3, Rule::ChunkAmbiguous)),
        ),
        ("the only one", in_run([by("a", first()), more()]), None),
        ("another owner", in_run([by("a", first()), by("b", first())]), Some((2, Rule::ChunkConflict))),
        (
            "the end of the subagent closes it",
            in_run([sub_start("s"), by("s", first()), sub_end("s"), by("s", more())]),
            Some((4, Rule::ChunkIncomplete)),
        ),
        (
            "its start does not",
            in_run([by("s", first()), sub_start("s"), by("s", more()), sub_end("s")]),
            None,
        ),
    ]);
}

#[test]
fn every_rule_has_its_own_name() {
    let mut names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!((names.len(), count), (count, 21));
}
