//! What updates, Tasks and messages show by the rules of A2A alone, when no layer above knows better.

use std::collections::{HashMap, HashSet};

use a2a_wire::{Message, StatusUpdate, Task, TaskState};
use agui_core::{Custom, Json};
use serde::Serialize;

use super::asks::{self, Seen};
use super::{Turn, Unaligned, answers_in, digest, is_agents, joined, last_answer};
use crate::custom::{MESSAGE_V1, MessageV1, PartValue};

/// How a message without id is called when its parts are told.
const NAMELESS_MESSAGE: &str = "message";

/// Most parts that are remembered as told.
const MAX_TOLD: usize = 4096;

/// The parts of messages that are no text, as far as they were told.
#[derive(Debug)]
pub(crate) struct Told {
    /// Digests of parts, with the message they are of.
    parts: HashSet<(Box<str>, String)>,
    /// What each message said last, as a digest.
    last: HashMap<Box<str>, String>,
    /// The run resumes, and nothing has happened in it: a Task that waits is as the run before has told it.
    is_as_left: bool,
}

impl Told {
    pub(super) fn new(resumes: bool) -> Self {
        Self { parts: HashSet::new(), last: HashMap::new(), is_as_left: resumes }
    }

    /// Something has happened: what a Task says from now on may be new.
    pub(super) const fn go_on(&mut self) {
        self.is_as_left = false;
    }

    /// Notes what an update says; `false` if it is what the message said before.
    fn note_said(&mut self, message: &str, value: &MessageV1<'_>) -> bool {
        for part in &value.parts {
            self.note_part(message, part);
        }
        self.note_last(message, value)
    }

    /// Notes what a message says now; `false` if it is what it said before.
    fn note_last(&mut self, message: &str, value: &MessageV1<'_>) -> bool {
        let said = digest_of(&value.parts);
        if self.last.len() >= MAX_TOLD && !self.last.contains_key(message) {
            return true;
        }
        self.last.insert(message.into(), said.clone()).is_none_or(|before| before != said)
    }

    /// Notes a part of a message; `false` if it was told. One that can't be remembered is told again.
    fn note_part(&mut self, message: &str, part: &PartValue<'_>) -> bool {
        let key = (message.into(), digest_of(part));
        if self.parts.len() < MAX_TOLD { self.parts.insert(key) } else { !self.parts.contains(&key) }
    }
}

fn digest_of(value: &impl Serialize) -> String {
    serde_json::to_vec(value).map(|json| digest::whole(&json)).unwrap_or_default()
}

impl Turn {
    /// Maps a status update.
    pub(crate) fn status_update(&mut self, update: &StatusUpdate<'_>) {
        let state = &update.status.state;
        if let Some(message) = &update.status.message {
            self.status_text(state, message);
            self.last_words(state, message);
            if !state.is_interrupted() {
                self.parts(message);
            }
        }
        if state.is_interrupted() {
            asks::ask(self, &update.status, Seen::Update);
        }
    }

    /// Maps a Task: what of it this run has not shown yet.
    pub(crate) fn task(&mut self, task: &Task<'_>) {
        let state = &task.status.state;
        let as_left = self.told.is_as_left && state.is_interrupted() && asks::asks_as_before(self, task);
        let unaligned = if as_left { Unaligned::Shown } else { Unaligned::New };
        let said = Self::said_in(task);
        let now = task.status.message.as_ref();
        let answer = last_answer(task);
        // A Task does not tell in which order it came to be. Agents tell what they are about, make what they
        // make, and sum up.
        let is_summary =
            |message: &&Message<'_>| state.is_terminal() && !self.text.knows(&message.message_id);
        let summary = answer.filter(is_summary);
        let before = answer.filter(|_| summary.is_none());
        self.task_text(said.iter().copied().chain(before), unaligned);
        for message in said {
            self.task_parts(message, unaligned);
        }
        for artifact in &task.artifacts {
            self.task_artifact(artifact);
        }
        if let Some(message) = summary {
            self.text.whole(&mut self.spans, &message.message_id, &joined(message));
        }
        if let Some(message) = now {
            self.last_words(state, message);
            if !state.is_interrupted() {
                self.task_parts(message, Unaligned::New);
            }
        }
        if state.is_interrupted() && !asks::has_its_answer(self, task) {
            asks::ask(self, &task.status, Seen::Task);
        }
    }

    /// The agent's messages in a Task's history since the user spoke last.
    fn said_in<'t, 'a>(task: &'t Task<'a>) -> Vec<&'t Message<'a>> {
        let mut said: Vec<_> = answers_in(task).collect();
        // Some agents keep what they say about the present state in the history as well.
        let now = task.status.message.as_ref();
        let is_now = |message: &&Message<'_>| {
            now.is_some_and(|now| now.message_id == message.message_id && joined(now) == joined(message))
        };
        said.pop_if(|last| is_now(&&**last));
        said
    }

    /// Maps a message that came instead of a task.
    pub(crate) fn message(&mut self, message: &Message<'_>) {
        self.direct_message(message);
        self.parts(message);
    }

    /// Shows why a task failed or was refused: these are words of the agent to the user, like all others.
    /// That a task was cancelled needs no words.
    fn last_words(&mut self, state: &TaskState, message: &Message<'_>) {
        if matches!(state, TaskState::Failed | TaskState::Rejected) && is_agents(message) {
            self.text.whole(&mut self.spans, &message.message_id, &joined(message));
        }
    }

    /// Tells the parts of a message that are no text, unless the message has said just these before. Those of
    /// a question are with the question.
    fn parts(&mut self, message: &Message<'_>) {
        let Some(value) = self.parts_of(message) else { return };
        if self.told.note_said(&message.message_id, &value) {
            self.tell(&value);
        }
    }

    /// Tells the parts of a message in a Task that were not told.
    fn task_parts(&mut self, message: &Message<'_>, unaligned: Unaligned) {
        let Some(mut value) = self.parts_of(message) else { return };
        self.told.note_last(&message.message_id, &value);
        value.parts.retain(|part| self.told.note_part(&message.message_id, part));
        if unaligned == Unaligned::New && !value.parts.is_empty() {
            self.tell(&value);
        }
    }

    fn parts_of<'m>(&self, message: &'m Message<'_>) -> Option<MessageV1<'m>> {
        let id = if message.message_id.is_empty() { NAMELESS_MESSAGE } else { &*message.message_id };
        MessageV1::new(id, &message.parts, self.max_artifact_bytes).filter(|_| is_agents(message))
    }

    fn tell(&mut self, value: &MessageV1<'_>) {
        if let Ok(value) = Json::from_serialize(value) {
            self.spans.emit(Custom::new(MESSAGE_V1, value));
        }
    }
}
