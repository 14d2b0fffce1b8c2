//! JSON Schemas of the custom events (feature `schema`).

use schemars::{Schema, json_schema};
use serde_json::{Value, json};

use crate::custom::{ARTIFACT_V1, MESSAGE_V1, TASK_V1};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schemas with the file names they are published under.
///
/// ```
/// for (file, schema) in agui_mapper::schema::all() {
///     println!("{file}: {}", serde_json::to_string(&schema)?);
/// }
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        ("a2a.task.v1.json", task_v1()),
        ("a2a.artifact.v1.json", artifact_v1()),
        ("a2a.message.v1.json", message_v1()),
    ]
}

/// Schema of the value of `a2a.task.v1`.
///
/// Example: see [`all`].
#[must_use]
pub fn task_v1() -> Schema {
    json_schema!({
        "$schema": DIALECT,
        "title": TASK_V1,
        "description": "Which A2A ids belong to the run.",
        "type": "object",
        "required": ["schemaVersion", "threadId", "runId", "executionId", "taskId"],
        "properties": {
            "schemaVersion": {"const": 1},
            "threadId": {"type": "string", "description": "Thread of the run."},
            "runId": {"type": "string", "description": "The run."},
            "executionId": {"type": "string", "description": "Execution; the cancel extension takes it."},
            "taskId": {"type": "string", "description": "A2A task."},
            "contextId": {"type": "string", "description": "A2A context, if the agent has told one."}
        }
    })
}

/// Schema of the value of `a2a.artifact.v1`.
///
/// Example: see [`all`].
#[must_use]
pub fn artifact_v1() -> Schema {
    json_schema!({
        "$schema": DIALECT,
        "title": ARTIFACT_V1,
        "description": "An A2A artifact that is more than text, or a piece of one.",
        "type": "object",
        "required": ["schemaVersion", "artifactId", "artifact"],
        "properties": {
            "schemaVersion": {"const": 1},
            "artifactId": {"type": "string", "description": "Id within the task."},
            "append": {"type": "boolean", "description": "Its parts continue what came before; absent is false."},
            "lastChunk": {"type": "boolean", "description": "This is the last piece; absent is false."},
            "truncated": {"type": "boolean", "description": "Parts with omittedBytes lack their content."},
            "artifact": {
                "type": "object",
                "description": "As the agent sent it, in the spelling of its A2A version.",
                "properties": {
                    "artifactId": {"type": "string"},
                    "name": {"type": ["string", "null"]},
                    "description": {"type": ["string", "null"]},
                    "parts": {"type": ["array", "null"], "items": {"type": "object"}}
                }
            }
        }
    })
}

/// Schema of the value of `a2a.message.v1`.
///
/// Example: see [`all`].
#[must_use]
pub fn message_v1() -> Schema {
    json_schema!({
        "$schema": DIALECT,
        "title": MESSAGE_V1,
        "description": "The parts of an agent's message that are not text.",
        "type": "object",
        "required": ["schemaVersion", "messageId", "parts"],
        "properties": {
            "schemaVersion": {"const": 1},
            "messageId": {"type": "string", "description": "Id that the agent gave the message."},
            "truncated": {"type": "boolean", "description": "Parts with omittedBytes lack their content."},
            "parts": {"type": "array", "items": part()}
        }
    })
}

/// A part in the spelling of A2A 1.0.
fn part() -> Value {
    json!({
        "type": "object",
        "properties": {
            "raw": {"type": "string", "description": "Bytes of a file in base64."},
            "url": {"type": "string", "description": "Where a file is."},
            "data": {"description": "Any JSON value."},
            "mediaType": {"type": "string"},
            "filename": {"type": "string"},
            "metadata": {},
            "omittedBytes": {"type": "integer", "description": "The content was left out; its size, about."}
        }
    })
}

#[cfg(test)]
mod tests {
    use a2a_wire::{Artifact, Part};

    use super::*;
    use crate::custom::{ArtifactV1, MessageV1, TaskV1};

    fn check(schema: Schema, value: &Value) {
        let schema = Value::from(schema);
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        if let Err(error) = validator.validate(value) {
            panic!("{error}: {value}");
        }
        assert!(!validator.is_valid(&json!({})), "the schema says something");
    }

    #[test]
    fn values_are_what_their_schemas_say() {
        let task = TaskV1::new("t", "r", "e", "T1");
        check(task_v1(), &json!(task));
        check(task_v1(), &json!(task.with_context_id("C1")));
        let json = r#"{"artifactId":"a","name":null,"parts":[{"raw":"AAAA","filename":"f"},{"data":[1]}]}"#;
        let artifact: Artifact<'_> = serde_json::from_str(json).unwrap();
        for max_bytes in [10, 1000] {
            let mut value = ArtifactV1::new(&artifact, max_bytes).unwrap();
            check(artifact_v1(), &json!(value));
            value.append = true;
            value.last_chunk = true;
            check(artifact_v1(), &json!(value));
        }
        let parts: Vec<Part<'_>> =
            serde_json::from_str(r#"[{"data":null},{"data":{"n":1}},{"url":"u","mediaType":"text/csv"}]"#)
                .unwrap();
        for max_bytes in [10, 1000] {
            check(message_v1(), &json!(MessageV1::new("m", &parts, max_bytes).unwrap()));
        }
    }
}
