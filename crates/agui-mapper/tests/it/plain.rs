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
