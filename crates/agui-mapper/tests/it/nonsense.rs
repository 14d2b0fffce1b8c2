//! Whatever comes in, what goes out is a valid stream with one end.

use agui_core::Event;
use agui_mapper::{Dialect, Ending, ResumePoint};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kernel::{envelope, of_candidate, permission};
use crate::stream::{Run, config};

const STATES: [&str; 10] = [
    "SUBMITTED",
    "WORKING",
    "COMPLETED",
    "FAILED",
    "CANCELED",
    "INPUT_REQUIRED",
    "REJECTED",
    "AUTH_REQUIRED",
    "UNSPECIFIED",
    "PAUSED",
];
const EVENTS: [&str; 26] = [
    "text_delta",
    "thinking_delta",
    "tool_started",
    "tool_result",
    "tool_progress",
    "usage",
    "message_started",
    "message_tombstone",
    "step_started",
    "step_completed",
    "step_failed",
    "candidate_step_started",
    "candidate_step_completed",
    "candidate_step_failed",
    "candidate_completed",
    "candidate_failed",
    "input_required",
    "input_received",
    "permission_requested",
    "permission_resolved",
    "rollback_completed",
    "pipeline_completed",
    "pipeline_failed",
    "backup_blocked",
    "diagram_shown",
    "no_such_event",
];

/// Any JSON value, flat or nested.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-zA-Z0-9\u{4f60}\u{1f600} :~#\\\\\"\n]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4).prop_map(Value::from_iter),
        ]
    })
}

/// A value that a member could have: mostly a likely one, at times anything.
fn likely(values: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop_oneof![8 => prop::sample::select(values).prop_map(Value::from), 1 => any_json()]
}

fn ids() -> impl Strategy<Value = Value> {
    likely(&["c1", "c2", "c3", "", "c:4"])
}

fn text() -> impl Strategy<Value = Value> {
    likely(&["", "a", "some text", "some text that is longer", "\u{4f60}\u{597d}", " "])
}

fn tool() -> impl Strategy<Value = Value> {
    let status =
        likely(&["started", "input_delta", "input_complete", "progress", "completed", "failed", "odd"]);
    (status, ids(), text(), any_json(), any_json()).prop_map(|(status, id, name, input, result)| {
        json!({"status": status, "toolUseId": id, "name": name, "toolInput": input, "result": result})
    })
}

fn data() -> impl Strategy<Value = Value> {
    (text(), ids(), ids(), any_json(), likely(&["permission", "candidate_selection", "deployment_confirmation"])).prop_map(
        |(text, id, other, value, kind)| {
            json!({"text": text, "type": "raw_thinking", "toolUseId": id, "toolName": "bash", "input": value, "result": value,
                "messageId": other, "affectedToolUseIds": [id, other], "kind": kind, "inputId": other, "prompt": text,
                "options": [value, {"label": text}], "toStep": "plan", "stepId": "plan", "isError": true})
        },
    )
}

fn pipeline() -> impl Strategy<Value = Value> {
    (0_u64..40, prop::sample::select(&EVENTS[..]), data(), 0..3_u8, any_json()).prop_map(
        |(sequence, event, data, place, odd)| match place {
            0 => envelope(sequence, event, data),
            1 => of_candidate("a", sequence, event, data),
            _ => {
                let mut it = of_candidate("b", sequence, event, data);
                it["candidateStep"] = odd.clone();
                it["eventId"] = odd;
                it
            }
        },
    )
}

fn metadata() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => Just(json!({})),
        3 => tool().prop_map(|tool| json!({"tool": tool})),
        3 => pipeline().prop_map(|event| json!({"pipeline": event})),
        1 => prop::collection::vec(pipeline(), 0..5).prop_map(|events| json!({"pipelineBatch": {"events": events}})),
        2 => text().prop_map(|text| json!({"thinking": {"type": "raw_thinking", "text": text}})),
        1 => Just(json!({"assistantFinal": {"complete": true}})),
        1 => (ids(), text()).prop_map(|(id, summary)| {
            let mut input = permission("x", "y");
            input["inputId"] = id;
            input["safeSummary"] = summary;
            json!({"input": input})
        }),
        1 => ids().prop_map(|id| json!({"inputReceived": {"inputId": id}})),
        1 => ids().prop_map(|id| json!({"permissionIdentityError": {"inputId": id}})),
        1 => (any_json(), any_json()).prop_map(|(a, b)| json!({"usage": {"inputTokens": a, "outputTokens": b}})),
        1 => any_json().prop_map(|odd| json!({"tool": odd, "pipeline": odd, "input": odd, "thinking": odd, "error": odd})),
    ]
}

/// A datum, or `Err` with a pipeline state.
fn item() -> impl Strategy<Value = Result<Value, Value>> {
    let state = prop_oneof![6 => Just("WORKING"), 1 => prop::sample::select(&STATES[..])];
    let message = likely(&["T1-message", "T1-2", ""]);
    let status = (state, metadata(), message, text(), any::<bool>()).prop_map(
        |(state, iac, message, text, with_text)| {
            let mut status = json!({"state": format!("TASK_STATE_{state}")});
            if with_text {
                status["message"] =
                    json!({"messageId": message, "role": "ROLE_AGENT", "parts": [{"text": text}]});
            }
            (status, iac)
        },
    );
    (status, text(), 0..12_u8, prop::collection::vec(pipeline(), 0..6)).prop_map(|((status, iac), text, sort, events)| {
        let metadata = json!({"iac_code": iac});
        match sort {
            0 => Ok(json!({"task": {"id": "T1", "contextId": "C1", "status": status, "metadata": metadata, "history": [
                {"messageId": "T1-message", "role": "ROLE_AGENT", "parts": [{"text": text}]}]}})),
            1 => Ok(json!({"artifactUpdate": {"taskId": "T1", "contextId": "C1", "append": true,
                "artifact": {"artifactId": text, "parts": [{"text": text}]}}})),
            2 => Ok(json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}, {"data": iac}]}})),
            3 => Ok(json!({"surprise": iac})),
            5 => Ok(json!({"artifactUpdate": {"taskId": "T1", "contextId": "C1", "lastChunk": true,
                "artifact": {"artifactId": text, "parts": [{"text": text}, {"data": iac}]}}})),
            6 => Ok(json!({"artifactUpdate": {"taskId": "T1", "contextId": "C1",
                "artifact": {"artifactId": "a1", "parts": [{"text": text}]}}})),
            7 => Ok(json!({"task": {"id": "T1", "contextId": "C1", "status": status, "artifacts": [
                {"artifactId": "a1", "parts": [{"text": text}]}, {"artifactId": "a2", "parts": [{"data": iac}]}]}})),
            4 => Err(json!({"events": events, "snapshot": {"pipelineRunId": "C1", "pendingInput": iac["input"]}})),
            _ => Ok(json!({"statusUpdate": {"taskId": "T1", "contextId": "C1", "status": status, "metadata": metadata}})),
        }
    })
}

/// A part of any sort in the spelling of either version, also a very large one or none at all.
fn part() -> impl Strategy<Value = Value> {
    prop_oneof![
        20 => text().prop_map(|text| json!({"text": text})),
        4 => text().prop_map(|text| json!({"kind": "text", "text": text, "mediaType": 7})),
        4 => any_json().prop_map(|data| json!({"data": data})),
        1 => Just(json!({"raw": "AAAA", "filename": "a.bin"})),
        1 => Just(json!({"url": "https://files.example/a"})),
        1 => Just(json!({"kind": "file", "file": {"uri": "https://files.example/a", "name": null}})),
        1 => prop::sample::select(&["text", "raw", "data"][..]).prop_map(|sort| json!({sort: "\u{1}".repeat(12_000)})),
        1 => any_json(),
    ]
}

fn parts() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(part(), 0..4)
}

/// What messages and artifacts alike may be called.
fn names() -> impl Strategy<Value = Value> {
    likely(&["a", "b", "a#2", "message", ""])
}

fn any_message() -> impl Strategy<Value = Value> {
    let role = likely(&["agent", "ROLE_AGENT", "user", "ROLE_USER", "system"]);
    (names(), role, parts()).prop_map(
        |(id, role, parts)| json!({"kind": "message", "messageId": id, "role": role, "parts": parts}),
    )
}

fn any_status() -> impl Strategy<Value = Value> {
    let state = prop_oneof![
        4 => Just("TASK_STATE_WORKING".to_owned()),
        2 => prop::sample::select(&STATES[..]).prop_map(|state| format!("TASK_STATE_{state}")),
        2 => prop::sample::select(&STATES[..]).prop_map(|state| state.to_lowercase().replace('_', "-")),
    ];
    (state, prop::option::of(any_message()), any_json())
        .prop_map(|(state, message, time)| json!({"state": state, "message": message, "timestamp": time}))
}

fn any_artifact() -> impl Strategy<Value = Value> {
    (names(), parts(), any_json())
        .prop_map(|(id, parts, name)| json!({"artifactId": id, "parts": parts, "name": name}))
}

/// A datum of an agent that follows A2A in its own way, in either spelling.
fn loose_item() -> impl Strategy<Value = Result<Value, Value>> {
    let flag = || prop_oneof![Just(json!(true)), Just(json!(false)), Just(json!("true")), any_json()];
    let many = prop::collection::vec(any_artifact(), 0..4);
    let history = prop::collection::vec(any_message(), 0..6);
    let status = any_status()
        .prop_map(|status| ("statusUpdate", "status-update", json!({"taskId": "T1", "status": status})));
    let artifact = (any_artifact(), flag(), flag()).prop_map(|(artifact, append, last)| {
        let update = json!({"taskId": "T1", "artifact": artifact, "append": append, "lastChunk": last});
        ("artifactUpdate", "artifact-update", update)
    });
    let task = (any_status(), many, history).prop_map(|(status, artifacts, history)| {
        ("task", "task", json!({"id": "T1", "status": status, "artifacts": artifacts, "history": history}))
    });
    let message = any_message().prop_map(|message| ("message", "message", message));
    let datum = prop_oneof![4 => status, 4 => artifact, 2 => task, 1 => message];
    (datum, any::<bool>()).prop_map(|((name, kind, mut value), old)| {
        if !old {
            return Ok(json!({ name: value }));
        }
        value["kind"] = json!(kind);
        Ok(value)
    })
}

fn ending(run: &Run, choice: u8) -> Ending {
    let interrupts: Vec<_> =
        run.mapper.observed().open_inputs.iter().map(|open| open.interrupt.clone()).collect();
    match choice {
        0 => Ending::Success,
        1 => Ending::Cancelled { message: String::new() },
        2 if !interrupts.is_empty() => Ending::Interrupt(interrupts),
        _ => Ending::Error { code: "CODE".into(), message: "text".into() },
    }
}

fn check(run: &Run) {
    let events = run.events();
    let ends =
        events.iter().filter(|event| matches!(event, Event::RunFinished(_) | Event::RunError(_))).count();
    assert_eq!(ends, 1);
    assert!(matches!(events.first(), Some(Event::RunStarted(_))));
    for event in events {
        match event {
            Event::TextMessageContent(event) => assert!(!event.delta.is_empty()),
            Event::ReasoningMessageContent(event) => assert!(!event.delta.is_empty()),
            Event::RunError(event) => assert!(!event.message.is_empty()),
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// [`Run`] gives every event to the verifier.
    #[test]
    fn s5_4_any_input_gives_a_valid_stream(
        items in prop::collection::vec(prop_oneof![item(), loose_item()], 0..40),
        more in prop::collection::vec(prop_oneof![item(), loose_item()], 0..20),
        plain in any::<bool>(),
        choice in 0..4_u8,
    ) {
        let dialect = if plain { Dialect::Plain } else { Dialect::IacCode };
        let feed = |run: &mut Run, items: &[Result<Value, Value>]| {
            for item in items {
                match item {
                    Ok(result) => {
                        let raw = serde_json::value::to_raw_value(result).unwrap();
                        if a2a_wire::StreamItem::from_result(&raw).is_ok() {
                            run.feed_raw(&raw);
                        }
                    }
                    Err(state) => run.recover(state),
                }
            }
        };
        let mut first = Run::new(config("r1").with_dialect(dialect));
        feed(&mut first, &items);
        let ending_of_first = ending(&first, choice);
        first.finish(ending_of_first);
        check(&first);

        let stored = serde_json::to_string(&first.mapper.position()).unwrap();
        let position: ResumePoint = serde_json::from_str(&stored).unwrap();
        let pending = first.mapper.observed().open_inputs.clone();
        let mut second = Run::new(config("r2").with_dialect(dialect).with_resume(position).with_pending(pending));
        feed(&mut second, &more);
        let ending_of_second = ending(&second, choice);
        second.finish(ending_of_second);
        check(&second);
    }
}
