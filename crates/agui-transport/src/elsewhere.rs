//! An agent that works on another runtime.

use std::fmt;
use std::sync::Arc;

use agui_core::{Agent, BoxFuture, Problem, RunRequest, RunStream};
use tokio::runtime::Handle;

use crate::words;

/// An agent whose `run`, and whatever that spawns, works on `runtime`.
///
/// Threads that the agent blocks are then not those that answer probes and move bytes.
/// [`ServerBuilder::agent_runtime`](crate::ServerBuilder::agent_runtime) does the same for everything
/// that a server asks of its agent; this is for whoever calls an agent itself, for instance on an
/// upgraded connection. As on a server, `run` goes on to its end when its caller has gone.
///
/// ```
/// use std::sync::Arc;
///
/// fn apart(agent: Arc<dyn agui_core::Agent>, workers: &tokio::runtime::Runtime) -> impl agui_core::Agent {
///     agui_transport::on_runtime(agent, workers.handle().clone())
/// }
/// ```
pub fn on_runtime(agent: Arc<dyn Agent>, runtime: Handle) -> impl Agent + fmt::Debug {
    Elsewhere { agent, runtime }
}

struct Elsewhere {
    agent: Arc<dyn Agent>,
    runtime: Handle,
}

impl Agent for Elsewhere {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        let agent = Arc::clone(&self.agent);
        Box::pin(async move {
            let language = agui_i18n::choose(None, request.accept_language.as_deref());
            let work = self.runtime.spawn(async move { agent.run(request).await });
            work.await.unwrap_or_else(|error| {
                tracing::error!(panicked = error.is_panic(), "the work of a request broke off");
                Err(words::internal_problem(language))
            })
        })
    }
}

impl fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elsewhere").finish_non_exhaustive()
    }
}
