//! What one answer has and another has not.

use std::fmt;

use serde_json::Value;

use super::canon::Item;

/// An item that only one of the two has, at that place.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// Whether ours has it.
    pub(super) added: bool,
    /// Whether the other side has it at another place.
    pub(super) moved: bool,
    pub(super) item: Item,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.moved { " (elsewhere)" } else { "" };
        write!(f, "{} {}{place}", if self.added { "ours    " } else { "recorded" }, self.item)
    }
}

impl Change {
    pub(super) fn is(&self, kind: &str) -> bool {
        self.item.kind == kind
    }

    /// The code of an error, in whichever way it was told.
    pub(super) fn code(&self) -> &str {
        match self.item.kind.as_str() {
            "RUN_ERROR" => self.text("/code"),
            "HTTP" => self.text("/body/error/code"),
            _ => "",
        }
    }

    pub(super) fn text(&self, pointer: &str) -> &str {
        self.item.value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// The item with nothing in some places.
    pub(super) fn without(&self, pointers: &[&str]) -> Item {
        let mut item = self.item.clone();
        for pointer in pointers {
            if let Some(value) = item.value.pointer_mut(pointer) {
                *value = Value::Null;
            }
        }
        item
    }
}

/// The shortest way from one list to the other.
pub(super) fn between(recorded: &[Item], ours: &[Item]) -> Vec<Change> {
    let common = common(recorded, ours);
    let (mut row, mut column, mut changes) = (0, 0, Vec::new());
    loop {
        let (theirs, mine) = (recorded.get(row), ours.get(column));
        let (added, item) = match (theirs, mine) {
            (None, None) => break,
            (Some(theirs), Some(mine)) if theirs == mine => {
                (row, column) = (row + 1, column + 1);
                continue;
            }
            (Some(theirs), Some(_)) if common[row][column + 1] <= common[row + 1][column] => (false, theirs),
            (_, Some(mine)) => (true, mine),
            (Some(theirs), None) => (false, theirs),
        };
        if added {
            column += 1;
        } else {
            row += 1;
        }
        changes.push(Change { added, moved: false, item: item.clone() });
    }
    let all = changes.clone();
    for change in &mut changes {
        change.moved = all.iter().any(|other| other.added != change.added && other.item == change.item);
    }
    changes
}

/// How many items the rest of one list has in common with the rest of the other, in order.
fn common(recorded: &[Item], ours: &[Item]) -> Vec<Vec<usize>> {
    let mut common = vec![vec![0; ours.len() + 1]; recorded.len() + 1];
    for (row, theirs) in recorded.iter().enumerate().rev() {
        for (column, mine) in ours.iter().enumerate().rev() {
            common[row][column] = match theirs == mine {
                true => common[row + 1][column + 1] + 1,
                false => common[row + 1][column].max(common[row][column + 1]),
            };
        }
    }
    common
}

/// The first recorded change and the one of ours that stands for it.
pub(super) fn pair(
    changes: &[Change],
    stands_for: impl Fn(&Change, &Change) -> bool,
) -> Option<(usize, usize)> {
    let (ours, recorded): (Vec<_>, Vec<_>) = changes.iter().enumerate().partition(|(_, change)| change.added);
    recorded.iter().find_map(|(at, change)| {
        let partner = ours.iter().find(|(_, other)| stands_for(change, other));
        partner.map(|(other, _)| (*at, *other))
    })
}
