//! Bodies of AG-UI requests to an iac-code agent.

use serde_json::{Map, Value, json};

/// Builder of a `RunAgentInput` with `forwardedProps.iacCode`.
#[derive(Debug, Clone)]
pub struct RunInput {
    body: Map<String, Value>,
    iac_code: Map<String, Value>,
}

impl RunInput {
    /// A run of `thread_id` in the workspace `cwd`; the invocation id is `inv-<thread_id>`.
    #[must_use]
    pub fn new(thread_id: &str, run_id: &str, cwd: &str) -> Self {
        let mut body = Map::new();
        for (key, value) in [
            ("threadId", json!(thread_id)),
            ("runId", json!(run_id)),
            ("state", json!({})),
            ("messages", json!([])),
            ("tools", json!([])),
            ("context", json!([])),
        ] {
            body.insert(key.to_owned(), value);
        }
        let mut iac_code = Map::new();
        iac_code.insert("schemaVersion".to_owned(), json!(1));
        iac_code.insert("rosInvocationId".to_owned(), json!(format!("inv-{thread_id}")));
        iac_code.insert("cwd".to_owned(), json!(cwd));
        Self { body, iac_code }
    }

    /// Appends a user message with text; its id is `m-<run id>-<number>`.
    #[must_use]
    pub fn with_user(self, text: &str) -> Self {
        self.with_message(json!({"role": "user", "content": text}))
    }

    /// Appends a message; it gets the id `m-<run id>-<number>` unless it has one.
    #[must_use]
    pub fn with_message(mut self, mut message: Value) -> Self {
        let run_id = self.body["runId"].as_str().unwrap_or_default().to_owned();
        if let Some(Value::Array(messages)) = self.body.get_mut("messages") {
            if let Some(object) = message.as_object_mut() {
                let id = format!("m-{run_id}-{}", messages.len() + 1);
                object.entry("id").or_insert(Value::String(id));
            }
            messages.push(message);
        }
        self
    }

    /// Appends an answer to an interrupt; see [`resolved`] and [`cancelled`].
    #[must_use]
    pub fn with_answer(mut self, answer: Value) -> Self {
        match self.body.get_mut("resume") {
            Some(Value::Array(answers)) => answers.push(answer),
            _ => {
                self.body.insert("resume".to_owned(), json!([answer]));
            }
        }
        self
    }

    /// Sets a member of `forwardedProps.iacCode`.
    #[must_use]
    pub fn with_iac_code(mut self, key: &str, value: Value) -> Self {
        self.iac_code.insert(key.to_owned(), value);
        self
    }

    /// Asks for the named pipeline.
    #[must_use]
    pub fn with_pipeline(self, name: &str) -> Self {
        self.with_iac_code("runMode", json!("pipeline")).with_iac_code("pipelineName", json!(name))
    }

    /// Sets a member of the envelope.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.body.insert(key.to_owned(), value);
        self
    }

    /// The JSON of the request body.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut body = self.body.clone();
        body.entry("forwardedProps").or_insert_with(|| json!({"iacCode": self.iac_code}));
        Value::Object(body)
    }
}

/// The answer `resolved` with a payload.
#[must_use]
pub fn resolved(interrupt_id: &str, payload: &Value) -> Value {
    json!({"interruptId": interrupt_id, "status": "resolved", "payload": payload})
}

/// The answer to a permission request: `allow_once` or `deny`.
#[must_use]
pub fn decision(interrupt_id: &str, decision: &str) -> Value {
    resolved(interrupt_id, &json!({"decision": decision}))
}

/// The answer `cancelled`, without a payload.
#[must_use]
pub fn cancelled(interrupt_id: &str) -> Value {
    json!({"interruptId": interrupt_id, "status": "cancelled"})
}

/// The body of the cancel extension for a thread of [`RunInput::new`].
#[must_use]
pub fn cancel_body(thread_id: &str) -> Value {
    json!({"threadId": thread_id, "rosInvocationId": format!("inv-{thread_id}")})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_has_the_members_that_the_protocol_requires() {
        let input = RunInput::new("t", "r", "/ws")
            .with_user("hello")
            .with_pipeline("selling")
            .with_answer(decision("p1", "deny"))
            .with_answer(cancelled("p2"));
        assert_eq!(
            input.to_json(),
            json!({
                "threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [],
                "messages": [{"id": "m-r-1", "role": "user", "content": "hello"}],
                "resume": [
                    {"interruptId": "p1", "status": "resolved", "payload": {"decision": "deny"}},
                    {"interruptId": "p2", "status": "cancelled"},
                ],
                "forwardedProps": {"iacCode": {
                    "schemaVersion": 1, "rosInvocationId": "inv-t", "cwd": "/ws",
                    "runMode": "pipeline", "pipelineName": "selling",
                }},
            })
        );
    }
}
