//! Guidance: a message into the pipeline that runs; its own run says no more than that it was delivered.

use agui_iac_code::{ErrorCode, ErrorNotice};

use super::{Ending, Run};
use crate::failure;

impl Run {
    pub(super) async fn guidance(&mut self) -> Ending {
        match self.deliver().await {
            Ok(()) => Ending::Delivered,
            Err(notice) => Ending::Unchanged(notice),
        }
    }

    async fn deliver(&mut self) -> Result<(), ErrorNotice> {
        let client = self.client()?;
        let message = self.user_message()?;
        // Once more, right before it is sent: to a task that asks by now, the message would be the answer.
        if !self.is_steerable().await {
            return Err(ErrorCode::ExecutionLost.into());
        }
        match self.unless_stopped(Box::pin(client.send_streaming(&message))).await {
            // What the kernel says to it comes out in the run that is steered: this stream is not read on.
            Ok(Ok(_stream)) => Ok(()),
            Ok(Err(error)) => {
                tracing::warn!(%error, run = %self.request.run_id, "guidance not delivered");
                Err(failure::notice(&error))
            }
            Err(_) => Err(ErrorCode::ShuttingDown.into()),
        }
    }

    /// Whether the execution that is steered runs and asks nothing.
    async fn is_steerable(&self) -> bool {
        let Ok(open) = self.slot.open().await else { return false };
        let runs = self.slot.active().is_some_and(|active| active.execution_id == self.execution_id);
        runs && open.record().is_some_and(|record| record.execution.pending.is_empty())
    }
}
