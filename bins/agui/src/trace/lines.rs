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
    /// `complete` or `cut`.
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
            Kind::Comment | Kind::End | Kind::Other => {}
        }
    }
    Ok(found.into_values().map(|(_, exchange)| exchange).collect())
}

fn empty(n: u64) -> Exchange {
    let (request, body) = (Value::Null, Value::Null);
    Exchange { n, path: "/".to_owned(), request, status: 200, body, records: Vec::new() }
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
            {"t":120,"kind":"request","n":2,"body":{}}
            {"t":121,"kind":"response","n":2,"status":409}
            {"t":122,"kind":"body","n":2,"body":{"error":{}}}"#;
        let exchanges = exchanges(text).unwrap();
        assert_eq!(exchanges.len(), 2);
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
