use std::collections::BTreeMap;

use agui_core::{Json, JsonObject, Message};

/// Merges `more` into `kept`: key by key, not deeper, the later value wins.
pub(super) fn merge(kept: &mut Option<JsonObject>, more: Option<&JsonObject>) {
    let Some(more) = more else { return };
    let Some(known) = kept else {
        *kept = Some(more.clone());
        return;
    };
    let (old, new) = (known.parse::<BTreeMap<String, Json>>(), more.parse::<BTreeMap<String, Json>>());
    // Both are objects, and every object is a map of raw values.
    let (Ok(mut old), Ok(new)) = (old, new) else { return };
    old.extend(new);
    if let Ok(merged) = JsonObject::from_serialize(&old) {
        *known = merged;
    }
}

/// The metadata of a message of any kind.
pub(super) const fn of(message: &mut Message) -> Option<&mut Option<JsonObject>> {
    Some(match message {
        Message::Developer(message) => &mut message.metadata,
        Message::System(message) => &mut message.metadata,
        Message::User(message) => &mut message.metadata,
        Message::Assistant(message) => &mut message.metadata,
        Message::Tool(message) => &mut message.metadata,
        Message::Activity(message) => &mut message.metadata,
        Message::Reasoning(message) => &mut message.metadata,
        _ => return None,
    })
}
