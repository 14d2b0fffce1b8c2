//! A peer that does exactly what a test says, one script a connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a2a_client::{Client, ClientConfig, Datum, UpdateStream};
use a2a_wire::{OutgoingMessage, OutgoingPart, SendMessage, StreamItem};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub(crate) const STREAM_HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
    cache-control: no-store\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n";

/// A listening peer; it stops when it is dropped.
pub(crate) struct Peer {
    pub(crate) url: String,
    connections: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Peer {
    /// Runs `script` for every connection, with its number from 0.
    pub(crate) async fn start<F, S>(script: F) -> Self
    where
        F: Fn(usize, Connection) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        let accepting = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let number = counter.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(script(number, Connection { socket }));
            }
        });
        Self { url, connections, accepting }
    }

    /// A peer that answers every request with the same bytes and closes.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Arc<[u8]> = answer.into().into();
        Self::start(move |_, mut connection| {
            let answer = Arc::clone(&answer);
            async move {
                connection.read_request().await;
                connection.write(&answer).await;
            }
        })
        .await
    }

    /// A peer whose every answer is a stream of `records`, each in a chunk of its own.
    pub(crate) async fn streaming(records: Vec<Vec<u8>>) -> Self {
        let records: Arc<[Vec<u8>]> = records.into();
        Self::start(move |_, mut connection| {
            let records = Arc::clone(&records);
            async move {
                connection.read_request().await;
                connection.open_stream().await;
                for record in records.iter() {
                    connection.chunk(record).await;
                }
                connection.end_stream().await;
            }
        })
        .await
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.config()).unwrap()
    }

    pub(crate) fn config(&self) -> ClientConfig {
        ClientConfig::new(&self.url)
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// The peer's side of one connection.
pub(crate) struct Connection {
    socket: TcpStream,
}

impl Connection {
    /// Head and body of one request; empty if the client goes away first.
    pub(crate) async fn read_request(&mut self) -> String {
        let mut bytes = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&bytes);
            if let Some((head, body)) = text.split_once("\r\n\r\n")
                && body.len() >= content_length(head)
            {
                return text.into_owned();
            }
            if self.socket.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return String::new();
            }
        }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        // The client may be gone; what it saw is what the test looks at.
        let _ = self.socket.write_all(bytes).await;
    }

    pub(crate) async fn open_stream(&mut self) {
        self.write(STREAM_HEAD.as_bytes()).await;
    }

    pub(crate) async fn chunk(&mut self, bytes: &[u8]) {
        self.write(format!("{:x}\r\n", bytes.len()).as_bytes()).await;
        self.write(bytes).await;
        self.write(b"\r\n").await;
    }

    pub(crate) async fn end_stream(&mut self) {
        self.write(b"0\r\n\r\n").await;
    }

    /// Returns when the client has closed the connection.
    pub(crate) async fn closed(&mut self) {
        let mut sink = [0; 1024];
        while self.socket.read(&mut sink).await.is_ok_and(|length| length > 0) {}
    }

    pub(crate) fn reset(self) {
        self.socket.set_zero_linger().unwrap();
    }
}

fn content_length(head: &str) -> usize {
    let value = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    value.unwrap_or(0)
}

pub(crate) fn json_answer(body: &str) -> Vec<u8> {
    answer("200 OK", "content-type: application/json\r\n", body)
}

pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

pub(crate) fn message() -> SendMessage {
    SendMessage::new(OutgoingMessage::new("m-1", vec![OutgoingPart::text("hi")]))
}

/// A status datum that says `text`, as the kernel frames it.
pub(crate) fn status(text: &str) -> Vec<u8> {
    format!("data: {}\r\n\r\n", status_json(text)).into_bytes()
}

pub(crate) fn status_json(text: &str) -> String {
    format!(
        r#"{{"result":{{"statusUpdate":{{"taskId":"T1","contextId":"C1","status":{{"state":"TASK_STATE_WORKING","message":{{"messageId":"T1-message","role":"ROLE_AGENT","parts":[{{"text":"{text}"}}]}}}}}}}},"id":"1","jsonrpc":"2.0"}}"#
    )
}

/// What a datum says, in one word.
pub(crate) fn said(datum: &Datum) -> String {
    match datum.item() {
        Ok(StreamItem::StatusUpdate(update)) => update.status.message.unwrap_or_default().texts().collect(),
        Ok(StreamItem::Task(task)) => format!("task {} {}", task.id, task.status.state),
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

/// Everything a stream gives: what each datum says, then how it ends.
pub(crate) async fn drain(stream: &mut UpdateStream) -> (Vec<String>, String) {
    let mut seen = Vec::new();
    loop {
        match stream.next().await {
            Some(Ok(datum)) => seen.push(said(&datum)),
            Some(Err(error)) => return (seen, error.to_string()),
            None => return (seen, "end".to_owned()),
        }
    }
}

/// Long enough for a loaded machine, short enough to notice a hang.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work).await.unwrap()
}
