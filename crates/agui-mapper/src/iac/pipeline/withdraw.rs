//! Messages that the model took back.
//!
//! AG-UI can't unsay a message: `MESSAGES_SNAPSHOT` would need the whole history of the client, and the
//! list of pipeline events that clients get is closed. So the message is closed, its open spans end with
//! the metadata `{"iacCode":{"status":"withdrawn"}}`, calls that will get no result any more get an empty
//! one with the same metadata, and a standard `RAW` event names all messages and calls that are void,
//! those that were closed before among them.

use std::borrow::Cow;

use agui_core::{Json, JsonObject, MessageId, Raw, ToolCallId};
use serde::Serialize;

use crate::a2a::Turn;
use crate::iac::tools::Tools;
use crate::spans::{CallResult, LaneId};

/// Metadata of what was withdrawn.
const WITHDRAWN: &str = r#"{"iacCode":{"status":"withdrawn"}}"#;

/// Source of the raw event.
const SOURCE: &str = "iac-code";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Withdrawn<'a> {
    r#type: &'static str,
    message_ids: &'a [MessageId],
    tool_call_ids: &'a [ToolCallId],
}

/// Withdraws the present message of a lane and the calls that are named.
pub(super) fn message(turn: &mut Turn, tools: &Tools, lane: LaneId, calls: &[Cow<'_, str>]) {
    let metadata = JsonObject::from_string(WITHDRAWN.to_owned()).ok();
    let mut shown = turn.spans.withdraw(lane, metadata.as_ref());
    for call in calls.iter().map(|call| tools.stream_id(call)) {
        if turn.spans.knows_call(call.as_str()) && !shown.calls.contains(&call) {
            shown.calls.push(call);
        }
    }
    for call in &shown.calls {
        if turn.spans.call_waits(call.as_str()) {
            turn.spans.call_result(lane, call, CallResult { content: "", metadata: metadata.clone() });
        }
    }
    if shown.messages.is_empty() && shown.calls.is_empty() {
        return;
    }
    let notice =
        Withdrawn { r#type: "message_withdrawn", message_ids: &shown.messages, tool_call_ids: &shown.calls };
    if let Ok(event) = Json::from_serialize(&notice) {
        turn.spans.emit(Raw::new(event).with_source(SOURCE));
    }
}
