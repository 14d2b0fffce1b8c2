//! One writer a thread: within the process by a map of locks, between processes by a lock file. And one runner:
//! whoever runs a thread holds another file of it locked meanwhile.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cap_std::fs::OpenOptions;
use tokio::sync::OwnedMutexGuard;

use super::directory::Directory;
use crate::claim::Claim;
use crate::error::{Entry, Step, StoreError};

/// Pause between two tries.
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// How often the lock file is looked for again when it comes or goes between two looks; nobody removes
/// lock files, so the second look finds it.
const MAX_OPEN_TRIES: usize = 10;

type Key = Box<str>;
type Lock = Arc<tokio::sync::Mutex<()>>;

/// The locks of the threads that are being saved right now; empty when nobody saves.
#[derive(Debug, Default)]
pub(super) struct ThreadLocks {
    locks: Arc<Mutex<HashMap<Key, Lock>>>,
}

/// Holds one thread; gives it free and forgets it when dropped.
#[derive(Debug)]
pub(super) struct ThreadGuard {
    // Fields are dropped in this order: the lock opens before the place asks who else holds it.
    _held: OwnedMutexGuard<()>,
    _place: Place,
}

/// An entry of the map that somebody holds or waits for.
#[derive(Debug)]
struct Place {
    locks: Arc<Mutex<HashMap<Key, Lock>>>,
    key: Key,
}

impl ThreadLocks {
    /// Waits for the thread. A waiter that is dropped leaves no entry behind.
    pub(super) async fn lock(&self, key: &str) -> ThreadGuard {
        let place = Place { locks: Arc::clone(&self.locks), key: key.into() };
        let lock = Arc::clone(entries(&self.locks).entry(key.into()).or_default());
        let held = lock.lock_owned().await;
        ThreadGuard { _held: held, _place: place }
    }

    pub(super) fn len(&self) -> usize {
        entries(&self.locks).len()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut locks = entries(&self.locks);
        // The map holds one reference; holders and waiters hold the others, and new ones need the map.
        if locks.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            locks.remove(&self.key);
        }
    }
}

fn entries(locks: &Mutex<HashMap<Key, Lock>>) -> MutexGuard<'_, HashMap<Key, Lock>> {
    // No code that can panic runs under the lock, so a poisoned map is whole.
    locks.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock file of a thread; it is free again when the file is dropped, also by a crash.
///
/// Where the file system has no locks, only the comparison of versions keeps processes apart.
pub(super) fn lock_file(threads: &Directory, stem: &str, patience: Duration) -> Result<File, StoreError> {
    let file = open(threads, &format!(".{stem}.json.lock"))?;
    let started = Instant::now();
    while !try_lock(&file)? {
        if started.elapsed() >= patience {
            return Err(StoreError::Locked(patience));
        }
        std::thread::sleep(LOCK_PAUSE);
    }
    Ok(file)
}

/// Takes a thread for a run, until the claim is dropped or the process ends; `None` if somebody has it.
///
/// Where the file system has no locks, everybody gets it.
pub(super) fn claim(threads: &Directory, stem: &str) -> Result<Option<Claim>, StoreError> {
    let file = open(threads, &format!(".{stem}.json.run"))?;
    Ok(try_lock(&file)?.then(|| Claim::new(Running(file))))
}

/// A locked file that says that a thread is being run.
struct Running(File);

impl Drop for Running {
    fn drop(&mut self) {
        // Said aloud: a process that is being started at this moment may still share the open file.
        self.0.unlock().ok();
    }
}

/// Locks a file; `false` if somebody else has it locked.
fn try_lock(file: &File) -> Result<bool, StoreError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(true),
        Err(TryLockError::Error(source)) => Err(StoreError::Io { step: Step::Lock, source }),
    }
}

fn open(threads: &Directory, name: &str) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    for _ in 0..MAX_OPEN_TRIES {
        if let Some(file) = threads.open_existing(name, &options, Entry::LockFile)? {
            return Ok(file.into_std());
        }
        match threads.create_new(name) {
            Ok(file) => return Ok(file.into_std()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(StoreError::Io { step: Step::Lock, source }),
        }
    }
    Err(StoreError::Io { step: Step::Lock, source: io::ErrorKind::ResourceBusy.into() })
}
