//! One exchange as it happens.

use std::collections::BTreeMap;
use std::time::Instant;

use agui_client::{AgentConfig, HttpAgent, outgoing};
use agui_core::{Json, RunAgentInput};
use anyhow::{Result, bail};
use http::HeaderMap;
use serde_json::{Value, json};

use super::lines::{COMPLETE, CUT, Kind, Line};
use super::redact::{REDACTED, Redactor};
use crate::run::form::secret;

/// Longest body that is recorded, 256 MiB: it is held in memory, so that secrets can be found that lie
/// across records.
const MAX_BODY_BYTES: usize = 256 * 1024 * 1024;

/// What went over the wire so far.
pub(super) struct Captured {
    n: u64,
    lines: Vec<Line>,
    splitter: Splitter,
    body_bytes: usize,
    is_refused: bool,
    refusal: Vec<u8>,
    end: Option<&'static str>,
}

impl Captured {
    pub(super) fn new(n: u64, config: &AgentConfig, input: &RunAgentInput) -> Result<Self> {
        let mut request = Line::new(Kind::Request, n, 0.0);
        request.method = Some("POST".to_owned());
        request.path = Some(target(&config.url).to_owned());
        // Whatever is given by hand may be a secret.
        let names = config.headers.iter().map(|(name, _)| json!([name, REDACTED]));
        request.headers = Some(names.collect::<Vec<_>>().into());
        request.body = Some(serde_json::to_value(outgoing(input.clone(), config.dialect))?);
        Ok(Self {
            n,
            lines: vec![request],
            splitter: Splitter::default(),
            body_bytes: 0,
            is_refused: false,
            refusal: Vec::new(),
            end: None,
        })
    }

    /// Sends the request and reads the answer to its end.
    pub(super) async fn run(
        &mut self,
        agent: &HttpAgent,
        input: RunAgentInput,
        started: Instant,
    ) -> Result<()> {
        let mut answer = agent.open(input).await?;
        self.is_refused = !(200..300).contains(&answer.status());
        let mut response = Line::new(Kind::Response, self.n, ms(started));
        response.status = Some(answer.status());
        response.headers = Some(headers(answer.headers()));
        self.lines.push(response);
        while let Some(chunk) = answer.chunk().await {
            let Ok(chunk) = chunk else {
                self.ended(CUT, started);
                return Ok(());
            };
            self.body_bytes += chunk.len();
            if self.body_bytes > MAX_BODY_BYTES {
                bail!("the answer is longer than {MAX_BODY_BYTES} bytes");
            }
            if self.is_refused {
                self.refusal.extend_from_slice(&chunk);
            } else {
                let items = self.splitter.push(&chunk);
                self.take(items, started);
            }
        }
        let rest = self.splitter.finish();
        self.take(rest, started);
        if self.is_refused {
            let text = String::from_utf8_lossy(&self.refusal);
            let mut body = Line::new(Kind::Body, self.n, ms(started));
            body.body = Some(serde_json::from_str(&text).unwrap_or_else(|_| Value::from(&*text)));
            self.lines.push(body);
        }
        self.ended(COMPLETE, started);
        Ok(())
    }

    /// Takes out of the request what the schemas of the questions call secrets, and gives them.
    pub(super) fn mask_answers(&mut self, schemas: &BTreeMap<String, Value>) -> Vec<String> {
        let entries = self.lines.iter_mut().filter_map(|line| line.body.as_mut()?.get_mut("resume"));
        let entries = entries.filter_map(Value::as_array_mut).flatten();
        let mut secrets = Vec::new();
        for entry in entries {
            let schema = entry.get("interruptId").and_then(Value::as_str).and_then(|id| schemas.get(id));
            if let Some(schema) = schema
                && let Some(payload) = entry.get_mut("payload")
            {
                secrets.extend(secret::mask(schema, payload, REDACTED));
            }
        }
        secrets
    }

    /// The user has stopped it.
    pub(super) fn stop(&mut self, started: Instant) {
        self.ended(CUT, started);
    }

    pub(super) fn events(&self) -> usize {
        self.lines.iter().filter(|line| line.kind == Kind::Event).count()
    }

    /// An event stream came to its end.
    pub(super) fn is_complete(&self) -> bool {
        self.end == Some(COMPLETE) && !self.is_refused
    }

    /// The lines without secrets.
    pub(super) fn into_lines(self, redactor: &Redactor) -> Vec<Line> {
        let mut lines = self.lines;
        redactor.exchange(&mut lines);
        lines
    }

    fn ended(&mut self, end: &'static str, started: Instant) {
        let mut line = Line::new(Kind::End, self.n, ms(started));
        line.end = Some(end.to_owned());
        self.lines.push(line);
        self.end = Some(end);
    }

    fn take(&mut self, items: Vec<Item>, started: Instant) {
        let at_ms = ms(started);
        for item in items {
            let line = match item {
                Item::Comment(text) => {
                    let mut line = Line::new(Kind::Comment, self.n, at_ms);
                    line.text = Some(text);
                    line
                }
                Item::Data(data) => match Json::from_string(data.clone()) {
                    Ok(event) => {
                        let mut line = Line::new(Kind::Event, self.n, at_ms);
                        line.event = Some(event);
                        line
                    }
                    Err(_) => {
                        let mut line = Line::new(Kind::Text, self.n, at_ms);
                        line.text = Some(data);
                        line
                    }
                },
            };
            self.lines.push(line);
        }
    }
}

/// Milliseconds since the request, to the microsecond.
fn ms(started: Instant) -> f64 {
    (started.elapsed().as_secs_f64() * 1e6).round() / 1e3
}

/// Path and query.
fn target(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/", |at| &rest[at..])
}

fn headers(headers: &HeaderMap) -> Value {
    let pair = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        json!([name.as_str(), String::from_utf8_lossy(value.as_bytes())])
    };
    headers.iter().map(pair).collect::<Vec<_>>().into()
}

/// A piece of an event stream.
#[derive(Debug, PartialEq, Eq)]
enum Item {
    Data(String),
    Comment(String),
}

/// Cuts an event stream into pieces, comments included, each given when it has come whole.
#[derive(Debug, Default)]
struct Splitter {
    buffer: Vec<u8>,
    data: Option<String>,
}

impl Splitter {
    fn push(&mut self, bytes: &[u8]) -> Vec<Item> {
        self.buffer.extend_from_slice(bytes);
        let mut items = Vec::new();
        let mut from = 0;
        while let Some(length) = self.buffer[from..].iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(&self.buffer[from..from + length]).into_owned();
            from += length + 1;
            items.extend(self.line(line.trim_end_matches('\r')));
        }
        self.buffer.drain(..from);
        items
    }

    /// The end of the stream gives the record that has no blank line behind it.
    fn finish(&mut self) -> Vec<Item> {
        let mut items = self.push(b"\n\n");
        self.buffer.clear();
        items.retain(|item| *item != Item::Data(String::new()));
        items
    }

    fn line(&mut self, line: &str) -> Option<Item> {
        if line.is_empty() {
            return self.data.take().map(Item::Data);
        }
        if let Some(comment) = line.strip_prefix(':') {
            return Some(Item::Comment(comment.trim_start().to_owned()));
        }
        if let Some(value) = line.strip_prefix("data:") {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_cut_the_same_wherever_it_is_split() {
        let stream = b"data: {\"a\":\ndata: 1}\n\n: heartbeat\r\n\r\nid: 1\ndata: x\n\ndata: last";
        let expected = [
            Item::Data("{\"a\":\n1}".to_owned()),
            Item::Comment("heartbeat".to_owned()),
            Item::Data("x".to_owned()),
            Item::Data("last".to_owned()),
        ];
        for at in 0..=stream.len() {
            let mut splitter = Splitter::default();
            let mut items = splitter.push(&stream[..at]);
            items.extend(splitter.push(&stream[at..]));
            items.extend(splitter.finish());
            assert_eq!(items, expected, "split at {at}");
        }
    }

    #[test]
    fn the_target_is_path_and_query() {
        let cases = [
            ("http://a", "/"),
            ("http://a/", "/"),
            ("https://a:1/b/c?d=e", "/b/c?d=e"),
            ("http://a/b", "/b"),
        ];
        for (url, expected) in cases {
            assert_eq!(target(url), expected);
        }
    }
}
