//! What a socket knows of the request that it began with, and of the server around it.

use std::fmt;
use std::sync::Arc;

use http::header::{ACCEPT_LANGUAGE, AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL};
use http::{HeaderMap, HeaderName};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{Activity, Control};

/// What a socket is served with.
///
/// `Debug` shows names only: headers carry secrets.
///
/// Example: see [`serve`](crate::serve()).
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct WsContext {
    /// Headers that every run of the socket gets to see, names in lower case.
    pub headers: Vec<(Box<str>, Box<str>)>,
    /// The `Accept-Language` header.
    pub accept_language: Option<Box<str>>,
    /// Who carries out cancel messages; without one they end the run of the socket.
    pub control: Option<Arc<dyn Control>>,
    /// Counts the active runs.
    pub activity: Activity,
    /// Cancelled when nothing new is to be begun.
    pub asked: CancellationToken,
    /// Cancelled when what still runs has to end now.
    pub last_call: CancellationToken,
    /// Where the starts of runs and cancels go on to their end when the client leaves.
    pub tasks: TaskTracker,
}

impl WsContext {
    /// A context without headers, control or wish to stop.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes from the upgrade request what an agent gets to see: every header that is text and proves
    /// nothing about the caller.
    #[must_use]
    pub fn with_headers(mut self, headers: &HeaderMap) -> Self {
        const CREDENTIALS: [HeaderName; 4] =
            [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE, SEC_WEBSOCKET_PROTOCOL];
        let language = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        self.accept_language = language.map(Into::into);
        let shown = headers.iter().filter(|(name, _)| !CREDENTIALS.contains(name));
        self.headers.extend(
            shown.filter_map(|(name, value)| Some((name.as_str().into(), value.to_str().ok()?.into()))),
        );
        self
    }

    /// Lets the agent see the `Authorization` of the upgrade request too.
    #[must_use]
    pub fn with_authorization(mut self, headers: &HeaderMap) -> Self {
        let value = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        self.headers.extend(value.map(|value| (AUTHORIZATION.as_str().into(), value.into())));
        self
    }

    /// Sets who carries out cancel messages.
    #[must_use]
    pub fn with_control(mut self, control: Arc<dyn Control>) -> Self {
        self.control = Some(control);
        self
    }

    /// Sets the counter of active runs.
    #[must_use]
    pub fn with_activity(mut self, activity: Activity) -> Self {
        self.activity = activity;
        self
    }

    /// Sets how the socket hears of a shutdown: first `asked`, then `last_call`.
    #[must_use]
    pub fn with_stop(mut self, asked: CancellationToken, last_call: CancellationToken) -> Self {
        self.asked = asked;
        self.last_call = last_call;
        self
    }

    /// Sets the tracker of the tasks that outlive the socket.
    #[must_use]
    pub fn with_tasks(mut self, tasks: TaskTracker) -> Self {
        self.tasks = tasks;
        self
    }
}

impl fmt::Debug for WsContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| &**name).collect();
        f.debug_struct("WsContext")
            .field("headers", &names)
            .field("accept_language", &self.accept_language)
            .field("control", &self.control.is_some())
            .field("activity", &self.activity)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn an_agent_sees_the_text_headers_that_are_no_credentials() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer secret"),
            ("cookie", "secret"),
            ("sec-websocket-protocol", "base64UrlBearerAuthorization.c2VjcmV0"),
            ("accept-language", "fr, en"),
            ("x-session", "s-1"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.insert("x-bytes", HeaderValue::from_bytes(b"\xff").unwrap());
        let context = WsContext::new().with_headers(&headers);
        let seen: Vec<(&str, &str)> = context.headers.iter().map(|(k, v)| (&**k, &**v)).collect();
        assert_eq!(seen, [("accept-language", "fr, en"), ("x-session", "s-1")]);
        assert_eq!(context.accept_language.as_deref(), Some("fr, en"));
        let context = context.with_authorization(&headers);
        assert_eq!(context.headers.last(), Some(&("authorization".into(), "Bearer secret".into())));
        let shown = format!("{context:?}");
        assert!(!shown.contains("s-1") && !shown.contains("secret"), "{shown}");
    }
}
