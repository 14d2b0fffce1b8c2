use std::fmt;

use agui_core::{Event, RunAgentInput, RunId, UnixMillis};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request};
use http_body_util::Full;
use http_exchange::{Address, Body, Dialer, Exchange};

use crate::framing::{self, Framing};
use crate::{
    AgentConfig, Answer, ClientError, Conversation, Note, Records, Run, RunEnd, Warning, outgoing, refusal,
};

/// An agent behind an HTTP address.
///
/// `Debug` shows neither the address, whose query may be a secret, nor values of headers.
///
/// ```no_run
/// use agui_client::{AgentConfig, Conversation, HttpAgent, RunEnd};
/// use agui_core::UnixMillis;
///
/// # async fn ask(now: UnixMillis) -> Result<(), agui_client::ClientError> {
/// let agent = HttpAgent::new(AgentConfig::new("http://127.0.0.1:8000/"))?;
/// let mut thread = Conversation::new("thread-1");
/// thread.say("user-1", "What is the weather in Graz?");
///
/// let mut run = agent.run(thread.request("run-1", now)?).await?;
/// while let Some(event) = run.next().await {
///     thread.apply(&event?);
/// }
/// assert!(matches!(run.end(), Some(RunEnd::Success { .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HttpAgent {
    config: AgentConfig,
    dialer: Dialer,
    headers: HeaderMap,
}

impl HttpAgent {
    /// Checks the configuration; connects to nothing yet.
    ///
    /// # Errors
    /// [`ClientError::InvalidUrl`], [`ClientError::TlsUnsupported`], [`ClientError::InvalidHeader`], and with the
    /// feature `tls` `ClientError::TlsSetup`.
    pub fn new(config: AgentConfig) -> Result<Self, ClientError> {
        let dialer = dialer(&config)?;
        let mut headers = HeaderMap::new();
        for (name, value) in &config.headers {
            let invalid = || ClientError::InvalidHeader { name: name.as_str().into() };
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| invalid())?;
            value.set_sensitive(true);
            headers.append(key, value);
        }
        headers.insert(HOST, dialer.address().authority().clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static(config.accept.header()));
        Ok(Self { config, dialer, headers })
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
        let (body, framing) = self.accepted(self.exchange(input).await?).await?;
        Ok(Run::new(body, framing, self.config.idle_timeout))
    }

    /// Sends a request as [`run`](Self::run) does, and gives the records of its answer as they come.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn records(&self, input: RunAgentInput) -> Result<Records, ClientError> {
        let (body, framing) = self.accepted(self.exchange(input).await?).await?;
        Ok(Records::new(body, framing, self.config.idle_timeout))
    }

    /// Sends a request as [`run`](Self::run) does, and gives the answer as it is: any status, any type, bytes.
    ///
    /// # Errors
    /// The agent was not reached, or does not answer.
    pub async fn open(&self, input: RunAgentInput) -> Result<Answer, ClientError> {
        Ok(Answer::new(self.exchange(input).await?, self.config.idle_timeout))
    }

    /// Sends a body as it is, with headers of its own beside the configured ones, and gives the records of
    /// the answer as they come. For bridges.
    ///
    /// A header given here takes the place of a configured one; those that the protocol fixes stay.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn post(&self, body: Bytes, headers: HeaderMap) -> Result<Records, ClientError> {
        let (body, framing) = self.accepted(self.send(body, headers).await?).await?;
        Ok(Records::new(body, framing, self.config.idle_timeout))
    }

    /// The body of an answer that is a success and a stream of events.
    async fn accepted(&self, exchange: Exchange) -> Result<(Body, Framing), ClientError> {
        if !exchange.head.status.is_success() {
            return Err(refusal::read(exchange).await);
        }
        let framing = Framing::of(&exchange.head.headers, self.config.max_event_bytes);
        match framing {
            Some(framing) => Ok((exchange.body, framing)),
            None => {
                Err(ClientError::NotEventStream { content_type: framing::declared(&exchange.head.headers) })
            }
        }
    }

    async fn exchange(&self, input: RunAgentInput) -> Result<Exchange, ClientError> {
        let input = outgoing(input, self.config.dialect);
        let body = serde_json::to_vec(&input).map_err(ClientError::Request)?;
        self.send(body.into(), HeaderMap::new()).await
    }

    async fn send(&self, body: Bytes, headers: HeaderMap) -> Result<Exchange, ClientError> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        request.uri_mut().clone_from(self.dialer.address().target());
        request.headers_mut().clone_from(&self.headers);
        request.headers_mut().extend(headers);
        for fixed in [HOST, CONTENT_TYPE, ACCEPT] {
            if let Some(value) = self.headers.get(&fixed) {
                request.headers_mut().insert(fixed, value.clone());
            }
        }
        let AgentConfig { connect_timeout, idle_timeout, .. } = self.config;
        Ok(Exchange::open(&self.dialer, request, connect_timeout, Some(idle_timeout)).await?)
    }

    /// One whole turn: sends what the conversation has to say, applies every event, and calls `seen` after
    /// each, with what there is to note about it. Gives the end of the last run of the stream.
    ///
    /// ```no_run
    /// use agui_client::{ClientError, Conversation, HttpAgent, RunEnd, Seen};
    /// use agui_core::{Event, UnixMillis};
    ///
    /// # async fn turn(agent: &HttpAgent, thread: &mut Conversation, now: UnixMillis) -> Result<(), ClientError> {
    /// let end = agent
    ///     .converse(thread, "run-1", now, |seen, thread| match seen {
    ///         Seen::Event(Event::StateDelta(_)) => println!("{}", thread.state().get()),
    ///         Seen::Warning(warning) => eprintln!("{warning}"),
    ///         _ => {}
    ///     })
    ///     .await?;
    /// assert!(matches!(end, RunEnd::Success { .. }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Dropping the future closes the connection, which cancels the run; what came until then is in the
    /// conversation, and the answers that were sent go out again with the next request.
    ///
    /// # Errors
    /// As [`Conversation::request`], [`run`](Self::run) and [`Run::next`]. What came before the error is in
    /// the conversation.
    pub async fn converse(
        &self,
        conversation: &mut Conversation,
        run_id: impl Into<RunId>,
        now: UnixMillis,
        mut seen: impl FnMut(Seen<'_>, &Conversation),
    ) -> Result<RunEnd, ClientError> {
        let input = conversation.request(run_id, now)?;
        let mut run = self.run(input).await?;
        loop {
            let next = run.next().await;
            for note in run.take_notes() {
                seen(Seen::Note(&note), conversation);
            }
            let Some(event) = next else { break };
            let event = event?;
            let warning = conversation.apply(&event);
            seen(Seen::Event(&event), conversation);
            if let Some(warning) = &warning {
                seen(Seen::Warning(warning), conversation);
            }
        }
        run.end().cloned().ok_or(ClientError::Unterminated { run_id: None })
    }
}

/// What [`HttpAgent::converse`] tells as it happens.
///
/// Example: see [`HttpAgent::converse`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Seen<'a> {
    /// An event, which the conversation has taken already.
    Event(&'a Event),
    /// The event before this had no effect on the conversation, or not all of it.
    Warning(&'a Warning),
    /// Something in the stream was left out, translated, or is worth a line in a log.
    Note(&'a Note),
}

fn dialer(config: &AgentConfig) -> Result<Dialer, ClientError> {
    let address = Address::parse(&config.url)?;
    #[cfg(feature = "tls")]
    let dialer = Dialer::with_tls(address, config.tls.clone());
    #[cfg(not(feature = "tls"))]
    let dialer = Dialer::new(address);
    Ok(dialer?)
}

impl fmt::Debug for HttpAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpAgent").field("config", &self.config).finish_non_exhaustive()
    }
}
