//! Tasks that wait for the user, by the state alone: an agent asks in words, and gets words.

use a2a_wire::{Role, Task, TaskState, TaskStatus};
use agui_core::{InterruptId, Json};
use serde::{Deserialize, Serialize};

use super::{Turn, joined};
use crate::custom::{self, PartValue};
use crate::interrupt::{self, OpenInputKind};
use crate::observed::{OpenInput, ReplacedInput, Sideband};

/// Longest question in bytes; a longer one is cut. Questions are stored.
const MAX_PROMPT_BYTES: usize = 32 * 1024;

/// Most bytes of the parts beside the words of a question, such as the address to sign in at.
const MAX_PARTS_BYTES: usize = 16 * 1024;

/// Where a waiting task was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// In an update: it asks now.
    Update,
    /// In a Task, which may show a question that was answered already.
    Task,
}

/// A question as it is stored and told.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Question<'a> {
    schema_version: u8,
    kind: &'static str,
    input_id: &'a str,
    request_task_id: &'a str,
    context_id: &'a str,
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    /// When the agent asked, in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartValue<'a>>,
}

/// Asks what a waiting task asks, unless that was answered.
pub(super) fn ask(turn: &mut Turn, status: &TaskStatus<'_>, seen: Seen) {
    if let Some(message) = &status.message {
        turn.text.note_question(&message.message_id, &joined(message));
    }
    let task = turn.observed.task_id.get().unwrap_or_default().to_owned();
    let kind = kind_of(&status.state);
    let asked_at = status.timestamp.as_deref();
    let message_id = status.message.as_ref().map_or("", |message| &message.message_id);
    // Questions without words differ by their time at least.
    let stem = question_id(&task, if message_id.is_empty() { asked_at.unwrap_or("") } else { message_id });
    let again = seen == Seen::Update || turn.has_worked || turn.answered_at.as_deref() != asked_at;
    if turn.questions.was_answered(&stem) && !again {
        return;
    }
    let prompt = prompt_of(status);
    let prompt = prompt.as_deref().map(cut);
    if turn.observed.open_inputs.iter().any(|open| is_same(open, kind, prompt)) {
        return;
    }
    // A task asks one thing at a time: what it asked before is void.
    let void: Vec<InterruptId> = turn.observed.open_inputs.drain(..).map(|open| open.interrupt.id).collect();
    let id = turn.questions.free_id(&stem, &void);
    let parts = status.message.as_ref().map(|message| custom::not_text(&message.parts));
    let parts = parts.map(|parts| custom::bounded(parts, MAX_PARTS_BYTES).0).unwrap_or_default();
    let context = turn.observed.context_id.get().unwrap_or_default().to_owned();
    let question = Question {
        schema_version: 1,
        kind,
        input_id: &id,
        request_task_id: &task,
        context_id: &context,
        required: true,
        prompt,
        asked_at,
        parts,
    };
    if let Ok(value) = Json::from_serialize(&question) {
        turn.questions.raise_value(&mut turn.observed, &id, value, Sideband::No);
        for old in void {
            turn.observed.add_replaced(ReplacedInput { old, new: InterruptId::from(id.as_str()) });
        }
    }
}

fn is_same(open: &OpenInput, kind: &str, prompt: Option<&str>) -> bool {
    interrupt::read(open.value.as_raw())
        .is_some_and(|asked| asked.kind_name == kind && asked.prompt.as_deref() == prompt)
}

/// When the agent asked an open question, in its own words.
pub(super) fn asked_at(open: &OpenInput) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Asked {
        asked_at: Option<String>,
    }
    open.value.parse::<Asked>().ok()?.asked_at
}

/// Whether a waiting Task shows the user's answer where its question was: the agent has yet to look at it.
pub(super) fn has_its_answer(turn: &Turn, task: &Task<'_>) -> bool {
    let answer_is_last = task.history.last().is_some_and(|message| message.role == Role::User);
    turn.has_answered && !turn.has_worked && task.status.message.is_none() && answer_is_last
}

/// Whether a waiting Task asks what is open already, as far as that is known.
pub(super) fn asks_as_before(turn: &Turn, task: &Task<'_>) -> bool {
    let prompt = prompt_of(&task.status);
    let open = &turn.observed.open_inputs;
    open.is_empty()
        || open.iter().any(|open| is_same(open, kind_of(&task.status.state), prompt.as_deref().map(cut)))
}

fn prompt_of(status: &TaskStatus<'_>) -> Option<String> {
    status.message.as_ref().map(joined).filter(|text| !text.trim().is_empty())
}

fn kind_of(state: &TaskState) -> &'static str {
    if *state == TaskState::AuthRequired { OpenInputKind::AUTH } else { OpenInputKind::INPUT }
}

fn question_id(task: &str, what: &str) -> String {
    if what.is_empty() { format!("input-{task}") } else { format!("input-{task}-{what}") }
}

fn cut(text: &str) -> &str {
    let end = (0..=text.len().min(MAX_PROMPT_BYTES)).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}
