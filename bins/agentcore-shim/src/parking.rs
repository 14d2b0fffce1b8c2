//! Which threads of an agent wait for a person, for agents that cannot be asked.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agui_core::{
    Agent, BoxFuture, Event, Outcome, Problem, RunLimits, RunRequest, RunSink, RunStream, ThreadId,
    run_channel,
};
use tokio::time::Instant;

/// Threads that are remembered at a time: 4,096; more are not counted, which only lets a session idle.
const MAX_PARKED: usize = 4_096;

/// The threads that wait, each until an answer comes or its time is over.
#[derive(Debug)]
pub(crate) struct Parked {
    until: Mutex<HashMap<ThreadId, Instant>>,
    /// How long a question stays open.
    patience: Duration,
}

impl Parked {
    pub(crate) fn new(patience: Duration) -> Self {
        Self { until: Mutex::default(), patience }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ThreadId, Instant>> {
        // The map is consistent after every statement.
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any thread waits.
    pub(crate) fn any(&self) -> bool {
        let now = Instant::now();
        let mut until = self.lock();
        until.retain(|_, until| *until > now);
        !until.is_empty()
    }

    fn park(&self, thread: &ThreadId) {
        let mut until = self.lock();
        if until.len() < MAX_PARKED {
            until.insert(thread.clone(), Instant::now() + self.patience);
        }
    }

    fn resume(&self, thread: &ThreadId) {
        self.lock().remove(thread);
    }
}

/// An agent whose runs are looked at for the questions that end them.
pub(crate) struct Parking {
    agent: Arc<dyn Agent>,
    parked: Arc<Parked>,
}

impl Parking {
    pub(crate) fn new(agent: Arc<dyn Agent>, parked: Arc<Parked>) -> Self {
        Self { agent, parked }
    }
}

impl Agent for Parking {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async move {
            let (thread, run) = (request.input.thread_id.clone(), request.input.run_id.clone());
            let events = self.agent.run(request).await?;
            self.parked.resume(&thread);
            let (sink, stream) = run_channel(thread.clone(), run, RunLimits::default());
            tokio::spawn(pass_on(events, sink, thread, Arc::clone(&self.parked)));
            Ok(stream)
        })
    }
}

async fn pass_on(mut events: RunStream, mut sink: RunSink, thread: ThreadId, parked: Arc<Parked>) {
    let mut batch = Vec::new();
    loop {
        let more = tokio::select! {
            // Both are cancel-safe.
            () = sink.closed() => return,
            more = poll_fn(|cx| events.poll_batch(cx, &mut batch)) => more,
        };
        for event in batch.drain(..) {
            if asks(&event) {
                parked.park(&thread);
            }
            sink.stage(event);
        }
        sink.flush();
        if !more {
            return;
        }
        sink.ready().await;
    }
}

fn asks(event: &Event) -> bool {
    match event {
        Event::RunFinished(finished) => matches!(finished.outcome, Some(Outcome::Interrupt { .. })),
        _ => false,
    }
}
