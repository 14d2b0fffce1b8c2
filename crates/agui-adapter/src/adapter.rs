//! The adapter as a whole.

use std::fmt;
use std::sync::Arc;

use agui_core::ThreadId;
use agui_core::{Agent, BoxFuture, Problem, RunRequest, RunStream};
use agui_store::ThreadStore;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::active::StopReason;
use crate::admission;
use crate::config::{AdapterConfig, IMAGE_JOBS};
use crate::expiry::Expiry;
use crate::kernel::Kernel;
use crate::notice::problem;
use crate::reattach::EventLogs;
use crate::request::{self, Request, internal};
use crate::threads::Threads;

/// An AG-UI agent whose work is done by an A2A kernel.
///
/// Cheap to clone; all clones are the same adapter.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use a2a_client::{Client, ClientConfig};
/// use agui_adapter::{Adapter, AdapterConfig, CancelRequest, Kernel};
/// use agui_i18n::Language;
/// use agui_store::MemoryStore;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let kernel = Kernel::fixed(Client::new(ClientConfig::new("http://127.0.0.1:41242/"))?);
/// let config = AdapterConfig::new([std::env::temp_dir()]);
/// let adapter = Adapter::new(config, Arc::new(MemoryStore::new()), kernel);
/// adapter.recover().await;
///
/// // Serve it as an `Agent`. Beside runs:
/// let body = br#"{"threadId":"thread-1","rosInvocationId":"caller-1"}"#;
/// if let Ok(request) = CancelRequest::decode("execution-1", body, Language::En) {
///     let reply = adapter.cancel(request, Language::En).await;
///     # drop(reply);
/// }
/// adapter.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Adapter {
    pub(crate) shared: Arc<Shared>,
}

/// What every run and every call needs.
pub(crate) struct Shared {
    pub(crate) config: AdapterConfig,
    pub(crate) kernel: Kernel,
    pub(crate) threads: Arc<Threads>,
    pub(crate) images: Arc<Semaphore>,
    pub(crate) expiry: Expiry,
    pub(crate) logs: Arc<EventLogs>,
    /// Places for runs that go on although nobody reads them.
    pub(crate) unattended: Arc<Semaphore>,
    /// Every run, clean-up and timer; a shutdown waits for them.
    pub(crate) tasks: TaskTracker,
    pub(crate) shutdown: CancellationToken,
}

impl Adapter {
    /// An adapter over a store and a kernel.
    #[must_use]
    pub fn new(config: AdapterConfig, store: Arc<dyn ThreadStore>, kernel: Kernel) -> Self {
        let shared = Shared {
            unattended: Arc::new(Semaphore::new(config.max_unattended_runs.min(Semaphore::MAX_PERMITS))),
            config,
            kernel,
            threads: Threads::new(store),
            images: Arc::new(Semaphore::new(IMAGE_JOBS)),
            expiry: Expiry::default(),
            logs: Arc::default(),
            tasks: TaskTracker::new(),
            shutdown: CancellationToken::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Runs that are active now.
    #[must_use]
    pub fn active_runs(&self) -> usize {
        self.shared.threads.active().len()
    }

    /// Threads that are held in memory now: by a run, a call, or a timer of an open interrupt.
    #[must_use]
    pub fn threads_in_use(&self) -> usize {
        self.shared.threads.in_use()
    }

    /// Whether nothing runs and nobody is waited for.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.active_runs() == 0 && self.shared.expiry.waiting() == 0
    }

    /// Ends every run with an error that says so, and waits until their clean-up is done.
    pub async fn shutdown(&self) {
        self.shared.shutdown.cancel();
        for active in self.shared.threads.active() {
            active.request_stop(StopReason::Shutdown);
        }
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    /// Runs that one thread has active, for tests and idle checks.
    #[must_use]
    pub fn is_thread_active(&self, thread: &ThreadId) -> bool {
        self.shared.threads.slot(thread).active().is_some()
    }
}

impl Agent for Adapter {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let language = request::language(shared.config.profile, &request);
            // In a task of its own: a client that goes away in the middle of the admission must not leave
            // a thread that was made busy and is never freed.
            let admission = shared.tasks.spawn(admit(Arc::clone(&shared), request, language));
            match admission.await {
                Ok(Ok(stream)) => Ok(stream),
                Ok(Err(notice)) => Err(problem(language, &notice)),
                Err(_) => Err(problem(language, &internal())),
            }
        })
    }
}

async fn admit(
    shared: Arc<Shared>,
    request: RunRequest,
    language: agui_i18n::Language,
) -> Result<RunStream, agui_iac_code::ErrorNotice> {
    let request = Request::check(&shared, request, language).await?;
    admission::admit(&shared, request).await
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapter").field("config", &self.shared.config).finish_non_exhaustive()
    }
}
