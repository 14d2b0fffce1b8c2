//! How the coordinator behaves.

use std::path::PathBuf;
use std::time::Duration;

/// Life of an interrupt, 540 s (S7.3).
///
/// Source: S7.3.
pub const INTERRUPT_TTL: Duration = Duration::from_secs(540);
/// Time for a `CancelTask` call, 5 s: the caller of a cancel waits for it.
///
/// Example: see [`AdapterConfig`].
pub const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);
/// Time that a run without a task id gets to learn it, so that it can be cancelled: 30 s.
///
/// Example: see [`AdapterConfig`].
pub const TASK_ID_TIMEOUT: Duration = Duration::from_secs(30);
/// Time after a `CancelTask` for the kernel to end its stream, 2 s; the run ends then in any case.
///
/// Example: see [`AdapterConfig`].
pub const CANCEL_DRAIN: Duration = Duration::from_secs(2);
/// Silence after a question that is asked beside the stream, 300 ms: branches that work side by side tend
/// to ask together, and one interrupt shall list what they ask (case C03) …
///
/// Example: see [`AdapterConfig`].
pub const SIDEBAND_QUIET: Duration = Duration::from_millis(300);
/// … but while the others go on working, the first question does not wait longer than 1 s.
///
/// Example: see [`AdapterConfig`].
pub const SIDEBAND_PATIENCE: Duration = Duration::from_secs(1);
/// Images decoded at a time; each may take hundreds of MiB.
///
/// Example: see [`AdapterConfig`].
pub const IMAGE_JOBS: usize = 2;

/// Runs that may go on at a time although nobody reads them, 256: with all that is kept of each, up to 1 GiB. One more
/// is cancelled as if the policy were [`OnDisconnect::Cancel`].
///
/// Example: see [`AdapterConfig`].
pub const UNATTENDED_MAX_RUNS: usize = 256;

/// What happens to a run whose last reader goes away (S12.2).
///
/// Example: see [`AdapterConfig`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnDisconnect {
    /// The kernel's task is cancelled.
    #[default]
    Cancel,
    /// The same, unless somebody reads again within this time.
    Grace(Duration),
    /// The run goes on to its end, unless [too many](UNATTENDED_MAX_RUNS) do.
    Detach,
}

/// What is known of the agent behind the adapter.
///
/// Example: see [`AdapterConfig`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// It is the iac-code kernel: requests carry its extension, threads have a workspace.
    #[default]
    IacCode,
    /// It is any A2A agent: nothing beyond A2A is sent or expected.
    Generic,
}

/// Settings of an [`Adapter`](crate::Adapter).
///
/// ```
/// use std::time::Duration;
///
/// use agui_adapter::{AdapterConfig, INTERRUPT_TTL, OnDisconnect, Profile};
///
/// let config = AdapterConfig::new([std::env::temp_dir()])
///     .with_on_disconnect(OnDisconnect::Grace(Duration::from_secs(30)));
/// assert_eq!((config.profile, config.interrupt_ttl), (Profile::IacCode, INTERRUPT_TTL));
///
/// // For an agent of any make: no extension, no workspace.
/// assert_eq!(AdapterConfig::generic().profile, Profile::Generic);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AdapterConfig {
    /// Default [`Profile::IacCode`].
    pub profile: Profile,
    /// Directories that a request may work in (S3.3); [`Profile::IacCode`] only.
    pub allowed_roots: Vec<PathBuf>,
    /// Default [`INTERRUPT_TTL`].
    pub interrupt_ttl: Duration,
    /// Default [`OnDisconnect::Cancel`].
    pub on_disconnect: OnDisconnect,
    /// Runs that may go on at a time although nobody reads them; default [`UNATTENDED_MAX_RUNS`].
    pub max_unattended_runs: usize,
    /// Default [`CANCEL_TIMEOUT`].
    pub cancel_timeout: Duration,
    /// Default [`TASK_ID_TIMEOUT`].
    pub task_id_timeout: Duration,
}

impl AdapterConfig {
    /// The defaults, with the directories that a request may work in.
    #[must_use]
    pub fn new(allowed_roots: impl Into<Vec<PathBuf>>) -> Self {
        Self {
            profile: Profile::default(),
            allowed_roots: allowed_roots.into(),
            interrupt_ttl: INTERRUPT_TTL,
            on_disconnect: OnDisconnect::default(),
            max_unattended_runs: UNATTENDED_MAX_RUNS,
            cancel_timeout: CANCEL_TIMEOUT,
            task_id_timeout: TASK_ID_TIMEOUT,
        }
    }

    /// The defaults for an agent of any make.
    #[must_use]
    pub fn generic() -> Self {
        Self::new([]).with_profile(Profile::Generic)
    }

    /// Sets what is known of the agent.
    #[must_use]
    pub const fn with_profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets the life of an interrupt.
    #[must_use]
    pub const fn with_interrupt_ttl(mut self, ttl: Duration) -> Self {
        self.interrupt_ttl = ttl;
        self
    }

    /// Sets what happens to a run whose reader goes away.
    #[must_use]
    pub const fn with_on_disconnect(mut self, policy: OnDisconnect) -> Self {
        self.on_disconnect = policy;
        self
    }

    /// Sets how many runs may go on at a time although nobody reads them.
    #[must_use]
    pub const fn with_max_unattended_runs(mut self, runs: usize) -> Self {
        self.max_unattended_runs = runs;
        self
    }

    /// Sets the time for a `CancelTask` call.
    #[must_use]
    pub const fn with_cancel_timeout(mut self, timeout: Duration) -> Self {
        self.cancel_timeout = timeout;
        self
    }

    /// Sets the time that a run without a task id gets to learn it.
    #[must_use]
    pub const fn with_task_id_timeout(mut self, timeout: Duration) -> Self {
        self.task_id_timeout = timeout;
        self
    }
}
