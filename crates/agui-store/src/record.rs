//! What is known about one thread.

mod execution;
mod history;

use std::collections::BTreeMap;
use std::fmt;

use agui_core::{InterruptId, Json, RunId, ThreadId};

use crate::digest::Digest;
use crate::id::{ContextId, ExecutionId, InvocationId, SessionId};

pub use execution::{Execution, PendingInterrupt};
pub use history::RetiredHistory;

/// Members of a stored object that this version does not know; they are written back as they were.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Foreign(pub(crate) BTreeMap<String, Json>);

impl Foreign {
    pub(crate) const NONE: Self = Self(BTreeMap::new());
}

impl fmt::Debug for Foreign {
    /// Leaves the values out: who knows what others keep there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Everything that survives a restart of the adapter, for one thread.
///
/// No conversation, no artifact and no secret is part of it (S11.4): digests, ids, positions, and the
/// public projection of the questions that wait for an answer.
///
/// ```
/// use agui_store::{Digest, Execution, ThreadRecord};
///
/// let execution = Execution::new("e1".into(), "inv-1".into());
/// let mut record = ThreadRecord::new("thread".into(), "/workspace", execution);
/// record.record_run("run-1".into(), Digest::of(b"the request"));
/// record.rotate("e2".into(), "inv-2".into());
///
/// assert!(record.is_terminal(&"e1".into()));
/// assert_eq!(record.run_digest(&"run-1".into()), Some(Digest::of(b"the request")));
/// assert!(record.retire_history().is_empty());
/// ```
///
/// Source: S11.2, S11.4.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ThreadRecord {
    /// The thread.
    pub thread_id: ThreadId,
    /// Its A2A context; see [`ContextId::for_thread`].
    pub context_id: ContextId,
    /// The workspace it is bound to: the resolved path of its first request (S3.2).
    pub cwd: Box<str>,
    /// The requester it is bound to, if its first request named one (S3.2).
    pub user_id: Option<Box<str>>,
    /// Its iac-code session, once the kernel told it.
    pub session_id: Option<SessionId>,
    /// The newest execution, running, parked or ended.
    pub execution: Execution,
    /// The newest run ids with the digests of their requests, oldest first.
    /// [`ThreadStore::run_digest`](crate::ThreadStore::run_digest) knows the older ones.
    pub runs: Vec<RecordedRun>,
    /// The newest accepted answers, oldest first.
    /// [`ThreadStore::applied_answer`](crate::ThreadStore::applied_answer) knows the older ones.
    pub applied_answers: Vec<AppliedAnswer>,
    /// The newest executions that ended, oldest first.
    /// [`ThreadStore::is_terminal`](crate::ThreadStore::is_terminal) knows the older ones.
    pub terminal_executions: Vec<ExecutionId>,
    /// How often the record was saved by this crate. Not the version: other programs do not count.
    pub revision: u64,
    pub(crate) foreign: Foreign,
    pub(crate) foreign_ours: Foreign,
}

/// A run id that must never be used again on its thread.
///
/// Source: S2.2, S9.1.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedRun {
    /// The run.
    pub run_id: RunId,
    /// Digest of the request that used it; tells a repeated request from another one.
    pub digest: Digest,
}

impl RecordedRun {
    /// Pairs a run id with the digest of its request.
    #[must_use]
    pub const fn new(run_id: RunId, digest: Digest) -> Self {
        Self { run_id, digest }
    }
}

/// An answer that the kernel accepted.
///
/// Source: S8.6.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppliedAnswer {
    /// The execution that had asked.
    pub execution_id: ExecutionId,
    /// The question.
    pub interrupt_id: InterruptId,
    /// [`answer_digest`](crate::answer_digest) of the answer.
    pub digest: Digest,
}

impl AppliedAnswer {
    /// Makes an entry.
    #[must_use]
    pub const fn new(execution_id: ExecutionId, interrupt_id: InterruptId, digest: Digest) -> Self {
        Self { execution_id, interrupt_id, digest }
    }
}

impl ThreadRecord {
    /// A thread that begins with `execution`, bound to a workspace.
    #[must_use]
    pub fn new(thread_id: ThreadId, cwd: impl Into<Box<str>>, execution: Execution) -> Self {
        Self {
            context_id: ContextId::for_thread(&thread_id),
            thread_id,
            cwd: cwd.into(),
            user_id: None,
            session_id: None,
            execution,
            runs: Vec::new(),
            applied_answers: Vec::new(),
            terminal_executions: Vec::new(),
            revision: 0,
            foreign: Foreign::NONE,
            foreign_ours: Foreign::NONE,
        }
    }

    /// Binds the thread to a requester.
    #[must_use]
    pub fn with_user_id(mut self, user_id: impl Into<Box<str>>) -> Self {
        self.user_id = Some(user_id.into());
        self
    }

    /// Digest of the request that used `run`, if the record still carries it.
    #[must_use]
    pub fn run_digest(&self, run: &RunId) -> Option<Digest> {
        self.runs.iter().rev().find(|entry| entry.run_id == *run).map(|entry| entry.digest)
    }

    /// Marks a run id as used. Check [`ThreadStore::run_digest`](crate::ThreadStore::run_digest) first.
    pub fn record_run(&mut self, run_id: RunId, digest: Digest) {
        self.runs.push(RecordedRun::new(run_id, digest));
    }

    /// Begins a new execution on the thread; the one before counts as ended from now on.
    pub fn rotate(&mut self, id: ExecutionId, invocation_id: InvocationId) {
        self.note_terminal();
        self.execution = Execution::new(id, invocation_id);
    }

    /// Ends the execution: no task, nothing pending, no position to go on from, its id among the ended ones.
    pub fn mark_terminal(&mut self) {
        self.note_terminal();
        self.execution.end();
    }

    /// Whether `execution` is among the ended ones that the record still carries.
    #[must_use]
    pub fn is_terminal(&self, execution: &ExecutionId) -> bool {
        self.terminal_executions.contains(execution)
    }

    /// Replaces a pending interrupt by the digest of its accepted answer.
    pub fn apply_answer(&mut self, interrupt: &InterruptId, digest: Digest) {
        self.execution.pending.remove(interrupt);
        self.execution.note_answered(interrupt);
        let execution = self.execution.id.clone();
        self.applied_answers
            .retain(|entry| entry.interrupt_id != *interrupt || entry.execution_id != execution);
        self.applied_answers.push(AppliedAnswer::new(execution, interrupt.clone(), digest));
    }

    /// Digest of the accepted answer to `interrupt` in the newest execution, if the record still
    /// carries it.
    #[must_use]
    pub fn applied_answer(&self, interrupt: &InterruptId) -> Option<Digest> {
        self.find_answer(interrupt, Some(&self.execution.id))
    }

    pub(crate) fn find_answer(
        &self,
        interrupt: &InterruptId,
        execution: Option<&ExecutionId>,
    ) -> Option<Digest> {
        self.applied_answers
            .iter()
            .rev()
            .find(|entry| {
                entry.interrupt_id == *interrupt && execution.is_none_or(|id| entry.execution_id == *id)
            })
            .map(|entry| entry.digest)
    }

    fn note_terminal(&mut self) {
        if !self.is_terminal(&self.execution.id) {
            self.terminal_executions.push(self.execution.id.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> ThreadRecord {
        ThreadRecord::new("t".into(), "/ws", Execution::new("e1".into(), "inv-1".into()))
    }

    #[test]
    fn rotation_ends_the_execution_before_and_starts_empty() {
        let mut record = record();
        record.execution.task_id = Some("task".into());
        record.execution.pipeline_sequence = 7;
        record.apply_answer(&"i".into(), Digest::of(b"answer"));

        record.rotate("e2".into(), "inv-2".into());

        assert_eq!(record.execution, Execution::new("e2".into(), "inv-2".into()));
        assert_eq!(record.terminal_executions, ["e1"]);
        assert_eq!(record.applied_answer(&"i".into()), None);
        assert_eq!(record.find_answer(&"i".into(), None), Some(Digest::of(b"answer")));
    }

    #[test]
    fn ending_twice_is_ending_once() {
        let mut record = record();
        record.mark_terminal();
        record.mark_terminal();
        record.rotate("e2".into(), "inv-2".into());
        assert_eq!(record.terminal_executions, ["e1"]);
    }

    #[test]
    fn an_ended_execution_keeps_its_names_and_its_answers_and_nothing_to_go_on_from() {
        let mut record = record();
        record.apply_answer(&"i".into(), Digest::of(b"answer"));
        let execution = &mut record.execution;
        execution.task_id = Some("task".into());
        execution.pipeline_sequence = 7;
        execution.open_steps.insert("step:plan".into());
        execution.text_digests.insert(Digest::of(b"text"));
        execution.position = agui_core::JsonObject::from_string("{}".to_owned()).ok();
        execution.pending.insert("j".into(), PendingInterrupt::new(execution.position.clone().unwrap()));

        record.mark_terminal();

        let mut expected = Execution::new("e1".into(), "inv-1".into());
        expected.note_answered(&"i".into());
        assert_eq!(record.execution, expected);
        assert!(record.is_terminal(&"e1".into()));
    }

    #[test]
    fn an_answer_takes_the_question_away_and_is_remembered_once() {
        let mut record = record();
        let value = agui_core::JsonObject::from_string("{}".to_owned()).unwrap();
        record.execution.pending.insert("i".into(), PendingInterrupt::new(value));

        record.apply_answer(&"i".into(), Digest::of(b"1"));
        record.apply_answer(&"i".into(), Digest::of(b"2"));

        assert!(record.execution.pending.is_empty());
        assert!(record.execution.was_answered(&"i".into()));
        assert_eq!(record.applied_answers, [AppliedAnswer::new("e1".into(), "i".into(), Digest::of(b"2"))]);
    }
}
