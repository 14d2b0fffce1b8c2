//! Text messages.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::MessageId;
use crate::decode::{self, Decode, DecodeError, DecodeErrorKind, Path, Reader};

event! {
    /// Opens a text message.
    pub struct TextMessageStart("TEXT_MESSAGE_START", tagged) {
        required {
            /// Id of the message.
            message_id: MessageId = "messageId",
        }
        optional {
            /// Who speaks; absent means the assistant.
            role: TextRole = "role", with_role, plain;
            /// Name of the speaker.
            name: String = "name", with_name, plain;
        }
    }
}

event! {
    /// Appends text to an open message.
    pub struct TextMessageContent("TEXT_MESSAGE_CONTENT", tagged) {
        required {
            /// Id of the message.
            message_id: MessageId = "messageId",
            /// The text to append; may be empty.
            delta: String = "delta",
        }
        optional {}
    }
}

event! {
    /// Closes a text message.
    pub struct TextMessageEnd("TEXT_MESSAGE_END", tagged) {
        required {
            /// Id of the message.
            message_id: MessageId = "messageId",
        }
        optional {}
    }
}

event! {
    /// Shorthand that opens, continues and implicitly closes a text message.
    #[derive(Default)]
    pub struct TextMessageChunk("TEXT_MESSAGE_CHUNK", tagged) {
        required {}
        optional {
            /// Id of the message; the first chunk needs it.
            message_id: MessageId = "messageId", with_message_id, plain;
            /// Who speaks; absent means the assistant.
            role: TextRole = "role", with_role, plain;
            /// The text to append.
            delta: String = "delta", with_delta, plain;
            /// Name of the speaker.
            name: String = "name", with_name, plain;
        }
    }
}

/// Who speaks in a text message.
///
/// Source: AG-UI 1.0, `TEXT_MESSAGE_START.role`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextRole {
    /// `developer`.
    Developer,
    /// `system`.
    System,
    /// `assistant`, also meant when there is no role.
    Assistant,
    /// `user`.
    User,
}

impl TextRole {
    pub(crate) const ALL: [Self; 4] = [Self::Developer, Self::System, Self::Assistant, Self::User];

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Developer => "developer",
            Self::System => "system",
            Self::Assistant => "assistant",
            Self::User => "user",
        }
    }
}

named_schema!(TextRole, |_generator| {
    crate::schema::words("Who speaks in a text message.", &TextRole::ALL.map(TextRole::as_str))
});

impl Serialize for TextRole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Decode for TextRole {
    fn decode(value: &RawValue, at: &Path<'_>, _: &mut Reader) -> Result<Self, DecodeError> {
        let name = decode::string(value, at)?;
        let known = Self::ALL.into_iter().find(|role| role.as_str() == name);
        known.ok_or_else(|| {
            // A role of another kind of message is a mistake; a word nobody knows yet can be skipped.
            let misplaced = matches!(name.as_str(), "tool" | "activity" | "reasoning");
            at.error(if misplaced { DecodeErrorKind::NotAllowed } else { DecodeErrorKind::UnknownMember })
        })
    }
}
