use agui_core::{
    JsonObject, ReasoningMessageContent, StateSnapshot, TextMessageContent, TextMessageEnd, ToolCallArgs,
};
use proptest::prelude::*;

use super::*;

fn text(id: &str, delta: &str) -> Event {
    TextMessageContent::new(id, delta).into()
}

fn args(id: &str, delta: &str) -> Event {
    ToolCallArgs::new(id, delta).into()
}

fn drained(pieces: &mut Pieces, joining: Joining, max_bytes: usize) -> Vec<Event> {
    std::iter::from_fn(|| pieces.next(joining, max_bytes)).collect()
}

fn all(events: impl IntoIterator<Item = Event>, joining: Joining, max_bytes: usize) -> Vec<Event> {
    let mut pieces = Pieces::default();
    pieces.extend(events);
    let given = drained(&mut pieces, joining, max_bytes);
    assert!(pieces.is_empty());
    given
}

#[test]
fn without_pressure_every_event_is_sent_as_it_came() {
    let events = [text("m", "a"), text("m", "b"), text("m", ""), TextMessageEnd::new("m").into()];
    assert_eq!(all(events.clone(), Joining::Off, 1000), events);
}

#[test]
fn under_pressure_deltas_of_one_item_that_follow_each_other_are_joined() {
    let events = [
        text("m", "a"),
        text("m", "b"),
        text("n", "c"),
        text("m", "d"),
        args("c", "{"),
        args("c", "}"),
        ReasoningMessageContent::new("m", "e").into(),
        ReasoningMessageContent::new("m", "f").into(),
        text("m", "g"),
        TextMessageEnd::new("m").into(),
        text("m", "h"),
    ];
    assert_eq!(
        all(events, Joining::On, 1000),
        [
            text("m", "ab"),
            text("n", "c"),
            text("m", "d"),
            args("c", "{}"),
            ReasoningMessageContent::new("m", "ef").into(),
            text("m", "g"),
            TextMessageEnd::new("m").into(),
            text("m", "h"),
        ]
    );
}

#[test]
fn what_carries_more_than_text_or_speaks_in_another_name_is_not_joined() {
    let metadata = JsonObject::from_string(r#"{"k":1}"#.to_owned()).unwrap();
    let marked: Event = TextMessageContent::new("m", "b").with_metadata(metadata).into();
    let owned: Event = TextMessageContent::new("m", "d").with_subagent_run_id("s").into();
    let events = [text("m", "a"), marked.clone(), text("m", "c"), owned.clone()];
    let joined: Event = {
        let mut first = marked;
        delta_mut(&mut first).unwrap().push('c');
        first
    };
    assert_eq!(all(events, Joining::On, 1000), [text("m", "a"), joined, owned]);
}

#[test]
fn a_long_delta_is_cut_at_characters_and_only_its_first_part_carries_the_rest() {
    let metadata = JsonObject::from_string(r#"{"k":1}"#.to_owned()).unwrap();
    let long: Event = TextMessageContent::new("m", "😀".repeat(60)).with_metadata(metadata).into();
    let parts = all([long.clone(), text("m", "!")], Joining::Off, 160);
    assert!(parts.iter().all(|part| json_bytes(part) <= 160), "{parts:?}");
    let with_metadata: Vec<bool> = parts.iter().map(|part| !is_plain(part)).collect();
    assert_eq!(with_metadata, [true, false, false, false, false][..parts.len()]);
    let mut joined = long;
    *delta_mut(&mut joined).unwrap() = String::new();
    for mut part in parts {
        let delta = std::mem::take(delta_mut(&mut part).unwrap());
        delta_mut(&mut joined).unwrap().push_str(&delta);
    }
    assert_eq!(*delta_mut(&mut joined).unwrap(), format!("{}!", "😀".repeat(60)));
}

#[test]
fn the_rest_of_a_cut_delta_is_joined_with_what_follows() {
    let first = "x".repeat(150);
    let events = [text("m", &first), text("m", "y"), text("m", "z")];
    let room = 160 - json_bytes(&text("m", ""));
    let rest = &first[room..];
    assert_eq!(all(events, Joining::On, 160), [text("m", &first[..room]), text("m", &format!("{rest}yz"))]);
}

#[test]
fn an_event_that_is_no_delta_or_has_no_room_for_text_is_left_whole() {
    let state = agui_core::Json::from_string(format!("\"{}\"", "s".repeat(500))).unwrap();
    let events: [Event; 2] =
        [StateSnapshot::new(state).into(), text(&"long-id-".repeat(40), &"text ".repeat(100))];
    assert_eq!(all(events.clone(), Joining::On, 300), events);
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[\"\\\\\n\t\u{1}\u{7f}é😀a]{0,300}"]
}

proptest! {
    #[test]
    fn a_part_is_the_longest_that_fits(text in any_text(), at in any::<prop::sample::Index>(), room in 64_usize..400) {
        let borders: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        let at = *at.get(&borders);
        let (part, cost) = fitting(&text, at, room);
        let written = |range: Range<usize>| serde_json::to_string(&text[range]).unwrap().len() - 2;
        prop_assert_eq!(part.start, at);
        prop_assert_eq!(written(part.clone()), cost);
        prop_assert!(cost <= room);
        if let Some(next) = text[part.end..].chars().next() {
            prop_assert!(written(at..part.end + next.len_utf8()) > room);
        }
    }

    #[test]
    fn cutting_and_joining_keep_the_text_of_every_item_in_order(
        deltas in prop::collection::vec((0_u8..3, any_text()), 0..20),
        joins in prop::collection::vec(any::<bool>(), 1..8),
        max_bytes in 200_usize..600,
    ) {
        let item = |kind: u8, delta: &str| match kind {
            0 => text("m", delta),
            1 => args("c", delta),
            _ => ReasoningMessageContent::new("m", delta).into(),
        };
        let mut pieces = Pieces::default();
        pieces.extend(deltas.iter().map(|(kind, delta)| item(*kind, delta)));
        // The text of runs of one kind, which is all that cutting and joining may not change.
        let mut expected: Vec<(u8, String)> = Vec::new();
        let mut given: Vec<(u8, String)> = Vec::new();
        let push = |runs: &mut Vec<(u8, String)>, kind: u8, delta: &str| match runs.last_mut() {
            Some((last, joined)) if *last == kind => joined.push_str(delta),
            _ => runs.push((kind, delta.to_owned())),
        };
        deltas.iter().for_each(|(kind, delta)| push(&mut expected, *kind, delta));
        for join in joins.iter().cycle() {
            let joining = if *join { Joining::On } else { Joining::Off };
            let Some(mut piece) = pieces.next(joining, max_bytes) else { break };
            prop_assert!(json_bytes(&piece) <= max_bytes);
            let kind = match &piece {
                Event::TextMessageContent(_) => 0,
                Event::ToolCallArgs(_) => 1,
                _ => 2,
            };
            push(&mut given, kind, delta_mut(&mut piece).unwrap());
        }
        prop_assert_eq!(given, expected);
    }
}
