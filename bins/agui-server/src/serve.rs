//! From settings to a server that listens.

use std::sync::Arc;
use std::time::Duration;

use a2a_client::{Client, ClientConfig};
use agui_adapter::{Adapter, AdapterConfig, Kernel};
use agui_auth::Authenticator;
use agui_store::FileStore;
use agui_testkit::demo::{DemoConfig, DemoKernel};
use agui_transport::{Server, ServerBuilder};
use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::descriptors;
use crate::extensions;
use crate::health;
use crate::kernel::{Managed, Status};
use crate::settings::{KernelChoice, Settings};

/// How often an idle server looks whether it may stop, at most and at least.
const IDLE_POLL: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Serves until a signal, or until the server was idle for long enough.
pub(crate) fn run(settings: Settings) -> anyhow::Result<()> {
    descriptors::raise_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no runtime")?;
    runtime.block_on(serve(settings))
}

async fn serve(settings: Settings) -> anyhow::Result<()> {
    let stop = CancellationToken::new();
    // The signals are caught before anything is started that would have to be stopped.
    tokio::spawn(stop_on_signal(stop.clone()));

    // Listening comes first: an address that is taken must not cost the start of a kernel.
    let listener = TcpListener::bind((settings.host.trim_matches(['[', ']']), settings.port))
        .await
        .with_context(|| format!("cannot listen on {}:{}", settings.host, settings.port))?;
    let kernel = Running::start(&settings, &stop).await?;
    let store = FileStore::open(&settings.state_dir)
        .with_context(|| format!("cannot use the state directory {}", settings.state_dir.display()))?;
    let config = AdapterConfig::new(settings.allowed_roots.clone())
        .with_interrupt_ttl(settings.interrupt_ttl)
        .with_on_disconnect(settings.on_disconnect);
    let config = settings.tuning.adapter(config);
    let adapter = Adapter::new(config, Arc::new(store), kernel.kernel.clone());

    let server = builder(&settings, &adapter, kernel.status.clone())?.listen(listener)?;
    tracing::info!(addr = %server.local_addr(), "ready");
    // Beside serving: with many parked threads it takes a while.
    let recovering = adapter.clone();
    tokio::spawn(async move { recovering.recover().await });
    if let Some(idle) = settings.idle_shutdown {
        tokio::spawn(stop_when_idle(idle, adapter.clone(), stop.clone()));
    }
    let runs = {
        let (adapter, stop) = (adapter.clone(), stop.clone());
        tokio::spawn(async move {
            stop.cancelled().await;
            adapter.shutdown().await;
        })
    };
    server.serve(stop).await;
    runs.await.context("the runs were not ended")?;
    kernel.end().await;
    Ok(())
}

/// The kernel in whichever form it was chosen.
struct Running {
    kernel: Kernel,
    status: Option<watch::Receiver<Status>>,
    managed: Option<(Managed, CancellationToken)>,
    demo: Option<DemoKernel>,
}

impl Running {
    async fn start(settings: &Settings, stop: &CancellationToken) -> anyhow::Result<Self> {
        match &settings.kernel {
            KernelChoice::Url(url) => Ok(Self {
                kernel: Kernel::fixed(client(settings, url)?),
                status: None,
                managed: None,
                demo: None,
            }),
            KernelChoice::Demo => {
                let demo = DemoKernel::start(DemoConfig::default())
                    .await
                    .context("the demo kernel does not start")?;
                let client = Client::new(ClientConfig::new(demo.url()))?;
                Ok(Self { kernel: Kernel::fixed(client), status: None, managed: None, demo: Some(demo) })
            }
            KernelChoice::Managed(words) => {
                let roots =
                    std::env::join_paths(&settings.allowed_roots).context("the allowed directories")?;
                let roots = roots.to_string_lossy().into_owned();
                // The kernel outlives the runs: it is stopped after them, not with them.
                let kernel_stop = CancellationToken::new();
                let start = Managed::start(words.clone(), roots, kernel_stop.clone());
                let managed = tokio::select! {
                    // Dropping a start closes the guard's input, which ends the kernel.
                    started = start => started?,
                    () = stop.cancelled() => anyhow::bail!("stopped while the local A2A process was starting"),
                };
                Ok(Self {
                    kernel: Kernel::changing(managed.client.clone()),
                    status: Some(managed.status.clone()),
                    managed: Some((managed, kernel_stop)),
                    demo: None,
                })
            }
        }
    }

    async fn end(self) {
        drop(self.demo);
        if let Some((managed, stop)) = self.managed {
            stop.cancel();
            managed.stopped().await;
        }
    }
}

fn client(settings: &Settings, url: &str) -> anyhow::Result<Client> {
    let mut config = settings.tuning.client(ClientConfig::new(url));
    if let Some(token) = &settings.a2a_token {
        config = config.with_token(token.clone());
    }
    if settings.allow_remote_a2a {
        config = config.with_remote_allowed();
    }
    Client::new(config).context(
        "--a2a-url: the A2A kernel must be a plain HTTP URL on this machine (--allow-remote-a2a lifts the latter)",
    )
}

fn builder(
    settings: &Settings,
    adapter: &Adapter,
    kernel: Option<watch::Receiver<Status>>,
) -> anyhow::Result<ServerBuilder> {
    let mut builder = settings
        .tuning
        .server(Server::builder(Arc::new(adapter.clone())))
        .health(move || health::document(kernel.as_ref()));
    builder = extensions::add(builder, adapter, settings.on_disconnect);
    if let Some(token) = &settings.auth_token {
        let authenticator = Authenticator::bearer(token.expose()).context("IAC_CODE_AGUI_AUTH_TOKEN")?;
        builder = builder.authenticator(authenticator);
    }
    for origin in &settings.allowed_origins {
        builder = builder.allow_origin(origin.as_str());
    }
    for host in &settings.allowed_hosts {
        builder = builder.allow_host(host.as_str());
    }
    if settings.insecure {
        builder = builder.allow_public_without_auth();
    }
    Ok(builder)
}

async fn stop_on_signal(stop: CancellationToken) {
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::error!("signals cannot be caught");
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping");
    stop.cancel();
    // Whoever asks twice does not want to wait.
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    std::process::exit(1);
}

async fn stop_when_idle(idle: Duration, adapter: Adapter, stop: CancellationToken) {
    let pause = (idle / 4).clamp(IDLE_POLL.0, IDLE_POLL.1);
    let mut since = tokio::time::Instant::now();
    loop {
        tokio::time::sleep(pause).await;
        if !adapter.is_idle() {
            since = tokio::time::Instant::now();
        } else if since.elapsed() >= idle {
            tracing::info!("idle for long enough");
            stop.cancel();
            return;
        }
    }
}
