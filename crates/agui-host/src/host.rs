//! The kernel in whichever form was chosen, and the adapter in front of it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use a2a_client::{Client, ClientConfig};
use agui_adapter::{Adapter, AdapterConfig, INTERRUPT_TTL, Kernel, OnDisconnect, Profile};
use agui_iac_code::Secret;
use agui_store::{FileStore, MemoryStore, ThreadStore};
use agui_testkit::demo::{DemoConfig, DemoKernel};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::kernel::KernelProgram;
use crate::managed::{Managed, Status};
use crate::{HostError, Program as _, Tuning, agent};

/// Which kernel does the work.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelChoice {
    /// One that runs already.
    Url(String),
    /// One that this process starts and watches; the words of its command.
    Managed(Vec<String>),
    /// The built-in one.
    Demo,
    /// No kernel, but any A2A agent: its URL, where its card is looked for.
    Agent(String),
}

/// What an adapter and its kernel are made from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HostConfig {
    /// Which kernel does the work.
    pub kernel: KernelChoice,
    /// Whether the kernel may be on another machine (default no).
    pub allow_remote_a2a: bool,
    /// Bearer token for a kernel that runs already.
    pub a2a_token: Option<Secret>,
    /// Where threads are kept.
    pub state_dir: PathBuf,
    /// Whether threads go with the process instead (default no): for the demo, whose kernel forgets them too.
    pub in_memory: bool,
    /// Directories that a request may work in.
    pub allowed_roots: Vec<PathBuf>,
    /// Life of an interrupt (default [`INTERRUPT_TTL`]).
    pub interrupt_ttl: Duration,
    /// What happens to a run whose client goes away (default: it is cancelled).
    pub on_disconnect: OnDisconnect,
    /// Bounds that nobody should have to change.
    pub tuning: Tuning,
}

impl HostConfig {
    /// The defaults.
    #[must_use]
    pub fn new(
        kernel: KernelChoice,
        state_dir: impl Into<PathBuf>,
        allowed_roots: impl Into<Vec<PathBuf>>,
    ) -> Self {
        Self {
            kernel,
            allow_remote_a2a: false,
            a2a_token: None,
            state_dir: state_dir.into(),
            in_memory: false,
            allowed_roots: allowed_roots.into(),
            interrupt_ttl: INTERRUPT_TTL,
            on_disconnect: OnDisconnect::default(),
            tuning: Tuning::default(),
        }
    }

    /// The adapter in front of `kernel`, over the threads of the state directory.
    ///
    /// # Errors
    /// As for [`store`](Self::store).
    pub fn adapter(&self, kernel: Kernel) -> Result<Adapter, HostError> {
        Ok(self.adapter_over(self.store()?, kernel))
    }

    /// The threads of the state directory, or none yet in memory.
    ///
    /// # Errors
    /// [`HostError::StateDir`] if threads cannot be kept there.
    pub fn store(&self) -> Result<Arc<dyn ThreadStore>, HostError> {
        if self.in_memory {
            return Ok(Arc::new(MemoryStore::new()));
        }
        match FileStore::open(&self.state_dir) {
            Ok(store) => Ok(Arc::new(store)),
            Err(source) => Err(HostError::StateDir { path: self.state_dir.clone(), source }),
        }
    }

    /// The adapter in front of `kernel`, over these threads.
    #[must_use]
    pub fn adapter_over(&self, store: Arc<dyn ThreadStore>, kernel: Kernel) -> Adapter {
        let profile = match self.kernel {
            KernelChoice::Agent(_) => Profile::Generic,
            _ => Profile::IacCode,
        };
        let config = AdapterConfig::new(self.allowed_roots.clone())
            .with_profile(profile)
            .with_interrupt_ttl(self.interrupt_ttl)
            .with_on_disconnect(self.on_disconnect);
        Adapter::new(self.tuning.adapter(config), store, kernel)
    }

    fn client(&self, url: &str) -> Result<Client, HostError> {
        Client::new(self.client_config(ClientConfig::new(url))).map_err(HostError::KernelUrl)
    }

    fn client_config(&self, config: ClientConfig) -> ClientConfig {
        let mut config = self.tuning.client(config);
        if let Some(token) = &self.a2a_token {
            config = config.with_token(token.clone());
        }
        if self.allow_remote_a2a {
            config = config.with_remote_allowed();
        }
        config
    }
}

/// The kernel in whichever form it was chosen.
pub struct Running {
    kernel: Kernel,
    client: watch::Receiver<Option<Client>>,
    managed: Option<(Managed<Client>, CancellationToken)>,
    demo: Option<DemoKernel>,
    /// Ends the search for an agent that is not there yet.
    _search: DropGuard,
}

impl Running {
    /// Starts the kernel and waits until it is ready.
    ///
    /// # Errors
    /// [`HostError`] if it cannot be had, or if `stop` was cancelled meanwhile.
    pub async fn start(config: &HostConfig, stop: &CancellationToken) -> Result<Self, HostError> {
        let KernelChoice::Managed(words) = &config.kernel else { return Self::at_once(config).await };
        let program = KernelProgram::new(words.clone(), &config.allowed_roots)?;
        let name = program.name();
        // The kernel outlives the runs: it is stopped after them, not with them.
        let kernel_stop = CancellationToken::new();
        // Dropping a start closes the guard's input, which ends the kernel.
        let started = stop.run_until_cancelled(Managed::start(program, kernel_stop.clone())).await;
        Ok(Self::watching(started.ok_or(HostError::Stopped { program: name })??, kernel_stop))
    }

    /// Starts the kernel beside everything else: there may be none yet when this returns, and its start is
    /// tried again when it fails.
    ///
    /// # Errors
    /// [`HostError`] if what was configured can never work.
    pub async fn begin(config: &HostConfig) -> Result<Self, HostError> {
        let KernelChoice::Managed(words) = &config.kernel else { return Self::at_once(config).await };
        let program = KernelProgram::new(words.clone(), &config.allowed_roots)?;
        let kernel_stop = CancellationToken::new();
        Ok(Self::watching(Managed::begin(program, kernel_stop.clone()), kernel_stop))
    }

    async fn at_once(config: &HostConfig) -> Result<Self, HostError> {
        let search = CancellationToken::new();
        let (client, demo) = match &config.kernel {
            KernelChoice::Url(url) => (config.client(url)?, None),
            KernelChoice::Agent(url) => {
                let agent = config.client_config(ClientConfig::of_unknown_agent(url));
                let found = agent::find(agent, search.clone()).await?;
                return Ok(Self::of(found, None, None, search));
            }
            KernelChoice::Demo | KernelChoice::Managed(_) => {
                let demo = DemoKernel::start(DemoConfig::default()).await.map_err(HostError::Demo)?;
                let client = Client::new(config.tuning.client(ClientConfig::new(demo.url())));
                (client.map_err(HostError::KernelAddress)?, Some(demo))
            }
        };
        // A receiver keeps its last value when the sender is gone.
        let now = watch::channel(Some(client)).1;
        Ok(Self::of(now, None, demo, search))
    }

    fn of(
        client: watch::Receiver<Option<Client>>,
        managed: Option<(Managed<Client>, CancellationToken)>,
        demo: Option<DemoKernel>,
        search: CancellationToken,
    ) -> Self {
        let kernel = Kernel::changing(client.clone());
        Self { kernel, client, managed, demo, _search: search.drop_guard() }
    }

    fn watching(managed: Managed<Client>, stop: CancellationToken) -> Self {
        let client = managed.current();
        Self::of(client, Some((managed, stop)), None, CancellationToken::new())
    }

    /// The kernel for an adapter.
    #[must_use]
    pub fn kernel(&self) -> Kernel {
        self.kernel.clone()
    }

    /// The kernel's client, `None` while there is no kernel; for whoever has to wait for one.
    #[must_use]
    pub fn client(&self) -> watch::Receiver<Option<Client>> {
        self.client.clone()
    }

    /// What a managed kernel is doing; `None` for one that is not managed here.
    #[must_use]
    pub fn status(&self) -> Option<watch::Receiver<Status>> {
        self.managed.as_ref().map(|(managed, _)| managed.status())
    }

    /// Ends the kernel, after the runs.
    pub async fn end(self) {
        drop(self.demo);
        if let Some((managed, stop)) = self.managed {
            stop.cancel();
            managed.stopped().await;
        }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match (&self.managed, &self.demo) {
            (Some(_), _) => "managed",
            (None, Some(_)) => "demo",
            (None, None) => "url",
        };
        f.debug_tuple("Running").field(&form).finish()
    }
}
