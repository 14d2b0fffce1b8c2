//! The text of artifacts. Each has a lane of its own, so that several can grow side by side.

use super::super::source::Source;
use super::super::{digest, snapshot};
use super::TextFlow;
use crate::spans::{LaneId, Spans};

/// Earlier texts of an artifact that a Task may still show.
const MAX_VERSIONS: u32 = 8;

/// What a text that an artifact has as a whole is to what was shown of it.
enum Whole<'t> {
    /// This comes behind it; it may be nothing.
    Rest(&'t str),
    /// It is another text.
    Other,
}

impl TextFlow {
    /// Whether an artifact was heard of in this run.
    pub(crate) fn knows_artifact(&self, id: &str) -> bool {
        self.lanes.get(id).is_some()
    }

    /// Whether earlier runs have left anything to compare the text of an artifact with.
    pub(crate) fn remembers_artifact(&self, id: &str) -> bool {
        self.replay.prior().iter().any(|entry| entry.message_id == id && entry.artifact_version.is_some())
    }

    /// Notes that clients know all of this text of an artifact.
    pub(crate) fn assume_shown(&mut self, spans: &mut Spans, id: &str, text: &str) {
        self.begin(spans, id);
        self.lanes.note(id, text);
    }

    /// Shows a piece that an artifact grows by.
    pub(crate) fn grow_artifact(&mut self, spans: &mut Spans, id: &str, text: &str) {
        self.begin(spans, id);
        self.show_artifact(spans, id, text);
    }

    /// Shows an artifact whose text comes as a whole: a new one, the rest of one that has grown, or another
    /// text in its place, which is a message of its own because nothing can be unsaid.
    pub(crate) fn artifact(&mut self, spans: &mut Spans, id: &str, text: &str) {
        self.begin(spans, id);
        let is_first = self.shown_of(id) == 0 && !self.remembers_artifact(id);
        let follows_a_message = self.shown.last().is_some_and(|last| last.version.is_none());
        match self.compare(id, text) {
            // The agent has said it in a message just now.
            _ if is_first && follows_a_message && self.shown.is_latest_piece(text) => {
                self.lanes.note(id, text);
            }
            Whole::Rest(rest) => self.show_artifact(spans, id, rest),
            Whole::Other => {
                self.lanes.replace(spans, id);
                self.show_artifact(spans, id, text);
            }
        }
    }

    /// The same for an artifact of a Task, which may be behind what was streamed.
    pub(crate) fn task_artifact(&mut self, spans: &mut Spans, id: &str, text: &str) {
        self.begin(spans, id);
        if !self.is_behind(id, text) {
            self.artifact(spans, id, text);
        }
    }

    /// Ends the message of an artifact; more text of it would begin another one.
    pub(crate) fn end_artifact(&mut self, spans: &mut Spans, id: &str) {
        self.lanes.end(spans, id);
    }

    /// The artifact has no text any more: what comes is another one.
    pub(crate) fn empty_artifact(&mut self, spans: &mut Spans, id: &str) {
        if self.shown_of(id) > 0 || self.remembers_artifact(id) {
            self.begin(spans, id);
            self.lanes.replace(spans, id);
        }
    }

    fn begin(&mut self, spans: &mut Spans, id: &str) {
        let version = self.replay.version_of(id);
        self.lanes.begin(spans, id, version);
    }

    /// Bytes that this run has shown of the present text of an artifact.
    fn shown_of(&self, id: &str) -> usize {
        match self.lanes.get(id) {
            Some(strand) => strand.bytes(),
            None => self.shown.of(Source::artifact(id, 1)).len(),
        }
    }

    fn compare<'t>(&self, id: &str, text: &'t str) -> Whole<'t> {
        let source = Source::artifact(id, self.lanes.version(id));
        let earlier: u64 = self.replay.prior_of(source).map(|entry| entry.bytes).fold(0, u64::saturating_add);
        let rest = usize::try_from(earlier).ok().and_then(|earlier| text.split_at_checked(earlier));
        let rest = rest.filter(|(seen, _)| {
            let last = self.replay.prior_of(source).last();
            last.is_none_or(|last| digest::ends_like(last, seen.as_bytes()))
        });
        let rest = rest.and_then(|(_, text)| match self.lanes.get(id) {
            Some(strand) => strand.rest(text),
            None => text.strip_prefix(&*self.shown.of(source)),
        });
        rest.map_or(Whole::Other, Whole::Rest)
    }

    /// Whether a text is the beginning of one that was shown of an artifact; if that is too long to be
    /// remembered, a shorter text is taken for one.
    fn is_behind(&self, id: &str, text: &str) -> bool {
        if self.shown.is_forgotten() {
            return self.lanes.get(id).is_some_and(|strand| text.len() < strand.bytes());
        }
        let latest = self.lanes.version(id);
        let mut versions = latest.saturating_sub(MAX_VERSIONS).max(1)..=latest;
        versions.any(|version| {
            let source = Source::artifact(id, version);
            let prior: Vec<_> = self.replay.prior_of(source).collect();
            let shown = self.shown.of(source);
            !(prior.is_empty() && shown.is_empty()) && snapshot::is_behind(&prior, &shown, text)
        })
    }

    fn show_artifact(&mut self, spans: &mut Spans, id: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        self.shown.record(Source::artifact(id, self.lanes.version(id)), text);
        // What is written before this begins is complete.
        spans.close_messages(LaneId::MAIN);
        self.lanes.write(spans, id, text);
    }
}
