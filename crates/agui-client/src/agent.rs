use std::fmt;

use agui_core::{Event, RunAgentInput, RunId, UnixMillis};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request};
use http_body_util::Full;

use crate::endpoint::Endpoint;
use crate::exchange::Exchange;
use crate::{AgentConfig, ClientError, Conversation, Run, RunEnd, outgoing, refusal};

/// An agent behind an HTTP address.
///
/// `Debug` shows neither the address, whose query may be a secret, nor values of headers.
#[derive(Clone)]
pub struct HttpAgent {
    config: AgentConfig,
    endpoint: Endpoint,
    headers: HeaderMap,
}

impl HttpAgent {
    /// Checks the configuration; connects to nothing yet.
    ///
    /// # Errors
    /// [`ClientError::InvalidUrl`], [`ClientError::TlsUnsupported`], [`ClientError::InvalidHeader`].
    pub fn new(config: AgentConfig) -> Result<Self, ClientError> {
        let endpoint = Endpoint::parse(&config.url)?;
        let mut headers = HeaderMap::new();
        for (name, value) in &config.headers {
            let invalid = || ClientError::InvalidHeader { name: name.as_str().into() };
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| invalid())?;
            value.set_sensitive(true);
            headers.append(key, value);
        }
        headers.insert(HOST, endpoint.authority.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        Ok(Self { config, endpoint, headers })
    }

    /// Sends a request, in the form that [`outgoing`] gives it, and waits until the agent has accepted it.
    ///
    /// Nothing is sent twice and no redirect is followed. Dropping the future or the run closes the
    /// connection, which is how a client cancels.
    ///
    /// # Errors
    /// [`ClientError::Refused`] with what the agent says; else the agent was not reached, does not answer,
    /// or answers something else than an event stream.
    pub async fn run(&self, input: RunAgentInput) -> Result<Run, ClientError> {
        let input = outgoing(input, self.config.dialect);
        let body = serde_json::to_vec(&input).map_err(ClientError::Request)?;
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        request.uri_mut().clone_from(&self.endpoint.target);
        request.headers_mut().clone_from(&self.headers);
        let AgentConfig { connect_timeout, idle_timeout, max_event_bytes, .. } = self.config;
        let exchange = Exchange::open(&self.endpoint, request, connect_timeout, idle_timeout).await?;
        if !exchange.head.status.is_success() {
            return Err(refusal::read(exchange).await);
        }
        if !is_event_stream(&exchange.head.headers) {
            return Err(ClientError::NotEventStream);
        }
        Ok(Run::new(exchange.body, idle_timeout, max_event_bytes))
    }

    /// One whole turn: sends what the conversation has to say, applies every event, and calls `seen` after
    /// each. Gives the end of the last run of the stream.
    ///
    /// # Errors
    /// As [`Conversation::request`], [`run`](Self::run) and [`Run::next`]. What came before the error is in
    /// the conversation.
    pub async fn converse(
        &self,
        conversation: &mut Conversation,
        run_id: impl Into<RunId>,
        now: UnixMillis,
        mut seen: impl FnMut(&Event, &Conversation),
    ) -> Result<RunEnd, ClientError> {
        let input = conversation.request(run_id, now)?;
        let mut run = self.run(input).await?;
        while let Some(event) = run.next().await {
            let event = event?;
            conversation.apply(&event);
            seen(&event, conversation);
        }
        run.end().cloned().ok_or(ClientError::Unterminated { run_id: None })
    }
}

impl fmt::Debug for HttpAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpAgent").field("config", &self.config).finish_non_exhaustive()
    }
}

/// An answer without a type is taken for what was asked for.
fn is_event_stream(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE) else { return true };
    let media_type = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("text/event-stream")
}
