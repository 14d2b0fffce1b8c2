//! A store that lives as long as the process.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agui_core::{InterruptId, RunId, ThreadId};
use async_trait::async_trait;

use crate::claim::Claim;
use crate::digest::Digest;
use crate::error::StoreError;
use crate::id::ExecutionId;
use crate::record::{RetiredHistory, ThreadRecord};
use crate::store::{ParkedCursor, ParkedPage, ParkedThread, Stored, ThreadStore, Version};

/// Keeps records in memory; for tests and for servers that may forget.
///
/// Example: see [`ThreadStore`].
#[derive(Default)]
pub struct MemoryStore {
    threads: Mutex<BTreeMap<ThreadId, Kept>>,
    claimed: Arc<Mutex<BTreeSet<ThreadId>>>,
}

/// An entry among the claimed threads.
struct Claimed {
    claimed: Arc<Mutex<BTreeSet<ThreadId>>>,
    thread: ThreadId,
}

impl Drop for Claimed {
    fn drop(&mut self) {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.thread);
    }
}

struct Kept {
    record: ThreadRecord,
    number: u64,
    older: Older,
}

/// What left the record.
#[derive(Default)]
struct Older {
    runs: HashMap<RunId, Digest>,
    answers: HashMap<InterruptId, Vec<(ExecutionId, Digest)>>,
    executions: BTreeSet<ExecutionId>,
}

impl Older {
    fn keep(&mut self, retired: RetiredHistory) {
        for run in retired.runs {
            self.runs.insert(run.run_id, run.digest);
        }
        for answer in retired.answers {
            let answers = self.answers.entry(answer.interrupt_id).or_default();
            answers.push((answer.execution_id, answer.digest));
        }
        self.executions.extend(retired.executions);
    }

    fn answer(&self, interrupt: &InterruptId, execution: Option<&ExecutionId>) -> Option<Digest> {
        let answers = self.answers.get(interrupt)?;
        let found = answers.iter().rev().find(|(id, _)| execution.is_none_or(|wanted| id == wanted));
        found.map(|(_, digest)| *digest)
    }
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn threads(&self) -> MutexGuard<'_, BTreeMap<ThreadId, Kept>> {
        // No code that can panic runs under the lock, so a poisoned map is whole.
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find<T>(
        &self,
        thread: &ThreadId,
        find: impl FnOnce(&Kept) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        if thread.as_str().is_empty() {
            return Err(StoreError::EmptyThreadId);
        }
        Ok(self.threads().get(thread).and_then(find))
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("threads", &self.threads().len()).finish()
    }
}

#[async_trait]
impl ThreadStore for MemoryStore {
    async fn load(&self, thread: &ThreadId) -> Result<Option<Stored>, StoreError> {
        self.find(thread, |kept| Some(Stored::new(kept.record.clone(), Version::of_number(kept.number))))
    }

    async fn save(&self, record: &mut ThreadRecord, expected: Version) -> Result<Version, StoreError> {
        if record.thread_id.as_str().is_empty() {
            return Err(StoreError::EmptyThreadId);
        }
        // The same records are storable here and in files.
        crate::document::encode(record).map_err(StoreError::InvalidRecord)?;
        let mut threads = self.threads();
        let current = threads.get(&record.thread_id).map_or(0, |kept| kept.number);
        let version = if current == 0 { Version::ABSENT } else { Version::of_number(current) };
        if expected != version {
            return Err(StoreError::Conflict);
        }
        let retired = record.retire_history();
        record.revision += 1;
        let number = current + 1;
        let kept = threads
            .entry(record.thread_id.clone())
            .and_modify(|kept| {
                kept.record.clone_from(record);
                kept.number = number;
            })
            .or_insert_with(|| Kept { record: record.clone(), number, older: Older::default() });
        kept.older.keep(retired);
        Ok(Version::of_number(number))
    }

    async fn claim(&self, thread: &ThreadId) -> Result<Option<Claim>, StoreError> {
        if thread.as_str().is_empty() {
            return Err(StoreError::EmptyThreadId);
        }
        let is_new = self.claimed.lock().unwrap_or_else(PoisonError::into_inner).insert(thread.clone());
        let claimed = || Claimed { claimed: Arc::clone(&self.claimed), thread: thread.clone() };
        Ok(is_new.then(|| Claim::new(claimed())))
    }

    async fn run_digest(&self, thread: &ThreadId, run: &RunId) -> Result<Option<Digest>, StoreError> {
        self.find(thread, |kept| kept.record.run_digest(run).or_else(|| kept.older.runs.get(run).copied()))
    }

    async fn applied_answer(
        &self,
        thread: &ThreadId,
        interrupt: &InterruptId,
        execution: Option<&ExecutionId>,
    ) -> Result<Option<Digest>, StoreError> {
        self.find(thread, |kept| {
            let recent = kept.record.find_answer(interrupt, execution);
            recent.or_else(|| kept.older.answer(interrupt, execution))
        })
    }

    async fn is_terminal(&self, thread: &ThreadId, execution: &ExecutionId) -> Result<bool, StoreError> {
        let found = self.find(thread, |kept| {
            Some(kept.record.is_terminal(execution) || kept.older.executions.contains(execution))
        });
        Ok(found?.unwrap_or_default())
    }

    async fn parked(
        &self,
        after: Option<&ParkedCursor>,
        limit: NonZeroUsize,
    ) -> Result<ParkedPage, StoreError> {
        let from = after.map_or(Bound::Unbounded, |cursor| Bound::Excluded(ThreadId::from(cursor.as_str())));
        let threads = self.threads();
        let mut rest = threads.range((from, Bound::Unbounded));
        let mut page = ParkedPage::default();
        let mut last = None;
        for (thread, kept) in rest.by_ref().take(limit.get()) {
            page.threads.extend(ParkedThread::of(&kept.record, ParkedCursor::new(thread.as_str())));
            last = Some(thread);
        }
        if rest.next().is_some() {
            page.next = last.map(|thread| ParkedCursor::new(thread.as_str()));
        }
        Ok(page)
    }

    async fn parked_index(
        &self,
        after: Option<&ParkedCursor>,
        limit: NonZeroUsize,
    ) -> Result<ParkedPage, StoreError> {
        self.parked(after, limit).await
    }
}
