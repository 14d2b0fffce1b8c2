//! Reading `a2a.jsonl`.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::error::TestkitError;
use crate::log::LoggedRequest;
use crate::sse::{SseItem, SseReader};
use crate::wire::State;

/// The recorded traces of this project.
#[must_use]
pub fn fixtures_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces")
}

/// A recorded conversation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Trace {
    /// The exchanges, in the order of their requests.
    pub exchanges: Vec<Exchange>,
    /// Number, time in ms and name of the marks that the recording test made.
    pub marks: Vec<(u64, f64, String)>,
    dir: PathBuf,
}

/// How a recorded exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExchangeEnd {
    /// The response was complete.
    Complete,
    /// The adapter closed the connection first.
    ClientClosed,
    /// The kernel cut the response.
    UpstreamClosed,
    /// Nobody listened.
    ConnectFailed,
}

/// A recorded request with its response.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Exchange {
    /// Its number; marks are numbered with the exchanges.
    pub seq: u64,
    /// When the request came, in ms since the recording began.
    pub at_ms: f64,
    /// The request.
    pub request: LoggedRequest,
    /// HTTP status; `None` when there was no response.
    pub status: Option<u16>,
    /// Response headers.
    pub headers: Vec<(String, String)>,
    /// Time in ms and bytes of every piece of the body: one an event for event streams, else one.
    pub pieces: Vec<(f64, Bytes)>,
    /// When the response head came, in ms.
    pub head_ms: f64,
    /// When the exchange ended, in ms.
    pub end_ms: f64,
    /// How it ended.
    pub end: ExchangeEnd,
}

impl Trace {
    /// The trace of that name in [`fixtures_dir`].
    ///
    /// # Errors
    /// See [`load`](Self::load).
    pub fn fixture(name: &str) -> Result<Self, TestkitError> {
        Self::load(&fixtures_dir().join(name))
    }

    /// Reads `a2a.jsonl` or `a2a.jsonl.gz` of a directory.
    ///
    /// # Errors
    /// An unreadable file, or one that is not a record.
    pub fn load(dir: &Path) -> Result<Self, TestkitError> {
        let mut trace = Self { exchanges: Vec::new(), marks: Vec::new(), dir: dir.to_owned() };
        for record in json_lines(&dir.join("a2a.jsonl"))? {
            match record["mark"].as_str() {
                Some(name) => {
                    let seq = record["seq"].as_u64().unwrap_or_default();
                    trace.marks.push((seq, time(&record, "t")?, name.to_owned()));
                }
                None => trace.exchanges.push(Exchange::read(&record)?),
            }
        }
        trace.exchanges.sort_by_key(|exchange| exchange.seq);
        Ok(trace)
    }

    /// The records of `agui.jsonl` beside it: what a client sent and got.
    ///
    /// # Errors
    /// An unreadable file.
    pub fn agui(&self) -> Result<Vec<Value>, TestkitError> {
        json_lines(&self.dir.join("agui.jsonl"))
    }
}

impl Exchange {
    fn read(record: &Value) -> Result<Self, TestkitError> {
        let seq = record["seq"].as_u64().ok_or(TestkitError::TraceField { seq: 0, field: "seq" })?;
        let field = |field: &'static str| TestkitError::TraceField { seq, field };
        let text = |name: &'static str| record[name].as_str().ok_or_else(|| field(name));
        let body = match record.get("body") {
            Some(body) => Bytes::from(body.to_string()),
            None => Bytes::new(),
        };
        let (method, target) = (text("method")?.to_owned(), text("path")?.to_owned());
        let request = LoggedRequest::new(0, method, target, headers(&record["headers"]), body);
        let end = match record["end"].as_str() {
            Some("complete") => ExchangeEnd::Complete,
            Some("client_closed") => ExchangeEnd::ClientClosed,
            Some("upstream_closed") => ExchangeEnd::UpstreamClosed,
            Some("connect_failed") => ExchangeEnd::ConnectFailed,
            _ => return Err(field("end")),
        };
        let at_ms = time(record, "t")?;
        let headers = headers(&record["rheaders"]);
        let chunks = record["chunks"].as_array().ok_or_else(|| field("chunks"))?;
        let mut pieces = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let ms = chunk[0].as_f64().ok_or_else(|| field("chunks"))?;
            let text = chunk[1].as_str().ok_or_else(|| field("chunks"))?;
            pieces.push((ms, Bytes::copy_from_slice(text.as_bytes())));
        }
        let mut exchange = Self {
            seq,
            at_ms,
            request,
            status: record["status"].as_u64().and_then(|status| u16::try_from(status).ok()),
            headers,
            pieces,
            head_ms: record["t_head"].as_f64().unwrap_or(at_ms),
            end_ms: record["t_end"].as_f64().unwrap_or(at_ms),
            end,
        };
        exchange.pieces = exchange.regrouped();
        Ok(exchange)
    }

    /// What the request is about; see [`LoggedRequest::kind`].
    #[must_use]
    pub fn kind(&self) -> String {
        self.request.kind()
    }

    /// Whether the response is an event stream.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        let mut types = self.headers.iter().filter(|(name, _)| name == "content-type");
        types.any(|(_, value)| value.contains("event-stream"))
    }

    /// Whether the kernel had said all it would say: it closes the stream by itself after that.
    #[must_use]
    pub fn ends_by_itself(&self) -> bool {
        let Some((_, last)) = self.pieces.iter().rev().find(|(_, piece)| !piece.starts_with(b":")) else {
            return false;
        };
        let states = [State::InputRequired, State::AuthRequired, State::Completed, State::Failed];
        let states = states.into_iter().chain([State::Canceled, State::Rejected]);
        let text = String::from_utf8_lossy(last);
        states
            .into_iter()
            .any(|state| text.contains(&format!("\"status\":{{\"state\":\"{}\"", state.as_str())))
    }

    /// The events of a stream, as JSON.
    #[must_use]
    pub fn events(&self) -> Vec<Value> {
        let mut reader = SseReader::default();
        let items = self.pieces.iter().flat_map(|(_, piece)| reader.push(piece));
        let data = items.filter_map(|item| match item {
            SseItem::Record { data, .. } => serde_json::from_str(&data).ok(),
            SseItem::Comment(_) => None,
        });
        data.collect()
    }

    /// One piece an event, each with the time at which it was complete; other bodies in one piece.
    fn regrouped(&self) -> Vec<(f64, Bytes)> {
        let all: Vec<u8> = self.pieces.iter().flat_map(|(_, piece)| piece.iter().copied()).collect();
        if !self.is_stream() {
            return self.pieces.last().map(|(ms, _)| (*ms, all.into())).into_iter().collect();
        }
        let all = Bytes::from(all);
        let mut pieces = self.pieces.iter();
        let (mut arrived, mut ms) = (0, self.at_ms);
        let mut out = Vec::new();
        let mut from = 0;
        while from < all.len() {
            let to = from + record_length(&all[from..]);
            while arrived < to {
                let Some((at, piece)) = pieces.next() else { break };
                arrived += piece.len();
                ms = *at;
            }
            out.push((ms, all.slice(from..to)));
            from = to;
        }
        out
    }
}

/// Length of the first record with its blank line; of everything when there is none.
fn record_length(bytes: &[u8]) -> usize {
    let mut line_start = 0;
    for at in (0..bytes.len()).filter(|at| bytes[*at] == b'\n') {
        if bytes[line_start..at].iter().all(|byte| *byte == b'\r') && line_start > 0 {
            return at + 1;
        }
        line_start = at + 1;
    }
    bytes.len()
}

fn time(record: &Value, name: &'static str) -> Result<f64, TestkitError> {
    let seq = record["seq"].as_u64().unwrap_or_default();
    record[name].as_f64().ok_or(TestkitError::TraceField { seq, field: name })
}

fn headers(list: &Value) -> Vec<(String, String)> {
    let pairs = list.as_array().into_iter().flatten();
    let pair = |pair: &Value| Some((pair[0].as_str()?.to_ascii_lowercase(), pair[1].as_str()?.to_owned()));
    pairs.filter_map(pair).collect()
}

/// The lines of a file, or of its gzip-compressed twin.
fn json_lines(path: &Path) -> Result<Vec<Value>, TestkitError> {
    let read = |source| TestkitError::Read { path: path.to_owned(), source };
    let packed = path.with_extension("jsonl.gz");
    let input: Box<dyn Read> = if packed.exists() {
        Box::new(GzDecoder::new(File::open(&packed).map_err(read)?))
    } else {
        Box::new(File::open(path).map_err(read)?)
    };
    let mut records = Vec::new();
    for (at, line) in BufReader::new(input).lines().enumerate() {
        let line = line.map_err(read)?;
        if line.trim().is_empty() {
            continue;
        }
        let record = serde_json::from_str(&line);
        let path = path.to_owned();
        records.push(record.map_err(|source| TestkitError::TraceLine { path, line: at + 1, source })?);
    }
    Ok(records)
}
