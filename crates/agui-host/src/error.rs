//! Why a host cannot be set up.

use std::env::JoinPathsError;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use a2a_client::ClientError;
use agui_store::StoreError;
use agui_testkit::TestkitError;

/// Why a host cannot be set up, or a program that it manages cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The URL of a kernel cannot be used.
    #[error(
        "--a2a-url: the A2A kernel must be an HTTP or HTTPS URL on this machine (--allow-remote-a2a lifts the latter)"
    )]
    KernelUrl(#[source] ClientError),
    /// The agent at a URL cannot be talked to.
    #[error("--a2a-url: the A2A agent cannot be used")]
    Agent(#[source] ClientError),
    /// An agent of any make is always somewhere else.
    #[error("--profile generic: say where the agent is (--a2a-url)")]
    NoAgentUrl,
    /// The address of a kernel that was started here cannot be used.
    #[error("the address of the local A2A process cannot be used")]
    KernelAddress(#[source] ClientError),
    /// The address of another program that was started here cannot be used.
    #[error("{program} cannot be called")]
    Address {
        /// What was started.
        program: &'static str,
    },
    /// The built-in kernel does not start.
    #[error("the demo kernel does not start")]
    Demo(#[source] TestkitError),
    /// Threads cannot be kept there.
    #[error("cannot use the state directory {}", path.display())]
    StateDir {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: StoreError,
    },
    /// The allowed directories cannot be handed to the kernel.
    #[error("the allowed directories cannot be written as one list")]
    Roots(#[source] JoinPathsError),
    /// The program's own file is not known.
    #[error("own executable")]
    OwnExecutable(#[source] io::Error),
    /// There is no free port on this machine.
    #[error("no free port")]
    NoPort(#[source] io::Error),
    /// A program cannot be started.
    #[error("cannot start {program}")]
    Spawn {
        /// What was to be started.
        program: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A program ended while it was waited for.
    #[error("{program} exited during startup ({status})")]
    Exited {
        /// What was started.
        program: &'static str,
        /// How it ended.
        status: ExitStatus,
    },
    /// A program took too long.
    #[error("{program} did not become ready in time")]
    NotReady {
        /// What was started.
        program: &'static str,
    },
    /// The server was told to stop.
    #[error("stopped while {program} was starting")]
    Stopped {
        /// What was starting.
        program: &'static str,
    },
    /// A command without words.
    #[error("{flag}: the command is empty")]
    EmptyCommand {
        /// Where it was given.
        flag: &'static str,
    },
    /// An interrupt that would live for no time, or for months.
    #[error("--interrupt-ttl: must be from 1 to {max_s} seconds")]
    InterruptTtl {
        /// Longest life, in seconds.
        max_s: u64,
    },
    /// No such policy.
    #[error("--on-disconnect: must be cancel, grace:SECONDS or detach")]
    OnDisconnect,
    /// There is no place for state.
    #[error("neither IAC_CODE_CONFIG_DIR nor HOME is set: say --state-dir")]
    NoConfigDir,
    /// An allowed directory has to be absolute.
    #[error("{variable}: {} is not an absolute path", path.display())]
    RelativeRoot {
        /// Where it was given.
        variable: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// The process has no working directory.
    #[error("no working directory")]
    NoWorkingDir(#[source] io::Error),
}
