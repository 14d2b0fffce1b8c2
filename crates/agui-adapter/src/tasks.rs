//! Cancelling tasks of the kernel.

use a2a_client::{Client, ClientError};
use a2a_wire::{StreamItem, TaskList, TaskState, code};
use agui_iac_code::{ErrorCode, ErrorNotice};
use agui_store::{ContextId, TaskId, ThreadRecord};
use tokio::time::timeout;

use crate::adapter::Shared;
use crate::config::Profile;

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
    /// Perhaps a task of this conversation: the server died before it had saved the id.
    Unknown(ContextId),
}

impl Leftover {
    /// What the record's execution may have left.
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
            None => Self::Unknown(record.context_id.clone()),
        }
    }
}

/// Cancels the task of an execution that nobody ended, before the thread begins another one.
pub(crate) async fn cancel_leftover(shared: &Shared, leftover: &Leftover) -> Result<(), ErrorNotice> {
    let tasks = match leftover {
        Leftover::Nothing => return Ok(()),
        Leftover::Task(task) => vec![task.clone()],
        Leftover::Unknown(context) => unfinished(shared, context).await,
    };
    for task in tasks {
        let client = shared.kernel.client()?;
        if cancel(shared, &client, task.as_str()).await == Told::Unreachable {
            return Err(ErrorNotice::new(ErrorCode::A2aUnavailable));
        }
    }
    Ok(())
}

/// The tasks of a conversation that have not ended. None if the kernel cannot say: then the message that
/// follows meets whatever there is.
async fn unfinished(shared: &Shared, context: &ContextId) -> Vec<TaskId> {
    let Ok(client) = shared.kernel.client() else { return Vec::new() };
    let listed = timeout(shared.config.cancel_timeout, Box::pin(client.list_tasks(context.as_str()))).await;
    let answer = match listed {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            tracing::warn!(%error, "tasks of a conversation not listed");
            return Vec::new();
        }
        Err(_) => {
            tracing::warn!("tasks of a conversation not listed: no answer in time");
            return Vec::new();
        }
    };
    let list = answer.raw_result().and_then(TaskList::from_result);
    let list =
        list.inspect_err(|error| tracing::warn!(%error, "list of tasks not understood")).unwrap_or_default();
    let open = list.tasks.iter().filter(|task| !task.status.state.is_terminal());
    // A server that ignores the filter must not cost other conversations their tasks.
    open.filter(|task| task.context_id.as_deref() == Some(context.as_str()))
        .map(|task| TaskId::from(&*task.id))
        .collect()
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
