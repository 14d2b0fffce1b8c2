//! A WebSocket client.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::client::Response;
use tokio_tungstenite::tungstenite::{Error, http};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::stack::{PATIENCE, Shim, verify_texts};

pub(crate) struct Socket {
    stream: WebSocketStream<TcpStream>,
    pub(crate) answer: Response,
    /// Pings that came.
    pub(crate) pings: usize,
}

/// What came.
#[derive(Debug, PartialEq)]
pub(crate) enum Came {
    Text(String),
    Closed(Option<u16>),
}

impl Socket {
    pub(crate) async fn open(shim: &Shim) -> Self {
        Self::open_with(shim, "/ws", &[]).await.unwrap()
    }

    /// With headers; the error is how the upgrade was refused.
    pub(crate) async fn open_with(shim: &Shim, path: &str, headers: &[(&str, &str)]) -> Result<Self, Error> {
        let tcp = TcpStream::connect(("127.0.0.1", shim.port)).await.unwrap();
        let mut request = format!("ws://127.0.0.1:{}{path}", shim.port).into_client_request().unwrap();
        for (name, value) in headers {
            let name = http::HeaderName::from_bytes(name.as_bytes()).unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        let (stream, answer) = timeout(PATIENCE, client_async(request, tcp)).await.expect("an answer")?;
        Ok(Self { stream, answer, pings: 0 })
    }

    pub(crate) async fn send(&mut self, value: &Value) {
        self.stream.send(Message::text(value.to_string())).await.unwrap();
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.stream.send(Message::text(text)).await.unwrap();
    }

    pub(crate) async fn send_binary(&mut self, value: &Value) {
        self.stream.send(Message::binary(value.to_string())).await.unwrap();
    }

    /// The next text or the end.
    pub(crate) async fn next(&mut self) -> Came {
        loop {
            match timeout(PATIENCE, self.stream.next()).await.expect("something comes") {
                Some(Ok(Message::Text(text))) => return Came::Text(text.to_string()),
                Some(Ok(Message::Close(frame))) => return Came::Closed(frame.map(|frame| frame.code.into())),
                Some(Ok(Message::Ping(_))) => self.pings += 1,
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Came::Closed(None),
            }
        }
    }

    /// The next text.
    pub(crate) async fn text(&mut self) -> String {
        match self.next().await {
            Came::Text(text) => text,
            Came::Closed(code) => panic!("closed with {code:?}"),
        }
    }

    /// The next event.
    pub(crate) async fn event(&mut self) -> Value {
        let text = self.text().await;
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Reads up to and with the first event of a kind.
    pub(crate) async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let event = self.event().await;
            events.push(event);
            if events.last().is_some_and(|event| event["type"] == kind) {
                return events;
            }
        }
    }

    /// A run to its end; the stream has to be valid.
    pub(crate) async fn run(&mut self, input: &Value) -> Vec<Value> {
        self.send(input).await;
        self.rest_of_run().await
    }

    /// The events up to the end of a run, which have to be a valid stream.
    pub(crate) async fn rest_of_run(&mut self) -> Vec<Value> {
        let mut texts = Vec::new();
        loop {
            let text = self.text().await;
            let ended = text.contains("\"RUN_FINISHED\"") || text.contains("\"RUN_ERROR\"");
            texts.push(text);
            if ended {
                break;
            }
        }
        let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
        verify_texts(&borrowed);
        texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
    }

    /// Closes, and reads what still comes.
    pub(crate) async fn close(mut self) -> usize {
        let _ = self.stream.close(None).await;
        while timeout(Duration::from_secs(5), self.stream.next()).await.is_ok_and(|item| item.is_some()) {}
        self.pings
    }
}

/// How an upgrade was refused: status, headers, body.
pub(crate) fn refused(error: Error) -> (u16, http::HeaderMap, String) {
    let Error::Http(response) = error else { panic!("{error}") };
    let (head, body) = response.into_parts();
    let body = String::from_utf8_lossy(&body.unwrap_or_default()).into_owned();
    (head.status.as_u16(), head.headers, body)
}
