//! Clients with bad manners: they leave at awkward moments or hardly read.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use super::authority;
use crate::error::TestkitError;

/// How a raw connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hangup {
    /// An orderly close.
    Fin,
    /// A reset: the peer sees an error, and what it still wants to send is thrown away.
    Rst,
}

/// A TCP connection on which a test writes and reads bytes itself.
#[derive(Debug)]
pub struct RawConnection {
    socket: TcpStream,
    authority: String,
}

impl RawConnection {
    /// Connects to `http://host:port`.
    ///
    /// # Errors
    /// A bad URL or a refused connection.
    pub async fn connect(url: &str) -> Result<Self, TestkitError> {
        let authority = authority(url)?.to_owned();
        let socket = TcpStream::connect(&authority).await?;
        socket.set_nodelay(true)?;
        Ok(Self { socket, authority })
    }

    /// Connects with a receive buffer of about `bytes`: the peer soon has to wait when nothing is read.
    ///
    /// # Errors
    /// A bad URL or a refused connection.
    pub async fn connect_with_buffer(url: &str, bytes: u32) -> Result<Self, TestkitError> {
        let authority = authority(url)?.to_owned();
        let addr = tokio::net::lookup_host(&authority).await?.next().ok_or(TestkitError::Url)?;
        let socket = if addr.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_recv_buffer_size(bytes)?;
        Ok(Self { socket: socket.connect(addr).await?, authority })
    }

    /// Sends a `POST` with a JSON body.
    ///
    /// # Errors
    /// The connection failed.
    pub async fn post(&mut self, path: &str, body: &Value) -> Result<(), TestkitError> {
        let body = body.to_string();
        let authority = &self.authority;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {authority}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        self.write(format!("{head}{body}").as_bytes()).await
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    /// The connection failed.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), TestkitError> {
        Ok(self.socket.write_all(bytes).await?)
    }

    /// Reads what is there, at most `limit` bytes; empty at the end of the stream.
    ///
    /// # Errors
    /// The connection failed.
    pub async fn read(&mut self, limit: usize) -> Result<Vec<u8>, TestkitError> {
        let mut bytes = vec![0; limit];
        let read = self.socket.read(&mut bytes).await?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Reads until `needle` has come `count` times or the peer closes; gives all that came.
    ///
    /// # Errors
    /// The connection failed.
    pub async fn read_until(&mut self, needle: &str, count: usize) -> Result<Vec<u8>, TestkitError> {
        let mut all = Vec::new();
        while String::from_utf8_lossy(&all).matches(needle).count() < count {
            let more = self.read(4096).await?;
            if more.is_empty() {
                break;
            }
            all.extend(more);
        }
        Ok(all)
    }

    /// Reads to the end, at most `bytes` every `pause`; gives all that came.
    ///
    /// # Errors
    /// The connection failed.
    pub async fn read_slowly(&mut self, bytes: usize, pause: Duration) -> Result<Vec<u8>, TestkitError> {
        let mut all = Vec::new();
        loop {
            let more = self.read(bytes).await?;
            if more.is_empty() {
                return Ok(all);
            }
            all.extend(more);
            tokio::time::sleep(pause).await;
        }
    }

    /// Closes the sending side only, as a client that is done with its request.
    ///
    /// # Errors
    /// The connection failed.
    pub async fn half_close(&mut self) -> Result<(), TestkitError> {
        Ok(self.socket.shutdown().await?)
    }

    /// Closes the connection.
    ///
    /// # Errors
    /// The connection failed.
    pub fn hang_up(self, how: Hangup) -> Result<(), TestkitError> {
        if how == Hangup::Rst {
            self.socket.set_zero_linger()?;
        }
        drop(self.socket);
        Ok(())
    }
}

/// Sends a request and leaves before any byte of the answer is read.
///
/// # Errors
/// The connection failed.
pub async fn leave_before_headers(
    url: &str,
    path: &str,
    body: &Value,
    how: Hangup,
) -> Result<(), TestkitError> {
    let mut connection = RawConnection::connect(url).await?;
    connection.post(path, body).await?;
    connection.hang_up(how)
}

/// Sends a request and leaves after `events` records of the answer; gives what came.
///
/// # Errors
/// The connection failed.
pub async fn leave_after_events(
    url: &str,
    path: &str,
    body: &Value,
    events: usize,
    how: Hangup,
) -> Result<Vec<u8>, TestkitError> {
    let mut connection = RawConnection::connect(url).await?;
    connection.post(path, body).await?;
    let came = connection.read_until("data:", events).await?;
    connection.hang_up(how)?;
    Ok(came)
}
