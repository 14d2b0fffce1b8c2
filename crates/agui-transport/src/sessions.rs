//! How often a session may begin something.

use std::fmt;
use std::sync::Arc;

use agui_auth::RateLimit;
use agui_core::{Agent, BoxFuture, Problem, RunRequest, RunStream};
use http::{HeaderMap, HeaderName};

use crate::refusal::Refusal;

/// The allowance of each session, and the header by which sessions are told apart.
#[derive(Debug)]
pub(crate) struct Sessions {
    limit: RateLimit,
    header: HeaderName,
}

impl Sessions {
    pub(crate) const fn new(limit: RateLimit, header: HeaderName) -> Self {
        Self { limit, header }
    }

    /// Takes one call off the allowance; callers that name no session share one.
    ///
    /// # Errors
    /// [`Refusal::TooOften`].
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        self.take(headers.get(&self.header).and_then(|value| value.to_str().ok()))
    }

    fn take(&self, session: Option<&str>) -> Result<(), Refusal> {
        self.limit.check(session.unwrap_or_default()).map_err(Refusal::TooOften)
    }
}

/// An agent that each session may ask so often; one more run gets 429 `RATE_LIMIT_EXCEEDED`.
///
/// [`ServerBuilder::rate_limit`](crate::ServerBuilder::rate_limit) does the same for everything that comes as a
/// request of its own; this is for whoever calls an agent itself, for instance on an upgraded connection. With a
/// clone of the server's limit they share an allowance.
///
/// ```
/// use std::sync::Arc;
///
/// fn limited(agent: Arc<dyn agui_core::Agent>) -> Result<impl agui_core::Agent, agui_auth::ConfigError> {
///     let limit = agui_auth::RateLimit::per_session("10/s".parse()?);
///     Ok(agui_transport::rate_limited(agent, limit, http::HeaderName::from_static("x-session")))
/// }
/// ```
///
/// Source: R31.
pub fn rate_limited(agent: Arc<dyn Agent>, limit: RateLimit, session: HeaderName) -> impl Agent + fmt::Debug {
    Rated { agent, sessions: Sessions::new(limit, session) }
}

struct Rated {
    agent: Arc<dyn Agent>,
    sessions: Sessions,
}

impl Agent for Rated {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        match self.sessions.take(request.header(self.sessions.header.as_str())) {
            Ok(()) => self.agent.run(request),
            Err(refusal) => {
                let language = agui_i18n::choose(None, request.accept_language.as_deref());
                Box::pin(std::future::ready(Err(refusal.problem(language))))
            }
        }
    }
}

impl fmt::Debug for Rated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rated").field("sessions", &self.sessions).finish_non_exhaustive()
    }
}
