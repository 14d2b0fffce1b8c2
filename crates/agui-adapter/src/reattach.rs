//! Runs that outlive their client: their events are kept, and whoever comes back reads on.
//!
//! Only with a policy other than [`Cancel`](crate::OnDisconnect::Cancel). Between a run and its client stands
//! a [`log`]: [`relay`](mod@relay) fills it with the run's events, and each client, the one that started the
//! run and those that come later, reads it at a pace of its own. [`logs`] finds it by thread and run.

mod log;
mod logs;
mod relay;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agui_core::{Event, Problem, RunId, ThreadId};
use agui_i18n::Language;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use futures_core::Stream;
use futures_util::stream::unfold;

use self::log::{Follower, Step};
use crate::adapter::Adapter;
use crate::notice::{problem, run_error};

pub use self::log::{LOG_MAX_BYTES, LOG_MAX_EVENTS, READ_AHEAD};
pub(crate) use self::logs::{EventLogs, RunKey};
pub use self::logs::{FINISHED_FOR, FINISHED_MAX_BYTES, FINISHED_MAX_RUNS};
pub(crate) use self::relay::relay;

/// Name of the place where a client says what it has seen, for messages.
const LAST_EVENT_ID: &str = "Last-Event-ID";

/// Which run to read on, and from where.
///
/// ```
/// use agui_adapter::{Adapter, AttachRequest};
/// use agui_core::Problem;
/// use agui_i18n::Language;
/// use futures_util::StreamExt as _;
///
/// async fn read_on(adapter: &Adapter, last_event_id: &[u8]) -> Result<(), Problem> {
///     let request = AttachRequest::decode("thread-1", "run-1", Some(last_event_id), Language::En)?;
///     let mut events = adapter.attach(&request, Language::En)?;
///     while let Some(numbered) = events.next().await {
///         println!("{}: {}", numbered.position, numbered.event.event_type().as_str());
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttachRequest {
    /// The run's thread.
    pub thread_id: ThreadId,
    /// The run.
    pub run_id: RunId,
    /// Position of the last event that was seen; 0 for none.
    pub after: u64,
}

impl AttachRequest {
    /// Reads what a client gives: two ids, and the value of `Last-Event-ID` if there is one.
    ///
    /// # Errors
    ///
    /// 400 with a text in `language` if that value is not a position: digits and nothing else.
    pub fn decode(
        thread_id: &str,
        run_id: &str,
        last_event_id: Option<&[u8]>,
        language: Language,
    ) -> Result<Self, Problem> {
        let after = match last_event_id {
            None => 0,
            Some(value) => position(value).ok_or_else(|| problem(language, &bad_position("wrong-type")))?,
        };
        Ok(Self { thread_id: thread_id.into(), run_id: run_id.into(), after })
    }
}

/// Digits only: `parse` alone would take a sign. A number that no counter reaches is beyond every end.
fn position(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

fn bad_position(kind: &'static str) -> ErrorNotice {
    ErrorNotice::field(MessageKey::FieldProblem, LAST_EVENT_ID, kind)
}

/// The events of a run from a position on, and then as they happen, up to the run's end.
///
/// A reader that is so far behind that events are gone which it has not seen gets a `RUN_ERROR` instead of
/// them, and nothing after it.
///
/// Example: see [`AttachRequest`].
pub struct RunEvents(Pin<Box<dyn Stream<Item = NumberedEvent> + Send>>);

/// An event and its place in its run.
///
/// Example: see [`AttachRequest`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NumberedEvent {
    /// 1 for the first event of the run. For the error that stands for lost events the position of the
    /// last of them: whoever asks for what comes after it gets everything that is left.
    pub position: u64,
    /// The event, shared with the other readers.
    pub event: Arc<Event>,
}

impl Adapter {
    /// Reads a run again, or reads on.
    ///
    /// # Errors
    ///
    /// 404 `RUN_NOT_FOUND` if the run is not known: it never was, it ended too long ago, or the server was started again
    /// since. 400 if the run has had fewer events than the client says it has seen.
    pub fn attach(&self, request: &AttachRequest, language: Language) -> Result<RunEvents, Problem> {
        let key = RunKey::new(&request.thread_id, &request.run_id);
        let log = self.shared.logs.find(&key);
        let log = log.ok_or_else(|| problem(language, &ErrorCode::RunNotFound.into()))?;
        let follower = log.follow(request.after);
        let follower = follower.ok_or_else(|| problem(language, &bad_position("out-of-range")))?;
        Ok(RunEvents::new(follower, language))
    }
}

impl RunEvents {
    fn new(follower: Follower, language: Language) -> Self {
        Self(Box::pin(unfold(follower, move |mut follower| async move {
            let item = match follower.next().await? {
                Step::Event(position, event) => NumberedEvent { position, event },
                Step::Gap { lost } => {
                    let error = run_error(language, &gap());
                    NumberedEvent { position: lost, event: Arc::new(error.into()) }
                }
            };
            Some((item, follower))
        })))
    }
}

impl Stream for RunEvents {
    type Item = NumberedEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<NumberedEvent>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for RunEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunEvents(..)")
    }
}

/// Events that were asked for are gone; the run is not.
fn gap() -> ErrorNotice {
    ErrorNotice::new(ErrorCode::EventsLost)
}

#[cfg(test)]
mod tests;
