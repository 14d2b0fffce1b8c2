//! Ids of messages: made from the run id, a stem and a counter, so that the same input gives the same ids.

use std::fmt::Write as _;
use std::sync::Arc;

use agui_core::{MessageId, RunId};

/// Longest stem in bytes; a kernel's ids are shorter, and an id is repeated on every delta.
const MAX_STEM_BYTES: usize = 64;

/// Makes ids of the form `<run id>:<stem>:<count>`.
///
/// The run id is unique in the thread and the count in the run, and neither stem nor count holds a colon,
/// so two different runs can't make the same id whatever their run ids look like.
#[derive(Debug)]
pub(super) struct Ids {
    run: Arc<str>,
    count: u64,
}

impl Ids {
    pub(super) fn new(run: &RunId) -> Self {
        Self { run: run.as_str().into(), count: 0 }
    }

    pub(super) fn mint(&mut self, stem: &str) -> MessageId {
        self.count += 1;
        let mut id = String::with_capacity(self.run.len() + stem.len().min(MAX_STEM_BYTES) + 8);
        id.push_str(&self.run);
        id.push(':');
        let stem = &stem[..stem.floor_char_boundary(MAX_STEM_BYTES)];
        id.extend(stem.chars().map(|c| if c == ':' { '_' } else { c }));
        // Writing to a String can't fail.
        let _ = write!(id, ":{}", self.count);
        MessageId::from(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_runs_with_colons_do_not_collide() {
        let mut first = Ids::new(&RunId::from("a:b"));
        let mut second = Ids::new(&RunId::from("a"));
        assert_eq!(first.mint("c"), "a:b:c:1");
        assert_eq!(second.mint("b:c"), "a:b_c:1");
    }

    #[test]
    fn long_stems_are_cut_at_a_character() {
        let mut ids = Ids::new(&RunId::from("r"));
        let id = ids.mint(&"\u{4f60}".repeat(40));
        assert_eq!(id.as_str(), format!("r:{}:1", "\u{4f60}".repeat(21)));
    }
}
