//! Answers in a form in which the recorded ones and ours can be compared.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value, json};

use super::differences::Note;
use super::play::Outcome;
use super::script::{RECORDED_WORKSPACE, Recorded};

/// One thing that a client got: an event, or an answer without a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// The event type, or `HTTP`.
    pub(super) kind: String,
    /// Everything else that is compared.
    pub(super) value: Value,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.value)
    }
}

/// What a client got, and what was left out of it.
#[derive(Debug, Default)]
pub(super) struct Side {
    pub(super) items: Vec<Item>,
    /// Starts and ends of messages and reasoning, which message every delta went to, and where tools began.
    pub(super) spans: Vec<String>,
    /// Texts of tool arguments as they were written.
    pub(super) arguments: Vec<String>,
    /// What only one side has to have in order to be noted.
    pub(super) notes: BTreeSet<Note>,
    /// Whether cached tokens are counted among the input.
    cached_is_input: bool,
}

pub(super) fn recorded(recorded: &Recorded) -> Side {
    match recorded.status {
        Some(status) if recorded.events.is_empty() => Side::answer(status, &recorded.answer),
        _ => Side::default().stream(&recorded.events),
    }
}

/// Ours; the workspace gets its recorded name.
pub(super) fn ours(outcome: &Outcome, workspace: &str) -> Side {
    match outcome {
        Outcome::Answer { status, body } => Side::answer(*status, &renamed(body, workspace)),
        Outcome::Stream(stream) => {
            let events: Vec<Value> = stream.json().iter().map(|event| renamed(event, workspace)).collect();
            Side { cached_is_input: true, ..Side::default() }.stream(&events)
        }
    }
}

/// A value with the recorded name of the workspace.
pub(super) fn renamed(value: &Value, workspace: &str) -> Value {
    serde_json::from_str(&value.to_string().replace(workspace, RECORDED_WORKSPACE)).unwrap()
}

impl Side {
    fn answer(status: u16, body: &Value) -> Self {
        let mut body = body.clone();
        hide_execution(&mut body);
        let item = Item { kind: "HTTP".to_owned(), value: json!({ "status": status, "body": body }) };
        Self { items: vec![item], ..Self::default() }
    }

    fn stream(mut self, events: &[Value]) -> Self {
        let mut messages: Vec<String> = Vec::new();
        for event in events {
            self.event(event, &mut messages);
        }
        self
    }

    fn event(&mut self, event: &Value, messages: &mut Vec<String>) {
        let mut members = event.as_object().unwrap().clone();
        members.remove("timestamp");
        let kind = members.remove("type").unwrap().as_str().unwrap().to_owned();
        let message = members.remove("messageId").map(|id| id.as_str().unwrap().to_owned());
        let number = message.map(|id| {
            let known = messages.iter().position(|other| *other == id);
            known.unwrap_or_else(|| {
                messages.push(id);
                messages.len() - 1
            })
        });
        match kind.as_str() {
            "TEXT_MESSAGE_START"
            | "TEXT_MESSAGE_END"
            | "REASONING_START"
            | "REASONING_END"
            | "REASONING_MESSAGE_START"
            | "REASONING_MESSAGE_END" => {
                self.spans.push(format!("{kind} {}", number.unwrap()));
                return;
            }
            "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT" => {
                self.spans.push(format!("{kind} {}", number.unwrap()));
                if self.joined(&kind, &members) {
                    return;
                }
                members.insert("deltas".to_owned(), json!(1));
            }
            "TOOL_CALL_START" => {
                self.spans.push(kind.clone());
                let parent = members.remove("parentMessageId").is_some();
                members.insert("hasParent".to_owned(), json!(parent));
            }
            "TOOL_CALL_ARGS" => self.tool_arguments(&mut members),
            "RUN_STARTED" => self.without(&mut members, "protocolVersion", Note::ProtocolVersion),
            "RUN_FINISHED" => {
                self.finished(&mut members);
                self.usage(&mut members);
            }
            "RUN_ERROR" => {
                self.without(&mut members, "threadId", Note::RunErrorIds);
                self.without(&mut members, "runId", Note::RunErrorIds);
                self.usage(&mut members);
            }
            "ACTIVITY_SNAPSHOT" => self.without(&mut members, "replace", Note::DefaultsOmitted),
            "TOOL_CALL_RESULT" => self.without(&mut members, "metadata", Note::FailedTools),
            "CUSTOM" if members["name"] == "iac-code.artifact.v1" => {
                let artifact = members["value"].as_object_mut().unwrap();
                self.without(artifact, "append", Note::ArtifactChunks);
                self.without(artifact, "lastChunk", Note::ArtifactChunks);
            }
            _ => {}
        }
        let mut value = Value::Object(members);
        hide_execution(&mut value);
        self.items.push(Item { kind, value });
    }

    /// Adds a delta to the item before it, if that is of the same sort.
    fn joined(&mut self, kind: &str, members: &Map<String, Value>) -> bool {
        let Some(last) = self.items.last_mut().filter(|last| last.kind == kind) else { return false };
        let text = last.value["delta"].as_str().unwrap().to_owned() + members["delta"].as_str().unwrap();
        let deltas = last.value["deltas"].as_u64().unwrap() + 1;
        last.value = json!({ "delta": text, "deltas": deltas });
        true
    }

    fn tool_arguments(&mut self, members: &mut Map<String, Value>) {
        let text = members["delta"].as_str().unwrap().to_owned();
        if let Ok(arguments) = serde_json::from_str(&text) {
            members.insert("delta".to_owned(), arguments);
        }
        self.arguments.push(text);
    }

    fn finished(&mut self, members: &mut Map<String, Value>) {
        let interrupts = members.get_mut("outcome").and_then(|outcome| outcome.get_mut("interrupts"));
        for interrupt in interrupts.and_then(Value::as_array_mut).into_iter().flatten() {
            let interrupt = interrupt.as_object_mut().unwrap();
            self.without(interrupt, "expiresAt", Note::ExpiresAt);
        }
    }

    /// The recorded adapter left cached tokens out of the input, as its kernel does.
    fn usage(&mut self, members: &mut Map<String, Value>) {
        if !self.cached_is_input {
            return;
        }
        for usage in members.get_mut("usage").and_then(Value::as_array_mut).into_iter().flatten() {
            let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
            let (input, cached) = (count("inputTokens"), count("cachedInputTokens"));
            if cached > 0 {
                usage["inputTokens"] = json!(input - cached);
                self.notes.insert(Note::Usage);
            }
        }
    }

    fn without(&mut self, members: &mut Map<String, Value>, name: &str, note: Note) {
        if members.remove(name).is_some() {
            self.notes.insert(note);
        }
    }
}

/// Every server chooses the ids of executions itself.
fn hide_execution(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if name == "executionId" {
                    *value = json!("exec");
                }
                hide_execution(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide_execution),
        _ => {}
    }
}
