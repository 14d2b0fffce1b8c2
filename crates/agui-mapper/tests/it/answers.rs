//! Answers to interrupts.

use agui_core::{Json, ResumeEntry, ResumeStatus};
use agui_mapper::answers::{Answer, resolve};
use agui_mapper::{MapError, OpenInput, Sideband, Texts};
use serde_json::{Value, json};

use crate::kernel::permission;

fn question(value: &Value) -> OpenInput {
    let id = value["inputId"].as_str().unwrap();
    OpenInput::restore(id, Json::from_serialize(value).unwrap(), Sideband::No, &Texts::default()).unwrap()
}

fn answer(value: &Value, payload: Option<&str>) -> Result<Answer, MapError> {
    let mut entry = ResumeEntry::new(value["inputId"].as_str().unwrap(), ResumeStatus::Resolved);
    entry.payload = payload.map(|payload| Json::from_string(payload.to_owned()).unwrap());
    resolve(&question(value), &entry)
}

fn cancel(value: &Value) -> Answer {
    resolve(&question(value), &ResumeEntry::new("x", ResumeStatus::Cancelled)).unwrap()
}

#[test]
fn c13_a_permission_takes_exactly_the_published_answers() {
    let asked = permission("permission-1", "bash");
    let data = |decision: &str| {
        json!({"schemaVersion": 1, "kind": "permission", "requestTaskId": "T1", "inputId": "permission-1",
            "toolUseId": "call_1", "decision": decision})
    };
    for decision in ["allow_once", "deny"] {
        let answer = answer(&asked, Some(&format!(r#"{{"decision":"{decision}"}}"#))).unwrap();
        let Answer::Permission { decision: decided, data: sent } = answer else { panic!("{answer:?}") };
        assert_eq!(decided.as_str(), decision);
        assert_eq!(serde_json::from_str::<Value>(sent.get()).unwrap(), data(decision));
    }
    let Answer::Permission { data: sent, .. } = cancel(&asked) else { panic!("not denied") };
    assert_eq!(serde_json::from_str::<Value>(sent.get()).unwrap(), data("deny"));

    let refused = [
        "null",
        "\"\"",
        "{}",
        "[]",
        r#"{"decision":"ALLOW_ONCE"}"#,
        r#"{"decision":null}"#,
        r#"{"decision":"deny","reason":null}"#,
        r#"{"decision":"allow_once","note":"x"}"#,
        r#"{"decision":"deny","decision":"allow_once"}"#,
        r#"{"decision":["allow_once"]}"#,
    ];
    for payload in refused {
        assert_eq!(answer(&asked, Some(payload)), Err(MapError::PayloadInvalid), "{payload}");
    }
    assert_eq!(answer(&asked, None), Err(MapError::PayloadRequired));
}

#[test]
fn w44_options_are_resolved_by_the_table_that_was_offered() {
    let asked = json!({"kind": "candidate_selection", "inputId": "i", "options": [{"label": "Plan A"}, {"id": "0", "label": "Plan 0"}]});
    let cases = [
        (r#"{"selectedId":"0"}"#, Ok("Plan 0")),
        (r#"{"selectedId":"0-2"}"#, Ok("Plan A")),
        (r#"{"selectedId":"1"}"#, Err(MapError::PayloadInvalid)),
        (r#"{"selectedId":0}"#, Err(MapError::PayloadInvalid)),
        (r#"{"selectedId":"0","freeText":"x"}"#, Err(MapError::PayloadInvalid)),
        (r#"{"freeText":"my own"}"#, Err(MapError::PayloadInvalid)),
        (r#""0""#, Err(MapError::PayloadInvalid)),
    ];
    for (payload, expected) in cases {
        assert_eq!(
            answer(&asked, Some(payload)),
            expected.map(|text: &str| Answer::Text(text.to_owned())),
            "{payload}"
        );
    }
    assert_eq!(cancel(&asked), Answer::CancelTask);
}

#[test]
fn own_words_are_taken_where_they_are_asked_for() {
    let free = json!({"kind": "ask_user_question", "inputId": "i", "allowFreeText": true, "options": [{"id": "a", "label": "A"}]});
    let open = json!({"kind": "prompt", "inputId": "i"});
    for asked in [free, open] {
        assert_eq!(
            answer(&asked, Some(r#"{"freeText":"cn-hangzhou \u4f60"}"#)),
            Ok(Answer::Text("cn-hangzhou \u{4f60}".to_owned()))
        );
        assert_eq!(answer(&asked, Some(r#"{"freeText":""}"#)), Err(MapError::PayloadInvalid));
    }
}

#[test]
fn c67_a_resource_selection_is_answered_with_its_names() {
    let asked = json!({"kind": "cloud_resource_selection", "inputId": "resource-0", "requestTaskId": "T1", "contextId": "C1",
        "toolUseId": "call_3", "selector": {"id": "vpc"}});
    let names = r#""schemaVersion":1,"kind":"cloud_resource_selection""#;
    let rest = r#""requestTaskId":"T1","contextId":"C1","inputId":"resource-0","toolUseId":"call_3","selectorId":"vpc""#;
    let cases = [
        (
            r#"{"value":1234567890123456789}"#,
            format!(r#"{{{names},"status":"selected",{rest},"value":1234567890123456789}}"#),
        ),
        (
            r#"{"status":"selected","value":"vpc-1","label":"Mine","source":null,"optionsEmpty":false}"#,
            format!(
                r#"{{{names},"status":"selected",{rest},"value":"vpc-1","label":"Mine","source":null,"optionsEmpty":false}}"#
            ),
        ),
        (r#"{"status":"canceled"}"#, format!(r#"{{{names},"status":"canceled",{rest},"value":null}}"#)),
    ];
    for (payload, expected) in cases {
        let Ok(Answer::Resource { input_response }) = answer(&asked, Some(payload)) else {
            panic!("{payload}")
        };
        assert_eq!(input_response.get(), expected);
    }
    for payload in [
        "{}",
        r#"{"label":"x"}"#,
        r#"{"value":1,"extra":2}"#,
        r#"{"value":1,"status":"maybe"}"#,
        r#"{"status":"canceled","value":1}"#,
        r#"{"value":1,"optionsEmpty":"no"}"#,
        r#"{"value":1,"label":3}"#,
    ] {
        assert_eq!(answer(&asked, Some(payload)), Err(MapError::PayloadInvalid), "{payload}");
    }
    let Answer::Resource { input_response } = cancel(&asked) else { panic!("not declined") };
    assert!(input_response.get().contains(r#""status":"canceled""#));
}
