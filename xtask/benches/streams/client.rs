//! A client that reads a stream to its end and looks at the clock.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request,
    body::Incoming,
    client::conn::http1,
    header::{ACCEPT, CONTENT_TYPE, HOST},
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, task::JoinHandle};

/// An answer whose body is still to be read.
pub(crate) struct Open {
    started: Instant,
    body: Incoming,
    connection: JoinHandle<()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

/// Sends `body` and waits for the head of the answer.
pub(crate) async fn open(address: SocketAddr, body: Bytes) -> Result<Open> {
    let started = Instant::now();
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(async move { drop(connection.await) });
    let request = Request::post("/")
        .header(HOST, address.to_string())
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "text/event-stream")
        .body(Full::new(body))?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    if !status.is_success() {
        let text = response.into_body().collect().await?.to_bytes();
        anyhow::bail!("{status}: {}", String::from_utf8_lossy(&text));
    }
    Ok(Open { started, body: response.into_body(), connection })
}

impl Open {
    /// Since before the connection was opened.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Reads to the end without looking.
    pub(crate) async fn drain(&mut self) -> Result<()> {
        while let Some(frame) = self.body.frame().await {
            frame?;
        }
        Ok(())
    }

    /// The whole body.
    pub(crate) async fn read_whole(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        while let Some(frame) = self.body.frame().await {
            body.extend_from_slice(frame?.data_ref().context("a trailer")?);
        }
        Ok(body)
    }

    /// Reads until `marker` came, and tells how long that took.
    pub(crate) async fn read_until(&mut self, marker: &[u8]) -> Result<Duration> {
        let mut body = Vec::new();
        while !contains(&body, marker) {
            let frame = self.body.frame().await.context("the stream ended early")??;
            body.extend_from_slice(frame.data_ref().context("a trailer")?);
        }
        Ok(self.elapsed())
    }
}

fn contains(body: &[u8], marker: &[u8]) -> bool {
    body.windows(marker.len()).any(|window| window == marker)
}

/// How often `marker` is in `body`.
pub(crate) fn count(body: &[u8], marker: &[u8]) -> usize {
    body.windows(marker.len()).filter(|window| *window == marker).count()
}
