//! Tasks that an execution began and whose id nobody here has learnt: found by their conversation.

use a2a_client::{Client, ClientError, Datum};
use a2a_wire::{Role, StreamItem, Task, TaskList};
use agui_core::JsonObject;
use agui_mapper::ResumePoint;
use agui_store::{ContextId, Execution, TaskId};
use tokio::time::timeout;

use super::{Told, cancel, is_refusal};
use crate::adapter::Shared;
use crate::config::Profile;
use crate::request::Request;
use crate::terms::Terms;

/// Tasks of a conversation that are looked into, the newest first: what is looked for was begun last.
const LOOKS: usize = 8;

/// Where a task may be of which nothing else is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unseen {
    context: ContextId,
    /// Id of the message that began the execution; only agents of any make are asked for it.
    begun_by: Option<String>,
}

/// The kernel did not say.
struct Unclear;

impl Unseen {
    pub(crate) const fn new(context: ContextId, begun_by: Option<String>) -> Self {
        Self { context, begun_by }
    }
}

/// What is stored of an execution before its message is sent, for the case that its task stays unknown.
pub(crate) fn first_position(request: &Request) -> Option<JsonObject> {
    let Terms::Generic(_) = &request.terms else { return None };
    let id = request.message.as_ref().map(|message| &*message.id)?;
    let id = if id.is_empty() { request.run_id.as_str() } else { id };
    JsonObject::from_serialize(&ResumePoint::new().with_begun_by(id)).ok()
}

/// Id of the message that began an execution, as [`first_position`] has stored it.
pub(crate) fn begun_by(execution: &Execution) -> Option<String> {
    execution.position.as_ref()?.parse::<ResumePoint>().ok()?.begun_by
}

/// Cancels what the execution began; [`Told::TooLate`] if it has begun nothing, as far as the kernel says.
pub(crate) async fn cancel_unseen(shared: &Shared, client: &Client, unseen: &Unseen) -> Told {
    let Ok(found) = find(shared, client, unseen).await else { return Told::Unreachable };
    let mut outcome = Told::TooLate;
    for task in found {
        match cancel(shared, client, task.as_str()).await {
            Told::Unreachable => return Told::Unreachable,
            Told::TooLate => {}
            told => outcome = told,
        }
    }
    outcome
}

async fn find(shared: &Shared, client: &Client, unseen: &Unseen) -> Result<Vec<TaskId>, Unclear> {
    let open = unfinished(shared, client, &unseen.context).await?;
    // The kernel's conversations are named after threads, and whoever asks has claimed this one; its tasks do not show
    // the message that began them. An agent of any make may give all conversations one name.
    if shared.config.profile == Profile::IacCode {
        return Ok(open);
    }
    let left = open.len();
    for task in open.into_iter().take(LOOKS) {
        if was_begun_by(shared, client, &task, unseen).await? {
            return Ok(vec![task]);
        }
    }
    if left > 0 {
        tracing::warn!(
            tasks = left,
            "unfinished tasks of a conversation are left alone: none is known to be this execution's"
        );
    }
    Ok(Vec::new())
}

/// The tasks of a conversation that have not ended, newest first. None if the kernel knows no such question.
async fn unfinished(shared: &Shared, client: &Client, context: &ContextId) -> Result<Vec<TaskId>, Unclear> {
    let Some(answer) = asked(shared, client.list_tasks(context.as_str())).await? else {
        return Ok(Vec::new());
    };
    let list = answer.raw_result().and_then(TaskList::from_result);
    let list =
        list.inspect_err(|error| tracing::warn!(%error, "list of tasks not understood")).unwrap_or_default();
    let open = list.tasks.iter().filter(|task| !task.status.state.is_terminal());
    // A server that ignores the filter must not cost other conversations their tasks.
    let open = open.filter(|task| task.context_id.as_deref() == Some(context.as_str()));
    Ok(open.map(|task| TaskId::from(&*task.id)).collect())
}

/// Whether a task shows that this execution has begun it.
async fn was_begun_by(
    shared: &Shared,
    client: &Client,
    task: &TaskId,
    unseen: &Unseen,
) -> Result<bool, Unclear> {
    let Some(answer) = asked(shared, client.get_task(task.as_str(), None)).await? else { return Ok(false) };
    let Ok(StreamItem::Task(task)) = answer.item() else { return Ok(false) };
    Ok(unseen.begun_by.as_ref().is_some_and(|message| repeats_message(&task, message)))
}

/// Whether a task began with a message: nothing else is sent to an agent of any make that it could give back.
fn repeats_message(task: &Task<'_>, message_id: &str) -> bool {
    let first = task.history.iter().find(|message| message.role == Role::User);
    first.is_some_and(|message| message.message_id == message_id)
}

/// What the kernel answers, `None` if it refuses to.
async fn asked(
    shared: &Shared,
    call: impl Future<Output = Result<Datum, ClientError>> + Send,
) -> Result<Option<Datum>, Unclear> {
    match timeout(shared.config.cancel_timeout, Box::pin(call)).await {
        Ok(Ok(answer)) => Ok(Some(answer)),
        Ok(Err(error)) if is_refusal(&error) => {
            tracing::warn!(%error, "the kernel does not tell about tasks of a conversation");
            Ok(None)
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "tasks of a conversation not found");
            Err(Unclear)
        }
        Err(_) => {
            tracing::warn!("tasks of a conversation not found: no answer in time");
            Err(Unclear)
        }
    }
}
