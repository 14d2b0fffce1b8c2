//! From settings to a server that listens.

use std::sync::Arc;

use agui_adapter::Adapter;
use agui_auth::Authenticator;
use agui_host::{Running, Status, extensions, stop_on_signal, stop_when_idle};
use agui_transport::{Server, ServerBuilder};
use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::health;
use crate::settings::Settings;

/// Serves until a signal, or until the server was idle for long enough.
pub(crate) fn run(settings: Settings) -> anyhow::Result<()> {
    agui_host::raise_descriptor_limit();
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
    let host = settings.host();
    let kernel = Running::start(&host, &stop).await?;
    let adapter = host.adapter(kernel.kernel())?;

    let server = builder(&settings, &adapter, kernel.status())?.listen(listener)?;
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

fn builder(
    settings: &Settings,
    adapter: &Adapter,
    kernel: Option<watch::Receiver<Status>>,
) -> anyhow::Result<ServerBuilder> {
    let choice = settings.kernel.clone();
    let mut builder = settings
        .tuning
        .server(Server::builder(Arc::new(adapter.clone())))
        .health(move || health::document(&choice, kernel.as_ref()));
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
