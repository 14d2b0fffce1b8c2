//! What can go wrong with a store.

use std::fmt;
use std::io;
use std::time::Duration;

/// Why a store refused. Messages name places and reasons, never stored content, ids or paths.
///
/// ```
/// use agui_store::{Entry, FileStore, StoreError};
///
/// let directory = tempfile::tempdir()?;
/// std::fs::write(directory.path().join("threads"), "not a directory")?;
/// let refused = FileStore::open(directory.path());
/// assert!(matches!(refused, Err(StoreError::WrongKind(Entry::ThreadsDirectory))));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another writer changed the thread since it was loaded; load it again.
    #[error("another writer changed the thread")]
    Conflict,
    /// The thread id is empty.
    #[error("the thread id is empty")]
    EmptyThreadId,
    /// The record holds something that could not be loaded again.
    #[error("the record cannot be stored: {0}")]
    InvalidRecord(Corruption),
    /// What is stored cannot be trusted.
    #[error("{entry} is damaged: {corruption}")]
    Corrupt {
        /// What was read.
        entry: Entry,
        /// What is wrong with it.
        corruption: Corruption,
    },
    /// A symbolic link, or something else that is not the file or directory it should be.
    #[error("{0} is a symbolic link or of the wrong kind")]
    WrongKind(Entry),
    /// Another process kept the thread locked.
    #[error("another process has kept the thread locked for {} ms", .0.as_millis())]
    Locked(Duration),
    /// The stored file is larger than the store reads.
    #[error("{entry} is larger than {limit_bytes} bytes")]
    TooLarge {
        /// What was read.
        entry: Entry,
        /// The limit.
        limit_bytes: u64,
    },
    /// The operating system refused a step.
    #[error("{step} failed")]
    Io {
        /// Which step.
        step: Step,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The runtime was shut down before the operation ended, or the operation panicked.
    #[error("the operation was stopped")]
    Stopped,
    /// A store outside this crate failed.
    #[error("the store failed")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    pub(crate) const fn io(step: Step) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { step, source }
    }
}

/// Something that a file store keeps.
///
/// Example: see [`StoreError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Entry {
    /// The directory of all threads.
    ThreadsDirectory,
    /// The directory of the markers of threads that wait.
    ParkedDirectory,
    /// The JSON document of a thread.
    Document,
    /// The lock file of a thread.
    LockFile,
    /// The file that is renamed over the document.
    TempFile,
    /// The directory of a thread's older history.
    HistoryDirectory,
    /// One file of a thread's older history.
    HistoryFile,
    /// The file that says that a thread waits.
    Marker,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ThreadsDirectory => "the directory of threads",
            Self::ParkedDirectory => "the directory of waiting threads",
            Self::Document => "the thread document",
            Self::LockFile => "the lock file of the thread",
            Self::TempFile => "the temporary file of the thread",
            Self::HistoryDirectory => "the history directory of the thread",
            Self::HistoryFile => "a history file of the thread",
            Self::Marker => "the marker of the waiting thread",
        })
    }
}

/// What is wrong with stored content. `field` is the name of a field of the format, never a value.
///
/// Example: see [`StoreError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Corruption {
    /// Not UTF-8, not JSON, or not an object.
    #[error("not a JSON object")]
    NotJson,
    /// The same key twice.
    #[error("{field} has a key twice")]
    DuplicateKey {
        /// Where.
        field: &'static str,
    },
    /// A format that this version does not know.
    #[error("unknown schemaVersion")]
    SchemaVersion,
    /// The document of another thread.
    #[error("it belongs to another thread")]
    OtherThread,
    /// A field that must be there is not, or is empty.
    #[error("{field} is missing or empty")]
    Missing {
        /// Which.
        field: &'static str,
    },
    /// A field has the wrong type or range.
    #[error("{field} has the wrong type or range")]
    WrongType {
        /// Which.
        field: &'static str,
    },
    /// Not 64 lower-case hexadecimal digits.
    #[error("{field} holds something that is not a digest")]
    NotADigest {
        /// Which.
        field: &'static str,
    },
    /// A pending input whose `inputId` is not the key it is stored under.
    #[error("a pending input has another id than its key")]
    PendingIdentity,
    /// A line of the older history whose check does not fit.
    #[error("a line does not pass its own check")]
    HistoryLine,
}

/// A step of reading or writing.
///
/// Example: see [`StoreError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Opening or creating a directory.
    OpenDirectory,
    /// Listing the directory of threads.
    ListDirectory,
    /// Opening or locking the lock file.
    Lock,
    /// Reading a document or a history file.
    Read,
    /// Appending to a history file and making it durable.
    AppendHistory,
    /// Noting that a thread waits and making that durable.
    Mark,
    /// Creating the temporary file.
    CreateTemp,
    /// Writing the temporary file.
    WriteTemp,
    /// Making the temporary file durable.
    SyncTemp,
    /// Renaming the temporary file over the document.
    Rename,
    /// Making the rename durable. Only after this step failed the new document is there already.
    SyncDirectory,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenDirectory => "opening a state directory",
            Self::ListDirectory => "listing the threads",
            Self::Lock => "locking the thread",
            Self::Read => "reading",
            Self::AppendHistory => "appending to the history",
            Self::Mark => "marking the thread as waiting",
            Self::CreateTemp => "creating the temporary file",
            Self::WriteTemp => "writing the temporary file",
            Self::SyncTemp => "syncing the temporary file",
            Self::Rename => "renaming the temporary file",
            Self::SyncDirectory => "syncing the directory",
        })
    }
}
