//! JSON Schemas of the input extension and of the custom events (feature `schema`).
//!
//! They are written for clients and their tools; what the server accepts is decided by
//! [`IacCodeProps::decode`](crate::IacCodeProps::decode), and tests hold the two together.

use schemars::{Schema, json_schema};
use serde_json::{Value, json};

use crate::event_type::PipelineEventType;
use crate::props::MAX_ROS_INVOCATION_ID_CHARS;

/// The schemas with the file names they are published under.
///
/// ```
/// for (file, schema) in agui_iac_code::schema::all() {
///     println!("{file}: {}", serde_json::to_string(&schema)?);
/// }
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        ("iac-code.forwarded-props.v1.json", forwarded_props()),
        ("iac-code.session.v1.json", session_v1()),
        ("iac-code.artifact.v1.json", artifact_v1()),
        ("iac-code.tool-progress.v1.json", tool_progress_v1()),
        ("iac-code.pipeline.v1.json", pipeline_v1()),
    ]
}

/// Schema of `forwardedProps`: an object with `iacCode`, beside which anything may stand.
///
/// Source: S2.8, S3.
#[must_use]
pub fn forwarded_props() -> Schema {
    json_schema!({
        "$schema": DIALECT,
        "title": "forwardedProps with the iac-code extension",
        "type": "object",
        "required": ["iacCode"],
        "properties": {"iacCode": iac_code()}
    })
}

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

fn iac_code() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["schemaVersion", "rosInvocationId", "cwd"],
        "properties": {
            "schemaVersion": {"const": 1, "description": "Version of the extension."},
            "rosInvocationId": {
                "type": "string", "minLength": 1, "maxLength": MAX_ROS_INVOCATION_ID_CHARS,
                "description": "Identity of the requester for the current execution."
            },
            "cwd": {"type": "string", "minLength": 1, "description": "Absolute workspace path."},
            "model": optional("string", "Model for this request."),
            "llmApiKey": secret("Key of the model provider for this request."),
            "thinking": thinking(),
            "userId": optional("string", "Telemetry and requester-binding identity."),
            "channel": optional("string", "Caller channel."),
            "preferredLanguage": optional("string", "Display language of this request, for example fr."),
            "candidatePresentation": one_of(&["standard", "rich"], "How pipeline candidates are presented."),
            "runMode": one_of(&["normal", "pipeline"], "Execution mode; the server chooses if absent."),
            "pipelineName": optional("string", "Name of the pipeline, for example selling."),
            "cleanupOnly": optional("boolean", "Ask only for the clean-up of a pipeline."),
            "alibabaCloud": alibaba_cloud(),
            "llmHeaders": {
                "type": ["object", "null"], "additionalProperties": {"type": "string"}, "writeOnly": true,
                "description": "Headers for the model provider; an empty object clears earlier ones."
            },
            "activeGuidance": optional("boolean", "The message steers the pipeline that runs already.")
        }
    })
}

fn thinking() -> Value {
    json!({
        "type": ["object", "null"],
        "additionalProperties": false,
        "description": "Ask for reasoning output.",
        "properties": {
            "enabled": optional("boolean", "Whether reasoning output is wanted."),
            "effort": optional("string", "Effort in the provider's own words."),
            "budget": {
                "type": ["integer", "null"], "minimum": 1, "maximum": crate::json::MAX_EXACT,
                "description": "Budget in the provider's own unit."
            }
        }
    })
}

fn alibaba_cloud() -> Value {
    json!({
        "type": ["object", "null"],
        "additionalProperties": false,
        "description": "Cloud credentials and default region for this request.",
        "properties": {
            "accessKeyId": secret("AccessKey id; used only together with the secret."),
            "accessKeySecret": secret("AccessKey secret."),
            "securityToken": secret("STS token."),
            "regionId": optional("string", "Default region.")
        }
    })
}

fn optional(of_type: &str, description: &str) -> Value {
    json!({"type": [of_type, "null"], "description": description})
}

fn secret(description: &str) -> Value {
    json!({"type": ["string", "null"], "writeOnly": true, "description": description})
}

fn one_of(names: &[&str], description: &str) -> Value {
    let mut values: Vec<Value> = names.iter().map(|name| json!(name)).collect();
    values.push(Value::Null);
    json!({"enum": values, "description": description})
}

/// Schema of the value of `iac-code.session.v1`.
///
/// Source: S6.1.
#[must_use]
pub fn session_v1() -> Schema {
    json_schema!({
        "$schema": DIALECT,
        "title": "iac-code.session.v1",
        "description": "Which kernel ids belong to the run.",
        "type": "object",
        "required": [
            "schemaVersion", "threadId", "aguiRunId", "executionId", "contextId", "taskId",
            "rosInvocationId", "sessionId"
        ],
        "properties": {
            "schemaVersion": {"const": 1},
            "threadId": {"type": "string", "description": "Thread of the run."},
            "aguiRunId": {"type": "string", "description": "The run."},
            "executionId": {"type": "string", "description": "Execution; the cancel extension takes it."},
            "contextId": {"type": "string", "description": "A2A context."},
            "taskId": {"type": ["string", "null"], "description": "A2A task."},
            "rosInvocationId": {"type": "string", "description": "Identity of the requester."},
            "sessionId": {"type": ["string", "null"], "description": "The iac-code session."}
        }
    })
}

/// Schema of the value of `iac-code.artifact.v1`.
///
/// Source: S6.2.
#[must_use]
pub fn artifact_v1() -> Schema {
    json_schema!({
        "$schema": DIALECT,
        "title": "iac-code.artifact.v1",
        "description": "An A2A artifact, and how it continues an earlier one.",
        "type": "object",
        "required": ["schemaVersion"],
        "properties": {
            "schemaVersion": {"const": 1},
            "artifactId": {"type": "string"},
            "name": {"type": ["string", "null"]},
            "description": {"type": ["string", "null"]},
            "parts": {"type": ["array", "null"], "items": {"type": "object"}},
            "metadata": {"type": ["object", "null"]},
            "extensions": {"type": ["array", "null"]},
            "append": {"type": "boolean", "description": "Parts are added to those sent before."},
            "lastChunk": {"type": "boolean", "description": "This is the last piece."}
        }
    })
}

/// Schema of the value of `iac-code.tool-progress.v1`.
///
/// Source: S6.3.
#[must_use]
pub fn tool_progress_v1() -> Schema {
    json_schema!({
        "$schema": DIALECT,
        "title": "iac-code.tool-progress.v1",
        "description": "How far a tool is.",
        "type": "object",
        "required": ["schemaVersion"],
        "properties": {
            "schemaVersion": {"const": 1},
            "status": {"type": "string"},
            "toolUseId": {"type": "string", "description": "The toolCallId of the TOOL_CALL events."},
            "name": {"type": "string"},
            "partialJsonLength": {"type": "number"},
            "mcp": {"type": "object"},
            "mcpProgress": {"type": "object"}
        }
    })
}

/// Schema of the value of `iac-code.pipeline.v1`.
///
/// Source: S6.4, S6.6.
#[must_use]
pub fn pipeline_v1() -> Schema {
    let forwarded = PipelineEventType::ALL.iter().filter(|event_type| event_type.is_forwarded());
    let event_types: Vec<&str> = forwarded.map(|event_type| event_type.as_str()).collect();
    json_schema!({
        "$schema": DIALECT,
        "title": "iac-code.pipeline.v1",
        "description": "A pipeline event; clients dedupe replayed ones by eventId or sequence.",
        "type": "object",
        "required": ["eventType"],
        "properties": {
            "schemaVersion": {"type": "string"},
            "extensionUri": {"type": "string"},
            "eventId": {"type": "string", "description": "Unique id."},
            "sequence": {"type": "integer", "minimum": 1, "description": "Number in the journal."},
            "createdAt": {"type": "string"},
            "eventType": {"enum": event_types},
            "scope": {"type": "string"},
            "pipelineRunId": {"type": "string"},
            "taskId": {"type": "string"},
            "contextId": {"type": "string"},
            "pipelineName": {"type": "string"},
            "iacCodeSessionId": {"type": "string"},
            "status": {"type": "string"},
            "step": {"type": "object"},
            "candidate": {"type": "object"},
            "candidateStep": {"type": "object"},
            "data": {"type": "object"},
            "visibility": {"enum": ["pending_backup", "committed"]}
        }
    })
}

#[cfg(test)]
mod tests;
