//! One event stream as a template that is filled with the identities of a request.

use std::ops::Range;

use serde_json::{Value, json};
use uuid::Uuid;

use super::Trace;
use crate::error::TestkitError;
use crate::log::LoggedRequest;
use crate::wire::{self, Ids, State};

/// An event stream of a normal turn, ready to be sent to any number of threads.
#[derive(Debug, Clone)]
pub struct BulkStream {
    text: String,
    events: Vec<Event>,
}

#[derive(Debug, Clone)]
struct Event {
    parts: Vec<Part>,
    /// How often it is sent.
    times: usize,
    is_delta: bool,
}

#[derive(Debug, Clone)]
enum Part {
    Text(Range<usize>),
    Hole(Hole),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hole {
    RpcId,
    Context,
    Message,
    Task,
    Session,
}

/// A stream for one request: framed bytes, and where each event ends.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) bytes: Vec<u8>,
    /// End of the event in `bytes`, and how often it is sent.
    pub(super) events: Vec<(usize, usize)>,
}

impl BulkStream {
    /// The first streamed message of a trace.
    ///
    /// # Errors
    /// [`TestkitError::NoStream`].
    pub fn from_trace(trace: &Trace) -> Result<Self, TestkitError> {
        let mut exchanges = trace.exchanges.iter();
        let first =
            exchanges.find(|exchange| exchange.kind() == "SendStreamingMessage" && exchange.is_stream());
        let exchange = first.ok_or(TestkitError::NoStream)?;
        let events = exchange.events();
        let find = |pointer: &str| events.iter().find_map(|event| event.pointer(pointer)?.as_str());
        let request = &exchange.request;
        let holes = [
            (request.json["id"].to_string(), Hole::RpcId),
            (text(&request.message()["contextId"]), Hole::Context),
            (text(&request.message()["messageId"]), Hole::Message),
            (find("/result/task/id").unwrap_or_default().to_owned(), Hole::Task),
            (
                find("/result/statusUpdate/metadata/iac_code/iacCodeSessionId")
                    .unwrap_or_default()
                    .to_owned(),
                Hole::Session,
            ),
        ];
        let records = exchange.pieces.iter().filter(|(_, piece)| piece.starts_with(b"data:"));
        Ok(Self::new(records.map(|(_, piece)| String::from_utf8_lossy(piece).into_owned()), &holes))
    }

    /// A normal turn of `deltas` different text deltas (`tok0 `, `tok1 `, …).
    #[must_use]
    pub fn synthetic(deltas: usize) -> Self {
        let [task, context, session, message, rpc] =
            ["@task@", "@context@", "@session@", "@message@", "@rpc@"];
        let ids = Ids::new(task, context, session);
        let said = json!({"messageId": message, "role": "ROLE_USER", "parts": [{"text": "go"}]});
        let mut results = vec![wire::task(&ids, State::Submitted, Some(&said))];
        for state in [State::Submitted, State::Working] {
            results.push(wire::timed_status(&ids, state, wire::iac(&ids, wire::empty())));
        }
        let mut full = String::new();
        for number in 0..deltas {
            let piece = format!("tok{number} ");
            results.push(wire::text_delta(&ids, &piece));
            full.push_str(&piece);
        }
        let count = deltas.try_into().unwrap_or(u64::MAX);
        let usage = json!({"usage": wire::usage(11, count, 0)});
        results.push(wire::status(&ids, State::Working, wire::iac(&ids, usage)));
        results.push(wire::final_text(&ids, &full));
        results.push(wire::timed_status(&ids, State::InputRequired, wire::iac(&ids, wire::empty())));
        let holes = [
            (format!("\"{rpc}\""), Hole::RpcId),
            (context.to_owned(), Hole::Context),
            (message.to_owned(), Hole::Message),
            (task.to_owned(), Hole::Task),
            (session.to_owned(), Hole::Session),
        ];
        let records = results.iter().map(|result| wire::record(&wire::reply(&json!(rpc), result)));
        Self::new(records, &holes)
    }

    /// Sends every text delta that many times.
    #[must_use]
    pub fn with_repeated_deltas(mut self, times: usize) -> Self {
        for event in self.events.iter_mut().filter(|event| event.is_delta) {
            event.times = times;
        }
        self
    }

    /// How many events a request gets.
    #[must_use]
    pub fn events(&self) -> usize {
        self.events.iter().map(|event| event.times).sum()
    }

    /// How many of them are text deltas.
    #[must_use]
    pub fn deltas(&self) -> usize {
        self.events.iter().filter(|event| event.is_delta).map(|event| event.times).sum()
    }

    fn new(records: impl Iterator<Item = String>, holes: &[(String, Hole)]) -> Self {
        let mut stream = Self { text: String::new(), events: Vec::new() };
        for record in records {
            let is_delta = record.contains("-message\"") && !record.contains("\"assistantFinal\"");
            let from = stream.text.len();
            stream.text.push_str(&record);
            let parts = split(&stream.text, from, holes);
            stream.events.push(Event { parts, times: 1, is_delta });
        }
        stream
    }

    /// Fills the template, framed as chunks; at most the first `limit` events.
    pub(super) fn render(&self, request: &LoggedRequest, limit: usize) -> Rendered {
        let (task, session) = (Uuid::new_v4().to_string(), Uuid::new_v4().to_string());
        let rpc_id = request.json["id"].to_string();
        let (context, message) =
            (text(&request.message()["contextId"]), text(&request.message()["messageId"]));
        let fill = |hole: &Hole| match hole {
            Hole::RpcId => rpc_id.as_str(),
            Hole::Context => &context,
            Hole::Message => &message,
            Hole::Task => &task,
            Hole::Session => &session,
        };
        let mut rendered = Rendered { bytes: Vec::new(), events: Vec::new() };
        for event in self.events.iter().take(limit) {
            let pieces = event.parts.iter().map(|part| match part {
                Part::Text(range) => &self.text[range.clone()],
                Part::Hole(hole) => fill(hole),
            });
            let size: usize = pieces.clone().map(str::len).sum();
            rendered.bytes.extend_from_slice(format!("{size:x}\r\n").as_bytes());
            pieces.for_each(|piece| rendered.bytes.extend_from_slice(piece.as_bytes()));
            rendered.bytes.extend_from_slice(b"\r\n");
            rendered.events.push((rendered.bytes.len(), event.times));
        }
        rendered
    }
}

/// The parts of `text[from..]`: what stands there, and the holes.
fn split(text: &str, mut from: usize, holes: &[(String, Hole)]) -> Vec<Part> {
    let holes = holes.iter().filter(|(old, _)| !old.is_empty());
    let mut parts = Vec::new();
    loop {
        let next = holes.clone().filter_map(|(old, hole)| Some((text[from..].find(old)?, old.len(), *hole)));
        let Some((at, length, hole)) = next.min_by_key(|(at, ..)| *at) else { break };
        parts.push(Part::Text(from..from + at));
        parts.push(Part::Hole(hole));
        from += at + length;
    }
    parts.push(Part::Text(from..text.len()));
    parts
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
