//! What several tests need.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agui_core::JsonObject;
use agui_store::{Digest, Execution, FileStore, PendingInterrupt, ThreadRecord, ThreadStore, Version};
use tempfile::TempDir;

/// A store in a directory of its own.
pub(crate) struct Scratch {
    pub(crate) directory: TempDir,
    pub(crate) store: FileStore,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = FileStore::open(directory.path()).unwrap();
        Self { directory, store }
    }

    pub(crate) fn state_dir(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join("threads").join(name)
    }

    /// A second store on the same directory, as another process would open it.
    pub(crate) fn other(&self) -> FileStore {
        FileStore::open(self.directory.path()).unwrap()
    }
}

/// Waits until no thread is locked; a lock is forgotten a moment after the save that held it.
pub(crate) async fn becomes_idle(store: &FileStore) {
    let idle = async {
        while store.locked_threads() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), idle).await.unwrap();
}

pub(crate) fn record(thread: &str) -> ThreadRecord {
    ThreadRecord::new(thread.into(), "/workspace", Execution::new("e0".into(), "inv".into()))
}

/// A thread that waits for an answer to `i`.
pub(crate) fn parked(thread: &str) -> ThreadRecord {
    let mut record = record(thread);
    let value = JsonObject::from_string("{}".to_owned()).unwrap();
    record.execution.pending.insert("i".into(), PendingInterrupt::new(value));
    record
}

pub(crate) fn digest(run: &str) -> Digest {
    Digest::of(format!("request of {run}").as_bytes())
}

/// Saves a thread with `runs` runs, one save each, of which the older ones leave the document.
pub(crate) async fn save_runs(store: &FileStore, thread: &str, runs: usize) -> (ThreadRecord, Version) {
    let mut record = record(thread);
    let mut version = Version::ABSENT;
    for number in 0..runs {
        let run = format!("r{number}");
        record.record_run(run.as_str().into(), digest(&run));
        version = store.save(&mut record, version).await.unwrap();
    }
    (record, version)
}
