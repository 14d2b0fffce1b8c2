//! Whatever an agent sends at whatever pace: the client gets the same, in frames that may be sent.

use agui_core::{
    Custom, Decoded, JsonObject, ReasoningMessageContent, ReasoningMessageEnd, ReasoningMessageStart,
    StepFinished, StepStarted, ToolCallArgs, ToolCallEnd, ToolCallResult, ToolCallStart, Verifier,
    decode_event,
};
use proptest::prelude::*;

use super::*;
use crate::{CANCEL, REFUSED};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ]{0,12}",
        2 => any::<String>(),
        1 => "[\"\\\\\n\u{1}é語😀]{0,400}",
    ]
}

fn any_id() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("a"), Just("b")]
}

/// Any event, at any place: a repairer makes a valid run of them.
fn any_event() -> impl Strategy<Value = Event> {
    let metadata = || JsonObject::from_string(r#"{"k":"v"}"#.to_owned()).unwrap();
    prop_oneof![
        1 => any_id().prop_map(|id| TextMessageStart::new(id).into()),
        6 => (any_id(), any_text()).prop_map(|(id, text)| TextMessageContent::new(id, text).into()),
        1 => (any_id(), any_text()).prop_map(move |(id, text)| {
            TextMessageContent::new(id, text).with_metadata(metadata()).into()
        }),
        1 => any_id().prop_map(|id| TextMessageEnd::new(id).into()),
        1 => any_id().prop_map(|id| ReasoningMessageStart::new(id).into()),
        3 => (any_id(), any_text()).prop_map(|(id, text)| ReasoningMessageContent::new(id, text).into()),
        1 => any_id().prop_map(|id| ReasoningMessageEnd::new(id).into()),
        1 => any_id().prop_map(|id| ToolCallStart::new(id, "tool").into()),
        6 => (any_id(), any_text()).prop_map(|(id, text)| ToolCallArgs::new(id, text).into()),
        1 => any_id().prop_map(|id| ToolCallEnd::new(id).into()),
        1 => (any_id(), any_text()).prop_map(|(id, text)| ToolCallResult::new("result", id, text).into()),
        1 => any_id().prop_map(|id| StepStarted::new(id).into()),
        1 => any_id().prop_map(|id| StepFinished::new(id).into()),
        1 => any_text().prop_map(|text| {
            StateSnapshot::new(Json::from_serialize(&text).unwrap()).into()
        }),
        1 => any_text().prop_map(|text| Custom::new("x", Json::from_serialize(&text).unwrap()).into()),
    ]
}

/// What a run stream would give for these events.
fn valid_run(run: &str, events: Vec<Event>, fails: bool) -> Vec<Event> {
    let mut repairer = Repairer::new("t", run);
    let mut valid = Vec::new();
    repairer.push(RunStarted::new("t", run), &mut valid);
    for event in events {
        repairer.push(event, &mut valid);
    }
    if fails {
        repairer.close(RunError::new("failed"), &mut valid);
    } else {
        repairer.push(RunFinished::new("t", run), &mut valid);
    }
    valid
}

/// One step of the world around the session.
#[derive(Debug, Clone)]
struct Step {
    pause_ms: u64,
    events: usize,
    blocked: bool,
    second_input: bool,
    cancel_of_another: bool,
}

fn any_step() -> impl Strategy<Value = Step> {
    let pause = prop_oneof![3 => Just(0), 2 => 0_u64..20, 1 => 0_u64..600];
    let rare = || prop::bool::weighted(0.1);
    (pause, 0_usize..20, any::<bool>(), rare(), rare()).prop_map(
        |(pause_ms, events, blocked, second_input, cancel_of_another)| Step {
            pause_ms,
            events,
            blocked,
            second_input,
            cancel_of_another,
        },
    )
}

/// Joins deltas of one item that follow each other; what is left is all that has to be kept.
fn normal(events: &[Event]) -> Vec<Event> {
    let mut normal: Vec<Event> = Vec::new();
    for event in events {
        if event.base().metadata.is_none()
            && let Some(last) = normal.last_mut()
            && match (last, event) {
                (Event::TextMessageContent(a), Event::TextMessageContent(b))
                    if a.message_id == b.message_id =>
                {
                    a.delta.push_str(&b.delta);
                    true
                }
                (Event::ReasoningMessageContent(a), Event::ReasoningMessageContent(b))
                    if a.message_id == b.message_id =>
                {
                    a.delta.push_str(&b.delta);
                    true
                }
                (Event::ToolCallArgs(a), Event::ToolCallArgs(b)) if a.tool_call_id == b.tool_call_id => {
                    a.delta.push_str(&b.delta);
                    true
                }
                _ => false,
            }
        {
            continue;
        }
        normal.push(event.clone());
    }
    normal
}

/// Whether a message is the server's own and part of no run.
fn is_aside(text: &str) -> bool {
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    value["metadata"]["refusal"] == true || value["name"] == CANCEL || value["name"] == REFUSED
}

fn decoded(text: &str) -> Event {
    match decode_event(text.as_bytes()).unwrap() {
        Decoded::Known(event) => event,
        other => panic!("{other:?}"),
    }
}

struct World {
    bench: Bench,
    sent: Vec<String>,
    second_inputs: usize,
    cancels: usize,
}

impl World {
    fn step(&mut self, step: &Step, waiting: &mut VecDeque<Event>) {
        let bench = &mut self.bench;
        bench.pass(Duration::from_millis(step.pause_ms));
        if step.second_input && bench.session.wants_message() {
            bench.receive(&input("t", "second"));
            self.second_inputs += 1;
        }
        if step.cancel_of_another && bench.session.wants_message() {
            bench.receive(r#"{"type":"cancel","runId":"another"}"#);
            self.cancels += 1;
        }
        if bench.session.wants_events(bench.now) && step.events > 0 {
            let given = waiting.drain(..step.events.min(waiting.len()));
            bench.session.handle_events(&mut given.collect());
        }
        if step.blocked {
            bench.session.handle_blocked();
        } else {
            self.sent.extend(bench.sent());
        }
    }

    fn in_run(&self) -> bool {
        !matches!(self.bench.session.run, Run::None)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_client_gets_what_the_agent_sends(
        runs in prop::collection::vec((prop::collection::vec(any_event(), 0..40), any::<bool>()), 1..3),
        steps in prop::collection::vec(any_step(), 1..30),
        max_frame_bytes in prop_oneof![256_usize..600, Just(32_000)],
        rate in prop_oneof![2_u32..20, Just(200)],
        custom in any::<bool>(),
    ) {
        let form = if custom { RefusalForm::Custom } else { RefusalForm::RunError };
        let config = WsConfig::new()
            .with_max_frame_bytes(max_frame_bytes)
            .with_max_frames_per_second(rate)
            .with_refusals(form);
        let mut world = World { bench: Bench::new(config), sent: Vec::new(), second_inputs: 0, cancels: 0 };
        let mut expected = Vec::new();
        let mut steps = steps.iter().cycle();
        for (index, (events, fails)) in runs.into_iter().enumerate() {
            let run = format!("r{index}");
            let events = valid_run(&run, events, fails);
            world.bench.run("t", &run);
            let mut waiting: VecDeque<Event> = events.clone().into();
            expected.push((run, events));
            // The script may never let anything through; then the world calms down.
            for step in steps.by_ref().take(200) {
                world.step(step, &mut waiting);
                if !world.in_run() {
                    break;
                }
            }
            let calm = Step {
                pause_ms: 100,
                events: 7,
                blocked: false,
                second_input: false,
                cancel_of_another: false,
            };
            while world.in_run() {
                world.step(&calm, &mut waiting);
                world.bench.session.handle_life();
            }
        }
        let calm = Step { pause_ms: 1_000, events: 0, blocked: false, second_input: false, cancel_of_another: false };
        for _ in 0..40 {
            world.step(&calm, &mut VecDeque::new());
        }

        for (index, (at, bytes)) in world.bench.frames.iter().enumerate() {
            prop_assert!(*bytes <= max_frame_bytes);
            let within = world.bench.frames[index..]
                .iter()
                .take_while(|(next, _)| *next - *at < Duration::from_secs(1))
                .count();
            prop_assert!(within <= rate as usize, "{} frames in a second", within);
        }

        world.sent.retain(|text| text != "PING");
        let asides = world.sent.iter().filter(|text| is_aside(text)).count();
        prop_assert_eq!(asides, world.second_inputs + world.cancels);

        let mut texts = world.sent.iter().peekable();
        for (run, events) in expected {
            let mut verifier = Verifier::for_run("t", run.as_str());
            let mut received = Vec::new();
            while verifier.finish().is_err() {
                let text = texts.next();
                prop_assert!(text.is_some(), "{} is not over", run);
                let (text, event) = (text.unwrap(), decoded(text.unwrap()));
                // A refusal as RUN_ERROR is to be told apart; everything else is valid where it stands.
                let apart = matches!(event, Event::RunError(_)) && is_aside(text);
                if !apart {
                    let checked = verifier.check(&event);
                    prop_assert!(checked.is_ok(), "{:?}: {:?}", text, checked);
                }
                if !is_aside(text) {
                    received.push(event);
                }
            }
            prop_assert_eq!(normal(&received), normal(&events));
            // What is said between runs is a refusal.
            while let Some(text) = texts.next_if(|text| is_aside(text) && text.contains("RUN_ERROR")) {
                prop_assert!(is_aside(text));
            }
        }
        prop_assert_eq!(texts.next(), None);
    }
}
