//! From an admitted request to a run: what makes it known is saved, then it starts.

use std::sync::Arc;

use agui_core::{RunLimits, RunStream, run_channel};
use agui_iac_code::{ErrorCode, ErrorNotice};
use agui_store::{Execution, ExecutionId, InvocationId, StoreError, ThreadRecord};
use uuid::Uuid;

use super::Admitted;
use crate::active::{Active, StopReason};
use crate::adapter::Shared;
use crate::notice::state_unavailable;
use crate::reattach::{RunKey, relay};
use crate::request::{Request, internal, workspace_notice};
use crate::run::{Run, Work};
use crate::tasks::{self, Told};
use crate::threads::{ActiveGuard, Open};

/// Starts the run of a request that may run. The thread is locked.
pub(super) async fn start(
    shared: &Arc<Shared>,
    mut open: Open,
    request: Request,
    admitted: Admitted,
) -> Result<RunStream, ErrorNotice> {
    if let Admitted::Fresh { leftover } = &admitted {
        // Under the thread's lock, with a deadline: the kernel refuses a second task in a busy context, and
        // once the id is forgotten nobody could stop the first (weakness 6).
        if tasks::cancel_leftover(shared, leftover).await? == Told::Unreachable {
            return Err(ErrorCode::A2aUnavailable.into());
        }
    }
    create_workspace(&request).await?;
    record_run(&mut open, &request, &admitted).await.map_err(|error| state_unavailable(&error))?;
    let record = open.record().cloned().ok_or_else(internal)?;
    shared.expiry.forget(&request.thread_id);

    let slot = Arc::clone(open.slot());
    let work = match admitted {
        Admitted::Fresh { .. } => Work::Fresh,
        Admitted::Resume(answers) => Work::Resume(answers),
        Admitted::Guidance => Work::Guidance,
    };
    let guard = match work {
        Work::Fresh | Work::Resume(_) => Some(activate(shared, &mut open, &record)),
        Work::Guidance => None,
    };
    drop(open);
    let (key, language) = (RunKey::new(&request.thread_id, &request.run_id), request.language);
    let active = guard.as_ref().map(|guard| Arc::clone(guard.active()));
    let (sink, stream) = run_channel(&request.thread_id, &request.run_id, RunLimits::default());
    let run = Run::new(Arc::clone(shared), slot, guard, request, record, sink);
    shared.tasks.spawn(run.carry_out(work));
    Ok(relay(shared, key, active, language, stream))
}

/// Only now: a request that is refused leaves no directory behind (weakness 61).
async fn create_workspace(request: &Request) -> Result<(), ErrorNotice> {
    let Some(workspace) = request.terms.workspace().cloned() else { return Ok(()) };
    let created = tokio::task::spawn_blocking(move || workspace.create()).await;
    created.map_err(|_| internal())?.map_err(workspace_notice)
}

/// Makes the run known for ever.
async fn record_run(open: &mut Open, request: &Request, admitted: &Admitted) -> Result<(), StoreError> {
    let (run_id, digest) = (request.run_id.clone(), request.digests.ours);
    let invocation = InvocationId::new(request.terms.invocation_id());
    let execution = ExecutionId::new(Uuid::new_v4().to_string());
    let position = tasks::first_position(request);
    if open.record().is_some() {
        let is_fresh = matches!(admitted, Admitted::Fresh { .. });
        return open
            .commit(|record| {
                if is_fresh {
                    record.rotate(execution, invocation);
                    record.execution.position = position;
                }
                record.record_run(run_id, digest);
            })
            .await;
    }
    let execution = Execution::new(execution, invocation);
    let mut record = ThreadRecord::new(request.thread_id.clone(), request.terms.cwd(), execution);
    record.user_id = request.terms.user_id().map(Into::into);
    record.execution.position = position;
    record.record_run(run_id, digest);
    open.create(record).await
}

fn activate(shared: &Shared, open: &mut Open, record: &ThreadRecord) -> ActiveGuard {
    let execution = &record.execution;
    let active = Arc::new(Active::new(execution.id.clone(), execution.invocation_id.clone()));
    let guard = open.activate(Arc::clone(&active));
    // A shutdown asks the runs that it finds; this one may have become active just behind it.
    if shared.shutdown.is_cancelled() {
        active.request_stop(StopReason::Shutdown);
    }
    guard
}
