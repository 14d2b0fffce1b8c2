//! A whole stream before its judge. Pure.

use std::collections::{BTreeMap, BTreeSet};

use agui_client::{Conversation, Warning};
use agui_core::{Event, Json, MessageId, RunId, ThreadId, ToolCallId};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::finding::Finding;
use super::members;
use super::order::Order;
use super::rules::Rule;
use super::source::{Record, Stream};

/// What is known beside the stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Circumstances {
    /// The ids of the request.
    pub(crate) request: Option<(ThreadId, RunId)>,
    /// The state of the request.
    pub(crate) state: Option<Json>,
    /// What the request has declared.
    pub(crate) peer: Peer,
}

/// The client for whom a stream is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Peer {
    /// Nobody knows, as for a file.
    #[default]
    Unknown,
    /// One of 1.0.
    Current,
    /// One that declares no version.
    Legacy,
}

/// Everything that is wrong with a stream, in the order of its events.
pub(crate) fn judge(stream: &Stream, circumstances: &Circumstances) -> Vec<Finding> {
    let mut judge = Judge::new(stream, circumstances);
    for record in &stream.records {
        judge.record(record);
    }
    judge.finish();
    let mut findings = stream.findings.clone();
    findings.append(&mut judge.findings);
    // A fault of the framing stands where its line is.
    findings.sort_by_key(|finding| (finding.line.unwrap_or(usize::MAX), finding.event));
    findings
}

struct Judge<'a> {
    circumstances: &'a Circumstances,
    order: Order,
    thread: Conversation,
    /// Somebody has said what patches are against.
    knows_state: bool,
    /// Arguments of calls so far.
    arguments: BTreeMap<ToolCallId, String>,
    thoughts: BTreeSet<MessageId>,
    findings: Vec<Finding>,
    /// How many findings there were before the run began.
    run_begin: usize,
}

impl<'a> Judge<'a> {
    fn new(stream: &Stream, circumstances: &'a Circumstances) -> Self {
        let ids = circumstances.request.clone().or_else(|| first_ids(stream));
        let thread_id = ids.as_ref().map_or_else(|| ThreadId::new("?"), |(thread, _)| thread.clone());
        let mut thread = Conversation::new(thread_id);
        if let Some(state) = &circumstances.state {
            thread = thread.with_state(state.clone());
        }
        Self {
            circumstances,
            order: Order::new(ids),
            thread,
            knows_state: circumstances.request.is_some(),
            arguments: BTreeMap::new(),
            thoughts: BTreeSet::new(),
            findings: Vec::new(),
            run_begin: 0,
        }
    }

    fn record(&mut self, record: &Record) {
        let examined = members::read(&record.data);
        let event_type = examined.event_type;
        let mut findings = examined.findings;
        if let Some(event) = examined.event {
            if self.circumstances.peer == Peer::Legacy
                && let Some(what) = members::too_new(&event)
            {
                findings.push(Finding::new(Rule::TooNew, format!("clients of 0.x do not know {what}")));
            }
            self.event(event, record.number, examined.is_placeless, &mut findings);
        }
        for mut finding in findings {
            finding.event = Some(record.number);
            finding.line = Some(record.line);
            finding.event_type.clone_from(&event_type);
            self.add(finding);
        }
    }

    fn event(&mut self, event: Event, number: usize, is_placeless: bool, findings: &mut Vec<Finding>) {
        let starts = matches!(event, Event::RunStarted(_));
        let ends = matches!(event, Event::RunFinished(_));
        // Without its ids an event opens and closes nothing, but a run begins and ends all the same.
        if is_placeless && !starts && !ends {
            return;
        }
        if let Event::RunStarted(started) = &event
            && !is_placeless
        {
            self.started(&started.thread_id, &started.run_id, started.protocol_version.as_deref(), findings);
        }
        let mut effective = Vec::new();
        if is_placeless && ends {
            self.order.assume_ids();
        }
        findings.extend(self.order.push(event, number, &mut effective));
        if is_placeless && starts {
            self.order.assume_ids();
        }
        for event in &effective {
            self.apply(event, findings);
        }
    }

    fn started(&self, thread: &ThreadId, run: &RunId, version: Option<&str>, findings: &mut Vec<Finding>) {
        let Some((asked_thread, asked_run)) = &self.circumstances.request else { return };
        if (thread, run) != (asked_thread, asked_run) {
            let message = format!("the request has thread {asked_thread:?} and run {asked_run:?}");
            findings.push(Finding::new(Rule::NotEchoed, message));
        }
        if version.is_none() && self.circumstances.peer == Peer::Current {
            findings.push(Finding::new(Rule::NoVersion, "RUN_STARTED declares no version"));
        }
    }

    /// What a client would make of an event.
    fn apply(&mut self, event: &Event, findings: &mut Vec<Finding>) {
        match event {
            Event::RunStarted(started) => {
                self.run_begin = self.findings.len();
                self.arguments.clear();
                self.thoughts.clear();
                if let Some(state) = started.input.as_ref().and_then(|input| input.state.clone()) {
                    self.knows_state = true;
                    self.thread = self.thread.clone().with_state(state);
                }
            }
            Event::StateSnapshot(_) => self.knows_state = true,
            Event::ToolCallArgs(e) => {
                self.arguments.entry(e.tool_call_id.clone()).or_default().push_str(&e.delta);
            }
            Event::ToolCallEnd(e) => {
                let arguments = self.arguments.get(&e.tool_call_id).filter(|text| !text.is_empty());
                if arguments.is_some_and(|text| serde_json::from_str::<IgnoredAny>(text).is_err()) {
                    let message = format!("the arguments of call {:?} are no JSON", e.tool_call_id.as_str());
                    findings.push(Finding::new(Rule::ArgumentsNotJson, message));
                }
            }
            Event::ReasoningMessageStart(e) => {
                self.thoughts.insert(e.message_id.clone());
            }
            Event::TextMessageStart(e) if self.thoughts.contains(&e.message_id) => {
                let message = format!("text under the id {:?} of a reasoning message", e.message_id.as_str());
                findings.push(Finding::new(Rule::SharedId, message));
            }
            _ => {}
        }
        if let Some(warning) = self.thread.apply(event) {
            let rule = match &warning {
                Warning::StatePatch(_) if self.knows_state => Rule::StatePatch,
                Warning::StatePatch(_) => Rule::StateBase,
                Warning::ActivityPatch { .. } => Rule::ActivityPatch,
                _ => Rule::LostEvent,
            };
            findings.push(Finding::new(rule, warning.to_string()));
        }
    }

    /// Events after the end are one mistake, however many there are; so are those about what is not there.
    fn add(&mut self, finding: Finding) {
        let same = |known: &&mut Finding| match finding.rule {
            Rule::AfterRunFinished | Rule::AfterRunError => known.rule == finding.rule,
            Rule::LostEvent => known.rule == finding.rule && known.message == finding.message,
            _ => false,
        };
        match self.findings[self.run_begin..].iter_mut().find(same) {
            Some(known) => known.more += 1,
            None => self.findings.push(finding),
        }
    }

    fn finish(&mut self) {
        self.findings.extend(self.order.finish());
    }
}

/// The ids that the first event with ids has.
fn first_ids(stream: &Stream) -> Option<(ThreadId, RunId)> {
    stream.records.iter().find_map(|record| {
        let value: Value = serde_json::from_str(&record.data).ok()?;
        let id = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        Some((id("threadId")?.into(), id("runId")?.into()))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::source;
    use super::*;

    const STREAM: &[u8] = include_bytes!("../../tests/streams/many.sse");

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Whatever a stream consists of, it is judged; and every finding is of a record that is there.
        #[test]
        fn no_bytes_are_too_strange(
            edits in prop::collection::vec((0..STREAM.len(), any::<u8>()), 0..40),
            end in 0..=STREAM.len(),
        ) {
            let mut bytes = STREAM.to_vec();
            for (at, byte) in edits {
                bytes[at] = byte;
            }
            bytes.truncate(end);
            for stream in source::read(&bytes) {
                for finding in judge(&stream, &Circumstances::default()) {
                    prop_assert!(finding.event.unwrap_or_default() <= stream.records.len());
                    prop_assert!(!finding.message.is_empty());
                }
            }
        }
    }
}
