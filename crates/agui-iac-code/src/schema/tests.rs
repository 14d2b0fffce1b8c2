use serde_json::value::RawValue;

use super::*;
use crate::custom::{ArtifactV1, PipelineV1, SessionV1, ToolProgressV1};
use crate::metadata::PipelineEnvelope;
use crate::{IacCodeProps, Notes};

fn accepts(schema: &Schema, value: &Value) -> bool {
    jsonschema::validator_for(schema.as_value()).unwrap().is_valid(value)
}

/// One request with every member of the extension.
fn full() -> Value {
    json!({"other": 1, "iacCode": {
        "schemaVersion": 1, "rosInvocationId": "i", "cwd": "/w", "model": "m", "llmApiKey": "k",
        "thinking": {"enabled": true, "effort": "high", "budget": 1}, "userId": "u", "channel": "c",
        "preferredLanguage": "fr", "candidatePresentation": "rich", "runMode": "pipeline",
        "pipelineName": "selling", "cleanupOnly": false,
        "alibabaCloud": {"accessKeyId": "a", "accessKeySecret": "b", "securityToken": "c", "regionId": "d"},
        "llmHeaders": {"X-A": "1"}, "activeGuidance": true
    }})
}

/// Every place in `value` that a wrong value can be put at.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    if let Value::Object(members) = value {
        for (name, member) in members {
            let place = format!("{at}/{name}");
            places(member, &place, all);
            all.push(place);
        }
    }
}

#[test]
fn the_schema_and_the_decoder_accept_and_refuse_the_same() {
    let schema = forwarded_props();
    let mut all = Vec::new();
    places(&full(), "", &mut all);
    let replacements = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.5),
        json!(-3),
        json!(1e300),
        json!(""),
        json!("x"),
        json!("standard"),
        json!("normal"),
        json!("x".repeat(257)),
        json!([]),
        json!({}),
        json!({"x": "y"}),
        json!({"x": 1}),
    ];
    let mut refused = 0;
    for place in &all {
        for replacement in &replacements {
            let mut value = full();
            *value.pointer_mut(place).unwrap() = replacement.clone();

            let decoded = IacCodeProps::decode(Some(&value.to_string())).is_ok();

            assert_eq!(decoded, accepts(&schema, &value), "{place} = {replacement}");
            refused += usize::from(!decoded);
        }
    }
    assert!(accepts(&schema, &full()));
    assert_eq!(all.len(), 26);
    assert!(refused > 200, "{refused}");
}

#[test]
fn the_schema_and_the_decoder_require_the_same() {
    let schema = forwarded_props();
    for name in ["schemaVersion", "rosInvocationId", "cwd", "model", "thinking", "activeGuidance"] {
        let mut value = full();
        value["iacCode"].as_object_mut().unwrap().remove(name);

        let decoded = IacCodeProps::decode(Some(&value.to_string())).is_ok();

        assert_eq!(decoded, accepts(&schema, &value), "{name}");
        assert_eq!(decoded, !["schemaVersion", "rosInvocationId", "cwd"].contains(&name), "{name}");
    }
}

fn raw(text: &str) -> &RawValue {
    serde_json::from_str(text).unwrap()
}

#[test]
fn what_the_builders_write_fits_the_schemas() {
    let session = SessionV1::new("t", "r", "e", "c", "i");
    let envelope = raw(r#"{"eventId":"evt-1","sequence":3.0,"eventType":"candidate_started","data":{}}"#);
    let envelope = PipelineEnvelope::read(envelope, &mut Notes::default()).unwrap();
    let cases = [
        (session_v1(), serde_json::to_value(&session)),
        (session_v1(), serde_json::to_value(session.clone().with_task_id("T").with_session_id("S"))),
        (
            artifact_v1(),
            serde_json::to_value(
                ArtifactV1::new(raw(r#"{"artifactId":"A","parts":[{}]}"#)).with_append(true),
            ),
        ),
        (
            tool_progress_v1(),
            serde_json::to_value(ToolProgressV1::new(raw(r#"{"status":"progress","toolUseId":"c"}"#))),
        ),
        (pipeline_v1(), serde_json::to_value(PipelineV1::new(&envelope).unwrap())),
    ];
    for (schema, value) in cases {
        let value = value.unwrap();
        assert!(accepts(&schema, &value), "{value}");
        assert!(!accepts(&schema, &json!({})), "{schema:?}");
    }
}

#[test]
fn every_schema_is_a_valid_schema_with_a_file_name_of_its_own() {
    let all = all();
    let mut names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();

    assert_eq!(names.len(), 5);
    for (name, schema) in &all {
        assert!(jsonschema::meta::is_valid(schema.as_value()), "{name}");
    }
}
