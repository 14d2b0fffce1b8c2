use agui_iac_code::Notes;
use serde_json::json;
use serde_json::value::RawValue;

use super::*;

fn event(event: &str, id: &str, sequence: u64) -> Box<RawValue> {
    let value =
        json!({"eventType": event, "eventId": id, "sequence": sequence as f64, "data": {"text": "x"}});
    serde_json::value::to_raw_value(&value).unwrap()
}

fn read(raw: &RawValue) -> PipelineEnvelope<'_> {
    PipelineEnvelope::read(raw, &mut Notes::default()).unwrap()
}

fn live(journal: &mut Journal, name: &str, id: &str, sequence: u64) -> bool {
    journal.begin_update();
    journal.admit_live(&read(&event(name, id, sequence)), 0).is_some()
}

fn recovered(journal: &mut Journal, events: &[(&str, &str, u64)]) -> Vec<u64> {
    let raws: Vec<Box<RawValue>> =
        events.iter().map(|(name, id, sequence)| event(name, id, *sequence)).collect();
    let envelopes: Vec<PipelineEnvelope<'_>> = raws.iter().map(|raw| read(raw)).collect();
    let admitted = journal.admit_recovered(&envelopes, &vec![0; envelopes.len()]);
    envelopes
        .iter()
        .zip(admitted)
        .filter(|(_, new)| new.is_some())
        .filter_map(|(it, _)| it.sequence)
        .collect()
}

#[test]
fn the_stored_position_is_the_first_mark() {
    let mut it = Journal::new(7);
    assert!(!live(&mut it, "usage", "e7", 7));
    assert!(live(&mut it, "usage", "e8", 8));
    assert_eq!(it.position(), 8);
}

#[test]
fn events_without_sequence_are_told_apart_by_id() {
    let mut it = Journal::new(0);
    assert!(live(&mut it, "usage", "a", 0));
    assert!(!live(&mut it, "usage", "a", 0));
    assert!(live(&mut it, "usage", "b", 0));
    assert_eq!(it.position(), 0);
}

#[test]
fn a_gap_is_told_once_for_a_stream_that_missed_events() {
    let mut it = Journal::new(5);
    assert!(live(&mut it, "usage", "e9", 9));
    assert_eq!((it.take_gap(), it.take_gap()), (Some(5), None));
    assert!(live(&mut it, "usage", "e12", 12));
    assert_eq!(it.take_gap(), None);
    it.stream_opened();
    assert!(live(&mut it, "usage", "e20", 20));
    assert_eq!(it.take_gap(), Some(12));
    assert!(Journal::new(0).take_gap().is_none());
}

#[test]
fn recovery_gives_what_was_missed_and_only_once() {
    let mut it = Journal::new(2);
    live(&mut it, "usage", "e5", 5);
    let journal = [("usage", "e3", 3), ("text_delta", "e4", 4), ("usage", "e5", 5), ("usage", "e6", 6)];
    assert_eq!(recovered(&mut it, &journal), [3, 4, 6]);
    assert_eq!(recovered(&mut it, &journal), Vec::<u64>::new());
    assert!(!live(&mut it, "usage", "e6", 6));
}

#[test]
fn w41_the_first_merged_delta_of_a_resumed_stream_is_found_by_its_id() {
    let mut it = Journal::new(1);
    live(&mut it, "text_delta", "e4", 6);
    let journal = [
        ("text_delta", "e2", 2),
        ("usage", "e3", 3),
        ("text_delta", "e4", 4),
        ("text_delta", "e5", 5),
        ("text_delta", "e6", 6),
    ];
    assert_eq!(recovered(&mut it, &journal), [2, 3]);
}

#[test]
fn old_ids_are_forgotten_before_new_ones() {
    let mut it = Journal::new(0);
    for sequence in 1..=(MAX_REMEMBERED as u64 + 10) {
        assert!(live(&mut it, "usage", &format!("e{sequence}"), sequence));
    }
    assert!(it.ids.len() <= MAX_REMEMBERED);
    assert!(!live(&mut it, "usage", &format!("e{MAX_REMEMBERED}"), 0));
}
