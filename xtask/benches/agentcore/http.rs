//! A client of `/ping` and `/invocations` that does nothing but read.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use bytes::Bytes;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Room of one read in bytes.
const READ_BYTES: usize = 256 * 1024;
/// End of a chunked body. No record ends so: a JSON text has a brace before its line break.
const BODY_END: &[u8] = b"\r\n0\r\n\r\n";

/// Asks for `/ping`; gives the status.
pub(crate) async fn ping(address: SocketAddr) -> Result<u16> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /ping HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    status(&answer)
}

/// The request for a run with this many deltas; `run` must be new for each one.
pub(crate) fn run_input(wish: &str, deltas: usize, run: &str) -> Bytes {
    let input = json!({
        "threadId": "bench", "runId": run, "protocolVersion": "1.0",
        "messages": [{ "id": "m", "role": "user", "content": format!("{wish} {deltas}") }],
        "state": {}, "tools": [], "context": [], "forwardedProps": {},
    });
    input.to_string().into()
}

/// Sends a run and reads its answer to the end; gives its bytes.
pub(crate) async fn invoke(address: SocketAddr, body: &[u8]) -> Result<usize> {
    let mut stream = send(address, body).await?;
    let mut buffer = Vec::with_capacity(READ_BYTES);
    let mut bytes = 0;
    let mut is_good = false;
    while !buffer.ends_with(BODY_END) {
        // The memory is the same all the time: fresh pages would cost more than what is measured.
        let kept = buffer.len().saturating_sub(BODY_END.len());
        buffer.copy_within(kept.., 0);
        buffer.truncate(BODY_END.len());
        let read = stream.read_buf(&mut buffer).await?;
        anyhow::ensure!(read > 0, "the answer is cut");
        if !is_good {
            anyhow::ensure!(status(&buffer)? == 200, "{}", String::from_utf8_lossy(&buffer));
            is_good = true;
        }
        bytes += read;
    }
    Ok(bytes)
}

/// Sends a run and reads its whole answer.
pub(crate) async fn read_whole(address: SocketAddr, body: &[u8]) -> Result<Vec<u8>> {
    let mut stream = send(address, body).await?;
    let mut answer = Vec::with_capacity(READ_BYTES);
    while !answer.ends_with(BODY_END) {
        anyhow::ensure!(stream.read_buf(&mut answer).await? > 0, "the answer is cut");
    }
    Ok(answer)
}

/// Sends a body that may be refused while it is sent; gives the status.
pub(crate) async fn offer(address: SocketAddr, body: &[u8]) -> Result<u16> {
    let stream = TcpStream::connect(address).await?;
    let (mut reading, mut writing) = stream.into_split();
    let request = [head(address, body.len()).as_bytes(), body].concat();
    // A refusal comes before the body was sent, and then the connection is closed.
    let sending = tokio::spawn(async move { writing.write_all(&request).await.map(|()| writing) });
    let mut answer = Vec::new();
    while !answer.windows(4).any(|window| window == b"\r\n\r\n") {
        anyhow::ensure!(reading.read_buf(&mut answer).await? > 0, "no answer");
    }
    sending.abort();
    status(&answer)
}

async fn send(address: SocketAddr, body: &[u8]) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    stream.write_all(&[head(address, body.len()).as_bytes(), body].concat()).await?;
    Ok(stream)
}

fn head(address: SocketAddr, length: usize) -> String {
    format!(
        "POST /invocations HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         accept: text/event-stream\r\ncontent-length: {length}\r\n\r\n"
    )
}

fn status(answer: &[u8]) -> Result<u16> {
    let word = answer.split(|byte| *byte == b' ').nth(1).context("no status")?;
    Ok(std::str::from_utf8(word)?.parse()?)
}
