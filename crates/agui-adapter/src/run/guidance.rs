//! Guidance: a message into the pipeline that runs; its own run says no more than that it was delivered.

use super::{Ending, Run};
use crate::failure;

impl Run {
    pub(super) async fn guidance(&mut self) -> Ending {
        let sent = async {
            let client = self.client()?;
            let message = self.user_message()?;
            client.send_streaming(&message).await.map_err(|error| {
                tracing::warn!(%error, run = %self.request.run_id, "guidance not delivered");
                failure::notice(&error)
            })
        };
        match sent.await {
            // What the kernel says to it comes out in the run that is steered: this stream is not read on.
            Ok(_stream) => Ending::Delivered,
            Err(notice) => Ending::Unchanged(notice),
        }
    }
}
