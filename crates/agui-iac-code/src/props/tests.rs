use super::*;

use PropsErrorKind::{DuplicateKey, Missing, OutOfRange, Syntax, UnknownKey, WrongType};

/// `forwardedProps` with the required members and `members` after them.
fn with(members: &str) -> String {
    format!(r#"{{"iacCode":{{"schemaVersion":1,"rosInvocationId":"inv","cwd":"/w"{members}}}}}"#)
}

fn refused(text: Option<&str>) -> (String, PropsErrorKind) {
    let error = IacCodeProps::decode(text).expect_err(text.unwrap_or("absent"));
    (error.pointer, error.kind)
}

#[test]
fn s3_every_member_is_decoded() {
    let text = with(
        r#","model":"m","llmApiKey":"key","thinking":{"enabled":false,"effort":"high","budget":1024.0},
        "userId":"u","channel":"c","preferredLanguage":"fr","candidatePresentation":"standard",
        "runMode":"pipeline","pipelineName":"selling","cleanupOnly":true,
        "alibabaCloud":{"accessKeyId":"ak","accessKeySecret":"sk","securityToken":"sts","regionId":"cn-hangzhou"},
        "llmHeaders":{"X-A":"1"},"activeGuidance":true"#,
    );

    let props = IacCodeProps::decode(Some(&text)).unwrap();

    assert_eq!((props.ros_invocation_id.as_str(), props.cwd.as_str()), ("inv", "/w"));
    assert_eq!(props.model.as_deref(), Some("m"));
    assert_eq!(props.llm_api_key.as_ref().map(Secret::expose), Some("key"));
    let thinking = ThinkingProps { enabled: Some(false), effort: Some("high".into()), budget: Some(1024) };
    assert_eq!(props.thinking, Some(thinking));
    assert_eq!(props.user_id.as_deref(), Some("u"));
    assert_eq!(props.channel.as_deref(), Some("c"));
    assert_eq!(props.preferred_language.as_deref(), Some("fr"));
    assert_eq!(props.candidate_presentation, Some(CandidatePresentation::Standard));
    assert_eq!(props.run_mode, Some(RunMode::Pipeline));
    assert_eq!(props.pipeline_name.as_deref(), Some("selling"));
    assert_eq!(
        (props.cleanup_only, props.active_guidance, props.is_guidance()),
        (Some(true), Some(true), true)
    );
    let cloud = props.alibaba_cloud.as_ref().unwrap();
    let secrets = [&cloud.access_key_id, &cloud.access_key_secret, &cloud.security_token];
    assert_eq!(
        secrets.map(|secret| secret.as_ref().map(Secret::expose)),
        [Some("ak"), Some("sk"), Some("sts")]
    );
    assert_eq!(cloud.region_id.as_deref(), Some("cn-hangzhou"));
    let headers = props.llm_headers.as_ref().unwrap();
    assert_eq!(headers.get("X-A").map(Secret::expose), Some("1"));
}

#[test]
fn s3_0_keys_beside_the_extension_are_ignored() {
    let text = r#"{"copilot":{"iacCode":1,"a":[1e999]},"b":null,"b":2,"iacCode":
        {"schemaVersion":1,"rosInvocationId":"i","cwd":"/w"}}"#;

    assert_eq!(IacCodeProps::decode(Some(text)).unwrap().cwd, "/w");
}

#[test]
fn s3_0_nothing_is_filled_in_for_what_was_not_given() {
    let null = with(
        r#","model":null,"llmApiKey":null,"thinking":null,"userId":null,"channel":null,"preferredLanguage":null,
        "candidatePresentation":null,"runMode":null,"pipelineName":null,"cleanupOnly":null,"alibabaCloud":null,
        "llmHeaders":null,"activeGuidance":null"#,
    );
    let bare = format!("{:?}", IacCodeProps::new("inv", "/w"));

    for text in [with(""), null] {
        assert_eq!(format!("{:?}", IacCodeProps::decode(Some(&text)).unwrap()), bare);
    }
}

#[test]
fn s2_8_the_extension_is_required() {
    let cases = [
        (None, "/forwardedProps", Missing),
        (Some("null"), "/forwardedProps", Missing),
        (Some("[]"), "/forwardedProps", WrongType),
        (Some("\"x\""), "/forwardedProps", WrongType),
        (Some("{"), "/forwardedProps", Syntax),
        (Some(""), "/forwardedProps", Syntax),
        (Some("{}"), "/forwardedProps/iacCode", Missing),
        (Some(r#"{"iac_code":{}}"#), "/forwardedProps/iacCode", Missing),
        (Some(r#"{"iacCode":null}"#), "/forwardedProps/iacCode", WrongType),
        (Some(r#"{"iacCode":[]}"#), "/forwardedProps/iacCode", WrongType),
        (Some(r#"{"iacCode":{},"iac\u0043ode":{}}"#), "/forwardedProps/iacCode", DuplicateKey),
    ];
    for (text, pointer, kind) in cases {
        assert_eq!(refused(text), (pointer.to_owned(), kind), "{text:?}");
    }
}

#[test]
fn s3_the_required_members_are_required() {
    let cases = [
        ("", "schemaVersion", Missing),
        (r#""rosInvocationId":"i","cwd":"/w""#, "schemaVersion", Missing),
        (r#""schemaVersion":1,"cwd":"/w""#, "rosInvocationId", Missing),
        (r#""schemaVersion":1,"rosInvocationId":"i""#, "cwd", Missing),
        (r#""schemaVersion":1,"rosInvocationId":"i","cwd":null"#, "cwd", WrongType),
        (r#""schemaVersion":1,"rosInvocationId":"i","cwd":["/w"]"#, "cwd", WrongType),
        (r#""schemaVersion":1,"rosInvocationId":"i","cwd":"""#, "cwd", OutOfRange),
        (r#""schemaVersion":1,"rosInvocationId":null,"cwd":"/w""#, "rosInvocationId", WrongType),
        (r#""schemaVersion":1,"rosInvocationId":5,"cwd":"/w""#, "rosInvocationId", WrongType),
        (r#""schemaVersion":1,"rosInvocationId":"","cwd":"/w""#, "rosInvocationId", OutOfRange),
    ];
    for (members, name, kind) in cases {
        let text = format!(r#"{{"iacCode":{{{members}}}}}"#);
        assert_eq!(refused(Some(&text)), (format!("/forwardedProps/iacCode/{name}"), kind), "{members}");
    }
}

#[test]
fn s3_0_the_schema_version_is_the_number_1_however_it_is_written() {
    let text = |version: &str| {
        format!(r#"{{"iacCode":{{"schemaVersion":{version},"rosInvocationId":"i","cwd":"/w"}}}}"#)
    };
    for version in ["1", "1.0", "1e0", "10e-1"] {
        assert!(IacCodeProps::decode(Some(&text(version))).is_ok(), "{version}");
    }
    let wrong = [
        ("true", WrongType),
        ("\"1\"", WrongType),
        ("null", WrongType),
        ("[1]", WrongType),
        ("2", OutOfRange),
        ("0", OutOfRange),
        ("-1", OutOfRange),
        ("1.5", OutOfRange),
        ("1e999", OutOfRange),
    ];
    for (version, kind) in wrong {
        let expected = ("/forwardedProps/iacCode/schemaVersion".to_owned(), kind);
        assert_eq!(refused(Some(&text(version))), expected, "{version}");
    }
}

#[test]
fn s3_0_a_member_of_the_wrong_sort_is_named_by_its_pointer() {
    let cases = [
        (r#","model":1"#, "model", WrongType),
        (r#","llmApiKey":["k"]"#, "llmApiKey", WrongType),
        (r#","thinking":true"#, "thinking", WrongType),
        (r#","thinking":{"enabled":"true"}"#, "thinking/enabled", WrongType),
        (r#","thinking":{"effort":3}"#, "thinking/effort", WrongType),
        (r#","thinking":{"budget":"1"}"#, "thinking/budget", WrongType),
        (r#","thinking":{"budget":true}"#, "thinking/budget", WrongType),
        (r#","thinking":{"budget":1.5}"#, "thinking/budget", WrongType),
        (r#","thinking":{"budget":0}"#, "thinking/budget", OutOfRange),
        (r#","thinking":{"budget":-5}"#, "thinking/budget", OutOfRange),
        (r#","thinking":{"budget":9007199254740992}"#, "thinking/budget", OutOfRange),
        (r#","thinking":{"budget":1e999}"#, "thinking/budget", OutOfRange),
        (r#","thinking":{"budgets":1}"#, "thinking/budgets", UnknownKey),
        (r#","userId":5"#, "userId", WrongType),
        (r#","channel":{}"#, "channel", WrongType),
        (r#","preferredLanguage":[]"#, "preferredLanguage", WrongType),
        (r#","candidatePresentation":"rich-v1""#, "candidatePresentation", OutOfRange),
        (r#","candidatePresentation":"Rich""#, "candidatePresentation", OutOfRange),
        (r#","candidatePresentation":1"#, "candidatePresentation", WrongType),
        (r#","runMode":"PIPELINE""#, "runMode", OutOfRange),
        (r#","runMode":false"#, "runMode", WrongType),
        (r#","pipelineName":0"#, "pipelineName", WrongType),
        (r#","cleanupOnly":1"#, "cleanupOnly", WrongType),
        (r#","cleanupOnly":"true""#, "cleanupOnly", WrongType),
        (r#","alibabaCloud":"x""#, "alibabaCloud", WrongType),
        (r#","alibabaCloud":{"accessKeySecret":9}"#, "alibabaCloud/accessKeySecret", WrongType),
        (r#","alibabaCloud":{"access_key_id":"a"}"#, "alibabaCloud/access_key_id", UnknownKey),
        (r#","llmHeaders":[]"#, "llmHeaders", WrongType),
        (r#","llmHeaders":{"X-A":1}"#, "llmHeaders/X-A", WrongType),
        (r#","llmHeaders":{"X-A":null}"#, "llmHeaders/X-A", WrongType),
        (r#","activeGuidance":0"#, "activeGuidance", WrongType),
    ];
    for (members, pointer, kind) in cases {
        let expected = (format!("/forwardedProps/iacCode/{pointer}"), kind);
        assert_eq!(refused(Some(&with(members))), expected, "{members}");
    }
}

#[test]
fn s3_0_unknown_and_snake_case_keys_are_refused() {
    for name in [
        "schema_version",
        "ros_invocation_id",
        "llm_api_key",
        "user_id",
        "run_mode",
        "runmode",
        "Model",
        "extensionOfTheFuture",
    ] {
        let expected = (format!("/forwardedProps/iacCode/{name}"), UnknownKey);
        assert_eq!(refused(Some(&with(&format!(r#","{name}":null"#)))), expected);
    }
}

#[test]
fn c68_a_key_that_is_given_twice_is_refused_even_with_the_same_value() {
    let cases = [
        (r#","cwd":"/w""#, "cwd"),
        (r#","c\u0077d":"/other""#, "cwd"),
        (r#","schemaVersion":1"#, "schemaVersion"),
        (r#","userId":"a","userId":"b""#, "userId"),
        (r#","userId":null,"userId":"b""#, "userId"),
        (r#","thinking":{"enabled":true,"enabled":false}"#, "thinking/enabled"),
        (r#","alibabaCloud":{"regionId":"a","regionId":"a"}"#, "alibabaCloud/regionId"),
        (r#","llmHeaders":{"X-A":"1","X-A":"2"}"#, "llmHeaders/X-A"),
    ];
    for (members, pointer) in cases {
        let expected = (format!("/forwardedProps/iacCode/{pointer}"), DuplicateKey);
        assert_eq!(refused(Some(&with(members))), expected, "{members}");
    }
}

#[test]
fn s3_an_invocation_id_has_at_most_256_characters() {
    let text =
        |id: &str| format!(r#"{{"iacCode":{{"schemaVersion":1,"rosInvocationId":"{id}","cwd":"/w"}}}}"#);
    for id in ["x".repeat(256), "é".repeat(256), "😀".repeat(256)] {
        let props = IacCodeProps::decode(Some(&text(&id))).unwrap();
        assert_eq!(props.ros_invocation_id, id);
    }
    for id in ["x".repeat(257), "é".repeat(257), "😀".repeat(257), "x".repeat(100_000)] {
        let expected = ("/forwardedProps/iacCode/rosInvocationId".to_owned(), OutOfRange);
        assert_eq!(refused(Some(&text(&id))), expected);
    }
}

#[test]
fn c44_a_lone_surrogate_is_refused_where_it_stands() {
    let cases = [
        (r#","userId":"plan \ud83d done""#, "/forwardedProps/iacCode/userId", WrongType),
        (r#","\ud83d":1"#, "/forwardedProps/iacCode", UnknownKey),
        (r#","llmHeaders":{"\udc00":"1"}"#, "/forwardedProps/iacCode/llmHeaders", UnknownKey),
    ];
    for (members, pointer, kind) in cases {
        assert_eq!(refused(Some(&with(members))), (pointer.to_owned(), kind), "{members}");
    }
}

#[test]
fn a_name_in_a_pointer_is_escaped_and_cut() {
    let long = "k".repeat(5_000);
    let cases = [
        ("a/b~c", "a~1b~0c".to_owned()),
        (r"a\u0000\nb", "a\u{fffd}\u{fffd}b".to_owned()),
        (long.as_str(), format!("{}…", "k".repeat(64))),
        (r"", String::new()),
    ];
    for (name, shown) in cases {
        let (pointer, kind) = refused(Some(&with(&format!(r#","{name}":1"#))));
        assert_eq!((pointer, kind), (format!("/forwardedProps/iacCode/{shown}"), UnknownKey));
    }
}

#[test]
fn s2_12_no_error_shows_a_value() {
    let cases = [
        r#","llmApiKey":{"nested":"s3cr3t"}"#,
        r#","candidatePresentation":"s3cr3t""#,
        r#","thinking":{"budget":"s3cr3t"}"#,
        r#","alibabaCloud":{"accessKeySecret":["s3cr3t"]}"#,
        r#","llmHeaders":{"X-A":["s3cr3t"]}"#,
        r#","extra":"s3cr3t""#,
    ];
    for members in cases {
        let error = IacCodeProps::decode(Some(&with(members))).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cr3t"), "{error}");
    }
}

#[test]
fn c69_deep_and_wide_input_ends_with_an_error() {
    let deep = with(&format!(r#","extra":{}{}"#, "[".repeat(20_000), "]".repeat(20_000)));
    assert_eq!(refused(Some(&deep)), ("/forwardedProps/iacCode/extra".to_owned(), UnknownKey));

    let wide: String = (0..100_000).map(|number| format!(r#","k{number}":1"#)).collect();
    assert_eq!(refused(Some(&with(&wide))), ("/forwardedProps/iacCode/k0".to_owned(), UnknownKey));
}
