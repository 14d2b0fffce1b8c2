//! Bodies of A2A 1.0 requests, as an adapter in front of the iac-code kernel sends them.

use serde_json::{Value, json};

/// A JSON-RPC request.
#[must_use]
pub fn rpc(id: &str, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Builder of the `params` of `SendMessage` and `SendStreamingMessage`.
#[derive(Debug, Clone)]
pub struct Outgoing {
    message: Value,
}

impl Outgoing {
    /// A user message without parts; `iac_code` metadata holds the workspace.
    #[must_use]
    pub fn new(message_id: &str, context_id: &str, cwd: &str) -> Self {
        Self {
            message: json!({
                "messageId": message_id, "role": "ROLE_USER", "parts": [], "contextId": context_id,
                "metadata": {"iac_code": {"cwd": cwd}},
            }),
        }
    }

    /// Appends a text part.
    #[must_use]
    pub fn with_text(self, text: &str) -> Self {
        self.with_part(json!({"text": text}))
    }

    /// Appends any part.
    #[must_use]
    pub fn with_part(mut self, part: Value) -> Self {
        if let Some(Value::Array(parts)) = self.message.get_mut("parts") {
            parts.push(part);
        }
        self
    }

    /// Sends the message to an existing task.
    #[must_use]
    pub fn with_task(mut self, task_id: &str) -> Self {
        self.message["taskId"] = json!(task_id);
        self
    }

    /// Sets a member of `metadata.iac_code`.
    #[must_use]
    pub fn with_iac_code(mut self, key: &str, value: Value) -> Self {
        self.message["metadata"]["iac_code"][key] = value;
        self
    }

    /// Appends the answer to a permission: the six-key data part, for the `input` object that asked.
    #[must_use]
    pub fn with_decision(self, input: &Value, decision: &str) -> Self {
        let task_id = input["requestTaskId"].as_str().unwrap_or_default().to_owned();
        let part = json!({
            "data": {
                "schemaVersion": 1, "kind": "permission", "requestTaskId": task_id,
                "inputId": input["inputId"], "toolUseId": input["toolUseId"], "decision": decision,
            },
            "mediaType": "application/json",
        });
        self.with_part(part).with_task(&task_id)
    }

    /// The `params` object.
    #[must_use]
    pub fn params(&self) -> Value {
        json!({"message": self.message, "configuration": {"acceptedOutputModes": ["text/plain"]}})
    }

    /// The whole `SendStreamingMessage` request; the JSON-RPC id is `rpc-<message id>`.
    #[must_use]
    pub fn streaming(&self) -> Value {
        rpc(&self.rpc_id(), "SendStreamingMessage", &self.params())
    }

    /// The whole `SendMessage` request; the JSON-RPC id is `rpc-<message id>`.
    #[must_use]
    pub fn unary(&self) -> Value {
        rpc(&self.rpc_id(), "SendMessage", &self.params())
    }

    fn rpc_id(&self) -> String {
        format!("rpc-{}", self.message["messageId"].as_str().unwrap_or_default())
    }
}
