//! Callers that stay connected for longer than their credentials last.

use std::fmt;
use std::sync::Arc;

use agui_auth::Authenticator;
use agui_core::{Agent, BoxFuture, Problem, RunRequest, RunStream};
use http::HeaderMap;

use crate::refusal::Refusal;

/// An agent for one caller, who showed `headers` when it was let in: it is asked before each run whether it would be
/// let in still, and otherwise gets 401 `UNAUTHORIZED`.
///
/// A request is checked when it comes. What comes later on an upgraded connection is not, and a token may have expired
/// since: see [`Authenticator::check_again`].
///
/// ```
/// use std::sync::Arc;
///
/// use agui_auth::Authenticator;
/// use agui_transport::{RouteRequest, still_let_in};
///
/// fn of_socket(
///     agent: Arc<dyn agui_core::Agent>,
///     authenticator: Authenticator,
///     request: &RouteRequest,
/// ) -> impl agui_core::Agent + use<> {
///     still_let_in(agent, authenticator, request.headers.clone())
/// }
/// ```
pub fn still_let_in(
    agent: Arc<dyn Agent>,
    authenticator: Authenticator,
    headers: HeaderMap,
) -> impl Agent + fmt::Debug {
    StillLetIn { agent, authenticator, headers }
}

struct StillLetIn {
    agent: Arc<dyn Agent>,
    authenticator: Authenticator,
    headers: HeaderMap,
}

impl Agent for StillLetIn {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async move {
            let language = agui_i18n::choose(None, request.accept_language.as_deref());
            let checked = self.authenticator.check_again(&self.headers).await;
            checked.map_err(|denied| Refusal::Denied(denied).problem(language))?;
            self.agent.run(request).await
        })
    }
}

impl fmt::Debug for StillLetIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StillLetIn").field("authenticator", &self.authenticator).finish_non_exhaustive()
    }
}
