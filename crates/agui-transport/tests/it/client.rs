//! An HTTP/1.1 client that shows every byte.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A test that waits longer than this has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits for what has to come.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    timeout(PATIENCE, what).await.expect("what the test waits for has to come")
}

/// A connection and what was read from it but not yet looked at.
pub(crate) struct Client {
    pub(crate) socket: TcpStream,
    unread: Vec<u8>,
}

/// The head of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
}

/// An answer that was read in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) head: Head,
    pub(crate) body: String,
}

impl Head {
    /// All values of a header, joined.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let values: Vec<&str> = self
            .headers
            .iter()
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
            .collect();
        (!values.is_empty()).then(|| values.join(", "))
    }
}

impl Client {
    pub(crate) async fn connect(addr: SocketAddr) -> Self {
        let socket = soon(TcpStream::connect(addr)).await.unwrap();
        Self { socket, unread: Vec::new() }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        soon(self.socket.write_all(bytes.as_ref())).await.unwrap();
    }

    /// Reads the head of the next answer.
    pub(crate) async fn head(&mut self) -> Head {
        let end = loop {
            if let Some(at) = find(&self.unread, b"\r\n\r\n") {
                break at;
            }
            assert!(self.fill().await, "closed inside a head: {:?}", String::from_utf8_lossy(&self.unread));
        };
        let text = String::from_utf8(self.unread.drain(..end + 4).collect()).unwrap();
        let mut lines = text.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .map(|line| line.split_once(": ").map(|(name, value)| (name.into(), value.into())).unwrap())
            .collect();
        Head { status, headers }
    }

    /// Reads the next answer in full.
    pub(crate) async fn answer(&mut self) -> Answer {
        let head = self.head().await;
        let body = if let Some(length) = head.header("content-length") {
            self.exactly(length.parse().unwrap()).await
        } else if head.header("transfer-encoding").is_some() {
            let mut body = Vec::new();
            while let Some(chunk) = self.chunk().await {
                body.extend(chunk);
            }
            body
        } else if head.status == 204 {
            Vec::new()
        } else {
            self.rest().await
        };
        Answer { head, body: String::from_utf8(body).unwrap() }
    }

    /// Sends a request and reads its answer.
    pub(crate) async fn exchange(&mut self, request: impl AsRef<[u8]>) -> Answer {
        self.send(request).await;
        self.answer().await
    }

    /// The next chunk of a chunked body; `None` after the last.
    pub(crate) async fn chunk(&mut self) -> Option<Vec<u8>> {
        let end = loop {
            if let Some(at) = find(&self.unread, b"\r\n") {
                break at;
            }
            assert!(self.fill().await, "closed before the next chunk");
        };
        let size = String::from_utf8(self.unread.drain(..end + 2).collect()).unwrap();
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        let mut data = self.exactly(size + 2).await;
        data.truncate(size);
        (size > 0).then_some(data)
    }

    /// Reads until `text` has appeared and returns everything up to its end.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        soon(async {
            loop {
                if let Some(at) = find(&self.unread, text.as_bytes()) {
                    return String::from_utf8(self.unread.drain(..at + text.len()).collect()).unwrap();
                }
                assert!(
                    self.fill().await,
                    "closed before {text:?}: {:?}",
                    String::from_utf8_lossy(&self.unread)
                );
            }
        })
        .await
    }

    /// Reads to the end of the connection.
    pub(crate) async fn rest(&mut self) -> Vec<u8> {
        soon(async { while self.fill().await {} }).await;
        std::mem::take(&mut self.unread)
    }

    /// Waits until the server has ended the connection, in whatever way.
    pub(crate) async fn closed(&mut self) {
        let mut space = [0; 4096];
        soon(async { while matches!(self.socket.read(&mut space).await, Ok(size) if size > 0) {} }).await;
    }

    async fn exactly(&mut self, size: usize) -> Vec<u8> {
        while self.unread.len() < size {
            assert!(self.fill().await, "closed inside a body");
        }
        self.unread.drain(..size).collect()
    }

    async fn fill(&mut self) -> bool {
        soon(self.socket.read_buf(&mut self.unread)).await.unwrap() > 0
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
