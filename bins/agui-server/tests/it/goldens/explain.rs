//! Which documented kind explains a change.

use std::collections::BTreeSet;

use serde_json::Value;

use super::canon::Side;
use super::changes::{self, Change};
use super::differences::Note;

/// Two answers to one request, and what is left to explain.
pub(super) struct Case<'a> {
    pub(super) trace: &'a str,
    pub(super) recorded: &'a Side,
    pub(super) ours: &'a Side,
    pub(super) changes: Vec<Change>,
    pub(super) notes: BTreeSet<Note>,
}

/// A recorded item and the one of ours that stands for it.
type Pair = (Note, fn(&Case<'_>, &Change, &Change) -> bool);
/// An item that stands for itself.
type Single = (Note, fn(&Case<'_>, &Change) -> bool);

const PAIRS: &[Pair] = &[
    (Note::ErrorTexts, |_, recorded, ours| {
        let texts = ["/message", "/body/error/message"];
        !recorded.code().is_empty() && recorded.without(&texts) == ours.without(&texts)
    }),
    (Note::AlreadyApplied, |_, recorded, ours| {
        recorded.code() == "EXECUTION_LOST" && ours.code() == "RESUME_ALREADY_APPLIED"
    }),
    (Note::LostSessions, |case, recorded, ours| {
        case.trace == "n5_a2a_state_lost"
            && recorded.code() == "A2A_UNAVAILABLE"
            && ours.code() == "EXECUTION_LOST"
    }),
    (Note::ErrorDocuments, |_, recorded, ours| {
        recorded.is("HTTP") && recorded.item.value["body"].is_string() && !ours.code().is_empty()
    }),
    (Note::ServerIdentity, |_, recorded, ours| {
        let versions = ["/body/protocolPackageVersion", "/body/serverVersion"];
        recorded.text("/body/protocol") == "ag-ui" && recorded.without(&versions) == ours.without(&versions)
    }),
    (Note::StatusTexts, |_, recorded, ours| {
        let shown = recorded.text("/delta").strip_prefix(ours.text("/delta"));
        recorded.is("TEXT_MESSAGE_CONTENT") && shown.is_some_and(is_status_text)
    }),
    (Note::ToolParents, |_, recorded, ours| {
        recorded.is("TOOL_CALL_START") && recorded.without(&["/hasParent"]) == ours.without(&["/hasParent"])
    }),
    (Note::DisconnectCancels, |case, recorded, ours| {
        let statuses = (recorded.text("/body/status"), ours.text("/body/status"));
        case.trace == "j_disconnect" && statuses == ("cancelled", "already_terminal")
    }),
    (Note::BeyondTheRecord, |case, recorded, ours| {
        case.trace == "o14_pipeline_disconnect" && recorded.is("RUN_ERROR") && ours.is("RUN_ERROR")
    }),
    (Note::AppliedAtOnce, |case, recorded, ours| {
        let (theirs, mine) = (interrupts(recorded), interrupts(ours));
        case.trace == "o2_pipeline_two" && mine.len() == 1 && theirs.len() == 2 && theirs.contains(&mine[0])
    }),
];

const SINGLE: &[Single] = &[
    (Note::SessionFirst, |case, change| {
        // A snapshot and a session that changed places, or a session of a run that only asks.
        (change.moved && (is_session(change) || change.is("ACTIVITY_SNAPSHOT")))
            || (is_session(change) && change.added && case.asks())
    }),
    (Note::NoIdsNoSession, |_, change| {
        is_session(change) && !change.added && change.item.value["value"]["taskId"].is_null()
    }),
    (Note::ClosedBeforeErrors, |case, change| {
        change.is("STEP_FINISHED") && change.added && !change.moved && case.is_error()
    }),
    (Note::RefusedBeforeSteps, |case, change| {
        let refused = case.ours.items.len() == 2 && case.is_error();
        change.is("STEP_STARTED") && !change.added && refused
    }),
    (Note::StatusTexts, |case, change| {
        change.is("TEXT_MESSAGE_CONTENT")
            && !change.added
            && case.is_error()
            && is_status_text(change.text("/delta"))
    }),
    (Note::Snapshots, |case, change| {
        let known = case.ours.items.iter().filter(|item| **item == change.item).count();
        change.is("ACTIVITY_SNAPSHOT") && (!change.added || known > 1)
    }),
    (Note::CaughtUpInPlace, |_, change| change.is("TOOL_CALL_RESULT") && change.moved),
    (Note::StepFailures, |case, change| change.is("STEP_FINISHED") && change.moved && case.is_error()),
    (Note::ClosingOrder, |case, change| change.is("STEP_FINISHED") && change.moved && !case.is_error()),
];

/// Takes the changes away that a documented kind explains, and notes the kind.
pub(super) fn explain(case: &mut Case<'_>) {
    case.refused_first();
    case.taken_again();
    for (note, stands_for) in PAIRS {
        while let Some((recorded, ours)) =
            changes::pair(&case.changes, |theirs, mine| stands_for(case, theirs, mine))
        {
            case.changes.remove(recorded.max(ours));
            case.changes.remove(recorded.min(ours));
            case.notes.insert(*note);
        }
    }
    for (note, fits) in SINGLE {
        let changes = std::mem::take(&mut case.changes);
        let (explained, left): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| fits(case, change));
        case.changes = left;
        if !explained.is_empty() {
            case.notes.insert(*note);
        }
    }
}

impl Case<'_> {
    /// A request that is refused as a whole has no stream.
    fn refused_first(&mut self) {
        let ([ours], Some(end)) = (&*self.ours.items, self.recorded.items.last()) else { return };
        if ours.value.pointer("/body/error/code").is_none_or(|code| code != "INVALID_INPUT") {
            return;
        }
        match end.kind.as_str() {
            "RUN_ERROR" => self.notes.insert(Note::CheckedFirst),
            "RUN_FINISHED" if self.trace == "l_images" => self.notes.insert(Note::ImageBytes),
            _ => return,
        };
        self.changes.clear();
    }

    /// A thread that was stuck takes a message; the recording does not say what the kernel makes of it.
    fn taken_again(&mut self) {
        let ([recorded], [first, ..]) = (&*self.recorded.items, &*self.ours.items) else { return };
        let stuck = recorded.value.pointer("/body/error/code").is_some_and(|code| code == "RESUME_REQUIRED");
        if self.trace == "n5_a2a_state_lost" && stuck && first.kind == "RUN_STARTED" {
            self.notes.insert(Note::LostSessions);
            self.changes.clear();
        }
    }

    /// Whether our run ended in a question.
    fn asks(&self) -> bool {
        let outcome = self.ours.items.last().and_then(|last| last.value.pointer("/outcome/type"));
        outcome.is_some_and(|outcome| outcome == "interrupt")
    }

    /// Whether our run ended in an error.
    fn is_error(&self) -> bool {
        self.ours.items.last().is_some_and(|last| last.kind == "RUN_ERROR")
    }
}

fn interrupts(change: &Change) -> Vec<Value> {
    let interrupts = change.item.value.pointer("/outcome/interrupts").and_then(Value::as_array);
    interrupts.cloned().unwrap_or_default()
}

fn is_session(change: &Change) -> bool {
    change.is("CUSTOM") && change.text("/name") == "iac-code.session.v1"
}

/// What the kernel says of a task that failed or was cancelled.
fn is_status_text(text: &str) -> bool {
    let beginnings = ["BadRequestError: ", "RetryableError: ", "Task canceled.", "Task is already working."];
    beginnings.iter().any(|beginning| text.starts_with(beginning))
}
