//! Cancelling tasks of the kernel.

use a2a_client::{Client, ClientError};
use a2a_wire::{StreamItem, TaskState, code};
use agui_iac_code::{ErrorCode, ErrorNotice};
use agui_store::TaskId;
use tokio::time::timeout;

use crate::adapter::Shared;

/// What became of a `CancelTask`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// The task is cancelled now.
    Cancelled,
    /// The task had ended before, or is not known any more: nothing was left to cancel.
    TooLate,
    /// Nobody knows: the kernel did not answer, or refused.
    Unreachable,
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

/// Cancels the task of an execution that nobody ended, before the thread begins another one.
pub(crate) async fn cancel_leftover(shared: &Shared, task: &TaskId) -> Result<(), ErrorNotice> {
    let client = shared.kernel.client()?;
    match cancel(shared, &client, task.as_str()).await {
        Told::Cancelled | Told::TooLate => Ok(()),
        Told::Unreachable => Err(ErrorNotice::new(ErrorCode::A2aUnavailable)),
    }
}

fn ended_otherwise(state: &TaskState) -> bool {
    state.is_terminal() && *state != TaskState::Canceled
}

fn nothing_left(error: &ClientError) -> bool {
    error.rpc().is_some_and(|rpc| rpc.code == code::TASK_NOT_CANCELABLE || rpc.code == code::TASK_NOT_FOUND)
}
