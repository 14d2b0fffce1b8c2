use agui_core::{Event, Verifier};

use super::*;

fn spans() -> Spans {
    let mut spans = Spans::new(&RunId::from("r"), 100);
    spans.set_now(UnixMillis::new(1));
    spans
}

/// The types of the events, with the id that each is about.
fn drain(spans: &mut Spans) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(event) = spans.poll() {
        let json = serde_json::to_value(&event).unwrap();
        let id = ["messageId", "toolCallId", "stepName"].iter().find_map(|name| json[name].as_str());
        lines.push(format!("{} {}", event.event_type(), id.unwrap_or_default()));
    }
    lines
}

#[test]
fn everything_is_closed_in_reverse_order() {
    let mut it = spans();
    let side = it.add_lane();
    it.open_step("one");
    it.text(LaneId::MAIN, "m", "a");
    it.open_step("two");
    it.start_call(side, &ToolCallId::from("c"), "bash");
    it.reasoning(side, "hm");
    drain(&mut it);
    it.close_all();
    assert_eq!(
        drain(&mut it),
        [
            "REASONING_MESSAGE_END r:reasoning:2",
            "REASONING_END r:reasoning:2",
            "TOOL_CALL_END c",
            "STEP_FINISHED two",
            "TEXT_MESSAGE_END r:m:1",
            "STEP_FINISHED one",
        ]
    );
    it.close_all();
    assert_eq!(drain(&mut it), [""; 0]);
}

#[test]
fn steps_of_one_name_are_open_once() {
    let mut it = spans();
    it.open_step("one");
    it.open_step("one");
    it.close_step("one");
    it.close_step("one");
    it.open_step("one");
    assert_eq!(drain(&mut it), ["STEP_STARTED one", "STEP_FINISHED one", "STEP_STARTED one"]);
}

#[test]
fn a_call_is_announced_and_resolved_once() {
    let mut it = spans();
    let call = ToolCallId::from("c");
    let result = || CallResult { content: "x", metadata: None };
    it.start_call(LaneId::MAIN, &call, "bash");
    it.start_call(LaneId::MAIN, &call, "bash");
    it.call_args(&call, "{}");
    it.call_args(&call, "{}");
    it.end_call(&call);
    it.end_call(&call);
    it.call_args(&call, "{}");
    it.call_result(LaneId::MAIN, &call, result());
    it.call_result(LaneId::MAIN, &call, result());
    it.start_call(LaneId::MAIN, &call, "bash");
    let lines = ["TOOL_CALL_START c", "TOOL_CALL_ARGS c", "TOOL_CALL_END c", "TOOL_CALL_RESULT r:result:1"];
    assert_eq!(drain(&mut it), lines);
}

#[test]
fn lanes_do_not_close_each_other() {
    let mut it = spans();
    let side = it.add_lane();
    it.text(LaneId::MAIN, "m", "a");
    it.reasoning(side, "hm");
    it.text(LaneId::MAIN, "m", "b");
    it.reasoning(side, "hm");
    let lines = drain(&mut it);
    assert!(lines.iter().all(|line| !line.contains("END")), "{lines:?}");
}

#[test]
fn the_next_model_message_does_not_own_the_calls_of_the_last() {
    let mut it = spans();
    it.text(LaneId::MAIN, "m", "a");
    it.start_call(LaneId::MAIN, &ToolCallId::from("c1"), "bash");
    it.call_result(LaneId::MAIN, &ToolCallId::from("c1"), CallResult { content: "", metadata: None });
    it.start_call(LaneId::MAIN, &ToolCallId::from("c2"), "bash");
    let mut parents = Vec::new();
    while let Some(event) = it.poll() {
        if let Event::ToolCallStart(start) = event {
            parents.push(start.parent_message_id.map(|id| id.to_string()));
        }
    }
    assert_eq!(parents, [Some("r:m:1".to_owned()), None]);
}

#[test]
fn random_orders_stay_balanced() {
    // A fixed linear congruence stands for chance, so that a failure can be repeated.
    let mut state = 1_u64;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut it = spans();
    let side = it.add_lane();
    let mut verifier = Verifier::new();
    it.emit(agui_core::RunStarted::new("t", "r"));
    for _ in 0..20_000 {
        let lane = if next(2) == 0 { LaneId::MAIN } else { side };
        let name = ["a", "b", "c"][usize::try_from(next(3)).unwrap()];
        let call = ToolCallId::from(format!("{name}{}", next(50)));
        match next(11) {
            0 => it.text(lane, name, "x"),
            1 => it.reasoning(lane, "x"),
            2 => it.start_call(lane, &call, "bash"),
            3 => it.call_args(&call, "{}"),
            4 => it.end_call(&call),
            5 => it.call_result(lane, &call, CallResult { content: "x", metadata: None }),
            6 => it.open_step(name),
            7 => it.close_step(name),
            8 => it.next_model_message(lane),
            9 => drop(it.withdraw(lane, None)),
            _ => it.close_all(),
        }
        while let Some(event) = it.poll() {
            verifier.check(&event).unwrap();
        }
    }
    it.close_all();
    it.emit(agui_core::RunFinished::new("t", "r"));
    while let Some(event) = it.poll() {
        verifier.check(&event).unwrap();
    }
    verifier.finish().unwrap();
}
