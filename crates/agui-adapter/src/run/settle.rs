//! A stream that is over does not say that the task is: the kernel is asked (a2a.md §5.9, §8 point 8).

use a2a_client::{Client, ClientError};
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use agui_mapper::Observed;

use super::follow::Read;
use super::{Ending, Run};
use crate::failure;
use crate::verdict::{Verdict, verdict};

/// How often a task that goes on is subscribed to before the run gives up.
const ATTEMPTS: usize = 3;
/// Messages of a task's history that are read: the answer may stand in them.
pub(super) const HISTORY: u32 = 100;

impl Run {
    /// Finds out what became of the task and follows it if it goes on.
    pub(super) async fn settle(&mut self, client: &Client, failure: Option<ClientError>) -> Ending {
        let mut notice = match &failure {
            // The kernel itself reported it: there is nothing to ask.
            Some(error @ ClientError::Rpc(_)) => return Ending::Broken(failure::notice(error)),
            Some(error) => failure::notice(error),
            None => ErrorNotice::new(ErrorCode::A2aUnavailable).with_key(MessageKey::A2aCut),
        };
        let Some(task) = self.task_id.clone() else { return Ending::Broken(notice) };
        for _ in 0..ATTEMPTS {
            if let Some(ending) = self.look(client, task.as_str()).await {
                return ending;
            }
            let mut stream = match client.subscribe(task.as_str()).await {
                Ok(stream) => stream,
                // It ended between the look and the subscription: look once more.
                Err(error) if error.rpc().is_some() => {
                    return match self.look(client, task.as_str()).await {
                        Some(ending) => ending,
                        None => Ending::Broken(notice),
                    };
                }
                Err(error) => return Ending::Broken(failure::notice(&error)),
            };
            self.mapper.stream_opened();
            match self.read(client, &mut stream).await {
                Read::Ending(ending) => return ending,
                Read::Over(Some(error)) => notice = failure::notice(&error),
                Read::Over(None) => {}
            }
        }
        Ending::Broken(notice)
    }

    /// Reads the task once; `None` if it goes on.
    async fn look(&mut self, client: &Client, task: &str) -> Option<Ending> {
        if let Some(reason) = self.stop_requested() {
            let told = crate::tasks::cancel(&self.shared, client, task).await;
            return Some(Ending::Stopped(reason, told));
        }
        let datum = match client.get_task(task, Some(HISTORY)).await {
            Ok(datum) => datum,
            Err(error) => return Some(Ending::Broken(failure::notice(&error))),
        };
        if let Err(notice) = self.take(&datum).await {
            return Some(Ending::Broken(notice));
        }
        settled(self.mapper.observed())
    }
}

/// The ending that the observations allow, if they settle the run.
pub(super) fn settled(observed: &Observed) -> Option<Ending> {
    match verdict(observed) {
        Verdict::Unsettled => None,
        verdict => Some(Ending::Verdict(verdict)),
    }
}
