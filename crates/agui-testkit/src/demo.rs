//! An iac-code kernel without a model: A2A 1.0 on a loopback port, as iac-code 0.16 speaks it.
//!
//! Behind `agui-server --demo`, and in tests that want a whole, live conversation. It keeps its
//! state in memory, runs no tool and touches no file; a word in the prompt chooses what happens
//! (see [`SCENARIOS`]).

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::error::TestkitError;
use crate::log::RequestLog;
use crate::net::{ANY_PORT, Connections, Running, serve_http};

mod answer;
mod extension;
mod http;
mod journal;
mod kernel;
mod message;
mod rpc;
mod scenario;
mod snapshot;
mod stream;
mod task;
mod turn;

use kernel::Kernel;
pub use scenario::SCENARIOS;

/// How the demo kernel behaves.
#[derive(Clone)]
#[non_exhaustive]
pub struct DemoConfig {
    /// Where it listens (default: loopback, a free port).
    pub addr: SocketAddr,
    /// The bearer token that every request must carry (default: none).
    pub token: Option<String>,
    /// Pause before each piece of text or reasoning (default 30 ms).
    pub delta_delay: Duration,
    /// Pause between the lines of the `slow` scenario (default 1 s).
    pub slow_delay: Duration,
    /// How long the `hold` scenario stays silent (default 5 min); see [`DemoKernel::release_holds`].
    pub hold: Duration,
    /// Time between two comments of an event stream (default 15 s, as the kernel).
    pub ping_interval: Duration,
    /// Whether `GetTask` stays behind after the answer to a parked permission, as the kernel's does
    /// (default false). The answer's own stream and `/iac-code/session/recovery` know better.
    pub stale_get_task: bool,
    /// How many requests are kept for [`DemoKernel::requests`] (default 0: they may hold secrets).
    pub keep_requests: usize,
}

impl Default for DemoConfig {
    fn default() -> Self {
        Self {
            addr: ANY_PORT,
            token: None,
            delta_delay: Duration::from_millis(30),
            slow_delay: Duration::from_secs(1),
            hold: Duration::from_secs(300),
            ping_interval: Duration::from_secs(15),
            stale_get_task: false,
            keep_requests: 0,
        }
    }
}

impl DemoConfig {
    /// For tests: no pause at all, and every request is kept. Only `hold` still waits.
    #[must_use]
    pub fn instant() -> Self {
        Self {
            delta_delay: Duration::ZERO,
            slow_delay: Duration::ZERO,
            keep_requests: usize::MAX,
            ..Self::default()
        }
    }

    /// Sets the address to listen on.
    #[must_use]
    pub const fn with_addr(mut self, addr: SocketAddr) -> Self {
        self.addr = addr;
        self
    }

    /// Asks for a bearer token.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Sets the pause before each piece of text.
    #[must_use]
    pub const fn with_delta_delay(mut self, delay: Duration) -> Self {
        self.delta_delay = delay;
        self
    }

    /// Sets the pause between the lines of the `slow` scenario.
    #[must_use]
    pub const fn with_slow_delay(mut self, delay: Duration) -> Self {
        self.slow_delay = delay;
        self
    }

    /// Sets how long the `hold` scenario stays silent.
    #[must_use]
    pub const fn with_hold(mut self, time: Duration) -> Self {
        self.hold = time;
        self
    }

    /// Sets the time between two comments.
    #[must_use]
    pub const fn with_ping_interval(mut self, time: Duration) -> Self {
        self.ping_interval = time;
        self
    }

    /// Lets `GetTask` stay behind after an answer.
    #[must_use]
    pub const fn with_stale_get_task(mut self) -> Self {
        self.stale_get_task = true;
        self
    }
}

impl fmt::Debug for DemoConfig {
    /// The token is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DemoConfig")
            .field("addr", &self.addr)
            .field("delta_delay", &self.delta_delay)
            .field("stale_get_task", &self.stale_get_task)
            .finish_non_exhaustive()
    }
}

/// The running demo kernel. Dropping it ends every task and closes every socket.
pub struct DemoKernel {
    running: Running,
    kernel: Arc<Kernel>,
}

impl DemoKernel {
    /// Starts the kernel.
    ///
    /// # Errors
    /// [`TestkitError::Bind`].
    pub async fn start(config: DemoConfig) -> Result<Self, TestkitError> {
        let (addr, keep) = (config.addr, config.keep_requests);
        let kernel = Arc::new(Kernel::new(config));
        let running = serve_http(addr, keep, Arc::clone(&kernel)).await?;
        Ok(Self { running, kernel })
    }

    /// `http://127.0.0.1:port`.
    #[must_use]
    pub fn url(&self) -> String {
        self.running.url()
    }

    /// The address it listens on.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.running.addr
    }

    /// The requests that came, as far as the configuration keeps them.
    #[must_use]
    pub fn requests(&self) -> &RequestLog {
        &self.running.log
    }

    /// Connections accepted and open.
    #[must_use]
    pub fn connections(&self) -> &Connections {
        &self.running.connections
    }

    /// How many tools were executed since the start: what must never grow by a repeated answer.
    #[must_use]
    pub fn executed_tools(&self) -> u64 {
        self.kernel.executed_tools()
    }

    /// The tool call ids that a task executed, in order.
    #[must_use]
    pub fn executions(&self, task_id: &str) -> Vec<String> {
        self.kernel.executions(task_id)
    }

    /// How many tasks are running: not parked on a question and not ended.
    #[must_use]
    pub fn running_tasks(&self) -> usize {
        self.kernel.running_tasks()
    }

    /// Lets every `hold` go on, now and later.
    pub fn release_holds(&self) {
        self.kernel.release_holds();
    }

    /// Ends every task, closes every socket, and returns when that has happened.
    pub async fn stop(self) {
        self.kernel.stop().await;
        self.running.stop().await;
    }
}

impl fmt::Debug for DemoKernel {
    /// What people have said to it is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DemoKernel").field("running", &self.running).finish_non_exhaustive()
    }
}

impl Drop for DemoKernel {
    fn drop(&mut self) {
        // The turns hold the kernel, so its own drop would come too late.
        self.kernel.token.cancel();
    }
}
