//! Questions to the user.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::Scope;
use crate::json::{
    Notes, Raw, Read, any, any_or_null, boolean, each_member, finish, integer, list, object, read_members,
    string, text, text_or_number,
};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// What sort of question it is.
    ///
    /// Source: iac-code 0.16, `metadata.iac_code.input.kind`; kinds of the pipeline event `input_required`.
    pub enum InputKind {
        /// May a tool call run?
        Permission = "permission",
        /// The model asks something.
        AskUserQuestion = "ask_user_question",
        /// Which plan shall be carried out?
        CandidateSelection = "candidate_selection",
        /// Which existing cloud resource shall be used?
        CloudResourceSelection = "cloud_resource_selection",
        /// Shall the deployment start? Only in a pipeline event.
        DeploymentConfirmation = "deployment_confirmation",
        /// The pipeline stopped; shall it go on? Only in a pipeline event.
        PipelinePauseConfirmation = "pipeline_pause_confirmation",
        /// A backup holds the pipeline back. Only in a pipeline event.
        BackupBlocked = "backup_blocked",
    }
}

/// One question, wherever it stood: `input`, `inputRequired`, `pendingPermissions`, a pipeline
/// event, or the `pendingInput` of a pipeline snapshot.
///
/// Source: iac-code 0.16, `metadata.iac_code.input`. There is no expiry in any of them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Input<'a> {
    /// The question as it arrived.
    pub raw: Raw<'a>,
    /// What sort of question it is.
    pub kind: InputKind,
    /// The kind as it was written; empty if it was not.
    pub kind_name: Cow<'a, str>,
    /// Task that asks, and that the answer must name.
    pub request_task_id: Option<Cow<'a, str>>,
    /// Context of that task.
    pub context_id: Option<Cow<'a, str>>,
    /// Id of the question.
    pub input_id: Option<Cow<'a, str>>,
    /// Pipeline event that asked, when the question was read from one.
    pub event_id: Option<Cow<'a, str>>,
    /// Tool call that asks.
    pub tool_use_id: Option<Cow<'a, str>>,
    /// Name of the tool.
    pub tool_name: Option<Cow<'a, str>>,
    /// What the tool is about to do, in a few words.
    pub title: Option<Cow<'a, str>>,
    /// Why it wants to do that.
    pub purpose: Option<Cow<'a, str>>,
    /// `read`, `cloud_change`, `local_execution`, `file_change`, `local_or_remote_change`, `unknown`.
    pub effect: Option<Cow<'a, str>>,
    /// What it works on.
    pub target: Option<Cow<'a, str>>,
    /// Whether it changes nothing.
    pub is_read_only: Option<bool>,
    /// The question as a sentence (`prompt`, else `question`).
    pub prompt: Option<Cow<'a, str>>,
    /// The call without secrets and without content.
    pub safe_summary: Option<Cow<'a, str>>,
    /// The answers to choose from; [`choices`](Self::choices) gives them unambiguous ids.
    pub options: Vec<InputOption<'a>>,
    /// Language of the texts.
    pub language: Option<Cow<'a, str>>,
    /// Whether an answer in one's own words is welcome.
    pub allow_free_text: Option<bool>,
    /// What to ask for in that case.
    pub free_text_prompt: Option<Cow<'a, str>>,
    /// Whether the question is open; absent means yes.
    pub required: Option<bool>,
    /// Whether a permission still waits; absent means yes.
    pub pending: Option<bool>,
    /// Where in the pipeline it was asked.
    pub scope: Option<Scope>,
    /// Candidate that asks; its answer goes beside the stream.
    pub sub_pipeline_id: Option<Cow<'a, str>>,
    /// What would be deployed: candidate, region, stack, template, cost, resources.
    pub deployment_summary: Option<Raw<'a>>,
    /// The cloud operation: product, action, region, target, API calls.
    pub operation: Option<Raw<'a>>,
    /// Parameters to show: `{format: "json", value}`.
    pub display_parameters: Option<Raw<'a>>,
    /// How to select a cloud resource.
    pub selector: Option<Box<ResourceSelector<'a>>>,
    /// Why a pipeline stopped.
    pub reason: Option<Cow<'a, str>>,
}

/// One answer to choose from.
///
/// Source: iac-code 0.16, `metadata.iac_code.input.options`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct InputOption<'a> {
    /// The option as it arrived.
    pub raw: Raw<'a>,
    /// Its id (`id`, else `candidate_index`); a number is its digits.
    pub id: Option<Cow<'a, str>>,
    /// What to show (`label`, else `name`).
    pub label: Option<Cow<'a, str>>,
    /// A longer text (`summary`, else `description`).
    pub summary: Option<Cow<'a, str>>,
    /// Monthly cost of a plan, as text.
    pub total_monthly_cost: Option<Cow<'a, str>>,
}

/// How to select a cloud resource.
///
/// Source: iac-code 0.16, `metadata.iac_code.inputRequired.selector`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceSelector<'a> {
    /// The selector as it arrived.
    pub raw: Raw<'a>,
    /// Id of the selector; the answer repeats it.
    pub id: Option<Cow<'a, str>>,
    /// Sort of resource, for example `ALIYUN::ECS::VPC::VPCId`.
    pub association_property: Option<Cow<'a, str>>,
    /// What the answer holds, for example `id`.
    pub output_kind: Option<Cow<'a, str>>,
    /// Conditions on the resource, unread.
    pub association_property_metadata: Option<Raw<'a>>,
    /// Where the options come from, unread; null is kept.
    pub source: Option<Raw<'a>>,
    /// Digest of the credentials profile.
    pub profile_hash: Option<Cow<'a, str>>,
}

impl<'a> Input<'a> {
    /// The members of a question that a client may see and that may be stored until it is answered.
    ///
    /// Source: iac-code 0.16, metadata of the interrupts of `iac-code agui`; with the members of the kinds that
    /// only pipeline events show.
    pub const PUBLIC_MEMBERS: &'static [&'static str] = &[
        "schemaVersion",
        "kind",
        "requestTaskId",
        "contextId",
        "inputId",
        "toolUseId",
        "toolName",
        "title",
        "purpose",
        "effect",
        "target",
        "isReadOnly",
        "prompt",
        "question",
        "safeSummary",
        "options",
        "language",
        "deploymentSummary",
        "scope",
        "subPipelineId",
        "operation",
        "displayParameters",
        "allowFreeText",
        "freeTextPrompt",
        "required",
        "selector",
        "reason",
        "paused",
        "stepId",
        "solution_summary",
        "template_url",
        "cost",
        "effective_deployment_parameters",
        "parameter_overrides",
        "preview_ready_for_create",
    ];

    /// Those of [`PUBLIC_MEMBERS`](Self::PUBLIC_MEMBERS) that are for the person who is asked and for no file: values
    /// that the user has typed, passwords among them, and the parameters that they went into.
    pub const UNSTORED_MEMBERS: &'static [&'static str] =
        &["effective_deployment_parameters", "parameter_overrides"];

    /// Reads a question from its JSON text, for example from a stored one; `None` if it is no object.
    #[must_use]
    pub fn read(raw: &'a RawValue, notes: &mut Notes) -> Option<Self> {
        Self::read_member(raw, notes).ok().flatten()
    }

    /// Whether it waits for an answer.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.required != Some(false) && self.pending != Some(false)
    }

    /// The id to announce it with: its own, else one made from what else names it.
    ///
    /// Without an `inputId` the kernel's own rule applies: `input-<eventId>`, `ask-<toolUseId>`.
    /// The result is the same however often the question is read.
    #[must_use]
    pub fn interrupt_id(&self) -> Cow<'_, str> {
        let known =
            |id: &'_ Option<Cow<'a, str>>| id.as_deref().filter(|id| !id.is_empty()).map(str::to_owned);
        if let Some(id) = self.input_id.as_deref().filter(|id| !id.is_empty()) {
            return Cow::Borrowed(id);
        }
        let made = match (self.kind, known(&self.tool_use_id), known(&self.event_id)) {
            (InputKind::Permission, Some(call), _) => format!("permission-{call}"),
            (InputKind::AskUserQuestion, Some(call), _) => format!("ask-{call}"),
            (_, _, Some(event)) => format!("input-{event}"),
            (_, Some(call), None) => format!("input-{call}"),
            (_, None, None) => format!("input-{}", self.request_task_id.as_deref().unwrap_or("unknown")),
        };
        Cow::Owned(made)
    }

    /// Whether its answer goes beside the stream: it belongs to a candidate.
    #[must_use]
    pub fn is_sideband(&self) -> bool {
        self.kind == InputKind::Permission
            && (self.sub_pipeline_id.is_some()
                || matches!(self.scope, Some(Scope::Candidate | Scope::CandidateStep)))
    }

    /// The question reduced to [`PUBLIC_MEMBERS`](Self::PUBLIC_MEMBERS), their JSON text unchanged.
    ///
    /// It has only what stood in the question itself: ids that were completed from an envelope or a
    /// snapshot, and one that [`interrupt_id`](Self::interrupt_id) made, are not among them.
    #[must_use]
    pub fn public_members(&self) -> PublicMembers<'a> {
        PublicMembers { raw: self.raw }
    }

    pub(crate) fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self::empty(raw);
        let mut kind: Option<Cow<'a, str>> = None;
        let mut question = None;
        let mut options = None;
        let mut selector = None;
        let mut scope: Option<Cow<'a, str>> = None;
        let is_object = read_members!(raw, notes, "input", {
            "kind" => kind, text;
            "requestTaskId" => it.request_task_id, text;
            "contextId" => it.context_id, text;
            "inputId" => it.input_id, text;
            "eventId" => it.event_id, text;
            "toolUseId" => it.tool_use_id, text;
            "toolName" => it.tool_name, text;
            "title" => it.title, text;
            "purpose" => it.purpose, text;
            "effect" => it.effect, text;
            "target" => it.target, text;
            "isReadOnly" => it.is_read_only, boolean;
            "prompt" => it.prompt, text;
            "question" => question, text;
            "safeSummary" => it.safe_summary, text;
            "options" => options, read_options;
            "language" => it.language, text;
            "allowFreeText" => it.allow_free_text, boolean;
            "freeTextPrompt" => it.free_text_prompt, text;
            "required" => it.required, boolean;
            "pending" => it.pending, boolean;
            "scope" => scope, text;
            "subPipelineId" => it.sub_pipeline_id, text;
            "deploymentSummary" => it.deployment_summary, object;
            "operation" => it.operation, object;
            "displayParameters" => it.display_parameters, object;
            "selector" => selector, ResourceSelector::read_member;
            "reason" => it.reason, text;
        });
        it.kind_name = kind.unwrap_or_default();
        it.kind = InputKind::from_name(&it.kind_name);
        it.prompt = it.prompt.or(question);
        it.options = options.unwrap_or_default();
        it.selector = selector.map(Box::new);
        it.scope = scope.map(|name| Scope::from_name(&name));
        finish(it, raw, is_object)
    }

    fn empty(raw: &'a RawValue) -> Self {
        Self {
            raw: Raw::new(raw),
            kind: InputKind::Other,
            kind_name: Cow::Borrowed(""),
            request_task_id: None,
            context_id: None,
            input_id: None,
            event_id: None,
            tool_use_id: None,
            tool_name: None,
            title: None,
            purpose: None,
            effect: None,
            target: None,
            is_read_only: None,
            prompt: None,
            safe_summary: None,
            options: Vec::new(),
            language: None,
            allow_free_text: None,
            free_text_prompt: None,
            required: None,
            pending: None,
            scope: None,
            sub_pipeline_id: None,
            deployment_summary: None,
            operation: None,
            display_parameters: None,
            selector: None,
            reason: None,
        }
    }
}

fn read_options<'a>(raw: &'a RawValue, notes: &mut Notes) -> Read<Vec<InputOption<'a>>> {
    list(raw, notes, "input.options", InputOption::read_member)
}

impl<'a> InputOption<'a> {
    /// Reads an object, or a bare string that is id and label at once.
    fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self { raw: Raw::new(raw), ..Self::default() };
        if let Ok(word) = string(raw) {
            it.id = Some(word.clone());
            it.label = Some(word);
            return Ok(Some(it));
        }
        let (mut index, mut name, mut description) = (None, None, None);
        let is_object = read_members!(raw, notes, "input.options", {
            "id" => it.id, text_or_number;
            "candidate_index" => index, integer;
            "label" => it.label, text;
            "name" => name, text;
            "summary" => it.summary, text;
            "description" => description, text;
            "totalMonthlyCost" => it.total_monthly_cost, text_or_number;
        });
        it.id = it.id.or_else(|| index.map(|index| Cow::Owned(index.to_string())));
        it.label = it.label.or(name);
        it.summary = it.summary.or(description);
        finish(it, raw, is_object)
    }
}

impl<'a> ResourceSelector<'a> {
    fn read_member(raw: &'a RawValue, notes: &mut Notes) -> Read<Self> {
        let mut it = Self { raw: Raw::new(raw), ..Self::default() };
        let is_object = read_members!(raw, notes, "input.selector", {
            "id" => it.id, text;
            "associationProperty" => it.association_property, text;
            "outputKind" => it.output_kind, text;
            "associationPropertyMetadata" => it.association_property_metadata, any;
            "source" => it.source, any_or_null;
            "profileHash" => it.profile_hash, text;
        });
        finish(it, raw, is_object)
    }
}

/// A question reduced to what a client may see; serialises as an object.
///
/// Source: iac-code 0.16, metadata of the interrupts of `iac-code agui`.
#[derive(Debug, Clone, Copy)]
pub struct PublicMembers<'a> {
    raw: Raw<'a>,
}

impl Serialize for PublicMembers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members: Vec<(&'static str, &RawValue)> = Vec::new();
        each_member(self.raw.value(), |member, value| {
            if let Some(name) = Input::PUBLIC_MEMBERS.iter().find(|known| **known == member) {
                members.retain(|(known, _)| known != name);
                members.push((name, value));
            }
        });
        let mut map = serializer.serialize_map(Some(members.len()))?;
        for (name, value) in members {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
