//! From settings to a server that listens, and to its end.

use std::sync::Arc;
use std::time::Duration;

use agui_adapter::OnDisconnect;
use agui_auth::RateLimit;
use agui_core::Agent;
use agui_host::{Status, Tuning, extensions, stop_on_signal};
use agui_relay::{Abandon, LiveRuns, Rejoin, RejoinConfig};
use agui_transport::{EchoHeaders, Limits, Server, ServerBuilder, Timeouts, on_runtime, rate_limited};
use anyhow::Context as _;
use http::HeaderName;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::aliases::TokenAliases;
use crate::backend::{Backend, IacCode};
use crate::cancel::Canceller;
use crate::envelope::Envelopes;
use crate::fill::Fill;
use crate::parking::{Parked, Parking};
use crate::ping::Ping;
use crate::presence::{Presence, Work};
use crate::routes::{self, Sockets};
use crate::session::{REQUEST_ID_HEADERS, SESSION_HEADER, requester_headers};
use crate::settings::Settings;

/// From the wish to stop until every run has had its last word. The platform gives 15 s in all.
pub(crate) const RUNS_WITHIN: Duration = Duration::from_secs(8);
/// Of that, what the adapter gets to end its runs in its own words.
const ADAPTER_WITHIN: Duration = Duration::from_secs(7);
/// From the wish to stop until the process ends.
const EXIT_WITHIN: Duration = Duration::from_millis(11_500);
/// Request line and headers together, in bytes: 20 headers of 4 KiB and what the platform adds.
const MAX_HEAD_BYTES: usize = 128 * 1024;
/// Threads that serve: one may be busy with a stream while the other answers a probe.
const SERVING_THREADS: usize = 2;

/// Serves until a signal.
pub(crate) fn run(settings: Settings) -> anyhow::Result<()> {
    agui_host::raise_descriptor_limit();
    // Two runtimes: an agent that holds its threads up holds up neither probes nor streams.
    let agents =
        Builder::new_multi_thread().thread_name("agents").enable_all().build().context("no runtime")?;
    let serving = Builder::new_multi_thread()
        .thread_name("serving")
        .worker_threads(SERVING_THREADS)
        .enable_all()
        .build()
        .context("no runtime")?;
    let served = serving.block_on(serve(settings, agents.handle().clone()));
    // Whatever holds a thread up is left behind.
    serving.shutdown_background();
    agents.shutdown_background();
    served
}

async fn serve(settings: Settings, agents: Handle) -> anyhow::Result<()> {
    let ping = Arc::new(Ping::new());
    let stop = CancellationToken::new();
    // The signals are caught before anything is started that would have to be stopped.
    tokio::spawn(stop_on_signal(stop.clone()));
    // Listening comes first: whoever starts a container waits for it.
    let listener = TcpListener::bind((settings.host.trim_matches(['[', ']']), settings.port))
        .await
        .with_context(|| format!("cannot listen on {}:{}", settings.host, settings.port))?;
    let begin = agents.spawn(Backend::begin(settings.agent.clone()));
    let backend = begin.await.context("the agent was not set up")??;
    let stack = Stack::new(&settings, &backend, &ping, &agents);
    let server = stack.server(&settings, &backend, &ping, &agents).listen(listener)?;
    tracing::info!(addr = %server.local_addr(), mode = ?settings.error_mode, "ready");

    if let Some(IacCode { adapter, .. }) = &backend.iac_code {
        let (adapter, ping) = (adapter.clone(), Arc::clone(&ping));
        let waits = settings.busy_while_parked;
        agents.spawn(async move {
            adapter.recover().await;
            // Threads that waited before the process was started.
            if waits && !adapter.is_idle() {
                ping.begin();
            }
        });
    }
    let works = stack.works(&settings, &backend);
    tokio::spawn(watch_program(backend.warmth.status(), Arc::clone(&ping)));
    tokio::spawn(async move { ping.watch(works).await });
    let ending = agents.spawn(end_runs(stop.clone(), backend.iac_code.clone(), stack.rejoin.clone()));
    server.serve(stop).await;
    let deadline = ending.await.context("the runs were not ended")? + EXIT_WITHIN;
    if timeout_at(deadline, backend.end()).await.is_err() {
        tracing::warn!("the agent did not end in time");
    }
    Ok(())
}

/// Ends every run when `stop` is cancelled; gives the time of that.
async fn end_runs(stop: CancellationToken, iac_code: Option<IacCode>, rejoin: Rejoin) -> Instant {
    stop.cancelled().await;
    let asked = Instant::now();
    if let Some(IacCode { adapter, .. }) = iac_code
        && timeout(ADAPTER_WITHIN, adapter.shutdown()).await.is_err()
    {
        tracing::warn!("runs did not end in time");
    }
    let _ = timeout_at(asked + RUNS_WITHIN, rejoin.shutdown()).await;
    asked
}

/// Tells `/ping` whether the program that does the work comes up.
async fn watch_program(status: Option<watch::Receiver<Status>>, ping: Arc<Ping>) {
    let Some(mut status) = status else { return };
    loop {
        ping.set_failing(status.borrow_and_update().is_failing());
        if status.changed().await.is_err() {
            return;
        }
    }
}

/// The agent with everything around it that both ways in share.
struct Stack {
    agent: Arc<dyn Agent>,
    rejoin: Rejoin,
    canceller: Canceller,
    work: Work,
    /// Threads of an upstream agent that wait for a person, if that counts.
    parked: Option<Arc<Parked>>,
}

impl Stack {
    /// From the inside: the agent, [`TokenAliases`], [`Parking`], [`Rejoin`], [`Fill`], [`Envelopes`], [`Presence`].
    fn new(settings: &Settings, backend: &Backend, ping: &Arc<Ping>, agents: &Handle) -> Self {
        let mut agent = Arc::clone(&backend.agent);
        let iac_code = backend.iac_code.as_ref();
        if iac_code.is_none() {
            agent = Arc::new(TokenAliases(agent));
        }
        let parked = (settings.busy_while_parked && iac_code.is_none())
            .then(|| Arc::new(Parked::new(settings.interrupt_ttl)));
        if let Some(parked) = &parked {
            agent = Arc::new(Parking::new(agent, Arc::clone(parked)));
        }
        let abandon = match settings.on_disconnect {
            OnDisconnect::Grace(time) => Abandon::After(time),
            OnDisconnect::Detach => Abandon::Never,
            _ => Abandon::AtOnce,
        };
        let requester = requester_headers(&settings.access.authenticator);
        let config = RejoinConfig::default().with_abandon(abandon).with_requester(&requester);
        let rejoin = Rejoin::new(agent, config);
        let work = Work::new(Arc::clone(ping));
        let canceller = Canceller::new(iac_code.cloned(), rejoin.runs(), work.clone(), agents.clone());
        let mut agent: Arc<dyn Agent> = Arc::new(rejoin.clone());
        let mut session = Box::<str>::default();
        if let Some(IacCode { defaults, .. }) = iac_code {
            session = defaults.session.clone();
            agent = Arc::new(Fill::new(agent, defaults.clone()));
        }
        let agent = Arc::new(Envelopes::new(agent, canceller.clone(), agents.clone(), session));
        let agent = Arc::new(Presence::new(agent, work.clone()));
        Self { agent, rejoin, canceller, work, parked }
    }

    /// Whether anything goes on that keeps the session alive.
    fn works(&self, settings: &Settings, backend: &Backend) -> impl Fn() -> bool + Send + Sync + use<> {
        let (work, runs): (_, LiveRuns) = (self.work.clone(), self.rejoin.runs());
        let parked = self.parked.clone();
        let adapter = backend.iac_code.as_ref().map(|iac_code| iac_code.adapter.clone());
        let waits = settings.busy_while_parked;
        move || {
            let adapter_works = adapter
                .as_ref()
                .is_some_and(|adapter| adapter.active_runs() > 0 || (waits && !adapter.is_idle()));
            work.any()
                || runs.count() > 0
                || adapter_works
                || parked.as_ref().is_some_and(|parked| parked.any())
        }
    }

    fn server(
        &self,
        settings: &Settings,
        backend: &Backend,
        ping: &Arc<Ping>,
        agents: &Handle,
    ) -> ServerBuilder {
        let rate = settings.rate_limit.map(RateLimit::per_session);
        let session = HeaderName::from_static(SESSION_HEADER);
        let mut agent: Arc<dyn Agent> = Arc::new(on_runtime(Arc::clone(&self.agent), agents.clone()));
        if let Some(rate) = &rate {
            agent = Arc::new(rate_limited(agent, rate.clone(), session.clone()));
        }
        let sockets = Sockets {
            agent,
            config: settings.ws,
            canceller: self.canceller.clone(),
            authenticator: settings.access.authenticator.clone(),
            tasks: TaskTracker::new(),
            shows_authorization: settings.shows_authorization,
        };
        let ping = Arc::clone(ping);
        let mut server = Server::builder(Arc::clone(&self.agent))
            .limits(limits(settings))
            .timeouts(timeouts(&settings.tuning))
            .run_path(settings.path.as_str())
            .health_path(routes::PING)
            .health(move || ping.answer())
            .probe(routes::HEALTH, routes::health(&backend.warmth))
            .route(routes::warmup(backend.warmth.clone()))
            .route(routes::ws(sockets))
            .prepare_head(routes::complete_upgrade)
            .errors_as_events(settings.error_mode)
            .any_json_content_type()
            .echo_headers(echo())
            .agent_runtime(agents.clone())
            // Behind the platform nobody else reaches the container.
            .allow_public_without_auth()
            .authenticator(settings.access.authenticator.clone());
        if settings.shows_authorization {
            server = server.show_authorization();
        }
        if settings.path != "/" {
            server = server.also_run_path(format!("{}/", settings.path));
        }
        if let Some(document) = &settings.access.metadata {
            server = routes::metadata(server, &settings.path, document);
        }
        if let Some(rate) = rate {
            server = server.rate_limit(rate, session);
        }
        if let Some(IacCode { adapter, .. }) = &backend.iac_code {
            server = extensions::add(server, adapter, OnDisconnect::Cancel);
        }
        for origin in &settings.allowed_origins {
            server = server.allow_origin(origin.as_str());
        }
        for host in &settings.allowed_hosts {
            server = server.allow_host(host.as_str());
        }
        server
    }
}

fn limits(settings: &Settings) -> Limits {
    let limits =
        Limits::new().with_max_run_body_bytes(settings.max_body_bytes).with_max_head_bytes(MAX_HEAD_BYTES);
    settings.tuning.limits(limits)
}

fn timeouts(tuning: &Tuning) -> Timeouts {
    tuning.timeouts(Timeouts::new().with_shutdown(RUNS_WITHIN))
}

/// Requests are known by the platform's own id first, sessions by theirs.
fn echo() -> EchoHeaders {
    let [preferred, answered] = REQUEST_ID_HEADERS.map(HeaderName::from_static);
    EchoHeaders::new(answered).prefer(preferred).with_session(HeaderName::from_static(SESSION_HEADER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_20_a_connection_rests_longer_than_a_proxy_keeps_it() {
        let idle = timeouts(&Tuning::default()).idle;
        assert!(idle.is_some_and(|idle| idle >= Duration::from_secs(75)), "{idle:?}");
    }

    #[test]
    fn row_18_everything_ends_before_the_platform_ends_it() {
        assert!(ADAPTER_WITHIN < RUNS_WITHIN && RUNS_WITHIN < EXIT_WITHIN);
        assert!(RUNS_WITHIN <= Duration::from_secs(8) && EXIT_WITHIN <= Duration::from_secs(12));
    }
}
