use std::mem;

use crate::Note;

/// Most notes that are kept until they are taken; more are counted. An agent can make one with a few bytes,
/// and who has no use for notes need not take them.
pub(crate) const MAX_NOTES: usize = 256;

/// What was noted since somebody asked.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    kept: Vec<Note>,
    more: u64,
}

impl Notes {
    /// Where to append the notes of one record; [`cut`](Self::cut) follows.
    pub(crate) const fn open(&mut self) -> &mut Vec<Note> {
        &mut self.kept
    }

    /// Keeps as many as may be kept.
    pub(crate) fn cut(&mut self) {
        if let Some(excess) = self.kept.len().checked_sub(MAX_NOTES) {
            self.kept.truncate(MAX_NOTES);
            self.more = self.more.saturating_add(excess as u64);
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Note> {
        let mut notes = mem::take(&mut self.kept);
        let count = mem::take(&mut self.more);
        if count > 0 {
            notes.push(Note::More { count });
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_takes_is_counted() {
        let note = || Note::UnknownEvent { event_type: "X".into() };
        let mut notes = Notes::default();
        for _ in 0..MAX_NOTES + 3 {
            notes.open().push(note());
            notes.cut();
        }
        let taken = notes.take();
        assert_eq!((taken.len(), taken.last()), (MAX_NOTES + 1, Some(&Note::More { count: 3 })));
        assert_eq!(notes.take(), []);
        notes.open().push(note());
        notes.cut();
        assert_eq!(notes.take(), [note()]);
    }
}
