//! What a store does.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;

use agui_core::{InterruptId, RunId, ThreadId, UnixMillis};
use async_trait::async_trait;

use crate::claim::Claim;
use crate::digest::Digest;
use crate::error::StoreError;
use crate::id::ExecutionId;
use crate::record::{PendingInterrupt, ThreadRecord};

/// Keeps one record a thread, and for ever what the record has no room for.
///
/// A record carries the newest run ids, answers and finished executions only, so that one write does
/// not grow with the thread's age; the store moves older ones aside before they leave the record.
/// [`run_digest`](Self::run_digest), [`applied_answer`](Self::applied_answer) and
/// [`is_terminal`](Self::is_terminal) look in both places.
///
/// Implementations pass `thread_store_contract_tests!` (feature `contract`).
/// Futures may be dropped at any time: a save then either happened or did not, and the next save with
/// the old version tells which by [`StoreError::Conflict`].
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use agui_store::{Execution, MemoryStore, StoreError, ThreadRecord, ThreadStore, Version, request_digest};
///
/// # async fn example() -> Result<(), StoreError> {
/// let store: Box<dyn ThreadStore> = Box::new(MemoryStore::new());
/// let (mut record, version) = match store.load(&"thread".into()).await? {
///     Some(stored) => (stored.record, stored.version),
///     None => {
///         let execution = Execution::new("e1".into(), "inv".into());
///         (ThreadRecord::new("thread".into(), "/workspace", execution), Version::ABSENT)
///     }
/// };
/// record.record_run("run-1".into(), request_digest(b"{}"));
/// store.save(&mut record, version).await?;
///
/// let waiting = store.parked_index(None, NonZeroUsize::MIN).await?;
/// assert!(waiting.threads.is_empty() && waiting.next.is_none());
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example()).unwrap();
/// ```
#[async_trait]
pub trait ThreadStore: fmt::Debug + Send + Sync + 'static {
    /// The thread's record, `None` if the thread was never saved.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if something is stored but cannot be trusted: never an empty thread.
    async fn load(&self, thread: &ThreadId) -> Result<Option<Stored>, StoreError>;

    /// Replaces the record if the stored version is still `expected`.
    ///
    /// On success `record` is what a load would give: its revision is one higher and the history that
    /// was moved aside is gone from it. On failure it is unchanged.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if another writer was faster, in this process or another; nothing is
    /// written. After any other error the old record is still there, except when only the last step,
    /// making the directory entry durable ([`Step::SyncDirectory`](crate::Step::SyncDirectory)), failed.
    async fn save(&self, record: &mut ThreadRecord, expected: Version) -> Result<Version, StoreError>;

    /// Takes the thread for a run; `None` if somebody has taken it.
    ///
    /// As long as the claim is held nobody else gets one, through this store or another one over the same
    /// records. Whoever gets one knows that no run of another process goes on, so load the record after it.
    /// A claim stops no [`save`](Self::save): it says who runs the thread, not who may write.
    ///
    /// ```
    /// use agui_store::{MemoryStore, StoreError, ThreadStore};
    ///
    /// # async fn example() -> Result<(), StoreError> {
    /// let store = MemoryStore::new();
    /// let claim = store.claim(&"thread".into()).await?;
    /// assert!(claim.is_some());
    /// assert!(store.claim(&"thread".into()).await?.is_none());
    /// drop(claim);
    /// assert!(store.claim(&"thread".into()).await?.is_some());
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example()).unwrap();
    /// ```
    ///
    /// # Errors
    /// If nobody can tell.
    async fn claim(&self, thread: &ThreadId) -> Result<Option<Claim>, StoreError>;

    /// Digest of the request that used this run id, however long ago.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if the place where the answer would be is damaged: never a false `None`.
    async fn run_digest(&self, thread: &ThreadId, run: &RunId) -> Result<Option<Digest>, StoreError>;

    /// Digest of the newest accepted answer to this interrupt: within `execution`, or if that is `None`
    /// within any execution of the thread.
    ///
    /// # Errors
    /// As [`run_digest`](Self::run_digest).
    async fn applied_answer(
        &self,
        thread: &ThreadId,
        interrupt: &InterruptId,
        execution: Option<&ExecutionId>,
    ) -> Result<Option<Digest>, StoreError>;

    /// Whether this execution of the thread has ended, however long ago.
    ///
    /// # Errors
    /// As [`run_digest`](Self::run_digest).
    async fn is_terminal(&self, thread: &ThreadId, execution: &ExecutionId) -> Result<bool, StoreError>;

    /// Threads with pending interrupts, found by reading at most `limit` records after `after`.
    ///
    /// It looks at every thread, so nothing calls it at start-up; that is what
    /// [`parked_index`](Self::parked_index) is for. A page may be empty and still have a next one.
    ///
    /// # Errors
    /// If the records cannot be listed. Single records that cannot be read are counted, not reported.
    async fn parked(
        &self,
        after: Option<&ParkedCursor>,
        limit: NonZeroUsize,
    ) -> Result<ParkedPage, StoreError>;

    /// The same without reading any thread that does not wait: what [`save`](Self::save) noted.
    ///
    /// A thread that another program parked may be missing until it is saved here; no thread is listed
    /// that does not wait.
    ///
    /// # Errors
    /// As [`parked`](Self::parked).
    async fn parked_index(
        &self,
        after: Option<&ParkedCursor>,
        limit: NonZeroUsize,
    ) -> Result<ParkedPage, StoreError>;
}

/// A record as it was found.
///
/// Example: see [`ThreadStore`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Stored {
    /// The record.
    pub record: ThreadRecord,
    /// What to hand to the next [`save`](ThreadStore::save).
    pub version: Version,
}

impl Stored {
    /// Pairs a record with its version.
    #[must_use]
    pub const fn new(record: ThreadRecord, version: Version) -> Self {
        Self { record, version }
    }
}

/// Which content of a record a writer has seen. Compare for equality only.
///
/// Example: see [`ThreadStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(VersionKind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VersionKind {
    Absent,
    Content(Digest),
    Number(u64),
}

impl Version {
    /// The thread is not stored yet.
    pub const ABSENT: Self = Self(VersionKind::Absent);

    /// For stores whose writers include programs that count nothing: the content's digest.
    #[must_use]
    pub const fn of_content(digest: Digest) -> Self {
        Self(VersionKind::Content(digest))
    }

    /// For stores that number the versions of a record.
    #[must_use]
    pub const fn of_number(number: u64) -> Self {
        Self(VersionKind::Number(number))
    }

    /// The number given to [`of_number`](Self::of_number).
    #[must_use]
    pub const fn number(self) -> Option<u64> {
        match self.0 {
            VersionKind::Number(number) => Some(number),
            VersionKind::Absent | VersionKind::Content(_) => None,
        }
    }
}

/// Where the next page of [`ThreadStore::parked`] or [`ThreadStore::parked_index`] begins; meaningful to
/// the store and the operation that gave it.
///
/// Example: see [`ThreadStore`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParkedCursor(Box<str>);

impl ParkedCursor {
    /// Wraps a store's own key.
    #[must_use]
    pub fn new(key: impl Into<Box<str>>) -> Self {
        Self(key.into())
    }

    /// The store's key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One page of parked threads.
///
/// Example: see [`ThreadStore`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ParkedPage {
    /// The parked threads among the records that were read.
    pub threads: Vec<ParkedThread>,
    /// How many of the records could not be read.
    pub unreadable: usize,
    /// Where to go on; `None` at the end.
    pub next: Option<ParkedCursor>,
}

/// A thread that waits for answers.
///
/// Example: see [`ThreadStore`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ParkedThread {
    /// The thread.
    pub thread_id: ThreadId,
    /// The execution that waits.
    pub execution_id: ExecutionId,
    /// The interrupts without an answer, at least one.
    pub pending: BTreeMap<InterruptId, PendingInterrupt>,
    /// Where a page that begins right behind this thread begins.
    pub cursor: ParkedCursor,
}

impl ParkedThread {
    /// What a record says, `None` if nothing is pending.
    #[must_use]
    pub fn of(record: &ThreadRecord, cursor: ParkedCursor) -> Option<Self> {
        let pending = &record.execution.pending;
        (!pending.is_empty()).then(|| Self {
            thread_id: record.thread_id.clone(),
            execution_id: record.execution.id.clone(),
            pending: pending.clone(),
            cursor,
        })
    }

    /// When the oldest of the interrupts was announced, if known.
    #[must_use]
    pub fn since(&self) -> Option<UnixMillis> {
        self.pending.values().filter_map(|interrupt| interrupt.announced_at).min()
    }

    /// When the first of the interrupts expires, if one does.
    #[must_use]
    pub fn deadline(&self) -> Option<UnixMillis> {
        self.pending.values().filter_map(|interrupt| interrupt.expires_at).min()
    }
}
