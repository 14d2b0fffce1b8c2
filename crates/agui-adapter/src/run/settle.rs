//! A stream that is over does not say that the task is: the kernel is asked.

use a2a_client::{Client, ClientError};
use a2a_wire::code;
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
        let notice = match &failure {
            // The kernel itself reported it: there is nothing to ask.
            Some(error @ ClientError::Rpc(_)) => return Ending::Broken(failure::notice(error)),
            Some(error) => failure::notice(error),
            None => ErrorNotice::new(ErrorCode::A2aUnavailable).with_key(MessageKey::A2aCut),
        };
        match self.look_and_follow(client, notice).await {
            Ok(ending) | Err(ending) => ending,
        }
    }

    /// `notice` says why nobody knows how the task stands.
    async fn look_and_follow(&mut self, client: &Client, mut notice: ErrorNotice) -> Result<Ending, Ending> {
        let Some(task) = self.task_id.clone() else { return Ok(Ending::Broken(notice)) };
        for _ in 0..ATTEMPTS {
            if let Some(ending) = self.look(client, task.as_str(), &notice).await? {
                return Ok(ending);
            }
            let mut stream = match self.stoppable(client, client.subscribe(task.as_str())).await? {
                Ok(stream) => stream,
                // It ended between the look and the subscription: look once more (case C37).
                Err(error) if error.rpc().is_some() => {
                    match self.look(client, task.as_str(), &notice).await? {
                        Some(ending) => return Ok(ending),
                        // It goes on and nobody may subscribe: looked at from time to time it ends as well.
                        None if self.is_generic() => client.watch(task.as_str()),
                        None => return Ok(Ending::Broken(notice)),
                    }
                }
                Err(error) => return Ok(Ending::Broken(failure::notice(&error))),
            };
            self.mapper.stream_opened();
            match self.read(client, &mut stream).await {
                Read::Ending(ending) => return Ok(ending),
                Read::Over(Some(error)) => notice = failure::notice(&error),
                Read::Over(None) => {}
            }
        }
        Ok(Ending::Broken(notice))
    }

    /// Reads the task once; `None` if it goes on.
    async fn look(
        &mut self,
        client: &Client,
        task: &str,
        notice: &ErrorNotice,
    ) -> Result<Option<Ending>, Ending> {
        let datum = match self.stoppable(client, client.get_task(task, Some(HISTORY))).await? {
            Ok(datum) => datum,
            Err(error) => {
                tracing::warn!(%error, run = %self.request.run_id, "task not readable");
                return Err(gone(&error).unwrap_or_else(|| Ending::Broken(notice.clone())));
            }
        };
        self.take(&datum).await.map_err(Ending::Broken)?;
        if self.is_pipeline() {
            // The task itself does not tell what its pipeline did while nobody listened.
            self.try_to_catch_up(client, self.mapper.position().pipeline_sequence).await;
            self.flush();
        } else if self.turn_is_over() && !self.complete_text(client, &datum).await? {
            return Ok(None);
        }
        Ok(settled(self.mapper.observed()))
    }

    /// Whether a normal turn has come to its end, as far as its task tells.
    fn turn_is_over(&self) -> bool {
        let observed = self.mapper.observed();
        let waits = observed.last_state.as_ref().is_some_and(a2a_wire::TaskState::is_interrupted);
        waits && verdict(observed) == Verdict::Success
    }
}

/// The ending of a run whose task the kernel does not know any more.
pub(super) fn gone(error: &ClientError) -> Option<Ending> {
    let is_gone = error.rpc().is_some_and(|rpc| rpc.code == code::TASK_NOT_FOUND);
    let notice = || ErrorNotice::new(ErrorCode::ExecutionLost).with_key(MessageKey::TaskGone);
    is_gone.then(|| Ending::Lost(notice()))
}

/// The ending that the observations allow, if they settle the run.
pub(super) fn settled(observed: &Observed) -> Option<Ending> {
    match verdict(observed) {
        Verdict::Unsettled => None,
        verdict => Some(Ending::Verdict(verdict)),
    }
}
