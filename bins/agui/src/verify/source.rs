//! From bytes to records, with the faults of the framing. Pure.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::finding::Finding;
use super::rules::Rule;

/// One event on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// 1-based place in its stream.
    pub(crate) number: usize,
    /// 1-based line of the source.
    pub(crate) line: usize,
    pub(crate) data: String,
}

/// The records of one stream.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Stream {
    /// What tells it from the other streams of a source; empty if there is one only.
    pub(crate) name: String,
    pub(crate) records: Vec<Record>,
    pub(crate) findings: Vec<Finding>,
    /// The stream was cut, as far as the source tells.
    pub(crate) is_cut: bool,
}

impl Stream {
    fn push(&mut self, line: usize, data: impl Into<String>) {
        self.records.push(Record { number: self.records.len() + 1, line, data: data.into() });
    }

    fn fault(&mut self, rule: Rule, line: usize, message: impl Into<String>) {
        self.findings.push(Finding::new(rule, message).at_line(line));
    }
}

/// Reads a file of whatever form; there is at least one stream.
pub(crate) fn read(bytes: &[u8]) -> Vec<Stream> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let begin = text.trim_start();
    let mut streams = if begin.starts_with('[') && serde_json::from_str::<Vec<&RawValue>>(text).is_ok() {
        vec![array(text)]
    } else if begin.starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok() {
        let mut stream = Stream::default();
        let blank = &text[..text.len() - begin.len()];
        stream.push(blank.matches('\n').count() + 1, begin.trim_end());
        vec![stream]
    } else if begin.starts_with('{') {
        let first: Line<'_> =
            begin.lines().next().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        if first.kind.is_some() && first.event_type.is_none() { trace(text) } else { vec![lines(text)] }
    } else {
        vec![sse(text)]
    };
    if std::str::from_utf8(bytes).is_err()
        && let Some(first) = streams.first_mut()
    {
        first.findings.insert(0, Finding::new(Rule::Encoding, "the stream is not UTF-8"));
    }
    streams
}

/// Reads an event stream.
pub(crate) fn sse(text: &str) -> Stream {
    let mut stream = Stream::default();
    if let Some(line) = text.lines().position(|line| line.contains('\r')).or_else(|| crlf_line(text)) {
        stream.fault(Rule::LineEnds, line + 1, "a line ends with a carriage return");
    }
    // Only after the fault is noted, so that the rest can be judged all the same.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut pending: Option<(usize, String)> = None;
    let mut rest = text.as_str();
    let mut number = 0;
    while !rest.is_empty() {
        number += 1;
        let (line, is_whole);
        (line, rest, is_whole) = match rest.split_once('\n') {
            Some((line, rest)) => (line, rest, true),
            None => (rest, "", false),
        };
        if line.is_empty() {
            if let Some((first, data)) = pending.take() {
                stream.push(first, data);
            }
            continue;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        match name {
            "data" => {
                let value = value.strip_prefix(' ').unwrap_or(value);
                match &mut pending {
                    Some((_, data)) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => pending = Some((number, value.to_owned())),
                }
            }
            "" | "event" | "id" | "retry" => {}
            _ if is_whole => stream.fault(Rule::SseLine, number, "a line is no field of an event stream"),
            _ => stream.fault(Rule::CutRecord, number, "the stream ends inside a line"),
        }
    }
    if let Some((line, data)) = pending {
        if serde_json::from_str::<serde::de::IgnoredAny>(&data).is_ok() {
            stream.fault(Rule::NoBlankLine, line, "the last record has no blank line behind it");
            stream.push(line, data);
        } else {
            stream.fault(Rule::CutRecord, line, "the stream ends inside a record");
            stream.is_cut = true;
        }
    }
    stream
}

fn crlf_line(text: &str) -> Option<usize> {
    text.find('\r').map(|at| text[..at].matches('\n').count())
}

/// Reads a JSON array of events.
fn array(text: &str) -> Stream {
    let mut stream = Stream::default();
    let events: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
    let mut searched = 0;
    for event in events {
        // The events lie in the text in order, so each is found behind the one before.
        let at = text[searched..].find(event.get()).map_or(searched, |at| searched + at);
        searched = at + event.get().len();
        stream.push(text[..at].matches('\n').count() + 1, event.get());
    }
    stream
}

/// Reads JSON lines.
fn lines(text: &str) -> Stream {
    let mut stream = Stream::default();
    let filled = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (index, line) in filled {
        stream.push(index + 1, line);
    }
    stream
}

/// A line of a trace. Also of an event, which has a type.
#[derive(Debug, Default, Deserialize)]
struct Line<'a> {
    kind: Option<String>,
    #[serde(rename = "type")]
    event_type: Option<String>,
    n: Option<u64>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    text: Option<String>,
    end: Option<String>,
}

/// Reads a trace: the exchanges in it, each a stream of its own.
fn trace(text: &str) -> Vec<Stream> {
    let mut streams: BTreeMap<u64, Stream> = BTreeMap::new();
    for (index, text) in text.lines().enumerate() {
        let Ok(line) = serde_json::from_str::<Line<'_>>(text) else { continue };
        let n = line.n.unwrap_or(1);
        match (line.kind.as_deref(), line.event, line.text) {
            (Some("event"), Some(event), _) => streams.entry(n).or_default().push(index + 1, event.get()),
            (Some("text"), _, Some(text)) => streams.entry(n).or_default().push(index + 1, text),
            (Some("end"), _, _) => {
                if let Some(stream) = streams.get_mut(&n) {
                    stream.is_cut = line.end.as_deref() != Some("complete");
                }
            }
            _ => {}
        }
    }
    let several = streams.len() > 1;
    let named =
        |(n, stream)| Stream { name: if several { format!("#{n}") } else { String::new() }, ..stream };
    let streams: Vec<Stream> = streams.into_iter().map(named).collect();
    if streams.is_empty() { vec![Stream::default()] } else { streams }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let streams = read(text.as_bytes());
        let mut out = String::new();
        for stream in streams {
            for finding in &stream.findings {
                out.push_str(&format!("{}:{} ", finding.rule, finding.line.unwrap_or_default()));
            }
            for record in &stream.records {
                out.push_str(&format!("{}{}@{}={} ", stream.name, record.number, record.line, record.data));
            }
        }
        out.trim_end().to_owned()
    }

    #[test]
    fn every_form_is_recognised_and_every_record_has_its_line() {
        let cases = [
            ("data: {\"a\":1}\n\n: hi\n\nevent: x\nid: 1\ndata:{\ndata: }\n\n", "1@1={\"a\":1} 2@7={\n}"),
            ("{\"type\":\"A\"}\n\n{\"type\":\"B\"}\n", "1@1={\"type\":\"A\"} 2@3={\"type\":\"B\"}"),
            ("[\n {\"a\":1},\n {\"a\":1}, 5]", "1@2={\"a\":1} 2@3={\"a\":1} 3@3=5"),
            ("\u{feff}data: 1\n\n", "1@1=1"),
            ("{\n \"a\": 1\n}\n", "1@1={\n \"a\": 1\n}"),
            (": only a comment\n\n", ""),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn faults_of_the_framing_are_found_and_the_rest_is_read() {
        let cases = [
            ("data: 1\r\n\r\ndata: 2\r\n\r\n", "line-ends:1 1@1=1 2@3=2"),
            ("data: 1\n\ndata: 2\r\rdata: 3\n\n", "line-ends:3 1@1=1 2@3=2 3@5=3"),
            ("data: 1\n\n{\"a\":2}\n\n", "sse-line:3 1@1=1"),
            ("data: 1\n\ndata: {\"a\":2}", "no-blank-line:3 1@1=1 2@3={\"a\":2}"),
            ("data: 1\n\ndata: {\"a\":", "cut-record:3 1@1=1"),
            ("data: 1\n\ndat", "cut-record:3 1@1=1"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text:?}");
        }
        assert_eq!(read(b"data: \xff\n\n")[0].findings[0].rule, Rule::Encoding);
    }

    #[test]
    fn the_exchanges_of_a_trace_are_streams() {
        let trace = r#"{"kind":"request","n":1,"t":0}
            {"kind":"event","n":1,"event":{"type":"A"}}
            {"kind":"event","n":2,"event":{"type":"B"}}
            {"kind":"text","n":2,"text":"[DONE]"}
            {"kind":"end","n":1,"end":"complete"}
            {"kind":"end","n":2,"end":"cut"}"#;
        assert_eq!(shown(trace), "#11@2={\"type\":\"A\"} #21@3={\"type\":\"B\"} #22@4=[DONE]");
        let cut: Vec<bool> = read(trace.as_bytes()).iter().map(|stream| stream.is_cut).collect();
        assert_eq!(cut, [false, true]);
    }
}
