//! An agent inside an axum application.

use std::sync::Arc;

use agui_core::Agent;
use axum::Router;

use crate::error::RouteProblem;
use crate::{AguiService, Server, ServerError};

/// A router that serves `agent`: runs at `/`, health at `/health`, every bound at its default.
///
/// It can be merged into or nested in an application. With other paths, authentication or limits, make
/// it by [`ServerBuilder::into_router`](crate::ServerBuilder::into_router); see
/// [`into_service`](crate::ServerBuilder::into_service) for what is up to the server that runs it.
///
/// ```
/// # fn application(agent: impl agui_core::Agent) -> axum::Router {
/// axum::Router::new()
///     .route("/", axum::routing::get(|| async { "An application with an agent." }))
///     .nest("/agent", agui_transport::router(agent))
/// # }
/// ```
pub fn router(agent: impl Agent) -> Router {
    Server::builder(Arc::new(agent)).into_router().unwrap_or_else(|error| {
        // The defaults make sense.
        debug_assert!(false, "{error}");
        tracing::error!(%error, "there is no route to the agent");
        Router::new()
    })
}

impl AguiService {
    pub(crate) fn router(self) -> Result<Router, ServerError> {
        let patterns: Vec<String> = self.patterns().map(str::to_owned).collect();
        let mut router = Router::new();
        for pattern in patterns {
            if !pattern.split('/').all(is_whole) {
                let (path, reason) = (pattern.into(), RouteProblem::Pattern);
                return Err(ServerError::Route { path, reason });
            }
            router = router.route_service(&pattern, self.clone());
        }
        Ok(router)
    }
}

/// Whether a segment is a text or a parameter, not some of both.
fn is_whole(segment: &str) -> bool {
    let inner = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    !inner.unwrap_or(segment).contains(['{', '}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_a_whole_segment() {
        for (segment, whole) in [
            ("", true),
            ("a", true),
            ("{a}", true),
            ("{*a}", true),
            ("{a}.json", false),
            ("x{a}", false),
            ("{{a}}", false),
        ] {
            assert_eq!(is_whole(segment), whole, "{segment}");
        }
    }
}
