//! The shorthand events: what they stand for, and what closes them.

use super::{Kind, MAX_OPEN_SPANS, Span, Violation};
use crate::{
    Event, EventBase, EventType, ReasoningMessageContent, ReasoningMessageEnd, ReasoningMessageStart,
    SubagentRunId, TextMessageContent, TextMessageEnd, TextMessageStart, TextRole, ToolCallArgs, ToolCallEnd,
    ToolCallStart,
};

/// The items that chunks have opened: at most one for each owner.
#[derive(Debug)]
pub(crate) struct Chunks {
    lanes: Vec<Lane>,
}

#[derive(Debug)]
struct Lane {
    owner: Option<SubagentRunId>,
    item: Span,
    /// What the opening chunk said, for later chunks to agree with.
    said: [(&'static str, Option<Box<str>>); 2],
}

/// What the three kinds of chunks have in common.
struct Chunk<'a> {
    event: EventType,
    kind: Kind,
    id_member: &'static str,
    id: Option<&'a str>,
    tag: Option<&'a SubagentRunId>,
    says: [(&'static str, Option<&'a str>); 2],
    delta: Option<&'a str>,
    base: &'a EventBase,
}

impl<'a> Chunk<'a> {
    fn of(event: &'a Event) -> Option<Self> {
        let (kind, id, id_member, says, delta) = match event {
            Event::TextMessageChunk(e) => {
                let says = [("role", e.role.map(TextRole::as_str)), ("name", e.name.as_deref())];
                let id = e.message_id.as_ref().map(AsRef::as_ref);
                (Kind::TextMessage, id, "messageId", says, e.delta.as_deref())
            }
            Event::ReasoningMessageChunk(e) => {
                let id = e.message_id.as_ref().map(AsRef::as_ref);
                (
                    Kind::ReasoningMessage,
                    id,
                    "messageId",
                    [("role", None), ("name", None)],
                    e.delta.as_deref(),
                )
            }
            Event::ToolCallChunk(e) => {
                let parent = e.parent_message_id.as_ref().map(AsRef::as_ref);
                let says = [("toolCallName", e.tool_call_name.as_deref()), ("parentMessageId", parent)];
                let id = e.tool_call_id.as_ref().map(AsRef::as_ref);
                (Kind::ToolCall, id, "toolCallId", says, e.delta.as_deref())
            }
            _ => return None,
        };
        let (tag, base) = (event.subagent_run_id(), event.base());
        Some(Self { event: event.event_type(), kind, id_member, id, tag, says, delta, base })
    }
}

impl Chunks {
    pub(crate) const fn new() -> Self {
        Self { lanes: Vec::new() }
    }

    /// Whether no chunk has left an item open.
    pub(crate) const fn is_idle(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Appends the closing events that a whole event brings with it.
    pub(crate) fn close_before(&mut self, event: &Event, out: &mut Vec<Event>) {
        match event.event_type() {
            EventType::RunStarted
            | EventType::RunFinished
            | EventType::RunError
            | EventType::MessagesSnapshot => out.extend(self.lanes.drain(..).map(end_of)),
            EventType::Raw
            | EventType::ActivitySnapshot
            | EventType::ActivityDelta
            | EventType::ReasoningEncryptedValue
            | EventType::SubagentStarted => {}
            _ => self.close(event.subagent_run_id(), out),
        }
    }

    /// Appends the whole events that a chunk stands for. Fails without a change.
    pub(crate) fn expand(&mut self, event: &Event, out: &mut Vec<Event>) -> Result<(), Violation> {
        let Some(chunk) = Chunk::of(event) else { return Ok(()) };
        let owner = self.owner_of(&chunk)?;
        let continued = self.lanes.iter().find(|lane| {
            lane.owner == owner
                && lane.item.kind() == chunk.kind
                && chunk.id.is_none_or(|id| id == lane.item.id())
        });
        let opens = continued.is_none();
        let item = match continued {
            Some(lane) => {
                agree(&chunk, lane)?;
                lane.item.clone()
            }
            None => {
                let (lane, start) = open(&chunk, event, owner.clone())?;
                if self.lanes.len() >= MAX_OPEN_SPANS {
                    return Err(Violation::TooManyOpen { span: lane.item });
                }
                self.close(owner.as_ref(), out);
                let item = lane.item.clone();
                self.lanes.push(lane);
                out.push(start);
                item
            }
        };
        let carries = chunk.delta.is_some() || chunk.base.raw_event.is_some();
        if carries || (!opens && chunk.base.metadata.is_some()) {
            out.push(content_of(&item, &chunk, owner));
        }
        Ok(())
    }

    fn close(&mut self, owner: Option<&SubagentRunId>, out: &mut Vec<Event>) {
        if let Some(index) = self.lanes.iter().position(|lane| lane.owner.as_ref() == owner) {
            out.push(end_of(self.lanes.remove(index)));
        }
    }

    /// Whose item the chunk continues or opens: by its id, else by its tag, else the only one there is.
    fn owner_of(&self, chunk: &Chunk<'_>) -> Result<Option<SubagentRunId>, Violation> {
        let mut same_kind = self.lanes.iter().filter(|lane| lane.item.kind() == chunk.kind);
        if let Some(id) = chunk.id {
            return match same_kind.find(|lane| lane.item.id() == id) {
                Some(lane) if chunk.tag.is_some() && chunk.tag != lane.owner.as_ref() => {
                    Err(conflict(chunk, id, "subagentRunId"))
                }
                Some(lane) => Ok(lane.owner.clone()),
                None => Ok(chunk.tag.cloned()),
            };
        }
        if chunk.tag.is_some() || same_kind.clone().any(|lane| lane.owner.is_none()) {
            return Ok(chunk.tag.cloned());
        }
        match (same_kind.next(), same_kind.next()) {
            (Some(_), Some(_)) => Err(Violation::ChunkAmbiguous { event: chunk.event }),
            (Some(lane), None) => Ok(lane.owner.clone()),
            (None, _) => Ok(None),
        }
    }
}

fn conflict(chunk: &Chunk<'_>, id: &str, member: &'static str) -> Violation {
    Violation::ChunkConflict { event: chunk.event, id: id.into(), member }
}

fn agree(chunk: &Chunk<'_>, lane: &Lane) -> Result<(), Violation> {
    for ((member, says), (_, said)) in chunk.says.iter().zip(&lane.said) {
        if says.is_some() && *says != said.as_deref() {
            return Err(conflict(chunk, lane.item.id(), member));
        }
    }
    Ok(())
}

fn open(chunk: &Chunk<'_>, event: &Event, owner: Option<SubagentRunId>) -> Result<(Lane, Event), Violation> {
    let missing = |missing| Violation::ChunkIncomplete { event: chunk.event, missing };
    let item = chunk.kind.span(chunk.id.ok_or_else(|| missing(chunk.id_member))?);
    let mut said = chunk.says.map(|(member, says)| (member, says.map(Box::from)));
    let mut start = match (&item, event) {
        (Span::TextMessage(id), Event::TextMessageChunk(e)) => {
            let role = e.role.unwrap_or(TextRole::Assistant);
            said[0].1 = Some(role.as_str().into());
            let mut start = TextMessageStart::new(id).with_role(role);
            start.name.clone_from(&e.name);
            start.subagent_run_id.clone_from(&owner);
            Event::from(start)
        }
        (Span::ToolCall(id), Event::ToolCallChunk(e)) => {
            let name = e.tool_call_name.as_deref().ok_or_else(|| missing("toolCallName"))?;
            let mut start = ToolCallStart::new(id, name);
            start.parent_message_id.clone_from(&e.parent_message_id);
            start.subagent_run_id.clone_from(&owner);
            Event::from(start)
        }
        (item, _) => {
            let mut start = ReasoningMessageStart::new(item.id());
            start.subagent_run_id.clone_from(&owner);
            Event::from(start)
        }
    };
    start.base_mut().timestamp = chunk.base.timestamp;
    start.base_mut().metadata.clone_from(&chunk.base.metadata);
    Ok((Lane { owner, item, said }, start))
}

fn content_of(item: &Span, chunk: &Chunk<'_>, owner: Option<SubagentRunId>) -> Event {
    let delta = chunk.delta.unwrap_or_default();
    let mut content = match item {
        Span::ToolCall(id) => {
            let mut args = ToolCallArgs::new(id, delta);
            args.subagent_run_id = owner;
            Event::from(args)
        }
        Span::ReasoningMessage(id) => {
            let mut content = ReasoningMessageContent::new(id, delta);
            content.subagent_run_id = owner;
            Event::from(content)
        }
        item => {
            let mut content = TextMessageContent::new(item.id(), delta);
            content.subagent_run_id = owner;
            Event::from(content)
        }
    };
    *content.base_mut() = chunk.base.clone();
    content
}

fn end_of(lane: Lane) -> Event {
    match lane.item {
        Span::ToolCall(id) => {
            let mut end = ToolCallEnd::new(id);
            end.subagent_run_id = lane.owner;
            Event::from(end)
        }
        Span::ReasoningMessage(id) => {
            let mut end = ReasoningMessageEnd::new(id);
            end.subagent_run_id = lane.owner;
            Event::from(end)
        }
        item => {
            let mut end = TextMessageEnd::new(item.id());
            end.subagent_run_id = lane.owner;
            Event::from(end)
        }
    }
}
