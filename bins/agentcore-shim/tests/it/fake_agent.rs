//! An AG-UI server that says exactly what a test tells it to, well-formed or not.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

/// One step of every answer.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends one record. `{thread}` and `{run}` stand for the ids of the request.
    Event(&'static str),
    /// Sends a record that was made before.
    Record(String),
    /// Waits until the test releases it, or the caller goes.
    Hold,
    /// Ends without the end of the body.
    Cut,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: serde_json::Value,
}

/// The server; it ends when it is dropped.
pub(crate) struct FakeAgent {
    addr: SocketAddr,
    shared: Arc<Shared>,
    _task: AbortOnDropHandle<()>,
}

#[derive(Default)]
struct Shared {
    status: Option<(u16, &'static str)>,
    steps: Vec<Step>,
    seen: Mutex<Vec<Seen>>,
    release: Notify,
    /// Answers that go on.
    open: AtomicUsize,
}

impl FakeAgent {
    /// Answers every request with these steps.
    pub(crate) async fn start(steps: Vec<Step>) -> Self {
        Self::serve(Shared { steps, ..Shared::default() }).await
    }

    /// Refuses every request.
    pub(crate) async fn refusing(status: u16, body: &'static str) -> Self {
        Self::serve(Shared { status: Some((status, body)), ..Shared::default() }).await
    }

    async fn serve(shared: Shared) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let shared = Arc::new(shared);
        let task = {
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                loop {
                    let (socket, _) = listener.accept().await.unwrap();
                    let shared = Arc::clone(&shared);
                    tokio::spawn(async move {
                        shared.open.fetch_add(1, Ordering::SeqCst);
                        let _ = answer(socket, &shared).await;
                        shared.open.fetch_sub(1, Ordering::SeqCst);
                    });
                }
            })
        };
        Self { addr, shared, _task: AbortOnDropHandle::new(task) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/agent", self.addr)
    }

    pub(crate) fn requests(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    pub(crate) fn open(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }

    /// Lets one answer that holds go on.
    pub(crate) fn release(&self) {
        self.shared.release.notify_one();
    }
}

async fn answer(mut socket: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let seen = request(&mut socket).await?;
    let id = |name: &str| seen.body[name].as_str().unwrap_or_default().to_owned();
    let (thread, run) = (id("threadId"), id("runId"));
    shared.seen.lock().unwrap().push(seen);
    if let Some((status, body)) = shared.status {
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        return socket.write_all(answer.as_bytes()).await;
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    socket.write_all(head.as_bytes()).await?;
    for step in &shared.steps {
        match step {
            Step::Event(text) => {
                let text = text.replace("{thread}", &thread).replace("{run}", &run);
                chunk(&mut socket, &format!("data: {text}\n\n")).await?;
            }
            Step::Record(record) => chunk(&mut socket, record).await?,
            Step::Hold => {
                let mut byte = [0];
                tokio::select! {
                    () = shared.release.notified() => {}
                    // The caller sends nothing more: this is its end.
                    _ = socket.read(&mut byte) => return Ok(()),
                }
            }
            Step::Cut => return Ok(()),
        }
    }
    socket.write_all(b"0\r\n\r\n").await?;
    socket.shutdown().await
}

async fn chunk(socket: &mut TcpStream, text: &str) -> std::io::Result<()> {
    socket.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).await
}

async fn request(socket: &mut TcpStream) -> std::io::Result<Seen> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
                })
                .unwrap_or(0);
            if body.len() >= length {
                let body = serde_json::from_str(body).unwrap_or_default();
                return Ok(Seen { head: head.to_ascii_lowercase(), body });
            }
        }
        let read = socket.read_buf(&mut bytes).await?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}

pub(crate) const STARTED: Step =
    Step::Event(r#"{"type":"RUN_STARTED","threadId":"{thread}","runId":"{run}"}"#);
pub(crate) const FINISHED: Step =
    Step::Event(r#"{"type":"RUN_FINISHED","threadId":"{thread}","runId":"{run}"}"#);
pub(crate) const TEXT: [Step; 3] = [
    Step::Event(r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}"#),
    Step::Event(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hello"}"#),
    Step::Event(r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#),
];

/// A well-behaved answer.
pub(crate) fn hello() -> Vec<Step> {
    let [start, content, end] = TEXT;
    vec![STARTED, start, content, end, FINISHED]
}
