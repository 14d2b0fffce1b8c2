//! Interrupts that nobody answered in time (S11.5): a timer a parked thread, none for any other.

mod overdue;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use agui_core::{ThreadId, UnixMillis};
use agui_store::StoreError;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::adapter::Shared;
use crate::clock;
use crate::config::Profile;
use crate::pending;
use crate::tasks::{self, Told};
use crate::threads::Open;

use overdue::Stand;

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
                let mut next = Some(deadline);
                while let Some(deadline) = next {
                    next = expire_at(&shared, &thread, deadline).await;
                }
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

/// Waits for a deadline and keeps it; gives the next one if the questions have got more time.
async fn expire_at(shared: &Shared, thread: &ThreadId, deadline: UnixMillis) -> Option<UnixMillis> {
    let due = async {
        sleep(clock::until(deadline)).await;
        shared.expiry.jobs.acquire().await
    };
    let _job = tokio::select! {
        // Cancel-safe, both: a place in the queue is all that is lost.
        job = due => job,
        // What it waits for is stored; the next access looks again.
        () = shared.shutdown.cancelled() => return None,
    };
    match expire_if_due(shared, thread, deadline).await {
        Ok(next) => next.filter(|next| *next > deadline),
        Err(error) => {
            tracing::warn!(%error, %thread, "expiry not saved; the next access tries again");
            None
        }
    }
}

/// Gives the deadline that the thread has then.
async fn expire_if_due(
    shared: &Shared,
    thread: &ThreadId,
    deadline: UnixMillis,
) -> Result<Option<UnixMillis>, StoreError> {
    let mut open = shared.threads.slot(thread).open().await?;
    // Otherwise somebody was faster: an answer, a cancel, or another process. A run that goes on, here or
    // there, looks at the deadline when it ends.
    if is_due(&open, deadline) && open.claim().await? && is_due(&open, deadline) {
        expire(shared, &mut open).await?;
    }
    Ok(open.record().and_then(|record| record.execution.deadline()))
}

/// Whether the open questions are overdue by the clock, or are those whose time was waited for: a clock that
/// was set back meanwhile does not give them more.
fn is_due(open: &Open, waited_for: UnixMillis) -> bool {
    let latest = clock::now().max(waited_for);
    open.record().and_then(|record| record.execution.deadline()).is_some_and(|due| due <= latest)
}

/// Takes the open interrupts away and cancels the task that waits for them; one that does not wait for them any
/// more is left alone, and gets the same time again. The thread is locked and claimed.
pub(crate) async fn expire(shared: &Shared, open: &mut Open) -> Result<(), StoreError> {
    let task = open.record().and_then(|record| record.execution.task_id.clone());
    let told = match (open.record(), &task, shared.kernel.client()) {
        (Some(record), Some(task), Ok(client)) if shared.config.profile == Profile::Generic => {
            match overdue::look(shared, &client, task, record).await {
                Stand::Waits => tasks::cancel(shared, &client, task.as_str()).await,
                Stand::Over => Told::TooLate,
                Stand::Unknown => Told::Unreachable,
                Stand::GoesOn => return prolong(shared, open).await,
            }
        }
        (_, Some(task), Ok(client)) => tasks::cancel(shared, &client, task.as_str()).await,
        (_, Some(_), Err(_)) => Told::Unreachable,
        (_, None, _) => Told::TooLate,
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

/// Whoever answers from here on follows the task to its end.
async fn prolong(shared: &Shared, open: &mut Open) -> Result<(), StoreError> {
    tracing::info!(thread = %open.slot().thread(), "the task goes on without an answer; its question stays open");
    let until = clock::after(clock::now(), shared.config.interrupt_ttl);
    open.commit(|record| {
        for pending in record.execution.pending.values_mut() {
            pending.expires_at = Some(until);
        }
    })
    .await
}
