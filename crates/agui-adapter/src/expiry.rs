//! Interrupts that nobody answered in time (S11.5): a timer a parked thread, none for any other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use agui_core::{ThreadId, UnixMillis};
use agui_store::{StoreError, ThreadRecord};
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::adapter::Shared;
use crate::clock;
use crate::tasks::{self, Told};
use crate::threads::Open;

/// The running timers.
#[derive(Debug, Default)]
pub(crate) struct Expiry {
    timers: Mutex<HashMap<ThreadId, AbortHandle>>,
}

impl Expiry {
    /// Sets the thread's timer; an earlier one is replaced.
    pub(crate) fn schedule(&self, shared: &Arc<Shared>, thread: ThreadId, deadline: UnixMillis) {
        if shared.shutdown.is_cancelled() {
            return;
        }
        let task = {
            let (shared, thread) = (Arc::clone(shared), thread.clone());
            shared.clone().tasks.spawn(async move { expire_at(&shared, &thread, deadline).await })
        };
        let before = self.lock().insert(thread, task.abort_handle());
        if let Some(before) = before {
            before.abort();
        }
    }

    /// Stops the thread's timer: the thread is in use again.
    pub(crate) fn forget(&self, thread: &ThreadId) {
        if let Some(timer) = self.lock().remove(thread) {
            timer.abort();
        }
    }

    /// Threads that wait for an answer, as far as this process knows.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().len()
    }

    /// Stops all timers; what they waited for is stored.
    pub(crate) fn clear(&self) {
        for (_, timer) in self.lock().drain() {
            timer.abort();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ThreadId, AbortHandle>> {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn expire_at(shared: &Arc<Shared>, thread: &ThreadId, deadline: UnixMillis) {
    sleep(clock::until(deadline)).await;
    let slot = shared.threads.slot(thread);
    let expired = match slot.open().await {
        // Somebody was faster: an answer, a cancel, or another process.
        Ok(mut open) if is_due(&open) => expire(shared, &mut open).await,
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = expired {
        // The next access looks again.
        tracing::warn!(%error, %thread, "expiry not saved");
    }
    shared.expiry.lock().remove(thread);
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
    open.commit(|record: &mut ThreadRecord| {
        record.mark_terminal();
        if told == Told::Unreachable {
            // Kept so that the thread's next run cancels it.
            record.execution.task_id = task;
        }
    })
    .await
}
