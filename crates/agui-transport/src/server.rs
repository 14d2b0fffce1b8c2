//! Putting a server together.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use agui_auth::Authenticator;
use agui_core::Agent;
use http::Method;
use serde::Serialize;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::activity::Activity;
use crate::gate::{Gate, Stop};
use crate::route_table::{RouteTable, Target};
use crate::serve;
use crate::site::Site;
use crate::{Health, Limits, Route, ServerError, Stopped, Timeouts};

/// Collects what a [`Server`] needs. Made by [`Server::builder`].
#[must_use]
pub struct ServerBuilder {
    agent: Arc<dyn Agent>,
    authenticator: Authenticator,
    limits: Limits,
    timeouts: Timeouts,
    run_path: Box<str>,
    health_path: Box<str>,
    health: Box<dyn Fn() -> Health + Send + Sync>,
    routes: Vec<Route>,
    hosts: Vec<Box<str>>,
    origins: Vec<Box<str>>,
    public_without_auth: bool,
    numbered_events: bool,
}

impl ServerBuilder {
    /// Who may call the run route and the extension routes; everybody unless set.
    pub fn authenticator(mut self, authenticator: Authenticator) -> Self {
        self.authenticator = authenticator;
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

    /// Where the health document is; `/health` unless set.
    pub fn health_path(mut self, path: impl Into<Box<str>>) -> Self {
        self.health_path = path.into();
        self
    }

    /// Gives the health document. Called for each probe, so it should only look, not ask.
    pub fn health(mut self, health: impl Fn() -> Health + Send + Sync + 'static) -> Self {
        self.health = Box::new(health);
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
        let mut routes = RouteTable::default();
        routes.add(Method::POST, &self.run_path, Target::Run)?;
        routes.add(Method::GET, &self.health_path, Target::Health)?;
        routes.add(Method::HEAD, &self.health_path, Target::Health)?;
        for route in self.routes {
            let route = Arc::new(route);
            routes.add(route.method.clone(), &route.path, Target::Extension(Arc::clone(&route)))?;
        }
        let gate = Gate {
            agent: self.agent,
            authenticator: self.authenticator,
            site: Site::new(addr.ip(), self.hosts, self.origins)?,
            routes,
            health: self.health,
            limits: self.limits,
            timeouts: self.timeouts.bounded(),
            numbered_events: self.numbered_events,
            activity: Activity::default(),
            stop: Stop::default(),
            tasks: TaskTracker::new(),
        };
        Ok(Server { gate: Arc::new(gate), listener, addr })
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

/// An AG-UI server that listens and is ready to serve.
pub struct Server {
    gate: Arc<Gate>,
    listener: TcpListener,
    addr: SocketAddr,
}

impl Server {
    /// A server for `agent` with the defaults of a local one: runs at `/`, health at `/health`, no
    /// authentication, loopback only.
    pub fn builder(agent: Arc<dyn Agent>) -> ServerBuilder {
        ServerBuilder {
            agent,
            authenticator: Authenticator::Open,
            limits: Limits::new(),
            timeouts: Timeouts::new(),
            run_path: "/".into(),
            health_path: "/health".into(),
            health: Box::new(default_health),
            routes: Vec::new(),
            hosts: Vec::new(),
            origins: Vec::new(),
            public_without_auth: false,
            numbered_events: false,
        }
    }

    /// The address that is listened on.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// What goes on right now; stays valid while the server serves.
    #[must_use]
    pub fn activity(&self) -> Activity {
        self.gate.activity.clone()
    }

    /// Serves until `shutdown` is cancelled, and then until everything that was open has ended or
    /// [`Timeouts::shutdown`] is over.
    ///
    /// The agent is not told about the shutdown; give it the same token, so that it ends its runs
    /// with a terminal event. A stream that it leaves open gets a `RUN_ERROR` at the end.
    ///
    /// When this future is dropped, all connections are closed at once.
    pub async fn serve(self, shutdown: CancellationToken) -> Stopped {
        tracing::info!(addr = %self.addr, "listening");
        serve::run(self.gate, self.listener, &shutdown).await
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("addr", &self.addr).finish_non_exhaustive()
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
