//! The stored value of a question.

use std::borrow::Cow;
use std::collections::BTreeMap;

use agui_core::{Json, ToolCallId};
use agui_iac_code::metadata::{Input, Scope};
use serde::Serialize;
use serde_json::value::RawValue;

/// Members of an object by name, their values as JSON text; the last of two equal names counts.
pub(super) fn members(object: &RawValue) -> Option<BTreeMap<Cow<'static, str>, Box<RawValue>>> {
    serde_json::from_str::<BTreeMap<Cow<'static, str>, Box<RawValue>>>(object.get()).ok()
}

/// Member with the id of the tool call on the stream, where it is not the kernel's.
const STREAM_CALL: &str = "toolCallId";

/// The id of the tool call on the stream, if it is not the kernel's.
pub(super) fn stream_call(value: &Json) -> Option<ToolCallId> {
    serde_json::from_str(members(value.as_raw())?.get(STREAM_CALL)?.get()).ok()
}

/// The value with the id of the tool call on the stream.
pub(super) fn with_stream_call(value: &Json, call: &ToolCallId) -> Option<Json> {
    let mut all = members(value.as_raw())?;
    all.insert(STREAM_CALL.into(), serde_json::value::to_raw_value(call).ok()?);
    Json::from_serialize(&all).ok()
}

/// The members of a kernel's question that may be stored, complete with what only its surroundings tell.
///
/// They are sorted by name: the kernel's order changes from call to call.
pub(crate) fn of_input(input: &Input<'_>) -> Option<Json> {
    let public = Json::from_serialize(&input.public_members()).ok()?;
    let mut all = members(public.as_raw())?;
    let id = input.interrupt_id();
    let scope = input.scope.filter(|scope| *scope != Scope::Other);
    let known = [
        ("kind", Some(&*input.kind_name)),
        ("inputId", Some(&*id)),
        ("requestTaskId", input.request_task_id.as_deref()),
        ("contextId", input.context_id.as_deref()),
        ("toolUseId", input.tool_use_id.as_deref()),
        ("subPipelineId", input.sub_pipeline_id.as_deref()),
        ("scope", scope.map(Scope::as_str)),
    ];
    for (name, value) in known {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            all.insert(name.into(), serde_json::value::to_raw_value(value).ok()?);
        }
    }
    // Nulls say nothing, and schemas of clients do not expect them.
    all.retain(|_, value| value.get() != "null");
    Json::from_serialize(&all).ok()
}

/// A question that the mapper itself asks on behalf of an agent without structured questions.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Question<'a> {
    schema_version: u8,
    kind: &'static str,
    input_id: String,
    request_task_id: &'a str,
    context_id: &'a str,
    required: bool,
    allow_free_text: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<QuestionOption<'a>>,
}

#[derive(Debug, Clone, Serialize)]
struct QuestionOption<'a> {
    id: &'static str,
    label: &'a str,
}

/// Who asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker<'a> {
    /// The task.
    pub(crate) task: &'a str,
    /// Its context.
    pub(crate) context: &'a str,
    /// The message with the question; empty if there is none.
    pub(crate) message: &'a str,
}

impl<'a> Question<'a> {
    /// A question whose id is the same whenever it is read.
    pub(crate) fn new(kind: &'static str, asker: Asker<'a>, prompt: Option<&'a str>) -> Self {
        let mut input_id = format!("{kind}-{}", asker.task);
        if !asker.message.is_empty() && asker.message != asker.task {
            input_id.push('-');
            input_id.push_str(asker.message);
        }
        Self {
            schema_version: 1,
            kind,
            input_id,
            request_task_id: asker.task,
            context_id: asker.context,
            required: true,
            allow_free_text: true,
            prompt,
            options: Vec::new(),
        }
    }

    /// Adds a choice.
    pub(crate) fn with_choice(mut self, id: &'static str, label: &'a str) -> Self {
        self.options.push(QuestionOption { id, label });
        self
    }

    /// Changes the id.
    pub(crate) fn with_id(mut self, id: &str) -> Self {
        id.clone_into(&mut self.input_id);
        self
    }

    pub(crate) fn id(&self) -> &str {
        &self.input_id
    }

    pub(crate) fn to_json(&self) -> Option<Json> {
        Json::from_serialize(self).ok()
    }
}
