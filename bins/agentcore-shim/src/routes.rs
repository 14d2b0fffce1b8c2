//! Routes beside the one for runs.

use std::sync::Arc;
use std::time::Duration;

use agui_auth::{Authenticator, ResourceMetadata};
use agui_core::{Agent, PROTOCOL_VERSION};
use agui_iac_code::ErrorCode;
use agui_transport::{CALLER, Health, Route, RouteReply, RouteRequest, ServerBuilder, Upgrade, still_let_in};
use agui_ws::{WsConfig, WsContext};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::json;
use tokio_util::task::TaskTracker;

use crate::backend::Warmth;
use crate::cancel::Canceller;
use crate::session::{SESSION_HEADER, problem, session_in};

pub(crate) const PING: &str = "/ping";
pub(crate) const HEALTH: &str = "/health";
const WARMUP: &str = "/warmup";
const WS: &str = "/ws";

/// How long a warm-up waits; the platform gives it 120 s.
const WARMUP_PATIENCE: Duration = Duration::from_secs(110);
/// How the names of queries begin that stand for headers, where a browser cannot send those.
const CUSTOM_PREFIX: &str = "x-amzn-bedrock-agentcore-runtime-custom-";
/// Headers that are taken from the query of an upgrade, at most; the platform passes on 20.
const MAX_QUERY_HEADERS: usize = 20;

/// The document of `GET /health`: what the shim is and what is behind it.
pub(crate) fn health(warmth: &Warmth) -> impl Fn() -> Health + Send + Sync + use<> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Document {
        status: &'static str,
        protocol: &'static str,
        protocol_package_version: &'static str,
        server_version: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        agent: Option<serde_json::Value>,
    }

    let status = warmth.status();
    move || {
        Health::ok(&Document {
            status: "ok",
            protocol: "ag-ui",
            protocol_package_version: PROTOCOL_VERSION,
            server_version: env!("CARGO_PKG_VERSION"),
            agent: status.as_ref().map(|status| status.borrow().to_json()),
        })
    }
}

/// Answers with success once the agent is ready, so that the platform does not count its start as a
/// caller's wait.
pub(crate) fn warmup(warmth: Warmth) -> Route {
    Route::post(WARMUP, move |request: RouteRequest| {
        let warmth = warmth.clone();
        async move {
            if warmth.wait(WARMUP_PATIENCE).await {
                RouteReply::json(StatusCode::OK, &json!({ "status": "ready" }))
            } else {
                RouteReply::Problem(problem(request.language, &ErrorCode::A2aUnavailable.into()))
            }
        }
    })
    // The platform calls it with neither.
    .without_auth()
    .without_body()
}

/// Serves the metadata of the resource wherever clients look for it.
pub(crate) fn metadata(mut server: ServerBuilder, path: &str, document: &ResourceMetadata) -> ServerBuilder {
    for path in ResourceMetadata::well_known_paths(path) {
        let health = Health::ok(document);
        server = server.probe(path, move || health.clone());
    }
    server
}

/// What every socket is served with.
#[derive(Clone)]
pub(crate) struct Sockets {
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) config: WsConfig,
    pub(crate) canceller: Canceller,
    /// Who was let in has to be so still when it asks for a run.
    pub(crate) authenticator: Authenticator,
    pub(crate) tasks: TaskTracker,
    /// Whether the agent sees the `Authorization` of the upgrade request.
    pub(crate) shows_authorization: bool,
}

/// The WebSocket.
pub(crate) fn ws(sockets: Sockets) -> Route {
    Route::upgrade(WS, move |request: RouteRequest| {
        let sockets = sockets.clone();
        async move {
            match agui_ws::accept(&request.headers) {
                Ok(answer) => RouteReply::Upgrade(upgrade(sockets, &request, answer)),
                Err(refused) => RouteReply::Problem(refused.problem(request.language)),
            }
        }
    })
}

fn upgrade(sockets: Sockets, request: &RouteRequest, answer: HeaderMap) -> Upgrade {
    let session = session_in(&request.headers).map(str::to_owned);
    let mut context = WsContext::new().with_headers(&request.headers).with_tasks(sockets.tasks);
    if sockets.shows_authorization {
        context = context.with_authorization(&request.headers);
    }
    // Its runs are asked for by whoever has opened the socket, and so are their ends.
    context.headers.extend(request.caller.as_ref().map(|caller| (CALLER.into(), caller.as_str().into())));
    let control = sockets.canceller.asked_by(&context.headers);
    let context = context.with_control(Arc::new(control));
    let agent = Arc::new(still_let_in(sockets.agent, sockets.authenticator, request.headers.clone()));
    let config = sockets.config;
    Upgrade::new(answer, move |io, stop| async move {
        let context = context.with_stop(stop.asked, stop.last_call);
        let end = agui_ws::serve(io, agent, &config, context).await;
        tracing::info!(session_id = session, ?end, "socket finished");
    })
}

/// Puts into the headers of an upgrade what a browser can only put elsewhere: the token of the caller,
/// which comes as a subprotocol, and the session and other headers, which come in the query.
///
/// Source: AgentCore, "Get started with WebSocket streaming".
pub(crate) fn complete_upgrade(head: &mut Parts) {
    if head.uri.path() != WS {
        return;
    }
    if let Some(token) = agui_ws::authorization(&head.headers) {
        head.headers.entry(AUTHORIZATION).or_insert(token);
    }
    let query = head.uri.query().unwrap_or_default().to_owned();
    let named = query.split('&').filter_map(|pair| pair.split_once('='));
    for (name, value) in named.filter(|(name, _)| stands_for_header(name)).take(MAX_QUERY_HEADERS) {
        let name = HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes());
        if let (Ok(name), Some(Ok(value))) = (name, decoded(value).map(HeaderValue::try_from)) {
            head.headers.entry(name).or_insert(value);
        }
    }
}

fn stands_for_header(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower == SESSION_HEADER || lower.starts_with(CUSTOM_PREFIX)
}

/// A value of a query, percent-decoded.
fn decoded(value: &str) -> Option<Vec<u8>> {
    let mut bytes = value.bytes();
    let mut decoded = Vec::with_capacity(value.len());
    while let Some(byte) = bytes.next() {
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        decoded.push(match byte {
            b'%' => u8::try_from(digit(bytes.next())? * 16 + digit(bytes.next())?).ok()?,
            b'+' => b' ',
            byte => byte,
        });
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(path: &str, headers: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut request = http::Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (mut head, ()) = request.body(()).unwrap().into_parts();
        complete_upgrade(&mut head);
        let text = |value: &HeaderValue| value.to_str().unwrap().to_owned();
        head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
    }

    #[test]
    fn what_a_browser_puts_elsewhere_becomes_headers() {
        let custom = "X-Amzn-Bedrock-AgentCore-Runtime-Custom-Tenant";
        let path = format!("/ws?x=1&{SESSION_HEADER}=s-1&{custom}=a%20b&Cookie=c&broken");
        assert_eq!(
            completed(&path, &[]),
            [(SESSION_HEADER.to_owned(), "s-1".to_owned()), (custom.to_ascii_lowercase(), "a b".to_owned())]
        );
        assert_eq!(completed(&path.replace("/ws", "/other"), &[]), []);
        let offered = [("sec-websocket-protocol", "base64UrlBearerAuthorization.dG9rLTE")];
        assert!(
            completed("/ws", &offered).contains(&("authorization".to_owned(), "Bearer tok-1".to_owned()))
        );
    }

    #[test]
    fn headers_win_and_broken_values_are_left_out() {
        let path = format!("/ws?{SESSION_HEADER}=query");
        assert_eq!(completed(&path, &[(SESSION_HEADER, "header")]).len(), 1);
        for value in ["%", "%2", "%zz", "a%0ab"] {
            assert_eq!(completed(&format!("/ws?{SESSION_HEADER}={value}"), &[]), [], "{value}");
        }
    }
}
