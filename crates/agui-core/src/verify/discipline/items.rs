//! Opening, continuing and closing of messages, calls, steps and subagents, and whose they are.

use super::super::owners::{Owner, Seed};
use super::super::{Kind, MAX_OPEN_SPANS, OpenSpan, Span, Violation};
use super::Discipline;
use crate::{
    ActivityDelta, ActivitySnapshot, EncryptedValueSubtype, Event, EventType, Message, MessageId,
    ReasoningEncryptedValue, SubagentRunId, SubagentStarted, ToolCallStart,
};

impl Discipline {
    fn find(&self, kind: Kind, id: &str) -> Option<&OpenSpan> {
        self.open.iter().rev().find(|open| open.span.kind() == kind && open.span.id() == id)
    }

    fn remove(&mut self, kind: Kind, id: &str) {
        self.open.retain(|open| open.span.kind() != kind || open.span.id() != id);
    }

    fn may_open(&self, span: &Span) -> Result<(), Violation> {
        match self.find(span.kind(), span.id()) {
            Some(_) => Err(Violation::AlreadyOpen { span: span.clone() }),
            None => self.has_room_for(span),
        }
    }

    fn has_room_for(&self, span: &Span) -> Result<(), Violation> {
        let has_room = self.open.len() < MAX_OPEN_SPANS;
        if has_room { Ok(()) } else { Err(Violation::TooManyOpen { span: span.clone() }) }
    }

    /// A text message, a reasoning message or a reasoning span begins.
    pub(super) fn opens(&mut self, span: Span, event: &Event) -> Result<(), Violation> {
        self.may_open(&span)?;
        let (Span::TextMessage(id) | Span::ReasoningMessage(id) | Span::ReasoningSpan(id)) = &span else {
            return Ok(());
        };
        let tag = event.subagent_run_id();
        let owners = if matches!(span, Span::TextMessage(_)) {
            &mut self.owners.messages
        } else {
            &mut self.owners.reasoning
        };
        // The first opener stays the owner: what is opened again is appended to its message.
        let owner = match owners.get(id) {
            Some(owner) => {
                same_owner(event.event_type(), id.as_str(), owner, tag)?;
                owner.clone()
            }
            None => owners.entry(id.clone()).or_insert_with(|| tag.cloned()).clone(),
        };
        self.open.push(OpenSpan::new(span, owner));
        Ok(())
    }

    pub(super) fn continues(&self, kind: Kind, id: &str, event: &Event) -> Result<(), Violation> {
        match self.find(kind, id) {
            Some(open) => same_owner(event.event_type(), id, &open.owner, event.subagent_run_id()),
            None => Err(Violation::NotOpen { event: event.event_type(), span: kind.span(id) }),
        }
    }

    pub(super) fn closes(&mut self, kind: Kind, id: &str, event: &Event) -> Result<(), Violation> {
        self.continues(kind, id, event)?;
        self.remove(kind, id);
        Ok(())
    }

    pub(super) fn tool_call_started(&mut self, event: &ToolCallStart) -> Result<(), Violation> {
        let id = &event.tool_call_id;
        let tag = event.subagent_run_id.as_ref();
        let span = Span::ToolCall(id.clone());
        self.may_open(&span)?;
        let known = self.owners.tool_calls.get(id);
        let parent = event.parent_message_id.as_ref();
        let parent = parent.and_then(|parent| self.owners.messages.get_key_value(parent));
        // A call without a tag has the owner of the message that carries it.
        let effective = match (tag, parent) {
            (Some(tag), _) => Some(Some(tag)),
            (None, Some((_, owner))) => Some(owner.as_ref()),
            (None, None) => None,
        };
        if let Some((parent, parent_owner)) = parent {
            let owner = if tag.is_some() { tag } else { known.unwrap_or(parent_owner).as_ref() };
            if parent_owner.as_ref() != owner {
                return Err(Violation::ParentOwnerMismatch {
                    tool_call_id: id.clone(),
                    parent_message_id: parent.clone(),
                    parent_owner: parent_owner.clone(),
                    owner: owner.cloned(),
                });
            }
        }
        let owner = match known {
            Some(owner) => {
                same_owner(EventType::ToolCallStart, id.as_str(), owner, tag)?;
                owner.clone()
            }
            None => effective.flatten().cloned(),
        };
        self.owners.tool_calls.insert(id.clone(), owner.clone());
        self.open.push(OpenSpan::new(span, owner));
        Ok(())
    }

    pub(super) fn step_started(&mut self, name: &str, tag: Option<&SubagentRunId>) -> Result<(), Violation> {
        let span = Span::Step(name.into());
        if self.open.iter().any(|open| open.span == span && open.owner.as_ref() == tag) {
            return Err(Violation::AlreadyOpen { span });
        }
        self.has_room_for(&span)?;
        self.open.push(OpenSpan::new(span, tag.cloned()));
        Ok(())
    }

    pub(super) fn step_finished(&mut self, name: &str, tag: Option<&SubagentRunId>) -> Result<(), Violation> {
        let span = Span::Step(name.into());
        if let Some(index) = self.open.iter().position(|open| open.span == span && open.owner.as_ref() == tag)
        {
            self.open.remove(index);
            return Ok(());
        }
        match self.open.iter().find(|open| open.span == span) {
            Some(open) => Err(Violation::StepOwner {
                step_name: name.into(),
                owner: open.owner.clone(),
                tag: tag.cloned(),
            }),
            None => Err(Violation::NotOpen { event: EventType::StepFinished, span }),
        }
    }

    pub(super) fn encrypted_value(&self, event: &ReasoningEncryptedValue) -> Result<(), Violation> {
        let id = event.entity_id.as_str();
        let owner = match event.subtype {
            EncryptedValueSubtype::ToolCall => self.owners.tool_calls.get(id),
            EncryptedValueSubtype::Message => {
                self.owners.messages.get(id).or_else(|| self.owners.reasoning.get(id))
            }
        };
        let tag = event.subagent_run_id.as_ref();
        owner.map_or(Ok(()), |owner| same_owner(EventType::ReasoningEncryptedValue, id, owner, tag))
    }

    /// Only a snapshot that replaces, or makes, the activity takes it over.
    pub(super) fn activity_snapshot(&mut self, event: &ActivitySnapshot) {
        let activities = &mut self.owners.activities;
        if event.replace != Some(false) || !activities.contains_key(&event.message_id) {
            activities.insert(event.message_id.clone(), event.subagent_run_id.clone());
        }
    }

    pub(super) fn activity_delta(&self, event: &ActivityDelta) -> Result<(), Violation> {
        let id = &event.message_id;
        let tag = event.subagent_run_id.as_ref();
        let owner = self.owners.activities.get(id);
        owner.map_or(Ok(()), |owner| same_owner(EventType::ActivityDelta, id.as_str(), owner, tag))
    }

    /// A tool result makes a message of its own.
    pub(super) fn owns_message(&mut self, id: &MessageId, tag: Option<&SubagentRunId>) {
        self.owners.messages.insert(id.clone(), tag.cloned());
        self.refresh_open_owners();
    }

    pub(super) fn seed(&mut self, messages: &[Message], source: Seed) {
        self.owners.seed(messages, source);
        self.refresh_open_owners();
    }

    /// Open spans carry their owner, so that a delta needs no look-up; here it may have changed.
    fn refresh_open_owners(&mut self) {
        for open in &mut self.open {
            let owner = match &open.span {
                Span::TextMessage(id) => self.owners.messages.get(id),
                Span::ReasoningMessage(id) | Span::ReasoningSpan(id) => self.owners.reasoning.get(id),
                Span::ToolCall(id) => self.owners.tool_calls.get(id),
                Span::Step(_) | Span::Subagent(_) => None,
            };
            if let Some(owner) = owner {
                open.owner.clone_from(owner);
            }
        }
    }

    pub(super) fn subagent_started(&mut self, event: &SubagentStarted) -> Result<(), Violation> {
        let id = &event.subagent_run_id;
        let span = Span::Subagent(id.clone());
        self.may_open(&span)?;
        if self.ended_subagents.contains(id) {
            return Err(Violation::SubagentReused { subagent_run_id: id.clone() });
        }
        let parent = event.parent_subagent_run_id.as_ref();
        if let Some(parent) = parent
            && !self.ended_subagents.contains(parent)
            && self.find(Kind::Subagent, parent.as_str()).is_none()
        {
            return Err(Violation::UnknownParentSubagent { parent: parent.clone() });
        }
        self.open.push(OpenSpan::new(span, parent.cloned()));
        Ok(())
    }

    pub(super) fn subagent_ended(&mut self, id: &SubagentRunId, event: &Event) -> Result<(), Violation> {
        if self.find(Kind::Subagent, id.as_str()).is_none() {
            let span = Span::Subagent(id.clone());
            return Err(Violation::NotOpen { event: event.event_type(), span });
        }
        self.remove(Kind::Subagent, id.as_str());
        self.ended_subagents.insert(id.clone());
        Ok(())
    }
}

/// An event without a tag may continue anything; one with a tag only what is that subagent's.
fn same_owner(
    event: EventType,
    id: &str,
    owner: &Owner,
    tag: Option<&SubagentRunId>,
) -> Result<(), Violation> {
    match tag {
        Some(tag) if owner.as_ref() != Some(tag) => {
            Err(Violation::OwnerMismatch { event, id: id.into(), owner: owner.clone(), tag: tag.clone() })
        }
        Some(_) | None => Ok(()),
    }
}
