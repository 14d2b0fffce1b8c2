//! Text and reasoning of the normal turn.

use a2a_wire::StreamItem;
use agui_core::{Event, EventType, UnixMillis};
use agui_mapper::{Ending, EventMapper};
use serde_json::json;

use crate::kernel::{delta, final_text, task, text_of, thinking, tool, update, working};
use crate::stream::{Run, config};

#[test]
fn s5_text_becomes_one_message() {
    let mut run = Run::first();
    run.feed(&task("SUBMITTED", &[("u1", "ROLE_USER", "my question")]));
    for item in
        [update("SUBMITTED", json!({})), working(json!({})), delta("Hel"), delta("lo"), final_text("Hello")]
    {
        run.feed(&item);
    }
    run.feed(&update("INPUT_REQUIRED", json!({})));
    assert_eq!(
        run.succeed(),
        [
            "run+ t r1",
            "text+ r1:message:1",
            "text  r1:message:1 \"Hel\"",
            "text  r1:message:1 \"lo\"",
            "text- r1:message:1",
            "run- success",
        ]
    );
}

#[test]
fn w49_text_after_a_tool_call_is_a_new_message() {
    let mut run = Run::first();
    run.feed(&delta("before"));
    run.feed(&tool("started", "c1", json!({})));
    run.feed(&tool("input_complete", "c1", json!({"toolInput": {}})));
    run.feed(&tool("completed", "c1", json!({"result": "ok"})));
    run.feed(&delta("after"));
    assert_eq!(
        run.body(),
        [
            "text+ r1:message:1",
            "text  r1:message:1 \"before\"",
            "text- r1:message:1",
            "call+ c1 bash of r1:message:1",
            "args  c1 {}",
            "call- c1",
            "result r1:result:2 c1 \"ok\"",
            "text+ r1:message:3",
            "text  r1:message:3 \"after\"",
            "text- r1:message:3",
        ]
    );
}

#[test]
fn w52_each_stretch_of_reasoning_has_its_own_id() {
    let mut run = Run::first();
    for item in [thinking("a"), thinking("b"), delta("x"), thinking("c"), delta("y")] {
        run.feed(&item);
    }
    run.feed(&working(json!({"thinking": {"type": "summary", "text": "not shown"}})));
    assert_eq!(
        run.body(),
        [
            "span+ r1:reasoning:1",
            "think+ r1:reasoning:1",
            "think  r1:reasoning:1 \"a\"",
            "think  r1:reasoning:1 \"b\"",
            "think- r1:reasoning:1",
            "span- r1:reasoning:1",
            "text+ r1:message:2",
            "text  r1:message:2 \"x\"",
            "text- r1:message:2",
            "span+ r1:reasoning:3",
            "think+ r1:reasoning:3",
            "think  r1:reasoning:3 \"c\"",
            "think- r1:reasoning:3",
            "span- r1:reasoning:3",
            "text+ r1:message:4",
            "text  r1:message:4 \"y\"",
            "text- r1:message:4",
        ]
    );
}

#[test]
fn final_text_shows_only_what_is_missing() {
    let call = tool("started", "c1", json!({}));
    let cases = [
        (vec![], "all of it", "all of it"),
        (vec![delta("all "), delta("of it")], "all of it", "all of it"),
        (vec![delta("all ")], "all of it", "all of it"),
        (vec![delta("I will."), call.clone(), delta("Aft")], "After.", "I will.After."),
        (vec![delta("I will."), call], "After.", "I will.After."),
        (vec![delta("half an half an answer")], "half an answer", "half an half an answer"),
    ];
    for (items, whole, shown) in cases {
        let mut run = Run::first();
        items.iter().for_each(|item| run.feed(item));
        run.feed(&final_text(whole));
        run.finish(Ending::Success);
        assert_eq!(run.shown(), shown, "{whole}");
    }
}

#[test]
fn the_missing_rest_continues_the_open_message() {
    let mut run = Run::first();
    run.feed(&delta("all "));
    run.feed(&final_text("all of it"));
    let starts = run.lines().iter().filter(|line| line.starts_with("text+")).count();
    assert_eq!(starts, 1);
}

#[test]
fn w57_reasons_of_an_end_are_not_answers() {
    for state in ["FAILED", "CANCELED", "REJECTED"] {
        let mut run = Run::first();
        run.feed(&delta("partial "));
        run.feed(&text_of("T1-4", state, "BadRequestError: key sk-123"));
        run.finish(Ending::Error {
            code: "A2A_EXECUTION_FAILED".into(),
            message: "The A2A execution failed.".into(),
        });
        assert_eq!(run.shown(), "partial ", "{state}");
        let all = serde_json::to_string(run.events()).unwrap();
        assert!(!all.contains("sk-123"));
    }
}

#[test]
fn w56_spans_are_closed_before_an_error_in_reverse_order() {
    let mut run = Run::first();
    run.feed(&tool("started", "c1", json!({})));
    run.feed(&delta("partial"));
    run.finish(Ending::Error { code: "CODE".into(), message: String::new() });
    let lines = run.lines();
    assert_eq!(lines[lines.len() - 3..], ["text- r1:message:1", "call- c1", "error CODE \"CODE\""]);
}

#[test]
fn w53_times_never_run_backwards() {
    let mut run = Run::first();
    run.feed(&delta("a"));
    run.mapper.finish(UnixMillis::new(1), Ending::Success);
    run.drain();
    let times: Vec<i64> = run.events().iter().map(|event| event.base().timestamp.unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn w27_a_direct_message_is_an_answer() {
    let mut run = Run::first();
    run.feed(&json!({"message": {"messageId": "m9", "contextId": "C1", "role": "ROLE_AGENT",
        "parts": [{"text": "direct "}, {"data": {"x": 1}}, {"text": "reply"}]}}));
    assert!(run.mapper.observed().direct_message);
    assert_eq!(run.body(), ["text+ r1:m9:1", "text  r1:m9:1 \"direct reply\"", "text- r1:m9:1"]);
}

#[test]
fn c49_empty_deltas_are_not_sent() {
    let mut run = Run::first();
    run.feed(&delta(""));
    run.feed(&thinking(""));
    run.feed(&final_text(""));
    assert_eq!(run.body(), [""; 0]);
}

#[test]
fn c65_a_large_delta_is_split() {
    let mut run = Run::first();
    let text = "\u{4f60}\n".repeat(40_000);
    run.feed(&delta(&text));
    assert_eq!(run.shown(), text);
    for event in run.events() {
        assert!(serde_json::to_string(event).unwrap().len() < 64 * 1024);
    }
}

#[test]
fn a_task_shows_what_was_not_streamed() {
    let history = [
        ("u1", "ROLE_USER", "question"),
        ("T1-message", "ROLE_AGENT", "one "),
        ("T1-message", "ROLE_AGENT", "two "),
        ("T1-message", "ROLE_AGENT", "three"),
        ("T1-2", "ROLE_AGENT", "one two three"),
    ];
    for streamed in [&[][..], &["one "], &["one ", "two ", "three"]] {
        let mut run = Run::first();
        streamed.iter().for_each(|text| run.feed(&delta(text)));
        run.feed(&task("COMPLETED", &history));
        assert_eq!(run.shown(), "one two three", "{streamed:?}");
    }
}

#[test]
fn w45_a_task_repeats_no_reasoning_no_tool_and_no_usage() {
    let mut run = Run::first();
    let mut snapshot = task("WORKING", &[]);
    snapshot["task"]["metadata"]["iac_code"] = json!({
        "thinking": {"type": "raw_thinking", "text": "again"},
        "tool": {"status": "completed", "toolUseId": "c1", "name": "bash", "result": "again"},
        "usage": {"inputTokens": 5, "outputTokens": 5, "totalTokens": 10},
    });
    run.feed(&snapshot);
    assert_eq!(run.succeed(), ["run+ t r1", "run- success"]);
}

#[test]
fn artifacts_are_announced_once_with_their_flags() {
    let artifact = json!({"artifactId": "A1", "name": "t.yaml", "parts": [{"url": "x://t"}], "metadata": {"byteSize": 19.0}});
    let mut run = Run::first();
    run.feed(&json!({"artifactUpdate": {"taskId": "T1", "contextId": "C1", "artifact": artifact, "append": true, "lastChunk": true}}));
    let mut snapshot = task("WORKING", &[]);
    let mut other = artifact.clone();
    other["artifactId"] = json!("A2");
    snapshot["task"]["artifacts"] = json!([artifact, other]);
    run.feed(&snapshot);
    assert_eq!(run.mapper.position().artifacts, ["A1", "A2"]);
    assert_eq!(
        run.body(),
        [
            r#"custom iac-code.artifact.v1 {"schemaVersion":1,"artifactId":"A1","metadata":{"byteSize":19.0},"name":"t.yaml","parts":[{"url":"x://t"}],"append":true,"lastChunk":true}"#,
            r#"custom iac-code.artifact.v1 {"schemaVersion":1,"artifactId":"A2","metadata":{"byteSize":19.0},"name":"t.yaml","parts":[{"url":"x://t"}]}"#,
        ]
    );
}

#[test]
fn s6_1_the_session_is_announced_once() {
    let mut run = Run::first();
    run.feed(&working(json!({})));
    for _ in 0..2 {
        run.mapper.announce_session(UnixMillis::new(2000));
    }
    run.drain();
    assert_eq!(
        run.body(),
        [
            r#"custom iac-code.session.v1 {"schemaVersion":1,"threadId":"t","aguiRunId":"r1","executionId":"exec","contextId":"C1","taskId":"T1","rosInvocationId":"inv","sessionId":"S1"}"#
        ]
    );
}

#[test]
fn s6_1_the_session_is_announced_before_what_the_same_update_shows() {
    let mut mapper = EventMapper::new(config("r1"));
    let update = serde_json::value::to_raw_value(&delta("mine")).unwrap();
    mapper.handle_item(UnixMillis::new(1000), &StreamItem::from_result(&update).unwrap());
    mapper.announce_session(UnixMillis::new(2000));
    let events: Vec<Event> = std::iter::from_fn(|| mapper.poll_event()).collect();
    let order: Vec<_> = events.iter().map(|event| (event.event_type(), event.base().timestamp)).collect();
    let types = [
        EventType::RunStarted,
        EventType::Custom,
        EventType::TextMessageStart,
        EventType::TextMessageContent,
    ];
    assert_eq!(order, types.map(|event_type| (event_type, Some(1000))), "and time does not run backwards");
}

#[test]
fn updates_of_another_task_or_context_are_not_mapped() {
    let mut foreign_task = delta("not ours");
    foreign_task["statusUpdate"]["taskId"] = json!("T2");
    let mut foreign_context = delta("not ours");
    foreign_context["statusUpdate"]["contextId"] = json!("C2");
    let mut foreign_session = delta("ours");
    foreign_session["statusUpdate"]["metadata"]["iac_code"]["iacCodeSessionId"] = json!("S2");
    for (item, shown) in [(foreign_task, "mine"), (foreign_context, "mine"), (foreign_session, "mineours")] {
        let mut run = Run::first();
        run.feed(&delta("mine"));
        assert!(!run.mapper.observed().identity_changed());
        run.feed(&item);
        assert!(run.mapper.observed().identity_changed(), "{item}");
        assert_eq!(run.shown(), shown);
    }
}

#[test]
fn nothing_follows_the_end() {
    let mut run = Run::first();
    run.finish(Ending::Cancelled { message: "The execution was cancelled.".into() });
    run.feed(&delta("late"));
    run.finish(Ending::Success);
    assert_eq!(run.lines(), ["run+ t r1", "error CANCELLED \"The execution was cancelled.\""]);
}

#[test]
fn the_stream_begins_by_itself() {
    let mut mapper = EventMapper::new(config("r1").with_parent_run_id("r0"));
    mapper.finish(UnixMillis::new(1), Ending::Success);
    let Some(Event::RunStarted(started)) = mapper.poll_event() else { panic!("no RUN_STARTED") };
    assert_eq!(started.parent_run_id.unwrap(), "r0");
    assert_eq!(started.protocol_version.unwrap(), "1.0");
    assert_eq!(mapper.poll_event().unwrap().event_type(), EventType::RunFinished);
    assert!(mapper.poll_event().is_none() && mapper.has_ended());
}

#[test]
fn an_update_that_is_recognised_as_a_repetition_is_mapped_as_if_it_were_read() {
    let started = tool("started", "c1", json!({}));
    let updates = [
        (working(json!({})), false),
        (delta("one "), false),
        (delta("two "), true),
        (delta("\"three\"\n"), true),
        (delta(""), true),
        (started, false),
        (delta("four "), false),
        (delta("five"), true),
        (thinking("hm"), false),
        (delta("six"), false),
        (final_text("four fivesix"), false),
        (delta("seven"), false),
        (update("INPUT_REQUIRED", json!({})), false),
    ];
    let (mut quick, mut slow) = (EventMapper::new(config("r1")), EventMapper::new(config("r1")));
    for (at, (update, repeated)) in updates.iter().enumerate() {
        let now = UnixMillis::new(1000 + at as u64);
        let raw = serde_json::value::to_raw_value(update).unwrap();
        let item = StreamItem::from_result(&raw).unwrap();
        let json = raw.get().as_bytes();
        assert_eq!(quick.handle_repeated(now, json), *repeated, "{at}");
        if !repeated {
            quick.handle_item(now, &item);
            quick.remember(json, &item);
        }
        slow.handle_item(now, &item);
        let events = [&mut quick, &mut slow]
            .map(|mapper| -> Vec<Event> { std::iter::from_fn(|| mapper.poll_event()).collect() });
        assert_eq!(events[0], events[1], "{at}");
        assert_eq!(quick.observed(), slow.observed(), "{at}");
    }
}
