//! The answer of `GET /iac-code/session/recovery`.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{Notes, Raw, Read, any, finish, integer, list, read_members, string, text, texts};
use crate::metadata::ExecutionControl;

/// The true transcript of an execution, which GetTask may lack.
///
/// Source: iac-code 0.16, `GET /iac-code/session/recovery`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SessionRecovery<'a> {
    /// Context.
    pub context_id: Option<Cow<'a, str>>,
    /// Task.
    pub task_id: Option<Cow<'a, str>>,
    /// The kernel's execution id.
    pub execution_id: Option<Cow<'a, str>>,
    /// Number of the state, growing.
    pub revision: Option<u64>,
    /// `working`, `input-required`, `completed`, `failed` or `canceled`.
    pub execution_status: Option<Cow<'a, str>>,
    /// The text of the running turn, delta by delta.
    pub output_text: Vec<Cow<'a, str>>,
    /// The A2A Task; it echoes request metadata with secrets and must not be logged or passed on.
    pub task: Option<Raw<'a>>,
    /// Messages of the session, oldest first.
    pub messages: Vec<RecoveredMessage<'a>>,
    /// Execution control.
    pub execution_control: Option<Box<ExecutionControl<'a>>>,
    /// Known members that were skipped because of their type.
    pub notes: Notes,
}

/// One message of the session.
///
/// Source: iac-code 0.16, `GET /iac-code/session/recovery`: `messages`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RecoveredMessage<'a> {
    /// `user`, `assistant`, `tool` and the like.
    pub role: Option<Cow<'a, str>>,
    /// The content, a string or a list of blocks.
    pub content: Option<Raw<'a>>,
}

impl<'a> RecoveredMessage<'a> {
    /// The content when it is a plain string.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'a, str>> {
        string(self.content?.value()).ok()
    }

    fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::default();
        let is_object = read_members!(raw, notes, "recovery.messages", {
            "role" => it.role, text;
            "content" => it.content, any;
        });
        finish(it, raw, is_object)
    }
}

impl<'a> SessionRecovery<'a> {
    /// Reads the document; anything that is no object gives an empty value.
    #[must_use]
    pub fn read(document: &'a RawValue) -> Self {
        let mut it = Self::default();
        let mut notes = Notes::default();
        let (mut output, mut messages, mut control) = (None, None, None);
        let is_object = read_members!(document, &mut notes, "recovery", {
            "contextId" => it.context_id, text;
            "taskId" => it.task_id, text;
            "executionId" => it.execution_id, text;
            "revision" => it.revision, integer;
            "executionStatus" => it.execution_status, text;
            "outputText" => output, texts;
            "task" => it.task, any;
            "messages" => messages, read_messages;
            "executionControl" => control, ExecutionControl::read_member;
        });
        if !is_object {
            notes.add("response", "recovery");
        }
        it.output_text = output.unwrap_or_default();
        it.messages = messages.unwrap_or_default();
        it.execution_control = control.map(Box::new);
        it.notes = notes;
        it
    }
}

fn read_messages<'a>(raw: &'a RawValue, notes: &mut Notes) -> Read<Vec<RecoveredMessage<'a>>> {
    list(raw, notes, "recovery.messages", RecoveredMessage::read_member)
}
