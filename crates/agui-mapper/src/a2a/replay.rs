//! Text that the kernel sends again after a resume.
//!
//! Only digests of the earlier text are known, so the beginning of each message is held back while it is
//! equal to what was shown: until the whole earlier text has come (then that part is dropped), or until the
//! first difference (then everything goes out). Digests of growing beginnings bound the wait to twice the
//! common part. A text too short to be more than a coincidence is never taken for a replay.

use std::collections::HashSet;

use super::digest::{self, FIRST_HEAD_BYTES};
use super::source::Source;
use crate::position::ShownText;

/// Shortest earlier text in bytes that a replay is recognised by.
///
/// A turn that said "OK" may well go on with "OK, starting": a repetition this short proves nothing.
const MIN_REPLAY_BYTES: u64 = 8;

/// Longest earlier text in bytes that is waited for; the held text takes as much memory.
const MAX_REPLAY_BYTES: u64 = 1 << 20;

/// Most entries of earlier runs that are looked through for each message of a Task.
const MAX_PRIOR: usize = 1024;

/// Recognises replayed text by what earlier runs of the execution showed.
#[derive(Debug, Default)]
pub(super) struct Replay {
    prior: Vec<ShownText>,
    /// Digests whose message and length are not known.
    legacy: Vec<String>,
    held: Option<Held>,
    /// Messages that were decided on.
    settled: HashSet<Box<str>>,
}

/// What becomes of a delta.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Filtered<'t> {
    /// It is shown.
    Show(&'t str),
    /// It is held back, or was shown before.
    Nothing,
    /// These are shown: what was held, and the delta.
    ShowHeld(Vec<String>),
}

#[derive(Debug)]
struct Held {
    kernel: Box<str>,
    text: String,
    /// Where the deltas in `text` end.
    ends: Vec<usize>,
    /// The part of `text` that is known to be a replay.
    matched: usize,
    /// The entry of `prior` that is being compared.
    entry: usize,
    /// How many of its heads agree.
    heads: usize,
}

enum Verdict {
    Wait,
    Different,
    Replayed,
}

impl Replay {
    pub(super) fn new(prior: Vec<ShownText>, mut legacy: Vec<String>) -> Self {
        // A digest whose message is known must not count for other messages.
        legacy.retain(|digest| prior.iter().all(|entry| entry.digest != *digest));
        Self { prior, legacy, held: None, settled: HashSet::new() }
    }

    /// What earlier runs showed of a message or an artifact, oldest first.
    pub(super) fn prior_of<'a>(&'a self, source: Source<'a>) -> impl Iterator<Item = &'a ShownText> {
        self.prior.iter().filter(move |entry| Source::of(entry) == source)
    }

    /// Which text of an artifact earlier runs have come to.
    pub(super) fn version_of(&self, artifact: &str) -> u32 {
        let entries = self.prior.iter().filter(|entry| entry.message_id == artifact);
        entries.filter_map(|entry| entry.artifact_version).max().unwrap_or(1)
    }

    /// Notes that earlier runs have shown this.
    pub(super) fn assume(&mut self, entry: ShownText) {
        if self.prior.len() < MAX_PRIOR {
            self.prior.push(entry);
        }
    }

    /// Whether a text ends as one that earlier runs have shown, if that is long enough to be recognised.
    pub(super) fn is_end_of(&self, text: &str) -> bool {
        let mut long = self.prior.iter().filter(|entry| entry.bytes >= MIN_REPLAY_BYTES);
        long.any(|entry| digest::ends_like(entry, text.as_bytes()))
    }

    pub(super) fn prior(&self) -> &[ShownText] {
        &self.prior
    }

    pub(super) fn legacy(&self) -> &[String] {
        &self.legacy
    }

    /// Whether anything is known of earlier runs.
    pub(super) fn knows_anything(&self) -> bool {
        !self.prior.is_empty() || !self.legacy.is_empty()
    }

    /// Decides what of a delta is shown now.
    pub(super) fn filter<'t>(&mut self, kernel: &str, delta: &'t str) -> Filtered<'t> {
        if self.held.is_none() && (!self.knows_anything() || self.is_settled(kernel)) {
            return Filtered::Show(delta);
        }
        match &mut self.held {
            Some(held) if *held.kernel == *kernel => held.push(delta),
            Some(_) | None => {
                if !self.begin(kernel, delta) {
                    return if self.is_known_whole(delta) {
                        Filtered::Nothing
                    } else {
                        Filtered::Show(delta)
                    };
                }
            }
        }
        let from = match self.compare() {
            Verdict::Wait => return Filtered::Nothing,
            Verdict::Different => 0,
            Verdict::Replayed => self.held.as_ref().map_or(0, |held| held.matched),
        };
        self.held.take().map_or(Filtered::Nothing, |held| Filtered::ShowHeld(held.pieces(from)))
    }

    /// Gives back the text that is held, with the message it belongs to: it was no replay.
    pub(super) fn release(&mut self) -> Option<(Box<str>, Vec<String>)> {
        self.held.take().map(|held| {
            let pieces = held.pieces(0);
            (held.kernel, pieces)
        })
    }

    /// The message whose text is held.
    pub(super) fn held_message(&self) -> Option<&str> {
        self.held.as_ref().map(|held| &*held.kernel)
    }

    /// A message of which nothing more needs to be compared.
    pub(super) fn settle(&mut self, kernel: &str) {
        if !self.is_settled(kernel) {
            self.settled.insert(kernel.into());
        }
    }

    fn is_settled(&self, kernel: &str) -> bool {
        self.settled.contains(kernel)
    }

    /// Begins to hold a message back, if its earlier text is long enough to be recognised.
    fn begin(&mut self, kernel: &str, delta: &str) -> bool {
        self.settle(kernel);
        let bytes: u64 =
            self.prior_of(Source::message(kernel)).map(|entry| entry.bytes).fold(0, u64::saturating_add);
        if !(MIN_REPLAY_BYTES..=MAX_REPLAY_BYTES).contains(&bytes) {
            return false;
        }
        let entry = self.next_entry(kernel, 0);
        let mut held = Held {
            kernel: kernel.into(),
            text: String::new(),
            ends: Vec::new(),
            matched: 0,
            entry,
            heads: 0,
        };
        held.push(delta);
        self.held = Some(held);
        true
    }

    fn is_known_whole(&self, text: &str) -> bool {
        text.len() as u64 >= MIN_REPLAY_BYTES
            && !self.legacy.is_empty()
            && self.legacy.contains(&digest::whole(text.as_bytes()))
    }

    fn next_entry(&self, kernel: &str, from: usize) -> usize {
        let rest = self.prior.iter().enumerate().skip(from);
        rest.filter(|(_, entry)| Source::of(entry) == Source::message(kernel))
            .map(|(at, _)| at)
            .next()
            .unwrap_or(self.prior.len())
    }

    fn compare(&mut self) -> Verdict {
        loop {
            let Some(held) = &self.held else { return Verdict::Different };
            let Some(entry) = self.prior.get(held.entry) else { return Verdict::Replayed };
            let text = &held.text.as_bytes()[held.matched..];
            let length = usize::try_from(entry.bytes).unwrap_or(usize::MAX);
            if text.len() < length {
                return self.compare_heads();
            }
            if digest::whole(&text[..length]) != entry.digest {
                return Verdict::Different;
            }
            let next = self.next_entry(&held.kernel, held.entry + 1);
            if let Some(held) = &mut self.held {
                held.matched += length;
                held.entry = next;
                held.heads = 0;
            }
        }
    }

    fn compare_heads(&mut self) -> Verdict {
        let Some(held) = &mut self.held else { return Verdict::Different };
        let Some(entry) = self.prior.get(held.entry) else { return Verdict::Different };
        let text = &held.text.as_bytes()[held.matched..];
        while let Some(head) = entry.heads.get(held.heads) {
            let length = FIRST_HEAD_BYTES << held.heads;
            if text.len() < length {
                break;
            }
            if digest::short(&text[..length]) != *head {
                return Verdict::Different;
            }
            held.heads += 1;
        }
        Verdict::Wait
    }
}

impl Held {
    fn push(&mut self, delta: &str) {
        self.text.push_str(delta);
        self.ends.push(self.text.len());
    }

    /// The deltas from an offset on, the first one possibly without its beginning.
    fn pieces(&self, from: usize) -> Vec<String> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends).map(|(start, end)| start.max(from)..*end);
        ranges
            .filter_map(|range| self.text.get(range))
            .filter(|piece| !piece.is_empty())
            .map(str::to_owned)
            .collect()
    }
}

#[cfg(test)]
mod tests;
