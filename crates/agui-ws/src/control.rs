//! Cancelling: the message, and who carries it out.

use agui_core::{BoxFuture, Json, Problem, RunId, ThreadId};
use agui_i18n::Language;

/// `{"type":"cancel", …}`: the wish to end a run. Every id may be absent.
///
/// ```
/// use agui_ws::{CancelMessage, OpenRun};
///
/// let run = OpenRun::new("thread-1", "run-1");
/// assert!(CancelMessage::new().may_mean(&run));
/// assert!(!CancelMessage::new().with_run_id("run-2").may_mean(&run));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CancelMessage {
    /// The run (`runId`).
    pub run_id: Option<RunId>,
    /// The thread of the run (`threadId`).
    pub thread_id: Option<ThreadId>,
    /// The execution behind the run (`executionId`).
    pub execution_id: Option<Box<str>>,
    /// The identity that the execution was started with (`rosInvocationId`).
    pub ros_invocation_id: Option<Box<str>>,
    /// The run that is open on the socket, if any. Not on the wire.
    pub open_run: Option<OpenRun>,
}

/// The run that is open on a socket.
///
/// Example: see [`CancelMessage`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenRun {
    /// Its thread.
    pub thread_id: ThreadId,
    /// The run.
    pub run_id: RunId,
}

impl OpenRun {
    /// Names a run.
    #[must_use]
    pub fn new(thread_id: impl Into<ThreadId>, run_id: impl Into<RunId>) -> Self {
        Self { thread_id: thread_id.into(), run_id: run_id.into() }
    }
}

impl CancelMessage {
    /// A message that names nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`run_id`](Self::run_id).
    #[must_use]
    pub fn with_run_id(mut self, id: impl Into<RunId>) -> Self {
        self.run_id = Some(id.into());
        self
    }

    /// Sets [`thread_id`](Self::thread_id).
    #[must_use]
    pub fn with_thread_id(mut self, id: impl Into<ThreadId>) -> Self {
        self.thread_id = Some(id.into());
        self
    }

    /// Sets [`execution_id`](Self::execution_id).
    #[must_use]
    pub fn with_execution_id(mut self, id: impl Into<Box<str>>) -> Self {
        self.execution_id = Some(id.into());
        self
    }

    /// Sets [`ros_invocation_id`](Self::ros_invocation_id).
    #[must_use]
    pub fn with_ros_invocation_id(mut self, id: impl Into<Box<str>>) -> Self {
        self.ros_invocation_id = Some(id.into());
        self
    }

    /// Sets [`open_run`](Self::open_run).
    #[must_use]
    pub fn with_open_run(mut self, run: OpenRun) -> Self {
        self.open_run = Some(run);
        self
    }

    /// Whether nothing in the message speaks against its meaning `run`.
    #[must_use]
    pub fn may_mean(&self, run: &OpenRun) -> bool {
        self.run_id.as_ref().is_none_or(|id| *id == run.run_id)
            && self.thread_id.as_ref().is_none_or(|id| *id == run.thread_id)
    }
}

/// Who ends executions that are told of by a cancel message.
///
/// ```
/// use agui_core::{BoxFuture, Json, Problem};
/// use agui_i18n::Language;
/// use agui_ws::{CancelMessage, Control};
///
/// /// Ends nothing: cancel messages are for the run of their socket only.
/// struct OwnRunOnly;
///
/// impl Control for OwnRunOnly {
///     fn cancel(&self, _: CancelMessage, _: Language) -> BoxFuture<'_, Result<Json, Problem>> {
///         Box::pin(async { Err(Problem::new(404, "EXECUTION_NOT_FOUND", "There is no such execution.")) })
///     }
///
///     fn takes(&self, message: &CancelMessage) -> bool {
///         !message.open_run.as_ref().is_some_and(|run| message.may_mean(run))
///     }
/// }
/// ```
pub trait Control: Send + Sync + 'static {
    /// Ends what the message names, and says what became of it.
    ///
    /// The work goes on to its end although the socket is closed meanwhile.
    ///
    /// # Errors
    /// A [`Problem`] in `language` if nothing was ended.
    fn cancel(&self, message: CancelMessage, language: Language) -> BoxFuture<'_, Result<Json, Problem>>;

    /// Whether a message is for this at all (default: each is). One that is not ends the run that is
    /// open on the socket: its stream is dropped, and the client gets `RUN_ERROR` with code `CANCELLED`.
    fn takes(&self, message: &CancelMessage) -> bool {
        let _ = message;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_may_mean_a_run_unless_an_id_in_it_speaks_against_it() {
        let run = OpenRun::new("t", "r");
        let message = CancelMessage::new;
        let table = [
            (message(), true),
            (message().with_run_id("r"), true),
            (message().with_thread_id("t").with_execution_id("e").with_ros_invocation_id("i"), true),
            (message().with_run_id("r2"), false),
            (message().with_run_id("r").with_thread_id("t2"), false),
        ];
        for (message, may) in table {
            assert_eq!(message.may_mean(&run), may, "{message:?}");
        }
    }
}
