//! A kernel for benchmarks: one event stream, rendered before it is sent, as fast as the socket
//! takes it.

use std::io;
use std::sync::Arc;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::BulkStream;
use super::template::Rendered;
use crate::error::TestkitError;
use crate::http1::{RequestReader, head};
use crate::log::{LoggedRequest, RequestLog};
use crate::net::{ANY_PORT, Connected, Connections, Running, listen};
use crate::wire::{self, Ids, State};

/// How the stream is cut into writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteMode {
    /// One write an event, as a kernel that streams a live model.
    PerEvent,
    /// Writes of about that many bytes: as much as possible in a reader's buffer.
    Large(usize),
}

/// How the bulk server sends.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BulkConfig {
    /// How the stream is cut into writes (default: large writes of 64 KiB).
    pub write: WriteMode,
    /// Send only that many events and keep the stream open until the client leaves (default: all).
    pub stall_after: Option<usize>,
}

impl Default for BulkConfig {
    fn default() -> Self {
        Self { write: WriteMode::Large(64 << 10), stall_after: None }
    }
}

impl BulkConfig {
    /// Sets how the stream is cut into writes.
    #[must_use]
    pub const fn with_write(mut self, write: WriteMode) -> Self {
        self.write = write;
        self
    }

    /// Keeps every stream open after that many events.
    #[must_use]
    pub const fn with_stall_after(mut self, events: usize) -> Self {
        self.stall_after = Some(events);
        self
    }
}

/// Answers every `SendStreamingMessage` with the same stream, every `CancelTask` with a canceled
/// task, `GET /health` with 200, and everything else with an error.
///
/// Requests are not kept: a benchmark makes many.
#[derive(Debug)]
pub struct BulkServer {
    running: Running,
}

impl BulkServer {
    /// Starts on a free loopback port.
    ///
    /// # Errors
    /// [`TestkitError::Bind`].
    pub async fn start(stream: BulkStream, config: BulkConfig) -> Result<Self, TestkitError> {
        let stream = Arc::new(stream);
        let running = listen(ANY_PORT, 0, move |socket, connected, _: RequestLog| {
            let stream = Arc::clone(&stream);
            async move {
                // An error is a client that has left.
                let _ = connection(socket, &connected, &stream, config).await;
                drop(connected);
            }
        })
        .await?;
        Ok(Self { running })
    }

    /// `http://127.0.0.1:port`.
    #[must_use]
    pub fn url(&self) -> String {
        self.running.url()
    }

    /// Connections accepted and open.
    #[must_use]
    pub fn connections(&self) -> &Connections {
        &self.running.connections
    }

    /// Stops listening and closes every socket.
    pub async fn stop(self) {
        self.running.stop().await;
    }
}

async fn connection(
    socket: TcpStream,
    connected: &Connected,
    stream: &BulkStream,
    config: BulkConfig,
) -> io::Result<()> {
    let (input, mut output) = socket.into_split();
    let mut requests = RequestReader::new(input);
    while let Some(request) = requests.next(connected.number).await {
        if request.rpc_method() != Some("SendStreamingMessage") {
            output.write_all(&small(&request)).await?;
            continue;
        }
        let rendered = stream.render(&request, config.stall_after.unwrap_or(usize::MAX));
        let headers = [
            ("content-type", "text/event-stream; charset=utf-8"),
            ("cache-control", "no-store"),
            ("x-accel-buffering", "no"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let head = head(200, &headers, "transfer-encoding: chunked\r\n");
        output.write_all(head.as_bytes()).await?;
        write(&mut output, &rendered, config.write).await?;
        if config.stall_after.is_some() {
            requests.gone().await;
            return Ok(());
        }
        output.write_all(b"0\r\n\r\n").await?;
    }
    Ok(())
}

async fn write(
    output: &mut (impl tokio::io::AsyncWrite + Unpin),
    rendered: &Rendered,
    mode: WriteMode,
) -> io::Result<()> {
    let bytes = &rendered.bytes;
    let repeated = rendered.events.iter().any(|(_, times)| *times != 1);
    match mode {
        WriteMode::Large(size) if !repeated => {
            for block in bytes.chunks(size.max(1)) {
                output.write_all(block).await?;
            }
        }
        WriteMode::Large(size) => {
            let mut block = Vec::with_capacity(size);
            let mut from = 0;
            for (to, times) in &rendered.events {
                for _ in 0..*times {
                    block.extend_from_slice(&bytes[from..*to]);
                    if block.len() >= size {
                        output.write_all(&block).await?;
                        block.clear();
                    }
                }
                from = *to;
            }
            output.write_all(&block).await?;
        }
        WriteMode::PerEvent => {
            let mut from = 0;
            for (to, times) in &rendered.events {
                for _ in 0..*times {
                    output.write_all(&bytes[from..*to]).await?;
                }
                from = *to;
            }
        }
    }
    Ok(())
}

/// The answer to anything but a streamed message.
fn small(request: &LoggedRequest) -> Vec<u8> {
    let id = &request.json["id"];
    let (status, text) = match request.kind().as_str() {
        "CancelTask" => {
            let task_id = request.json["params"]["id"].as_str().unwrap_or_default();
            let task = wire::task(&Ids::new(task_id, "", ""), State::Canceled, None);
            (200, wire::reply(id, &task["task"]))
        }
        "GET /health" => {
            (200, json!({"status": "healthy", "version": "0.16.0", "mode": "normal"}).to_string())
        }
        _ if request.rpc_method().is_some() => {
            (200, wire::error_reply(id, -32001, "Task not found", &wire::error_info("TASK_NOT_FOUND")))
        }
        _ => (404, json!({"error": "Not Found"}).to_string()),
    };
    let headers = [("content-type".to_owned(), "application/json".to_owned())];
    let mut all = head(status, &headers, &format!("content-length: {}\r\n", text.len())).into_bytes();
    all.extend_from_slice(text.as_bytes());
    all
}
