use agui_core::Json;
use proptest::prelude::*;

use super::*;

fn text(body: &str, numbers: Numbers) -> String {
    String::from_utf8(canonical(body.as_bytes(), numbers).unwrap()).unwrap()
}

#[test]
fn structure_has_one_spelling() {
    let cases = [
        (r#" { "b" : [ 1 , true , null , false ] , "a" : { } } "#, r#"{"a":{},"b":[1,true,null,false]}"#),
        (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#),
        (
            r#"{"b":{"z":1,"y":{"d":1,"c":2}},"a":[{"q":1,"p":2}]}"#,
            r#"{"a":[{"p":2,"q":1}],"b":{"y":{"c":2,"d":1},"z":1}}"#,
        ),
        (r#"{"\u0061":1,"":2}"#, r#"{"":2,"a":1}"#),
        ("[]", "[]"),
        (r#""x""#, r#""x""#),
    ];
    for (body, expected) in cases {
        assert_eq!(text(body, Numbers::Exact), expected);
        assert_eq!(text(body, Numbers::Python), expected);
    }
}

#[test]
fn strings_have_one_spelling() {
    let cases = [
        (r#""\u00e4\u20ac""#, "\"ä€\""),
        (r#""\ud83d\ude00""#, "\"😀\""),
        (r#""\/\"\\\b\f\n\r\t""#, r#""/\"\\\b\f\n\r\t""#),
        (r#""\u0000\u001F\u007f""#, "\"\\u0000\\u001f\u{7f}\""),
        (r#""\ud83D!\uDe00""#, r#""\ud83d!\ude00""#),
    ];
    for (body, expected) in cases {
        assert_eq!(text(body, Numbers::Exact), expected);
    }
    // Keys sort by code point: a lone surrogate before U+E000, U+10000 behind it.
    assert_eq!(
        text(r#"{"\ud800\udc00":1,"\ue000":2,"\ud800":3}"#, Numbers::Exact),
        "{\"\\ud800\":3,\"\u{e000}\":2,\"\u{10000}\":1}"
    );
}

#[test]
fn numbers_are_compared_by_value_without_losing_digits() {
    let long = "123456789012345678901234567890.000000000000000000000000000001";
    let cases = [
        ("1", "1"),
        ("1.0", "1"),
        ("1e0", "1"),
        ("10E-1", "1"),
        ("0.001e3", "1"),
        ("100", "100"),
        ("1e2", "100"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("0e99999999999999999999999", "0"),
        ("1.50", "15e-1"),
        ("-2.5e-7", "-25e-8"),
        ("18446744073709551617", "18446744073709551617"),
        ("18446744073709551617.0", "18446744073709551617"),
        (long, "123456789012345678901234567890000000000000000000000000000001e-30"),
        ("1E+4400", "1e4400"),
        ("10e4399", "1e4400"),
        ("1E99999999999999999999999", "1e99999999999999999999999"),
    ];
    for (literal, expected) in cases {
        assert_eq!(text(literal, Numbers::Exact), expected, "{literal}");
    }
    assert_eq!(text("1E400", Numbers::Exact), format!("1{}", "0".repeat(400)));
    let huge = "7".repeat(5000);
    assert_eq!(text(&huge, Numbers::Exact), format!("{huge}e0"));
}

#[test]
fn floats_are_spelled_as_python_does() {
    let cases = [
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("1.0", "1.0"),
        ("1e0", "1.0"),
        ("1E2", "100.0"),
        ("0.1", "0.1"),
        ("0.0001", "0.0001"),
        ("0.00001", "1e-05"),
        ("2204138485456065.25", "2204138485456065.2"),
        ("2204138485456065.75", "2204138485456065.8"),
        ("123456.789", "123456.789"),
        ("12e-4", "0.0012"),
        ("9007199254740993e-16", "0.9007199254740993"),
        ("1e15", "1000000000000000.0"),
        ("9007199254740993.0", "9007199254740992.0"),
        ("1e16", "1e+16"),
        ("1.5e300", "1.5e+300"),
        ("-2.5E-7", "-2.5e-07"),
        ("5e-324", "5e-324"),
        ("1e-400", "0.0"),
        ("1E400", "Infinity"),
        ("-1E400", "-Infinity"),
        ("3.141592653589793238", "3.141592653589793"),
        ("18446744073709551617", "18446744073709551617"),
    ];
    for (literal, expected) in cases {
        assert_eq!(text(literal, Numbers::Python), expected, "{literal}");
    }
}

#[test]
fn what_is_not_json_is_digested_as_it_is() {
    let deep = "[".repeat(MAX_DEPTH + 2) + &"]".repeat(MAX_DEPTH + 2);
    let bodies: [&[u8]; 17] = [
        b"",
        b"{",
        b"[1,]",
        b"{\"a\"}",
        b"{\"a\":1,}",
        b"01",
        b"1.",
        b".5",
        b"+1",
        b"1e",
        b"NaN",
        b"\"\n\"",
        b"\"\\x\"",
        b"\"\\u12\"",
        b"1 2",
        b"\"\xff\"",
        deep.as_bytes(),
    ];
    for body in bodies {
        assert_eq!(canonical(body, Numbers::Exact), None, "{body:?}");
        assert_eq!(request_digest(body), Digest::of(body));
        assert_eq!(python_digest(body), Digest::of(body));
    }
}

#[test]
fn answers_of_recorded_threads_have_their_digest() {
    let allow = Json::from_string(r#"{"decision":"allow_once"}"#.to_owned()).unwrap();
    let deny = Json::from_string(r#"{ "decision": "deny" }"#.to_owned()).unwrap();
    let cases = [
        (Some(&allow), "289281c743b2a91d60f25b59680f04683bd82766f7a9b2eb405975140373868e"),
        (Some(&deny), "9fc55f096680d5372482e460d9f4be2de75a757ada3482af498f262ff519b679"),
    ];
    for (payload, expected) in cases {
        assert_eq!(answer_digest("resolved", payload).to_string(), expected);
    }
    assert_eq!(answer_digest("cancelled", None), answer_digest("cancelled", Some(&Json::null())));
    assert_eq!(
        answer_digest("cancelled", None).to_string(),
        "3902805a6bea7234d10c2f7eac2aadf4db6e27f87f95aeb0de62aa73bf902f22"
    );
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn spelling_never_matters(value in json()) {
        let compact = value.to_string();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(text(&compact, Numbers::Exact), text(&pretty, Numbers::Exact));
        prop_assert_eq!(text(&compact, Numbers::Python), text(&pretty, Numbers::Python));
    }

    #[test]
    fn canonical_text_is_its_own_canonical_text(value in json()) {
        for numbers in [Numbers::Exact, Numbers::Python] {
            let once = text(&value.to_string(), numbers);
            prop_assert_eq!(&text(&once, numbers), &once);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(body in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = (request_digest(&body), python_digest(&body));
    }
}
