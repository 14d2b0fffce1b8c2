//! What is done at start-up: the threads that wait get their timers again (S11.5).

use std::num::NonZeroUsize;

use agui_store::{ParkedCursor, ParkedThread, StoreError};

use crate::adapter::Adapter;

/// Threads that are listed at a time.
const PAGE: NonZeroUsize = NonZeroUsize::new(64).unwrap();

impl Adapter {
    /// Sets the timers of the threads that were parked before this adapter began, and gives their number.
    /// What is overdue expires at once.
    ///
    /// Reads those threads and no other one (S11.3). It takes its time with many of them, and requests may
    /// come meanwhile. A thread that another program parked is not found; it expires at its next access.
    pub async fn recover(&self) -> usize {
        let mut timers = 0;
        let mut after = None;
        loop {
            let (count, next) = match self.recover_page(after.as_ref()).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(%error, "parked threads not listed; their next access looks at their deadlines");
                    break;
                }
            };
            timers += count;
            after = next;
            if after.is_none() || self.shared.shutdown.is_cancelled() {
                break;
            }
        }
        tracing::info!(timers, "parked threads found");
        timers
    }

    async fn recover_page(
        &self,
        after: Option<&ParkedCursor>,
    ) -> Result<(usize, Option<ParkedCursor>), StoreError> {
        let page = self.shared.threads.store().parked_index(after, PAGE).await?;
        if page.unreadable > 0 {
            tracing::warn!(threads = page.unreadable, "parked threads cannot be read");
        }
        let mut timers = 0;
        for thread in page.threads {
            timers += usize::from(self.set_timer(&thread).await);
        }
        Ok((timers, page.next))
    }

    /// Under the lock of the thread, so that a run that begins meanwhile is not left with a timer.
    async fn set_timer(&self, thread: &ParkedThread) -> bool {
        let slot = self.shared.threads.slot(&thread.thread_id);
        let open = match slot.open().await {
            Ok(open) => open,
            Err(error) => {
                tracing::warn!(%error, thread = %thread.thread_id, "parked thread not read");
                return false;
            }
        };
        let deadline = open.record().and_then(|record| record.execution.deadline());
        match deadline {
            Some(deadline) if slot.active().is_none() => {
                self.shared.expiry.schedule(&self.shared, &thread.thread_id, deadline);
                true
            }
            // Answered or taken up by a run meanwhile, or rewritten by a program that knows no deadlines.
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
