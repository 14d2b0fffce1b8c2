//! From text to record. What is refused here is what the other adapter refuses, and what cannot be true.

use std::collections::BTreeSet;
use std::str::FromStr as _;

use agui_core::{InterruptId, JsonObject, ThreadId, UnixMillis};
use serde_json::value::RawValue;

use super::OURS;
use super::layout::compact;
use super::members::{Members, Outcome, non_empty};
use crate::digest::Digest;
use crate::error::Corruption;
use crate::id::{ContextId, ExecutionId, InvocationId, SessionId, TaskId};
use crate::record::{AppliedAnswer, Execution, PendingInterrupt, RecordedRun, ThreadRecord};

/// Reads a document and checks that it is the one of `thread`.
pub(crate) fn decode(document: &[u8], thread: &ThreadId) -> Outcome<ThreadRecord> {
    let record = decode_any(document)?;
    if record.thread_id == *thread { Ok(record) } else { Err(Corruption::OtherThread) }
}

/// Reads a document of whatever thread.
pub(crate) fn decode_any(document: &[u8]) -> Outcome<ThreadRecord> {
    let text = std::str::from_utf8(document).map_err(|_| Corruption::NotJson)?;
    let mut members = match Members::strict(text, "the document") {
        Err(Corruption::WrongType { .. }) => return Err(Corruption::NotJson),
        other => other?,
    };
    // The other adapter compares numbers, so 1.0 is 1 to it.
    if !members.take("schemaVersion").is_some_and(|raw| matches!(raw.get(), "1" | "1.0")) {
        return Err(Corruption::SchemaVersion);
    }
    let thread_id = ThreadId::from(members.text("threadId")?);
    let mut ours = members.object(OURS)?.unwrap_or_default();
    let execution = members.object("execution")?.ok_or(Corruption::Missing { field: "execution" })?;
    let execution = read_execution(execution, &mut ours)?;
    let order: Vec<usize> = ours.optional("runOrder")?.unwrap_or_default();
    let mut record = ThreadRecord::new(thread_id, members.text("cwd")?, execution);
    record.context_id = ContextId::from(members.text("contextId")?);
    record.user_id = members.optional_text("userId")?.map(Into::into);
    record.session_id =
        members.optional_text("iacCodeSessionId")?.filter(|id| !id.is_empty()).map(SessionId::from);
    record.runs = in_order(read_runs(&mut members)?, &order);
    record.applied_answers = read_answers(&mut members)?;
    let ended: Vec<String> = members.required("terminalExecutionIds")?;
    record.terminal_executions =
        ended.into_iter().filter(|id| !id.is_empty()).map(ExecutionId::from).collect();
    record.revision = ours.optional("revision")?.unwrap_or_default();
    record.foreign = members.foreign();
    record.foreign_ours = ours.foreign();
    note_answers(&mut record);
    Ok(record)
}

fn read_execution(mut members: Members<'_>, ours: &mut Members<'_>) -> Outcome<Execution> {
    let mut execution = Execution::new(
        ExecutionId::from(members.text("executionId")?),
        InvocationId::from(members.text("rosInvocationId")?),
    );
    execution.task_id = members.optional_text("taskId")?.filter(|id| !id.is_empty()).map(TaskId::from);
    execution.pipeline_sequence = members.optional("pipelineSequence")?.unwrap_or_default();
    let steps: Vec<String> = members.optional("pipelineOpenSteps")?.unwrap_or_default();
    for step in steps {
        execution.open_steps.insert(non_empty(step, "pipelineOpenSteps")?.into());
    }
    let digests: Vec<String> = members.optional("textSnapshotDigests")?.unwrap_or_default();
    for text in digests {
        execution.text_digests.insert(digest(&text, "textSnapshotDigests")?);
    }
    for (id, entry) in members.object("pending")?.unwrap_or_default() {
        let entry = read_pending(&id, entry)?;
        execution.pending.insert(id.into(), entry);
    }
    for (id, entry) in ours.object("pending")?.unwrap_or_default() {
        read_our_pending(entry, execution.pending.get_mut(id.as_str()))?;
    }
    let answered: Vec<String> = ours.optional("answered")?.unwrap_or_default();
    execution.answered = answered.into_iter().map(InterruptId::from).collect();
    execution.position = ours.take("position").map(|raw| object(raw, OURS)).transpose()?;
    execution.foreign = members.foreign();
    Ok(execution)
}

fn read_pending(id: &str, entry: &RawValue) -> Outcome<PendingInterrupt> {
    let field = "pending";
    let mut entry = Members::strict(entry.get(), field)?;
    let value: &RawValue = entry.required("value")?;
    let mut identity = Members::lenient(value.get()).ok_or(Corruption::WrongType { field })?;
    if identity.take("inputId").is_some_and(|raw| text(raw).as_deref() != Some(id)) {
        return Err(Corruption::PendingIdentity);
    }
    let mut interrupt = PendingInterrupt::new(object(value, field)?);
    interrupt.sideband = entry.optional("sideband")?.unwrap_or_default();
    if let Some(text) = entry.optional_text("expiresAt")? {
        interrupt.expires_at = Some(instant(&text).ok_or(Corruption::WrongType { field: "expiresAt" })?);
    }
    interrupt.foreign = entry.foreign();
    Ok(interrupt)
}

/// Adds to a pending interrupt what only this crate knows about it.
fn read_our_pending(entry: &RawValue, pending: Option<&mut PendingInterrupt>) -> Outcome<()> {
    let mut entry = Members::strict(entry.get(), OURS)?;
    let announced_at = entry.optional("announcedAt")?.map(UnixMillis::new);
    let interrupt = entry.take("interrupt").map(|raw| object(raw, OURS)).transpose()?;
    if let Some(pending) = pending {
        pending.announced_at = announced_at;
        pending.interrupt = interrupt;
    }
    Ok(())
}

/// The other adapter does not keep the list of answered ids, but it can be told from the answers.
fn note_answers(record: &mut ThreadRecord) {
    let ThreadRecord { execution, applied_answers, .. } = record;
    for answer in applied_answers {
        if answer.execution_id == execution.id {
            execution.note_answered(&answer.interrupt_id);
        }
    }
}

fn read_runs(members: &mut Members<'_>) -> Outcome<Vec<RecordedRun>> {
    let field = "runDigests";
    let mut runs = Vec::new();
    for (id, raw) in members.object(field)?.ok_or(Corruption::Missing { field })? {
        // The other adapter takes an empty run id once and forgets it on load.
        if !id.is_empty() {
            let text = text(raw).ok_or(Corruption::NotADigest { field })?;
            runs.push(RecordedRun::new(id.into(), digest(&text, field)?));
        }
    }
    Ok(runs)
}

/// `sorted` as `order` says, if `order` names each place once; another program may have added runs.
fn in_order(sorted: Vec<RecordedRun>, order: &[usize]) -> Vec<RecordedRun> {
    let places: BTreeSet<_> = order.iter().collect();
    if order.len() != sorted.len() || places.len() != sorted.len() {
        return sorted;
    }
    let ordered: Option<Vec<_>> = order.iter().map(|place| sorted.get(*place).cloned()).collect();
    ordered.unwrap_or(sorted)
}

fn read_answers(members: &mut Members<'_>) -> Outcome<Vec<AppliedAnswer>> {
    let field = "appliedResumeDigests";
    let entries: Vec<&RawValue> = members.required(field)?;
    let answer = |entry: &RawValue| {
        let mut entry = Members::strict(entry.get(), field)?;
        Ok(AppliedAnswer::new(
            ExecutionId::from(entry.text("executionId")?),
            InterruptId::from(entry.text("interruptId")?),
            digest(&entry.text("digest")?, field)?,
        ))
    };
    entries.into_iter().map(answer).collect()
}

fn object(raw: &RawValue, field: &'static str) -> Outcome<JsonObject> {
    JsonObject::from_string(compact(raw.get())).map_err(|_| Corruption::WrongType { field })
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

fn digest(text: &str, field: &'static str) -> Outcome<Digest> {
    text.parse().map_err(|_| Corruption::NotADigest { field })
}

fn instant(text: &str) -> Option<UnixMillis> {
    let timestamp = jiff::Timestamp::from_str(text).ok()?;
    u64::try_from(timestamp.as_millisecond()).ok().map(UnixMillis::new)
}
