//! The two ends of a run: a sink that repairs what an agent sends, and the stream of what is valid.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use super::queue::{Queue, RunLimits};
use crate::{AGENT_ERROR, Event, Repaired, Repairer, RunError, RunId, ThreadId};

/// Makes the two ends of a run.
///
/// ```
/// use agui_core::{RunFinished, RunLimits, TextMessageContent, run_channel};
///
/// let (mut sink, stream) = run_channel("t1", "r1", RunLimits::default());
/// // Neither the run nor the message was opened, so both are.
/// let repaired = sink.send(TextMessageContent::new("m1", "Hi!"));
/// assert_eq!(repaired.repairs.len(), 2);
/// sink.send(RunFinished::new("t1", "r1")); // ends the message first
/// assert!(sink.has_ended());
/// # drop(stream);
/// ```
#[must_use]
pub fn run_channel(
    thread_id: impl Into<ThreadId>,
    run_id: impl Into<RunId>,
    limits: RunLimits,
) -> (RunSink, RunStream) {
    let shared = Arc::new(Shared(Mutex::new(Queue::new(limits))));
    let sink = RunSink {
        repairer: Repairer::new(thread_id, run_id),
        staged: Vec::new(),
        shared: Arc::clone(&shared),
    };
    (sink, RunStream { ready: VecDeque::new(), shared })
}

/// Room for events that a sink keeps, in events: a burst is not paid for until the end of the run.
const KEPT_EVENTS: usize = 16;

#[derive(Debug)]
struct Shared(Mutex<Queue>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // The queue is consistent after every statement, so a panic elsewhere does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The agent's end. What is sent here passes a [`Repairer`], so the stream is always valid.
///
/// Dropped before the run has ended, it ends the run with a `RUN_ERROR` of code [`AGENT_ERROR`].
///
/// Example: see [`run_channel`].
#[derive(Debug)]
pub struct RunSink {
    repairer: Repairer,
    /// What the repairer gave and the reader has not got yet.
    staged: Vec<Event>,
    shared: Arc<Shared>,
}

impl RunSink {
    /// Sends an event, and tells what had to be repaired. Never waits.
    ///
    /// Events after the end of the run are left out. So is everything once the reader has gone. An agent
    /// that goes [`OVERRUN_FACTOR`](super::OVERRUN_FACTOR) times beyond the limits loses its run.
    pub fn send(&mut self, event: impl Into<Event>) -> Repaired {
        let repaired = self.stage(event);
        self.flush();
        repaired
    }

    /// As [`send`](Self::send), but the reader gets the event with the next [`flush`](Self::flush) or `send`.
    ///
    /// For an agent that has many events at once: the reader is woken once for all of them.
    pub fn stage(&mut self, event: impl Into<Event>) -> Repaired {
        self.repairer.push(event, &mut self.staged)
    }

    /// Hands over what was staged.
    pub fn flush(&mut self) {
        if self.deliver() {
            self.fail("The agent sent more than the reader could take.");
        }
    }

    /// Whether the terminal event was sent.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.repairer.has_ended()
    }

    /// Whether the reader has gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.lock().abandoned
    }

    /// Ready while there is room for more, and when the reader has gone.
    pub fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.shared.lock();
        if queue.abandoned || queue.has_room() {
            return Poll::Ready(());
        }
        add_waker(&mut queue.waits_for_room, cx);
        Poll::Pending
    }

    /// Waits while the reader is behind the limits. Can be cancelled at any time.
    pub async fn ready(&self) {
        poll_fn(|cx| self.poll_ready(cx)).await;
    }

    /// Ready when the reader has gone.
    pub fn poll_closed(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.shared.lock();
        if queue.abandoned {
            return Poll::Ready(());
        }
        add_waker(&mut queue.waits_for_close, cx);
        Poll::Pending
    }

    /// Waits until the reader has gone. Can be cancelled at any time.
    pub async fn closed(&self) {
        poll_fn(|cx| self.poll_closed(cx)).await;
    }

    /// Moves what the repairer gave into the queue; says whether the agent has to be stopped.
    fn deliver(&mut self) -> bool {
        if self.staged.is_empty() {
            return false;
        }
        let mut queue = self.shared.lock();
        if queue.abandoned {
            self.staged.clear();
            return false;
        }
        queue.append(&mut self.staged);
        queue.ended = self.repairer.has_ended();
        let overrun = queue.is_overrun() && !queue.ended;
        let reader = queue.reader.take();
        drop(queue);
        wake(reader);
        self.staged.shrink_to(KEPT_EVENTS);
        overrun
    }

    /// Ends a run that nobody finishes any more.
    pub(super) fn stop(&mut self) {
        self.fail("The agent stopped before the run was finished.");
    }

    fn fail(&mut self, message: &str) {
        let error = RunError::new(message).with_code(AGENT_ERROR);
        self.repairer.close(error, &mut self.staged);
        self.deliver();
    }
}

impl Drop for RunSink {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The reader's end: the events of the run, in order, ending after the terminal event.
///
/// ```
/// use std::task::{Context, Poll, Waker};
/// use agui_core::{EventSink, EventType, RunAgentInput, RunLimits};
///
/// let input = RunAgentInput::new("t1", "r1", Vec::new());
/// let (sink, mut stream) = EventSink::start(&input, RunLimits::default());
/// sink.finish();
///
/// let mut context = Context::from_waker(Waker::noop());
/// let mut events = Vec::new();
/// assert_eq!(stream.poll_batch(&mut context, &mut events), Poll::Ready(true));
/// let types: Vec<_> = events.iter().map(|event| event.event_type()).collect();
/// assert_eq!(types, [EventType::RunStarted, EventType::RunFinished]);
/// assert_eq!(stream.poll_batch(&mut context, &mut events), Poll::Ready(false));
/// ```
#[derive(Debug)]
pub struct RunStream {
    /// Taken from the queue in one go, not yet given out one by one.
    ready: VecDeque<Event>,
    shared: Arc<Shared>,
}

impl RunStream {
    /// Appends every event that waits to `out`; `false` when the run has ended and nothing is left.
    ///
    /// Pending if nothing waits. Cheaper than the [`Stream`] for a reader that writes many events at once.
    pub fn poll_batch(&mut self, cx: &mut Context<'_>, out: &mut Vec<Event>) -> Poll<bool> {
        let before = out.len();
        out.extend(self.ready.drain(..));
        let mut queue = self.shared.lock();
        if out.is_empty() {
            mem::swap(out, &mut queue.events);
        } else {
            out.append(&mut queue.events);
        }
        queue.taken();
        if out.len() > before {
            let writers = mem::take(&mut queue.waits_for_room);
            drop(queue);
            writers.into_iter().for_each(Waker::wake);
            return Poll::Ready(true);
        }
        if queue.ended {
            return Poll::Ready(false);
        }
        keep_waker(&mut queue.reader, cx);
        Poll::Pending
    }
}

impl Stream for RunStream {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let this = &mut *self;
        if let Some(event) = this.ready.pop_front() {
            return Poll::Ready(Some(event));
        }
        let mut queue = this.shared.lock();
        this.ready = mem::take(&mut queue.events).into();
        queue.taken();
        if let Some(event) = this.ready.pop_front() {
            let writers = mem::take(&mut queue.waits_for_room);
            drop(queue);
            writers.into_iter().for_each(Waker::wake);
            return Poll::Ready(Some(event));
        }
        if queue.ended {
            return Poll::Ready(None);
        }
        keep_waker(&mut queue.reader, cx);
        Poll::Pending
    }
}

impl Drop for RunStream {
    fn drop(&mut self) {
        let mut queue = self.shared.lock();
        queue.abandoned = true;
        queue.events.clear();
        queue.taken();
        let (room, close) = (mem::take(&mut queue.waits_for_room), mem::take(&mut queue.waits_for_close));
        drop(queue);
        room.into_iter().chain(close).for_each(Waker::wake);
    }
}

fn keep_waker(slot: &mut Option<Waker>, cx: &Context<'_>) {
    match slot {
        Some(waker) => waker.clone_from(cx.waker()),
        None => *slot = Some(cx.waker().clone()),
    }
}

/// Several parts of one agent may wait, each with a waker of its own.
fn add_waker(waiting: &mut Vec<Waker>, cx: &Context<'_>) {
    if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
        waiting.push(cx.waker().clone());
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}
