//! Whatever comes is read as far as it goes.

use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::{IacMetadata, Notes, metadata, raw, read, told};

const MEMBERS: [&str; 21] = [
    "input",
    "inputRequired",
    "pendingPermissions",
    "thinking",
    "tool",
    "usage",
    "assistantFinal",
    "pipeline",
    "pipelineBatch",
    "permission",
    "inputReceived",
    "permissionAck",
    "permissionRecovered",
    "permissionWait",
    "permissionIdentityError",
    "error",
    "backupBlocked",
    "cleanupOnly",
    "mcpWarning",
    "executionControl",
    "mcpStatus",
];

#[test]
fn a_member_of_the_wrong_type_spoils_nothing_else() {
    for name in MEMBERS.into_iter().filter(|name| *name != "mcpStatus") {
        for wrong in ["7", "\"x\"", "true", "1E400", r#""\ud83d""#] {
            let text = metadata(&format!(r#""{name}":{wrong},"error":{{"errorId":"e1"}}"#));
            let update = IacMetadata::read(raw(&text));
            assert_eq!(told(&update.notes), [format!("iac_code.{name}")], "{name} = {wrong}");
            assert_eq!(update.session_id.as_deref(), Some("S1"));
            assert_eq!(update.error.unwrap().error_id.as_deref(), Some("e1"));
        }
    }
}

#[test]
fn nulls_count_as_absent() {
    let nulls: Vec<String> = MEMBERS.iter().map(|name| format!(r#""{name}":null"#)).collect();
    let text = metadata(&nulls.join(","));

    let expected = IacMetadata { session_id: Some("S1".into()), ..IacMetadata::default() };
    assert_eq!(read(&text), expected);
}

#[test]
fn metadata_of_another_shape_is_empty() {
    let cases = [
        ("null", vec![]),
        ("{}", vec![]),
        (r#"{"other":1}"#, vec![]),
        (r#"{"iac_code":null}"#, vec![]),
        (r#"{"iac_code":{}}"#, vec![]),
        (r#"{"iac_code":[]}"#, vec!["metadata.iac_code"]),
        (r#"{"iac_code":"x"}"#, vec!["metadata.iac_code"]),
        ("[]", vec!["message.metadata"]),
        ("3", vec!["message.metadata"]),
    ];
    for (text, notes) in cases {
        let update = IacMetadata::read(raw(text));
        assert_eq!(told(&update.notes), notes, "{text}");
        assert_eq!(IacMetadata { notes: Notes::default(), ..update }, IacMetadata::default(), "{text}");
    }
}

#[test]
fn wrong_leaves_are_noted_by_object_and_member() {
    let text = metadata(
        r#""tool":{"status":1,"toolUseId":["c"],"name":"bash"},"pipelineBatch":{"events":[7,{"sequence":"1",
        "eventType":"text_delta","data":{"text":5}},{"eventType":"usage","data":[]}]},
        "inputReceived":{"decision":"maybe"}"#,
    );

    let update = IacMetadata::read(raw(&text));

    assert_eq!(
        told(&update.notes),
        [
            "tool.status",
            "tool.toolUseId",
            "events.[]",
            "pipeline.sequence",
            "pipeline.data.text",
            "pipeline.data",
            "inputReceived.decision",
        ]
    );
    assert_eq!(update.tool.as_deref().unwrap().name.as_deref(), Some("bash"));
    assert_eq!(update.envelopes().count(), 2);
}

#[test]
fn c69_deep_nesting_is_kept_as_text() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let text = metadata(&format!(r#""tool":{{"status":"completed","result":{deep}}},"x":{deep}"#));

    assert_eq!(read(&text).tool.unwrap().result_text().unwrap(), deep);
}

/// JSON text of any shape, with the names that are read somewhere.
fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("1E400".to_owned()),
        Just(r#""\ud83d""#.to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_filter("a JSON number", |n| n.is_finite()).prop_map(|number| format!("{number:?}")),
        "[a-z\u{e4}\u{1f600}]{0,8}".prop_map(|text| format!("\"{text}\"")),
    ];
    let names = prop::sample::select(vec![
        "kind",
        "inputId",
        "toolUseId",
        "status",
        "options",
        "events",
        "data",
        "eventType",
        "text",
        "sequence",
        "step",
        "candidate",
        "permission",
        "input",
        "selector",
        "result",
        "messageId",
        "id",
    ]);
    let words =
        prop::sample::select(vec!["text_delta", "permission", "input_required", "tool_result", "usage"]);
    leaf.prop_recursive(4, 48, 6, move |inner| {
        let member = (
            names.clone(),
            prop_oneof![3 => inner.clone(), 1 => words.clone().prop_map(|w| format!("\"{w}\""))],
        );
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|all| format!("[{}]", all.join(","))),
            prop::collection::vec(member, 0..6).prop_map(|all| {
                let members: Vec<String> =
                    all.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_of_any_member_leaves_the_session_readable(
        values in prop::collection::vec((prop::sample::select(MEMBERS.to_vec()), json_text()), 0..4)
    ) {
        let members: Vec<String> = values.iter().map(|(name, value)| format!(",\"{name}\":{value}")).collect();
        let text = format!(r#"{{"iac_code":{{"iacCodeSessionId":"S1"{}}}}}"#, members.concat());

        let update = IacMetadata::read(raw(&text));

        prop_assert_eq!(update.session_id.as_deref(), Some("S1"));
        for event in update.envelopes() {
            prop_assert!(text.contains(event.raw.get()));
        }
        for input in update.open_inputs() {
            let ids: Vec<String> = input.choices().into_iter().map(|choice| choice.id).collect();
            let unique: std::collections::HashSet<&String> = ids.iter().collect();
            prop_assert_eq!(unique.len(), ids.len());
            prop_assert!(serde_json::to_string(&input.public_members()).is_ok());
        }
    }
}
