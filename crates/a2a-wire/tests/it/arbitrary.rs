use a2a_wire::{Reply, StreamItem, TaskState, decode_reply, has_surrogate_escape, sanitize};
use proptest::prelude::*;

/// Pieces of JSON that strict readers refuse somewhere, in strings and outside.
fn json_like() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(&b"\""[..]),
        Just(&b"\\"[..]),
        Just(&b"\\\\"[..]),
        Just(&br"\ud83d"[..]),
        Just(&br"\uDC4D"[..]),
        Just(&br"\u4f60"[..]),
        Just(&b"NaN"[..]),
        Just(&b"-Infinity"[..]),
        Just(&b"{\"result\":"[..]),
        Just(&b"{\"statusUpdate\":"[..]),
        Just(&b"{\"kind\":\"task\",\"status\":"[..]),
        Just(&b"\"error\":{"[..]),
        Just(&b"}"[..]),
        Just(&b",["[..]),
        Just(&b"\xff"[..]),
        Just("\u{1f44d}".as_bytes()),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_repaired_needs_no_repair(json in json_like()) {
        let repaired = sanitize(&json).unwrap_or(json);
        prop_assert_eq!(sanitize(&repaired), None);
        prop_assert!(std::str::from_utf8(&repaired).is_ok());
    }

    #[test]
    fn text_without_surrogates_and_outside_of_numbers_is_left_alone(text in "\\PC{0,40}") {
        let json = serde_json::to_vec(&text).unwrap_or_default();
        prop_assert!(!has_surrogate_escape(&json) || json.contains(&b'\\'));
        prop_assert_eq!(sanitize(&json), None);
    }

    #[test]
    fn readers_survive_anything_and_agree(json in json_like()) {
        if StreamItem::decode(&json).is_ok() {
            prop_assert!(matches!(decode_reply(&json), Ok(Reply::Result(_))));
        }
    }

    #[test]
    fn any_state_name_is_a_state_and_keeps_its_meaning(name in "\\PC{0,20}") {
        let state = TaskState::parse(&name);
        prop_assert_eq!(TaskState::parse(state.as_str()), state);
    }
}
