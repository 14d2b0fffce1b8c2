//! A program that serves AG-UI, started and watched here.

use std::sync::Arc;
use std::time::Duration;

use agui_core::Agent;
use agui_host::{CommandLine, HostError, Output, Program};
use agui_iac_code::Secret;
use agui_relay::{RelayError, Upstream, UpstreamConfig};
use tokio::net::TcpStream;

/// Time that an agent gets until it listens: 120 s, what the platform gives its warm-up.
const READY_WITHIN: Duration = Duration::from_secs(120);

/// An AG-UI server on a port of this machine that it is told, by `{port}` in its command and by `PORT`.
pub(crate) struct AgentProgram {
    words: Vec<String>,
    /// Where it takes runs.
    path: String,
    config: UpstreamConfig,
}

impl AgentProgram {
    /// # Errors
    ///
    /// [`RelayError`] if path or headers cannot be used.
    pub(crate) fn new(words: Vec<String>, path: String, config: UpstreamConfig) -> Result<Self, RelayError> {
        upstream(&config, 1, &path)?;
        Ok(Self { words, path, config })
    }
}

fn upstream(config: &UpstreamConfig, port: u16, path: &str) -> Result<Upstream, RelayError> {
    let mut config = config.clone();
    config.url = format!("http://127.0.0.1:{port}{path}");
    Upstream::new(config)
}

/// One start of the program.
#[derive(Clone)]
pub(crate) struct Started {
    pub(crate) agent: Arc<dyn Agent>,
    port: u16,
}

impl Program for AgentProgram {
    type Handle = Started;

    fn name(&self) -> &'static str {
        "the agent"
    }

    fn command(&self, port: u16, _: &Secret) -> CommandLine {
        let port = port.to_string();
        let words = self.words.iter().map(|word| word.replace("{port}", &port));
        // What it prints belongs into the container's log.
        CommandLine::new(words, Output::Shared).with_variable("PORT", &port)
    }

    fn handle(&self, port: u16, _: Secret) -> Result<Started, HostError> {
        let agent = upstream(&self.config, port, &self.path);
        let agent = agent.map_err(|_| HostError::Address { program: self.name() })?;
        Ok(Started { agent: Arc::new(agent), port })
    }

    async fn is_ready(&self, started: &Started) -> bool {
        TcpStream::connect(("127.0.0.1", started.port)).await.is_ok()
    }

    fn ready_within(&self) -> Duration {
        READY_WITHIN
    }
}
