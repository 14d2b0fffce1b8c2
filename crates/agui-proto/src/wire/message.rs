//! Messages: one form for all roles.

use super::content::{Part, parts_of, text_of, write_content};
use super::{Mirror, Opaque};
use crate::ProtoError;
use crate::json::{Members, Object};

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Message {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "2")]
    role: String,
    #[prost(string, optional, tag = "3")]
    content: Option<String>,
    #[prost(string, optional, tag = "4")]
    name: Option<String>,
    #[prost(message, repeated, tag = "5")]
    tool_calls: Vec<ToolCall>,
    #[prost(string, optional, tag = "6")]
    tool_call_id: Option<String>,
    #[prost(string, optional, tag = "7")]
    error: Option<String>,
    #[prost(message, repeated, tag = "8")]
    content_parts: Vec<Part>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    metadata: Opaque,
    #[prost(string, optional, tag = "10")]
    subagent_run_id: Option<String>,
    #[prost(string, optional, tag = "11")]
    encrypted_value: Option<String>,
    #[prost(string, optional, tag = "12")]
    activity_type: Option<String>,
    #[prost(bytes = "vec", repeated, tag = "13")]
    activity_content: Opaque,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ToolCall {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "2")]
    call_type: String,
    #[prost(message, optional, tag = "3")]
    function: Option<FunctionCall>,
    #[prost(bytes = "vec", repeated, tag = "4")]
    metadata: Opaque,
    #[prost(string, optional, tag = "5")]
    encrypted_value: Option<String>,
}

mirror! {
    FunctionCall {
        name: String = "name" text [string, tag = "1"],
        arguments: String = "arguments" text [string, tag = "2"],
    }
}

impl Mirror<agui_core::ToolCall> for ToolCall {
    fn mirror(of: &agui_core::ToolCall) -> Result<Self, ProtoError> {
        Ok(Self {
            id: Mirror::mirror(&of.id)?,
            call_type: "function".to_owned(),
            function: Some(Mirror::mirror(&of.function)?),
            metadata: Mirror::mirror(&of.metadata)?,
            encrypted_value: Mirror::mirror(&of.encrypted_value)?,
        })
    }
}

impl Members for ToolCall {
    fn members(&self, object: &mut Object<'_>) -> Result<(), ProtoError> {
        object.text("id", &self.id)?;
        object.text("type", &self.call_type)?;
        object.maybe("function", &self.function)?;
        object.maybe_text("encryptedValue", &self.encrypted_value)?;
        object.object("metadata", &self.metadata)
    }
}

/// The fields that a message of `agui-core` has under the same name.
macro_rules! shared {
    ($role:literal, $message:ident, $($field:ident),*) => {
        Self {
            role: $role.to_owned(),
            $($field: Mirror::mirror(&$message.$field)?,)*
            id: Mirror::mirror(&$message.id)?,
            metadata: Mirror::mirror(&$message.metadata)?,
            subagent_run_id: Mirror::mirror(&$message.subagent_run_id)?,
            ..Self::default()
        }
    };
}

impl Mirror<agui_core::Message> for Message {
    fn mirror(of: &agui_core::Message) -> Result<Self, ProtoError> {
        use agui_core::Message as Of;
        Ok(match of {
            Of::Developer(message) => {
                let wire = shared!("developer", message, name, encrypted_value);
                Self { content: Some(message.content.clone()), ..wire }
            }
            Of::System(message) => {
                let wire = shared!("system", message, name, encrypted_value);
                Self { content: Some(message.content.clone()), ..wire }
            }
            Of::User(message) => {
                let wire = shared!("user", message, name, encrypted_value);
                Self {
                    content: text_of(&message.content),
                    content_parts: parts_of(&message.content)?,
                    ..wire
                }
            }
            Of::Assistant(message) => {
                shared!("assistant", message, content, tool_calls, name, encrypted_value)
            }
            Of::Tool(message) => {
                let wire = shared!("tool", message, error, encrypted_value);
                Self {
                    tool_call_id: Some(Mirror::mirror(&message.tool_call_id)?),
                    content: text_of(&message.content),
                    content_parts: parts_of(&message.content)?,
                    ..wire
                }
            }
            Of::Activity(message) => {
                let wire = shared!("activity", message,);
                Self {
                    activity_type: Some(message.activity_type.clone()),
                    activity_content: Mirror::mirror(&message.content)?,
                    ..wire
                }
            }
            Of::Reasoning(message) => {
                let wire = shared!("reasoning", message, encrypted_value);
                Self { content: Some(message.content.clone()), ..wire }
            }
            // A role of a later version has no form here.
            _ => Self::default(),
        })
    }
}

impl Members for Message {
    fn members(&self, object: &mut Object<'_>) -> Result<(), ProtoError> {
        object.text("id", &self.id)?;
        object.text("role", &self.role)?;
        self.write_content(object)?;
        object.maybe_text("name", &self.name)?;
        object.list("toolCalls", &self.tool_calls)?;
        object.maybe_text("toolCallId", &self.tool_call_id)?;
        object.maybe_text("error", &self.error)?;
        object.maybe_text("activityType", &self.activity_type)?;
        object.maybe_text("encryptedValue", &self.encrypted_value)?;
        object.object("metadata", &self.metadata)?;
        object.maybe_text("subagentRunId", &self.subagent_run_id)
    }
}

impl Message {
    /// The role decides which field holds the content; a role that nobody knows yet may use any one.
    fn write_content(&self, object: &mut Object<'_>) -> Result<(), ProtoError> {
        let has_text = self.content.is_some();
        let has_parts = !self.content_parts.is_empty();
        let has_object = !self.activity_content.is_empty();
        match self.role.as_str() {
            "user" | "tool" if has_object => Err(ProtoError::ContentForm),
            "user" | "tool" => write_content(object, self.content.as_ref(), &self.content_parts),
            "activity" if has_text || has_parts => Err(ProtoError::ContentForm),
            "activity" => object.object("content", &self.activity_content),
            "developer" | "system" | "assistant" | "reasoning" if has_parts || has_object => {
                Err(ProtoError::ContentForm)
            }
            "developer" | "system" | "assistant" | "reasoning" => object.maybe_text("content", &self.content),
            _ if [has_text, has_parts, has_object].into_iter().filter(|given| *given).count() > 1 => {
                Err(ProtoError::ContentForm)
            }
            _ => Ok(()),
        }
    }
}
