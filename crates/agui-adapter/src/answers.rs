//! The answers of a resume, checked against the open questions before anything is sent (S8.2, S8.3).

use std::collections::HashSet;

use agui_core::{InterruptId, Json, ResumeEntry, ResumeStatus};
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use agui_mapper::answers::{Answer, resolve};
use agui_mapper::{InputSort, MapError, OpenInput, Sideband, Texts};
use agui_store::{Digest, ThreadRecord, answer_digest};

use crate::adapter::Shared;
use crate::notice::state_unavailable;
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
    pub(crate) interrupt_id: InterruptId,
    pub(crate) question: OpenInput,
    pub(crate) answer: Answer,
    pub(crate) digest: Digest,
}

impl Answers {
    /// The interrupts had lapsed and the client gives them up.
    pub(crate) fn given_up() -> Self {
        Self::default()
    }
}

/// Whether an entry abandons its interrupt.
pub(crate) fn gives_up(entry: &ResumeEntry) -> bool {
    entry.status == ResumeStatus::Cancelled
}

/// Digest under which an accepted answer is remembered.
fn digest(entry: &ResumeEntry) -> Digest {
    answer_digest(entry.status.as_str(), entry.payload.as_ref())
}

/// Checks the answers of `request` against what the thread waits for.
pub(crate) async fn check(
    shared: &Shared,
    record: &ThreadRecord,
    request: &Request,
) -> Result<Answers, ErrorNotice> {
    let pending = &record.execution.pending;
    if pending.is_empty() || record.execution.task_id.is_none() {
        return Err(nothing_waits(shared, record, request).await?);
    }
    let mut named = HashSet::new();
    if !request.resume.iter().all(|entry| named.insert(&entry.interrupt_id)) {
        return Err(ErrorNotice::new(ErrorCode::IncompleteResume).with_key(MessageKey::ResumeDuplicate));
    }
    let mut list = Vec::with_capacity(pending.len());
    for entry in &request.resume {
        match pending.get(&entry.interrupt_id) {
            Some(question) => list.push((entry, question)),
            None => no_longer_pending(shared, record, entry).await?,
        }
    }
    if list.len() < pending.len() {
        return Err(ErrorNotice::new(ErrorCode::IncompleteResume));
    }
    let texts = texts(request);
    let mut answers = Vec::with_capacity(list.len());
    for (entry, stored) in list {
        let sideband = if stored.sideband { Sideband::Yes } else { Sideband::No };
        let value = Json::from(stored.value.clone());
        let question = OpenInput::restore(entry.interrupt_id.as_str(), value, sideband, &texts)
            .ok_or_else(|| ErrorNotice::new(ErrorCode::ExecutionLost))?;
        answers.push(conforming(entry, question)?);
    }
    // Branches that ask beside the stream first: they do not hold the task up.
    answers.sort_by_key(|answer| !answer.question.sideband);
    Ok(Answers { list: answers })
}

/// The default texts of questions, in the language of the request.
pub(crate) fn texts(request: &Request) -> Texts {
    let text = |key| agui_i18n::text(request.language, key).into_owned();
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
    let digest = digest(entry);
    Ok(CheckedAnswer { interrupt_id: entry.interrupt_id.clone(), question, answer, digest })
}

/// An entry for something that is not pending: fine if it was answered just like that before.
async fn no_longer_pending(
    shared: &Shared,
    record: &ThreadRecord,
    entry: &ResumeEntry,
) -> Result<(), ErrorNotice> {
    let store = shared.threads.store();
    let applied = store.applied_answer(&record.thread_id, &entry.interrupt_id, Some(&record.execution.id)).await;
    match applied.map_err(|error| state_unavailable(&error))? {
        Some(applied) if applied == digest(entry) => Ok(()),
        Some(_) => Err(ErrorCode::ResumeAlreadyApplied.into()),
        None => Err(ErrorCode::UnknownInterrupt.into()),
    }
}

/// Nothing waits: the answers came before, or what they answer is gone.
async fn nothing_waits(
    shared: &Shared,
    record: &ThreadRecord,
    request: &Request,
) -> Result<ErrorNotice, ErrorNotice> {
    let store = shared.threads.store();
    for entry in &request.resume {
        let applied = store.applied_answer(&record.thread_id, &entry.interrupt_id, None).await;
        if applied.map_err(|error| state_unavailable(&error))?.is_none() {
            return Ok(ErrorCode::ExecutionLost.into());
        }
    }
    Ok(ErrorCode::ResumeAlreadyApplied.into())
}

/// Whether the answer is a decision of a permission.
pub(crate) fn is_permission(answer: &CheckedAnswer) -> bool {
    answer.question.sort == InputSort::Permission
}
