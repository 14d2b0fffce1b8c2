//! Sending with types that leave no way to write an invalid stream.

use std::fmt;
use std::future::poll_fn;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use super::{RunLimits, RunSink, RunStream, run_channel};
use crate::{
    Event, Interrupt, Json, Message, MessagesSnapshot, Outcome, PROTOCOL_VERSION, RunAgentInput, RunError,
    RunFinished, RunId, RunStarted, ThreadId, TokenUsage, UnixMillis,
};

mod emitter;
mod item;
#[cfg(feature = "state")]
mod state;
mod subagent;
mod tool_call;

pub use emitter::Emitter;
pub use item::{OpenActivity, OpenReasoning, OpenStep, OpenText};
#[cfg(feature = "state")]
pub use state::SharedState;
pub use subagent::OpenSubagent;
pub use tool_call::{EndedToolCall, OpenToolCall};

/// Code of the error that tells a client of 0.x, which knows no such outcome, of a cancelled run.
///
/// Source: S9.2.
pub const CANCELLED: &str = "CANCELLED";

/// Where the ids and the times of a run come from: this crate has neither randomness nor a clock.
///
/// ```
/// use std::time::SystemTime;
/// use agui_core::{EventSink, RunAgentInput, RunLimits, Sources};
///
/// let sources = Sources::new().with_clock(|| SystemTime::now().into());
/// let input = RunAgentInput::new("t1", "r1", Vec::new());
/// let (sink, stream) = EventSink::start_with(&input, RunLimits::default(), sources);
/// # sink.finish();
/// # drop(stream);
/// ```
pub struct Sources {
    ids: Option<Box<dyn FnMut() -> String + Send>>,
    clock: Option<Box<dyn FnMut() -> UnixMillis + Send>>,
}

impl Sources {
    /// Numbers behind the run id (`run-1`, `run-2`), which is unique on its thread; events without times.
    #[must_use]
    pub const fn new() -> Self {
        Self { ids: None, clock: None }
    }

    /// Takes ids from `next`, which must never give the same one twice on a thread.
    #[must_use]
    pub fn with_ids(mut self, next: impl FnMut() -> String + Send + 'static) -> Self {
        self.ids = Some(Box::new(next));
        self
    }

    /// Stamps every event with the time that `now` gives.
    #[must_use]
    pub fn with_clock(mut self, now: impl FnMut() -> UnixMillis + Send + 'static) -> Self {
        self.clock = Some(Box::new(now));
        self
    }
}

impl Default for Sources {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources")
            .field("ids", &self.ids.is_some())
            .field("clock", &self.clock.is_some())
            .finish()
    }
}

/// The agent's end of a run, as typed steps.
///
/// What is opened is a guard that borrows the sink, and ends what it opened when it is dropped. Ending
/// the run takes the sink itself. So nothing follows the end, and a run that ends while a guard is alive
/// does not compile; drop the guard, or end its block, first. Guards of one kind may be alive at the same
/// time where the protocol allows it: tool calls, text messages, reasoning, steps, subagents.
///
/// A sink that is dropped ends its run with `RUN_ERROR` of code [`AGENT_ERROR`](crate::AGENT_ERROR), so an
/// agent may leave by `?`. Sending never waits: await [`ready`](Emitter::ready) between deltas.
///
/// Ids that the caller chooses and uses twice at once are the one mistake left; a
/// [`RunSink`] repairs it.
///
/// ```
/// use agui_core::{EventSink, RunAgentInput, RunLimits};
///
/// let input = RunAgentInput::new("t1", "r1", Vec::new());
/// let (sink, stream) = EventSink::start(&input, RunLimits::default());
///
/// let step = sink.step("look up");
/// let mut thought = sink.reasoning();
/// thought.delta("The weather is asked for.");
/// thought.end();
/// let mut call = sink.tool_call("weather");
/// call.args(r#"{"city":"Oslo"}"#);
/// call.end().result("12 °C");
/// step.end();
///
/// let mut answer = sink.text_message();
/// answer.delta("It has ");
/// answer.delta("12 °C.");
/// answer.end();
/// sink.finish();
/// # drop(stream);
/// ```
#[derive(Debug)]
pub struct EventSink {
    emitter: Emitter,
    thread_id: ThreadId,
    run_id: RunId,
}

impl EventSink {
    /// Opens the run of a request with ids made by [`Sources::new`], and sends `RUN_STARTED`.
    #[must_use]
    pub fn start(input: &RunAgentInput, limits: RunLimits) -> (Self, RunStream) {
        Self::start_with(input, limits, Sources::new())
    }

    /// Opens the run of a request and sends `RUN_STARTED`.
    #[must_use]
    pub fn start_with(input: &RunAgentInput, limits: RunLimits, sources: Sources) -> (Self, RunStream) {
        let (thread_id, run_id) = (input.thread_id.clone(), input.run_id.clone());
        let (sink, stream) = run_channel(thread_id.clone(), run_id.clone(), limits);
        let ids = sources.ids.unwrap_or_else(|| numbered(run_id.clone()));
        let inner = Inner {
            sink,
            ids,
            clock: sources.clock,
            usage: Vec::new(),
            is_legacy_peer: input.protocol_version.is_none(),
        };
        let sink = Self { emitter: Emitter::new(Arc::new(Shared(Mutex::new(inner)))), thread_id, run_id };
        let mut started =
            RunStarted::new(&sink.thread_id, &sink.run_id).with_protocol_version(PROTOCOL_VERSION);
        started.parent_run_id.clone_from(&input.parent_run_id);
        sink.emitter.emit(started);
        (sink, stream)
    }

    /// The thread of the run.
    #[must_use]
    pub const fn thread_id(&self) -> &ThreadId {
        &self.thread_id
    }

    /// The run.
    #[must_use]
    pub const fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// Replaces the messages of the thread.
    pub fn messages_snapshot(&self, messages: Vec<Message>) {
        self.emitter.emit(MessagesSnapshot::new(messages));
    }

    /// Sets what the terminal event says about tokens: one entry for each provider and model.
    pub fn set_usage(&self, usage: impl Into<Vec<TokenUsage>>) {
        self.emitter.lock().usage = usage.into();
    }

    /// Shared state that starts from what the client sent.
    ///
    /// # Errors
    /// If the client's state is nested too deeply to be held.
    #[cfg(feature = "state")]
    pub fn shared_state(&self, input: &RunAgentInput) -> Result<SharedState<'_>, serde_json::Error> {
        SharedState::new(&self.emitter, input.state.as_ref())
    }

    /// Ends the run: it did its work.
    pub fn finish(self) {
        self.end(None, Outcome::success());
    }

    /// Ends the run with a result; `null` counts as none.
    pub fn finish_with(self, result: impl Into<Json>) {
        self.end(Some(result.into()), Outcome::success());
    }

    /// Ends the run with questions; the answers come with the next request.
    ///
    /// An empty list cannot be answered: then the run ends with `RUN_ERROR` of code
    /// [`AGENT_ERROR`](crate::AGENT_ERROR).
    pub fn interrupt(self, interrupts: impl Into<Vec<Interrupt>>) {
        self.end(None, Outcome::interrupt(interrupts));
    }

    /// Ends the run because it was stopped on purpose.
    ///
    /// A client that names no protocol version would read this as success or not at all; it gets a
    /// `RUN_ERROR` of code [`CANCELLED`].
    pub fn cancelled(self) {
        if self.emitter.lock().is_legacy_peer {
            self.fail(RunError::new("The run was cancelled.").with_code(CANCELLED));
        } else {
            self.end(None, Outcome::Cancelled);
        }
    }

    /// Ends the run with a failure.
    pub fn fail(self, error: RunError) {
        let mut error = error;
        if error.usage.is_empty() {
            error.usage = std::mem::take(&mut self.emitter.lock().usage);
        }
        self.emitter.emit(error);
    }

    fn end(self, result: Option<Json>, outcome: Outcome) {
        let mut finished = RunFinished::new(&self.thread_id, &self.run_id).with_outcome(outcome);
        finished.result = result;
        finished.usage = std::mem::take(&mut self.emitter.lock().usage);
        self.emitter.emit(finished);
    }
}

impl Deref for EventSink {
    type Target = Emitter;

    fn deref(&self) -> &Emitter {
        &self.emitter
    }
}

impl Drop for EventSink {
    fn drop(&mut self) {
        // A guard that was leaked keeps the channel; the run ends all the same.
        self.emitter.lock().sink.stop();
    }
}

/// What the guards of one run share.
struct Shared(Mutex<Inner>);

struct Inner {
    sink: RunSink,
    ids: Box<dyn FnMut() -> String + Send>,
    clock: Option<Box<dyn FnMut() -> UnixMillis + Send>>,
    usage: Vec<TokenUsage>,
    /// The client speaks 0.x.
    is_legacy_peer: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // The sink is consistent after every event, so a panic elsewhere does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn send(&mut self, mut event: Event) {
        if let Some(clock) = &mut self.clock {
            event.set_timestamp(clock());
        }
        self.sink.send(event);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

fn numbered(run_id: RunId) -> Box<dyn FnMut() -> String + Send> {
    let mut given = 0_u64;
    Box::new(move || {
        given += 1;
        format!("{run_id}-{given}")
    })
}

/// Waiting, which needs no guard.
impl Emitter {
    /// Ready while there is room for more, and when the reader has gone.
    pub fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.lock().sink.poll_ready(cx)
    }

    /// Waits while the reader is behind. Can be cancelled at any time.
    pub async fn ready(&self) {
        poll_fn(|cx| self.poll_ready(cx)).await;
    }

    /// Waits until the reader has gone. Can be cancelled at any time.
    pub async fn closed(&self) {
        poll_fn(|cx| self.lock().sink.poll_closed(cx)).await;
    }

    /// Whether the reader has gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock().sink.is_closed()
    }
}

#[cfg(test)]
mod tests;
