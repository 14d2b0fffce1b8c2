//! The agent behind the shim, in whichever form it was chosen.

use std::sync::Arc;
use std::time::Duration;

use a2a_client::Client;
use agui_adapter::Adapter;
use agui_core::Agent;
use agui_host::{HostConfig, Managed, Running, Status};
use agui_relay::{Upstream, UpstreamConfig};
use agui_store::ThreadStore;
use anyhow::Context as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::agent_program::{AgentProgram, Started};
use crate::awaited::{Awaited, KernelAgent, ProcessAgent};
use crate::fill::Defaults;
use crate::settings::AgentChoice;

/// The agent, and what belongs to it.
pub(crate) struct Backend {
    /// Waits by itself until whatever does the work is ready.
    pub(crate) agent: Arc<dyn Agent>,
    /// What iac-code has and other agents have not.
    pub(crate) iac_code: Option<IacCode>,
    pub(crate) warmth: Warmth,
    program: Option<RunningProgram>,
}

/// The adapter and what its requests are filled with.
#[derive(Clone)]
pub(crate) struct IacCode {
    pub(crate) adapter: Adapter,
    /// The threads of the adapter.
    pub(crate) store: Arc<dyn ThreadStore>,
    pub(crate) defaults: Defaults,
}

/// Whether the agent is ready.
#[derive(Clone)]
pub(crate) enum Warmth {
    /// It is somewhere else, and nobody here knows.
    Elsewhere,
    Kernel(Awaited<Client>),
    Process(Awaited<Started>),
}

impl Warmth {
    /// Waits until the agent is ready; `false` if it is not after `patience`.
    pub(crate) async fn wait(&self, patience: Duration) -> bool {
        match self {
            Self::Elsewhere => true,
            Self::Kernel(client) => client.get(patience).await.is_some(),
            Self::Process(started) => started.get(patience).await.is_some(),
        }
    }

    /// What the program that does the work is doing, if it is managed here.
    pub(crate) fn status(&self) -> Option<watch::Receiver<Status>> {
        match self {
            Self::Elsewhere => None,
            Self::Kernel(client) => client.status(),
            Self::Process(started) => started.status(),
        }
    }
}

/// What has to be ended after the runs.
enum RunningProgram {
    Kernel(Running),
    Process(Managed<Started>, CancellationToken),
}

impl Backend {
    /// Begins whatever has to be started, beside everything else.
    ///
    /// # Errors
    ///
    /// What was configured can never work.
    pub(crate) async fn begin(choice: AgentChoice) -> anyhow::Result<Self> {
        match choice {
            AgentChoice::Kernel { host, defaults } => Self::kernel(&host, defaults).await,
            AgentChoice::Upstream(config) => {
                let agent = Arc::new(Upstream::new(*config).context("--upstream")?);
                Ok(Self { agent, iac_code: None, warmth: Warmth::Elsewhere, program: None })
            }
            AgentChoice::Command { words, path, config } => Self::process(words, path, *config),
        }
    }

    async fn kernel(host: &HostConfig, defaults: Defaults) -> anyhow::Result<Self> {
        let root = &defaults.workspace_root;
        std::fs::create_dir_all(root)
            .with_context(|| format!("--workspace-root: cannot use {}", root.display()))?;
        let kernel = Running::begin(host).await?;
        let store = host.store().context("--state-dir")?;
        let adapter = host.adapter_over(store.clone(), kernel.kernel());
        let client = Awaited::new(kernel.client(), kernel.status());
        let agent = Arc::new(KernelAgent::new(adapter.clone(), client.clone()));
        Ok(Self {
            agent,
            iac_code: Some(IacCode { adapter, store, defaults }),
            warmth: Warmth::Kernel(client),
            program: Some(RunningProgram::Kernel(kernel)),
        })
    }

    fn process(words: Vec<String>, path: String, config: UpstreamConfig) -> anyhow::Result<Self> {
        let program = AgentProgram::new(words, path, config).context("--forward-header")?;
        let stop = CancellationToken::new();
        let managed = Managed::begin(program, stop.clone());
        let started = Awaited::new(managed.current(), Some(managed.status()));
        Ok(Self {
            agent: Arc::new(ProcessAgent(started.clone())),
            iac_code: None,
            warmth: Warmth::Process(started),
            program: Some(RunningProgram::Process(managed, stop)),
        })
    }

    /// Ends the program that does the work, after the runs.
    pub(crate) async fn end(self) {
        match self.program {
            None => {}
            Some(RunningProgram::Kernel(kernel)) => kernel.end().await,
            Some(RunningProgram::Process(managed, stop)) => {
                stop.cancel();
                managed.stopped().await;
            }
        }
    }
}
