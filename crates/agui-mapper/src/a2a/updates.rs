//! What updates, Tasks and messages show by the rules of A2A alone, when no layer above knows better.

use std::collections::BTreeSet;

use a2a_wire::{Message, StatusUpdate, Task, TaskState};
use agui_core::{Custom, Json};

use super::asks::{self, Seen};
use super::{Turn, answers_in, digest, is_agents, joined, last_answer, message_id};
use crate::custom::{MESSAGE_V1, MessageV1};

/// Most messages whose parts are remembered as told.
const MAX_TOLD: usize = 1024;

/// The messages whose parts that are no text were told.
#[derive(Debug)]
pub(crate) struct Told {
    /// Their ids; of those without one, what they say.
    messages: BTreeSet<Box<str>>,
    /// The run resumes, and nothing has happened in it: a Task that waits is as the run before has told it.
    is_as_left: bool,
}

impl Told {
    pub(super) const fn new(resumes: bool) -> Self {
        Self { messages: BTreeSet::new(), is_as_left: resumes }
    }

    /// Something has happened: what a Task says from now on may be new.
    pub(super) const fn go_on(&mut self) {
        self.is_as_left = false;
    }
}

impl Turn {
    /// Maps a status update.
    pub(crate) fn status_update(&mut self, update: &StatusUpdate<'_>) {
        let state = &update.status.state;
        if let Some(message) = &update.status.message {
            self.status_text(state, message);
            self.last_words(state, message);
            self.parts(state, message);
        }
        if state.is_interrupted() {
            asks::ask(self, &update.status, Seen::Update);
        }
    }

    /// Maps a Task: what of it this run has not shown yet.
    pub(crate) fn task(&mut self, task: &Task<'_>) {
        let state = &task.status.state;
        // Some agents keep what they say about the present state in the history as well.
        let now = task.status.message.as_ref().map_or("", |message| &*message.message_id);
        let questions = asks::questions_in(self, task);
        let said: Vec<_> = answers_in(task)
            .filter(|message| message.message_id.is_empty() || message.message_id != now)
            .filter(|message| !questions.contains(&&*message.message_id))
            .collect();
        // A Task does not tell in which order it came to be. Agents tell what they are about, make what they
        // make, and sum up.
        let (before, after) = match state.is_terminal() {
            true => (None, last_answer(task)),
            false => (last_answer(task), None),
        };
        self.task_text(said.iter().copied().chain(before));
        for message in said {
            if self.told.is_as_left && state.is_interrupted() {
                self.note_parts(message);
            } else {
                self.parts(&TaskState::Working, message);
            }
        }
        for artifact in &task.artifacts {
            self.task_artifact(artifact);
        }
        self.task_text(after);
        if let Some(message) = &task.status.message {
            self.last_words(state, message);
            self.parts(state, message);
        }
        if state.is_interrupted() {
            asks::ask(self, &task.status, Seen::Task);
        }
    }

    /// Maps a message that came instead of a task.
    pub(crate) fn message(&mut self, message: &Message<'_>) {
        self.direct_message(message);
        self.parts(&TaskState::Completed, message);
    }

    /// Shows why a task failed or was refused: these are words of the agent to the user, like all others.
    /// That a task was cancelled needs no words.
    fn last_words(&mut self, state: &TaskState, message: &Message<'_>) {
        if matches!(state, TaskState::Failed | TaskState::Rejected) && is_agents(message) {
            self.text.whole(&mut self.spans, message_id(message), &joined(message));
        }
    }

    /// Tells the parts of a message that are no text, once. Those of a question are with the question.
    fn parts(&mut self, state: &TaskState, message: &Message<'_>) {
        if state.is_interrupted() || !is_agents(message) || !self.note_parts(message) {
            return;
        }
        let value = MessageV1::new(message_id(message), &message.parts, self.max_artifact_bytes);
        if let Some(value) = value.and_then(|value| Json::from_serialize(&value).ok()) {
            self.spans.emit(Custom::new(MESSAGE_V1, value));
        }
    }

    /// Notes that the parts of a message are told; `false` if they were, or if there are none.
    fn note_parts(&mut self, message: &Message<'_>) -> bool {
        let Some(value) = MessageV1::new("", &message.parts, self.max_artifact_bytes) else { return false };
        let key = match &*message.message_id {
            "" => serde_json::to_vec(&value).map(|json| digest::whole(&json)).unwrap_or_default(),
            id => id.to_owned(),
        };
        if self.told.messages.len() < MAX_TOLD {
            self.told.messages.insert(key.into())
        } else {
            !self.told.messages.contains(&*key)
        }
    }
}
