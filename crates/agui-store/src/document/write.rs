//! From record to text.

use std::collections::BTreeMap;

use agui_core::UnixMillis;
use serde::Serialize;
use serde_json::value::RawValue;

use super::OURS;
use super::layout::{compact, pretty};
use super::read::decode;
use crate::digest::Digest;
use crate::error::Corruption;
use crate::id::{ExecutionId, SessionId, TaskId};
use crate::record::{Execution, Foreign, PendingInterrupt, ThreadRecord};

/// The document of a record.
///
/// It is read once more before it is handed out: what could not be loaded again is never written.
pub(crate) fn encode(record: &ThreadRecord) -> Result<Vec<u8>, Corruption> {
    refuse_unnamed(record)?;
    let mut document = pretty(&document(record)?);
    document.push('\n');
    decode(document.as_bytes(), &record.thread_id)?;
    Ok(document.into_bytes())
}

/// Empty ids in lists are passed over by readers, so reading once more does not find them.
fn refuse_unnamed(record: &ThreadRecord) -> Result<(), Corruption> {
    if record.runs.iter().any(|run| run.run_id.as_str().is_empty()) {
        return Err(Corruption::Missing { field: "runDigests" });
    }
    if record.terminal_executions.iter().any(|id| id.as_str().is_empty()) {
        return Err(Corruption::Missing { field: "terminalExecutionIds" });
    }
    Ok(())
}

fn document(record: &ThreadRecord) -> Result<String, Corruption> {
    let runs: BTreeMap<&str, Digest> =
        record.runs.iter().map(|run| (run.run_id.as_str(), run.digest)).collect();
    let answers = record.applied_answers.iter().map(|answer| {
        let mut entry = Object::default();
        entry.put("digest", &answer.digest.to_string());
        entry.put("executionId", answer.execution_id.as_str());
        entry.put("interruptId", answer.interrupt_id.as_str());
        entry.finish()
    });
    let mut object = Object::with(&record.foreign);
    object.put("schemaVersion", &1);
    object.put("threadId", record.thread_id.as_str());
    object.put("contextId", record.context_id.as_str());
    object.put("cwd", &*record.cwd);
    object.put("userId", &record.user_id.as_deref());
    object.put("iacCodeSessionId", &record.session_id.as_ref().map(SessionId::as_str));
    object.put_raw("execution", execution(&record.execution)?);
    object.put("runDigests", &texts(&runs));
    object.put_raw("appliedResumeDigests", array(answers));
    object.put(
        "terminalExecutionIds",
        &record.terminal_executions.iter().map(ExecutionId::as_str).collect::<Vec<_>>(),
    );
    object.put_raw(OURS, ours(record, runs.keys()));
    Ok(object.finish())
}

fn texts<'a>(runs: &BTreeMap<&'a str, Digest>) -> BTreeMap<&'a str, String> {
    runs.iter().map(|(id, digest)| (*id, digest.to_string())).collect()
}

fn execution(execution: &Execution) -> Result<String, Corruption> {
    let mut pending = Object::default();
    for (id, interrupt) in &execution.pending {
        pending.put_raw(id.as_str(), pending_entry(id.as_str(), interrupt)?);
    }
    let mut object = Object::with(&execution.foreign);
    object.put("executionId", execution.id.as_str());
    object.put("rosInvocationId", execution.invocation_id.as_str());
    object.put("taskId", &execution.task_id.as_ref().map(TaskId::as_str));
    object.put("pipelineSequence", &execution.pipeline_sequence);
    object.put("pipelineOpenSteps", &execution.open_steps);
    object.put(
        "textSnapshotDigests",
        &execution.text_digests.iter().map(Digest::to_string).collect::<Vec<_>>(),
    );
    object.put_raw("pending", pending.finish());
    Ok(object.finish())
}

fn pending_entry(id: &str, interrupt: &PendingInterrupt) -> Result<String, Corruption> {
    let mut entry = Object::with(&interrupt.foreign);
    entry.put("sideband", &interrupt.sideband);
    if let Some(at) = interrupt.expires_at {
        entry.put("expiresAt", &rfc3339(at).ok_or(Corruption::WrongType { field: "expiresAt" })?);
    }
    entry.put_raw("value", identified(id, interrupt.value.get()));
    Ok(entry.finish())
}

/// The value with its `inputId`: the other adapter loads no thread whose input lacks it.
fn identified(id: &str, value: &str) -> String {
    let value = compact(value);
    let named = serde_json::from_str::<BTreeMap<String, &RawValue>>(&value)
        .is_ok_and(|members| members.contains_key("inputId"));
    if named {
        return value;
    }
    let rest = value.strip_prefix('{').unwrap_or("}");
    let comma = if rest == "}" { "" } else { "," };
    format!("{{\"inputId\":{}{comma}{rest}", json(id))
}

fn ours<'a>(record: &ThreadRecord, sorted_runs: impl Iterator<Item = &'a &'a str>) -> String {
    let mut object = Object::with(&record.foreign_ours);
    object.put("revision", &record.revision);
    let mut pending = Object::default();
    for (id, interrupt) in &record.execution.pending {
        let mut entry = Object::default();
        if let Some(at) = interrupt.announced_at {
            entry.put("announcedAt", &at.as_u64());
        }
        if let Some(interrupt) = &interrupt.interrupt {
            entry.put_raw("interrupt", compact(interrupt.get()));
        }
        if !entry.0.is_empty() {
            pending.put_raw(id.as_str(), entry.finish());
        }
    }
    if !pending.0.is_empty() {
        object.put_raw("pending", pending.finish());
    }
    if !record.execution.answered.is_empty() {
        object.put("answered", &record.execution.answered);
    }
    if let Some(position) = &record.execution.position {
        object.put_raw("position", compact(position.get()));
    }
    let order = order(record, sorted_runs);
    if !order.is_sorted() {
        object.put("runOrder", &order);
    }
    object.finish()
}

/// For each run from the oldest on, its place among the sorted ids.
fn order<'a>(record: &ThreadRecord, sorted: impl Iterator<Item = &'a &'a str>) -> Vec<usize> {
    let places: BTreeMap<&str, usize> = sorted.enumerate().map(|(place, id)| (*id, place)).collect();
    let mut order: Vec<usize> =
        record.runs.iter().rev().filter_map(|run| places.get(run.run_id.as_str()).copied()).collect();
    // Of a run id that was recorded twice the newest place counts.
    let mut seen = std::collections::BTreeSet::new();
    order.retain(|place| seen.insert(*place));
    order.reverse();
    order
}

fn rfc3339(at: UnixMillis) -> Option<String> {
    let millis = i64::try_from(at.as_u64()).ok()?;
    // Three digits always: readers before Python 3.11 take three or six, not one or two.
    jiff::Timestamp::from_millisecond(millis).ok().map(|timestamp| format!("{timestamp:.3}"))
}

/// An object under construction: keys sorted, values as compact JSON.
#[derive(Default)]
struct Object(BTreeMap<String, String>);

impl Object {
    fn with(foreign: &Foreign) -> Self {
        Self(foreign.0.iter().map(|(key, value)| (key.clone(), compact(value.get()))).collect())
    }

    fn put<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) {
        self.put_raw(key, json(value));
    }

    fn put_raw(&mut self, key: &str, value: String) {
        self.0.insert(key.to_owned(), value);
    }

    fn finish(&self) -> String {
        let members: Vec<String> =
            self.0.iter().map(|(key, value)| format!("{}:{value}", json(key))).collect();
        format!("{{{}}}", members.join(","))
    }
}

fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// JSON of text, numbers, lists and maps with text keys, none of which can fail; were it to, the empty
/// text makes the document unreadable and [`encode`] refuses it.
fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
