use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agui_core::Event;
use futures_core::Stream;
use http_exchange::{Body, millis};

use crate::framing::{Framing, Record};
use crate::notes::Notes;
use crate::silence::Silence;
use crate::{ClientError, Note, Pipeline, RunEnd};

/// How long a body may stay open after the terminal event, 5 s: another run may follow on the same stream,
/// but an agent that forgets to close must not hold its client.
const AFTER_END: Duration = Duration::from_secs(5);

/// The events of one request, read as they are asked for.
///
/// Chunk events come as the whole events they stand for, every event has passed the rules of the protocol,
/// and unknown ones are left out. Dropping it closes the connection: that aborts the run, as far as the
/// agent lets the connection decide.
///
/// Example: see [`HttpAgent`](crate::HttpAgent).
pub struct Run {
    /// `None` once everything was read or reading has failed.
    body: Option<Body>,
    framing: Framing,
    pipeline: Pipeline,
    batch: Vec<Event>,
    ready: VecDeque<Event>,
    failure: Option<ClientError>,
    notes: Notes,
    end: Option<RunEnd>,
    silence: Silence,
    idle_timeout: Duration,
}

impl Run {
    pub(crate) fn new(body: Body, framing: Framing, idle_timeout: Duration) -> Self {
        Self {
            body: Some(body),
            framing,
            pipeline: Pipeline::new(),
            batch: Vec::new(),
            ready: VecDeque::new(),
            failure: None,
            notes: Notes::default(),
            end: None,
            silence: Silence::default(),
            idle_timeout,
        }
    }

    /// The next event; `None` when the stream has ended as it should.
    ///
    /// Cancel safe. After `None` or an error the connection is closed and every call gives `None`.
    ///
    /// # Errors
    /// Anything that makes the run untrustworthy: a cut, silence, a malformed or forbidden event, the end
    /// of the stream without a terminal event. Events that came before are given first.
    pub async fn next(&mut self) -> Option<Result<Event, ClientError>> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    /// How the last run on this stream has ended, as far as was read.
    #[must_use]
    pub const fn end(&self) -> Option<&RunEnd> {
        self.end.as_ref()
    }

    /// Takes the notes on what was left out since the last call.
    ///
    /// Notes belong to records that have arrived, which [`next`](Self::next) may still have to give. At most 256
    /// are kept; behind them, [`Note::More`] tells how many came besides.
    #[must_use]
    pub fn take_notes(&mut self) -> Vec<Note> {
        self.notes.take()
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, ClientError>>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                if matches!(event, Event::RunStarted(_)) {
                    self.end = None;
                }
                if let Some(end) = RunEnd::of(&event) {
                    self.end = Some(end);
                }
                return Poll::Ready(Some(Ok(event)));
            }
            if let Some(failure) = self.failure.take() {
                return Poll::Ready(Some(Err(failure)));
            }
            let Some(body) = &mut self.body else { return Poll::Ready(None) };
            let is_complete = self.pipeline.is_complete();
            let limit = if is_complete { AFTER_END.min(self.idle_timeout) } else { self.idle_timeout };
            let more = match body.poll_chunk(cx) {
                Poll::Ready(more) => more.map_err(ClientError::from),
                Poll::Pending => {
                    ready!(self.silence.poll_over(limit, cx));
                    Err(ClientError::Idle { silent_ms: millis(limit) })
                }
            };
            match more {
                Ok(Some(chunk)) => {
                    self.framing.push(chunk);
                    self.take_records(Framing::next);
                    // Comments keep a run alive, but not a stream whose run is over.
                    if !is_complete || !self.ready.is_empty() {
                        self.silence.end();
                    }
                }
                Ok(None) => {
                    self.body = None;
                    self.take_records(Framing::finish);
                    if self.failure.is_none() {
                        self.failure = self.pipeline.finish().err();
                    }
                }
                // The run is over, whatever becomes of the connection.
                Err(_) if is_complete => self.body = None,
                Err(error) => self.fail(error),
            }
        }
    }

    /// Reads every record that is complete.
    fn take_records(&mut self, next: fn(&mut Framing) -> Result<Option<Record>, ClientError>) {
        loop {
            let read = match next(&mut self.framing) {
                Ok(None) => return,
                Ok(Some(Record::Event(json))) => {
                    self.pipeline.push(&json, &mut self.batch, self.notes.open())
                }
                Ok(Some(Record::Later { field })) => {
                    self.notes
                        .open()
                        .push(Note::UnknownEvent { event_type: format!("field {field}").into() });
                    Ok(())
                }
                Err(error) => Err(error),
            };
            self.notes.cut();
            self.ready.extend(self.batch.drain(..));
            if let Err(error) = read {
                self.fail(error);
                return;
            }
        }
    }

    fn fail(&mut self, error: ClientError) {
        self.body = None;
        self.failure = Some(error);
    }
}

impl Stream for Run {
    type Item = Result<Event, ClientError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_event(cx)
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("is_open", &self.body.is_some()).finish_non_exhaustive()
    }
}
