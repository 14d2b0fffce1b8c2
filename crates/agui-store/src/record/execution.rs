//! The newest execution of a thread and its open questions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use agui_core::{InterruptId, JsonObject, UnixMillis};

use super::Foreign;
use crate::digest::Digest;
use crate::id::{ExecutionId, InvocationId, TaskId};

/// How many answered ids an execution remembers in its record. More than an execution ever shows at
/// once; an older one is still known to
/// [`ThreadStore::applied_answer`](crate::ThreadStore::applied_answer).
const MAX_ANSWERED: usize = 256;

/// One execution: where it stands and what it waits for.
///
/// ```
/// use agui_core::{JsonObject, UnixMillis};
/// use agui_store::{Execution, PendingInterrupt};
///
/// let value = JsonObject::from_string(r#"{"kind":"permission","inputId":"i1"}"#.to_owned())?;
/// let question = PendingInterrupt::new(value).with_expires_at(UnixMillis::new(1_764_523_800_000));
///
/// let mut execution = Execution::new("e1".into(), "inv".into());
/// execution.pending.insert("i1".into(), question);
/// assert_eq!(execution.deadline(), Some(UnixMillis::new(1_764_523_800_000)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Execution {
    /// Its id, the one that clients cancel by.
    pub id: ExecutionId,
    /// Who may resume and cancel it (S3.1).
    pub invocation_id: InvocationId,
    /// The A2A task, once the kernel told it; none again when the execution has ended.
    pub task_id: Option<TaskId>,
    /// Highest Pipeline sequence that was mapped; 0 before the first.
    pub pipeline_sequence: u64,
    /// Keys of the durable steps that are open.
    pub open_steps: BTreeSet<Box<str>>,
    /// Digests of the texts that were sent in full, to recognise a replay.
    pub text_digests: BTreeSet<Digest>,
    /// The questions without an answer.
    pub pending: BTreeMap<InterruptId, PendingInterrupt>,
    /// Ids of the questions that were answered, oldest first: the kernel may show them again.
    pub answered: Vec<InterruptId>,
    /// Where the adapter's mapper stopped, in its own form: digests and ids, never texts. Lost when
    /// another program rewrites the document; then the three positions above have to do.
    pub position: Option<JsonObject>,
    pub(crate) foreign: Foreign,
}

impl Execution {
    /// An execution that has done nothing yet.
    #[must_use]
    pub const fn new(id: ExecutionId, invocation_id: InvocationId) -> Self {
        Self {
            id,
            invocation_id,
            task_id: None,
            pipeline_sequence: 0,
            open_steps: BTreeSet::new(),
            text_digests: BTreeSet::new(),
            pending: BTreeMap::new(),
            answered: Vec::new(),
            position: None,
            foreign: Foreign::NONE,
        }
    }

    /// When the first pending interrupt expires, if one does.
    #[must_use]
    pub fn deadline(&self) -> Option<UnixMillis> {
        self.pending.values().filter_map(|interrupt| interrupt.expires_at).min()
    }

    /// Forgets everything that only an execution that goes on needs.
    pub(super) fn end(&mut self) {
        self.task_id = None;
        self.pipeline_sequence = 0;
        self.open_steps.clear();
        self.text_digests.clear();
        self.pending.clear();
        self.position = None;
    }

    /// Remembers that `interrupt` needs no answer any more.
    pub fn note_answered(&mut self, interrupt: &InterruptId) {
        if !self.was_answered(interrupt) {
            self.answered.push(interrupt.clone());
            let surplus = self.answered.len().saturating_sub(MAX_ANSWERED);
            self.answered.drain(..surplus);
        }
    }

    /// Whether `interrupt` was answered in this execution.
    #[must_use]
    pub fn was_answered(&self, interrupt: &InterruptId) -> bool {
        self.answered.contains(interrupt)
    }
}

/// A question that waits for an answer.
///
/// Example: see [`Execution`].
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct PendingInterrupt {
    /// The kernel's input, reduced to its public fields, with exact text and digits.
    pub value: JsonObject,
    /// Whether the answer goes beside the task's own stream (Pipeline permissions).
    pub sideband: bool,
    /// When it is too late to answer; `None` if nobody decided that yet.
    pub expires_at: Option<UnixMillis>,
    /// When a client was told; `None` if none was, or if another program rewrote the document.
    pub announced_at: Option<UnixMillis>,
    /// The AG-UI interrupt as it was announced, to show the very same again after a restart.
    pub interrupt: Option<JsonObject>,
    pub(crate) foreign: Foreign,
}

impl PendingInterrupt {
    /// A question of the kernel.
    #[must_use]
    pub const fn new(value: JsonObject) -> Self {
        Self {
            value,
            sideband: false,
            expires_at: None,
            announced_at: None,
            interrupt: None,
            foreign: Foreign::NONE,
        }
    }

    /// Says that the answer goes beside the task's own stream.
    #[must_use]
    pub const fn with_sideband(mut self) -> Self {
        self.sideband = true;
        self
    }

    /// Sets the last moment for an answer.
    #[must_use]
    pub const fn with_expires_at(mut self, at: UnixMillis) -> Self {
        self.expires_at = Some(at);
        self
    }

    /// Sets what was announced and when.
    #[must_use]
    pub fn with_announced(mut self, interrupt: JsonObject, at: UnixMillis) -> Self {
        self.interrupt = Some(interrupt);
        self.announced_at = Some(at);
        self
    }
}

impl fmt::Debug for PendingInterrupt {
    /// Leaves out what the question says: it is content, and content is not logged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingInterrupt")
            .field("value_bytes", &self.value.get().len())
            .field("sideband", &self.sideband)
            .field("expires_at", &self.expires_at)
            .field("announced_at", &self.announced_at)
            .field("interrupt_bytes", &self.interrupt.as_ref().map(|interrupt| interrupt.get().len()))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadline_is_the_first_one() {
        let mut execution = Execution::new("e".into(), "inv".into());
        assert_eq!(execution.deadline(), None);
        for (id, at) in [("a", Some(30)), ("b", Some(20)), ("c", None)] {
            let mut interrupt = PendingInterrupt::new(JsonObject::from_string("{}".to_owned()).unwrap());
            interrupt.expires_at = at.map(UnixMillis::new);
            execution.pending.insert(id.into(), interrupt);
        }
        assert_eq!(execution.deadline(), Some(UnixMillis::new(20)));
    }

    #[test]
    fn answered_ids_are_bounded_and_the_newest_stay() {
        let mut execution = Execution::new("e".into(), "inv".into());
        for number in 0..=MAX_ANSWERED {
            execution.note_answered(&format!("i{number}").into());
        }
        assert_eq!(execution.answered.len(), MAX_ANSWERED);
        assert!(!execution.was_answered(&"i0".into()));
        assert!(execution.was_answered(&"i1".into()));
    }

    #[test]
    fn the_debug_text_does_not_tell_what_was_asked() {
        let value = JsonObject::from_string(r#"{"prompt":"delete everything?"}"#.to_owned()).unwrap();
        let text = format!("{:?}", PendingInterrupt::new(value));
        assert!(!text.contains("delete"), "{text}");
    }
}
