//! Ids of messages: made from the run id, a stem and a counter, so that the same input gives the same ids.

use std::fmt::Write as _;
use std::sync::Arc;

use agui_core::{MessageId, RunId};

/// Longest stem in bytes; a kernel's ids are shorter, and an id is repeated on every delta.
const MAX_STEM_BYTES: usize = 64;

/// Makes ids of the form `<run id>:<stem>:<count>`.
///
/// The kernel's message ids begin with the id of the task, which is left out.
/// The run id is unique in the thread and the count in the run, and neither stem nor count holds a colon,
/// so two different runs can't make the same id whatever their run ids look like.
#[derive(Debug)]
pub(super) struct Ids {
    run: Arc<str>,
    task: Box<str>,
    count: u64,
}

impl Ids {
    pub(super) fn new(run: &RunId) -> Self {
        Self { run: run.as_str().into(), task: Box::default(), count: 0 }
    }

    pub(super) fn set_task(&mut self, task: &str) {
        self.task = task.into();
    }

    pub(super) fn mint(&mut self, stem: &str) -> MessageId {
        self.count += 1;
        let stem = self.without_task(stem);
        let mut id = String::with_capacity(self.run.len() + stem.len().min(MAX_STEM_BYTES) + 8);
        id.push_str(&self.run);
        id.push(':');
        let end = (0..=stem.len().min(MAX_STEM_BYTES)).rev().find(|end| stem.is_char_boundary(*end));
        id.extend(stem[..end.unwrap_or(0)].chars().map(|c| if c == ':' { '_' } else { c }));
        // Writing to a String can't fail.
        let _ = write!(id, ":{}", self.count);
        MessageId::from(id)
    }

    fn without_task<'s>(&self, stem: &'s str) -> &'s str {
        let rest = stem.strip_prefix(&*self.task).and_then(|rest| rest.strip_prefix('-'));
        rest.filter(|rest| !rest.is_empty()).unwrap_or(stem)
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
    fn the_id_of_the_task_is_left_out() {
        let mut ids = Ids::new(&RunId::from("r"));
        ids.set_task("T1");
        let minted = ["T1-message", "T1-", "T1", "T12-x"].map(|stem| ids.mint(stem).to_string());
        assert_eq!(minted, ["r:message:1", "r:T1-:2", "r:T1:3", "r:T12-x:4"]);
    }

    #[test]
    fn long_stems_are_cut_at_a_character() {
        let mut ids = Ids::new(&RunId::from("r"));
        let id = ids.mint(&"\u{4f60}".repeat(40));
        assert_eq!(id.as_str(), format!("r:{}:1", "\u{4f60}".repeat(21)));
    }
}
