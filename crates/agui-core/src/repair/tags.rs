//! Members of events that a repair changes.

use super::Remedy;
use crate::{Event, EventType, RunId, ThreadId};

pub(super) fn is_chunk(event: &Event) -> bool {
    matches!(
        event.event_type(),
        EventType::TextMessageChunk | EventType::ToolCallChunk | EventType::ReasoningMessageChunk
    )
}

/// Sets the ids of an event that opens or closes a run.
pub(super) fn set_run(event: &mut Event, thread_id: &ThreadId, run_id: &RunId) -> Remedy {
    let (thread, run) = match event {
        Event::RunStarted(e) => (&mut e.thread_id, &mut e.run_id),
        Event::RunFinished(e) => (&mut e.thread_id, &mut e.run_id),
        _ => return Remedy::Drop,
    };
    thread.clone_from(thread_id);
    run.clone_from(run_id);
    Remedy::Changed
}

/// A call cannot differ from its message: it loses its tag first, then the message.
pub(super) fn reparent(event: &mut Event) -> Remedy {
    let Event::ToolCallStart(start) = event else { return Remedy::Drop };
    if start.subagent_run_id.take().is_none() {
        start.parent_message_id = None;
    }
    Remedy::Changed
}

/// Takes away a member in which a chunk contradicts the chunk that opened its item.
pub(super) fn clear_member(chunk: &mut Event, member: &str) {
    match (chunk, member) {
        (Event::TextMessageChunk(e), "role") => e.role = None,
        (Event::TextMessageChunk(e), "name") => e.name = None,
        (Event::ToolCallChunk(e), "toolCallName") => e.tool_call_name = None,
        (Event::ToolCallChunk(e), "parentMessageId") => e.parent_message_id = None,
        (chunk, _) => chunk.set_owner(None),
    }
}
