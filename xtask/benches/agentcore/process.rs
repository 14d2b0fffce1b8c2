//! The two contenders as processes.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use crate::{Options, http};

/// How long a contender may take to answer.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Between two tries to reach a contender that starts: what a cold start is measured to.
const PROBE_PAUSE: Duration = Duration::from_micros(200);

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Kit,
    Shim,
}

impl Who {
    pub(crate) const ALL: [Self; 2] = [Self::Kit, Self::Shim];

    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Kit => 0,
            Self::Shim => 1,
        }
    }
}

/// A server that is ended when this value goes.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// From the start of the process to the first good answer of `/ping`.
    pub(crate) started_in: Duration,
}

impl Server {
    /// Starts a contender, with more flags if need be, and waits until it is ready.
    pub(crate) async fn start(
        who: Who,
        options: &Options,
        agent: SocketAddr,
        flags: &[&str],
    ) -> Result<Self> {
        let address = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let port = address.port().to_string();
        let mut command = match who {
            Who::Kit => {
                let mut command = Command::new(&options.python);
                command.arg(&options.kit_agent).args(["--port", &port]);
                command
            }
            Who::Shim => {
                let mut command = Command::new(&options.shim);
                command.args(["--host", "127.0.0.1", "--port", &port]);
                command.args(["--upstream", &format!("http://{agent}/")]);
                command
            }
        };
        command.args(flags);
        Self::spawn(&mut command, address).await
    }

    pub(crate) async fn spawn(command: &mut Command, address: SocketAddr) -> Result<Self> {
        let begun = Instant::now();
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.with_context(|| format!("starting {program}"))?;
        let mut server = Self { child, address, started_in: Duration::ZERO };
        while begun.elapsed() < START_TIMEOUT {
            if matches!(http::ping(address).await, Ok(200)) {
                server.started_in = begun.elapsed();
                return Ok(server);
            }
            anyhow::ensure!(server.child.try_wait()?.is_none(), "{program} ended at once");
            tokio::time::sleep(PROBE_PAUSE).await;
        }
        anyhow::bail!("{program} does not answer /ping")
    }

    /// A field of what the system says about its memory, in MiB.
    pub(crate) fn memory_mib(&self, field: &str) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(field)).context("no such field")?;
        let kib: f64 = line.trim_start_matches(':').trim_end_matches("kB").trim().parse()?;
        Ok(kib / 1024.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
