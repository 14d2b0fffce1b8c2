//! The text of the normal turn: deltas, whole texts that repeat them, and what a Task repeats.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::digest;
use super::replay::{Filtered, Replay};
use super::shown::{Missing, Shown};
use super::snapshot;
use crate::config::Dialect;
use crate::position::{ResumePoint, ShownText};
use crate::spans::{LaneId, Spans};

/// Decides which text is new, and shows it in the lane of the normal turn.
#[derive(Debug)]
pub(crate) struct TextFlow {
    shown: Shown,
    replay: Replay,
    /// Whether the kernel has said anything live in this run.
    live: bool,
    /// The messages that have a lane of their own.
    own: HashMap<Box<str>, Own>,
    dialect: Dialect,
}

/// A message with a lane of its own, and what was shown of it: its text can be too long to be remembered.
#[derive(Debug)]
struct Own {
    lane: LaneId,
    bytes: usize,
    digest: Sha256,
}

impl Own {
    /// What comes after the part that was shown, if `text` begins with that.
    fn rest<'t>(&self, text: &'t str) -> Option<&'t str> {
        let (head, rest) = text.split_at_checked(self.bytes)?;
        (self.bytes == 0 || Sha256::digest(head) == self.digest.clone().finalize()).then_some(rest)
    }

    fn add(&mut self, text: &str) {
        self.bytes += text.len();
        self.digest.update(text);
    }
}

impl TextFlow {
    pub(crate) fn new(dialect: Dialect, resume: Option<&ResumePoint>) -> Self {
        let replay = resume.map_or_else(Replay::default, |position| {
            Replay::new(position.texts.clone(), position.text_snapshot_digests.clone())
        });
        Self { shown: Shown::default(), replay, live: false, own: HashMap::new(), dialect }
    }

    /// Gives a message a lane of its own: it stays open while others are written.
    pub(crate) fn give_lane(&mut self, spans: &mut Spans, kernel: &str) {
        if !self.own.contains_key(kernel) {
            let own = Own { lane: spans.add_lane(), bytes: 0, digest: Sha256::new() };
            self.own.insert(kernel.into(), own);
        }
    }

    /// Hands the lane of a message over to the one that follows it.
    pub(crate) fn move_lane(&mut self, from: &str, to: &str) {
        if let Some(own) = self.own.remove(from) {
            self.own.insert(to.into(), Own { lane: own.lane, bytes: 0, digest: Sha256::new() });
        }
    }

    /// Notes that an earlier run has shown all of a message whose text is not remembered.
    pub(crate) fn assume_shown(&mut self, kernel: &str, text: &str) {
        if let Some(own) = self.own.get_mut(kernel) {
            own.add(text);
        }
    }

    /// Whether earlier runs have left anything to compare a message with.
    pub(crate) fn remembers(&self, kernel: &str) -> bool {
        self.replay.prior_of(kernel).next().is_some() || self.own.get(kernel).is_some_and(|own| own.bytes > 0)
    }

    /// Ends a message that has a lane of its own; more text of it would begin another one.
    pub(crate) fn end(&mut self, spans: &mut Spans, kernel: &str) {
        if self.replay.held_message() == Some(kernel) {
            self.release(spans);
        }
        if let Some(own) = self.own.get(kernel) {
            spans.close_messages(own.lane);
        }
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
        match self.replay.filter(kernel, text) {
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
                let message = self.shown.last_message().unwrap_or(kernel).to_owned();
                self.show(spans, &message, rest);
            }
            // A kernel that recognises a repeated answer may repeat its old final text with it.
            Missing::All if self.shown.is_empty() && self.is_known(text) => {}
            // The beginning of the turn was shown by an earlier run.
            Missing::All if self.continues_an_earlier_run(text) => {}
            Missing::All => self.show(spans, kernel, text),
        }
    }

    /// Shows an artifact that is text: a new one, or the missing rest of one that is sent as a whole again.
    ///
    /// `false`, and nothing is shown, if it is another text than was shown of it.
    pub(crate) fn artifact(&mut self, spans: &mut Spans, id: &str, text: &str) -> bool {
        self.live = true;
        self.release(spans);
        let is_new = self.own.get(id).is_none_or(|own| own.bytes == 0);
        let rest = match self.own.get(id) {
            _ if is_new && self.shown.is_latest_piece(text) => return true,
            Some(own) => own.rest(text),
            None => text.strip_prefix(&*self.shown.of(id)),
        };
        let Some(rest) = rest else { return false };
        self.show(spans, id, rest);
        true
    }

    /// The same for an artifact of a Task, of which an earlier run may have shown all or the beginning.
    pub(crate) fn task_artifact(&mut self, spans: &mut Spans, id: &str, text: &str) -> bool {
        match self.after_earlier_runs(id, text) {
            Some(rest) => {
                self.replay.settle(id);
                self.show(spans, id, rest);
                true
            }
            None if self.is_known(text) => true,
            None => self.artifact(spans, id, text),
        }
    }

    /// What of an artifact comes after the parts that earlier runs and this one have shown.
    fn after_earlier_runs<'t>(&self, id: &str, text: &'t str) -> Option<&'t str> {
        let last = self.replay.prior_of(id).last()?;
        let earlier: u64 = self.replay.prior_of(id).map(|entry| entry.bytes).fold(0, u64::saturating_add);
        let (seen, text) = text.split_at_checked(usize::try_from(earlier).ok()?)?;
        if !digest::ends_like(last, seen.as_bytes()) {
            return None;
        }
        self.own.get(id).map_or(Some(text), |own| own.rest(text))
    }

    /// Shows what is missing of a message whose deltas a Task repeats.
    ///
    /// A Task that comes in a resumed run before anything live describes the turn as it was left: then a
    /// text that can't be aligned with what was shown was shown.
    pub(crate) fn snapshot(&mut self, spans: &mut Spans, kernel: &str, entries: &[&str]) {
        self.release(spans);
        let text = entries.concat();
        let prior: Vec<&ShownText> = self.replay.prior_of(kernel).collect();
        let shown = self.shown.of(kernel);
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
        let left_as_shown = self.replay.knows_anything() && !self.live;
        if left_as_shown || self.is_known(&text) {
            return;
        }
        self.replay.settle(kernel);
        match self.missing(&text) {
            Missing::Nothing => {}
            Missing::Rest(rest) => self.show(spans, kernel, rest),
            Missing::All => self.show(spans, kernel, &text),
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
        self.shown.last_message() == Some(kernel)
    }

    /// Whether this run has shown any text, or text that contains `text` at its end.
    pub(crate) fn has_shown(&self, text: &str) -> bool {
        if text.is_empty() { !self.shown.is_empty() } else { self.shown.missing(text) == Missing::Nothing }
    }

    /// Writes what was shown by the execution so far, as digests.
    pub(crate) fn save(&self, position: &mut ResumePoint) {
        let mine = self.shown.digests();
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
            Dialect::Plain => {
                let last = self.replay.prior().last();
                last.is_some_and(|entry| digest::ends_like(entry, beginning.as_bytes()))
            }
        }
    }

    fn is_known(&self, text: &str) -> bool {
        if !self.replay.knows_anything() {
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
        self.shown.record(kernel, text);
        let Some(own) = self.own.get_mut(kernel) else {
            spans.text(LaneId::MAIN, kernel, text);
            return;
        };
        own.add(text);
        // What is written before this begins is complete.
        spans.close_messages(LaneId::MAIN);
        spans.text(own.lane, kernel, text);
    }
}

fn keep_latest<T>(entries: &mut Vec<T>) {
    let surplus = entries.len().saturating_sub(ResumePoint::MAX_ENTRIES);
    entries.drain(..surplus);
}
