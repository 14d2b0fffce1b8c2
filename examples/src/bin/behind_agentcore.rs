//! An agent of one's own as a container on Amazon Bedrock AgentCore, which wants runs at `/invocations`, a
//! health document at `/ping`, and port 8080: `cargo run -p agui-examples --bin behind_agentcore`.
//!
//! `agentcore-shim` does the same for a program that stays as it is (`agentcore-shim --upstream URL`), and
//! more: WebSocket, cancelling, runs that a repeated request joins, authentication.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use agui_core::{Agent, BoxFuture, EventSink, Problem, RunLimits, RunRequest, RunStream};
use agui_transport::{CancellationToken, EchoHeaders, ErrorMode, Health, Server, ServerBuilder};
use http::HeaderName;
use serde_json::json;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");
const SESSION_ID: HeaderName = HeaderName::from_static("x-amzn-bedrock-agentcore-runtime-session-id");

/// How much is done, and since when that has not changed: the platform keeps a session while it is busy.
#[derive(Default)]
struct Pulse {
    runs: AtomicUsize,
    changed_at_s: AtomicU64,
}

impl Pulse {
    fn changed(&self) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.changed_at_s.store(since.as_secs(), Ordering::Relaxed);
    }

    fn document(&self) -> Health {
        let is_busy = self.runs.load(Ordering::Relaxed) > 0;
        let status = if is_busy { "HealthyBusy" } else { "Healthy" };
        let at = self.changed_at_s.load(Ordering::Relaxed);
        Health::ok(&json!({ "status": status, "time_of_last_update": at }))
    }
}

/// Counts a run until it is dropped.
struct Busy(Arc<Pulse>);

impl Busy {
    fn new(pulse: &Arc<Pulse>) -> Self {
        if pulse.runs.fetch_add(1, Ordering::Relaxed) == 0 {
            pulse.changed();
        }
        Self(Arc::clone(pulse))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if self.0.runs.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.changed();
        }
    }
}

struct Greeter(Arc<Pulse>);

impl Agent for Greeter {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        let busy = Busy::new(&self.0);
        let (sink, stream) = EventSink::start(&request.input, RunLimits::default());
        tokio::spawn(async move {
            sink.text_message().delta("Hello from the container.");
            sink.finish();
            drop(busy);
        });
        Box::pin(async { Ok(stream) })
    }
}

/// What the platform expects of a container.
pub(crate) fn server() -> ServerBuilder {
    let pulse = Arc::new(Pulse::default());
    pulse.changed();
    Server::builder(Arc::new(Greeter(Arc::clone(&pulse))))
        .run_path("/invocations")
        .probe("/ping", move || pulse.document())
        .any_json_content_type()
        .errors_as_events(ErrorMode::Stream)
        .echo_headers(EchoHeaders::new(REQUEST_ID).with_session(SESSION_ID))
        // The platform authenticates its callers, and nobody else gets here.
        .allow_public_without_auth()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = server().bind(([0, 0, 0, 0], 8080).into()).await?;
    server.serve(CancellationToken::new()).await;
    Ok(())
}
