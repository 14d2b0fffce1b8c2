//! Bounds that nobody should have to change; they are not part of the help, and tests make them short.

use std::time::Duration;

use a2a_client::ClientConfig;
use agui_adapter::AdapterConfig;
use agui_transport::{Limits, ServerBuilder, Timeouts};
use clap::Args;

/// How long a connection may rest between two requests. Proxies keep them for 60 s, commonly: one that closes later
/// sends no request into a connection that is just being closed.
const KEEP_ALIVE: Duration = Duration::from_secs(120);

/// Every bound is at its default unless its flag says otherwise.
#[derive(Debug, Clone, Default, Args)]
#[non_exhaustive]
pub struct Tuning {
    /// Longest silence on a stream of the kernel, in seconds.
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds)]
    a2a_idle_timeout: Option<Duration>,
    /// Time until a stream of the kernel begins, in seconds.
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds)]
    a2a_first_byte_timeout: Option<Duration>,
    /// Time for a control call to the kernel, in seconds.
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds)]
    a2a_call_timeout: Option<Duration>,
    /// Largest datum of a stream of the kernel, in bytes.
    #[arg(long, hide = true, value_name = "BYTES")]
    a2a_max_datum: Option<usize>,
    /// Time for a `CancelTask`, in seconds.
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds)]
    cancel_timeout: Option<Duration>,
    /// Time that a stopped run gets to learn its task's id, in seconds.
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds)]
    task_id_timeout: Option<Duration>,
    /// Runs that may go on at a time although nobody reads them.
    #[arg(long, hide = true, value_name = "NUMBER")]
    max_unattended_runs: Option<usize>,
    /// Time for the body of a request, in seconds.
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds)]
    request_timeout: Option<Duration>,
    /// Silence on an event stream until a comment, in seconds.
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds)]
    heartbeat: Option<Duration>,
    /// Connections served at a time.
    #[arg(long, hide = true, value_name = "NUMBER")]
    max_connections: Option<usize>,
}

impl Tuning {
    /// The settings of a client of the kernel.
    #[must_use]
    pub fn client(&self, mut config: ClientConfig) -> ClientConfig {
        if let Some(timeout) = self.a2a_idle_timeout {
            config = config.with_idle_timeout(timeout);
        }
        if let Some(timeout) = self.a2a_first_byte_timeout {
            config = config.with_first_byte_timeout(timeout);
        }
        if let Some(timeout) = self.a2a_call_timeout {
            config = config.with_call_timeout(timeout);
        }
        match self.a2a_max_datum {
            Some(bytes) => config.with_max_datum_bytes(bytes),
            None => config,
        }
    }

    /// The settings of an adapter.
    #[must_use]
    pub fn adapter(&self, mut config: AdapterConfig) -> AdapterConfig {
        if let Some(timeout) = self.cancel_timeout {
            config = config.with_cancel_timeout(timeout);
        }
        if let Some(runs) = self.max_unattended_runs {
            config = config.with_max_unattended_runs(runs);
        }
        match self.task_id_timeout {
            Some(timeout) => config.with_task_id_timeout(timeout),
            None => config,
        }
    }

    /// The settings of a server.
    pub fn server(&self, builder: ServerBuilder) -> ServerBuilder {
        builder.limits(self.limits(Limits::new())).timeouts(self.timeouts(Timeouts::new()))
    }

    /// Sizes and counts of a server.
    #[must_use]
    pub const fn limits(&self, limits: Limits) -> Limits {
        match self.max_connections {
            Some(connections) => limits.with_max_connections(connections),
            None => limits,
        }
    }

    /// Waiting times of a server, which lets connections rest longer than a proxy keeps them.
    #[must_use]
    pub const fn timeouts(&self, timeouts: Timeouts) -> Timeouts {
        let mut timeouts = timeouts.with_idle(KEEP_ALIVE);
        if let Some(timeout) = self.request_timeout {
            timeouts = timeouts.with_body(timeout);
        }
        if let Some(interval) = self.heartbeat {
            timeouts = timeouts.with_heartbeat(interval);
        }
        timeouts
    }
}

/// Reads a number of seconds, fractions included.
///
/// # Errors
/// A text for people if it is no duration.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
