//! A run under test: feeds JSON, checks every event and writes events in one line each.

use a2a_wire::StreamItem;
use agui_core::{Content, Event, Outcome, UnixMillis, Verifier};
use agui_iac_code::PipelineState;
use agui_mapper::{Ending, EventMapper, MapperConfig};
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) struct Run {
    pub(crate) mapper: EventMapper,
    verifier: Verifier,
    events: Vec<Event>,
    now: u64,
}

impl Run {
    /// A run that has begun.
    pub(crate) fn new(config: MapperConfig) -> Self {
        let verifier = Verifier::for_run(config.thread_id.clone(), config.run_id.clone());
        let mut run = Self { mapper: EventMapper::new(config), verifier, events: Vec::new(), now: 1000 };
        run.mapper.start(UnixMillis::new(run.now));
        run.drain();
        run
    }

    pub(crate) fn first() -> Self {
        Self::new(config("r1"))
    }

    /// Feeds a result: `{"statusUpdate": ...}`, a bare Task and so on.
    pub(crate) fn feed(&mut self, result: &Value) {
        let raw = serde_json::value::to_raw_value(result).unwrap();
        self.feed_raw(&raw);
    }

    pub(crate) fn feed_raw(&mut self, result: &RawValue) {
        let item = StreamItem::from_result(result).unwrap();
        let now = self.tick();
        let json = result.get().as_bytes();
        if !self.mapper.handle_repeated(now, json) {
            self.mapper.handle_item(now, &item);
            self.mapper.remember(json, &item);
        }
        self.drain();
    }

    pub(crate) fn recover(&mut self, document: &Value) {
        let raw = serde_json::value::to_raw_value(document).unwrap();
        self.recover_raw(&raw);
    }

    pub(crate) fn recover_raw(&mut self, document: &RawValue) {
        let now = self.tick();
        self.mapper.handle_recovery(now, &PipelineState::read(document));
        self.drain();
    }

    pub(crate) fn finish(&mut self, ending: Ending) {
        let now = self.tick();
        self.mapper.finish(now, ending);
        self.drain();
        self.verifier.finish().unwrap();
    }

    pub(crate) fn succeed(mut self) -> Vec<String> {
        self.finish(Ending::Success);
        self.lines()
    }

    fn tick(&mut self) -> UnixMillis {
        self.now += 1;
        UnixMillis::new(self.now)
    }

    pub(crate) fn drain(&mut self) {
        while let Some(event) = self.mapper.poll_event() {
            if let Err(violation) = self.verifier.check(&event) {
                panic!("{}\n{event:?}\nafter\n{}", violation.describe(), self.lines().join("\n"));
            }
            self.events.push(event);
        }
    }

    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.events.iter().map(line).collect()
    }

    /// The lines between `RUN_STARTED` and the terminal event.
    pub(crate) fn body(mut self) -> Vec<String> {
        self.finish(Ending::Success);
        let lines = self.lines();
        lines[1..lines.len() - 1].to_vec()
    }

    /// The text of all text messages.
    pub(crate) fn shown(&self) -> String {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::TextMessageContent(event) => Some(event.delta.as_str()),
                _ => None,
            })
            .collect()
    }
}

pub(crate) fn config(run: &str) -> MapperConfig {
    MapperConfig::new("t", run, "exec", "inv", "C1")
}

/// An event in one line, without its time.
pub(crate) fn line(event: &Event) -> String {
    match event {
        Event::TextMessageStart(e) => format!("text+ {}", e.message_id),
        Event::TextMessageContent(e) => format!("text  {} {:?}", e.message_id, e.delta),
        Event::TextMessageEnd(e) => format!("text- {}{}", e.message_id, metadata(event)),
        Event::ReasoningStart(e) => format!("span+ {}", e.message_id),
        Event::ReasoningEnd(e) => format!("span- {}", e.message_id),
        Event::ReasoningMessageStart(e) => format!("think+ {}", e.message_id),
        Event::ReasoningMessageContent(e) => format!("think  {} {:?}", e.message_id, e.delta),
        Event::ReasoningMessageEnd(e) => format!("think- {}{}", e.message_id, metadata(event)),
        Event::ToolCallStart(e) => {
            let parent = e.parent_message_id.as_ref().map(|id| format!(" of {id}")).unwrap_or_default();
            format!("call+ {} {}{parent}", e.tool_call_id, e.tool_call_name)
        }
        Event::ToolCallArgs(e) => format!("args  {} {}", e.tool_call_id, e.delta),
        Event::ToolCallEnd(e) => format!("call- {}", e.tool_call_id),
        Event::ToolCallResult(e) => {
            let Content::Text(content) = &e.content else { panic!("a result in parts") };
            format!("result {} {} {content:?}{}", e.message_id, e.tool_call_id, metadata(event))
        }
        Event::StepStarted(e) => format!("step+ {}", e.step_name),
        Event::StepFinished(e) => format!("step- {}", e.step_name),
        Event::RunStarted(e) => format!("run+ {} {}", e.thread_id, e.run_id),
        Event::RunFinished(e) => format!("run- {}{}", outcome(e.outcome.as_ref()), usage(&e.usage)),
        Event::RunError(e) => {
            format!("error {} {:?}{}", e.code.as_deref().unwrap_or("-"), e.message, usage(&e.usage))
        }
        Event::Custom(e) => format!("custom {} {}", e.name, e.value.get()),
        Event::Raw(e) => format!("raw {} {}", e.source.as_deref().unwrap_or("-"), e.event.get()),
        Event::ActivitySnapshot(e) => format!("activity {} {}", e.message_id, e.activity_type),
        other => panic!("an event that the mapper never sends: {other:?}"),
    }
}

fn metadata(event: &Event) -> String {
    let json: Value = serde_json::to_value(event).unwrap();
    json.get("metadata").map(|metadata| format!(" {metadata}")).unwrap_or_default()
}

fn outcome(outcome: Option<&Outcome>) -> String {
    match outcome {
        Some(Outcome::Success { pending_tool_call_ids: None }) => "success".to_owned(),
        Some(Outcome::Interrupt { interrupts }) => {
            let ids: Vec<&str> = interrupts.iter().map(|interrupt| interrupt.id.as_str()).collect();
            format!("interrupt {}", ids.join(" "))
        }
        other => panic!("an outcome that the mapper never sends: {other:?}"),
    }
}

fn usage(usage: &[agui_core::TokenUsage]) -> String {
    if usage.is_empty() { String::new() } else { format!(" {}", serde_json::to_string(usage).unwrap()) }
}
