//! Tasks that wait for the user without a structured question.

use a2a_wire::{Message, TaskState};
use serde_json::value::RawValue;

use crate::a2a::{Turn, joined};
use crate::interrupt::{Asker, OpenInputKind, Question};
use crate::observed::Sideband;

/// Where a task that waits was seen, and what it means when nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// In an update that says that it waits and nothing else: the kernel's normal turn is over.
    TurnOver,
    /// In an update, and nothing says that the turn is over: the agent asks.
    Asking,
    /// In a Task. It has no metadata after a restart of the kernel, so its silence means nothing.
    Task,
}

impl Seen {
    /// The kernel has `metadata.iac_code` on every update; an agent that is not known to be iac-code, or
    /// that has shown no answer, asks when it says nothing.
    pub(crate) fn in_update(metadata: Option<&RawValue>, turn: &Turn) -> Self {
        let is_kernel = turn.observed.session_id.get().is_some() && turn.text.has_shown("");
        let has_iac_code = metadata.is_some_and(|metadata| metadata.get().contains("\"iac_code\""));
        if is_kernel || has_iac_code { Self::TurnOver } else { Self::Asking }
    }
}

/// Asks what a waiting task asks in words, or asks the user to sign in.
///
/// Nothing is asked when a structured question is open, when the task stopped for another reason, or when
/// the text only repeats the answer.
pub(crate) fn raise(turn: &mut Turn, state: &TaskState, message: Option<&Message<'_>>, seen: Seen) {
    let observed = &turn.observed;
    let stopped = observed.identity_error.is_some()
        || observed.failure.is_some()
        || observed.backup_blocked.is_some()
        || observed.permission_wait.is_some();
    if stopped || !observed.open_inputs.is_empty() {
        return;
    }
    let text = message.map(joined).filter(|text| !text.trim().is_empty());
    let is_new = text.as_ref().is_some_and(|text| !turn.text.has_shown(text));
    let kind = match state {
        TaskState::AuthRequired => OpenInputKind::AUTH_REQUIRED,
        _ if is_new || seen == Seen::Asking => OpenInputKind::PROMPT,
        _ => return,
    };
    let names = Asker {
        task: observed.task_id.get().unwrap_or_default(),
        context: observed.context_id.get().unwrap_or_default(),
        message: message.map_or("", |message| &message.message_id),
    };
    let mut question = Question::new(kind, names, text.as_deref());
    if kind == OpenInputKind::AUTH_REQUIRED {
        question = question.with_choice("done", &turn.questions.texts().auth_done);
    }
    let id = match seen {
        // A Task may show a question again that was answered; an update asks a new one.
        Seen::Task => question.id().to_owned(),
        Seen::TurnOver | Seen::Asking => turn.questions.unanswered_id(question.id()),
    };
    if let Some(value) = question.with_id(&id).to_json() {
        turn.questions.raise_value(&mut turn.observed, &id, value, Sideband::No);
    }
}
