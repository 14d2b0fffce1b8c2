//! The text of the normal turn: deltas, whole texts that repeat them, and what a Task repeats.

use std::collections::HashMap;

use super::digest;
use super::replay::{Filtered, Replay};
use super::shown::{Missing, Shown};
use super::snapshot;
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
    lanes: HashMap<Box<str>, LaneId>,
}

impl TextFlow {
    pub(crate) fn new(resume: Option<&ResumePoint>) -> Self {
        let replay = resume.map_or_else(Replay::default, |position| {
            Replay::new(position.texts.clone(), position.text_snapshot_digests.clone())
        });
        Self { shown: Shown::default(), replay, live: false, lanes: HashMap::new() }
    }

    /// Gives a message a lane of its own: it stays open while others are written.
    pub(crate) fn give_lane(&mut self, spans: &mut Spans, kernel: &str) {
        if !self.lanes.contains_key(kernel) {
            self.lanes.insert(kernel.into(), spans.add_lane());
        }
    }

    /// Hands the lane of a message over to the one that follows it.
    pub(crate) fn move_lane(&mut self, from: &str, to: &str) {
        if let Some(lane) = self.lanes.remove(from) {
            self.lanes.insert(to.into(), lane);
        }
    }

    /// Ends a message that has a lane of its own; more text of it would begin another one.
    pub(crate) fn end(&mut self, spans: &mut Spans, kernel: &str) {
        if self.replay.held_message() == Some(kernel) {
            self.release(spans);
        }
        if let Some(lane) = self.lanes.get(kernel) {
            spans.close_messages(*lane);
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
        match self.shown.missing(text) {
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
        let shown = self.shown.of(id);
        let rest = match text.strip_prefix(&*shown) {
            Some(_) if shown.is_empty() && self.shown.is_latest_piece(text) => return true,
            Some(rest) => rest,
            None => return false,
        };
        self.show(spans, id, rest);
        true
    }

    /// The same for an artifact of a Task, of which an earlier run may have shown all or the beginning.
    pub(crate) fn task_artifact(&mut self, spans: &mut Spans, id: &str, text: &str) -> bool {
        let prior: Vec<&ShownText> = self.replay.prior_of(id).collect();
        let first =
            if prior.is_empty() { None } else { snapshot::first_unseen(&prior, &self.shown.of(id), &[text]) };
        match first.and_then(|at| text.get(at..)) {
            Some(rest) => {
                self.replay.settle(id);
                self.show(spans, id, rest);
                true
            }
            None if self.is_known(text) => true,
            None => self.artifact(spans, id, text),
        }
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
        match self.shown.missing(&text) {
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

    fn continues_an_earlier_run(&self, text: &str) -> bool {
        let shown = self.shown.as_str().trim();
        self.replay.knows_anything() && !shown.is_empty() && text.trim().ends_with(shown)
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
        let lane = self.lanes.get(kernel).copied().unwrap_or(LaneId::MAIN);
        if lane != LaneId::MAIN {
            spans.close_messages(LaneId::MAIN);
        }
        spans.text(lane, kernel, text);
    }
}

fn keep_latest<T>(entries: &mut Vec<T>) {
    let surplus = entries.len().saturating_sub(ResumePoint::MAX_ENTRIES);
    entries.drain(..surplus);
}
