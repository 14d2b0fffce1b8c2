//! Threads as files: `<state-dir>/threads/<key>.json`, shared with iac-code's own AG-UI adapter.
//!
//! Beside the document of a thread there may be:
//!
//! - `<key>.runs/<two hexadecimal digits>`: history that has left the document ([`history`]),
//! - `.<key>.json.lock`: the lock file, empty, held during a save,
//! - `.<key>.json.run`: empty, held locked by whoever runs the thread,
//! - `.<key>.json.tmp`: the next document; a leftover of a crash is replaced by the next save,
//! - `<state-dir>/parked/<key>`: says that the thread waits for answers ([`marker`]).
//!
//! The other adapter reads and replaces the document only, without a lock. A save therefore compares
//! the digest of the whole document with the one that was loaded; between that comparison and the
//! rename, some 1 ms later, only the other adapter can slip in unseen.

mod directory;
mod failpoint;
mod history;
mod key;
mod lock;
mod marker;
mod parked;
mod thread;
mod totals;
mod write;

use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agui_core::{InterruptId, RunId, ThreadId};
use async_trait::async_trait;

use self::directory::Directories;
use self::history::Lookup;
use self::lock::{ThreadGuard, ThreadLocks};
use self::thread::ThreadFiles;
use crate::claim::Claim;
use crate::digest::Digest;
use crate::document;
use crate::error::{Entry, Step, StoreError};
use crate::id::ExecutionId;
use crate::record::ThreadRecord;
use crate::store::{ParkedCursor, ParkedPage, Stored, ThreadStore, Version};

#[cfg(not(feature = "failpoints"))]
use self::failpoint::Failpoints;
#[cfg(feature = "failpoints")]
pub use self::failpoint::{Failpoints, FailpointsError};
pub use self::totals::WriteTotals;

/// Keeps each thread in its own small file and touches only the files of the thread it is asked about.
///
/// Files are replaced, never changed: written beside, synced, renamed, the directory synced. All file
/// work happens on the runtime's blocking threads. Writers in other processes are kept apart by a lock
/// file a thread, writers that know no lock are noticed by the document's digest.
///
/// ```
/// use agui_store::{Execution, FileStore, ThreadRecord, ThreadStore, Version};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let directory = tempfile::tempdir()?;
/// let store = FileStore::open(directory.path())?;
/// let execution = Execution::new("e1".into(), "inv".into());
/// let mut record = ThreadRecord::new("thread".into(), "/workspace", execution);
/// store.save(&mut record, Version::ABSENT).await?;
///
/// assert_eq!(store.write_totals().documents, 1);
/// assert!(directory.path().join("threads/thread.json").is_file());
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example()).unwrap();
/// ```
///
/// Source: S11.1, S11.3, S11.7.
#[derive(Clone)]
pub struct FileStore {
    shared: Arc<Shared>,
    lock_patience: Duration,
}

/// How long a save waits for another process; one save takes milliseconds.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

struct Shared {
    directories: Directories,
    locks: ThreadLocks,
}

impl FileStore {
    /// Opens or creates the store below `state_dir`; reads no thread.
    ///
    /// `state_dir` itself may be reached through symbolic links, nothing inside it may be one.
    ///
    /// # Errors
    /// [`StoreError::WrongKind`] if `threads` is not a directory, [`StoreError::Io`] if a directory
    /// cannot be created or opened.
    pub fn open(state_dir: &Path) -> Result<Self, StoreError> {
        let failpoints = Failpoints::from_environment().map_err(StoreError::io(Step::OpenDirectory))?;
        Self::with_failpoints(state_dir, failpoints)
    }

    /// Opens the store with failpoints of the caller's instead of the environment's.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    #[cfg(feature = "failpoints")]
    pub fn open_with_failpoints(state_dir: &Path, failpoints: Failpoints) -> Result<Self, StoreError> {
        Self::with_failpoints(state_dir, failpoints)
    }

    fn with_failpoints(state_dir: &Path, failpoints: Failpoints) -> Result<Self, StoreError> {
        let directories = Directories::open(state_dir, failpoints)?;
        let shared = Arc::new(Shared { directories, locks: ThreadLocks::default() });
        Ok(Self { shared, lock_patience: LOCK_PATIENCE })
    }

    /// Sets how long a save waits while another process keeps the thread locked, 5 s by default.
    #[must_use]
    pub const fn with_lock_patience(mut self, patience: Duration) -> Self {
        self.lock_patience = patience;
        self
    }

    /// What this store has written since it was opened.
    #[must_use]
    pub fn write_totals(&self) -> WriteTotals {
        self.shared.directories.threads.totals()
    }

    /// How many threads have a writer or a waiting writer at this moment.
    #[must_use]
    pub fn locked_threads(&self) -> usize {
        self.shared.locks.len()
    }

    /// Runs `work` on a blocking thread.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Directories) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.shared);
        let task = tokio::task::spawn_blocking(move || work(&shared.directories));
        task.await.map_err(|_| StoreError::Stopped)?
    }

    /// Reads the document, then the history: what leaves the document is in the history before.
    async fn look_up<T: Send + 'static>(
        &self,
        thread: &ThreadId,
        lookup: Lookup,
        recent: impl FnOnce(&ThreadRecord) -> Option<T> + Send + 'static,
        older: impl FnOnce(history::Found) -> Option<T> + Send + 'static,
    ) -> Result<Option<T>, StoreError> {
        let thread = thread.clone();
        self.blocking(move |Directories { threads, .. }| {
            let files = ThreadFiles::locate(threads, &thread)?;
            let Some(document) = files.read_document()? else { return Ok(None) };
            let record = decode(&document, &thread)?;
            if let Some(found) = recent(&record) {
                return Ok(Some(found));
            }
            Ok(files.find(&thread, &lookup)?.and_then(older))
        })
        .await
    }
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileStore").field("locked_threads", &self.locked_threads()).finish_non_exhaustive()
    }
}

#[async_trait]
impl ThreadStore for FileStore {
    async fn load(&self, thread: &ThreadId) -> Result<Option<Stored>, StoreError> {
        let thread = thread.clone();
        self.blocking(move |Directories { threads, .. }| {
            let files = ThreadFiles::locate(threads, &thread)?;
            let Some(document) = files.read_document()? else { return Ok(None) };
            let record = decode(&document, &thread)?;
            Ok(Some(Stored::new(record, version(&document))))
        })
        .await
    }

    async fn save(&self, record: &mut ThreadRecord, expected: Version) -> Result<Version, StoreError> {
        let thread = record.thread_id.clone();
        let stem = key::stem(&thread)?;
        let mut next = record.clone();
        let retired = next.retire_history();
        next.revision += 1;
        let document = document::encode(&next).map_err(StoreError::InvalidRecord)?;
        let waits = !next.execution.pending.is_empty();
        let patience = self.lock_patience;
        // Waits without a deadline of its own: whoever holds it is a save, and each of its steps ends.
        let guard: ThreadGuard = self.shared.locks.lock(&stem).await;
        let saved = self
            .blocking(move |Directories { threads, parked }| {
                // Held here and not by the future: a dropped future does not stop the write.
                let _guard = guard;
                let lock = lock::lock_file(threads, &stem, patience)?;
                let files = ThreadFiles::locate(threads, &thread)?;
                let current = files.read_document()?;
                if current.as_deref().map_or(Version::ABSENT, version) != expected {
                    return Err(StoreError::Conflict);
                }
                files.append(&thread, &retired)?;
                if waits {
                    marker::put(parked, files.stem())?;
                }
                files.replace_document(&document)?;
                if !waits {
                    marker::remove(parked, files.stem());
                }
                drop(lock);
                Ok(version(&document))
            })
            .await?;
        *record = next;
        Ok(saved)
    }

    async fn claim(&self, thread: &ThreadId) -> Result<Option<Claim>, StoreError> {
        let stem = key::stem(thread)?;
        self.blocking(move |Directories { threads, .. }| lock::claim(threads, &stem)).await
    }

    async fn run_digest(&self, thread: &ThreadId, run: &RunId) -> Result<Option<Digest>, StoreError> {
        let run_id = run.clone();
        self.look_up(thread, Lookup::run(run), move |record| record.run_digest(&run_id), |found| found.digest)
            .await
    }

    async fn applied_answer(
        &self,
        thread: &ThreadId,
        interrupt: &InterruptId,
        execution: Option<&ExecutionId>,
    ) -> Result<Option<Digest>, StoreError> {
        let lookup = Lookup::answer(interrupt, execution);
        let (interrupt, execution) = (interrupt.clone(), execution.cloned());
        self.look_up(
            thread,
            lookup,
            move |record| record.find_answer(&interrupt, execution.as_ref()),
            |found| found.digest,
        )
        .await
    }

    async fn is_terminal(&self, thread: &ThreadId, execution: &ExecutionId) -> Result<bool, StoreError> {
        let lookup = Lookup::execution(execution);
        let execution = execution.clone();
        let recent = move |record: &ThreadRecord| record.is_terminal(&execution).then_some(());
        let found = self.look_up(thread, lookup, recent, |_| Some(())).await?;
        Ok(found.is_some())
    }

    async fn parked(
        &self,
        after: Option<&ParkedCursor>,
        limit: NonZeroUsize,
    ) -> Result<ParkedPage, StoreError> {
        let after = after.cloned();
        self.blocking(move |Directories { threads, .. }| parked::page(threads, after.as_ref(), limit.get()))
            .await
    }

    async fn parked_index(
        &self,
        after: Option<&ParkedCursor>,
        limit: NonZeroUsize,
    ) -> Result<ParkedPage, StoreError> {
        let after = after.cloned();
        self.blocking(move |directories| marker::page(directories, after.as_ref(), limit.get())).await
    }
}

fn decode(document: &[u8], thread: &ThreadId) -> Result<ThreadRecord, StoreError> {
    document::decode(document, thread)
        .map_err(|corruption| StoreError::Corrupt { entry: Entry::Document, corruption })
}

fn version(document: &[u8]) -> Version {
    Version::of_content(Digest::of(document))
}
