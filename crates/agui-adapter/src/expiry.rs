//! Interrupts that nobody answered in time (S11.5): a timer a parked thread, none for any other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use agui_core::{ThreadId, UnixMillis};
use agui_store::StoreError;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::adapter::Shared;
use crate::clock;
use crate::pending;
use crate::tasks::{self, Told};
use crate::threads::Open;

/// Threads that expire at a time: after a long rest of the server many are due at once, and the kernel is
/// told of each.
const JOBS: usize = 8;

/// The running timers.
#[derive(Debug)]
pub(crate) struct Expiry {
    timers: Mutex<Timers>,
    jobs: Semaphore,
}

impl Default for Expiry {
    fn default() -> Self {
        Self { timers: Mutex::default(), jobs: Semaphore::new(JOBS) }
    }
}

#[derive(Debug, Default)]
struct Timers {
    by_thread: HashMap<ThreadId, Timer>,
    /// Timers that were ever set.
    count: u64,
}

#[derive(Debug)]
struct Timer {
    number: u64,
    task: AbortHandle,
}

impl Expiry {
    /// Sets the thread's timer; an earlier one is replaced.
    pub(crate) fn schedule(&self, shared: &Arc<Shared>, thread: &ThreadId, deadline: UnixMillis) {
        let mut timers = self.lock();
        timers.count += 1;
        let number = timers.count;
        let wait = {
            let (shared, thread) = (Arc::clone(shared), thread.clone());
            async move {
                expire_at(&shared, &thread, deadline).await;
                shared.expiry.remove(&thread, number);
            }
        };
        let timer = Timer { number, task: shared.tasks.spawn(wait).abort_handle() };
        if let Some(before) = timers.by_thread.insert(thread.clone(), timer) {
            before.task.abort();
        }
    }

    /// Stops the thread's timer: the thread is in use again. Call it under the thread's lock, so that no
    /// timer is stopped in the middle of its work.
    pub(crate) fn forget(&self, thread: &ThreadId) {
        if let Some(timer) = self.lock().by_thread.remove(thread) {
            timer.task.abort();
        }
    }

    /// Threads that wait for an answer, as far as this process knows.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().by_thread.len()
    }

    /// Takes a timer that is over off the list, and no later one.
    fn remove(&self, thread: &ThreadId, number: u64) {
        let mut timers = self.lock();
        if timers.by_thread.get(thread).is_some_and(|timer| timer.number == number) {
            timers.by_thread.remove(thread);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Timers> {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn expire_at(shared: &Shared, thread: &ThreadId, deadline: UnixMillis) {
    let due = async {
        sleep(clock::until(deadline)).await;
        shared.expiry.jobs.acquire().await
    };
    let _job = tokio::select! {
        // Cancel-safe, both: a place in the queue is all that is lost.
        job = due => job,
        // What it waits for is stored; the next access looks again.
        () = shared.shutdown.cancelled() => return,
    };
    let expired = match shared.threads.slot(thread).open().await {
        // Somebody was faster: an answer, a cancel, or another process.
        Ok(mut open) if is_due(&open) => expire(shared, &mut open).await,
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = expired {
        tracing::warn!(%error, %thread, "expiry not saved; the next access tries again");
    }
}

fn is_due(open: &Open) -> bool {
    open.slot().active().is_none()
        && open.record().and_then(|record| record.execution.deadline()).is_some_and(|due| due <= clock::now())
}

/// Takes the open interrupts away and cancels the task that waits for them. The thread is locked.
pub(crate) async fn expire(shared: &Shared, open: &mut Open) -> Result<(), StoreError> {
    let task = open.record().and_then(|record| record.execution.task_id.clone());
    let told = match (&task, shared.kernel.client()) {
        (Some(task), Ok(client)) => tasks::cancel(shared, &client, task.as_str()).await,
        (Some(_), Err(_)) => Told::Unreachable,
        (None, _) => Told::TooLate,
    };
    open.commit(|record| {
        pending::lapse(record);
        if told == Told::Unreachable {
            // Kept so that the thread's next run cancels it.
            record.execution.task_id = task;
        }
    })
    .await
}
