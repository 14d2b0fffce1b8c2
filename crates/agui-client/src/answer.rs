use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_exchange::{Body, Exchange, millis};

use crate::ClientError;
use crate::silence::Silence;

/// What an agent answers, as it came: for recorders and judges. For the events, see
/// [`HttpAgent::run`](crate::HttpAgent::run).
///
/// Dropping it closes the connection. `Debug` shows the status only.
///
/// ```no_run
/// use agui_client::{AgentConfig, HttpAgent};
/// use agui_core::RunAgentInput;
///
/// # async fn record(input: RunAgentInput) -> Result<(), agui_client::ClientError> {
/// let agent = HttpAgent::new(AgentConfig::new("http://127.0.0.1:8000/"))?;
/// let mut answer = agent.open(input).await?;
/// println!("HTTP {}", answer.status());
/// while let Some(bytes) = answer.chunk().await {
///     println!("{} bytes", bytes?.len());
/// }
/// # Ok(())
/// # }
/// ```
pub struct Answer {
    status: u16,
    headers: HeaderMap,
    /// `None` once everything was read or reading has failed.
    body: Option<Body>,
    silence: Silence,
    idle_timeout: Duration,
}

impl Answer {
    pub(crate) fn new(exchange: Exchange, idle_timeout: Duration) -> Self {
        let Exchange { head, body, .. } = exchange;
        let silence = Silence::default();
        Self { status: head.status.as_u16(), headers: head.headers, body: Some(body), silence, idle_timeout }
    }

    /// The HTTP status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// The headers.
    #[must_use]
    pub const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The next bytes of the body; `None` when it has ended as HTTP says.
    ///
    /// Cancel safe. After `None` or an error every call gives `None`.
    ///
    /// # Errors
    /// [`ClientError::Cut`], [`ClientError::NotHttp`] and [`ClientError::Idle`].
    pub async fn chunk(&mut self) -> Option<Result<Bytes, ClientError>> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ClientError>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let more = match body.poll_chunk(cx) {
            Poll::Ready(more) => more.map_err(ClientError::from),
            Poll::Pending => {
                ready!(self.silence.poll_over(self.idle_timeout, cx));
                Err(ClientError::Idle { silent_ms: millis(self.idle_timeout) })
            }
        };
        self.silence.end();
        if !matches!(more, Ok(Some(_))) {
            self.body = None;
        }
        Poll::Ready(more.transpose())
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("status", &self.status).finish_non_exhaustive()
    }
}
