//! A server on a free loopback port, and the requests that most tests send.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use agui_core::Agent;
use agui_transport::{Activity, Server, ServerBuilder, Stopped};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::client::{Answer, Client, soon};

/// A running server; dropped, it is closed at once.
pub(crate) struct Rig {
    pub(crate) addr: SocketAddr,
    pub(crate) activity: Activity,
    pub(crate) shutdown: CancellationToken,
    serving: Option<JoinHandle<Stopped>>,
}

impl Rig {
    pub(crate) async fn start(agent: impl Agent) -> Self {
        Self::with(agent, |builder| builder).await
    }

    pub(crate) async fn with(
        agent: impl Agent,
        configure: impl FnOnce(ServerBuilder) -> ServerBuilder,
    ) -> Self {
        let builder = configure(Server::builder(Arc::new(agent)));
        let server = builder.bind((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
        let (addr, activity) = (server.local_addr(), server.activity());
        let shutdown = CancellationToken::new();
        let serving = tokio::spawn(server.serve(shutdown.clone()));
        Self { addr, activity, shutdown, serving: Some(serving) }
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::connect(self.addr).await
    }

    /// Sends one request on a new connection.
    pub(crate) async fn exchange(&self, request: impl AsRef<[u8]>) -> Answer {
        self.connect().await.exchange(request).await
    }

    pub(crate) async fn stopped(mut self) -> Stopped {
        let serving = self.serving.take().unwrap();
        soon(serving).await.unwrap()
    }

    /// Waits until nothing is connected any more.
    pub(crate) async fn deserted(&self) {
        eventually(|| self.activity.connections() == 0 && self.activity.streams() == 0).await;
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

/// Waits until `condition` holds; a test whose condition never does fails.
pub(crate) async fn eventually(condition: impl Fn() -> bool) {
    soon(async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

/// The smallest run input.
pub(crate) const INPUT: &str = r#"{"threadId":"t1","runId":"r1","messages":[]}"#;

/// A run request with `INPUT`.
pub(crate) fn run_request() -> String {
    post("/", INPUT)
}

/// A JSON request.
pub(crate) fn post(path: &str, body: &str) -> String {
    request(&format!("POST {path} HTTP/1.1"), &["Content-Type: application/json"], body)
}

/// A request with a `Host`, these headers, and the length of the body.
pub(crate) fn request(line: &str, headers: &[&str], body: &str) -> String {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!("{line}\r\nHost: localhost\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// The JSON error envelope.
pub(crate) fn envelope(code: &str, message: &str) -> String {
    format!(r#"{{"error":{{"code":"{code}","message":"{message}"}}}}"#)
}
