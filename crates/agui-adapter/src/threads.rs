//! The threads that are in use: one lock and at most one active run each.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use agui_core::ThreadId;
use agui_store::{Claim, Step, StoreError, Stored, ThreadRecord, ThreadStore, Version};
use tokio::sync::OwnedMutexGuard;

use crate::active::Active;

/// Every thread that somebody holds. A thread that nobody holds costs nothing: its slot is gone.
#[derive(Debug)]
pub(crate) struct Threads {
    store: Arc<dyn ThreadStore>,
    // Held for a look-up only, never across an await.
    slots: Mutex<HashMap<ThreadId, Weak<Slot>>>,
}

impl Threads {
    pub(crate) fn new(store: Arc<dyn ThreadStore>) -> Arc<Self> {
        Arc::new(Self { store, slots: Mutex::default() })
    }

    pub(crate) fn store(&self) -> &Arc<dyn ThreadStore> {
        &self.store
    }

    /// The thread's slot; the same one for everybody who asks while it is held.
    pub(crate) fn slot(self: &Arc<Self>, thread: &ThreadId) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(thread).and_then(Weak::upgrade) {
            return slot;
        }
        let slot = Arc::new(Slot {
            thread: thread.clone(),
            threads: Arc::clone(self),
            state: Arc::default(),
            active: Mutex::default(),
        });
        slots.insert(thread.clone(), Arc::downgrade(&slot));
        slot
    }

    /// Number of threads in use.
    pub(crate) fn in_use(&self) -> usize {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Every run that is active now.
    pub(crate) fn active(&self) -> Vec<Arc<Active>> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.values().filter_map(Weak::upgrade).filter_map(|slot| slot.active()).collect()
    }
}

/// One thread in use.
pub(crate) struct Slot {
    thread: ThreadId,
    threads: Arc<Threads>,
    state: Arc<tokio::sync::Mutex<Option<Stored>>>,
    active: Mutex<Option<Arc<Active>>>,
}

impl Slot {
    pub(crate) fn thread(&self) -> &ThreadId {
        &self.thread
    }

    pub(crate) fn active(&self) -> Option<Arc<Active>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the thread's lock and, unless a run keeps the record current, reads it again: another
    /// process may have written since.
    pub(crate) async fn open(self: &Arc<Self>) -> Result<Open, StoreError> {
        let mut state = Arc::clone(&self.state).lock_owned().await;
        if self.active().is_none() {
            *state = self.threads.store.load(&self.thread).await?;
        }
        Ok(Open { slot: Arc::clone(self), state, claim: None })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut slots = self.threads.slots.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody may have made a new slot since the last holder of this one let go.
        if slots.get(&self.thread).is_some_and(|slot| slot.strong_count() == 0) {
            slots.remove(&self.thread);
        }
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("thread", &self.thread).finish_non_exhaustive()
    }
}

/// A thread under its lock.
#[derive(Debug)]
pub(crate) struct Open {
    slot: Arc<Slot>,
    state: OwnedMutexGuard<Option<Stored>>,
    claim: Option<Claim>,
}

impl Open {
    pub(crate) fn slot(&self) -> &Arc<Slot> {
        &self.slot
    }

    /// The record, `None` for a thread that was never stored.
    pub(crate) fn record(&self) -> Option<&ThreadRecord> {
        self.state.as_ref().map(|stored| &stored.record)
    }

    /// Takes the thread for a run and reads the record once more: another process may have run it meanwhile.
    /// `false` if a run goes on, in this process or in another one.
    pub(crate) async fn claim(&mut self) -> Result<bool, StoreError> {
        if self.claim.is_none() && self.slot.active().is_none() {
            let Slot { thread, threads, .. } = &*self.slot;
            self.claim = threads.store.claim(thread).await?;
            if self.claim.is_some() {
                *self.state = threads.store.load(thread).await?;
            }
        }
        Ok(self.is_claimed())
    }

    /// Whether the thread was taken for a run.
    pub(crate) const fn is_claimed(&self) -> bool {
        self.claim.is_some()
    }

    /// Makes `active` the thread's run, with the claim if there is one, until the guard is dropped.
    pub(crate) fn activate(&mut self, active: Arc<Active>) -> ActiveGuard {
        *self.slot.active.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&active));
        ActiveGuard { slot: Arc::clone(&self.slot), active, claim: self.claim.take() }
    }

    /// Saves a changed copy; the copy becomes the record only if that succeeded.
    pub(crate) async fn commit<T>(
        &mut self,
        change: impl FnOnce(&mut ThreadRecord) -> T,
    ) -> Result<T, StoreError> {
        let Some(stored) = self.state.as_ref() else { return Err(StoreError::Conflict) };
        let mut record = stored.record.clone();
        let out = change(&mut record);
        self.save(record, stored.version).await?;
        Ok(out)
    }

    /// Stores a thread for the first time.
    pub(crate) async fn create(&mut self, record: ThreadRecord) -> Result<(), StoreError> {
        self.save(record, Version::ABSENT).await
    }

    async fn save(&mut self, mut record: ThreadRecord, expected: Version) -> Result<(), StoreError> {
        let Slot { thread, threads, .. } = &*self.slot;
        match threads.store.save(&mut record, expected).await {
            Ok(version) => *self.state = Some(Stored::new(record, version)),
            Err(error) => {
                // Then it is written and may not last. Whoever takes it back must not be refused as stale.
                if matches!(error, StoreError::Io { step: Step::SyncDirectory, .. })
                    && let Ok(stored) = threads.store.load(thread).await
                {
                    *self.state = stored;
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Frees the thread when it is dropped, however the run ends.
#[derive(Debug)]
pub(crate) struct ActiveGuard {
    slot: Arc<Slot>,
    active: Arc<Active>,
    claim: Option<Claim>,
}

impl ActiveGuard {
    pub(crate) fn active(&self) -> &Arc<Active> {
        &self.active
    }
}

impl Drop for ActiveGuard {
    fn drop(&mut self) {
        // First: who finds no run here has to get the claim.
        drop(self.claim.take());
        let mut active = self.slot.active.lock().unwrap_or_else(PoisonError::into_inner);
        if active.as_ref().is_some_and(|current| Arc::ptr_eq(current, &self.active)) {
            *active = None;
        }
        drop(active);
        self.active.ended();
    }
}

#[cfg(test)]
mod tests {
    use agui_store::{Execution, MemoryStore};

    use super::*;

    #[tokio::test]
    async fn weakness_14_a_thread_that_nobody_uses_takes_no_memory() {
        let threads = Threads::new(Arc::new(MemoryStore::new()));
        let ids: Vec<ThreadId> = (0..1000).map(|number| ThreadId::new(format!("t{number}"))).collect();
        let held = threads.slot(&ids[0]);
        for id in &ids {
            assert!(threads.slot(id).open().await.unwrap().record().is_none());
        }
        assert_eq!(threads.in_use(), 1);
        assert!(Arc::ptr_eq(&held, &threads.slot(&ids[0])), "whoever comes meets who is there");
        drop(held);
        assert_eq!(threads.in_use(), 0);
    }

    fn record(thread: &str) -> ThreadRecord {
        ThreadRecord::new(thread.into(), "/ws", Execution::new("e".into(), "inv".into()))
    }

    #[tokio::test]
    async fn weakness_15_a_change_that_another_writer_was_faster_with_is_not_kept() {
        let store = Arc::new(MemoryStore::new());
        let slot = Threads::new(Arc::clone(&store) as Arc<dyn ThreadStore>).slot(&"t".into());
        let mut open = slot.open().await.unwrap();
        assert!(
            matches!(open.commit(|_| ()).await, Err(StoreError::Conflict)),
            "nothing is there to be changed"
        );
        open.create(record("t")).await.unwrap();
        open.commit(|record| record.execution.pipeline_sequence = 1).await.unwrap();

        let mut theirs = store.load(&"t".into()).await.unwrap().unwrap();
        theirs.record.execution.pipeline_sequence = 7;
        store.save(&mut theirs.record, theirs.version).await.unwrap();

        let ours = open.commit(|record| record.execution.pipeline_sequence = 2).await;
        assert!(matches!(ours, Err(StoreError::Conflict)));
        assert_eq!(
            open.record().unwrap().execution.pipeline_sequence,
            1,
            "what was not saved did not happen"
        );
        drop(open);
        assert_eq!(slot.open().await.unwrap().record().unwrap().execution.pipeline_sequence, 7);
    }

    #[tokio::test]
    async fn a_run_holds_its_thread_until_its_guard_goes_and_no_longer() {
        let threads = Threads::new(Arc::new(MemoryStore::new()));
        let slot = threads.slot(&"t".into());
        let run = |execution: &str| Arc::new(Active::new(execution.into(), "inv".into()));
        let guard = slot.open().await.unwrap().activate(run("e1"));
        assert_eq!(threads.active().len(), 1);
        // A guard that comes late takes nothing from the run after its own.
        let next = slot.open().await.unwrap().activate(run("e2"));
        drop(guard);
        assert_eq!(slot.active().unwrap().execution_id, "e2");
        drop(next);
        assert!(slot.active().is_none() && threads.active().is_empty());
    }

    #[tokio::test]
    async fn weakness_15_a_thread_that_another_process_runs_is_not_run_here_and_read_anew_once_it_is_free() {
        let store = Arc::new(MemoryStore::new());
        let slot = |store| Threads::new(Arc::clone(store) as Arc<dyn ThreadStore>).slot(&"t".into());
        let (ours, theirs) = (slot(&store), slot(&store));
        let mut open = ours.open().await.unwrap();
        let run = {
            let mut open = theirs.open().await.unwrap();
            assert!(open.claim().await.unwrap());
            open.create(record("t")).await.unwrap();
            open.activate(Arc::new(Active::new("e".into(), "inv".into())))
        };
        assert!(!open.claim().await.unwrap() && open.record().is_none());
        assert!(!theirs.open().await.unwrap().claim().await.unwrap(), "nor twice in one process");
        drop(run);
        assert!(open.claim().await.unwrap() && open.record().is_some());
        assert!(open.claim().await.unwrap(), "who has it has it");
        assert!(!theirs.open().await.unwrap().claim().await.unwrap());
        drop(open);
        assert!(theirs.open().await.unwrap().claim().await.unwrap());
    }

    #[tokio::test]
    async fn a_thread_is_changed_by_one_at_a_time() {
        let slot = Threads::new(Arc::new(MemoryStore::new())).slot(&"t".into());
        let open = slot.open().await.unwrap();
        let mut other = Box::pin(slot.open());
        assert!(futures_util::poll!(&mut other).is_pending());
        drop(open);
        other.await.unwrap();
    }
}
