//! The JSON Schemas say what the decoder does.

use agui_core::{Capabilities, Event, EventType, RunAgentInput};
use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};

fn schema<T: JsonSchema>() -> Value {
    schema_for!(T).to_value()
}

#[test]
fn the_request_is_described_member_by_member() {
    let schema = schema::<RunAgentInput>();
    assert_eq!(schema["title"], "RunAgentInput");
    assert_eq!(schema["required"], json!(["threadId", "runId", "messages"]));
    let members: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = vec![
        "threadId",
        "runId",
        "messages",
        "protocolVersion",
        "parentRunId",
        "state",
        "tools",
        "context",
        "forwardedProps",
        "resume",
    ];
    expected.sort_unstable();
    assert_eq!(members, expected);
    assert_eq!(
        schema["properties"]["messages"],
        json!({ "description": "The whole history.", "type": "array", "items": { "$ref": "#/$defs/Message" } })
    );
    assert_eq!(schema["$defs"]["ResumeStatus"]["enum"], json!(["resolved", "cancelled"]));
    assert_eq!(schema["$defs"]["Message"]["oneOf"].as_array().unwrap().len(), 7);
    assert_eq!(schema["$defs"]["UserMessage"]["properties"]["role"], json!({ "const": "user" }));
    assert_eq!(schema["$defs"]["UserMessage"]["required"], json!(["role", "id", "content"]));
}

#[test]
fn every_event_is_described() {
    let schema = schema::<Event>();
    let forms = schema["oneOf"].as_array().unwrap();
    let types: Vec<String> = forms
        .iter()
        .map(|form| {
            let name = form["$ref"].as_str().unwrap().trim_start_matches("#/$defs/");
            let described = &schema["$defs"][name];
            assert!(described["properties"]["timestamp"]["type"] == "integer", "{name}");
            described["properties"]["type"]["const"].as_str().unwrap().to_owned()
        })
        .collect();
    let known: Vec<&str> = EventType::ALL.iter().map(|known| known.as_str()).collect();
    assert_eq!(types, known);
    assert_eq!(
        schema["$defs"]["TokenUsage"]["properties"]["inputTokens"]["maximum"],
        9_007_199_254_740_991_i64
    );
    assert_eq!(schema["$defs"]["Outcome"]["oneOf"][1]["properties"]["interrupts"]["minItems"], 1);
}

/// Every reference in a schema, and whether its definition is there.
fn assert_references(schema: &Value, part: &Value) {
    match part {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get("$ref") {
                let pointer = target.strip_prefix('#').unwrap();
                assert!(schema.pointer(pointer).is_some(), "{target}");
            }
            members.values().for_each(|member| assert_references(schema, member));
        }
        Value::Array(elements) => elements.iter().for_each(|element| assert_references(schema, element)),
        _ => {}
    }
}

#[test]
fn references_lead_to_definitions() {
    for schema in [schema::<RunAgentInput>(), schema::<Event>(), schema::<Capabilities>()] {
        assert_references(&schema, &schema);
    }
}

#[test]
fn capabilities_have_no_required_member() {
    let schema = schema::<Capabilities>();
    assert_eq!(schema["required"], json!([]));
    assert_eq!(schema["properties"].as_object().unwrap().len(), 11);
}
