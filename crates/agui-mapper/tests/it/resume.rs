//! Runs that resume an execution.

use agui_mapper::{MapperConfig, ResumePoint};
use serde_json::{Value, json};

use crate::kernel::{delta, envelope, final_text, permission, piped, task, text_of, tool, update, working};
use crate::stream::{Run, config};

/// The configuration of a run that resumes what `run` left.
fn resumed(run: &Run, id: &str) -> MapperConfig {
    let position = run.mapper.position();
    let stored = serde_json::to_string(&position).unwrap();
    config(id)
        .with_resume(serde_json::from_str(&stored).unwrap())
        .with_pending(run.mapper.observed().open_inputs.clone())
        .with_task_id("T1")
        .with_session_id("S1")
}

fn interrupted(texts: &[&str]) -> Run {
    let mut run = Run::first();
    texts.iter().for_each(|text| run.feed(&delta(text)));
    run.feed(&tool("started", "call_1", json!({})));
    run.feed(&tool("input_complete", "call_1", json!({"toolInput": {}})));
    run.feed(&update("INPUT_REQUIRED", json!({"input": permission("permission-1", "bash")})));
    run
}

#[test]
fn c12_a_resumed_call_gets_only_its_result() {
    let first = interrupted(&["I will do it."]);
    let mut run = Run::new(resumed(&first, "r2"));
    for item in [
        working(
            json!({"inputReceived": {"kind": "permission", "inputId": "permission-1", "toolUseId": "call_1"}}),
        ),
        tool("started", "call_1", json!({})),
        tool("input_complete", "call_1", json!({"toolInput": {}})),
        tool("completed", "call_1", json!({"result": "done"})),
        delta("After "),
        delta("that."),
        final_text("After that."),
    ] {
        run.feed(&item);
    }
    assert_eq!(
        run.body(),
        [
            "result r2:result:1 call_1 \"done\"",
            "text+ r2:message:2",
            "text  r2:message:2 \"After \"",
            "text  r2:message:2 \"that.\"",
            "text- r2:message:2",
        ]
    );
}

#[test]
fn w45_the_task_that_was_left_repeats_nothing() {
    let long = "word ".repeat(300);
    for texts in [&["I will ", "do it."][..], &["OK"], &[long.as_str()]] {
        let first = interrupted(texts);
        let history: Vec<(&str, &str, &str)> =
            texts.iter().map(|text| ("T1-message", "ROLE_AGENT", *text)).collect();
        let mut snapshot = task("INPUT_REQUIRED", &history);
        snapshot["task"]["metadata"]["iac_code"]["input"] = permission("permission-1", "bash");
        let mut run = Run::new(resumed(&first, "r2"));
        run.feed(&snapshot);
        assert_eq!(run.mapper.observed().open_inputs.len(), 1);
        assert_eq!(run.body(), [""; 0], "{texts:?}");
    }
}

#[test]
fn w45_a_history_without_its_beginning_repeats_nothing() {
    let words: Vec<String> = (0..300).map(|n| format!("word{n} ")).collect();
    let all: Vec<&str> = words.iter().map(String::as_str).collect();
    let first = interrupted(&all);
    let history: Vec<(&str, &str, &str)> =
        all[200..].iter().map(|text| ("T1-message", "ROLE_AGENT", *text)).collect();
    let mut run = Run::new(resumed(&first, "r2"));
    run.feed(&task("INPUT_REQUIRED", &history));
    assert_eq!(run.shown(), "");
}

#[test]
fn w42_replayed_text_is_not_shown_again_and_new_text_is_not_cut() {
    let cases: [(&[&str], &[&str], &str); 6] = [
        (&["I will do it."], &["I will do it.", " Then more."], " Then more."),
        (&["I will do it."], &["I will ", "do it. Then", " more."], " Then more."),
        (&["OK"], &["OK, starting"], "OK, starting"),
        (&["OK"], &["OK", ", starting"], "OK, starting"),
        (&["Let me check the zones."], &["Let me ", "create it."], "Let me create it."),
        (&["Let me check the zones."], &["Let me "], "Let me "),
    ];
    for (before, replayed, shown) in cases {
        let first = interrupted(before);
        let mut run = Run::new(resumed(&first, "r2"));
        replayed.iter().for_each(|text| run.feed(&delta(text)));
        run.finish(agui_mapper::Ending::Success);
        assert_eq!(run.shown(), shown, "{before:?} {replayed:?}");
    }
}

#[test]
fn w42_text_is_recognised_after_the_task_was_read_too() {
    let first = interrupted(&["I will do it."]);
    let mut run = Run::new(resumed(&first, "r2"));
    run.feed(&task("INPUT_REQUIRED", &[("T1-message", "ROLE_AGENT", "I will do it.")]));
    run.feed(&delta("I will do it."));
    run.feed(&delta(" More."));
    run.feed(&final_text("I will do it. More."));
    assert_eq!(run.shown(), " More.");
}

#[test]
fn w42_an_equal_text_of_another_message_is_shown() {
    let first = interrupted(&["I will do it."]);
    let mut run = Run::new(resumed(&first, "r2"));
    run.feed(&text_of("T1-other", "WORKING", "I will do it."));
    assert_eq!(run.shown(), "I will do it.");
}

#[test]
fn w42_texts_of_three_runs_are_kept_apart() {
    let first = interrupted(&["First part."]);
    let mut second = Run::new(resumed(&first, "r2"));
    second.feed(&delta("Second part."));
    let position = second.mapper.position();
    assert_eq!(position.texts.len(), 2);
    let mut third = Run::new(config("r3").with_resume(position));
    third.feed(&delta("First part.Second "));
    third.feed(&delta("part.Third part."));
    assert_eq!(third.shown(), "Third part.");
}

#[test]
fn w42_digests_of_the_python_adapter_count_for_whole_texts() {
    // SHA-256 of "I will do it."
    let digest = "d653f2fe78c81172cf7d1e507decd5f69b98bc4f3c339ec58569d03dbb0c3fd7";
    let mut probe = Run::first();
    probe.feed(&delta("I will do it."));
    assert_eq!(probe.mapper.position().text_snapshot_digests, [digest]);
    let position = || ResumePoint::new().with_text_snapshot_digests(vec![digest.to_owned()]);
    for (texts, shown) in
        [(&["I will do it.", " More."][..], " More."), (&["I will do it. More."], "I will do it. More.")]
    {
        let mut run = Run::new(config("r2").with_resume(position()));
        texts.iter().for_each(|text| run.feed(&delta(text)));
        assert_eq!(run.shown(), shown);
    }
    let mut run = Run::new(config("r2").with_resume(position()));
    run.feed(&task(
        "INPUT_REQUIRED",
        &[("T1-message", "ROLE_AGENT", "I will "), ("T1-message", "ROLE_AGENT", "do it.")],
    ));
    assert_eq!(run.shown(), "");
}

#[test]
fn a_repeated_answer_does_not_repeat_the_old_final_text() {
    let mut first = interrupted(&["I will do it."]);
    first.feed(&final_text("I will do it."));
    let mut run = Run::new(resumed(&first, "r2"));
    run.feed(&working(
        json!({"inputReceived": {"inputId": "permission-1", "recovered": true, "duplicate": true}}),
    ));
    run.feed(&final_text("I will do it."));
    assert!(run.mapper.observed().receipt("permission-1").unwrap().duplicate);
    assert_eq!(run.shown(), "");
}

#[test]
fn s5_2_running_steps_are_reopened_and_closed_again() {
    let mut first = Run::first();
    first.feed(&piped(envelope(1, "step_started", json!({"name": "plan"}))));
    first.feed(&piped(crate::kernel::of_candidate("c1", 2, "candidate_step_started", json!({}))));
    let position = first.mapper.position();
    assert_eq!(position.pipeline_open_steps, ["candidate:c1:draft", "step:plan"]);
    assert_eq!(
        first.body(),
        ["step+ plan", "step+ candidate:c1:draft", "step- candidate:c1:draft", "step- plan"]
    );

    let mut second = Run::new(config("r2").with_resume(position));
    second.feed(&piped(crate::kernel::of_candidate("c1", 3, "candidate_step_completed", json!({}))));
    assert_eq!(second.mapper.position().pipeline_open_steps, ["step:plan"]);
    assert_eq!(
        second.body(),
        ["step+ candidate:c1:draft", "step+ plan", "step- candidate:c1:draft", "step- plan"]
    );
}

#[test]
fn artifacts_of_earlier_runs_are_not_announced_again() {
    let artifact = json!({"artifactId": "A1", "parts": []});
    let mut first = Run::first();
    first.feed(&json!({"artifactUpdate": {"taskId": "T1", "contextId": "C1", "artifact": artifact}}));
    let mut run = Run::new(resumed(&first, "r2"));
    let mut snapshot: Value = task("WORKING", &[]);
    snapshot["task"]["artifacts"] = json!([artifact]);
    run.feed(&snapshot);
    assert_eq!(run.body(), [""; 0]);
}
