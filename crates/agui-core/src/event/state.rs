//! Shared state and the message list.

use crate::{Json, JsonPatch, Message};

event! {
    /// Replaces the shared state.
    pub struct StateSnapshot("STATE_SNAPSHOT", tagged) {
        required {
            /// The new state; `null` is a value.
            snapshot: Json = "snapshot",
        }
        optional {}
    }
}

event! {
    /// Changes the shared state.
    pub struct StateDelta("STATE_DELTA", tagged) {
        required {
            /// The change (RFC 6902).
            delta: JsonPatch = "delta",
        }
        optional {}
    }
}

event! {
    /// Replaces the message list.
    pub struct MessagesSnapshot("MESSAGES_SNAPSHOT", untagged) {
        required {
            /// The whole list.
            messages: Vec<Message> = "messages",
        }
        optional {}
    }
}
