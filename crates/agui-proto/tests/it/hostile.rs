//! Bytes that no producer writes.

use agui_core::{Custom, Event, Json, TextMessageStart, decode_event};
use agui_proto::{Decoder, MAX_FRAME_BYTES, ProtoError, Received, decode, decode_record, encode};
use proptest::prelude::*;

use crate::frames::all_frames;

/// A length-delimited field with a small number and a short content.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(content.len()).unwrap()], content].concat()
}

fn record(message: &[u8]) -> Result<String, String> {
    match decode_record(message).map_err(|error| error.to_string())? {
        Received::Known(json) => Ok(String::from_utf8(json).unwrap()),
        other => Ok(format!("{other:?}")),
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn contradictions_are_refused_and_what_is_new_is_left_to_the_reader() {
    let base = |declared: u8| field(1, if declared == 0 { vec![] } else { vec![0x08, declared] }.as_slice());
    let result = |fields: &[Vec<u8>]| {
        // TOOL_CALL_RESULT is field 22: a tag of two bytes.
        let content = [base(21), fields.concat()].concat();
        [&[0xb2, 0x01, u8::try_from(content.len()).unwrap()], content.as_slice()].concat()
    };
    let snapshot = |message: &[Vec<u8>]| field(9, &[base(8), field(2, &message.concat())].concat());
    let text_part = field(7, &field(1, &field(1, b"x")));
    let table: &[(&str, Vec<u8>, Result<&str, &str>)] = &[
        ("no base", field(1, &field(2, b"m")), Err("event and its declared type disagree")),
        (
            "another type declared",
            field(1, &[base(1), field(2, b"m")].concat()),
            Err("event and its declared type disagree"),
        ),
        (
            "text and parts",
            result(&[field(5, b"t"), text_part.clone()]),
            Err("content has a form that it cannot have"),
        ),
        (
            "two alternatives in a part",
            result(&[field(7, &[field(1, b""), field(2, b"")].concat())]),
            Err("alternatives are given together"),
        ),
        (
            "a part of the future",
            result(&[text_part, field(7, &field(6, b""))]),
            Ok(
                r#"{"type":"TOOL_CALL_RESULT","messageId":"","toolCallId":"","content":[{"type":"text","text":"x"},{"type":"unknown"}]}"#,
            ),
        ),
        (
            "parts for an assistant",
            snapshot(&[field(2, b"assistant"), field(8, &field(1, b""))]),
            Err("content has a form that it cannot have"),
        ),
        (
            "a role of the future",
            snapshot(&[field(2, b"critic"), field(3, b"text")]),
            Ok(r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"","role":"critic"}]}"#),
        ),
        (
            "an operation of the future",
            field(8, &[base(7), field(2, &[0x08, 9])].concat()),
            Ok(r#"{"type":"STATE_DELTA","delta":[{"op":"9","path":""}]}"#),
        ),
        (
            "an event in two pieces",
            [
                field(2, &[base(1), field(2, b"a")].concat()),
                field(2, &[field(2, b"m"), field(3, b"d")].concat()),
            ]
            .concat(),
            Ok(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d"}"#),
        ),
        (
            "a state in two pieces",
            field(
                7,
                &[
                    base(6),
                    field(2, &field(5, &field(1, &[field(1, b"a"), field(2, &[0x20, 1])].concat()))),
                    field(2, &field(5, &field(1, &[field(1, b"b"), field(2, &[0x08, 0])].concat()))),
                ]
                .concat(),
            ),
            Ok(r#"{"type":"STATE_SNAPSHOT","snapshot":{"a":true,"b":null}}"#),
        ),
        (
            "a state of nothing",
            field(7, &[base(6), field(2, b"")].concat()),
            Ok(r#"{"type":"STATE_SNAPSHOT"}"#),
        ),
        (
            "items and entries of nothing",
            field(
                7,
                &[
                    base(6),
                    field(2, &field(6, &[field(1, b""), field(1, &field(5, &field(1, b"")))].concat())),
                ]
                .concat(),
            ),
            Ok(r#"{"type":"STATE_SNAPSHOT","snapshot":[null,{}]}"#),
        ),
        (
            "numbers that JSON does not have",
            field(7, &[base(6), field(2, &[&[0x11_u8][..], &f64::NAN.to_le_bytes()].concat())].concat()),
            Ok(r#"{"type":"STATE_SNAPSHOT","snapshot":null}"#),
        ),
        (
            "text that is no Unicode",
            field(3, &[base(2), field(2, b"\xff")].concat()),
            Err("frame cannot be read"),
        ),
    ];
    for (name, message, expected) in table {
        let found = record(message);
        assert_eq!(
            found.as_deref().map_err(String::as_str),
            expected.as_ref().copied().map_err(|e| *e),
            "{name}"
        );
    }
}

#[test]
fn an_event_of_a_later_version_is_told_by_its_field() {
    // Field 40 with an empty message.
    let received = decode(&[0xc2, 0x02, 0x00]).unwrap();
    assert_eq!(received, Received::Later { field: 40 });
}

#[test]
fn a_stream_is_lost_after_a_fault() {
    let mut good = Vec::new();
    encode(&TextMessageStart::new("m").into(), &mut good).unwrap();
    let mut decoder = Decoder::new(MAX_FRAME_BYTES);
    decoder.push(&[0, 0, 0, 1, 0xff]);
    decoder.push(&good);
    assert!(matches!(decoder.next_event(), Err(ProtoError::Malformed(_))));
    decoder.push(&good);
    assert_eq!(decoder.next_event().unwrap(), None);
}

#[test]
fn a_frame_over_the_limit_is_refused_by_its_length() {
    let mut decoder = Decoder::new(20);
    decoder.push(&[0, 0, 0, 17]);
    let refused = decoder.next_event();
    assert!(matches!(refused, Err(ProtoError::TooLarge { bytes: 21, limit_bytes: 20 })), "{refused:?}");
    let mut decoder = Decoder::new(20);
    decoder.push(&[0, 0, 0, 16, 0]);
    assert_eq!(decoder.next_event().unwrap(), None);
    assert!(matches!(decoder.finish(), Err(ProtoError::Cut)));
}

#[test]
fn nesting_has_a_limit_in_both_directions() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let custom = |levels| Event::from(Custom::new("n", Json::from_string(nested(levels)).unwrap()));
    let mut frame = Vec::new();
    encode(&custom(128), &mut frame).unwrap();
    // The text of the event is one level deeper than its value.
    assert!(record(&frame[4..]).is_ok());
    let mut nothing = Vec::new();
    assert!(matches!(encode(&custom(129), &mut nothing), Err(ProtoError::TooDeep)));
    assert!(nothing.is_empty());
    // A value in a list in a value, and so on, by hand.
    let mut value = vec![0x08, 0x00];
    for _ in 0..129 {
        let list = [&[0x0a][..], &length(&value), &value].concat();
        value = [&[0x32][..], &length(&list), &list].concat();
    }
    let event = [&[0x0a, 0x02, 0x08, 0x06, 0x12][..], &length(&value), &value].concat();
    let message = [&[0x3a][..], &length(&event), &event].concat();
    assert!(matches!(decode_record(&message), Err(ProtoError::TooDeep)));
}

fn length(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = bytes.len();
    while rest >= 0x80 {
        out.push(u8::try_from(rest & 0x7f).unwrap() | 0x80);
        rest >>= 7;
    }
    out.push(u8::try_from(rest).unwrap());
    out
}

proptest! {
    #[test]
    fn no_bytes_make_the_decoder_panic_or_say_what_is_no_json(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(Received::Known(json)) = decode_record(&bytes) {
            prop_assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&json).is_ok());
        }
    }

    #[test]
    fn damaged_frames_are_refused_or_read_as_an_event(
        index in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let frames = all_frames();
        let mut frame = index.get(&frames).clone();
        for (place, byte) in damage {
            *place.get_mut(&mut frame) = byte;
        }
        let end = cut.index(frame.len() * 4).min(frame.len());
        let mut decoder = Decoder::new(MAX_FRAME_BYTES);
        decoder.push(&frame[..end]);
        while let Ok(Some(received)) = decoder.next_record() {
            let Received::Known(json) = received else { continue };
            prop_assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&json).is_ok());
            // Whether it is an event is for the reader of events to say, without a panic.
            let _ = decode_event(&json);
        }
    }
}
