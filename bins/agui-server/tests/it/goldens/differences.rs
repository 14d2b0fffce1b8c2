//! Where this server's answers differ from the recorded ones, and why they may.

use std::collections::BTreeSet;

use serde_json::Value;

use super::canon::{Item, Side};

/// A kind of difference that is documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Note {
    ProtocolVersion,
    ExpiresAt,
    MessageSpans,
    ArgumentOrder,
    RunErrorIds,
    Defaults,
    FailedTool,
    ArtifactChunks,
    Usage,
    Texts,
    CheckedFirst,
    AlreadyApplied,
    SessionPlace,
    ClosedBeforeError,
    StatusText,
    Health,
    Snapshots,
    RefusedBeforeSteps,
}

/// What one side has and the other has not.
#[derive(Debug)]
pub(super) struct Change {
    /// Whether ours has it.
    pub(super) added: bool,
    /// Whether the other side has it elsewhere.
    pub(super) moved: bool,
    pub(super) item: Item,
}

/// The documented differences between two answers, and the changes that none of them explains.
pub(super) fn compare(trace: &str, recorded: &Side, ours: &Side) -> (BTreeSet<Note>, Vec<Change>) {
    let mut notes = BTreeSet::new();
    for note in recorded.notes.iter().chain(&ours.notes) {
        if recorded.notes.contains(note) != ours.notes.contains(note) {
            notes.insert(*note);
        }
    }
    if recorded.spans != ours.spans {
        notes.insert(Note::MessageSpans);
    }
    if recorded.arguments != ours.arguments {
        notes.insert(Note::ArgumentOrder);
    }
    let mut changes = changes(&recorded.items, &ours.items);
    explain(trace, &mut changes, &mut notes);
    (notes, changes)
}

fn explain(_trace: &str, changes: &mut Vec<Change>, notes: &mut BTreeSet<Note>) {
    let code = |change: &Change| {
        let value = &change.item.value;
        let code = value.get("code").or_else(|| value.pointer("/body/error/code"));
        code.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let is = |change: &Change, added: bool, kind: &str| change.added == added && change.item.kind == kind;
    // The same refusal in other words.
    let plain = |change: &Change| {
        let mut value = change.item.value.clone();
        for place in ["/message", "/body/error/message"] {
            if let Some(message) = value.pointer_mut(place) {
                *message = Value::Null;
            }
        }
        (change.item.kind.clone(), value)
    };
    while let Some((one, other)) = pair(changes, |one, other| {
        !one.added && other.added && matches!(one.item.kind.as_str(), "HTTP" | "RUN_ERROR") && plain(one) == plain(other)
    }) {
        changes.remove(one.max(other));
        changes.remove(one.min(other));
        notes.insert(Note::Texts);
    }
    if changes.iter().any(|change| is(change, true, "HTTP") && code(change) == "INVALID_INPUT")
        && changes.iter().any(|change| is(change, false, "RUN_ERROR"))
    {
        changes.clear();
        notes.insert(Note::CheckedFirst);
    }
    if changes.iter().any(|change| is(change, true, "RUN_ERROR") && code(change) == "RESUME_ALREADY_APPLIED")
        && changes.iter().any(|change| is(change, false, "RUN_ERROR") && code(change) == "EXECUTION_LOST")
    {
        changes.retain(|change| change.item.kind != "RUN_ERROR");
        notes.insert(Note::AlreadyApplied);
    }
    let mut claim = |note: Note, claims: &dyn Fn(&Change) -> bool| {
        let before = changes.len();
        changes.retain(|change| !claims(change));
        if changes.len() < before {
            notes.insert(note);
        }
    };
    claim(Note::SessionPlace, &|change| change.moved && change.item.value["name"] == "iac-code.session.v1");
    claim(Note::Snapshots, &|change| change.item.kind == "ACTIVITY_SNAPSHOT");
    claim(Note::Health, &|change| change.item.value.pointer("/body/executionKernel").is_some());
}

fn pair(changes: &[Change], mut fits: impl FnMut(&Change, &Change) -> bool) -> Option<(usize, usize)> {
    (0..changes.len()).find_map(|one| {
        (0..changes.len()).find(|other| fits(&changes[one], &changes[*other])).map(|other| (one, other))
    })
}

/// The shortest way from one list to the other.
fn changes(recorded: &[Item], ours: &[Item]) -> Vec<Change> {
    let (rows, columns) = (recorded.len(), ours.len());
    let mut common = vec![vec![0_usize; columns + 1]; rows + 1];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            common[row][column] = if recorded[row] == ours[column] {
                common[row + 1][column + 1] + 1
            } else {
                common[row + 1][column].max(common[row][column + 1])
            };
        }
    }
    let (mut row, mut column, mut changes) = (0, 0, Vec::new());
    while row < rows || column < columns {
        if row < rows && column < columns && recorded[row] == ours[column] {
            (row, column) = (row + 1, column + 1);
            continue;
        }
        let added = row == rows || (column < columns && common[row][column + 1] > common[row + 1][column]);
        let item = if added { ours[column].clone() } else { recorded[row].clone() };
        if added { column += 1 } else { row += 1 }
        changes.push(Change { added, moved: false, item });
    }
    for at in 0..changes.len() {
        let here = &changes[at];
        let moved = changes.iter().any(|other| other.added != here.added && other.item == here.item);
        changes[at].moved = moved;
    }
    changes
}
