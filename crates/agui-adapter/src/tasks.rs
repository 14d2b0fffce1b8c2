//! Cancelling tasks of the kernel.

mod unseen;

use a2a_client::{Client, ClientError};
use a2a_wire::{StreamItem, TaskState, code};
use agui_iac_code::ErrorNotice;
use agui_store::{ContextId, TaskId, ThreadRecord};
use tokio::time::timeout;

use crate::adapter::Shared;
use crate::config::Profile;

pub(crate) use unseen::{Unseen, begun_by, cancel_unseen, first_position};

/// What became of a `CancelTask`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// The task is cancelled now.
    Cancelled,
    /// The task had ended before, or is not known any more: nothing was left to cancel.
    TooLate,
    /// Nobody knows: the kernel did not answer, or refused.
    Unreachable,
    /// An agent of any make answered that it does not cancel: the task may go on, and asking again is useless.
    Refused,
}

/// Sends one `CancelTask`; the answer or the deadline ends the wait.
pub(crate) async fn cancel(shared: &Shared, client: &Client, task: &str) -> Told {
    match timeout(shared.config.cancel_timeout, Box::pin(client.cancel_task(task))).await {
        Ok(Ok(answer)) => match answer.item() {
            // The kernel answers with the task as it stands; one that completed meanwhile was not cancelled.
            Ok(StreamItem::Task(task)) if ended_otherwise(&task.status.state) => Told::TooLate,
            _ => Told::Cancelled,
        },
        Ok(Err(error)) if nothing_left(&error) => Told::TooLate,
        Ok(Err(error)) if shared.config.profile == Profile::Generic && is_refusal(&error) => {
            tracing::warn!(%error, "the agent does not cancel the task");
            Told::Refused
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "task not cancelled");
            Told::Unreachable
        }
        Err(_) => {
            tracing::warn!("task not cancelled: no answer in time");
            Told::Unreachable
        }
    }
}

/// What an execution that nobody ended may have left in the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Leftover {
    /// It was ended, or there was none.
    Nothing,
    /// Its task.
    Task(TaskId),
    /// Perhaps a task: the server died before it had saved the id, or the kernel never told it.
    Unseen(Unseen),
}

impl Leftover {
    /// What the record's execution may have left. Only who has claimed the thread can tell: to everybody else
    /// an execution that goes on looks the same.
    pub(crate) fn of(profile: Profile, record: &ThreadRecord) -> Self {
        match &record.execution.task_id {
            Some(task) => Self::Task(task.clone()),
            None if record.is_terminal(&record.execution.id) => Self::Nothing,
            // An agent of any make has not heard of this conversation under a name of ours.
            None if profile == Profile::Generic
                && record.context_id == ContextId::for_thread(&record.thread_id) =>
            {
                Self::Nothing
            }
            None => Self::Unseen(Unseen::new(record.context_id.clone(), begun_by(&record.execution))),
        }
    }
}

/// Cancels what an execution that nobody ended has left.
pub(crate) async fn cancel_leftover(shared: &Shared, leftover: &Leftover) -> Result<Told, ErrorNotice> {
    Ok(match leftover {
        Leftover::Nothing => Told::TooLate,
        Leftover::Task(task) => cancel(shared, &shared.kernel.client()?, task.as_str()).await,
        Leftover::Unseen(unseen) => cancel_unseen(shared, &shared.kernel.client()?, unseen).await,
    })
}

fn ended_otherwise(state: &TaskState) -> bool {
    state.is_terminal() && *state != TaskState::Canceled
}

/// Whether the agent has answered that it does not do this, by JSON-RPC or by the status alone. It may do
/// something about a timeout.
fn is_refusal(error: &ClientError) -> bool {
    match error {
        ClientError::Http(failure) => matches!(failure.status, 400..=407 | 409..=499 | 501),
        error => error.rpc().is_some(),
    }
}

fn nothing_left(error: &ClientError) -> bool {
    error.rpc().is_some_and(|rpc| rpc.code == code::TASK_NOT_CANCELABLE || rpc.code == code::TASK_NOT_FOUND)
}
