//! The shapes under `metadata.iac_code`.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Ids, State, agent_message, merged, status, update, whole_message};

/// An `iac_code` object: the session id and whatever else it shall hold.
#[must_use]
pub fn iac(ids: &Ids, more: Value) -> Value {
    merged(json!({"iacCodeSessionId": ids.session_id}), more)
}

/// A piece of the answer of a normal turn.
#[must_use]
pub fn text_delta(ids: &Ids, text: &str) -> Value {
    let message = agent_message(ids, &format!("{}-message", ids.task_id), text);
    update(ids, json!({"state": State::Working.as_str(), "message": message}), iac(ids, json!({})))
}

/// The whole answer once more, at the end of a normal turn.
#[must_use]
pub fn final_text(ids: &Ids, text: &str) -> Value {
    whole_message(ids, State::Working, text, iac(ids, json!({"assistantFinal": {"complete": true}})))
}

/// A piece of reasoning.
#[must_use]
pub fn thinking(ids: &Ids, text: &str) -> Value {
    status(ids, State::Working, iac(ids, json!({"thinking": {"type": "raw_thinking", "text": text}})))
}

/// A `tool` object: started, input_delta, input_complete, progress, completed or failed.
#[must_use]
pub fn tool(ids: &Ids, tool: &Value) -> Value {
    status(ids, State::Working, iac(ids, json!({"tool": tool})))
}

/// The token counts of one model call; the kernel's total includes the cached tokens.
#[must_use]
pub fn usage(input: u64, output: u64, cached: u64) -> Value {
    json!({
        "provider": "openai", "model": "demo-model", "inputTokens": input, "outputTokens": output,
        "totalTokens": input + output + cached, "cachedInputTokens": cached,
    })
}

/// An update that carries one pipeline event.
#[must_use]
pub fn pipeline_update(ids: &Ids, state: State, envelope: &Value, more: Value) -> Value {
    status(ids, state, merged(json!({"pipeline": envelope}), more))
}

/// A request to write a file, as the kernel asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionRequest {
    /// Identity of the question: `permission-<32 hex digits>`.
    pub input_id: String,
    /// The tool call that waits.
    pub tool_use_id: String,
    /// The file.
    pub path: String,
    /// What shall be written.
    pub content: String,
    /// Language of the texts, as the request preferred it.
    pub language: String,
}

impl PermissionRequest {
    /// A request with a fresh id and English texts.
    #[must_use]
    pub fn new(tool_use_id: &str, path: &str, content: &str) -> Self {
        Self {
            input_id: format!("permission-{}", uuid::Uuid::new_v4().simple()),
            tool_use_id: tool_use_id.to_owned(),
            path: path.to_owned(),
            content: content.to_owned(),
            language: "en".to_owned(),
        }
    }

    /// Sets the language tag.
    #[must_use]
    pub fn with_language(mut self, language: &str) -> Self {
        self.language = language.to_owned();
        self
    }

    /// What the question tells about itself, without the identities of task and context.
    #[must_use]
    pub fn details(&self) -> Value {
        let print = hex(&Sha256::digest(self.content.as_bytes())[..8]);
        let length = self.content.chars().count();
        let summary = json!({
            "content": {"fingerprint": format!("sha256:{print}"), "length": length, "type": "str"},
            "path": self.path,
        });
        json!({
            "inputId": self.input_id, "toolUseId": self.tool_use_id, "toolName": "write_file",
            "title": "Change a workspace file",
            "purpose": "Write a file needed for the requested infrastructure task.",
            "effect": "file_change", "target": self.path, "isReadOnly": false,
            "prompt": "Change a workspace file Allow once?",
            "safeSummary": format!("write_file: {summary}"),
            "options": [{"id": "allow_once", "label": "Allow once"}, {"id": "deny", "label": "Deny"}],
            "language": self.language,
        })
    }
}

/// The `input` object of a permission.
#[must_use]
pub fn permission_input(ids: &Ids, request: &PermissionRequest) -> Value {
    merged(
        request.details(),
        json!({
            "schemaVersion": 1, "kind": "permission", "requestTaskId": ids.task_id,
            "contextId": ids.context_id, "required": true,
        }),
    )
}

/// Lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
