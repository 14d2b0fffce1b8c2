//! Pipeline events, live and recovered.

use agui_mapper::{PipelineEnd, ResumePoint};
use serde_json::{Value, json};

use crate::kernel::{envelope, of_candidate, piped, task, working};
use crate::stream::{Run, config};

fn text(sequence: u64, text: &str) -> Value {
    envelope(sequence, "text_delta", json!({"text": text}))
}

fn recovered(events: &[Value]) -> Value {
    json!({"events": events})
}

/// The pipeline events of the run that were forwarded, as `type#sequence`.
fn forwarded(run: &Run) -> Vec<String> {
    run.lines()
        .iter()
        .filter_map(|line| line.strip_prefix("custom iac-code.pipeline.v1 "))
        .map(|value| serde_json::from_str::<Value>(value).unwrap())
        .map(|value| format!("{}#{}", value["eventType"].as_str().unwrap(), value["sequence"]))
        .collect()
}

#[test]
fn s5_a_step_with_text_reasoning_and_a_tool() {
    let mut run = Run::first();
    for event in [
        envelope(1, "pipeline_started", json!({"totalSteps": 1.0})),
        envelope(2, "step_started", json!({})),
        envelope(3, "message_started", json!({"messageId": "msg_1"})),
        envelope(4, "thinking_delta", json!({"type": "raw_thinking", "text": "hm"})),
        text(5, "Planning "),
        text(6, "now."),
        envelope(7, "tool_started", json!({"toolName": "bash", "toolUseId": "c1", "input": {"n": 1.0}})),
        envelope(8, "usage", json!({"inputTokens": 1.0, "outputTokens": 2.0})),
        envelope(
            9,
            "tool_result",
            json!({"toolName": "bash", "toolUseId": "c1", "isError": true, "result": "no"}),
        ),
        text(10, "Sorry."),
        envelope(11, "step_completed", json!({})),
    ] {
        run.feed(&piped(event));
    }
    let lines = run.succeed();
    assert!(lines[1].starts_with("custom iac-code.pipeline.v1 "));
    assert_eq!(
        lines[2..],
        [
            "step+ plan",
            "span+ r1:reasoning:1",
            "think+ r1:reasoning:1",
            "think  r1:reasoning:1 \"hm\"",
            "think- r1:reasoning:1",
            "span- r1:reasoning:1",
            "text+ r1:msg_1:2",
            "text  r1:msg_1:2 \"Planning \"",
            "text  r1:msg_1:2 \"now.\"",
            "text- r1:msg_1:2",
            "call+ c1 bash of r1:msg_1:2",
            "args  c1 {\"n\":1.0}",
            "call- c1",
            "result r1:result:3 c1 \"no\" {\"iacCode\":{\"status\":\"failed\"}}",
            "text+ r1:msg_1:4",
            "text  r1:msg_1:4 \"Sorry.\"",
            "text- r1:msg_1:4",
            "step- plan",
            r#"run- success [{"inputTokens":1,"outputTokens":2}]"#,
        ]
    );
}

#[test]
fn w52_candidates_work_side_by_side() {
    let mut run = Run::first();
    let think = |candidate: &str, n, text: &str| {
        piped(of_candidate(candidate, n, "thinking_delta", json!({"type": "raw_thinking", "text": text})))
    };
    let say = |candidate: &str, n, text: &str| {
        piped(of_candidate(candidate, n, "text_delta", json!({"text": text})))
    };
    for item in
        [think("a", 1, "A?"), say("b", 2, "B"), think("a", 3, "A!"), say("b", 4, "b"), say("a", 5, "A")]
    {
        run.feed(&item);
    }
    let a = "candidate-a-0-1-draft-1";
    let b = "candidate-b-0-1-draft-1";
    assert_eq!(
        run.body(),
        [
            "span+ r1:reasoning:1".to_owned(),
            "think+ r1:reasoning:1".to_owned(),
            "think  r1:reasoning:1 \"A?\"".to_owned(),
            format!("text+ r1:{b}:2"),
            format!("text  r1:{b}:2 \"B\""),
            "think  r1:reasoning:1 \"A!\"".to_owned(),
            format!("text  r1:{b}:2 \"b\""),
            "think- r1:reasoning:1".to_owned(),
            "span- r1:reasoning:1".to_owned(),
            format!("text+ r1:{a}:3"),
            format!("text  r1:{a}:3 \"A\""),
            format!("text- r1:{a}:3"),
            format!("text- r1:{b}:2"),
        ]
    );
}

#[test]
fn s6_4_only_the_listed_events_are_forwarded_unchanged() {
    let mut run = Run::first();
    let names = [
        "pipeline_started",
        "candidate_started",
        "context_usage",
        "pipeline_handoff_ready",
        "diagram_shown",
        "interrupt_received",
        "no_such_event",
        "step_failed",
        "artifact_created",
        "pipeline_failed",
    ];
    for (at, name) in names.iter().enumerate() {
        run.feed(&piped(envelope(at as u64 + 1, name, json!({"big": 1e300, "n": 1.0}))));
    }
    assert_eq!(
        forwarded(&run),
        ["pipeline_started#1.0", "candidate_started#2.0", "diagram_shown#5.0", "step_failed#8.0"]
    );
    assert_eq!(run.mapper.observed().pipeline_end, Some(PipelineEnd::Failed));
    let value = run
        .lines()
        .into_iter()
        .find_map(|line| line.strip_prefix("custom iac-code.pipeline.v1 ").map(str::to_owned));
    assert_eq!(value.unwrap(), envelope(1, "pipeline_started", json!({"big": 1e300, "n": 1.0})).to_string());
}

#[test]
fn s6_6_repeated_live_events_are_dropped() {
    let mut run = Run::first();
    for event in [text(1, "a"), text(1, "a"), text(2, "b"), text(1, "a")] {
        run.feed(&piped(event));
    }
    let mut same_id = text(3, "b");
    same_id["eventId"] = json!("evt-2");
    run.feed(&piped(same_id));
    let mut batch = text(4, "c");
    batch["eventId"] = json!("evt-4");
    run.feed(&working(
        json!({"pipelineBatch": {"schemaVersion": "1.0", "events": [text(2, "b"), batch, text(5, "d")]}}),
    ));
    assert_eq!(run.shown(), "abcd");
    assert_eq!(run.mapper.position().pipeline_sequence, 5);
}

#[test]
fn w41_merged_deltas_are_not_repeated_by_recovery() {
    let journal = [text(1, "x"), text(2, "a"), text(3, "b"), text(4, "c"), text(5, "y")];
    let merged = || {
        let mut merged = text(4, "abc");
        merged["eventId"] = json!("evt-2");
        merged
    };
    for from in 0..4 {
        let mut run = Run::first();
        for event in [text(1, "x"), merged(), text(5, "y")] {
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
    run.feed(&piped(text(5, "after")));
    assert_eq!(run.mapper.observed().pipeline_gap, Some(2));
    run.recover(&recovered(&[
        envelope(3, "tool_result", json!({"toolName": "bash", "toolUseId": "c1", "result": "ok"})),
        text(4, "missed"),
        text(5, "after"),
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
fn w55_pending_copies_are_skipped() {
    let pending = |n, event: &str| {
        let mut it = envelope(n, event, json!({}));
        it["visibility"] = json!("pending_backup");
        it
    };
    let mut run = Run::first();
    run.feed(&piped(pending(1, "pipeline_completed")));
    assert_eq!(run.mapper.observed().pipeline_end, None);
    run.recover(&recovered(&[
        pending(1, "pipeline_completed"),
        pending(2, "pipeline_completed"),
        envelope(3, "pipeline_completed", json!({})),
    ]));
    assert_eq!(forwarded(&run), ["pipeline_completed#3.0"]);
    assert_eq!(run.mapper.position().pipeline_sequence, 3);
}

#[test]
fn w54_recovery_shows_one_snapshot_and_continues_the_same_lanes() {
    let mut run = Run::new(config("r2").with_resume(ResumePoint::new().with_pipeline_sequence(3)));
    run.recover(&json!({
        "snapshot": {"pipelineRunId": "C1", "taskId": "T1", "contextId": "C1", "lastSequence": 5, "pendingInput":
            {"kind": "candidate_selection", "eventId": "evt-5", "prompt": "Pick", "options": [{"candidate_index": 0, "name": "cheap"}]}},
        "events": [text(4, "Hel"), envelope(5, "input_required", json!({"kind": "candidate_selection", "prompt": "Pick"}))],
    }));
    run.feed(&piped(text(6, "lo")));
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
        &json!({"snapshot": {"pipelineRunId": "C2", "contextId": "C2"}, "events": [text(1, "foreign")]}),
    );
    assert!(run.mapper.observed().identity_changed());
    assert_eq!(run.body(), [""; 0]);
}

#[test]
fn steps_are_closed_by_whatever_ends_them() {
    let started = || {
        vec![
            envelope(1, "step_started", json!({})),
            of_candidate("a", 2, "candidate_step_started", json!({})),
            of_candidate("b", 3, "candidate_step_started", json!({})),
        ]
    };
    let of_candidate_a = |event: &str| {
        let mut it = of_candidate("a", 4, event, json!({}));
        it.as_object_mut().unwrap().remove("candidateStep");
        it["scope"] = json!("candidate");
        it
    };
    let rollback = envelope(4, "rollback_completed", json!({"fromStep": "plan", "toStep": "intent"}));
    let cases = [
        (envelope(4, "step_completed", json!({})), vec!["candidate:a:draft", "candidate:b:draft"]),
        (envelope(4, "step_failed", json!({})), vec!["candidate:a:draft", "candidate:b:draft"]),
        (of_candidate("a", 4, "candidate_step_failed", json!({})), vec!["candidate:b:draft", "step:plan"]),
        (of_candidate_a("candidate_completed"), vec!["candidate:b:draft", "step:plan"]),
        (of_candidate_a("candidate_failed"), vec!["candidate:b:draft", "step:plan"]),
        (rollback, vec![]),
        (envelope(4, "pipeline_completed", json!({})), vec![]),
        (envelope(4, "pipeline_canceled", json!({})), vec![]),
    ];
    for (event, open) in cases {
        let mut run = Run::first();
        started().into_iter().for_each(|event| run.feed(&piped(event)));
        run.feed(&piped(event.clone()));
        assert_eq!(run.mapper.position().pipeline_open_steps, open, "{}", event["eventType"]);
        run.succeed();
    }
}

#[test]
fn an_answer_reopens_the_step_that_asked() {
    let mut run = Run::first();
    for event in [
        envelope(1, "step_started", json!({})),
        envelope(2, "step_completed", json!({})),
        envelope(3, "input_required", json!({"kind": "candidate_selection"})),
        envelope(4, "input_received", json!({"kind": "candidate_selection", "selectedIndex": 0.0})),
    ] {
        run.feed(&piped(event));
    }
    assert_eq!(run.mapper.observed().open_inputs, []);
    assert_eq!(run.mapper.position().pipeline_open_steps, ["step:plan"]);
    assert_eq!(run.body(), ["step+ plan", "step- plan", "step+ plan", "step- plan"]);
}

#[test]
fn an_answer_is_the_result_of_the_call_that_asked() {
    let cases = [
        (json!({"selectedLabel": "Large", "selectedId": "large", "freeText": ""}), "\"Large\""),
        (json!({"selectedLabel": "", "selectedId": "", "freeText": "a tiny one"}), "\"a tiny one\""),
        (json!({"selectedId": "large"}), "\"large\""),
    ];
    for (mut data, content) in cases {
        data["kind"] = json!("ask_user_question");
        data["toolUseId"] = json!("call_ask");
        let mut run = Run::first();
        run.feed(&piped(envelope(
            1,
            "tool_started",
            json!({"toolName": "ask_user_question", "toolUseId": "call_ask", "input": {}}),
        )));
        run.feed(&piped(envelope(2, "input_received", data)));
        let body = run.body();
        assert!(body.contains(&format!("result r1:result:1 call_ask {content}")), "{body:?}");
    }
}

#[test]
fn c48_a_step_that_only_ends_is_an_empty_span() {
    let mut run = Run::first();
    run.feed(&piped(envelope(1, "step_completed", json!({}))));
    assert_eq!(run.body(), ["step+ plan", "step- plan"]);
}

#[test]
fn w55_withdrawn_messages_are_closed_and_named() {
    let withdrawn = r#" {"iacCode":{"status":"withdrawn"}}"#;
    let mut run = Run::first();
    for event in [
        envelope(1, "message_started", json!({"messageId": "msg_1"})),
        text(2, "Wrong"),
        envelope(3, "tool_started", json!({"toolName": "bash", "toolUseId": "c1", "input": {}})),
        text(4, " more"),
        envelope(
            5,
            "message_tombstone",
            json!({"messageId": "msg_1", "affectedToolUseIds": ["c1", "unknown"]}),
        ),
        envelope(6, "message_started", json!({"messageId": "msg_2"})),
        text(7, "Right"),
        envelope(8, "message_started", json!({"messageId": "msg_3"})),
        envelope(9, "message_tombstone", json!({"messageId": "msg_3", "affectedToolUseIds": []})),
    ] {
        run.feed(&piped(event));
    }
    assert_eq!(run.body(), [
        "text+ r1:msg_1:1".to_owned(),
        "text  r1:msg_1:1 \"Wrong\"".to_owned(),
        "text- r1:msg_1:1".to_owned(),
        "call+ c1 bash of r1:msg_1:1".to_owned(),
        "args  c1 {}".to_owned(),
        "call- c1".to_owned(),
        "text+ r1:msg_1:2".to_owned(),
        "text  r1:msg_1:2 \" more\"".to_owned(),
        format!("text- r1:msg_1:2{withdrawn}"),
        format!("result r1:result:3 c1 \"\"{withdrawn}"),
        r#"raw iac-code {"type":"message_withdrawn","messageIds":["r1:msg_1:1","r1:msg_1:2"],"toolCallIds":["c1"]}"#.to_owned(),
        "text+ r1:msg_2:4".to_owned(),
        "text  r1:msg_2:4 \"Right\"".to_owned(),
        "text- r1:msg_2:4".to_owned(),
    ]);
}
