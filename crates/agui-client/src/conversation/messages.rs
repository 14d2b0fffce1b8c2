//! How events change the list of messages.

use std::collections::{BTreeMap, BTreeSet};

use agui_core::{
    ActivityDelta, ActivityMessage, ActivitySnapshot, AssistantMessage, Content, ContentPart,
    DeveloperMessage, EncryptedValueSubtype, Event, FunctionCall, JsonObject, Message, MessageId,
    ReasoningEncryptedValue, ReasoningMessage, ReasoningMessageStart, SystemMessage, TextMessageStart,
    TextPart, TextRole, ToolCall, ToolCallId, ToolCallStart, ToolMessage, UserMessage,
};

use super::patch::{self, PatchFailure};
use super::{Warning, metadata};

/// The messages of a thread, in the order in which they are shown.
#[derive(Clone, Default)]
pub(super) struct Messages {
    list: Vec<Message>,
    /// Every id in the list, and some that were: what is not in here need not be searched for, so that a long
    /// thread is not searched for each message that begins.
    ids: BTreeSet<MessageId>,
    /// The same of calls.
    calls: BTreeSet<ToolCallId>,
}

impl From<Vec<Message>> for Messages {
    fn from(list: Vec<Message>) -> Self {
        let mut messages = Self { list, ..Self::default() };
        messages.ids.extend(messages.list.iter().map(|message| message.id().clone()));
        messages.calls.extend(messages.list.iter().flat_map(calls_of).map(|call| call.id.clone()));
        messages
    }
}

impl Messages {
    pub(super) fn as_slice(&self) -> &[Message] {
        &self.list
    }

    pub(super) fn push(&mut self, message: Message) {
        self.insert(self.list.len(), message);
    }

    fn insert(&mut self, index: usize, message: Message) {
        self.ids.insert(message.id().clone());
        self.calls.extend(calls_of(&message).iter().map(|call| call.id.clone()));
        self.list.insert(index, message);
    }

    /// Searched from the end: what is streamed is what came last.
    fn place(&self, id: &MessageId) -> Option<usize> {
        if !self.ids.contains(id) {
            return None;
        }
        self.list.iter().rposition(|message| message.id() == id)
    }

    fn find(&mut self, id: &MessageId) -> Option<&mut Message> {
        let index = self.place(id)?;
        self.list.get_mut(index)
    }

    /// Index of the message with this call, and of the call in it.
    fn place_of_call(&self, id: &ToolCallId) -> Option<(usize, usize)> {
        if !self.calls.contains(id) {
            return None;
        }
        self.list.iter().enumerate().rev().find_map(|(index, message)| {
            calls_of(message).iter().rposition(|call| call.id == *id).map(|call| (index, call))
        })
    }

    fn find_call_mut(&mut self, id: &ToolCallId) -> Option<&mut ToolCall> {
        let (message, call) = self.place_of_call(id)?;
        match self.list.get_mut(message)? {
            Message::Assistant(message) => message.tool_calls.get_mut(call),
            _ => None,
        }
    }

    /// A call of any assistant message.
    pub(super) fn find_call(&self, id: &ToolCallId) -> Option<&ToolCall> {
        let (message, call) = self.place_of_call(id)?;
        calls_of(self.list.get(message)?).get(call)
    }

    /// Puts a result behind the message with its call and the results that are there already.
    pub(super) fn insert_result(&mut self, result: ToolMessage) {
        let index = self.place_of_call(&result.tool_call_id).map_or(self.list.len(), |(home, _)| {
            let behind = self.list[home + 1..].iter();
            home + 1 + behind.take_while(|message| matches!(message, Message::Tool(_))).count()
        });
        self.insert(index, result.into());
    }

    /// Appends the messages whose ids are not there yet.
    pub(super) fn add_unknown(&mut self, more: &[Message]) {
        if more.is_empty() {
            return;
        }
        let known: BTreeSet<MessageId> = self.list.iter().map(|message| message.id().clone()).collect();
        for message in more.iter().filter(|message| !known.contains(message.id())) {
            self.push(message.clone());
        }
    }
}

fn calls_of(message: &Message) -> &[ToolCall] {
    match message {
        Message::Assistant(message) => &message.tool_calls,
        _ => &[],
    }
}

/// Applies an event that is about messages; the others change nothing.
pub(super) fn apply(messages: &mut Messages, event: &Event) -> Result<(), Warning> {
    let more = event.base().metadata.as_ref();
    match event {
        Event::TextMessageStart(start) => {
            let message = open(messages, &start.message_id, || text_message(start))?;
            merge_into(message, more);
        }
        Event::TextMessageContent(content) => say(messages, &content.message_id, &content.delta, more)?,
        Event::TextMessageEnd(end) => say(messages, &end.message_id, "", more)?,
        Event::ReasoningMessageStart(start) => {
            let message = open(messages, &start.message_id, || reasoning_message(start))?;
            merge_into(message, more);
        }
        Event::ReasoningMessageContent(content) => say(messages, &content.message_id, &content.delta, more)?,
        Event::ReasoningMessageEnd(end) => say(messages, &end.message_id, "", more)?,
        Event::ReasoningEncryptedValue(value) => encrypt(messages, value),
        Event::ToolCallStart(start) => open_call(messages, start, more),
        Event::ToolCallArgs(args) => extend_call(messages, &args.tool_call_id, &args.delta, more)?,
        Event::ToolCallEnd(end) => extend_call(messages, &end.tool_call_id, "", more)?,
        Event::ToolCallResult(result) => {
            let mut message =
                ToolMessage::new(&result.message_id, &result.tool_call_id, result.content.clone());
            message.metadata = more.cloned();
            message.subagent_run_id.clone_from(&result.subagent_run_id);
            messages.insert_result(message);
        }
        Event::ActivitySnapshot(snapshot) => show_activity(messages, snapshot),
        Event::ActivityDelta(delta) => change_activity(messages, delta)?,
        _ => {}
    }
    Ok(())
}

/// The message of this id, which an activity must not have; made if there is none.
fn open<'a>(
    messages: &'a mut Messages,
    id: &MessageId,
    make: impl FnOnce() -> Message,
) -> Result<&'a mut Message, Warning> {
    let index = messages.place(id).unwrap_or_else(|| {
        messages.push(make());
        messages.list.len() - 1
    });
    match &mut messages.list[index] {
        Message::Activity(_) => Err(Warning::ActivityInTheWay { message_id: id.clone() }),
        message => Ok(message),
    }
}

fn text_message(start: &TextMessageStart) -> Message {
    let id = &start.message_id;
    let (name, owner) = (start.name.clone(), start.subagent_run_id.clone());
    match start.role {
        Some(TextRole::Developer) => {
            let mut message = DeveloperMessage::new(id, "");
            (message.name, message.subagent_run_id) = (name, owner);
            message.into()
        }
        Some(TextRole::System) => {
            let mut message = SystemMessage::new(id, "");
            (message.name, message.subagent_run_id) = (name, owner);
            message.into()
        }
        Some(TextRole::User) => {
            let mut message = UserMessage::new(id, "");
            (message.name, message.subagent_run_id) = (name, owner);
            message.into()
        }
        _ => {
            let mut message = AssistantMessage::new(id).with_content("");
            (message.name, message.subagent_run_id) = (name, owner);
            message.into()
        }
    }
}

fn reasoning_message(start: &ReasoningMessageStart) -> Message {
    let mut message = ReasoningMessage::new(&start.message_id, "");
    message.subagent_run_id.clone_from(&start.subagent_run_id);
    message.into()
}

fn merge_into(message: &mut Message, more: Option<&JsonObject>) {
    if let Some(kept) = metadata::of(message) {
        metadata::merge(kept, more);
    }
}

/// Appends text to a message and merges metadata.
fn say(
    messages: &mut Messages,
    id: &MessageId,
    delta: &str,
    more: Option<&JsonObject>,
) -> Result<(), Warning> {
    let message = messages.find(id).ok_or_else(|| Warning::UnknownMessage { message_id: id.clone() })?;
    match message {
        Message::Developer(message) => message.content.push_str(delta),
        Message::System(message) => message.content.push_str(delta),
        Message::Reasoning(message) => message.content.push_str(delta),
        Message::Assistant(message) => message.content.get_or_insert_default().push_str(delta),
        Message::User(message) => append(&mut message.content, delta),
        Message::Tool(message) => append(&mut message.content, delta),
        _ => return Err(Warning::ActivityInTheWay { message_id: id.clone() }),
    }
    merge_into(message, more);
    Ok(())
}

fn append(content: &mut Content, delta: &str) {
    match content {
        Content::Text(text) => text.push_str(delta),
        Content::Parts(parts) if !delta.is_empty() => parts.push(ContentPart::from(TextPart::new(delta))),
        _ => {}
    }
}

/// Opens a call: the known one under its new name, or a new one at its message.
fn open_call(messages: &mut Messages, start: &ToolCallStart, more: Option<&JsonObject>) {
    if let Some(call) = messages.find_call_mut(&start.tool_call_id) {
        call.function.name.clone_from(&start.tool_call_name);
        metadata::merge(&mut call.metadata, more);
        return;
    }
    let function = FunctionCall::new(start.tool_call_name.as_str(), "");
    let mut call = ToolCall::new(&start.tool_call_id, function);
    call.metadata = more.cloned();
    let home = home_of_call(messages, start);
    messages.calls.insert(call.id.clone());
    if let Message::Assistant(message) = &mut messages.list[home] {
        message.tool_calls.push(call);
    }
}

/// Index of the assistant message that a new call belongs to; made if there is none.
fn home_of_call(messages: &mut Messages, start: &ToolCallStart) -> usize {
    let parent = start.parent_message_id.as_ref();
    let found = parent.and_then(|parent| messages.place(parent));
    let id = match (found, parent) {
        (Some(index), _) if matches!(messages.list[index], Message::Assistant(_)) => return index,
        (None, Some(parent)) => parent.clone(),
        _ => MessageId::new(start.tool_call_id.as_str()),
    };
    let mut message = AssistantMessage::new(id);
    message.subagent_run_id.clone_from(&start.subagent_run_id);
    messages.push(message.into());
    messages.list.len() - 1
}

fn extend_call(
    messages: &mut Messages,
    id: &ToolCallId,
    delta: &str,
    more: Option<&JsonObject>,
) -> Result<(), Warning> {
    let call =
        messages.find_call_mut(id).ok_or_else(|| Warning::UnknownToolCall { tool_call_id: id.clone() })?;
    call.function.arguments.push_str(delta);
    metadata::merge(&mut call.metadata, more);
    Ok(())
}

/// Unknown entities are ignored, as the specification asks.
fn encrypt(messages: &mut Messages, event: &ReasoningEncryptedValue) {
    let value = Some(event.encrypted_value.clone());
    if event.subtype == EncryptedValueSubtype::ToolCall {
        let id = ToolCallId::new(event.entity_id.as_str());
        if let Some(call) = messages.find_call_mut(&id) {
            call.encrypted_value = value;
        }
        return;
    }
    match messages.find(&MessageId::new(event.entity_id.as_str())) {
        Some(Message::Developer(message)) => message.encrypted_value = value,
        Some(Message::System(message)) => message.encrypted_value = value,
        Some(Message::User(message)) => message.encrypted_value = value,
        Some(Message::Assistant(message)) => message.encrypted_value = value,
        Some(Message::Tool(message)) => message.encrypted_value = value,
        Some(Message::Reasoning(message)) => message.encrypted_value = value,
        _ => {}
    }
}

fn show_activity(messages: &mut Messages, snapshot: &ActivitySnapshot) {
    let known = messages.find(&snapshot.message_id);
    if snapshot.replace == Some(false) && matches!(known, Some(Message::Activity(_))) {
        return;
    }
    let mut activity =
        ActivityMessage::new(&snapshot.message_id, snapshot.activity_type.as_str(), snapshot.content.clone());
    activity.subagent_run_id.clone_from(&snapshot.subagent_run_id);
    if let Some(Message::Activity(old)) = &known {
        activity.metadata.clone_from(&old.metadata);
    }
    metadata::merge(&mut activity.metadata, snapshot.base.metadata.as_ref());
    match known {
        Some(known) => *known = activity.into(),
        None => messages.push(activity.into()),
    }
}

fn change_activity(messages: &mut Messages, delta: &ActivityDelta) -> Result<(), Warning> {
    let message_id = || delta.message_id.clone();
    let activity = match messages.find(&delta.message_id) {
        Some(Message::Activity(activity)) => activity,
        Some(_) => return Err(Warning::NotAnActivity { message_id: message_id() }),
        None => return Err(Warning::UnknownMessage { message_id: message_id() }),
    };
    let content = patched(&activity.content, &delta.patch)
        .map_err(|failure| Warning::ActivityPatch { message_id: message_id(), failure })?;
    activity.content = content;
    activity.activity_type.clone_from(&delta.activity_type);
    metadata::merge(&mut activity.metadata, delta.base.metadata.as_ref());
    Ok(())
}

fn patched(content: &JsonObject, patch: &[agui_core::PatchOp]) -> Result<JsonObject, PatchFailure> {
    let mut value = content.parse().map_err(|_| PatchFailure::Unreadable)?;
    patch::apply(&mut value, patch)?;
    JsonObject::from_serialize(&value).map_err(|_| PatchFailure::NotAnObject)
}

/// Makes the local list that of a snapshot: known messages are replaced where they are, those that are gone
/// are removed, new ones are appended. Activities and reasoning stay unless the snapshot has some.
///
/// Source: behaviour of the released 1.0 client.
pub(super) fn reconcile(messages: &mut Messages, snapshot: &[Message]) {
    let has_activity = snapshot.iter().any(|message| matches!(message, Message::Activity(_)));
    let has_reasoning = snapshot.iter().any(|message| matches!(message, Message::Reasoning(_)));
    let by_id: BTreeMap<&MessageId, &Message> =
        snapshot.iter().map(|message| (message.id(), message)).collect();
    let mut replaced = BTreeSet::new();
    let mut list = std::mem::take(&mut messages.list);
    list.retain_mut(|message| match by_id.get(message.id()) {
        Some(new) => {
            replaced.insert(new.id());
            *message = (*new).clone();
            true
        }
        None => match message {
            Message::Activity(_) => !has_activity,
            Message::Reasoning(_) => !has_reasoning,
            _ => false,
        },
    });
    list.extend(snapshot.iter().filter(|message| !replaced.contains(message.id())).cloned());
    *messages = list.into();
}
