use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agui_core::{
    Agent, BoxFuture, Event, Interrupt, Outcome, Problem, RunAgentInput, RunFinished, RunLimits, RunRequest,
    RunSink, RunStarted, RunStream, TextMessageContent, TextMessageStart, Verifier, run_channel,
};
use futures_util::StreamExt as _;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::*;

mod any_play;
mod bounds;
mod ending;
mod joining;
mod leaving;

/// An agent whose runs the test does itself.
#[derive(Clone, Default)]
struct Puppet(Arc<Strings>);

#[derive(Default)]
struct Strings {
    sinks: Mutex<HashMap<String, RunSink>>,
    asked: AtomicUsize,
    /// Refuses the first requests.
    refuse: AtomicUsize,
    /// Holds every decision back.
    slow: Mutex<Option<Arc<Notify>>>,
}

impl Agent for Puppet {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async move {
            self.0.asked.fetch_add(1, Ordering::SeqCst);
            let slow = self.0.slow.lock().unwrap().clone();
            if let Some(slow) = slow {
                slow.notified().await;
            }
            if self.0.refuse.load(Ordering::SeqCst) > 0 {
                self.0.refuse.fetch_sub(1, Ordering::SeqCst);
                return Err(Problem::new(409, "THREAD_BUSY", "busy"));
            }
            let RunAgentInput { thread_id, run_id, .. } = request.input;
            let (mut sink, stream) = run_channel(thread_id.clone(), run_id.clone(), RunLimits::default());
            sink.send(RunStarted::new(thread_id, run_id.clone()));
            self.0.sinks.lock().unwrap().insert(run_id.to_string(), sink);
            Ok(stream)
        })
    }
}

impl Puppet {
    fn asked(&self) -> usize {
        self.0.asked.load(Ordering::SeqCst)
    }

    fn send(&self, run: &str, event: impl Into<Event>) {
        self.0.sinks.lock().unwrap().get_mut(run).unwrap().send(event);
    }

    fn say(&self, run: &str, deltas: std::ops::Range<usize>) {
        for delta in deltas {
            self.send(run, TextMessageContent::new("m", delta.to_string()));
        }
    }

    fn finish(&self, run: &str) {
        self.send(run, RunFinished::new("t", run));
        self.0.sinks.lock().unwrap().remove(run);
    }

    fn is_left(&self, run: &str) -> bool {
        self.0.sinks.lock().unwrap().get(run).is_some_and(RunSink::is_closed)
    }
}

fn request(run: &str) -> RunRequest {
    body(&format!(r#"{{"threadId":"t","runId":"{run}","messages":[],"protocolVersion":"1.0"}}"#))
}

fn body(json: &str) -> RunRequest {
    let json = bytes::Bytes::copy_from_slice(json.as_bytes());
    RunRequest::new(RunAgentInput::decode(&json).unwrap(), json)
}

fn setup(config: RejoinConfig) -> (Puppet, Rejoin) {
    let puppet = Puppet::default();
    (puppet.clone(), Rejoin::new(puppet, config))
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(3_600), future).await.unwrap()
}

/// The rest of a run, checked to be valid when it is read from its start.
async fn rest(stream: RunStream) -> Vec<Event> {
    let events: Vec<Event> = within(stream.collect()).await;
    let mut verifier = Verifier::new();
    events.iter().for_each(|event| verifier.check(event).unwrap());
    verifier.finish().unwrap();
    events
}

/// Lets every task do what it can do.
async fn settled() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

fn code(problem: Result<RunStream, Problem>) -> (u16, String) {
    let problem = problem.unwrap_err();
    (problem.status, problem.code.into_owned())
}

fn last_code(events: &[Event]) -> Option<&str> {
    match events.last() {
        Some(Event::RunError(error)) => error.code.as_deref(),
        _ => None,
    }
}
