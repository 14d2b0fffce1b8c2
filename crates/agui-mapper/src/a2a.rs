//! Rules that hold for every A2A agent: states, messages, artifacts, histories.

use std::collections::HashMap;

use a2a_wire::{Message, Role, Task, TaskState};
use agui_iac_code::metadata::Input;

use crate::config::MapperConfig;
use crate::observed::{Identity, Observed, OpenInput, Sideband};
use crate::questions::Questions;
use crate::spans::Spans;

mod artifacts;
mod asks;
mod digest;
mod replay;
mod shown;
mod snapshot;
mod source;
mod text;
mod updates;

pub(crate) use artifacts::Artifacts;
pub(crate) use text::{TextFlow, Unaligned};
use updates::Told;

/// The state of a run that does not depend on whose agent it is.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) spans: Spans,
    pub(crate) text: TextFlow,
    pub(crate) artifacts: Artifacts,
    pub(crate) questions: Questions,
    pub(crate) observed: Observed,
    told: Told,
    max_artifact_bytes: usize,
    /// Whether the task has worked since this run began.
    has_worked: bool,
    /// Whether the agent has got an answer in this run …
    has_answered: bool,
    /// … and when it had asked that, in its own words.
    answered_at: Option<String>,
}

impl Turn {
    pub(crate) fn new(config: &MapperConfig) -> Self {
        let observed = Observed {
            task_id: Identity::known(config.task_id.clone()),
            context_id: Identity::known(Some(config.context_id.clone())),
            session_id: Identity::known(config.session_id.clone()),
            dialect: config.dialect,
            open_inputs: config.pending.iter().filter(|open| !is_answered(config, open)).cloned().collect(),
            ..Observed::default()
        };
        let mut spans = Spans::new(&config.run_id, config.max_result_bytes);
        spans.set_task(observed.task_id.get().unwrap_or_default());
        Self {
            spans,
            text: TextFlow::new(config.dialect, config.resume.as_ref()),
            artifacts: Artifacts::new(config.resume.as_ref()),
            questions: Questions::new(config),
            observed,
            told: Told::new(config.resume.is_some()),
            max_artifact_bytes: config.max_artifact_bytes,
            has_worked: false,
            has_answered: false,
            answered_at: None,
        }
    }

    /// Notes the ids of an update; `false` if it belongs to another task or context and must not be mapped.
    pub(crate) fn admit(&mut self, task_id: &str, context_id: &str) -> bool {
        if self.observed.task_id.get().is_none() {
            self.spans.set_task(task_id);
        }
        let task = self.observed.task_id.observe(task_id);
        let context = self.observed.context_id.observe(context_id);
        task && context
    }

    /// Notes the state of the task; what was said about an earlier stop no longer holds when it works again.
    pub(crate) fn enter(&mut self, state: &TaskState) {
        if matches!(state, TaskState::Submitted | TaskState::Working) {
            let observed = &mut self.observed;
            observed.identity_error = None;
            observed.failure = None;
            observed.backup_blocked = None;
            observed.permission_wait = None;
            self.has_worked = true;
            self.told.go_on();
        }
        if self.observed.last_state.as_ref() != Some(state) {
            self.observed.last_state = Some(state.clone());
        }
    }

    /// Closes a question that the agent has got an answer to, by its id or by that of its interrupt.
    pub(crate) fn answered(&mut self, id: &str) {
        let is_meant = |open: &&OpenInput| *open.input_id == *id || open.interrupt.id.as_str() == id;
        if let Some(open) = self.observed.open_inputs.iter().find(is_meant) {
            self.answered_at = asks::asked_at(open);
        }
        self.told.go_on();
        self.has_answered = true;
        self.questions.answered(&mut self.observed, id);
    }

    /// Opens a question.
    pub(crate) fn raise(&mut self, input: &Input<'_>, sideband: Sideband) {
        self.questions.raise(&mut self.observed, input, sideband);
    }

    /// The arguments of a tool call turned out to be others than those that were asked about.
    pub(crate) fn arguments_changed(&mut self, tool_use_id: &str) {
        self.questions.arguments_changed(&mut self.observed, tool_use_id);
    }

    /// Shows the text of a status message, as far as it is the agent's answer.
    ///
    /// The text of a failed, rejected or cancelled task is the reason of the end, and that of a task which
    /// waits is a question: neither is an answer.
    pub(crate) fn status_text(&mut self, state: &TaskState, message: &Message<'_>) {
        if !is_answer(state) || !is_agents(message) {
            return;
        }
        let id = &*message.message_id;
        if *state == TaskState::Completed {
            let text = joined(message);
            if !self.text.is_open(id) {
                return self.text.whole(&mut self.spans, id, &text);
            }
            if self.text.is_all_of(id, &text) {
                return;
            }
        }
        for text in message.texts() {
            self.text.delta(&mut self.spans, id, text);
        }
    }

    /// Shows what is missing of the whole final text that a status message repeats.
    pub(crate) fn final_text(&mut self, state: &TaskState, message: &Message<'_>) {
        if (is_answer(state) || *state == TaskState::InputRequired) && is_agents(message) {
            self.text.whole(&mut self.spans, &message.message_id, &joined(message));
        }
    }

    /// Shows what messages of a Task say that was not shown yet.
    pub(crate) fn task_text<'t, 'a: 't>(
        &mut self,
        answers: impl IntoIterator<Item = &'t Message<'a>>,
        unaligned: Unaligned,
    ) {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut messages: Vec<(&str, Vec<&str>)> = Vec::new();
        for message in answers {
            let id = &*message.message_id;
            let place = *places.entry(id).or_insert(messages.len());
            if place == messages.len() {
                messages.push((id, Vec::new()));
            }
            messages[place].1.extend(message.texts());
        }
        for (id, texts) in messages {
            self.text.snapshot(&mut self.spans, id, &texts, unaligned);
        }
    }

    /// Shows a message that the agent sent instead of a task.
    pub(crate) fn direct_message(&mut self, message: &Message<'_>) {
        self.observed.direct_message = true;
        if message.role != Role::User {
            self.text.whole(&mut self.spans, &message.message_id, &joined(message));
        }
    }
}

fn is_answered(config: &MapperConfig, open: &OpenInput) -> bool {
    config.answered.iter().any(|id| **id == *open.input_id || **id == *open.interrupt.id.as_str())
}

/// What the agent says about the state of a Task, if that is an answer.
pub(crate) fn last_answer<'t, 'a>(task: &'t Task<'a>) -> Option<&'t Message<'a>> {
    let last = task.status.message.as_ref().filter(|_| is_answer(&task.status.state));
    last.filter(|message| is_agents(message))
}

/// What the agent said in a Task's history since the user spoke last.
pub(crate) fn answers_in<'t, 'a>(task: &'t Task<'a>) -> impl Iterator<Item = &'t Message<'a>> {
    let asked = task.history.iter().rposition(|message| message.role == Role::User);
    task.history.iter().skip(asked.map_or(0, |at| at + 1)).filter(|message| is_agents(message))
}

/// The text of a message in one piece.
pub(crate) fn joined(message: &Message<'_>) -> String {
    message.texts().collect()
}

/// Whether the agent wrote a message; a role it left out or made up counts as the agent's.
pub(crate) fn is_agents(message: &Message<'_>) -> bool {
    message.role != Role::User
}

const fn is_answer(state: &TaskState) -> bool {
    match state {
        TaskState::Failed
        | TaskState::Rejected
        | TaskState::Canceled
        | TaskState::InputRequired
        | TaskState::AuthRequired => false,
        // What a state that is not known yet says is better shown than lost.
        _ => true,
    }
}
