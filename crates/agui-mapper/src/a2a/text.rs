//! The text of the normal turn: deltas, whole texts that repeat them, and what a Task repeats.

use super::digest;
use super::replay::{Filtered, Replay};
use super::shown::{Missing, Shown};
use super::snapshot;
use super::source::Source;
use crate::config::Dialect;
use crate::position::{ResumePoint, ShownText};
use crate::spans::{LaneId, Spans};

mod artifacts;
mod lanes;

use lanes::Lanes;

/// What a text of a Task is that can't be aligned with what was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unaligned {
    /// It was shown: the Task is as an earlier run has left it.
    Shown,
    New,
}

/// Decides which text is new, and shows it: that of messages in the lane of the normal turn, that of artifacts
/// beside it.
#[derive(Debug)]
pub(crate) struct TextFlow {
    shown: Shown,
    replay: Replay,
    /// Whether the kernel has said anything live in this run.
    live: bool,
    lanes: Lanes,
    /// Messages that asked something in this run: they are shown as questions.
    questions: Vec<ShownText>,
    dialect: Dialect,
}

impl TextFlow {
    pub(crate) fn new(dialect: Dialect, resume: Option<&ResumePoint>) -> Self {
        let replay = resume.map_or_else(Replay::default, |position| {
            Replay::new(position.texts.clone(), position.text_snapshot_digests.clone())
        });
        let (shown, lanes) = (Shown::default(), Lanes::default());
        Self { shown, replay, live: false, lanes, questions: Vec::new(), dialect }
    }

    /// The kernel works: a Task that comes from now on is compared with what this run has shown.
    pub(crate) const fn set_live(&mut self) {
        self.live = true;
    }

    /// Shows a piece of a message.
    pub(crate) fn delta(&mut self, spans: &mut Spans, kernel: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        self.live = true;
        if self.replay.held_message().is_some_and(|held| held != kernel) {
            self.release(spans);
        }
        // Only a kernel sends again what it has said before a question.
        let filtered = match self.dialect {
            Dialect::IacCode => self.replay.filter(kernel, text),
            Dialect::Plain => Filtered::Show(text),
        };
        match filtered {
            Filtered::Show(text) => self.show(spans, kernel, text),
            Filtered::Nothing => {}
            Filtered::ShowHeld(pieces) => pieces.iter().for_each(|piece| self.show(spans, kernel, piece)),
        }
    }

    /// Shows what is missing of a text that comes in one piece, possibly after its deltas.
    pub(crate) fn whole(&mut self, spans: &mut Spans, kernel: &str, text: &str) {
        self.live = true;
        self.release(spans);
        if text.trim().is_empty() {
            return;
        }
        match self.missing(text) {
            // Nobody knows; of the kernel, a whole text is a repetition more often than not.
            Missing::Nothing if self.shown.is_forgotten() && self.dialect == Dialect::Plain => {
                self.show(spans, kernel, text);
            }
            Missing::Nothing => {}
            Missing::Rest(rest) => {
                let last = self.shown.last().filter(|last| last.version.is_none());
                let message = last.map_or(kernel, |last| last.id).to_owned();
                self.show(spans, &message, rest);
            }
            // A kernel that recognises a repeated answer may repeat its old final text with it.
            Missing::All if self.shown.is_empty() && self.is_known(text) => {}
            // The beginning of the turn was shown by an earlier run.
            Missing::All if self.continues_an_earlier_run(text) => {}
            Missing::All => self.show(spans, kernel, text),
        }
    }

    /// What an unaligned text is in a Task of the kernel: one that comes in a resumed run before anything live
    /// describes the turn as it was left.
    pub(crate) fn unaligned(&self) -> Unaligned {
        if self.replay.knows_anything() && !self.live { Unaligned::Shown } else { Unaligned::New }
    }

    /// Whether anything was shown of a message, by this run or earlier ones.
    pub(crate) fn knows(&self, kernel: &str) -> bool {
        let source = Source::message(kernel);
        self.replay.prior_of(source).next().is_some() || self.shown.has(source)
    }

    /// Shows what is missing of a message whose deltas a Task repeats.
    pub(crate) fn snapshot(
        &mut self,
        spans: &mut Spans,
        kernel: &str,
        entries: &[&str],
        unaligned: Unaligned,
    ) {
        self.release(spans);
        let text = entries.concat();
        let source = Source::message(kernel);
        let prior: Vec<&ShownText> = self.replay.prior_of(source).collect();
        let shown = self.shown.of(source);
        let known = !prior.is_empty() || !shown.is_empty();
        let first = if known { snapshot::first_unseen(&prior, &shown, entries) } else { None };
        if let Some(rest) = first.and_then(|at| text.get(at..)) {
            let rest = rest.to_owned();
            if !rest.is_empty() {
                self.replay.settle(kernel);
                self.show(spans, kernel, &rest);
            }
            return;
        }
        if unaligned == Unaligned::Shown {
            if !known && self.dialect == Dialect::Plain {
                self.replay.assume(digest::shown(kernel, &text));
            }
            return;
        }
        if self.is_known(&text) {
            return;
        }
        self.replay.settle(kernel);
        match (self.missing(&text), self.dialect) {
            // Nobody knows what was shown of it, if anything was.
            (Missing::Nothing, Dialect::Plain) if self.shown.is_forgotten() && !self.shown.has(source) => {
                self.show(spans, kernel, &text);
            }
            (Missing::Nothing, _) => {}
            (Missing::Rest(rest), Dialect::IacCode) => self.show(spans, kernel, rest),
            // It has a name of its own, so it is no more of what was shown.
            (Missing::Rest(_), Dialect::Plain) | (Missing::All, _) => self.show(spans, kernel, &text),
        }
    }

    /// Notes a message that asks: if the task goes on by itself, later runs find it among its words.
    pub(crate) fn note_question(&mut self, kernel: &str, text: &str) {
        let question = digest::shown(kernel, text);
        let last = self.replay.prior_of(Source::message(kernel)).last();
        let is_known = last == Some(&question) || self.questions.contains(&question);
        if !is_known && self.questions.len() < ResumePoint::MAX_ENTRIES {
            self.questions.push(question);
        }
    }

    /// Something other than text follows: what was held back goes out before it.
    pub(crate) fn release(&mut self, spans: &mut Spans) {
        if let Some((kernel, pieces)) = self.replay.release() {
            pieces.iter().for_each(|piece| self.show(spans, &kernel, piece));
        }
    }

    /// A tool call follows: the text after it is another piece of the answer.
    pub(crate) fn end_segment(&mut self, spans: &mut Spans) {
        self.release(spans);
        self.shown.break_segment();
    }

    /// Whether a message with this id is the one that text was last shown of.
    pub(crate) fn is_open(&self, kernel: &str) -> bool {
        self.shown.last() == Some(Source::message(kernel))
    }

    /// Whether a text is all that was shown of a message in this run.
    pub(crate) fn is_all_of(&self, kernel: &str, text: &str) -> bool {
        self.shown.of(Source::message(kernel)).trim() == text.trim()
    }

    /// Whether this run has shown any text, or text that contains `text` at its end.
    pub(crate) fn has_shown(&self, text: &str) -> bool {
        if text.is_empty() { !self.shown.is_empty() } else { self.shown.missing(text) == Missing::Nothing }
    }

    /// Writes what was shown by the execution so far, as digests.
    pub(crate) fn save(&self, position: &mut ResumePoint) {
        let mine = self.lanes.digests().chain(self.shown.digests()).chain(self.questions.iter().cloned());
        position.texts = self.replay.prior().iter().cloned().chain(mine).collect();
        let digests = position.texts.iter().map(|entry| entry.digest.clone());
        position.text_snapshot_digests = self.replay.legacy().iter().cloned().chain(digests).collect();
        keep_latest(&mut position.text_snapshot_digests);
        keep_latest(&mut position.texts);
    }

    /// What a whole text adds to what was shown. The kernel repeats the end of what it has said.
    fn missing<'t>(&self, text: &'t str) -> Missing<'t> {
        match self.dialect {
            Dialect::IacCode => self.shown.missing(text),
            Dialect::Plain => self.shown.missing_of_messages(text),
        }
    }

    fn continues_an_earlier_run(&self, text: &str) -> bool {
        let shown = self.shown.as_str().trim();
        let Some(beginning) = text.trim().strip_suffix(shown).filter(|_| !shown.is_empty()) else {
            return false;
        };
        match self.dialect {
            Dialect::IacCode => self.replay.knows_anything(),
            // A new answer may end like the words before it.
            Dialect::Plain => self.replay.is_end_of(beginning),
        }
    }

    /// Whether an earlier run has shown this very text; with other agents than the kernel, two messages may
    /// well say the same.
    fn is_known(&self, text: &str) -> bool {
        if self.dialect == Dialect::Plain || !self.replay.knows_anything() {
            return false;
        }
        let digest = digest::whole(text.as_bytes());
        self.replay.legacy().contains(&digest)
            || self.replay.prior().iter().any(|entry| entry.digest == digest)
    }

    fn show(&mut self, spans: &mut Spans, kernel: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        self.shown.record(Source::message(kernel), text);
        spans.text(LaneId::MAIN, kernel, text);
    }
}

fn keep_latest<T>(entries: &mut Vec<T>) {
    let surplus = entries.len().saturating_sub(ResumePoint::MAX_ENTRIES);
    entries.drain(..surplus);
}
