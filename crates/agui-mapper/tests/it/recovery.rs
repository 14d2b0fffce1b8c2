//! Pipeline events that were missed, and those that come twice.

use agui_mapper::ResumePoint;
use serde_json::{Value, json};

use crate::kernel::{envelope, of_candidate, piped, said, task, working};
use crate::stream::{Run, config};

pub(crate) fn recovered(events: &[Value]) -> Value {
    json!({"events": events})
}

#[test]
fn w41_merged_deltas_are_not_repeated_by_recovery() {
    let journal = [said(1, "x"), said(2, "a"), said(3, "b"), said(4, "c"), said(5, "y")];
    let merged = || {
        let mut merged = said(4, "abc");
        merged["eventId"] = json!("evt-2");
        merged
    };
    for from in 0..4 {
        let mut run = Run::first();
        for event in [said(1, "x"), merged(), said(5, "y")] {
            run.feed(&piped(event));
        }
        run.recover(&recovered(&journal[from..]));
        assert_eq!(run.shown(), "xabcy", "from {from}");
    }
}

#[test]
fn w41_interleaved_sources_that_were_merged_are_not_repeated() {
    let say =
        |candidate: &str, n, text: &str| of_candidate(candidate, n, "text_delta", json!({"text": text}));
    let journal =
        [say("a", 2, "A1"), say("b", 3, "B1"), say("a", 4, "A2"), say("b", 5, "B2"), say("b", 6, "B3")];
    let mut run = Run::first();
    let (mut a, mut b) = (say("a", 4, "A1A2"), say("b", 5, "B1B2"));
    a["eventId"] = json!("evt-2");
    b["eventId"] = json!("evt-3");
    run.feed(&piped(envelope(1, "step_started", json!({}))));
    run.feed(&working(json!({"pipelineBatch": {"events": [a, b]}})));
    run.recover(&recovered(&journal));
    assert_eq!(run.shown(), "A1A2B1B2B3");
}

#[test]
fn the_sequences_of_one_batch_need_not_grow() {
    let say =
        |candidate: &str, n, text: &str| of_candidate(candidate, n, "text_delta", json!({"text": text}));
    let journal = [say("a", 2, "A1"), say("b", 3, "B1"), say("b", 4, "B2"), say("a", 5, "A2")];
    let (mut a, mut b) = (say("a", 5, "A1A2"), say("b", 4, "B1B2"));
    a["eventId"] = json!("evt-2");
    b["eventId"] = json!("evt-3");
    let mut run = Run::first();
    run.feed(&piped(envelope(1, "step_started", json!({}))));
    run.feed(&working(json!({"pipelineBatch": {"events": [a, b]}})));
    run.recover(&recovered(&journal));
    run.feed(&piped(say("b", 4, "B2")));
    assert_eq!(run.shown(), "A1A2B1B2");
}

#[test]
fn recovery_fills_a_gap_and_nothing_else() {
    let mut first = Run::first();
    first.feed(&piped(envelope(1, "step_started", json!({}))));
    first.feed(&piped(envelope(
        2,
        "tool_started",
        json!({"toolName": "bash", "toolUseId": "c1", "input": {}}),
    )));
    let mut run = Run::new(config("r2").with_resume(first.mapper.position()));
    run.feed(&task("WORKING", &[]));
    run.feed(&piped(said(5, "after")));
    assert_eq!(run.mapper.observed().pipeline_gap, Some(2));
    run.recover(&recovered(&[
        envelope(3, "tool_result", json!({"toolName": "bash", "toolUseId": "c1", "result": "ok"})),
        said(4, "missed"),
        said(5, "after"),
        envelope(6, "step_completed", json!({})),
    ]));
    assert_eq!(run.mapper.observed().pipeline_gap, None);
    run.feed(&piped(envelope(6, "step_completed", json!({}))));
    assert_eq!(
        run.body(),
        [
            "step+ plan",
            "text+ r2:step-plan-1:1",
            "text  r2:step-plan-1:1 \"after\"",
            "result r2:result:2 c1 \"ok\"",
            "text- r2:step-plan-1:1",
            "text+ r2:step-plan-1:3",
            "text  r2:step-plan-1:3 \"missed\"",
            "text- r2:step-plan-1:3",
            "step- plan",
        ]
    );
}

#[test]
fn starts_that_are_recovered_after_their_ends_are_not_shown() {
    let mut run = Run::new(config("r2").with_resume(ResumePoint::new().with_pipeline_sequence(1)));
    run.feed(&piped(envelope(
        5,
        "tool_result",
        json!({"toolName": "bash", "toolUseId": "c1", "result": "ok"}),
    )));
    run.feed(&piped(envelope(6, "step_completed", json!({}))));
    run.recover(&recovered(&[
        envelope(2, "step_started", json!({})),
        envelope(3, "tool_started", json!({"toolName": "bash", "toolUseId": "c1", "input": {}})),
    ]));
    assert_eq!(run.mapper.position().pipeline_open_steps, [""; 0]);
    assert_eq!(run.body(), ["result r2:result:1 c1 \"ok\"", "step+ plan", "step- plan"]);
}

#[test]
fn w54_recovery_shows_one_snapshot_and_continues_the_same_lanes() {
    let mut run = Run::new(config("r2").with_resume(ResumePoint::new().with_pipeline_sequence(3)));
    run.recover(&json!({
        "snapshot": {"pipelineRunId": "C1", "taskId": "T1", "contextId": "C1", "lastSequence": 5, "pendingInput":
            {"kind": "candidate_selection", "eventId": "evt-5", "prompt": "Pick", "options": [{"candidate_index": 0, "name": "cheap"}]}},
        "events": [said(4, "Hel"), envelope(5, "input_required", json!({"kind": "candidate_selection", "prompt": "Pick"}))],
    }));
    run.feed(&piped(said(6, "lo")));
    let open: Vec<&str> = run.mapper.observed().open_inputs.iter().map(|open| &*open.input_id).collect();
    assert_eq!(open, ["input-evt-5"]);
    assert_eq!(
        run.body(),
        [
            "activity pipeline:C1 iac-code.pipeline.v1",
            "text+ r2:step-plan-1:1",
            "text  r2:step-plan-1:1 \"Hel\"",
            "text  r2:step-plan-1:1 \"lo\"",
            "text- r2:step-plan-1:1",
        ]
    );
}

#[test]
fn a_snapshot_of_another_context_is_not_mapped() {
    let mut run = Run::first();
    run.recover(
        &json!({"snapshot": {"pipelineRunId": "C2", "contextId": "C2"}, "events": [said(1, "foreign")]}),
    );
    assert!(run.mapper.observed().identity_changed());
    assert_eq!(run.body(), [""; 0]);
}
