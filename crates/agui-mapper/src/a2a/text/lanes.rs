//! The lanes of artifacts, and what was shown of each: its text can be too long to be remembered.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::super::digest::{self, TAIL_BYTES};
use super::super::source::Source;
use crate::position::ShownText;
use crate::spans::{LaneId, Spans};

/// Most artifacts of a run whose messages stay open beside each other; those of the others follow each other.
const MAX_LANES: usize = 256;

/// Most artifacts of a run that are told apart by what was shown of them.
const MAX_ARTIFACTS: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Lanes {
    artifacts: HashMap<Box<str>, Strand>,
    /// In the order in which they began.
    order: Vec<Box<str>>,
    /// The lane of those that have none of their own, and which of them wrote there last.
    shared: Option<(LaneId, Box<str>)>,
}

/// An artifact, and what this run has shown of its present text.
#[derive(Debug)]
pub(super) struct Strand {
    lane: Option<LaneId>,
    version: u32,
    bytes: usize,
    digest: Sha256,
    /// The last bytes, at most as many as a digest of the end covers.
    tail: Vec<u8>,
}

impl Strand {
    /// What comes after the part that was shown, if `text` begins with that.
    pub(super) fn rest<'t>(&self, text: &'t str) -> Option<&'t str> {
        let (head, rest) = text.split_at_checked(self.bytes)?;
        (self.bytes == 0 || Sha256::digest(head) == self.digest.clone().finalize()).then_some(rest)
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    fn add(&mut self, text: &str) {
        self.bytes += text.len();
        self.digest.update(text);
        let text = text.as_bytes();
        self.tail.extend_from_slice(&text[text.len().saturating_sub(TAIL_BYTES)..]);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL_BYTES));
    }

    fn replace(&mut self) {
        self.version = self.version.saturating_add(1);
        (self.bytes, self.digest) = (0, Sha256::new());
        self.tail.clear();
    }
}

impl Lanes {
    /// The artifact, if it is one of those that are told apart.
    pub(super) fn get(&self, id: &str) -> Option<&Strand> {
        self.artifacts.get(id)
    }

    /// Which text of the artifact is written now.
    pub(super) fn version(&self, id: &str) -> u32 {
        self.get(id).map_or(1, |strand| strand.version)
    }

    /// Begins an artifact that was not heard of in this run, with the text that earlier runs have come to.
    pub(super) fn begin(&mut self, spans: &mut Spans, id: &str, version: u32) {
        if self.artifacts.len() >= MAX_ARTIFACTS || self.artifacts.contains_key(id) {
            return;
        }
        let lane = (self.artifacts.len() < MAX_LANES).then(|| spans.add_lane());
        let strand = Strand { lane, version, bytes: 0, digest: Sha256::new(), tail: Vec::new() };
        self.artifacts.insert(id.into(), strand);
        self.order.push(id.into());
    }

    /// Counts a text as shown.
    pub(super) fn note(&mut self, id: &str, text: &str) {
        if let Some(strand) = self.artifacts.get_mut(id) {
            strand.add(text);
        }
    }

    /// Writes a piece of an artifact's text.
    pub(super) fn write(&mut self, spans: &mut Spans, id: &str, text: &str) {
        let stem = Source::artifact(id, self.version(id)).stem().into_owned();
        self.note(id, text);
        let lane = match self.get(id).and_then(|strand| strand.lane) {
            Some(lane) => lane,
            None => self.shared(spans, id),
        };
        spans.text(lane, &stem, text);
    }

    /// The shared lane, free for the artifact.
    fn shared(&mut self, spans: &mut Spans, id: &str) -> LaneId {
        match &mut self.shared {
            Some((lane, writer)) => {
                if **writer != *id {
                    spans.close_messages(*lane);
                    *writer = id.into();
                }
                *lane
            }
            None => {
                let lane = spans.add_lane();
                self.shared = Some((lane, id.into()));
                lane
            }
        }
    }

    /// Ends the message of an artifact; more text of it would begin another one.
    pub(super) fn end(&mut self, spans: &mut Spans, id: &str) {
        let own = self.get(id).and_then(|strand| strand.lane);
        let shared = self.shared.as_ref().filter(|(_, writer)| **writer == *id).map(|(lane, _)| *lane);
        if let Some(lane) = own.or(shared) {
            spans.close_messages(lane);
        }
    }

    /// Ends the text of an artifact: what comes is another one, in a message of its own.
    pub(super) fn replace(&mut self, spans: &mut Spans, id: &str) {
        self.end(spans, id);
        if let Some(strand) = self.artifacts.get_mut(id) {
            strand.replace();
        }
    }

    /// What was shown of the artifacts, as digests.
    pub(super) fn digests(&self) -> impl Iterator<Item = ShownText> {
        let strands = self.order.iter().filter_map(|id| Some((id, self.artifacts.get(id)?)));
        strands.filter(|(_, strand)| strand.bytes > 0).map(|(id, strand)| {
            let whole = digest::hex(&strand.digest.clone().finalize());
            let mut entry = ShownText::new(&**id, strand.bytes as u64, whole);
            entry.artifact_version = Some(strand.version);
            entry.tail = digest::short(&strand.tail);
            entry
        })
    }
}
