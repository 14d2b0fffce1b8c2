use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_exchange::{Body, millis};

use crate::ClientError;
use crate::framing::{Framing, Record};
use crate::silence::Silence;

/// The records of one answer as they came: nothing is decoded, expanded or checked.
///
/// For bridges, which have rules of their own. Dropping it closes the connection.
///
/// ```no_run
/// use agui_client::{AgentConfig, HttpAgent};
/// use agui_core::RunAgentInput;
///
/// # async fn pass_on(input: RunAgentInput) -> Result<(), agui_client::ClientError> {
/// let agent = HttpAgent::new(AgentConfig::new("http://127.0.0.1:8000/"))?;
/// let mut records = agent.records(input).await?;
/// while let Some(record) = records.next().await {
///     println!("{} bytes of JSON", record?.len());
/// }
/// # Ok(())
/// # }
/// ```
pub struct Records {
    /// `None` once everything was read or reading has failed.
    body: Option<Body>,
    framing: Framing,
    ready: VecDeque<Bytes>,
    failure: Option<ClientError>,
    silence: Silence,
    idle_timeout: Duration,
}

impl Records {
    pub(crate) fn new(body: Body, framing: Framing, idle_timeout: Duration) -> Self {
        Self {
            body: Some(body),
            framing,
            ready: VecDeque::new(),
            failure: None,
            silence: Silence::default(),
            idle_timeout,
        }
    }

    /// The data of the next record; `None` at the end of a complete body.
    ///
    /// Cancel safe. Comments are left out, but end a silence. After `None` or an error every call gives
    /// `None`.
    ///
    /// # Errors
    /// [`ClientError::Cut`], [`ClientError::Idle`], [`ClientError::NotHttp`], [`ClientError::Sse`] and
    /// [`ClientError::Proto`].
    /// Records that came before are given first.
    pub async fn next(&mut self) -> Option<Result<Bytes, ClientError>> {
        poll_fn(|cx| self.poll_record(cx)).await
    }

    /// How many records are here already: that many calls of [`next`](Self::next) do not wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.ready.len()
    }

    fn poll_record(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ClientError>>> {
        loop {
            if let Some(record) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(record)));
            }
            if let Some(failure) = self.failure.take() {
                return Poll::Ready(Some(Err(failure)));
            }
            let Some(body) = &mut self.body else { return Poll::Ready(None) };
            let more = match body.poll_chunk(cx) {
                Poll::Ready(more) => more.map_err(ClientError::from),
                Poll::Pending => {
                    ready!(self.silence.poll_over(self.idle_timeout, cx));
                    Err(ClientError::Idle { silent_ms: millis(self.idle_timeout) })
                }
            };
            match more {
                Ok(Some(chunk)) => {
                    self.silence.end();
                    self.framing.push(chunk);
                    self.take(Framing::next);
                }
                Ok(None) => {
                    self.body = None;
                    self.take(Framing::finish);
                }
                Err(error) => self.fail(error),
            }
        }
    }

    /// Keeps every record that is complete.
    fn take(&mut self, next: fn(&mut Framing) -> Result<Option<Record>, ClientError>) {
        loop {
            match next(&mut self.framing) {
                Ok(None) => return,
                Ok(Some(Record::Event(json))) => self.ready.push_back(json),
                // It has no JSON form.
                Ok(Some(Record::Later { .. })) => {}
                Err(error) => return self.fail(error),
            }
        }
    }

    fn fail(&mut self, error: ClientError) {
        self.body = None;
        self.failure = Some(error);
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("is_open", &self.body.is_some()).finish_non_exhaustive()
    }
}
