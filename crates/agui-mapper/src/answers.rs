//! From an answer to an interrupt to what must be sent to the kernel.

use agui_core::{Json, ResumeEntry, ResumeStatus};
use agui_iac_code::metadata::Input;
use agui_iac_code::{PermissionAnswer, PermissionDecision, ResourceAnswer, ResourceQuestion};
use serde_json::value::RawValue;

use crate::error::MapError;
use crate::interrupt::{self, OpenInputKind};
use crate::json::Members;
use crate::observed::OpenInput;

/// What to send to the kernel for one answered interrupt.
///
/// Example: see [`resolve`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// A message with exactly one data part of media type `application/json`.
    Permission {
        /// What was decided.
        decision: PermissionDecision,
        /// The data part.
        data: Json,
    },
    /// A message with one text part.
    Text(String),
    /// A message whose `metadata.iac_code.inputResponse` is this object.
    Resource {
        /// The object.
        input_response: Json,
    },
    /// The question can only be given up by cancelling the task.
    CancelTask,
}

/// Resolves one resume entry against the question that it answers.
///
/// Options are looked up in the same table that was offered ([`Input::choices`]).
///
/// ```
/// use agui_core::{Json, ResumeEntry, ResumeStatus};
/// use agui_iac_code::PermissionDecision;
/// use agui_mapper::answers::{Answer, resolve};
/// use agui_mapper::{OpenInput, OpenInputKind, Sideband, Texts};
///
/// let stored = r#"{"kind":"permission","requestTaskId":"T1","inputId":"permission-0a","toolUseId":"call_1"}"#;
/// let stored = Json::from_string(stored.to_owned())?;
/// let question = OpenInput::restore("permission-0a", stored, Sideband::No, &Texts::new()).expect("an object");
/// assert_eq!(question.kind, OpenInputKind::Permission);
///
/// let payload = Json::from_string(r#"{"decision":"deny"}"#.to_owned())?;
/// let entry = ResumeEntry::new("permission-0a", ResumeStatus::Resolved).with_payload(payload);
/// let Answer::Permission { decision, data } = resolve(&question, &entry)? else { panic!("a permission") };
/// assert_eq!(decision, PermissionDecision::Deny);
/// assert!(data.get().contains(r#""decision":"deny""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`MapError::PayloadRequired`] and [`MapError::PayloadInvalid`] if the entry does not conform to the
/// interrupt's schema; [`MapError::QuestionUnreadable`] if the stored question is damaged.
pub fn resolve(question: &OpenInput, entry: &ResumeEntry) -> Result<Answer, MapError> {
    let input = interrupt::read(question.value.as_raw()).ok_or(MapError::QuestionUnreadable)?;
    if entry.status == ResumeStatus::Cancelled {
        return match question.kind {
            OpenInputKind::Permission => permission(&input, question, PermissionDecision::Deny),
            OpenInputKind::CloudResourceSelection => resource(&input, question, None),
            _ => Ok(Answer::CancelTask),
        };
    }
    let payload = entry.payload.as_ref().ok_or(MapError::PayloadRequired)?;
    if question.kind.takes_a_string() {
        let words = text(payload.as_raw()).filter(|words| !words.is_empty());
        return words.map(Answer::Text).ok_or(MapError::PayloadInvalid);
    }
    let members = Members::strict(payload.as_raw()).ok_or(MapError::PayloadInvalid)?;
    match question.kind {
        OpenInputKind::Permission => {
            let decision =
                members.only("decision").and_then(text).and_then(|word| PermissionDecision::from_name(&word));
            permission(&input, question, decision.ok_or(MapError::PayloadInvalid)?)
        }
        OpenInputKind::CloudResourceSelection => resource(&input, question, Some(&members)),
        _ => words(&input, &members).map(Answer::Text).ok_or(MapError::PayloadInvalid),
    }
}

/// The answer to a question in words: the answer of the chosen option, or the user's own text.
fn words(input: &Input<'_>, members: &Members<'_>) -> Option<String> {
    if let Some(selected) = members.only("selectedId") {
        let selected = text(selected)?;
        return input.choices().into_iter().find(|choice| choice.id == selected).map(|choice| choice.answer);
    }
    let own = members.only("freeText").and_then(text)?;
    (interrupt::takes_free_text(input) && !own.is_empty()).then_some(own)
}

fn permission(
    input: &Input<'_>,
    question: &OpenInput,
    decision: PermissionDecision,
) -> Result<Answer, MapError> {
    let task = input.request_task_id.as_deref().unwrap_or_default();
    let call = input.tool_use_id.as_deref().unwrap_or_default();
    let answer = PermissionAnswer::new(task, &question.input_id, call, decision);
    let data = Json::from_serialize(&answer).map_err(|_| MapError::QuestionUnreadable)?;
    Ok(Answer::Permission { decision, data })
}

/// The answer to a resource selection; without members it is declined.
fn resource(
    input: &Input<'_>,
    question: &OpenInput,
    members: Option<&Members<'_>>,
) -> Result<Answer, MapError> {
    let selector = input.selector.as_ref().and_then(|selector| selector.id.as_deref());
    let names = ResourceQuestion::new(
        input.request_task_id.as_deref().unwrap_or_default(),
        input.context_id.as_deref().unwrap_or_default(),
        &question.input_id,
        input.tool_use_id.as_deref().unwrap_or_default(),
        selector.unwrap_or_default(),
    );
    let label = members.and_then(|members| members.get("label"));
    let label = label.map(|label| text(label).ok_or(MapError::PayloadInvalid)).transpose()?;
    let mut answer = match members {
        Some(members) if !declined(members)? => {
            ResourceAnswer::selected(names, members.get("value").ok_or(MapError::PayloadInvalid)?)
        }
        _ => ResourceAnswer::canceled(names),
    };
    if let Some(members) = members {
        answer.label = label.as_deref();
        answer.source = members.get("source");
        answer.options_empty = match members.get("optionsEmpty").map(RawValue::get) {
            None => None,
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(_) => return Err(MapError::PayloadInvalid),
        };
    }
    let input_response = Json::from_serialize(&answer).map_err(|_| MapError::QuestionUnreadable)?;
    Ok(Answer::Resource { input_response })
}

/// Whether the payload declines the selection; it must have no member beside those of the schema.
fn declined(members: &Members<'_>) -> Result<bool, MapError> {
    match members.get("status").map(text) {
        Some(Some(status)) if status == "canceled" && members.len() == 1 => Ok(true),
        Some(Some(status)) if status != "selected" => Err(MapError::PayloadInvalid),
        Some(None) => Err(MapError::PayloadInvalid),
        _ if members.names_are_among(&["status", "value", "label", "source", "optionsEmpty"]) => Ok(false),
        _ => Err(MapError::PayloadInvalid),
    }
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}
