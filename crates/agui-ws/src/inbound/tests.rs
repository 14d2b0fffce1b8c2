use agui_core::{RunId, ThreadId};
use proptest::strategy::Strategy as _;

use super::*;

fn read(body: impl Into<Bytes>) -> Inbound {
    Inbound::read(&body.into(), Some("de"))
}

fn refused(body: impl Into<Bytes>) -> (String, String, Named) {
    match read(body) {
        Inbound::Unreadable(fault, named) => (fault.code.into_owned(), fault.message, named),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_input_is_a_wish_for_a_run_with_or_without_a_byte_order_mark() {
    let plain = r#"{"threadId":"t","runId":"r","messages":[],"type":"whatever"}"#;
    for body in [plain.to_owned(), format!("\u{feff}{plain}")] {
        let Inbound::Run(wanted) = read(body) else { panic!("no run") };
        assert_eq!((wanted.input.thread_id.as_str(), wanted.input.run_id.as_str()), ("t", "r"));
        assert_eq!(wanted.body, plain);
        assert_eq!(wanted.language, Language::De);
    }
}

#[test]
fn an_input_is_answered_in_the_language_that_it_asks_for() {
    let props = r#""forwardedProps":{"iacCode":{"preferredLanguage":"fr"}}"#;
    let Inbound::Run(wanted) = read(format!(r#"{{"threadId":"t","runId":"r","messages":[],{props}}}"#))
    else {
        panic!("no run")
    };
    assert_eq!(wanted.language, Language::Fr);
    let (_, message, _) = refused(format!(r#"{{"threadId":"t","messages":[],{props}}}"#));
    let french = Fault::invalid("/runId", DecodeErrorKind::Missing, Language::Fr);
    assert_eq!(message, french.message);
}

#[test]
fn a_cancel_message_may_name_anything_or_nothing() {
    let all = r#"{"type":"cancel","runId":"r","threadId":"t","executionId":"e","rosInvocationId":"i","x":1}"#;
    let named = CancelMessage {
        run_id: Some(RunId::new("r")),
        thread_id: Some(ThreadId::new("t")),
        execution_id: Some("e".into()),
        ros_invocation_id: Some("i".into()),
        open_run: None,
    };
    for (body, expected) in [
        (all, named),
        (r#"{"type":"cancel"}"#, CancelMessage::default()),
        (r#"{"runId":null,"type":"cancel"}"#, CancelMessage::default()),
    ] {
        let Inbound::Cancel(message, language) = read(body) else { panic!("no cancel: {body}") };
        assert_eq!((message, language), (expected, Language::De), "{body}");
    }
}

#[test]
fn what_is_wrong_is_told_by_its_place_and_never_by_its_value() {
    let ids = |thread: Option<&str>, run: Option<&str>| Named::new(thread, run);
    let table: &[(&[u8], &str, DecodeErrorKind, Named)] = &[
        (b"", "", DecodeErrorKind::Syntax, ids(None, None)),
        (br#"{"threadId": "t1","#, "", DecodeErrorKind::Syntax, ids(None, None)),
        (b"{\"threadId\":\"\xff\xfe\"}", "", DecodeErrorKind::Syntax, ids(None, None)),
        (b"[]", "", DecodeErrorKind::WrongType(Expected::Object), ids(None, None)),
        (br#"{"threadId":"t-1"}"#, "/runId", DecodeErrorKind::Missing, ids(Some("t-1"), None)),
        (
            br#"{"threadId":"t","runId":"","messages":[]}"#,
            "/runId",
            DecodeErrorKind::Empty,
            ids(Some("t"), Some("")),
        ),
        (
            br#"{"threadId":7,"runId":"r","messages":[]}"#,
            "/threadId",
            DecodeErrorKind::WrongType(Expected::String),
            ids(None, Some("r")),
        ),
        (br#"{"type":"s3cret"}"#, "/type", DecodeErrorKind::NotAllowed, ids(None, None)),
        (
            br#"{"type":"cancel","runId":["s3cret"]}"#,
            "/runId",
            DecodeErrorKind::WrongType(Expected::String),
            ids(None, None),
        ),
    ];
    for (body, pointer, kind, named) in table {
        let expected = Fault::invalid(pointer, *kind, Language::De);
        let shown = String::from_utf8_lossy(body);
        assert_eq!(
            refused(Bytes::from_static(body)),
            ("VALIDATION_ERROR".to_owned(), expected.message.clone(), named.clone()),
            "{shown}"
        );
        assert!(expected.message.contains(if pointer.is_empty() { "" } else { pointer }), "{shown}");
        assert!(!expected.message.contains("s3cret"), "{shown}");
    }
}

#[test]
fn an_id_of_any_length_is_read_but_only_a_short_one_is_repeated() {
    let long = "i".repeat(ID_BYTES + 1);
    let (_, _, named) = refused(format!(r#"{{"threadId":"{long}","runId":"r"}}"#));
    assert_eq!(named, Named::new(None, Some("r")));
}

proptest::proptest! {
    #[test]
    fn whatever_comes_in_is_read_or_refused_in_words(
        body in proptest::prop_oneof![
            proptest::collection::vec(proptest::num::u8::ANY, 0..64),
            r#"\{("(type|threadId|runId|messages)":("cancel"|"x"|7|null|\[\]|\{\}),?){0,5}\}"#
                .prop_map(String::into_bytes),
        ],
    ) {
        if let Inbound::Unreadable(fault, _) = read(body) {
            proptest::prop_assert_eq!(&*fault.code, "VALIDATION_ERROR");
            proptest::prop_assert!(!fault.message.is_empty());
        }
    }
}
