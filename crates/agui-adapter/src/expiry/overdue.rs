//! Tasks of agents of any make whose question is overdue: somebody may have answered where the agent notices.

use a2a_client::Client;
use a2a_wire::{StreamItem, TaskState, code};
use agui_core::RunId;
use agui_mapper::{Dialect, EventMapper, MapperConfig, Texts};
use agui_store::{TaskId, ThreadRecord};
use tokio::time::timeout;

use crate::adapter::Shared;
use crate::clock;
use crate::pending;

/// How a task stands whose question was not answered in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// It asks what it asked, as far as anybody knows.
    Waits,
    /// It works, or asks something else by now.
    GoesOn,
    /// It has ended, or is not known any more.
    Over,
    /// The agent did not answer.
    Unknown,
}

/// Looks at the task of a parked thread.
pub(super) async fn look(shared: &Shared, client: &Client, task: &TaskId, record: &ThreadRecord) -> Stand {
    let look = client.get_task(task.as_str(), Some(0));
    let answer = match timeout(shared.config.cancel_timeout, Box::pin(look)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            tracing::warn!(%error, "overdue task not read");
            return match error.rpc() {
                Some(rpc) if rpc.code == code::TASK_NOT_FOUND => Stand::Over,
                Some(_) => Stand::Waits,
                None => Stand::Unknown,
            };
        }
        Err(_) => {
            tracing::warn!("overdue task not read: no answer in time");
            return Stand::Unknown;
        }
    };
    let Ok(item @ StreamItem::Task(_)) = answer.item() else { return Stand::Waits };
    let mut mapper = EventMapper::new(config(task, record));
    mapper.handle_item(clock::now(), &item);
    let observed = mapper.observed();
    match &observed.last_state {
        None => Stand::Waits,
        Some(state) if state.is_terminal() => Stand::Over,
        Some(TaskState::InputRequired | TaskState::AuthRequired) if observed.replaced.is_empty() => {
            Stand::Waits
        }
        Some(_) => Stand::GoesOn,
    }
}

/// A run that would take the thread up: it tells whether the question is still the same.
fn config(task: &TaskId, record: &ThreadRecord) -> MapperConfig {
    let execution = &record.execution;
    let (thread, run) = (record.thread_id.clone(), RunId::from(execution.id.as_str()));
    let (id, invocation) = (execution.id.as_str(), execution.invocation_id.as_str());
    MapperConfig::new(thread, run, id, invocation, record.context_id.as_str())
        .with_dialect(Dialect::Plain)
        .with_task_id(task.as_str())
        .with_pending(pending::questions(record, &Texts::new()))
}
