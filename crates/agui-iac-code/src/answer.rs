//! Answers to the kernel's questions.

use serde::Serialize;
use serde_json::value::RawValue;

/// What the user decided about a permission.
///
/// Example: see [`PermissionAnswer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PermissionDecision {
    /// The tool call may run, this once.
    AllowOnce,
    /// The tool call must not run.
    Deny,
}

impl PermissionDecision {
    /// The decision for a wire name; anything but the two exact words is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "allow_once" => Some(Self::AllowOnce),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }

    /// The wire name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AllowOnce => "allow_once",
            Self::Deny => "deny",
        }
    }
}

/// The data part that answers a permission; serialises to exactly six members.
///
/// The kernel refuses one member more or less.
///
/// ```
/// use agui_iac_code::{PermissionAnswer, PermissionDecision};
///
/// let answer = PermissionAnswer::new("T1", "permission-0a", "call_1", PermissionDecision::AllowOnce);
/// assert_eq!(
///     serde_json::to_string(&answer)?,
///     concat!(
///         r#"{"schemaVersion":1,"kind":"permission","requestTaskId":"T1","#,
///         r#""inputId":"permission-0a","toolUseId":"call_1","decision":"allow_once"}"#,
///     ),
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Source: iac-code 0.16, answer to an `input` of kind `permission`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionAnswer<'a> {
    schema_version: u8,
    kind: &'static str,
    /// Task that asked.
    pub request_task_id: &'a str,
    /// Id of the question.
    pub input_id: &'a str,
    /// Tool call that asked.
    pub tool_use_id: &'a str,
    decision: &'static str,
}

impl<'a> PermissionAnswer<'a> {
    /// Media type of the data part.
    pub const MEDIA_TYPE: &'static str = "application/json";

    /// An answer to the permission `input_id` of the task and tool call.
    #[must_use]
    pub const fn new(
        request_task_id: &'a str,
        input_id: &'a str,
        tool_use_id: &'a str,
        decision: PermissionDecision,
    ) -> Self {
        Self {
            schema_version: 1,
            kind: "permission",
            request_task_id,
            input_id,
            tool_use_id,
            decision: decision.as_str(),
        }
    }
}

/// The answer to a resource selection: `metadata.iac_code.inputResponse` of the message.
///
/// ```
/// use agui_iac_code::{ResourceAnswer, ResourceQuestion};
/// use serde_json::value::RawValue;
///
/// let question = ResourceQuestion::new("T1", "C1", "resource-00", "call_3", "vpc");
/// let value: &RawValue = serde_json::from_str(r#""vpc-1""#)?;
/// let answer = serde_json::to_string(&ResourceAnswer::selected(question, value).with_label("My VPC"))?;
/// assert!(answer.ends_with(r#""selectorId":"vpc","value":"vpc-1","label":"My VPC"}"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Source: iac-code 0.16, `message.metadata.iac_code.inputResponse`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceAnswer<'a> {
    schema_version: u8,
    kind: &'static str,
    status: &'static str,
    /// Task that asked.
    pub request_task_id: &'a str,
    /// Context of that task.
    pub context_id: &'a str,
    /// Id of the question.
    pub input_id: &'a str,
    /// Tool call that asked.
    pub tool_use_id: &'a str,
    /// Id of the selector.
    pub selector_id: &'a str,
    /// The selected value; null when nothing was selected.
    pub value: &'a RawValue,
    /// What the user saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<&'a str>,
    /// Where the options came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'a RawValue>,
    /// Whether there was nothing to choose from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options_empty: Option<bool>,
}

impl<'a> ResourceAnswer<'a> {
    /// The user selected `value`.
    #[must_use]
    pub const fn selected(question: ResourceQuestion<'a>, value: &'a RawValue) -> Self {
        Self::new(question, "selected", value)
    }

    /// The user does not want to select anything.
    #[must_use]
    pub const fn canceled(question: ResourceQuestion<'a>) -> Self {
        Self::new(question, "canceled", RawValue::NULL)
    }

    const fn new(question: ResourceQuestion<'a>, status: &'static str, value: &'a RawValue) -> Self {
        Self {
            schema_version: 1,
            kind: "cloud_resource_selection",
            status,
            request_task_id: question.request_task_id,
            context_id: question.context_id,
            input_id: question.input_id,
            tool_use_id: question.tool_use_id,
            selector_id: question.selector_id,
            value,
            label: None,
            source: None,
            options_empty: None,
        }
    }

    /// Adds what the user saw.
    #[must_use]
    pub const fn with_label(mut self, label: &'a str) -> Self {
        self.label = Some(label);
        self
    }

    /// Adds where the options came from.
    #[must_use]
    pub const fn with_source(mut self, source: &'a RawValue) -> Self {
        self.source = Some(source);
        self
    }

    /// Adds whether there was nothing to choose from.
    #[must_use]
    pub const fn with_options_empty(mut self, options_empty: bool) -> Self {
        self.options_empty = Some(options_empty);
        self
    }
}

/// The names that tie an answer to a resource selection.
///
/// Example: see [`ResourceAnswer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceQuestion<'a> {
    /// Task that asked.
    pub request_task_id: &'a str,
    /// Context of that task.
    pub context_id: &'a str,
    /// Id of the question.
    pub input_id: &'a str,
    /// Tool call that asked.
    pub tool_use_id: &'a str,
    /// Id of the selector.
    pub selector_id: &'a str,
}

impl<'a> ResourceQuestion<'a> {
    /// The question `input_id`, asked by a task of a context for a tool call with a selector.
    #[must_use]
    pub const fn new(
        request_task_id: &'a str,
        context_id: &'a str,
        input_id: &'a str,
        tool_use_id: &'a str,
        selector_id: &'a str,
    ) -> Self {
        Self { request_task_id, context_id, input_id, tool_use_id, selector_id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_answer_has_exactly_the_six_members() {
        let answer = PermissionAnswer::new("T1", "permission-0a", "call_1", PermissionDecision::AllowOnce);

        assert_eq!(
            serde_json::to_string(&answer).unwrap(),
            r#"{"schemaVersion":1,"kind":"permission","requestTaskId":"T1","inputId":"permission-0a","toolUseId":"call_1","decision":"allow_once"}"#
        );
    }

    #[test]
    fn c13_only_the_exact_words_decide() {
        let cases = [
            ("allow_once", Some(PermissionDecision::AllowOnce)),
            ("deny", Some(PermissionDecision::Deny)),
            ("ALLOW_ONCE", None),
            ("allow", None),
            (" allow_once", None),
            ("", None),
        ];
        for (word, decision) in cases {
            assert_eq!(PermissionDecision::from_name(word), decision, "{word:?}");
        }
    }

    #[test]
    fn c67_a_resource_answer_keeps_the_digits_of_its_value() {
        let question = ResourceQuestion::new("T1", "C1", "resource-00", "call_3", "vpc");
        let value: &RawValue = serde_json::from_str("1234567890123456789.0").unwrap();

        let selected =
            ResourceAnswer::selected(question, value).with_label("My VPC").with_options_empty(false);
        let canceled = ResourceAnswer::canceled(question);

        assert_eq!(
            serde_json::to_string(&selected).unwrap(),
            r#"{"schemaVersion":1,"kind":"cloud_resource_selection","status":"selected","requestTaskId":"T1","contextId":"C1","inputId":"resource-00","toolUseId":"call_3","selectorId":"vpc","value":1234567890123456789.0,"label":"My VPC","optionsEmpty":false}"#
        );
        assert_eq!(
            serde_json::to_string(&canceled).unwrap(),
            r#"{"schemaVersion":1,"kind":"cloud_resource_selection","status":"canceled","requestTaskId":"T1","contextId":"C1","inputId":"resource-00","toolUseId":"call_3","selectorId":"vpc","value":null}"#
        );
    }
}
