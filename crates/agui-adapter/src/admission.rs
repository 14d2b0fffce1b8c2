//! Whether a request may run now: the table of S9, under the thread's lock.

use std::sync::Arc;

use agui_core::{RunLimits, RunStream, run_channel};
use agui_core::RunStarted;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use agui_store::{Execution, ExecutionId, InvocationId, TaskId, ThreadRecord};
use uuid::Uuid;

use crate::active::Active;
use crate::adapter::Shared;
use crate::clock;
use crate::notice::{run_error, state_unavailable};
use crate::request::{Request, workspace_notice};
use crate::answers::{self, Answers};
use crate::run::{Run, Work};
use crate::tasks;
use crate::threads::{Open, Slot};

/// How a request that may run begins.
enum Admitted {
    /// A new execution; the task that an earlier one left behind is cancelled first.
    Fresh { leftover: Option<TaskId> },
    /// Answers to the open interrupts.
    Resume(Answers),
    /// A message for the pipeline that runs.
    Guidance,
}

/// Admits the request and starts its run.
pub(crate) async fn admit(shared: &Arc<Shared>, request: Request) -> Result<RunStream, ErrorNotice> {
    if shared.shutdown.is_cancelled() {
        return Err(ErrorNotice::new(ErrorCode::ShuttingDown));
    }
    let slot = shared.threads.slot(&request.thread_id);
    let mut open = slot.open().await.map_err(|error| state_unavailable(&error))?;
    check_run_id(shared, &open, &request).await?;
    if let Some(record) = open.record() {
        check_binding(record, &request)?;
    }
    let admitted = match choose(shared, &mut open, &request).await? {
        Choice::Admitted(admitted) => admitted,
        Choice::RefusedInStream(notice) => return Ok(refused(&request, &notice)),
    };
    start(shared, open, request, admitted).await
}

enum Choice {
    Admitted(Admitted),
    /// Answers that do not fit are told in a stream (S8.5); nothing was touched and no run id is used up.
    RefusedInStream(ErrorNotice),
}

async fn choose(shared: &Arc<Shared>, open: &mut Open, request: &Request) -> Result<Choice, ErrorNotice> {
    let busy = open.slot().active().is_some();
    let Some(record) = open.record() else {
        if !request.resume.is_empty() || request.props.is_guidance() {
            return Err(ErrorNotice::new(ErrorCode::ExecutionLost));
        }
        return Ok(Choice::Admitted(Admitted::Fresh { leftover: None }));
    };
    if request.props.is_guidance() {
        return guidance(open, request).map(Choice::Admitted);
    }
    if busy {
        return Err(ErrorNotice::new(ErrorCode::ThreadBusy));
    }
    if !request.resume.is_empty() && *record.execution.invocation_id.as_str() != *request.props.ros_invocation_id {
        return Err(ErrorNotice::new(ErrorCode::ExecutionLost).with_key(MessageKey::ResumeMismatch));
    }
    if record.execution.deadline().is_some_and(|deadline| deadline <= clock::now()) {
        return expired(shared, open, request).await;
    }
    if !request.resume.is_empty() {
        return Ok(match answers::check(shared, record, request).await {
            Ok(answers) => Choice::Admitted(Admitted::Resume(answers)),
            Err(notice) => Choice::RefusedInStream(notice),
        });
    }
    if !record.execution.pending.is_empty() {
        let ids: Vec<&str> = record.execution.pending.keys().map(agui_core::InterruptId::as_str).collect();
        let notice = ErrorNotice::new(ErrorCode::ResumeRequired);
        return Err(notice.with_text("ids", ids.join(", ")));
    }
    Ok(Choice::Admitted(Admitted::Fresh { leftover: record.execution.task_id.clone() }))
}

/// The open interrupts are too old: they go, and so does the task that waits for them (S11.5).
async fn expired(shared: &Arc<Shared>, open: &mut Open, request: &Request) -> Result<Choice, ErrorNotice> {
    crate::expiry::expire(shared, open).await.map_err(|error| state_unavailable(&error))?;
    if request.resume.is_empty() {
        return Ok(Choice::Admitted(Admitted::Fresh { leftover: leftover(open) }));
    }
    if request.speaks_1_0 && request.resume.iter().all(answers::gives_up) {
        // The official client lets nobody go on before such an answer ended a run without an error.
        return Ok(Choice::Admitted(Admitted::Resume(Answers::given_up())));
    }
    Ok(Choice::RefusedInStream(ErrorNotice::new(ErrorCode::ExecutionExpired)))
}

fn leftover(open: &Open) -> Option<TaskId> {
    open.record().and_then(|record| record.execution.task_id.clone())
}

fn guidance(open: &Open, request: &Request) -> Result<Admitted, ErrorNotice> {
    let Some(record) = open.record() else { return Err(ErrorCode::ExecutionLost.into()) };
    if !request.resume.is_empty() {
        return Err(ErrorNotice::new(ErrorCode::ExecutionLost));
    }
    if !record.execution.pending.is_empty() {
        return Err(ErrorNotice::new(ErrorCode::ResumeRequired));
    }
    let active = open.slot().active();
    let steerable = active.is_some_and(|active| {
        active.is_pipeline() && *active.invocation_id.as_str() == *request.props.ros_invocation_id
    });
    if !steerable || record.execution.task_id.is_none() {
        return Err(ErrorNotice::new(ErrorCode::ExecutionLost));
    }
    Ok(Admitted::Guidance)
}

async fn check_run_id(shared: &Shared, open: &Open, request: &Request) -> Result<(), ErrorNotice> {
    let recorded = match open.record().and_then(|record| record.run_digest(&request.run_id)) {
        Some(digest) => Some(digest),
        None => {
            let store = shared.threads.store();
            store.run_digest(&request.thread_id, &request.run_id).await.map_err(|error| state_unavailable(&error))?
        }
    };
    match recorded {
        None => Ok(()),
        Some(digest) if request.digests.matches(&digest) => Err(ErrorCode::DuplicateRunId.into()),
        Some(_) => Err(ErrorCode::RunIdConflict.into()),
    }
}

fn check_binding(record: &ThreadRecord, request: &Request) -> Result<(), ErrorNotice> {
    let same = *record.cwd == *request.workspace.as_str()
        && record.user_id.as_deref() == request.props.user_id.as_deref();
    if same { Ok(()) } else { Err(ErrorCode::ThreadBindingConflict.into()) }
}

/// A stream that says why the answers were refused.
fn refused(request: &Request, notice: &ErrorNotice) -> RunStream {
    let (mut sink, stream) = run_channel(request.thread_id.clone(), request.run_id.clone(), RunLimits::default());
    let mut started = RunStarted::new(request.thread_id.clone(), request.run_id.clone());
    started.parent_run_id.clone_from(&request.parent_run_id);
    sink.send(started.with_protocol_version(agui_core::PROTOCOL_VERSION));
    sink.send(run_error(request.language, notice));
    stream
}

/// Saves what makes the run known for ever, then starts it.
async fn start(
    shared: &Arc<Shared>,
    mut open: Open,
    request: Request,
    admitted: Admitted,
) -> Result<RunStream, ErrorNotice> {
    if let Admitted::Fresh { leftover: Some(task) } = &admitted {
        // Under the thread's lock, with a deadline: the kernel refuses a second task in a busy context, and
        // once the id is forgotten nobody could stop the first.
        tasks::cancel_leftover(shared, task).await?;
    }
    // Only now: a request that is refused leaves no directory behind.
    let workspace = request.workspace.clone();
    let created = tokio::task::spawn_blocking(move || workspace.create());
    created.await.map_err(|_| crate::request::internal())?.map_err(workspace_notice)?;

    let invocation = InvocationId::new(request.props.ros_invocation_id.as_str());
    let fresh = matches!(admitted, Admitted::Fresh { .. });
    let execution = if fresh {
        ExecutionId::new(Uuid::new_v4().to_string())
    } else {
        open.record().map_or_else(|| ExecutionId::new(Uuid::new_v4().to_string()), |record| record.execution.id.clone())
    };
    record_run(&mut open, &request, fresh.then(|| Execution::new(execution.clone(), invocation.clone()))).await?;
    shared.expiry.forget(&request.thread_id);

    let slot = Arc::clone(open.slot());
    let (work, guard) = match admitted {
        Admitted::Fresh { .. } => (Work::Fresh, Some(activate(&slot, execution, invocation))),
        Admitted::Resume(answers) => (Work::Resume(answers), Some(activate(&slot, execution, invocation))),
        Admitted::Guidance => (Work::Guidance, None),
    };
    let (sink, stream) = run_channel(request.thread_id.clone(), request.run_id.clone(), RunLimits::default());
    let Some(record) = open.record().cloned() else { return Err(crate::request::internal()) };
    drop(open);
    let run = Run::new(Arc::clone(shared), slot, guard, request, record, sink);
    shared.tasks.spawn(run.carry_out(work));
    Ok(stream)
}

fn activate(
    slot: &Arc<Slot>,
    execution: ExecutionId,
    invocation: InvocationId,
) -> crate::threads::ActiveGuard {
    slot.activate(Arc::new(Active::new(execution, invocation)))
}

async fn record_run(open: &mut Open, request: &Request, fresh: Option<Execution>) -> Result<(), ErrorNotice> {
    let (run_id, digest) = (request.run_id.clone(), request.digests.ours);
    let saved = match (open.record().is_some(), fresh) {
        (true, Some(execution)) => {
            open.commit(|record| {
                record.rotate(execution.id, execution.invocation_id);
                record.record_run(run_id, digest);
            })
            .await
        }
        (true, None) => open.commit(|record| record.record_run(run_id, digest)).await,
        (false, execution) => {
            let execution = execution.ok_or_else(crate::request::internal)?;
            let mut record = ThreadRecord::new(request.thread_id.clone(), request.workspace.as_str(), execution);
            record.user_id = request.props.user_id.as_deref().map(Into::into);
            record.record_run(run_id, digest);
            open.create(record).await
        }
    };
    saved.map_err(|error| state_unavailable(&error))
}
