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
            r#"custom iac-code.artifact.v1 {"schemaVersion":1,"artifactId":"a2","parts":[{"data":{"n":1},"kind":"data"}]}"#,
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
