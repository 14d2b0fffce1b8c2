//! Agents that are not iac-code.

use agui_mapper::Dialect;
use serde_json::{Value, json};

use crate::stream::{Run, config};

fn artifact(id: &str, text: &str, append: bool) -> Value {
    json!({"kind": "artifact-update", "taskId": "T1", "contextId": "C1", "append": append,
        "artifact": {"artifactId": id, "parts": [{"kind": "text", "text": text}]}})
}

fn status(state: &str, text: Option<(&str, &str)>) -> Value {
    let message = text.map(|(id, text)| {
        json!({"kind": "message", "messageId": id, "role": "agent",
        "parts": [{"kind": "text", "text": text}]})
    });
    json!({"kind": "status-update", "taskId": "T1", "contextId": "C1", "status": {"state": state, "message": message}})
}

fn run() -> Run {
    Run::new(config("r1").with_dialect(Dialect::Plain))
}

#[test]
fn c40_text_artifacts_and_messages_are_the_answer() {
    let mut run = run();
    run.feed(&status("submitted", None));
    run.feed(&status("working", Some(("s1", "Looking"))));
    run.feed(&artifact("a1", "one ", false));
    run.feed(&artifact("a1", "two", true));
    run.feed(&json!({"kind": "artifact-update", "taskId": "T1", "contextId": "C1",
        "artifact": {"artifactId": "a2", "parts": [{"kind": "data", "data": {"n": 1}}]}}));
    run.feed(&status("completed", Some(("s2", "one two"))));
    assert_eq!(
        run.body(),
        [
            "text+ r1:s1:1",
            "text  r1:s1:1 \"Looking\"",
            "text- r1:s1:1",
            "text+ r1:a1:2",
            "text  r1:a1:2 \"one \"",
            "text  r1:a1:2 \"two\"",
            r#"custom a2a.artifact.v1 {"schemaVersion":1,"artifactId":"a2","artifact":{"artifactId":"a2","parts":[{"data":{"n":1},"kind":"data"}]}}"#,
            "text- r1:a1:2",
        ]
    );
}

#[test]
fn an_artifact_that_ends_like_the_text_before_is_shown() {
    let mut run = run();
    run.feed(&status("working", Some(("s1", "Everything is OK"))));
    run.feed(&artifact("a1", "OK", false));
    run.feed(&artifact("a1", "OK then", false));
    assert_eq!(run.shown(), "Everything is OKOK then");
}

#[test]
fn a_short_answer_is_not_lost_because_the_words_before_end_like_it() {
    let question = "Is it yes or no";
    let mut streamed = run();
    streamed.feed(&status("working", Some(("s1", question))));
    streamed.feed(&status("completed", Some(("s2", "no"))));
    assert_eq!(streamed.shown(), "Is it yes or nono");

    let mut looked_at = run();
    let mut task = whole("completed", &[("s1", question)], json!([]));
    task["status"]["message"] =
        json!({"messageId": "s2", "role": "agent", "parts": [{"kind": "text", "text": "no"}]});
    looked_at.feed(&task);
    looked_at.feed(&task);
    assert_eq!(looked_at.shown(), "Is it yes or nono");

    // After a resume, the answer may end like the words before it.
    let mut first = run();
    first.feed(&status("working", Some(("s1", question))));
    let position = first.mapper.position();
    let mut second = Run::new(config("r2").with_dialect(Dialect::Plain).with_resume(position));
    second.feed(&status("working", Some(("s3", "no"))));
    second.feed(&status("completed", Some(("s4", "I say no"))));
    assert_eq!(second.shown(), "noI say no");
}

#[test]
fn a_task_alone_is_a_whole_answer() {
    let mut run = run();
    run.feed(&json!({"kind": "task", "id": "T1", "contextId": "C1",
        "status": {"state": "completed", "message": {"messageId": "s2", "role": "agent", "parts": [{"kind": "text", "text": "Done."}]}},
        "artifacts": [{"artifactId": "a1", "parts": [{"kind": "text", "text": "the result"}]}],
        "history": [{"messageId": "u", "role": "user", "parts": [{"kind": "text", "text": "go"}]}]}));
    assert_eq!(run.shown(), "the resultDone.");
}

#[test]
fn an_unknown_state_shows_its_text_and_ends_nothing() {
    let mut run = run();
    run.feed(&status("paused", Some(("s1", "Waiting for capacity"))));
    assert_eq!(run.shown(), "Waiting for capacity");
    assert!(!run.mapper.observed().last_state.as_ref().unwrap().is_terminal());
}

fn whole(state: &str, said: &[(&str, &str)], artifacts: Value) -> Value {
    let history: Vec<Value> = said
        .iter()
        .map(
            |(id, text)| json!({"messageId": id, "role": "agent", "parts": [{"kind": "text", "text": text}]}),
        )
        .collect();
    json!({"kind": "task", "id": "T1", "contextId": "C1", "status": {"state": state}, "artifacts": artifacts,
        "history": history})
}

fn text_artifact(id: &str, text: &str) -> Value {
    json!({"artifactId": id, "parts": [{"kind": "text", "text": text}]})
}

#[test]
fn looks_at_a_task_show_what_is_new_in_the_order_of_the_work() {
    let mut run = run();
    let mut first = whole("working", &[("s1", "Looking")], json!([text_artifact("a", "one ")]));
    // The present word is in the history of some agents too.
    first["status"]["message"] =
        json!({"messageId": "s1", "role": "agent", "parts": [{"kind": "text", "text": "Looking"}]});
    run.feed(&first);
    run.feed(&first);
    let artifacts =
        json!([text_artifact("a", "one two"), {"artifactId": "d", "parts": [{"kind": "data", "data": {}}]}]);
    let mut last = whole("completed", &[("s1", "Looking"), ("s2", "Writing")], artifacts);
    last["status"]["message"] =
        json!({"messageId": "s3", "role": "agent", "parts": [{"kind": "text", "text": "All done"}]});
    run.feed(&last);
    run.feed(&last);
    assert_eq!(
        run.body(),
        [
            "text+ r1:s1:1",
            "text  r1:s1:1 \"Looking\"",
            "text- r1:s1:1",
            "text+ r1:a:2",
            "text  r1:a:2 \"one \"",
            "text+ r1:s2:3",
            "text  r1:s2:3 \"Writing\"",
            "text- r1:s2:3",
            "text  r1:a:2 \"two\"",
            r#"custom a2a.artifact.v1 {"schemaVersion":1,"artifactId":"d","artifact":{"artifactId":"d","parts":[{"data":{},"kind":"data"}]}}"#,
            "text+ r1:s3:4",
            "text  r1:s3:4 \"All done\"",
            "text- r1:s3:4",
            "text- r1:a:2",
        ]
    );
}

#[test]
fn a_resumed_run_shows_no_artifact_again_unless_it_has_changed() {
    let data = |n: u8| json!({"artifactId": "d", "parts": [{"kind": "data", "data": {"n": n}}]});
    let mut first = run();
    first.feed(&whole("input-required", &[], json!([text_artifact("a", "The beginning "), data(1)])));
    let position = first.mapper.position();
    let mut second = Run::new(config("r2").with_dialect(Dialect::Plain).with_resume(position));
    second.feed(&whole("working", &[], json!([text_artifact("a", "The beginning "), data(1)])));
    second.feed(&whole("completed", &[], json!([text_artifact("a", "The beginning and the end"), data(2)])));
    assert_eq!(
        second.body(),
        [
            "text+ r2:a:1",
            "text  r2:a:1 \"and the end\"",
            r#"custom a2a.artifact.v1 {"schemaVersion":1,"artifactId":"d","artifact":{"artifactId":"d","parts":[{"data":{"n":2},"kind":"data"}]}}"#,
            "text- r2:a:1",
        ]
    );
}

fn told(run: &Run) -> Vec<String> {
    run.lines().into_iter().filter(|line| line.starts_with("custom a2a.message.v1")).collect()
}

/// A message of the agent with data, as it stands in a history.
fn data_message(id: &str, n: u8) -> Value {
    json!({"kind": "message", "messageId": id, "role": "agent", "parts": [{"kind": "data", "data": {"n": n}}]})
}

#[test]
fn data_in_messages_without_ids_is_told_once_each() {
    let mut run = run();
    for n in [1, 2, 2] {
        let mut update = status("working", None);
        update["status"]["message"] = data_message("", n);
        run.feed(&update);
    }
    let value = |n: u8| {
        format!(
            r#"custom a2a.message.v1 {{"schemaVersion":1,"messageId":"message","parts":[{{"data":{{"n":{n}}}}}]}}"#
        )
    };
    assert_eq!(told(&run), [value(1), value(2)]);
}

#[test]
fn a_resumed_run_tells_no_data_again_and_what_comes_after_the_answer() {
    let mut waiting = whole("input-required", &[], json!([]));
    waiting["history"] = json!([{"messageId": "u", "role": "user", "parts": []}, data_message("m1", 1)]);
    let mut first = run();
    first.feed(&waiting);
    assert_eq!(told(&first).len(), 1);

    let resumed = || {
        let position = first.mapper.position();
        let mut second = Run::new(config("r2").with_dialect(Dialect::Plain).with_resume(position));
        second.feed(&waiting);
        assert_eq!(told(&second), [""; 0]);
        second
    };
    let mut next = waiting.clone();
    next["history"] = json!([{"messageId": "u2", "role": "user", "parts": []}, data_message("m2", 2)]);
    let mut asks_again = resumed();
    asks_again.mapper.answered("input-T1");
    asks_again.feed(&next);
    assert_eq!(told(&asks_again).len(), 1);

    // It went on by itself.
    next["status"]["state"] = json!("completed");
    let mut went_on = resumed();
    went_on.feed(&next);
    assert_eq!(told(&went_on).len(), 1);
}

fn asked(state: &str, id: &str, text: &str) -> Value {
    let mut task = whole(state, &[], json!([]));
    task["status"]["message"] =
        json!({"messageId": id, "role": "agent", "parts": [{"kind": "text", "text": text}]});
    task
}

fn open(run: &Run) -> Vec<String> {
    let open = run.mapper.observed().open_inputs.iter();
    open.map(|open| format!("{} {:?}", open.interrupt.id, open.interrupt.message.as_deref().unwrap()))
        .collect()
}

#[test]
fn a_task_asks_once_and_an_answered_question_stays_answered_until_it_works_again() {
    let mut run = run();
    run.feed(&asked("input-required", "q1", "Where?"));
    run.feed(&asked("input-required", "q1", "Where?"));
    assert_eq!(open(&run), [r#"input-T1-q1 "Where?""#]);
    run.mapper.answered("input-T1-q1");
    run.feed(&asked("input-required", "q1", "Where?"));
    assert_eq!(open(&run), Vec::<String>::new(), "the task is behind");
    run.feed(&status("working", None));
    run.feed(&asked("input-required", "q1", "Where?"));
    assert_eq!(open(&run), [r#"input-T1-q1#2 "Where?""#]);
    assert_eq!(run.shown(), "", "questions are no answers");
}

#[test]
fn a_question_that_changes_is_void_under_its_old_id() {
    let mut run = run();
    run.feed(&asked("input-required", "q1", "Delete the draft?"));
    run.feed(&asked("input-required", "q1", "Delete everything?"));
    assert_eq!(open(&run), [r#"input-T1-q1#2 "Delete everything?""#]);
    let replaced = &run.mapper.observed().replaced[0];
    assert_eq!((replaced.old.as_str(), replaced.new.as_str()), ("input-T1-q1", "input-T1-q1#2"));
}

#[test]
fn metadata_of_the_kernel_means_nothing_from_another_agent() {
    let mut run = run();
    let mut update = status("working", Some(("s1", "Hi")));
    update["metadata"] = json!({"iac_code": {"iacCodeSessionId": "S1", "thinking": {"type": "raw_thinking", "text": "hm"},
        "tool": {"status": "started", "toolUseId": "c", "name": "bash"}, "usage": {"inputTokens": 1.0}}});
    run.feed(&update);
    assert_eq!(run.mapper.observed().session_id.get(), None);
    assert_eq!(run.body(), ["text+ r1:s1:1", "text  r1:s1:1 \"Hi\"", "text- r1:s1:1"]);
}

#[test]
fn a_text_that_is_too_long_to_be_remembered_is_not_shown_twice() {
    let long = "x".repeat(600_000);
    let mut run = run();
    run.feed(&artifact("a", &long, false));
    run.feed(&artifact("a", &long, true));
    let longer = format!("{long}{long} end");
    for _ in 0..2 {
        run.feed(&whole("working", &[], json!([text_artifact("a", &longer)])));
    }
    assert_eq!(run.shown(), longer);
    let position = run.mapper.position();
    run.feed(&status("completed", Some(("s1", "All of it"))));
    assert!(run.shown().ends_with(" endAll of it"));

    let mut second = Run::new(config("r2").with_dialect(Dialect::Plain).with_resume(position));
    second.feed(&whole("working", &[], json!([text_artifact("a", &longer)])));
    second.feed(&whole("completed", &[], json!([text_artifact("a", &format!("{longer} more"))])));
    assert_eq!(second.shown(), " more");
}

/// A piece of an artifact.
fn piece(id: &str, text: &str, last: bool) -> Value {
    let mut update = artifact(id, text, true);
    update["lastChunk"] = json!(last);
    update
}

/// What each message on the stream says, in the order in which they began.
fn said(run: &Run) -> Vec<String> {
    let mut messages: Vec<(String, String)> = Vec::new();
    for event in run.events() {
        if let agui_core::Event::TextMessageContent(event) = event {
            let id = event.message_id.to_string();
            match messages.iter_mut().find(|(known, _)| *known == id) {
                Some((_, text)) => text.push_str(&event.delta),
                None => messages.push((id, event.delta.clone())),
            }
        }
    }
    messages.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn an_artifact_and_a_message_of_one_id_are_two_messages() {
    for id in ["x", "", "message", "artifact"] {
        let mut run = run();
        run.feed(&status("working", Some((id, "Looking. "))));
        run.feed(&artifact(id, "Report: ", false));
        run.feed(&status("working", Some((id, "Still looking."))));
        run.feed(&piece(id, "done.", true));
        let position = run.mapper.position();
        assert_eq!(said(&run), ["Looking. ", "Report: done.", "Still looking."], "{id}");

        // Nothing of it is shown again by a run that resumes, and each goes on as what it is.
        let mut second = Run::new(config("r2").with_dialect(Dialect::Plain).with_resume(position));
        let mut task = whole(
            "working",
            &[(id, "Looking. "), (id, "Still looking.")],
            json!([text_artifact(id, "Report: done.")]),
        );
        second.feed(&task);
        assert_eq!(said(&second), [""; 0], "{id}");
        task["artifacts"] = json!([text_artifact(id, "Report: done. More.")]);
        second.feed(&task);
        second.feed(&status("working", Some((id, " And more."))));
        assert_eq!(said(&second), [" More.", " And more."], "{id}");
    }
}

#[test]
fn an_artifact_that_is_named_like_the_next_text_of_another_one_is_not_mixed_with_it() {
    let mut run = run();
    run.feed(&artifact("a", "one", false));
    run.feed(&artifact("a#2", "two", false));
    run.feed(&artifact("a", "three", false));
    run.feed(&piece("a#2", " four", false));
    assert_eq!(said(&run), ["one", "two four", "three"]);
}

#[test]
fn artifacts_beyond_those_with_a_lane_lose_and_mix_nothing() {
    let mut run = run();
    for number in 0..300 {
        run.feed(&artifact(&format!("a{number}"), "old ", false));
    }
    run.feed(&piece("a298", "one", false));
    run.feed(&piece("a299", "two", false));
    run.feed(&artifact("a299", "another", false));
    run.feed(&piece("a299", " text", true));
    let all: Vec<Value> = (0..300)
        .map(|number| match number {
            298 => text_artifact("a298", "old one"),
            299 => text_artifact("a299", "another text"),
            number => text_artifact(&format!("a{number}"), "old "),
        })
        .collect();
    run.feed(&whole("working", &[], json!(all)));
    let mut said = said(&run);
    let rest = said.split_off(299);
    assert!(said.iter().all(|text| text == "old "), "{said:?}");
    assert_eq!(rest, ["old ", "one", "two", "another text"]);
}

#[test]
fn the_first_text_of_an_artifact_that_had_none_begins_a_message() {
    let mut run = run();
    run.feed(&artifact("a", "", false));
    run.feed(&piece("a", "one", false));
    run.feed(&artifact("a", "", false));
    run.feed(&piece("a", "two", false));
    assert_eq!(said(&run), ["one", "two"]);
}

#[test]
fn a_task_that_is_behind_what_was_streamed_shows_nothing_again() {
    let mut run = run();
    for text in ["Hello ", "wor", "ld"] {
        run.feed(&status("working", Some(("m", text))));
        run.feed(&piece("a", text, false));
    }
    run.feed(&whole("working", &[("m", "Hello ")], json!([text_artifact("a", "Hello wor")])));
    assert_eq!(run.shown(), "Hello Hello worworldld");
}

#[test]
fn pieces_of_a_message_in_the_history_come_with_the_last_one_in_the_status() {
    let mut task = whole("working", &[("m", "Hel"), ("m", "lo ")], json!([]));
    task["status"]["message"] =
        json!({"messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "world"}]});
    let mut looked_at = run();
    looked_at.feed(&task);
    assert_eq!(said(&looked_at), ["Hello world"]);
    let mut streamed = run();
    for text in ["Hel", "lo ", "world"] {
        streamed.feed(&status("working", Some(("m", text))));
    }
    streamed.feed(&task);
    assert_eq!(said(&streamed), ["Hello world"]);
}

#[test]
fn an_artifact_that_repeats_the_status_stays_unshown_however_often_the_task_is_read() {
    let mut run = run();
    let mut task = whole("working", &[], json!([text_artifact("a", "The answer")]));
    task["status"]["message"] =
        json!({"messageId": "m1", "role": "agent", "parts": [{"kind": "text", "text": "The answer"}]});
    run.feed(&task);
    task["status"]["message"]["messageId"] = json!("m2");
    task["status"]["message"]["parts"][0]["text"] = json!("Checking it");
    run.feed(&task);
    task["artifacts"] = json!([text_artifact("a", "The answer is 42")]);
    run.feed(&task);
    assert_eq!(said(&run), ["The answer", "Checking it", " is 42"]);
}

#[test]
fn the_same_message_again_as_the_last_word_is_no_more_of_it() {
    let mut run = run();
    run.feed(&status("working", Some(("m", "All "))));
    run.feed(&status("working", Some(("m", "done."))));
    run.feed(&status("completed", Some(("m", "All done."))));
    assert_eq!(said(&run), ["All done."]);
}

#[test]
fn a_summary_that_begins_like_an_artifact_does_not_become_part_of_it() {
    let mut run = run();
    run.feed(&artifact("a", "The answer", false));
    run.feed(&status("completed", Some(("m", "The answer is 42."))));
    run.feed(&whole("completed", &[("m", "The answer is 42.")], json!([text_artifact("a", "The answer")])));
    assert_eq!(said(&run), ["The answer", " is 42."]);
}

#[test]
fn c51_an_agent_that_says_the_same_in_the_next_run_is_heard_again() {
    let mut first = run();
    first.feed(&status("working", Some(("m", "Let me look into it."))));
    first.feed(&asked("input-required", "q1", "Where?"));
    let position = first.mapper.position();
    let pending = first.mapper.observed().open_inputs.clone();
    for (id, state) in [("m", "working"), ("m2", "working"), ("m2", "completed")] {
        let resumed = config("r2").with_dialect(Dialect::Plain).with_resume(position.clone());
        let mut second = Run::new(resumed.with_pending(pending.clone()));
        second.mapper.answered("input-T1-q1");
        second.feed(&status(state, Some((id, "Let me look into it."))));
        assert_eq!(said(&second), ["Let me look into it."], "{id} {state}");
    }
}

#[test]
fn what_an_agent_said_before_anybody_answered_is_shown_without_its_question() {
    let mut first = run();
    first.feed(&status("working", Some(("s1", "Looking."))));
    first.feed(&asked("auth-required", "q1", "Sign in."));
    let position = first.mapper.position();
    let resumed = config("r2").with_dialect(Dialect::Plain).with_resume(position);
    let mut second = Run::new(resumed.with_pending(first.mapper.observed().open_inputs.clone()));
    second.feed(&whole("working", &[("s1", "Looking."), ("q1", "Sign in."), ("s2", "Welcome.")], json!([])));
    assert_eq!(said(&second), ["Welcome."]);
}

#[test]
fn words_without_ids_are_not_lost_to_a_question_without_one() {
    let mut run = run();
    let mut task = whole("input-required", &[("", "Looking.")], json!([]));
    task["status"]["message"] = json!({"role": "agent", "parts": [{"kind": "text", "text": "Where?"}]});
    run.feed(&task);
    assert_eq!(said(&run), ["Looking."]);
    assert_eq!(open(&run), [r#"input-T1 "Where?""#]);
}

#[test]
fn a_task_that_shows_the_answer_asks_nothing_yet() {
    let mut first = run();
    first.feed(&asked("input-required", "q1", "Where?"));
    let resumed = config("r2").with_dialect(Dialect::Plain).with_resume(first.mapper.position());
    let mut second = Run::new(resumed.with_pending(first.mapper.observed().open_inputs.clone()));
    second.mapper.answered("input-T1-q1");
    let mut task = whole("input-required", &[], json!([]));
    task["history"] = json!([{"messageId": "q1", "role": "agent", "parts": [{"kind": "text", "text": "Where?"}]},
        {"messageId": "u2", "role": "user", "parts": [{"kind": "text", "text": "Here."}]}]);
    second.feed(&task);
    assert_eq!(open(&second), [""; 0]);
    second.feed(&status("working", None));
    second.feed(&status("input-required", None));
    assert_eq!(open(&second), [r#"input-T1 "Input required""#]);
}

/// The parts of each message that was told, as JSON.
fn told_parts(run: &Run) -> Vec<Value> {
    let told = told(run);
    let values = told.iter().map(|line| line.strip_prefix("custom a2a.message.v1 ").unwrap());
    values.map(|value| serde_json::from_str::<Value>(value).unwrap()["parts"].clone()).collect()
}

#[test]
fn more_data_under_the_same_message_id_is_told_and_the_same_is_not() {
    let update = |parts: Value| {
        let mut update = status("working", None);
        update["status"]["message"] = json!({"messageId": "m", "role": "agent", "parts": parts});
        update
    };
    let data = |n: u8| json!({"kind": "data", "data": {"n": n}});
    let mut run = run();
    for n in [1, 2, 2, 1] {
        run.feed(&update(json!([data(n)])));
    }
    let number = |n: u8| json!([{"data": {"n": n}}]);
    assert_eq!(told_parts(&run), [number(1), number(2), number(1)]);

    // A Task tells what is missing, once.
    let mut task = whole("working", &[], json!([]));
    task["history"] = json!([{"messageId": "m", "role": "agent", "parts": [data(1), data(2)]},
        {"messageId": "m", "role": "agent", "parts": [data(3), data(1)]}]);
    run.feed(&task);
    run.feed(&task);
    assert_eq!(told_parts(&run)[3..], [number(3)]);
}
