//! Agents that are not there yet.

use std::time::Duration;

use a2a_client::Client;
use agui_adapter::Adapter;
use agui_core::{Agent, BoxFuture, Problem, RunRequest, RunStream};
use agui_host::Status;
use agui_iac_code::ErrorCode;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::agent_program::Started;
use crate::session::{language_of, problem};

/// How long a run waits for an agent that is starting: 60 s, what the platform gives a container.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Something that is there as soon as a program is ready.
#[derive(Debug, Clone)]
pub(crate) struct Awaited<T> {
    current: watch::Receiver<Option<T>>,
    status: Option<watch::Receiver<Status>>,
}

impl<T: Clone + Send + Sync + 'static> Awaited<T> {
    pub(crate) const fn new(
        current: watch::Receiver<Option<T>>,
        status: Option<watch::Receiver<Status>>,
    ) -> Self {
        Self { current, status }
    }

    /// Waits for it; `None` if it takes longer than `patience` or if it does not come at all.
    pub(crate) async fn get(&self, patience: Duration) -> Option<T> {
        let mut current = self.current.clone();
        let status = self.status.clone();
        let failing = async {
            if let Some(mut status) = status
                && status.wait_for(|status| status.is_failing()).await.is_ok()
            {
                return;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            // All are cancel-safe.
            biased;
            here = current.wait_for(Option::is_some) => here.ok().and_then(|value| value.clone()),
            () = failing => None,
            () = sleep(patience) => None,
        }
    }

    /// What the program behind it is doing, if there is one.
    pub(crate) fn status(&self) -> Option<watch::Receiver<Status>> {
        self.status.clone()
    }
}

/// The adapter; a run waits until its kernel is ready.
pub(crate) struct KernelAgent {
    adapter: Adapter,
    kernel: Awaited<Client>,
}

impl KernelAgent {
    pub(crate) const fn new(adapter: Adapter, kernel: Awaited<Client>) -> Self {
        Self { adapter, kernel }
    }
}

impl Agent for KernelAgent {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async move {
            if self.kernel.get(PATIENCE).await.is_none() {
                return Err(problem(language_of(&request), &ErrorCode::A2aUnavailable.into()));
            }
            self.adapter.run(request).await
        })
    }
}

/// An agent in another process, which may be a new one with each run.
pub(crate) struct ProcessAgent(pub(crate) Awaited<Started>);

impl Agent for ProcessAgent {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async move {
            match self.0.get(PATIENCE).await {
                Some(started) => started.agent.run(request).await,
                None => {
                    tracing::error!("the agent is not there");
                    Err(problem(language_of(&request), &ErrorCode::AgentError.into()))
                }
            }
        })
    }
}
