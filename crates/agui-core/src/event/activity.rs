//! Activities: structured messages that only the front end sees.

use crate::{JsonObject, JsonPatch, MessageId};

event! {
    /// Creates or replaces an activity message.
    pub struct ActivitySnapshot("ACTIVITY_SNAPSHOT", tagged) {
        required {
            /// Id of the activity message.
            message_id: MessageId = "messageId",
            /// Kind of activity; chooses the renderer.
            activity_type: String = "activityType",
            /// Content of the activity.
            content: JsonObject = "content",
        }
        optional {
            /// `false`: leave an activity that exists already as it is. Absent means `true`.
            replace: bool = "replace", with_replace, plain;
        }
    }
}

event! {
    /// Changes the content of an activity message.
    pub struct ActivityDelta("ACTIVITY_DELTA", tagged) {
        required {
            /// Id of the activity message.
            message_id: MessageId = "messageId",
            /// Kind of activity; overwrites the kind of the message.
            activity_type: String = "activityType",
            /// The change of the content (RFC 6902).
            patch: JsonPatch = "patch",
        }
        optional {}
    }
}
