//! JSON Patch within limits: a patch is small, but what it makes need not be.

use std::fmt;
use std::io;

use agui_core::{Json, JsonPointer, MAX_JSON_DEPTH, PatchAction, PatchOp};
use json_patch::jsonptr::PointerBuf;
use json_patch::{
    AddOperation, CopyOperation, MoveOperation, PatchOperation, RemoveOperation, ReplaceOperation,
    TestOperation,
};
use serde_json::Value;

/// Largest state that a patch with `copy` may make, 64 MiB of JSON: a few copies of a state into itself
/// would fill any memory.
///
/// Example: see [`Conversation`](crate::Conversation).
pub const MAX_STATE_BYTES: usize = 64 * 1024 * 1024;

/// Why a patch was not applied.
///
/// Example: see [`Conversation`](crate::Conversation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatchFailure {
    /// A path leads nowhere, or a `test` has failed.
    NotApplicable,
    /// The result would be nested deeper than [`MAX_JSON_DEPTH`].
    TooDeep,
    /// The result would be larger than [`MAX_STATE_BYTES`].
    TooLarge,
    /// The document or a value cannot be held, for example a number beyond every range.
    Unreadable,
    /// The content of an activity would be no object any more.
    NotAnObject,
}

impl fmt::Display for PatchFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotApplicable => "the patch does not fit the document",
            Self::TooDeep => "the patch nests too deeply",
            Self::TooLarge => "the patch makes the document too large",
            Self::Unreadable => "a value of the patch cannot be held",
            Self::NotAnObject => "the patch leaves no object",
        })
    }
}

/// Applies the whole patch, or nothing of it.
pub(super) fn apply(document: &mut Value, patch: &[PatchOp]) -> Result<(), PatchFailure> {
    apply_within(document, patch, MAX_STATE_BYTES)
}

fn apply_within(document: &mut Value, patch: &[PatchOp], max_bytes: usize) -> Result<(), PatchFailure> {
    let operations = patch.iter().map(operation).collect::<Result<Vec<_>, _>>()?;
    let mut room = Room { max_bytes, left: None };
    if operations.iter().any(moves) {
        return apply_to_copy(document, &operations, room);
    }
    // What is neither moved nor copied can be judged beforehand and undone in place: a stream of small patches
    // must not copy the whole state for each.
    for operation in &operations {
        check_growth(document, operation, &mut room)?;
    }
    json_patch::patch(document, &operations).map_err(|_| PatchFailure::NotApplicable)
}

/// Step by step, for what a step takes from elsewhere depends on the steps before it; and a move that fails
/// halfway is not undone by the library.
fn apply_to_copy(
    document: &mut Value,
    operations: &[PatchOperation],
    mut room: Room,
) -> Result<(), PatchFailure> {
    let mut next = document.clone();
    for operation in operations {
        check_growth(&next, operation, &mut room)?;
        json_patch::patch(&mut next, std::slice::from_ref(operation))
            .map_err(|_| PatchFailure::NotApplicable)?;
    }
    *document = next;
    Ok(())
}

const fn moves(operation: &PatchOperation) -> bool {
    matches!(operation, PatchOperation::Move(_) | PatchOperation::Copy(_))
}

fn operation(op: &PatchOp) -> Result<PatchOperation, PatchFailure> {
    let path = pointer(&op.path)?;
    Ok(match &op.action {
        PatchAction::Add { value } => PatchOperation::Add(AddOperation { path, value: held(value)? }),
        PatchAction::Replace { value } => {
            PatchOperation::Replace(ReplaceOperation { path, value: held(value)? })
        }
        PatchAction::Test { value } => PatchOperation::Test(TestOperation { path, value: held(value)? }),
        PatchAction::Remove => PatchOperation::Remove(RemoveOperation { path }),
        PatchAction::Move { from } => PatchOperation::Move(MoveOperation { from: pointer(from)?, path }),
        PatchAction::Copy { from } => PatchOperation::Copy(CopyOperation { from: pointer(from)?, path }),
        _ => return Err(PatchFailure::NotApplicable),
    })
}

fn pointer(pointer: &JsonPointer) -> Result<PointerBuf, PatchFailure> {
    PointerBuf::parse(pointer.as_str().to_owned()).map_err(|_| PatchFailure::NotApplicable)
}

fn held(value: &Json) -> Result<Value, PatchFailure> {
    value.parse().map_err(|_| PatchFailure::Unreadable)
}

/// What copies may still add; measured when the first copy comes, for most patches have none.
struct Room {
    max_bytes: usize,
    left: Option<usize>,
}

/// Refuses what would nest too deeply, and counts what copies add.
fn check_growth(document: &Value, operation: &PatchOperation, room: &mut Room) -> Result<(), PatchFailure> {
    let (path, value) = match operation {
        PatchOperation::Add(add) => (&add.path, Some(&add.value)),
        PatchOperation::Replace(replace) => (&replace.path, Some(&replace.value)),
        PatchOperation::Move(from) => (&from.path, document.pointer(from.from.as_str())),
        PatchOperation::Copy(from) => (&from.path, document.pointer(from.from.as_str())),
        PatchOperation::Remove(_) | PatchOperation::Test(_) => return Ok(()),
    };
    let Some(value) = value else { return Ok(()) };
    if path.count() + depth(value) > MAX_JSON_DEPTH {
        return Err(PatchFailure::TooDeep);
    }
    if matches!(operation, PatchOperation::Copy(_)) {
        let left = room.left.unwrap_or_else(|| room.max_bytes.saturating_sub(size(document)));
        room.left = Some(left.checked_sub(size(value)).ok_or(PatchFailure::TooLarge)?);
    }
    Ok(())
}

/// How deeply a value nests; no value here is deeper than the limit, so recursion is bounded.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn size(value: &Value) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting does not fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(document: &Value, patch: &Value) -> Result<Value, PatchFailure> {
        let patch: Vec<PatchOp> = serde_json::from_value(patch.clone()).unwrap();
        let mut next = document.clone();
        let applied = apply(&mut next, &patch);
        assert!(applied.is_ok() || next == *document, "a patch that fails leaves nothing behind: {patch:?}");
        applied.map(|()| next)
    }

    #[test]
    fn a_patch_is_applied_whole_or_not_at_all() {
        let document = json!({"a": [1, 2], "b": {"c": 1}});
        let cases = [
            (json!([]), Ok(document.clone())),
            (
                json!([{"op": "add", "path": "/a/-", "value": null}]),
                Ok(json!({"a": [1, 2, null], "b": {"c": 1}})),
            ),
            (json!([{"op": "replace", "path": "", "value": 7}]), Ok(json!(7))),
            (json!([{"op": "move", "from": "/b/c", "path": "/a/0"}]), Ok(json!({"a": [1, 1, 2], "b": {}}))),
            (
                json!([{"op": "copy", "from": "/b", "path": "/b/d"}]),
                Ok(json!({"a": [1, 2], "b": {"c": 1, "d": {"c": 1}}})),
            ),
            (
                json!([{"op": "test", "path": "/b/c", "value": 1}, {"op": "remove", "path": "/b"}]),
                Ok(json!({"a": [1, 2]})),
            ),
            (
                json!([{"op": "remove", "path": "/b"}, {"op": "test", "path": "/a/0", "value": 9}]),
                Err(PatchFailure::NotApplicable),
            ),
            // Undone in place, one after the other.
            (
                json!([{"op": "add", "path": "/a/-", "value": 3}, {"op": "add", "path": "/b/c", "value": 2},
                    {"op": "add", "path": "/b/d", "value": 3}, {"op": "remove", "path": "/a/0"},
                    {"op": "replace", "path": "", "value": []}, {"op": "add", "path": "", "value": {"x": 1}},
                    {"op": "remove", "path": "/y"}]),
                Err(PatchFailure::NotApplicable),
            ),
            (json!([{"op": "move", "from": "/b", "path": "/a/9"}]), Err(PatchFailure::NotApplicable)),
            (json!([{"op": "replace", "path": "/x", "value": 1}]), Err(PatchFailure::NotApplicable)),
            (json!([{"op": "add", "path": "/x/y", "value": 1}]), Err(PatchFailure::NotApplicable)),
            (json!([{"op": "remove", "path": "/a/2"}]), Err(PatchFailure::NotApplicable)),
        ];
        for (patch, expected) in cases {
            assert_eq!(patched(&document, &patch), expected, "{patch}");
        }
    }

    #[test]
    fn copies_cannot_fill_the_memory() {
        let copy = PatchOp::new(
            JsonPointer::new("/0/-").unwrap(),
            PatchAction::Copy { from: JsonPointer::new("/0").unwrap() },
        );
        let document = json!([["0123456789"]]);
        for (copies, expected) in [(2, Ok(())), (60, Err(PatchFailure::TooLarge))] {
            let mut next = document.clone();
            let patch = vec![copy.clone(); copies];
            assert_eq!(apply_within(&mut next, &patch, 100), expected, "{copies}");
            assert!(size(&next) <= 100);
        }
    }

    #[test]
    fn patches_cannot_nest_without_end() {
        let path = "/a".repeat(100);
        let deep = (0..100).fold(json!(0), |inner, _| json!({ "a": inner }));
        let patch = json!([{"op": "replace", "path": path, "value": deep}]);
        assert_eq!(patched(&deep, &patch), Err(PatchFailure::TooDeep));
        let patch = json!([{"op": "copy", "from": "", "path": "/a/a/a".repeat(10)}]);
        assert_eq!(patched(&deep, &patch), Err(PatchFailure::TooDeep));
    }
}
