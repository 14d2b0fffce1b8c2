//! Live pipeline events.

use agui_mapper::PipelineEnd;
use serde_json::{Value, json};

use crate::kernel::{envelope, of_candidate, piped, said, working};
use crate::recovery::recovered;
use crate::stream::Run;

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
        said(5, "Planning "),
        said(6, "now."),
        envelope(7, "tool_started", json!({"toolName": "bash", "toolUseId": "c1", "input": {"n": 1.0}})),
        envelope(8, "usage", json!({"inputTokens": 1.0, "outputTokens": 2.0})),
        envelope(
            9,
            "tool_result",
            json!({"toolName": "bash", "toolUseId": "c1", "isError": true, "result": "no"}),
        ),
        said(10, "Sorry."),
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
    for event in [said(1, "a"), said(1, "a"), said(2, "b"), said(1, "a")] {
        run.feed(&piped(event));
    }
    let mut same_id = said(3, "b");
    same_id["eventId"] = json!("evt-2");
    run.feed(&piped(same_id));
    let mut batch = said(4, "c");
    batch["eventId"] = json!("evt-4");
    run.feed(&working(
        json!({"pipelineBatch": {"schemaVersion": "1.0", "events": [said(2, "b"), batch, said(5, "d")]}}),
    ));
    assert_eq!(run.shown(), "abcd");
    assert_eq!(run.mapper.position().pipeline_sequence, 5);
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
        said(2, "Wrong"),
        envelope(3, "tool_started", json!({"toolName": "bash", "toolUseId": "c1", "input": {}})),
        said(4, " more"),
        envelope(
            5,
            "message_tombstone",
            json!({"messageId": "msg_1", "affectedToolUseIds": ["c1", "unknown"]}),
        ),
        envelope(6, "message_started", json!({"messageId": "msg_2"})),
        said(7, "Right"),
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
