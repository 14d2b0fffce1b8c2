//! The answers of a resume, checked against the open questions before anything is sent (S8.2, S8.3).

use std::collections::HashSet;

use agui_core::{ResumeEntry, ResumeStatus};
use agui_i18n::Language;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use agui_mapper::answers::{Answer, resolve};
use agui_mapper::{MapError, OpenInput, OpenInputKind, Texts};
use agui_store::{Digest, ThreadRecord, answer_digest};

use crate::adapter::Shared;
use crate::notice::state_unavailable;
use crate::pending;
use crate::request::Request;
use crate::schema;

/// Checked answers, in the order in which they are sent.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Empty when everything was given up and nothing is left to tell the kernel.
    pub(crate) list: Vec<CheckedAnswer>,
}

/// One answer that conforms to its question.
#[derive(Debug)]
pub(crate) struct CheckedAnswer {
    pub(crate) question: OpenInput,
    pub(crate) answer: Answer,
    pub(crate) digest: Digest,
}

impl Answers {
    /// Whether one of the answers can only be given by cancelling the task: then no other one is sent.
    pub(crate) fn give_up_the_task(&self) -> bool {
        self.list.iter().any(|answer| matches!(answer.answer, Answer::CancelTask))
    }
}

impl CheckedAnswer {
    /// Whether it is a decision of a permission.
    pub(crate) fn is_permission(&self) -> bool {
        self.question.kind == OpenInputKind::Permission
    }
}

/// Checks the answers of `request` against what the thread waits for.
pub(crate) async fn check(
    shared: &Shared,
    record: &ThreadRecord,
    request: &Request,
) -> Result<Answers, ErrorNotice> {
    if record.execution.pending.is_empty() || record.execution.task_id.is_none() {
        return nothing_waits(shared, record, request).await;
    }
    let mut named = HashSet::new();
    if !request.resume.iter().all(|entry| named.insert(&entry.interrupt_id)) {
        return Err(ErrorNotice::new(ErrorCode::IncompleteResume).with_key(MessageKey::ResumeDuplicate));
    }
    let mut questions = pending::questions(record, &texts(request.language));
    let mut pairs = Vec::with_capacity(questions.len());
    for entry in &request.resume {
        match questions.iter().position(|open| open.interrupt.id == entry.interrupt_id) {
            Some(at) => pairs.push((entry, questions.swap_remove(at))),
            None => no_longer_pending(shared, record, entry).await?,
        }
    }
    if pairs.len() < record.execution.pending.len() {
        return Err(ErrorNotice::new(ErrorCode::IncompleteResume));
    }
    let answers = pairs.into_iter().map(|(entry, question)| conforming(entry, question));
    let mut list: Vec<CheckedAnswer> = answers.collect::<Result<_, _>>()?;
    // Branches that ask beside the stream first: they do not hold the task up.
    list.sort_by_key(|answer| !answer.question.sideband);
    Ok(Answers { list })
}

/// The default texts of questions.
pub(crate) fn texts(language: Language) -> Texts {
    let text = |key| agui_i18n::text(language, key).into_owned();
    let mut texts = Texts::new();
    texts.permission_required = text(MessageKey::InterruptPermission);
    texts.input_required = text(MessageKey::InterruptInput);
    texts.candidate_selection = text(MessageKey::InterruptCandidate);
    texts.resource_selection = text(MessageKey::InterruptResource);
    texts.deployment_confirmation = text(MessageKey::InterruptDeployment);
    texts.pause_confirmation = text(MessageKey::InterruptPause);
    texts.backup_blocked = text(MessageKey::InterruptBackupBlocked);
    texts.auth_required = text(MessageKey::InterruptSignIn);
    texts.auth_done = text(MessageKey::OptionContinue);
    texts
}

fn conforming(entry: &ResumeEntry, question: OpenInput) -> Result<CheckedAnswer, ErrorNotice> {
    let invalid = |key| ErrorNotice::new(ErrorCode::ResumePayloadInvalid).with_key(key);
    if entry.status == ResumeStatus::Resolved {
        let payload = entry.payload.as_ref().filter(|payload| !payload.is_null());
        let payload = payload.ok_or_else(|| invalid(MessageKey::PayloadMissing))?;
        if let Some(schema) = &question.interrupt.response_schema
            && !schema::conforms(schema, payload)
        {
            return Err(invalid(MessageKey::PayloadInvalid));
        }
    }
    let answer = resolve(&question, entry).map_err(|error| match error {
        MapError::PayloadRequired => invalid(MessageKey::PayloadMissing),
        MapError::PayloadInvalid => invalid(MessageKey::PayloadInvalid),
        _ => ErrorNotice::new(ErrorCode::ExecutionLost),
    })?;
    Ok(CheckedAnswer { question, answer, digest: digest(entry) })
}

/// Digest under which an accepted answer is remembered.
fn digest(entry: &ResumeEntry) -> Digest {
    answer_digest(entry.status.as_str(), entry.payload.as_ref())
}

/// An entry for something that is not pending: fine if it was answered just like that before.
async fn no_longer_pending(
    shared: &Shared,
    record: &ThreadRecord,
    entry: &ResumeEntry,
) -> Result<(), ErrorNotice> {
    let store = shared.threads.store();
    let execution = Some(&record.execution.id);
    let applied = store.applied_answer(&record.thread_id, &entry.interrupt_id, execution).await;
    match applied.map_err(|error| state_unavailable(&error))? {
        Some(applied) if applied == digest(entry) => Ok(()),
        Some(_) => Err(ErrorCode::ResumeAlreadyApplied.into()),
        None => Err(ErrorCode::UnknownInterrupt.into()),
    }
}

/// Nothing waits: the answers came before, they come too late, or what they answer is gone.
async fn nothing_waits(
    shared: &Shared,
    record: &ThreadRecord,
    request: &Request,
) -> Result<Answers, ErrorNotice> {
    let store = shared.threads.store();
    let mut too_late = false;
    for entry in &request.resume {
        let applied = store.applied_answer(&record.thread_id, &entry.interrupt_id, None).await;
        match applied.map_err(|error| state_unavailable(&error))? {
            Some(applied) => too_late |= pending::has_lapsed(applied),
            None => return Err(ErrorCode::ExecutionLost.into()),
        }
    }
    if !too_late {
        return Err(ErrorCode::ResumeAlreadyApplied.into());
    }
    let gives_up = request.resume.iter().all(|entry| entry.status == ResumeStatus::Cancelled);
    if request.speaks_1_0 && gives_up {
        // The official client lets nobody go on before such an answer ended a run without an error.
        return Ok(Answers::default());
    }
    Err(ErrorCode::ExecutionExpired.into())
}

#[cfg(test)]
mod tests;
