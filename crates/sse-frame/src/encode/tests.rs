use bytes::BytesMut;

use super::*;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn payload_is_one_record_whatever_line_breaks_it_has() {
    let cases: &[(&str, &str)] = &[
        ("{}", "data: {}\n\n"),
        ("", "data: \n\n"),
        ("{\n}", "data: {\ndata: }\n\n"),
        ("{\r\n\r}", "data: {\ndata: \ndata: }\n\n"),
        ("x\n", "data: x\ndata: \n\n"),
        ("a\u{2028}b\u{85}c", "data: a\u{2028}b\u{85}c\n\n"),
    ];
    for (payload, expected) in cases {
        assert_eq!(written(|out| encode_data(out, payload.as_bytes())), *expected, "{payload:?}");
    }
}

#[test]
fn closure_output_is_framed_in_place() {
    let mut out = BytesMut::from(&b"before|"[..]);
    let length = encode_with(&mut out, |buffer| {
        buffer.put(b"[1,\n2]");
        6
    });
    assert_eq!((length, &out[..]), (6, &b"before|data: [1,\ndata: 2]\n\n"[..]));
}

#[test]
fn failed_payload_leaves_no_trace() {
    let mut out = b"before|".to_vec();
    let failed = try_encode_with(&mut out, |buffer| {
        buffer.put(b"{\"half\":");
        Err("no")
    });
    assert_eq!((failed, out.as_slice()), (Err("no"), &b"before|"[..]));
    assert_eq!(try_encode_with(&mut out, |_| Ok::<(), ()>(())), Ok(()));
    assert_eq!(out, b"before|data: \n\n");
}

#[test]
fn comment_cannot_smuggle_a_field() {
    assert_eq!(written(|out| encode_comment(out, "heartbeat")), ": heartbeat\n\n");
    assert_eq!(written(|out| encode_comment(out, "a\r\ndata: x")), ": a\n: data: x\n\n");
}

#[test]
fn id_and_event_lines_precede_their_record() {
    let text = written(|out| {
        encode_id(out, "7").unwrap();
        encode_event(out, "error").unwrap();
        encode_data(out, b"{}");
    });
    assert_eq!(text, "id: 7\nevent: error\ndata: {}\n\n");
}

#[test]
fn field_value_that_would_break_the_frame_is_refused() {
    for value in ["a\nb", "a\r", "\r\n"] {
        let mut out = Vec::new();
        assert_eq!(encode_id(&mut out, value), Err(SseError::InvalidField), "{value:?}");
        assert_eq!(encode_event(&mut out, value), Err(SseError::InvalidField), "{value:?}");
        assert_eq!(out, b"");
    }
    assert_eq!(encode_id(&mut Vec::new(), "a\0"), Err(SseError::InvalidField));
}
