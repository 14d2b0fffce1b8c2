//! A new execution: the user's message becomes a task of the kernel.

use a2a_client::Delivery;

use super::{Ending, Run};
use crate::failure;
use crate::tasks::Told;

impl Run {
    pub(super) async fn fresh(&mut self) -> Ending {
        let client = match self.client() {
            Ok(client) => client,
            Err(notice) => return Ending::Broken(notice),
        };
        let message = match self.user_message() {
            Ok(message) => message,
            Err(notice) => return Ending::Broken(notice),
        };
        if let Some(reason) = self.stop_requested() {
            // Nothing was sent: there is nothing to cancel.
            return Ending::Stopped(reason, Told::Cancelled);
        }
        self.may_have_begun = true;
        match self.learning_the_task(Box::pin(client.send_streaming(&message))).await {
            Ok(Ok(stream)) => self.follow(&client, stream).await,
            Ok(Err(error)) => {
                tracing::warn!(%error, run = %self.request.run_id, "message not accepted");
                self.may_have_begun = error.delivery() == Delivery::Unknown;
                Ending::Broken(failure::notice(&error))
            }
            Err(reason) => Ending::Stopped(reason, self.tell(&client).await),
        }
    }
}
