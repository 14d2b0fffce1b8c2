//! Putting a server together.

use std::fmt;
#[cfg(feature = "tower")]
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::sync::Arc;

use agui_auth::{Authenticator, RateLimit};
use agui_core::Agent;
use http::request::Parts;
use http::{HeaderName, Method};
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

#[cfg(feature = "tower")]
use crate::AguiService;
use crate::activity::Activity;
use crate::gate::{Gate, PrepareHead, Stop};
use crate::health::Probe;
use crate::route_table::{RouteTable, Target};
use crate::sessions::Sessions;
use crate::site::Site;
use crate::{EchoHeaders, ErrorMode, Health, Limits, Route, Server, ServerError, Timeouts};

/// Collects what a [`Server`] needs. Made by [`Server::builder`].
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use agui_auth::Authenticator;
/// use agui_transport::{ErrorMode, Health, Server, ServerError, Timeouts};
/// use serde_json::json;
///
/// # async fn listen(agent: impl agui_core::Agent, token: Authenticator) -> Result<Server, ServerError> {
/// Server::builder(Arc::new(agent))
///     .authenticator(token)
///     .run_path("/invocations")
///     .also_run_path("/invocations/")
///     .probe("/ping", || Health::ok(&json!({"status": "Healthy"})))
///     .timeouts(Timeouts::new().with_idle(Duration::from_secs(90)))
///     .errors_as_events(ErrorMode::Status)
///     .bind(([0, 0, 0, 0], 8080).into())
///     .await
/// # }
/// ```
#[must_use]
pub struct ServerBuilder {
    agent: Arc<dyn Agent>,
    authenticator: Authenticator,
    sessions: Option<Sessions>,
    limits: Limits,
    timeouts: Timeouts,
    run_path: Box<str>,
    also_run_paths: Vec<Box<str>>,
    health_path: Box<str>,
    health: Probe,
    probes: Vec<(Box<str>, Probe)>,
    routes: Vec<Route>,
    hosts: Vec<Box<str>>,
    origins: Vec<Box<str>>,
    public_without_auth: bool,
    numbered_events: bool,
    shows_authorization: bool,
    any_json: bool,
    errors: Option<ErrorMode>,
    echo: Option<EchoHeaders>,
    workers: Option<Handle>,
    prepare: Option<PrepareHead>,
}

impl ServerBuilder {
    pub(crate) fn new(agent: Arc<dyn Agent>) -> Self {
        Self {
            agent,
            authenticator: Authenticator::Open,
            sessions: None,
            limits: Limits::new(),
            timeouts: Timeouts::new(),
            run_path: "/".into(),
            also_run_paths: Vec::new(),
            health_path: "/health".into(),
            health: Probe::new(default_health),
            probes: Vec::new(),
            routes: Vec::new(),
            hosts: Vec::new(),
            origins: Vec::new(),
            public_without_auth: false,
            numbered_events: false,
            shows_authorization: false,
            any_json: false,
            errors: None,
            echo: None,
            workers: None,
            prepare: None,
        }
    }

    /// Who may call the run route and the extension routes, but for those that are open to everybody by
    /// [`Route::without_auth`]; everybody unless set.
    pub fn authenticator(mut self, authenticator: Authenticator) -> Self {
        self.authenticator = authenticator;
        self
    }

    /// How many runs and upgraded connections each session may begin; one more gets 429
    /// `RATE_LIMIT_EXCEEDED`. `session` is the header that names the session; callers without it share an
    /// allowance. The runs of an upgraded connection count if its agent is
    /// [`rate_limited`](crate::rate_limited).
    pub fn rate_limit(mut self, limit: RateLimit, session: HeaderName) -> Self {
        self.sessions = Some(Sessions::new(limit, session));
        self
    }

    /// Sizes and counts.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Waiting times.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Where runs are posted; `/` unless set.
    pub fn run_path(mut self, path: impl Into<Box<str>>) -> Self {
        self.run_path = path.into();
        self
    }

    /// Where runs are posted too, for instance the run path with a slash at its end.
    pub fn also_run_path(mut self, path: impl Into<Box<str>>) -> Self {
        self.also_run_paths.push(path.into());
        self
    }

    /// Where the health document is; `/health` unless set.
    pub fn health_path(mut self, path: impl Into<Box<str>>) -> Self {
        self.health_path = path.into();
        self
    }

    /// Gives the health document. Called for each probe, so it should only look, not ask.
    pub fn health(mut self, health: impl Fn() -> Health + Send + Sync + 'static) -> Self {
        self.health = Probe::new(health);
        self
    }

    /// Adds another document that is read like the one of [`health`](Self::health): by GET and HEAD,
    /// without credentials, without a place among the connections, also while the server is stopping,
    /// and without a line in the log.
    ///
    /// `document` is called for each probe, so it should only look, not ask.
    pub fn probe(
        mut self,
        path: impl Into<Box<str>>,
        document: impl Fn() -> Health + Send + Sync + 'static,
    ) -> Self {
        self.probes.push((path.into(), Probe::new(document)));
        self
    }

    /// Adds an extension route.
    pub fn route(mut self, route: Route) -> Self {
        self.routes.push(route);
        self
    }

    /// Lets requests name this host, without a port, besides the loopback names.
    ///
    /// A server on a loopback address answers only to loopback names and these. One that is
    /// reachable from elsewhere answers to any name until one is given here.
    pub fn allow_host(mut self, host: impl Into<Box<str>>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Lets pages of this origin, `scheme://host[:port]`, call the server from a browser.
    ///
    /// Every other request that names an origin is refused.
    pub fn allow_origin(mut self, origin: impl Into<Box<str>>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Gives each event of the run route an `id` line with its number in the run, from 1, so that a
    /// client can say where it stopped reading. Without it events have no ids.
    ///
    /// What the server itself puts at the end of a stream that it has to cut has none: it is no event of
    /// the run.
    pub fn number_events(mut self) -> Self {
        self.numbered_events = true;
        self
    }

    /// Lets the agent see the caller's `Authorization` header, which it does not otherwise: for agents that act
    /// in the caller's name elsewhere. Its other credentials stay here.
    pub fn show_authorization(mut self) -> Self {
        self.shows_authorization = true;
        self
    }

    /// Completes the head of every request before anything looks at it.
    ///
    /// For what a browser cannot put where it belongs: it cannot give an upgrade headers of its own, so
    /// credentials come as a subprotocol and other headers in the query. What `prepare` adds is checked
    /// as if the client had sent it.
    ///
    /// ```
    /// # fn with_token(builder: agui_transport::ServerBuilder) -> agui_transport::ServerBuilder {
    /// builder.prepare_head(|head| {
    ///     if let Some(token) = head.headers.get("x-old-token").cloned() {
    ///         head.headers.entry(http::header::AUTHORIZATION).or_insert(token);
    ///     }
    /// })
    /// # }
    /// ```
    pub fn prepare_head(mut self, prepare: impl Fn(&mut Parts) + Send + Sync + 'static) -> Self {
        self.prepare = Some(Box::new(prepare));
        self
    }

    /// Answers every refusal with an event stream of one `RUN_ERROR` instead of the JSON envelope, with
    /// the codes of AgentCore where it has one: `VALIDATION_ERROR`, `ACCESS_DENIED`, `UNAUTHORIZED`,
    /// `RATE_LIMIT_EXCEEDED`. What the agent refuses keeps the code that the agent gave it.
    ///
    /// An agent that fails without a word of its own (it panics, or its problem is a server error with a
    /// code that is not in the public table) becomes `AGENT_ERROR` with a fixed text and an id, the
    /// request id if there is one; what it said is in the log under that id only.
    ///
    /// Source: R29 to R35.
    pub fn errors_as_events(mut self, mode: ErrorMode) -> Self {
        self.errors = Some(mode);
        self
    }

    /// Takes bodies as JSON whatever they are said to be, or if nothing is said, except forms, multipart
    /// and XML, which get 415. A body that is compressed is still refused.
    ///
    /// Some SDKs send `application/octet-stream`. A page in a browser can send `text/plain` without
    /// asking first, so what keeps strange pages out is then the list of origins alone.
    pub fn any_json_content_type(mut self) -> Self {
        self.any_json = true;
        self
    }

    /// Gives every request an id, passes it and the session's id back in the answer, and logs both as
    /// `requestId` and `sessionId`: in the line of the request and in a span `request` around all that
    /// is done for it.
    pub fn echo_headers(mut self, echo: EchoHeaders) -> Self {
        self.echo = Some(echo);
        self
    }

    /// Lets the agent and the handlers of routes work on another runtime, together with whatever they
    /// spawn. An agent that blocks its threads then delays neither probes nor streams.
    ///
    /// Functions that give probe documents, and upgraded connections, stay on the runtime that serves;
    /// see [`on_runtime`](crate::on_runtime).
    pub fn agent_runtime(mut self, runtime: Handle) -> Self {
        self.workers = Some(runtime);
        self
    }

    /// Lets the server listen on an address that others can reach although nobody has to prove
    /// anything; for containers whose platform authenticates.
    pub fn allow_public_without_auth(mut self) -> Self {
        self.public_without_auth = true;
        self
    }

    /// Listens on `addr`; port 0 takes a free one. Nothing is accepted before [`Server::serve`].
    ///
    /// # Errors
    /// [`ServerError`] if the address cannot be had or the configuration makes no sense.
    pub async fn bind(self, addr: SocketAddr) -> Result<Server, ServerError> {
        self.check_exposure(addr)?;
        let listener = TcpListener::bind(addr).await.map_err(|source| ServerError::Bind { addr, source })?;
        self.listen(listener)
    }

    /// Takes a listener that exists already.
    ///
    /// # Errors
    /// [`ServerError`] if the configuration makes no sense.
    pub fn listen(self, listener: TcpListener) -> Result<Server, ServerError> {
        let addr = listener.local_addr().map_err(ServerError::Listener)?;
        self.check_exposure(addr)?;
        let site = Site::new(addr.ip(), self.hosts.clone(), self.origins.clone())?;
        let gate = self.into_gate(site)?;
        Ok(Server::new(gate, listener, addr))
    }

    /// Makes a service for a server that exists already.
    ///
    /// That server owns the connections: how many there are, how long their heads may take, how long a
    /// client may accept nothing. So [`Limits::max_connections`], [`Limits::max_head_bytes`] and the
    /// times for heads, idle connections and writing play no part. Any `Host` is answered to unless
    /// [`allow_host`](Self::allow_host) was called; whether callers have to prove anything is up to you
    /// on any address.
    ///
    /// # Errors
    /// [`ServerError`] if the configuration makes no sense.
    #[cfg(feature = "tower")]
    pub fn into_service(self) -> Result<AguiService, ServerError> {
        // An address that says nothing about who can reach it.
        let site = Site::new(Ipv4Addr::UNSPECIFIED.into(), self.hosts.clone(), self.origins.clone())?;
        Ok(AguiService::new(self.into_gate(site)?))
    }

    /// Makes a router for an axum application: [`into_service`](Self::into_service) on each of its paths.
    ///
    /// # Errors
    /// [`ServerError`] if the configuration makes no sense, or a path pattern is more than axum knows:
    /// only whole segments can be parameters.
    #[cfg(feature = "axum")]
    pub fn into_router(self) -> Result<axum::Router, ServerError> {
        self.into_service()?.router()
    }

    fn into_gate(self, site: Site) -> Result<Gate, ServerError> {
        let mut routes = RouteTable::default();
        routes.add(Method::POST, &self.run_path, Target::Run)?;
        for path in self.also_run_paths {
            routes.add(Method::POST, &path, Target::Run)?;
        }
        for (path, probe) in [(self.health_path, self.health)].into_iter().chain(self.probes) {
            routes.add(Method::GET, &path, Target::Probe(probe.clone()))?;
            routes.add(Method::HEAD, &path, Target::Probe(probe))?;
        }
        for route in self.routes {
            let route = Arc::new(route);
            routes.add(route.method.clone(), &route.path, Target::Extension(Arc::clone(&route)))?;
        }
        Ok(Gate {
            agent: self.agent,
            authenticator: self.authenticator,
            sessions: self.sessions,
            site,
            routes,
            limits: self.limits,
            timeouts: self.timeouts.bounded(),
            numbered_events: self.numbered_events,
            shows_authorization: self.shows_authorization,
            any_json: self.any_json,
            errors: self.errors,
            echo: self.echo,
            workers: self.workers,
            prepare: self.prepare,
            activity: Activity::default(),
            stop: Stop::default(),
            tasks: TaskTracker::new(),
        })
    }

    fn check_exposure(&self, addr: SocketAddr) -> Result<(), ServerError> {
        let public = !addr.ip().to_canonical().is_loopback();
        if public && !self.authenticator.is_required() && !self.public_without_auth {
            return Err(ServerError::PublicWithoutAuth { addr });
        }
        Ok(())
    }
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBuilder")
            .field("authenticator", &self.authenticator)
            .field("limits", &self.limits)
            .field("timeouts", &self.timeouts)
            .field("run_path", &self.run_path)
            .field("health_path", &self.health_path)
            .field("routes", &self.routes)
            .field("hosts", &self.hosts)
            .field("origins", &self.origins)
            .finish_non_exhaustive()
    }
}

fn default_health() -> Health {
    #[derive(Serialize)]
    struct Document {
        status: &'static str,
        protocol: &'static str,
    }

    Health::ok(&Document { status: "ok", protocol: "ag-ui" })
}
