//! The agent behind the shim: it writes what it is asked for as fast as it is read.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context, Result};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// One delta, byte for byte what the official encoder writes.
const DELTA: &str =
    "data: {\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m-1\",\"delta\":\"0123456\"}\n\n";
/// Deltas of one chunk of the answer.
const CHUNK_DELTAS: usize = 800;
/// Between two chunks, where a pace is asked for: 20,000 deltas a second, which is the best that the official app
/// does.
const PACE: Duration = Duration::from_millis(40);
/// How much of both ends of a body is looked at.
const END_BYTES: usize = 2 * 1024;

/// Serves until the runtime ends; gives the address.
pub(crate) async fn serve() -> Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Whoever leaves early is of no interest.
            tokio::spawn(async move { drop(answer(stream).await) });
        }
    });
    Ok(address)
}

async fn answer(mut stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut request = Vec::new();
    let head = loop {
        anyhow::ensure!(stream.read_buf(&mut request).await? > 0, "no request");
        if let Some(at) = request.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let length = content_length(&request[..head])?;
    while request.len() < head + length {
        anyhow::ensure!(stream.read_buf(&mut request).await? > 0, "half a request");
    }
    let input = Ends::of(&request[head..]);
    let wish = input.text_of("content").context("no message")?;
    let deltas: usize = wish.split(' ').nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
    let (thread, run) = (input.text_of("threadId"), input.text_of("runId"));
    let (thread, run) = thread.zip(run).context("no ids")?;
    let ids = format!("\"threadId\":\"{thread}\",\"runId\":\"{run}\"");
    let pause = if wish.starts_with("paced") { PACE } else { Duration::ZERO };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let opening = format!(
        "data: {{\"type\":\"RUN_STARTED\",{ids}}}\n\n\
         data: {{\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m-1\",\"role\":\"assistant\"}}\n\n"
    );
    write_chunk(&mut stream, &opening).await?;
    let many = DELTA.repeat(CHUNK_DELTAS);
    for _ in 0..deltas / CHUNK_DELTAS {
        write_chunk(&mut stream, &many).await?;
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
    }
    let closing = format!(
        "{}data: {{\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m-1\"}}\n\ndata: {{\"type\":\"RUN_FINISHED\",{ids}}}\n\n",
        DELTA.repeat(deltas % CHUNK_DELTAS)
    );
    write_chunk(&mut stream, &closing).await?;
    stream.write_all(b"0\r\n\r\n").await?;
    Ok(())
}

/// Both ends of a body: what is asked for stands there, so that a large one costs this agent nothing.
struct Ends(String);

impl Ends {
    fn of(body: &[u8]) -> Self {
        let first = &body[..body.len().min(END_BYTES)];
        let last = &body[body.len().saturating_sub(END_BYTES)..];
        Self(String::from_utf8_lossy(&[first, last].concat()).into_owned())
    }

    /// The text of a member, which has no escapes in this bench.
    fn text_of(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.0.split_once(&format!("\"{name}\":\""))?;
        rest.split('"').next()
    }
}

async fn write_chunk(stream: &mut TcpStream, text: &str) -> Result<()> {
    stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).await?;
    Ok(())
}

fn content_length(head: &[u8]) -> Result<usize> {
    let head = std::str::from_utf8(head)?.to_ascii_lowercase();
    let line = head.lines().find_map(|line| line.strip_prefix("content-length:")).context("no length")?;
    Ok(line.trim().parse()?)
}
