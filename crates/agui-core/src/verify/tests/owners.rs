//! Whose things are.

use super::*;

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
