//! Which pipeline events are new.
//!
//! Live updates come in the order of their sequences, so a live event at or below the highest sequence of
//! earlier updates is a repetition. A recovered event can fill a gap, so it is new if its own sequence was
//! not seen. The one difficulty is that a live event may stand for several deltas of the journal: it has the
//! event id of the first and the sequence of the last of them, so that the sequences within one update need
//! not grow.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use agui_iac_code::PipelineEventType as Type;
use agui_iac_code::metadata::PipelineEnvelope;

mod ranges;

use ranges::Ranges;

/// Most event ids and merged events that are remembered; the older half goes first.
///
/// What is forgotten was seen long ago, and the highest sequence still covers it for live events.
const MAX_REMEMBERED: usize = 16_384;

/// How a new event came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::iac) enum Admission {
    /// In a stream.
    Live,
    /// In the journal, after events that happened later may have been mapped.
    Recovered,
}

/// What was seen of the journal.
#[derive(Debug)]
pub(super) struct Journal {
    seen: Ranges,
    /// Hash of the event id to the sequence it came with.
    ids: HashMap<u64, u64>,
    merged: Vec<Merged>,
    /// Last sequence that each source had in the present stream.
    last_of_source: HashMap<usize, u64>,
    /// Highest sequence when the present stream began; before it events may be missing.
    stream_start: u64,
    /// Highest sequence when the present update began.
    floor: u64,
    fresh_stream: bool,
    gap: Option<u64>,
}

/// A live delta that may stand for several.
#[derive(Debug)]
struct Merged {
    source: usize,
    event: Type,
    id: Option<u64>,
    /// The deltas of its source after this sequence are in it, if that is known.
    after: Option<u64>,
    last: u64,
}

impl Journal {
    pub(super) fn new(position: u64) -> Self {
        Self {
            seen: Ranges::up_to(position),
            ids: HashMap::new(),
            merged: Vec::new(),
            last_of_source: HashMap::new(),
            stream_start: position,
            floor: position,
            fresh_stream: position > 0,
            gap: None,
        }
    }

    /// Highest sequence that was seen.
    pub(super) fn position(&self) -> u64 {
        self.seen.highest()
    }

    pub(super) const fn stream_opened(&mut self) {
        self.fresh_stream = true;
    }

    /// The sequence after which a new stream turned out to have missed events.
    pub(super) const fn take_gap(&mut self) -> Option<u64> {
        self.gap.take()
    }

    /// An update with live events begins.
    pub(super) fn begin_update(&mut self) {
        self.floor = self.seen.highest();
    }

    pub(super) fn admit_live(&mut self, envelope: &PipelineEnvelope<'_>, source: usize) -> Option<Admission> {
        let id = id_of(envelope);
        let sequence = envelope.sequence.unwrap_or(0);
        let known_id = id.is_some_and(|id| self.ids.contains_key(&id));
        let known_sequence = sequence > 0 && (sequence <= self.floor || self.seen.contains(sequence));
        if known_id || known_sequence {
            return None;
        }
        self.enter_stream(sequence);
        if is_delta(envelope.event_type) && sequence > 1 && !self.seen.contains(sequence - 1) {
            let first_in_stream = self.last_of_source.is_empty();
            let before = self.last_of_source.get(&source).copied().unwrap_or(self.stream_start);
            let after = if first_in_stream && self.stream_start > 0 { None } else { Some(before) };
            self.merged.push(Merged { source, event: envelope.event_type, id, after, last: sequence });
        }
        self.remember(id, sequence);
        if sequence > 0 {
            self.last_of_source.insert(source, sequence);
        }
        if envelope.is_pending_backup() { None } else { Some(Admission::Live) }
    }

    /// The first event of a stream tells whether events before it are missing.
    fn enter_stream(&mut self, sequence: u64) {
        if !std::mem::take(&mut self.fresh_stream) {
            return;
        }
        let highest = self.seen.highest();
        self.stream_start = highest;
        self.last_of_source.clear();
        if highest > 0 && sequence > highest + 1 {
            self.gap = Some(highest);
        }
    }

    /// Which of the events of the journal are new, one entry for each.
    pub(super) fn admit_recovered(
        &mut self,
        events: &[PipelineEnvelope<'_>],
        sources: &[usize],
    ) -> Vec<Option<Admission>> {
        let known_ids: HashMap<u64, u64> =
            events.iter().filter_map(|envelope| Some((id_of(envelope)?, envelope.sequence?))).collect();
        for merged in &mut self.merged {
            // The journal tells where the merged deltas began; if it begins after them, all of it is in.
            let first = merged.id.and_then(|id| known_ids.get(&id)).map(|first| first.saturating_sub(1));
            merged.after = first.or(merged.after).or(Some(0));
        }
        events.iter().zip(sources).map(|(envelope, source)| self.admit_one(envelope, *source)).collect()
    }

    fn admit_one(&mut self, envelope: &PipelineEnvelope<'_>, source: usize) -> Option<Admission> {
        let id = id_of(envelope);
        let sequence = envelope.sequence.unwrap_or(0);
        let seen =
            id.is_some_and(|id| self.ids.contains_key(&id)) || (sequence > 0 && self.seen.contains(sequence));
        let merged = is_delta(envelope.event_type)
            && self.merged.iter().any(|merged| {
                merged.source == source
                    && merged.event == envelope.event_type
                    && merged.after.is_some_and(|after| sequence > after)
                    && sequence <= merged.last
            });
        self.remember(id, sequence);
        if seen || merged || envelope.is_pending_backup() { None } else { Some(Admission::Recovered) }
    }

    fn remember(&mut self, id: Option<u64>, sequence: u64) {
        self.seen.insert(sequence);
        if let Some(id) = id {
            self.ids.entry(id).or_insert(sequence);
        }
        if self.ids.len() > MAX_REMEMBERED {
            let mut sequences: Vec<u64> = self.ids.values().copied().collect();
            let (_, middle, _) = sequences.select_nth_unstable(MAX_REMEMBERED / 2);
            let middle = *middle;
            self.ids.retain(|_, sequence| *sequence > middle);
        }
        if self.merged.len() > MAX_REMEMBERED {
            self.merged.drain(..MAX_REMEMBERED / 2);
        }
    }
}

const fn is_delta(event: Type) -> bool {
    matches!(event, Type::TextDelta | Type::ThinkingDelta)
}

/// A number for an event id; that two ids of one run share it is out of reach of chance.
fn id_of(envelope: &PipelineEnvelope<'_>) -> Option<u64> {
    let id = envelope.event_id.as_deref().filter(|id| !id.is_empty())?;
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests;
