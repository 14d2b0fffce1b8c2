//! Work keeps the session alive.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agui_core::{Agent, BoxFuture, Problem, RunRequest, RunStream};

use crate::ping::Ping;

/// What goes on that nothing else counts: runs on their way in, and cancels that are carried out.
#[derive(Clone)]
pub(crate) struct Work {
    ping: Arc<Ping>,
    count: Arc<AtomicUsize>,
}

impl Work {
    pub(crate) fn new(ping: Arc<Ping>) -> Self {
        Self { ping, count: Arc::default() }
    }

    /// Something begins. It goes on until what this gives is dropped.
    pub(crate) fn begin(&self) -> Working {
        self.count.fetch_add(1, Ordering::AcqRel);
        self.ping.begin();
        Working(Arc::clone(&self.count))
    }

    pub(crate) fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }
}

/// Counts until it is dropped.
pub(crate) struct Working(Arc<AtomicUsize>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// An agent whose runs count while they are let in.
pub(crate) struct Presence {
    agent: Arc<dyn Agent>,
    work: Work,
}

impl Presence {
    pub(crate) fn new(agent: Arc<dyn Agent>, work: Work) -> Self {
        Self { agent, work }
    }
}

impl Agent for Presence {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async move {
            let _working = self.work.begin();
            self.agent.run(request).await
        })
    }
}
