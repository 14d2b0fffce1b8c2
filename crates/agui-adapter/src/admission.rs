//! Whether a request may run now: the table of S9, under the thread's lock.

mod start;

use std::sync::Arc;

use agui_core::{RunLimits, RunStarted, RunStream, run_channel};
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use agui_store::ThreadRecord;

use crate::adapter::Shared;
use crate::answers::{self, Answers};
use crate::clock;
use crate::expiry;
use crate::notice::{run_error, state_unavailable};
use crate::pending;
use crate::reattach::{RunKey, relay};
use crate::request::Request;
use crate::tasks::Leftover;
use crate::threads::Open;

/// How a request that may run begins.
enum Admitted {
    /// A new execution; what an earlier one left behind is cancelled first.
    Fresh { leftover: Leftover },
    /// Answers to the open interrupts.
    Resume(Answers),
    /// A message for the pipeline that runs.
    Guidance,
}

/// What the table says.
enum Choice {
    Admitted(Admitted),
    /// Answers that do not fit are told in a stream (S8.5); nothing was touched and no run id is used up.
    RefusedInStream(ErrorNotice),
}

/// Admits the request and starts its run.
pub(crate) async fn admit(shared: &Arc<Shared>, request: Request) -> Result<RunStream, ErrorNotice> {
    if shared.shutdown.is_cancelled() {
        return Err(ErrorCode::ShuttingDown.into());
    }
    let slot = shared.threads.slot(&request.thread_id);
    let mut open = slot.open().await.map_err(|error| state_unavailable(&error))?;
    if begins_a_run(&open, &request) {
        // Before anything is concluded from the record: what looks left behind may be at work elsewhere.
        open.claim().await.map_err(|error| state_unavailable(&error))?;
    }
    match choose(shared, &mut open, &request).await? {
        Choice::Admitted(admitted) => start::start(shared, open, request, admitted).await,
        Choice::RefusedInStream(notice) => {
            let key = RunKey::new(&request.thread_id, &request.run_id);
            Ok(relay(shared, key, None, request.language, refused(&request, &notice)))
        }
    }
}

/// Whether the request needs the thread for itself, if it may have it.
fn begins_a_run(open: &Open, request: &Request) -> bool {
    let answers_nobody = open.record().is_none() && !request.resume.is_empty();
    !request.terms.is_guidance() && !answers_nobody
}

/// The table, in the order in which clients know it (iac-code 0.16).
async fn choose(shared: &Arc<Shared>, open: &mut Open, request: &Request) -> Result<Choice, ErrorNotice> {
    let resumes = !request.resume.is_empty();
    let guides = request.terms.is_guidance();
    let Some(record) = open.record() else {
        if resumes || guides {
            return Err(ErrorCode::ExecutionLost.into());
        }
        if !open.is_claimed() {
            return Err(ErrorCode::ThreadBusy.into());
        }
        return Ok(Choice::Admitted(Admitted::Fresh { leftover: Leftover::Nothing }));
    };
    check_run_id(shared, record, request).await?;
    if !guides && !open.is_claimed() {
        return Err(ErrorCode::ThreadBusy.into());
    }
    check_binding(record, request)?;
    if guides {
        return guidance(open, record, request).map(Choice::Admitted);
    }
    if resumes && record.execution.invocation_id.as_str() != request.terms.invocation_id() {
        return Err(ErrorNotice::new(ErrorCode::ExecutionLost).with_key(MessageKey::ResumeMismatch));
    }
    if record.execution.deadline().is_some_and(|deadline| deadline <= clock::now()) {
        expiry::expire(shared, open).await.map_err(|error| state_unavailable(&error))?;
    }
    // Another borrow: the open questions may be gone by now.
    let Some(record) = open.record() else { return Err(ErrorCode::ExecutionLost.into()) };
    if resumes {
        return Ok(match answers::check(shared, record, request).await {
            Ok(answers) => Choice::Admitted(Admitted::Resume(answers)),
            Err(notice) => Choice::RefusedInStream(notice),
        });
    }
    check_nothing_pending(record)?;
    Ok(Choice::Admitted(Admitted::Fresh { leftover: Leftover::of(shared.config.profile, record) }))
}

fn guidance(open: &Open, record: &ThreadRecord, request: &Request) -> Result<Admitted, ErrorNotice> {
    if !request.resume.is_empty() {
        return Err(ErrorCode::ExecutionLost.into());
    }
    check_nothing_pending(record)?;
    let steerable = open.slot().active().is_some_and(|active| {
        active.is_pipeline() && active.invocation_id.as_str() == request.terms.invocation_id()
    });
    if !steerable || record.execution.task_id.is_none() {
        return Err(ErrorCode::ExecutionLost.into());
    }
    Ok(Admitted::Guidance)
}

fn check_nothing_pending(record: &ThreadRecord) -> Result<(), ErrorNotice> {
    let ids = pending::announced_ids(record);
    if ids.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = ids.iter().map(agui_core::InterruptId::as_str).collect();
    let notice = ErrorNotice::new(ErrorCode::ResumeRequired).with_key(MessageKey::ResumeRequiredFor);
    Err(notice.with_text("ids", ids.join(", ")))
}

async fn check_run_id(shared: &Shared, record: &ThreadRecord, request: &Request) -> Result<(), ErrorNotice> {
    let recorded = match record.run_digest(&request.run_id) {
        Some(digest) => Some(digest),
        None => {
            let store = shared.threads.store();
            let older = store.run_digest(&request.thread_id, &request.run_id).await;
            older.map_err(|error| state_unavailable(&error))?
        }
    };
    match recorded {
        None => Ok(()),
        Some(digest) if request.digests.matches(&digest) => Err(ErrorCode::DuplicateRunId.into()),
        Some(_) => Err(ErrorCode::RunIdConflict.into()),
    }
}

fn check_binding(record: &ThreadRecord, request: &Request) -> Result<(), ErrorNotice> {
    let same = *record.cwd == *request.terms.cwd() && record.user_id.as_deref() == request.terms.user_id();
    if same { Ok(()) } else { Err(ErrorCode::ThreadBindingConflict.into()) }
}

/// A stream that says why the answers were refused.
fn refused(request: &Request, notice: &ErrorNotice) -> RunStream {
    let ids = (request.thread_id.clone(), request.run_id.clone());
    let (mut sink, stream) = run_channel(ids.0.clone(), ids.1.clone(), RunLimits::default());
    let mut started = RunStarted::new(ids.0, ids.1).with_protocol_version(agui_core::PROTOCOL_VERSION);
    started.parent_run_id.clone_from(&request.parent_run_id);
    for mut event in [started.into(), run_error(request.language, notice).into()] {
        agui_core::Event::set_timestamp(&mut event, clock::now());
        sink.send(event);
    }
    stream
}
