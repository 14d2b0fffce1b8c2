//! Checks that a stream of events is one that a consumer accepts.

use crate::{Event, EventType, RunId, ThreadId};

mod chunks;
mod discipline;
mod owners;
mod rule;
mod span;
mod violation;

pub(crate) use chunks::Chunks;
pub(crate) use discipline::Discipline;
pub use rule::Rule;
pub(crate) use span::Kind;
pub use span::{OpenSpan, Span};
pub use violation::Violation;

/// Most spans that may be open at the same time. An event is compared with what is open, so that without a
/// limit the work would grow with the square of a stream that opens and never closes.
///
/// Source: AG-UI 1.0 names no limit; the cap is ours.
pub const MAX_OPEN_SPANS: usize = 4_096;

/// Checks a stream event by event.
///
/// The rules are those of the released 1.0 client and the stricter ones of the specification: the ids
/// of `RUN_FINISHED` are those of its `RUN_STARTED`, every run of a stream is on one thread, interrupt
/// ids are unique, and a stream does not end with an open run; and one that the protocol leaves open, how
/// much is open at a time ([`MAX_OPEN_SPANS`]). Nothing is allocated for a delta.
///
/// After a violation the stream is lost for its consumer; what the verifier says afterwards has no
/// meaning. [`Repairer`](crate::Repairer) is the tool that goes on.
///
/// ```
/// use agui_core::{RunFinished, RunStarted, Span, TextMessageStart, Verifier, Violation};
///
/// let mut verifier = Verifier::new();
/// verifier.check(&RunStarted::new("t1", "r1").into())?;
/// verifier.check(&TextMessageStart::new("m1").into())?;
/// let message = verifier.open()[0].span.clone();
/// assert_eq!(message, Span::TextMessage("m1".into()));
///
/// let early = verifier.check(&RunFinished::new("t1", "r1").into());
/// assert_eq!(early, Err(Violation::StillOpen { spans: vec![message] }));
/// # Ok::<(), Violation>(())
/// ```
///
/// Source: behaviour of the released 1.0 client; AG-UI 1.0, "Events" and "Lifecycle".
#[derive(Debug)]
pub struct Verifier {
    chunks: Chunks,
    discipline: Discipline,
}

impl Verifier {
    /// A verifier for what a consumer has to accept: several runs in a row, and a late `RUN_ERROR`.
    #[must_use]
    pub const fn new() -> Self {
        Self { chunks: Chunks::new(), discipline: Discipline::new() }
    }

    /// A verifier for what a producer should send in answer to one request: that run only, with the
    /// ids of the request, and one terminal event with nothing after it.
    #[must_use]
    pub fn for_run(thread_id: impl Into<ThreadId>, run_id: impl Into<RunId>) -> Self {
        let discipline = Discipline::for_run(thread_id.into(), run_id.into());
        Self { chunks: Chunks::new(), discipline }
    }

    /// Checks the next event.
    ///
    /// # Errors
    /// The first rule that the event breaks.
    pub fn check(&mut self, event: &Event) -> Result<(), Violation> {
        if matches!(
            event.event_type(),
            EventType::TextMessageChunk | EventType::ToolCallChunk | EventType::ReasoningMessageChunk
        ) {
            let mut expanded = Vec::new();
            self.chunks.expand(event, &mut expanded)?;
            return expanded.iter().try_for_each(|event| self.discipline.check(event));
        }
        if !self.chunks.is_idle() {
            let mut closed = Vec::new();
            self.chunks.close_before(event, &mut closed);
            closed.iter().try_for_each(|event| self.discipline.check(event))?;
        }
        self.discipline.check(event)
    }

    /// Checks that the stream may end here.
    ///
    /// # Errors
    /// [`Violation::Unterminated`] if no run has ended or one is still open.
    pub fn finish(&self) -> Result<(), Violation> {
        self.discipline.finish()
    }

    /// What is open, in the order of opening.
    #[must_use]
    pub fn open(&self) -> &[OpenSpan] {
        self.discipline.open()
    }
}

impl Default for Verifier {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
