use super::{object_bytes, object_text, value_bytes, value_text};
use crate::ProtoError;

fn there_and_back(json: &str) -> String {
    let mut out = Vec::new();
    assert!(value_text(&value_bytes(json).unwrap(), &mut out).unwrap());
    String::from_utf8(out).unwrap()
}

#[test]
fn numbers_come_back_as_javascript_shows_them() {
    let table = [
        ("1.0", "1"),
        ("-0", "-0"),
        ("1e3", "1000"),
        ("0.1", "0.1"),
        ("9007199254740993", "9007199254740992"),
        ("1152921504606846976", "1152921504606846976"),
        ("123456789012345680000", "123456789012345680000"),
        ("1e21", "1e21"),
        ("-2.5e-8", "-2.5e-8"),
        ("1e400", "null"),
    ];
    for (text, expected) in table {
        let back = there_and_back(text);
        assert_eq!(back.parse::<f64>().ok(), expected.parse::<f64>().ok(), "{text}");
        assert!(back.len() <= 25, "{back}");
    }
}

#[test]
fn keys_have_the_order_of_a_javascript_object() {
    let table = [
        (r#"{"b":1,"a":2}"#, r#"{"b":1,"a":2}"#),
        (r#"{"10":1,"2":2,"b":3,"01":4,"0":5}"#, r#"{"0":5,"2":2,"10":1,"b":3,"01":4}"#),
        (r#"{"4294967295":1,"4294967294":2}"#, r#"{"4294967294":2,"4294967295":1}"#),
        (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#),
        (r#"{"__proto__":{"x":1},"b":{"__proto__":1}}"#, r#"{"b":{}}"#),
        (r#"{ "" : [ 1 , {} ] }"#, r#"{"":[1,{}]}"#),
    ];
    for (json, expected) in table {
        assert_eq!(there_and_back(json), expected, "{json}");
    }
}

#[test]
fn an_object_is_written_without_the_value_around_it() {
    let bytes = object_bytes(r#" {"k":true}"#).unwrap();
    assert_eq!(bytes, [vec![0x0a, 0x07, 0x0a, 0x01, b'k', 0x12, 0x02, 0x20, 0x01]]);
    let mut out = Vec::new();
    assert!(object_text(&bytes, &mut out).unwrap());
    assert_eq!(out, br#"{"k":true}"#);
    assert!(!object_text(&[], &mut out).unwrap());
}

#[test]
fn text_that_is_no_json_is_refused() {
    for text in ["", "[", "{\"a\"", "\"x", "{\"a\":", "nul", "{1:2}"] {
        assert!(matches!(value_bytes(text), Err(ProtoError::Json(_))), "{text}");
    }
}
