//! As much of HTTP/1.1 as is needed to read a request and to misuse a response.

use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::log::LoggedRequest;

/// Largest request head, in bytes; ours have a few hundred.
const MAX_HEAD_BYTES: usize = 1 << 20;

/// Reads requests from one connection and keeps what came too early.
#[derive(Debug)]
pub(crate) struct RequestReader<R> {
    input: R,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> RequestReader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new() }
    }

    /// The next request; `None` when the peer has closed or does not speak HTTP.
    pub(crate) async fn next(&mut self, connection: u64) -> Option<LoggedRequest> {
        let head = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                let head = self.take(end + 4);
                break String::from_utf8_lossy(&head[..end]).into_owned();
            }
            if self.buffer.len() > MAX_HEAD_BYTES || !self.fill().await {
                return None;
            }
        };
        let mut lines = head.split("\r\n");
        let mut request_line = lines.next()?.split(' ');
        let (method, target) = (request_line.next()?.to_owned(), request_line.next()?.to_owned());
        let split = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        };
        let headers: Vec<(String, String)> = lines.filter_map(split).collect();
        let value = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let body = if value("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            self.chunks().await?
        } else {
            self.exactly(value("content-length").map_or(Some(0), |text| text.parse().ok())?).await?
        };
        Some(LoggedRequest::new(connection, method, target, headers, body.into()))
    }

    /// Ends when the peer has closed its side; bytes that come meanwhile are kept.
    pub(crate) async fn gone(&mut self) {
        while self.fill().await {}
    }

    async fn fill(&mut self) -> bool {
        matches!(self.input.read_buf(&mut self.buffer).await, Ok(1..))
    }

    fn take(&mut self, count: usize) -> Vec<u8> {
        let rest = self.buffer.split_off(count);
        std::mem::replace(&mut self.buffer, rest)
    }

    async fn exactly(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.buffer.len() < count {
            if !self.fill().await {
                return None;
            }
        }
        Some(self.take(count))
    }

    async fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n") {
                let line = self.take(end + 2);
                return Some(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            if !self.fill().await {
                return None;
            }
        }
    }

    async fn chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line().await?;
            let size = usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()?;
            if size == 0 {
                while !self.line().await?.is_empty() {}
                return Some(body);
            }
            body.extend(self.exactly(size).await?);
            self.exactly(2).await?;
        }
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

/// The first lines of a response.
pub(crate) fn head(status: u16, headers: &[(String, String)], framing: &str) -> String {
    let reason =
        http::StatusCode::from_u16(status).ok().and_then(|s| s.canonical_reason()).unwrap_or("Status");
    let mut head = format!("HTTP/1.1 {status} {reason}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(framing);
    head.push_str("\r\n");
    head
}
