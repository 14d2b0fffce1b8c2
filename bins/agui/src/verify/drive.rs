//! A stream from an agent, with what HTTP tells about it.

use std::time::Duration;

use agui_client::{ClientError, HttpAgent};
use agui_core::RunAgentInput;
use anyhow::{Result, bail};
use http::header::CONTENT_TYPE;
use tokio::time::timeout;

use super::finding::Finding;
use super::rules::Rule;
use super::source::{self, Stream};

/// How long a body may stay open behind the terminal event, 5 s.
const AFTER_END: Duration = Duration::from_secs(5);

/// Longest body that is judged, 256 MiB: it is held in memory.
const MAX_BODY_BYTES: usize = 256 * 1024 * 1024;

/// Makes a run and reads its stream.
pub(super) async fn stream(agent: &HttpAgent, input: RunAgentInput) -> Result<Stream> {
    let mut answer = agent.open(input).await?;
    if !(200..300).contains(&answer.status()) {
        bail!("the agent refuses the run with status {}", answer.status());
    }
    let media_type =
        answer.headers().get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let mut findings = Vec::new();
    let essence = media_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("text/event-stream") {
        let what = media_type
            .as_deref()
            .map_or_else(|| "the answer has no type".to_owned(), |found| format!("the answer is {found}"));
        findings.push(Finding::new(Rule::ContentType, what));
    }
    let mut body = Vec::new();
    let ending = loop {
        let patience = if has_ended(&body) { AFTER_END } else { Duration::MAX };
        match timeout(patience, answer.chunk()).await {
            Err(_) => {
                break Some(Finding::new(Rule::LeftOpen, "the body is open 5 s after the terminal event"));
            }
            Ok(None) => break None,
            Ok(Some(Ok(chunk))) => body.extend_from_slice(&chunk),
            Ok(Some(Err(ClientError::Idle { silent_ms }))) => {
                break Some(Finding::new(Rule::CutConnection, format!("nothing came for {silent_ms} ms")));
            }
            Ok(Some(Err(_))) => break Some(Finding::new(Rule::CutConnection, "the connection broke")),
        }
        if body.len() > MAX_BODY_BYTES {
            bail!("the stream is longer than {MAX_BODY_BYTES} bytes");
        }
    };
    let mut stream = match source::read(&body).into_iter().next() {
        // What is no event stream by its type may still be one of lines.
        Some(stream) if !findings.is_empty() => stream,
        _ => source::sse(&String::from_utf8_lossy(body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&body))),
    };
    if std::str::from_utf8(&body).is_err()
        && stream.findings.iter().all(|finding| finding.rule != Rule::Encoding)
    {
        findings.push(Finding::new(Rule::Encoding, "the stream is not UTF-8"));
    }
    findings.extend(ending);
    stream.findings.append(&mut findings);
    Ok(stream)
}

/// Whether the last whole record is a terminal event.
fn has_ended(body: &[u8]) -> bool {
    const TAIL_BYTES: usize = 64 * 1024;
    let tail = &body[body.len().saturating_sub(TAIL_BYTES)..];
    let tail = String::from_utf8_lossy(tail);
    let records = tail.split("\n\n").filter(|record| record.lines().any(|line| line.starts_with("data:")));
    let terminal = |record: &str| record.contains("\"RUN_FINISHED\"") || record.contains("\"RUN_ERROR\"");
    tail.ends_with('\n') && records.last().is_some_and(terminal)
}
