//! A small HTTP client for tests: plain requests, event streams with timing, and rude raw variants.

use std::fmt;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;

use crate::error::TestkitError;

pub mod a2a;
mod events;
pub mod input;
pub mod raw;

pub use events::{Comment, EventStream, Received, Recording, StreamEnd};

/// A client of one server; every request gets a connection of its own.
#[derive(Clone)]
pub struct TestClient {
    authority: String,
    headers: Vec<(String, String)>,
}

impl fmt::Debug for TestClient {
    /// The headers may hold a token and are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestClient").field("authority", &self.authority).finish_non_exhaustive()
    }
}

impl TestClient {
    /// A client of `http://host:port`, which sends `Content-Type: application/json` with a body.
    ///
    /// # Errors
    /// [`TestkitError::Url`] for anything else.
    pub fn new(url: &str) -> Result<Self, TestkitError> {
        Ok(Self { authority: authority(url)?.to_owned(), headers: Vec::new() })
    }

    /// Adds a header to every request.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds `Authorization: Bearer <token>` to every request.
    #[must_use]
    pub fn with_token(self, token: &str) -> Self {
        self.with_header("authorization", &format!("Bearer {token}"))
    }

    /// `GET` of a path.
    ///
    /// # Errors
    /// A failed connection or exchange.
    pub async fn get(&self, path: &str) -> Result<TestResponse, TestkitError> {
        self.send(Method::GET, path, None).await
    }

    /// `POST` of a JSON value.
    ///
    /// # Errors
    /// A failed connection or exchange.
    pub async fn post(&self, path: &str, body: &Value) -> Result<TestResponse, TestkitError> {
        self.send(Method::POST, path, Some(Bytes::from(body.to_string()))).await
    }

    /// Any request; the response head has arrived when it returns.
    ///
    /// # Errors
    /// A failed connection or exchange.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<TestResponse, TestkitError> {
        let started = Instant::now();
        let socket = TcpStream::connect(&self.authority).await?;
        socket.set_nodelay(true)?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(socket)).await?;
        let connection = AbortOnDropHandle::new(tokio::spawn(async move {
            // The error of a cut connection arrives through the body as well.
            let _ = connection.await;
        }));
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, &self.authority);
        let typed = self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if body.is_some() && !typed {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let response = sender.send_request(request.body(Full::new(body.unwrap_or_default()))?).await?;
        let (head, body) = response.into_parts();
        let headers = head.headers.iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let (status, headers) = (head.status.as_u16(), headers.collect());
        Ok(TestResponse { status, headers, started, body, connection })
    }
}

/// A response whose body has not been read yet; dropping it closes the connection.
#[derive(Debug)]
#[non_exhaustive]
pub struct TestResponse {
    /// HTTP status.
    pub status: u16,
    /// Header names (lower case) and values.
    pub headers: Vec<(String, String)>,
    started: Instant,
    body: Incoming,
    connection: AbortOnDropHandle<()>,
}

impl TestResponse {
    /// The first header of that name (lower case).
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether the body is an event stream.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.header("content-type").is_some_and(|value| value.starts_with("text/event-stream"))
    }

    /// The whole body.
    ///
    /// # Errors
    /// The body was cut short.
    pub async fn bytes(self) -> Result<Bytes, TestkitError> {
        let connection = self.connection;
        let body = self.body.collect().await?.to_bytes();
        drop(connection);
        Ok(body)
    }

    /// The whole body as JSON.
    ///
    /// # Errors
    /// The body was cut short, or it is not JSON.
    pub async fn json(self) -> Result<Value, TestkitError> {
        Ok(serde_json::from_slice(&self.bytes().await?)?)
    }

    /// The body as a stream of events.
    #[must_use]
    pub fn events(self) -> EventStream {
        EventStream::new(self.status, self.headers, self.started, self.body, self.connection)
    }

    /// Time from before the connection was made until now.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// `host:port` of an `http://` URL.
pub(crate) fn authority(url: &str) -> Result<&str, TestkitError> {
    let rest = url.strip_prefix("http://").ok_or(TestkitError::Url)?;
    let authority = rest.split_once('/').map_or(rest, |(authority, _)| authority);
    authority.rsplit_once(':').map(|_| authority).ok_or(TestkitError::Url)
}
