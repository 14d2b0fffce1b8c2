//! A program that is started here, watched, and started again when it ends.

use std::ffi::{OsStr, OsString};
use std::future::Future;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Stdio;
use std::time::Duration;

use agui_iac_code::Secret;
use rand::Rng as _;
use serde_json::json;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::HostError;
use crate::guard::{GUARD_ARGUMENT, TERM_GRACE, own_executable};

/// Time that a program gets until it is ready, unless it says otherwise: 20 s.
pub const READY_WITHIN: Duration = Duration::from_secs(20);
/// Starts that fail in a row until a program counts as [failing](Status::is_failing): 3, so that one
/// crash of a program that comes back is no alarm.
pub const FAILING_AFTER: u64 = 3;
/// Pause between two looks at a starting program.
const READY_POLL: Duration = Duration::from_millis(100);
/// First pause before a dead program is started again; doubled each time …
const BACKOFF_FIRST: Duration = Duration::from_millis(500);
/// … up to this.
const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// A program that lived this long starts its back-off anew.
const BACKOFF_RESET: Duration = Duration::from_secs(60);

/// A program that serves on a port of this machine that it is told.
pub trait Program: Send + Sync + 'static {
    /// How others reach one start of it.
    type Handle: Clone + Send + Sync + 'static;

    /// What it is called in messages.
    fn name(&self) -> &'static str;

    /// How it is started so that it serves on `port` and lets in who knows `token`.
    fn command(&self, port: u16, token: &Secret) -> CommandLine;

    /// How it is reached when it was started so.
    ///
    /// # Errors
    /// [`HostError`] if there is no way.
    fn handle(&self, port: u16, token: Secret) -> Result<Self::Handle, HostError>;

    /// Whether it serves already.
    fn is_ready(&self, handle: &Self::Handle) -> impl Future<Output = bool> + Send;

    /// Time that it gets until it is ready.
    fn ready_within(&self) -> Duration {
        READY_WITHIN
    }
}

/// Where a managed program's standard output goes; standard error is the one of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// Nowhere.
    Discarded,
    /// To the server's own.
    Shared,
}

/// Whether a variable holds a token of the servers themselves: a program that runs what a model says needs none of them.
fn holds_own_token(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.ends_with("_TOKEN")
        && ["AGENTCORE_SHIM_", "AGUI_SERVER_", "IAC_CODE_AGUI_"].iter().any(|prefix| name.starts_with(prefix))
}

/// How a program is started: in the environment of the server, without the server's own tokens.
///
/// `Debug` leaves the values of variables out: they hold tokens.
#[derive(Clone)]
pub struct CommandLine {
    words: Vec<OsString>,
    output: Output,
    set: Vec<(OsString, OsString)>,
}

impl CommandLine {
    /// The program and its arguments.
    #[must_use]
    pub fn new(words: impl IntoIterator<Item = impl Into<OsString>>, output: Output) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self { words, output, set: Vec::new() }
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn with_variable(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.set.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }
}

impl std::fmt::Debug for CommandLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let set: Vec<&OsString> = self.set.iter().map(|(name, _)| name).collect();
        f.debug_struct("CommandLine")
            .field("words", &self.words)
            .field("output", &self.output)
            .field("set", &set)
            .finish()
    }
}

/// What a managed program is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// It has not been ready yet.
    Starting,
    /// It serves.
    Ready,
    /// It ended, and is started again.
    Restarting,
    /// It was stopped.
    Stopped,
}

/// State of a managed program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// What it is doing.
    pub phase: Phase,
    /// How often it was started after the first time.
    pub restarts: u64,
    /// Starts in a row that failed; 0 once it is ready.
    pub failures: u64,
}

impl Status {
    const fn new(phase: Phase, restarts: u64, failures: u64) -> Self {
        Self { phase, restarts, failures }
    }

    /// Whether it does not come up, however often it is started.
    #[must_use]
    pub const fn is_failing(self) -> bool {
        self.failures >= FAILING_AFTER
    }

    /// What a health document says of it.
    #[must_use]
    pub fn to_json(self) -> serde_json::Value {
        let phase = match self.phase {
            Phase::Starting => "starting",
            Phase::Ready => "ready",
            Phase::Restarting => "restarting",
            Phase::Stopped => "stopped",
        };
        json!({ "managed": true, "status": phase, "restarts": self.restarts })
    }
}

/// A program that is watched. Its handle changes with each start; it is `None` while there is none.
#[derive(Debug)]
pub struct Managed<T> {
    current: watch::Receiver<Option<T>>,
    status: watch::Receiver<Status>,
    task: tokio::task::JoinHandle<()>,
}

impl<T: Clone + Send + Sync + 'static> Managed<T> {
    /// Starts a program and waits until it is ready the first time.
    ///
    /// # Errors
    /// [`HostError`] if the first start failed: the command is not there, it ended, or it did not become
    /// ready in time. Later ones are tried again until `stop` is cancelled.
    pub async fn start<P>(program: P, stop: CancellationToken) -> Result<Self, HostError>
    where
        P: Program<Handle = T>,
    {
        let launch = Launch(program);
        let running = Box::pin(launch.ready()).await?;
        Ok(Self::supervise(launch, stop, Some(running)))
    }

    /// Starts a program beside everything else. Also the first start is tried again when it fails.
    #[must_use]
    pub fn begin<P: Program<Handle = T>>(program: P, stop: CancellationToken) -> Self {
        Self::supervise(Launch(program), stop, None)
    }

    fn supervise<P: Program<Handle = T>>(
        launch: Launch<P>,
        stop: CancellationToken,
        running: Option<Running<T>>,
    ) -> Self {
        let (current_out, current) = watch::channel(None);
        let (status_out, status) = watch::channel(Status::new(Phase::Starting, 0, 0));
        let supervisor = Supervisor { launch, current: current_out, status: status_out, stop };
        if let Some(running) = &running {
            supervisor.announce(running, 0);
        }
        let task = tokio::spawn(supervisor.run(running));
        Self { current, status, task }
    }

    /// How to reach it now.
    #[must_use]
    pub fn current(&self) -> watch::Receiver<Option<T>> {
        self.current.clone()
    }

    /// What it is doing.
    #[must_use]
    pub fn status(&self) -> watch::Receiver<Status> {
        self.status.clone()
    }

    /// Waits until it has ended; its stop token must have been cancelled.
    pub async fn stopped(self) {
        let _ = self.task.await;
    }
}

struct Launch<P>(P);

struct Running<T> {
    guard: Child,
    /// Open for as long as the program shall live. Not left in `guard`: `Child::wait` closes it there.
    lifeline: Option<ChildStdin>,
    handle: T,
    since: Instant,
}

impl<T> Running<T> {
    /// Closes the guard's standard input, which ends the program, and waits.
    async fn end(&mut self) {
        drop(self.lifeline.take());
        if timeout(TERM_GRACE * 2, self.guard.wait()).await.is_err() {
            let _ = self.guard.kill().await;
        }
    }
}

impl<P: Program> Launch<P> {
    async fn ready(&self) -> Result<Running<P::Handle>, HostError> {
        let program = self.0.name();
        let mut running = self.spawn()?;
        let deadline = Instant::now() + self.0.ready_within();
        loop {
            let ended = running.guard.try_wait().map_err(|source| HostError::Spawn { program, source })?;
            if let Some(status) = ended {
                return Err(HostError::Exited { program, status });
            }
            if self.0.is_ready(&running.handle).await {
                return Ok(running);
            }
            if Instant::now() >= deadline {
                running.end().await;
                return Err(HostError::NotReady { program });
            }
            sleep(READY_POLL).await;
        }
    }

    fn spawn(&self) -> Result<Running<P::Handle>, HostError> {
        let port = free_port().map_err(HostError::NoPort)?;
        let token = Secret::new(random_token());
        let line = self.0.command(port, &token);
        let mut command = Command::new(own_executable().map_err(HostError::OwnExecutable)?);
        command.arg(GUARD_ARGUMENT).args(&line.words).stdin(Stdio::piped());
        for name in std::env::vars_os().map(|(name, _)| name).filter(|name| holds_own_token(name)) {
            command.env_remove(name);
        }
        command.envs(line.set);
        command.stdout(match line.output {
            Output::Discarded => Stdio::null(),
            Output::Shared => Stdio::inherit(),
        });
        #[cfg(unix)]
        command.process_group(0);
        let program = self.0.name();
        let mut guard = command.spawn().map_err(|source| HostError::Spawn { program, source })?;
        let lifeline = guard.stdin.take();
        Ok(Running { guard, lifeline, handle: self.0.handle(port, token)?, since: Instant::now() })
    }
}

struct Supervisor<P: Program> {
    launch: Launch<P>,
    current: watch::Sender<Option<P::Handle>>,
    status: watch::Sender<Status>,
    stop: CancellationToken,
}

impl<P: Program> Supervisor<P> {
    /// Keeps the program up until it is told to stop.
    async fn run(self, first: Option<Running<P::Handle>>) {
        let program = self.launch.0.name();
        let (mut restarts, mut failures, mut backoff) = (0, 0, BACKOFF_FIRST);
        let mut next = first;
        loop {
            let started = match next.take() {
                Some(running) => Ok(running),
                // Dropping a start closes the guard's input, which ends the program.
                None => match self.stop.run_until_cancelled(Box::pin(self.launch.ready())).await {
                    Some(started) => started,
                    None => return self.stopped(restarts, failures),
                },
            };
            match started {
                Ok(running) => {
                    failures = 0;
                    self.announce(&running, restarts);
                    let Some(lived) = self.watch(running).await else {
                        return self.stopped(restarts, failures);
                    };
                    if lived >= BACKOFF_RESET {
                        backoff = BACKOFF_FIRST;
                    }
                }
                Err(error) => {
                    failures += 1;
                    tracing::error!(program, failures, error = %chain(&error), "a program cannot be started");
                }
            }
            restarts += 1;
            self.status.send_replace(Status::new(Phase::Restarting, restarts, failures));
            if timeout(jittered(backoff), self.stop.cancelled()).await.is_ok() {
                return self.stopped(restarts, failures);
            }
            backoff = (backoff * 2).min(BACKOFF_MAX);
        }
    }

    fn announce(&self, running: &Running<P::Handle>, restarts: u64) {
        self.current.send_replace(Some(running.handle.clone()));
        self.status.send_replace(Status::new(Phase::Ready, restarts, 0));
        tracing::info!(program = self.launch.0.name(), restarts, "a program is ready");
    }

    /// Waits until the program ends, and tells how long it lived; `None` if it was to stop.
    async fn watch(&self, mut running: Running<P::Handle>) -> Option<Duration> {
        tokio::select! {
            // `Child::wait` is cancel-safe.
            () = self.stop.cancelled() => {
                running.end().await;
                return None;
            }
            exit = running.guard.wait() => {
                tracing::warn!(program = self.launch.0.name(), ?exit, "a program ended");
            }
        }
        self.current.send_replace(None);
        Some(running.since.elapsed())
    }

    fn stopped(&self, restarts: u64, failures: u64) {
        self.current.send_replace(None);
        self.status.send_replace(Status::new(Phase::Stopped, restarts, failures));
    }
}

/// An error with its causes, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// A port that was free a moment ago; if somebody takes it first, the start fails and is tried again.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

fn random_token() -> String {
    let bytes: [u8; 32] = rand::rng().random();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Between half and the whole of `pause`, so that many servers do not start in step.
fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(rand::rng().random_range(0.5..=1.0))
}
