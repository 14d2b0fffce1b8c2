use agui_core::{
    AssistantMessage, Event, Interrupt, InterruptId, Json, MessagesSnapshot, Outcome, ResumeStatus, RunError,
    RunFinished, RunStarted, TextMessageContent, TextMessageStart, Tool, ToolCallArgs, ToolCallEnd,
    ToolCallId, ToolCallResult, ToolCallStart, UnixMillis,
};

use super::{Conversation, Warning};
use crate::{ClientError, RunEnd};

const NOW: UnixMillis = UnixMillis::new(1_700_000_000_000);

fn feed(thread: &mut Conversation, events: impl IntoIterator<Item = Event>) -> Vec<Warning> {
    events.into_iter().filter_map(|event| thread.apply(&event)).collect()
}

fn run(outcome: Option<Outcome>, events: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let mut finished = RunFinished::new("t", "r");
    finished.outcome = outcome;
    let mut all = vec![RunStarted::new("t", "r").into()];
    all.extend(events);
    all.push(finished.into());
    all
}

fn asked(interrupts: impl IntoIterator<Item = Interrupt>) -> Vec<Event> {
    run(Some(Outcome::interrupt(interrupts.into_iter().collect::<Vec<_>>())), [])
}

fn call(id: &str, name: &str) -> [Event; 2] {
    [ToolCallStart::new(id, name).into(), ToolCallEnd::new(id).into()]
}

fn ids(thread: &Conversation) -> Vec<&str> {
    thread.interrupts().iter().map(|interrupt| interrupt.id.as_str()).collect()
}

#[test]
fn every_question_needs_an_answer() {
    let mut thread = Conversation::new("t");
    feed(&mut thread, asked([Interrupt::new("a", "x"), Interrupt::new("b", "x")]));
    let unknown = thread.abandon(&InterruptId::new("c")).unwrap_err();
    assert!(matches!(unknown, ClientError::UnknownInterrupt { interrupt_id } if interrupt_id == "c"));
    thread.resolve(&InterruptId::new("a"), None).unwrap();
    let partial = thread.request("r2", NOW).unwrap_err();
    assert!(
        matches!(partial, ClientError::Unanswered { interrupts } if interrupts == [InterruptId::new("b")])
    );
    thread.abandon(&InterruptId::new("b")).unwrap();
    thread.abandon(&InterruptId::new("a")).unwrap();
    thread.resolve(&InterruptId::new("a"), Some(Json::null())).unwrap();
    let resume = thread.request("r2", NOW).unwrap().resume;
    let sent: Vec<_> = resume.iter().map(|entry| (entry.interrupt_id.as_str(), entry.status)).collect();
    assert_eq!(sent, [("b", ResumeStatus::Cancelled), ("a", ResumeStatus::Resolved)]);
}

#[test]
fn an_expired_question_can_only_be_left() {
    let cases = [
        ("2023-11-14T22:13:20Z", true),
        ("2023-11-14T23:13:20+01:00", true),
        ("2023-11-14T22:13:20.001Z", false),
        ("tomorrow", false),
    ];
    for (at, expired) in cases {
        let mut thread = Conversation::new("t");
        feed(&mut thread, asked([Interrupt::new("a", "x").with_expires_at(at)]));
        let id = InterruptId::new("a");
        thread.resolve(&id, None).unwrap();
        assert_eq!(thread.request("r2", NOW).is_err(), expired, "{at}");
        thread.abandon(&id).unwrap();
        assert!(thread.request("r2", NOW).is_ok(), "{at}");
    }
}

#[test]
fn only_answered_questions_are_done_when_a_run_finishes() {
    let mut thread = Conversation::new("t");
    feed(&mut thread, asked([Interrupt::new("a", "x")]));
    thread.resolve(&InterruptId::new("a"), None).unwrap();
    thread.request("r2", NOW).unwrap();
    feed(&mut thread, [RunError::new("no").into()]);
    assert_eq!(ids(&thread), ["a"], "a failure answers nothing");
    assert_eq!(thread.request("r3", NOW).unwrap().resume.len(), 1);
    feed(&mut thread, asked([Interrupt::new("b", "x")]));
    assert_eq!(ids(&thread), ["b"]);
    feed(&mut thread, run(None, []));
    assert_eq!(ids(&thread), ["b"], "a second run on the stream does not answer the first one's question");
    feed(&mut thread, asked([Interrupt::new("b", "again"), Interrupt::new("c", "x")]));
    assert_eq!(ids(&thread), ["b", "c"]);
}

#[test]
fn calls_of_the_applications_tools_are_answered_before_the_thread_goes_on() {
    let mut thread = Conversation::new("t").with_tools([Tool::new("pick", "")]);
    let mut events: Vec<Event> = Vec::new();
    events.extend(call("c1", "pick"));
    events.extend(call("c2", "search"));
    events.extend(call("c3", "read"));
    events.push(ToolCallResult::new("o", "c3", "text").into());
    feed(&mut thread, run(None, events));
    assert_eq!(thread.pending_tool_calls(), [ToolCallId::new("c1"), ToolCallId::new("c2")]);
    let refused = thread.request("r2", NOW).unwrap_err();
    assert!(
        matches!(refused, ClientError::UnansweredCalls { tool_calls } if tool_calls == [ToolCallId::new("c1")])
    );
    thread.answer_call(&ToolCallId::new("c1"), "o1", "red").unwrap();
    let again = thread.answer_call(&ToolCallId::new("c1"), "o2", "blue").unwrap_err();
    assert!(matches!(again, ClientError::UnknownToolCall { .. }));
    let order: Vec<&str> = thread.messages().iter().map(|message| message.id().as_str()).collect();
    assert_eq!(order, ["c1", "o1", "c2", "c3", "o"]);
    assert_eq!(thread.request("r2", NOW).unwrap().messages.len(), 5);
}

#[test]
fn a_run_may_name_its_pending_calls() {
    let mut thread = Conversation::new("t");
    let named = Outcome::Success { pending_tool_call_ids: Some(vec![ToolCallId::new("c2")]) };
    let calls: Vec<Event> = call("c1", "a").into_iter().chain(call("c2", "b")).collect();
    feed(&mut thread, run(Some(named), calls.clone()));
    assert_eq!(thread.pending_tool_calls(), [ToolCallId::new("c2")]);
    feed(&mut thread, run(Some(Outcome::Cancelled), calls));
    assert!(thread.pending_tool_calls().is_empty());
}

#[test]
fn digits_of_the_state_survive_until_a_patch() {
    let text = r#"{"n":0.10000000000000000000001,"z":1.50}"#;
    let thread = Conversation::new("t").with_state(Json::from_string(text.to_owned()).unwrap());
    assert_eq!(thread.state().get(), text);
    assert_eq!(Conversation::new("t").state().get(), "{}");
}

#[test]
fn the_end_of_a_run_is_known_until_the_next_begins() {
    let mut thread = Conversation::new("t");
    assert_eq!(thread.end(), None);
    let result = Json::from_serialize("done").unwrap();
    feed(&mut thread, [RunFinished::new("t", "r").with_result(result.clone()).into()]);
    assert_eq!(thread.end(), Some(&RunEnd::Success { result: Some(result) }));
    feed(&mut thread, [RunStarted::new("t", "r2").into()]);
    assert_eq!(thread.end(), None);
    feed(&mut thread, [RunError::new("no").into()]);
    assert!(matches!(thread.end(), Some(RunEnd::Failed(error)) if error.message == "no"));
}

#[test]
fn what_was_said_is_not_in_debug_output() {
    let mut thread = Conversation::new("t").with_forwarded_props(Json::from_serialize("token").unwrap());
    thread.say("u", "my secret");
    let shown = format!("{thread:?}");
    assert!(!shown.contains("secret") && !shown.contains("token"), "{shown}");
}

#[test]
fn what_a_snapshot_has_taken_away_can_come_again() {
    let mut thread = Conversation::new("t").with_messages([AssistantMessage::new("m0").into()]);
    let warnings = feed(
        &mut thread,
        [
            RunStarted::new("t", "r").into(),
            TextMessageStart::new("m1").into(),
            ToolCallStart::new("c1", "look").with_parent_message_id("m1").into(),
            MessagesSnapshot::new([]).into(),
            // Gone: the words go nowhere.
            TextMessageContent::new("m1", "lost").into(),
            ToolCallArgs::new("c1", "lost").into(),
            TextMessageStart::new("m1").into(),
            TextMessageContent::new("m1", "again").into(),
            ToolCallStart::new("c1", "look").with_parent_message_id("m1").into(),
            ToolCallArgs::new("c1", "{}").into(),
            ToolCallEnd::new("c1").into(),
            TextMessageStart::new("m2").into(),
            ToolCallResult::new("o1", "c1", "found").into(),
        ],
    );
    let gone = [
        Warning::UnknownMessage { message_id: "m1".into() },
        Warning::UnknownToolCall { tool_call_id: ToolCallId::new("c1") },
    ];
    assert_eq!(warnings, gone);
    let order: Vec<&str> = thread.messages().iter().map(|message| message.id().as_str()).collect();
    assert_eq!(order, ["m1", "o1", "m2"]);
    let call = thread.tool_call(&ToolCallId::new("c1")).unwrap();
    assert_eq!((call.function.name.as_str(), call.function.arguments.as_str()), ("look", "{}"));
    assert_eq!(thread.tool_call(&ToolCallId::new("c2")), None);
}
