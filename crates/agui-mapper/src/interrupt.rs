//! Questions as interrupts: what a client sees, and what a store keeps.

use std::borrow::Cow;

use agui_core::{Interrupt, InterruptId, Json, JsonObject, ToolCallId};
use agui_iac_code::metadata::{Input, InputKind};
use agui_iac_code::{Choice, Notes};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::observed::{OpenInput, Sideband};
use crate::texts::Texts;

mod compare;
mod schema;
mod value;

pub(crate) use compare::same_question;
pub(crate) use schema::takes_free_text;
pub(crate) use value::{Asker, Question, of_input};

/// Sorts of questions.
///
/// Example: see [`answers::resolve`](crate::answers::resolve).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpenInputKind {
    /// May a tool call run?
    Permission,
    /// The model asks something.
    AskUserQuestion,
    /// Which plan shall be carried out?
    CandidateSelection,
    /// Which existing cloud resource shall be used?
    CloudResourceSelection,
    /// Shall the deployment start?
    DeploymentConfirmation,
    /// The pipeline stopped; shall it go on?
    PipelinePauseConfirmation,
    /// A backup holds the pipeline back; shall it go on?
    BackupBlocked,
    /// The user has to sign in somewhere.
    AuthRequired,
    /// The agent asks in plain text, without structure.
    Prompt,
    /// A task of any agent needs input; the answer is a string.
    Input,
    /// A task of any agent needs the user to sign in or to allow something; the answer is a string.
    Auth,
    /// A kind that is not known; it is answered with text.
    Other,
}

impl OpenInputKind {
    /// The kind in a stored question of a sort that the kernel has no name for.
    pub(crate) const AUTH_REQUIRED: &str = "auth_required";
    /// See [`AUTH_REQUIRED`](Self::AUTH_REQUIRED).
    pub(crate) const PROMPT: &str = "prompt";
    /// See [`AUTH_REQUIRED`](Self::AUTH_REQUIRED).
    pub(crate) const INPUT: &str = "input";
    /// See [`AUTH_REQUIRED`](Self::AUTH_REQUIRED).
    pub(crate) const AUTH: &str = "auth";

    pub(crate) fn of(input: &Input<'_>) -> Self {
        match input.kind {
            InputKind::Permission => Self::Permission,
            InputKind::AskUserQuestion => Self::AskUserQuestion,
            InputKind::CandidateSelection => Self::CandidateSelection,
            InputKind::CloudResourceSelection => Self::CloudResourceSelection,
            InputKind::DeploymentConfirmation => Self::DeploymentConfirmation,
            InputKind::PipelinePauseConfirmation => Self::PipelinePauseConfirmation,
            InputKind::BackupBlocked => Self::BackupBlocked,
            _ => match &*input.kind_name {
                Self::AUTH_REQUIRED => Self::AuthRequired,
                Self::PROMPT => Self::Prompt,
                Self::INPUT => Self::Input,
                Self::AUTH => Self::Auth,
                _ => Self::Other,
            },
        }
    }

    fn default_text(self, texts: &Texts) -> &str {
        match self {
            Self::Permission => &texts.permission_required,
            Self::CandidateSelection => &texts.candidate_selection,
            Self::CloudResourceSelection => &texts.resource_selection,
            Self::DeploymentConfirmation => &texts.deployment_confirmation,
            Self::PipelinePauseConfirmation => &texts.pause_confirmation,
            Self::BackupBlocked => &texts.backup_blocked,
            Self::AuthRequired | Self::Auth => &texts.auth_required,
            Self::AskUserQuestion | Self::Prompt | Self::Input | Self::Other => &texts.input_required,
        }
    }

    /// Whether the answer is a string rather than an object.
    pub(crate) const fn takes_a_string(self) -> bool {
        matches!(self, Self::Input | Self::Auth)
    }

    /// The reason of the interrupt. Source: AG-UI 1.0, "Interrupt"; words that it does not know have a prefix.
    const fn reason(self) -> &'static str {
        match self {
            Self::Permission => "tool_call",
            Self::Auth => "a2a:auth_required",
            _ => "input_required",
        }
    }
}

/// Builds an open question from its stored value.
pub(crate) fn restore(id: &str, value: Json, sideband: Sideband, texts: &Texts) -> Option<OpenInput> {
    let input = read(value.as_raw())?;
    let kind = OpenInputKind::of(&input);
    let choices = input.choices();
    let message = message(&input, kind, &choices, texts);
    let mut interrupt = Interrupt::new(InterruptId::from(id), kind.reason()).with_message(message);
    let tool_use_id = input.tool_use_id.as_deref().filter(|id| !id.is_empty());
    interrupt.tool_call_id = value::stream_call(&value).or_else(|| tool_use_id.map(ToolCallId::from));
    interrupt.response_schema = schema::of(kind, &input, &choices);
    interrupt.metadata = metadata(&value, &choices);
    let input_id = input.interrupt_id().into();
    let sideband = sideband == Sideband::Yes || input.is_sideband();
    let tool_use_id = tool_use_id.map(Into::into);
    Some(OpenInput { input_id, kind, tool_use_id, sideband, value, interrupt })
}

/// Notes that the tool call of a question has another id on the stream than the kernel's.
pub(crate) fn name_call(open: &mut OpenInput, call: &ToolCallId, texts: &Texts) {
    let sideband = if open.sideband { Sideband::Yes } else { Sideband::No };
    let named = value::with_stream_call(&open.value, call)
        .and_then(|value| restore(open.interrupt.id.as_str(), value, sideband, texts));
    if let Some(mut named) = named {
        named.input_id = std::mem::take(&mut open.input_id);
        *open = named;
    }
}

/// Reads a stored or received question.
pub(crate) fn read(value: &RawValue) -> Option<Input<'_>> {
    Input::read(value, &mut Notes::default())
}

fn message(input: &Input<'_>, kind: OpenInputKind, choices: &[Choice], texts: &Texts) -> String {
    let given = |text: &Option<Cow<'_, str>>| {
        text.as_deref().filter(|text| !text.trim().is_empty()).map(str::to_owned)
    };
    let prompt = given(&input.prompt).or_else(|| given(&input.title));
    let mut message = prompt.unwrap_or_else(|| kind.default_text(texts).to_owned());
    if kind != OpenInputKind::Permission {
        for choice in choices {
            message.push_str("\n- ");
            message.push_str(&choice.id);
            message.push_str(": ");
            message.push_str(&choice.title);
        }
    }
    message
}

/// One option as the metadata of the interrupt lists it.
#[derive(Serialize)]
struct StandardOption<'a> {
    id: &'a str,
    title: &'a str,
}

/// The stored value with `standardOptions`, the options under the ids that an answer uses.
fn metadata(value: &Json, choices: &[Choice]) -> Option<JsonObject> {
    let mut members = value::members(value.as_raw())?;
    let options: Vec<StandardOption<'_>> =
        choices.iter().map(|choice| StandardOption { id: &choice.id, title: &choice.title }).collect();
    if !options.is_empty() {
        members.insert("standardOptions".into(), serde_json::value::to_raw_value(&options).ok()?);
    }
    JsonObject::from_serialize(&members).ok()
}
