//! The kernel behind the adapter: one that runs already, the demo, or one that is started and watched here.

use std::net::{Ipv4Addr, TcpListener};
use std::process::Stdio;
use std::time::Duration;

use a2a_client::{Client, ClientConfig};
use agui_iac_code::Secret;
use anyhow::Context as _;
use rand::Rng as _;
use serde_json::json;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::guard::{GUARD_ARGUMENT, TERM_GRACE};

/// Time that a kernel gets until its `/health` answers.
const READY_WITHIN: Duration = Duration::from_secs(20);
/// Pause between two looks at a starting kernel's `/health`.
const READY_POLL: Duration = Duration::from_millis(100);
/// First pause before a dead kernel is started again; doubled each time …
const BACKOFF_FIRST: Duration = Duration::from_millis(500);
/// … up to this.
const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// A kernel that lived this long starts its back-off anew.
const BACKOFF_RESET: Duration = Duration::from_secs(60);

/// What `/health` says of a managed kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Starting,
    Ready,
    Restarting,
    Stopped,
}

/// State of the managed kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) phase: Phase,
    pub(crate) restarts: u64,
}

impl Status {
    pub(crate) fn to_json(self) -> serde_json::Value {
        let phase = match self.phase {
            Phase::Starting => "starting",
            Phase::Ready => "ready",
            Phase::Restarting => "restarting",
            Phase::Stopped => "stopped",
        };
        json!({ "managed": true, "status": phase, "restarts": self.restarts })
    }
}

/// A supervised kernel; the client changes with each start, `None` while there is none.
#[derive(Debug)]
pub(crate) struct Managed {
    pub(crate) client: watch::Receiver<Option<Client>>,
    pub(crate) status: watch::Receiver<Status>,
    task: tokio::task::JoinHandle<()>,
}

impl Managed {
    /// Starts the first kernel and waits until it is ready.
    ///
    /// # Errors
    ///
    /// The first start failed: the command is not there, it ended, or it did not become ready in time.
    pub(crate) async fn start(
        words: Vec<String>,
        roots: String,
        stop: CancellationToken,
    ) -> anyhow::Result<Self> {
        let (client_out, client) = watch::channel(None);
        let (status_out, status) = watch::channel(Status { phase: Phase::Starting, restarts: 0 });
        let launch = Launch { words, roots };
        let running = launch.ready().await?;
        client_out.send_replace(Some(running.client.clone()));
        status_out.send_replace(Status { phase: Phase::Ready, restarts: 0 });
        let supervisor = Supervisor { launch, client: client_out, status: status_out, stop };
        let task = tokio::spawn(supervisor.run(running));
        Ok(Self { client, status, task })
    }

    /// Waits until the kernel has ended; its stop token must have been cancelled.
    pub(crate) async fn stopped(self) {
        let _ = self.task.await;
    }
}

struct Launch {
    words: Vec<String>,
    roots: String,
}

struct Running {
    guard: Child,
    /// Open for as long as the kernel shall live. Not left in `guard`: `Child::wait` closes it there.
    lifeline: Option<ChildStdin>,
    client: Client,
    since: Instant,
}

impl Running {
    /// Closes the guard's standard input, which ends the kernel, and waits.
    async fn end(&mut self) {
        drop(self.lifeline.take());
        if timeout(TERM_GRACE * 2, self.guard.wait()).await.is_err() {
            let _ = self.guard.kill().await;
        }
    }
}

impl Launch {
    async fn ready(&self) -> anyhow::Result<Running> {
        let mut running = self.spawn()?;
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            if let Some(status) = running.guard.try_wait()? {
                anyhow::bail!("the local A2A process exited during startup ({status})");
            }
            if running.client.health().await.is_ok() {
                return Ok(running);
            }
            if Instant::now() >= deadline {
                running.end().await;
                anyhow::bail!("the local A2A process did not become ready in time");
            }
            sleep(READY_POLL).await;
        }
    }

    fn spawn(&self) -> anyhow::Result<Running> {
        let port = free_port()?;
        let token = Secret::new(random_token());
        let words = self
            .words
            .iter()
            .map(|word| word.replace("{host}", "127.0.0.1").replace("{port}", &port.to_string()));
        let mut command = Command::new(std::env::current_exe().context("own executable")?);
        command
            .arg(GUARD_ARGUMENT)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            // The only place where the token is handed over: not on a command line that others can read.
            .env("IACCODE_A2A_HTTP_TOKEN", token.expose())
            .env_remove("IAC_CODE_AGUI_AUTH_TOKEN");
        if std::env::var_os("IACCODE_A2A_ALLOWED_CWDS").is_none() {
            command.env("IACCODE_A2A_ALLOWED_CWDS", &self.roots);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mut guard = command.spawn().context("cannot start the local A2A process")?;
        let lifeline = guard.stdin.take();
        let config = ClientConfig::new(format!("http://127.0.0.1:{port}/")).with_token(token);
        Ok(Running { guard, lifeline, client: Client::new(config)?, since: Instant::now() })
    }
}

struct Supervisor {
    launch: Launch,
    client: watch::Sender<Option<Client>>,
    status: watch::Sender<Status>,
    stop: CancellationToken,
}

impl Supervisor {
    async fn run(self, mut running: Running) {
        let mut backoff = BACKOFF_FIRST;
        let mut restarts = 0;
        loop {
            tokio::select! {
                // `Child::wait` is cancel-safe.
                () = self.stop.cancelled() => {
                    running.end().await;
                    self.status.send_replace(Status { phase: Phase::Stopped, restarts });
                    return;
                }
                exit = running.guard.wait() => {
                    tracing::warn!(?exit, "the local A2A process ended");
                }
            }
            self.client.send_replace(None);
            if running.since.elapsed() >= BACKOFF_RESET {
                backoff = BACKOFF_FIRST;
            }
            running = loop {
                restarts += 1;
                self.status.send_replace(Status { phase: Phase::Restarting, restarts });
                if timeout(jittered(backoff), self.stop.cancelled()).await.is_ok() {
                    self.status.send_replace(Status { phase: Phase::Stopped, restarts });
                    return;
                }
                backoff = (backoff * 2).min(BACKOFF_MAX);
                match self.launch.ready().await {
                    Ok(next) => break next,
                    Err(error) => tracing::error!(%error, "the local A2A process cannot be started again"),
                }
            };
            self.client.send_replace(Some(running.client.clone()));
            self.status.send_replace(Status { phase: Phase::Ready, restarts });
            tracing::info!(restarts, "the local A2A process is ready again");
        }
    }
}

/// A port that was free a moment ago; if somebody takes it first, the start fails and is tried again.
fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr()?.port())
}

fn random_token() -> String {
    let bytes: [u8; 32] = rand::rng().random();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Between half and the whole of `pause`, so that many servers do not start in step.
fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(rand::rng().random_range(0.5..=1.0))
}
