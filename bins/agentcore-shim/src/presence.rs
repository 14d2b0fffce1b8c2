//! Runs keep the session alive.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agui_core::{Agent, BoxFuture, Problem, RunRequest, RunStream};

use crate::ping::Ping;

/// An agent that tells [`Ping`] when a run begins, and how many are being let in.
pub(crate) struct Presence {
    agent: Arc<dyn Agent>,
    ping: Arc<Ping>,
    entering: Arc<AtomicUsize>,
}

impl Presence {
    pub(crate) fn new(agent: Arc<dyn Agent>, ping: Arc<Ping>, entering: Arc<AtomicUsize>) -> Self {
        Self { agent, ping, entering }
    }
}

impl Agent for Presence {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async move {
            let _entering = Entering::new(&self.entering);
            self.ping.begin();
            self.agent.run(request).await
        })
    }
}

/// Counts until it is dropped.
struct Entering<'a>(&'a AtomicUsize);

impl<'a> Entering<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count)
    }
}

impl Drop for Entering<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
