//! A client that does nothing but read, so that it is not what is measured.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Room of one read in bytes.
const READ_BYTES: usize = 256 * 1024;
/// End of a chunked body. No record ends so: a JSON text has a brace before its line break.
const BODY_END: &[u8] = b"\r\n0\r\n\r\n";
const GOOD: &[u8] = b"HTTP/1.1 200 ";

/// An answer that is still to be read.
pub(crate) struct Open {
    started: Instant,
    stream: TcpStream,
    /// What was read last, or everything since the head where all is kept.
    buffer: Vec<u8>,
}

/// Connects and sends `body`.
pub(crate) async fn open(address: SocketAddr, body: Bytes) -> Result<Open> {
    let started = Instant::now();
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let head = format!(
        "POST / HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: text/event-stream\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), &body].concat()).await?;
    Ok(Open { started, stream, buffer: Vec::with_capacity(READ_BYTES) })
}

impl Open {
    /// Since before the connection was opened.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Reads until `marker` came, and tells how long that took.
    pub(crate) async fn read_until(&mut self, marker: &[u8]) -> Result<Duration> {
        while !contains(&self.buffer, marker) {
            if self.at_end() || self.stream.read_buf(&mut self.buffer).await? == 0 {
                anyhow::bail!("the stream ended early: {}", String::from_utf8_lossy(&self.buffer));
            }
        }
        anyhow::ensure!(self.buffer.starts_with(GOOD), "{}", String::from_utf8_lossy(&self.buffer));
        Ok(self.elapsed())
    }

    /// Reads to the end and keeps nothing but the last bytes.
    ///
    /// The memory is the same all the time: fresh pages would cost more than what is measured.
    pub(crate) async fn drain(&mut self) -> Result<()> {
        self.buffer.reserve(READ_BYTES);
        while !self.at_end() {
            let kept = self.buffer.len().saturating_sub(BODY_END.len());
            self.buffer.copy_within(kept.., 0);
            self.buffer.truncate(BODY_END.len());
            anyhow::ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the body is cut");
        }
        Ok(())
    }

    /// The body of the whole answer.
    pub(crate) async fn read_whole(mut self) -> Result<Vec<u8>> {
        while !self.at_end() {
            self.buffer.reserve(READ_BYTES);
            anyhow::ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the body is cut");
        }
        unchunked(&self.buffer)
    }

    fn at_end(&self) -> bool {
        self.buffer.ends_with(BODY_END)
    }
}

fn contains(body: &[u8], marker: &[u8]) -> bool {
    body.windows(marker.len()).any(|window| window == marker)
}

/// The body of a chunked answer. A proxy cuts chunks where its buffer ends, in the middle of a word.
fn unchunked(answer: &[u8]) -> Result<Vec<u8>> {
    let (_, mut rest) = split(answer, b"\r\n\r\n").context("no end of the head")?;
    let mut body = Vec::with_capacity(rest.len());
    while let Some((size, after)) = split(rest, b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(size)?, 16)?;
        let (chunk, after) = after.split_at_checked(size).context("a chunk is cut")?;
        body.extend_from_slice(chunk);
        rest = after.strip_prefix(b"\r\n").context("no end of a chunk")?;
    }
    Ok(body)
}

fn split<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = bytes.windows(mark.len()).position(|window| window == mark)?;
    Some((&bytes[..at], &bytes[at + mark.len()..]))
}

/// How often `marker` is in `body`.
pub(crate) fn count(body: &[u8], marker: &[u8]) -> usize {
    body.windows(marker.len()).filter(|window| *window == marker).count()
}
