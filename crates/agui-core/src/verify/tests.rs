use super::{MAX_OPEN_SPANS, Rule, Span, Verifier};
use crate::{
    ActivityDelta, ActivitySnapshot, AssistantMessage, Custom, EncryptedValueSubtype, Event, FunctionCall,
    Interrupt, Json, JsonObject, Message, MessagesSnapshot, Outcome, Raw, ReasoningEncryptedValue,
    ReasoningEnd, ReasoningMessage, ReasoningMessageChunk, ReasoningMessageContent, ReasoningMessageEnd,
    ReasoningMessageStart, ReasoningStart, RunAgentInput, RunError, RunFinished, RunStarted, StepFinished,
    StepStarted, SubagentError, SubagentFinished, SubagentStarted, TextMessageChunk, TextMessageContent,
    TextMessageEnd, TextMessageStart, TextRole, ToolCall, ToolCallArgs, ToolCallChunk, ToolCallEnd,
    ToolCallResult, ToolCallStart,
};

mod chunks;
mod owners;

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
#[test]
fn so_much_may_be_open_and_no_more() {
    let mut verifier = Verifier::new();
    verifier.check(&started()).unwrap();
    for number in 0..MAX_OPEN_SPANS {
        verifier.check(&text_start(&number.to_string())).unwrap();
    }
    let opening: [Event; 4] = [
        text_start("one more"),
        ToolCallStart::new("c", "f").into(),
        StepStarted::new("s").into(),
        SubagentStarted::new("w", "worker").into(),
    ];
    for event in opening {
        let refused = verifier.check(&event).unwrap_err();
        assert_eq!(refused.rule(), Rule::TooManyOpen, "{event:?}");
    }
    verifier.check(&text("0")).unwrap();
    verifier.check(&text_end("0")).unwrap();
    verifier.check(&text_start("one more")).unwrap();

    // Chunks have owners of their own, which are counted before anything is opened.
    let mut verifier = Verifier::new();
    verifier.check(&started()).unwrap();
    let chunk = |number: usize| {
        let chunk = TextMessageChunk::default().with_message_id(format!("m{number}"));
        Event::from(chunk.with_subagent_run_id(format!("w{number}")))
    };
    let refused = (0..=MAX_OPEN_SPANS).find_map(|number| verifier.check(&chunk(number)).err());
    let refused = refused.map(|violation| violation.rule());
    assert_eq!(refused, Some(Rule::TooManyOpen));
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
fn every_rule_has_its_own_name() {
    let mut names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!((names.len(), count), (count, 22));
}
