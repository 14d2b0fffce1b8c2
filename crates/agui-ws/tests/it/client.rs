//! The client of the tests, over a connection in memory.

use std::sync::Arc;

use agui_core::Agent;
use agui_ws::{WsConfig, WsContext, WsEnd, serve};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// Serves the other end of a connection that holds `buffered` bytes on their way.
pub(crate) async fn connect_with(
    agent: Arc<dyn Agent>,
    config: WsConfig,
    context: WsContext,
    buffered: usize,
) -> (Client<DuplexStream>, JoinHandle<WsEnd>) {
    let (near, far) = duplex(buffered);
    let served = tokio::spawn(async move { serve(far, agent, &config, context).await });
    // The client accepts no frame that the edge would not let through.
    let strict = WebSocketConfig::default().max_frame_size(Some(config.max_frame_bytes));
    (Client(WebSocketStream::from_raw_socket(near, Role::Client, Some(strict)).await), served)
}

pub(crate) async fn connect(agent: Arc<dyn Agent>) -> (Client<DuplexStream>, JoinHandle<WsEnd>) {
    connect_with(agent, WsConfig::new(), WsContext::new(), 1 << 20).await
}

pub(crate) struct Client<Io>(pub(crate) WebSocketStream<Io>);

impl<Io: AsyncRead + AsyncWrite + Unpin> Client<Io> {
    pub(crate) async fn send(&mut self, text: impl Into<String>) {
        self.0.send(Message::text(text.into())).await.unwrap();
    }

    pub(crate) async fn ask(&mut self, thread: &str, run: &str) {
        self.send(input(thread, run)).await;
    }

    /// The next message that is no ping: a text, `CLOSE`, `CLOSE code reason`, or `END` after the last.
    pub(crate) async fn next(&mut self) -> String {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Text(text))) => return text.to_string(),
                Some(Ok(Message::Ping(_))) => {}
                Some(Ok(Message::Close(Some(frame)))) => {
                    return format!("CLOSE {} {}", u16::from(frame.code), frame.reason);
                }
                Some(Ok(Message::Close(None))) => return "CLOSE".to_owned(),
                None => return "END".to_owned(),
                other => panic!("{other:?}"),
            }
        }
    }

    /// The types of the next messages, up to and with the end of a run.
    pub(crate) async fn run_types(&mut self) -> Vec<String> {
        let mut types = Vec::new();
        loop {
            let event: serde_json::Value = serde_json::from_str(&self.next().await).unwrap();
            types.push(event["type"].as_str().unwrap().to_owned());
            if matches!(event["type"].as_str(), Some("RUN_FINISHED" | "RUN_ERROR")) {
                return types;
            }
        }
    }
}

pub(crate) fn input(thread: &str, run: &str) -> String {
    format!(r#"{{"threadId":"{thread}","runId":"{run}","messages":[]}}"#)
}
