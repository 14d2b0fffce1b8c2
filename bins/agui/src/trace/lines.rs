//! The lines of a trace file. Pure.
//!
//! One JSON object a line: `request`, `response`, then `event`, `text` (a record that is no JSON), `comment`
//! and `body` (of a refusal) as they came, and `end`. `t` is milliseconds since the request, `n` the number of
//! the exchange.

use std::collections::BTreeMap;

use agui_core::Json;
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Latest time of a record that is replayed, a day after the request: a trace is text that anybody can write.
const MAX_AT_MS: f64 = 86_400_000.0;

/// The end of an answer that has come whole.
pub(super) const COMPLETE: &str = "complete";
/// The end of one that has not.
pub(super) const CUT: &str = "cut";

/// What a line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Request,
    Response,
    Event,
    Text,
    Comment,
    Body,
    End,
    /// Of another writer.
    #[serde(other)]
    Other,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Line {
    /// Milliseconds since the request.
    #[serde(rename = "t")]
    pub(super) at_ms: f64,
    pub(super) kind: Kind,
    /// Number of the exchange, from 1.
    pub(super) n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) headers: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) event: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// [`COMPLETE`] or [`CUT`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<String>,
}

impl Line {
    pub(super) const fn new(kind: Kind, n: u64, at_ms: f64) -> Self {
        Self {
            at_ms,
            kind,
            n,
            method: None,
            path: None,
            status: None,
            headers: None,
            body: None,
            event: None,
            text: None,
            end: None,
        }
    }
}

/// One request and its answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Exchange {
    pub(super) n: u64,
    pub(super) path: String,
    pub(super) request: Value,
    pub(super) status: u16,
    /// Body of a refusal.
    pub(super) body: Value,
    /// Records, with milliseconds since the request.
    pub(super) records: Vec<(f64, Payload)>,
    /// How the answer has ended, if the trace tells.
    pub(super) ending: Option<Ending>,
}

/// The end of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ending {
    /// Milliseconds since the request.
    pub(super) at_ms: f64,
    /// The connection broke, or whoever recorded has stopped.
    pub(super) is_cut: bool,
}

/// Data of a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Payload {
    Json(Json),
    Text(String),
}

impl Exchange {
    pub(super) fn thread_id(&self) -> Option<String> {
        self.request.get("threadId").and_then(Value::as_str).map(str::to_owned)
    }
}

/// Reads a trace; lines that are about something else are passed over.
pub(super) fn exchanges(text: &str) -> Result<Vec<Exchange>> {
    let mut found: BTreeMap<u64, (f64, Exchange)> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if serde_json::from_str::<Value>(line).is_err() {
            bail!("a line is no JSON");
        }
        let Ok(line) = serde_json::from_str::<Line>(line) else { continue };
        let (begun, exchange) = found.entry(line.n).or_insert_with(|| (line.at_ms, empty(line.n)));
        let at_ms = (line.at_ms - *begun).clamp(0.0, MAX_AT_MS);
        match line.kind {
            Kind::Request => {
                exchange.path = line.path.unwrap_or_else(|| "/".to_owned());
                exchange.request = line.body.unwrap_or_default();
            }
            Kind::Response => exchange.status = line.status.unwrap_or(200),
            Kind::Body => exchange.body = line.body.unwrap_or_default(),
            Kind::Event => {
                exchange.records.extend(line.event.map(|event| (at_ms, Payload::Json(event))));
            }
            Kind::Text => exchange.records.extend(line.text.map(|text| (at_ms, Payload::Text(text)))),
            Kind::End => {
                let is_cut = line.end.as_deref() != Some(COMPLETE);
                exchange.ending = Some(Ending { at_ms, is_cut });
            }
            Kind::Comment | Kind::Other => {}
        }
    }
    Ok(found.into_values().map(|(_, exchange)| exchange).collect())
}

/// The schemas of the answers to every question that was asked, by the id of the interrupt.
pub(super) fn schemas(exchanges: &[Exchange]) -> BTreeMap<String, Value> {
    let mut schemas = BTreeMap::new();
    for (_, payload) in exchanges.iter().flat_map(|exchange| &exchange.records) {
        let Payload::Json(event) = payload else { continue };
        // Most events are deltas, and none of those asks.
        if !event.get().contains("responseSchema") {
            continue;
        }
        let Ok(event) = event.parse::<Value>() else { continue };
        let asked = event.pointer("/outcome/interrupts").and_then(Value::as_array);
        for interrupt in asked.into_iter().flatten() {
            if let (Some(id), Some(schema)) = (interrupt["id"].as_str(), interrupt.get("responseSchema")) {
                schemas.insert(id.to_owned(), schema.clone());
            }
        }
    }
    schemas
}

fn empty(n: u64) -> Exchange {
    let (request, body) = (Value::Null, Value::Null);
    Exchange { n, path: "/".to_owned(), request, status: 200, body, records: Vec::new(), ending: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_read_by_exchange_and_relative_to_its_request() {
        let text = r#"{"t":100.5,"kind":"request","n":1,"method":"POST","path":"/run","headers":[],"body":{"threadId":"t"}}
            {"t":101,"kind":"response","n":1,"status":200,"headers":[["a","b"]]}
            {"t":110.5,"kind":"event","n":1,"event":{"type":"X","n":1.50},"raw":"data"}
            {"t":111,"kind":"comment","n":1,"text":"heartbeat"}
            {"t":112,"kind":"note","text":"of another writer"}
            {"t":113,"kind":"end","n":1,"end":"cut"}
            {"t":120,"kind":"request","n":2,"body":{}}
            {"t":121,"kind":"response","n":2,"status":409}
            {"t":122,"kind":"body","n":2,"body":{"error":{}}}
            {"t":123,"kind":"end","n":2,"end":"complete"}
            {"t":130,"kind":"text","n":3,"text":"x"}"#;
        let exchanges = exchanges(text).unwrap();
        let endings: Vec<Option<Ending>> = exchanges.iter().map(|exchange| exchange.ending).collect();
        let ending = |at_ms, is_cut| Some(Ending { at_ms, is_cut });
        assert_eq!(endings, [ending(12.5, true), ending(3.0, false), None]);
        assert_eq!(
            exchanges[0].records,
            [(10.0, Payload::Json(Json::from_string(r#"{"type":"X","n":1.50}"#.to_owned()).unwrap()))]
        );
        assert_eq!((exchanges[0].path.as_str(), exchanges[0].thread_id().as_deref()), ("/run", Some("t")));
        assert_eq!((exchanges[1].status, exchanges[1].body.to_string().as_str()), (409, r#"{"error":{}}"#));
        assert!(super::exchanges("data: 1\n\n").is_err());
    }

    #[test]
    fn a_time_beyond_all_clocks_is_the_latest_one() {
        let text = r#"{"t":0,"kind":"request","n":1}
            {"t":1e300,"kind":"text","n":1,"text":"late"}
            {"t":-1e300,"kind":"text","n":1,"text":"early"}"#;
        let [exchange] = &exchanges(text).unwrap()[..] else { panic!("one exchange") };
        let times: Vec<f64> = exchange.records.iter().map(|(at_ms, _)| *at_ms).collect();
        assert_eq!(times, [MAX_AT_MS, 0.0]);
    }
}
