//! Reasoning: spans, messages and encrypted values.

use crate::MessageId;

words! {
    /// What an encrypted value belongs to.
    EncryptedValueSubtype {
        /// A tool call.
        ToolCall = "tool-call",
        /// A message.
        Message = "message",
    }
}

event! {
    /// Opens a reasoning span.
    pub struct ReasoningStart("REASONING_START", tagged) {
        required {
            /// Id of the span; may be the id of its message.
            message_id: MessageId = "messageId",
        }
        optional {}
    }
}

event! {
    /// Closes a reasoning span.
    pub struct ReasoningEnd("REASONING_END", tagged) {
        required {
            /// Id of the span.
            message_id: MessageId = "messageId",
        }
        optional {}
    }
}

event! {
    /// Opens a reasoning message. Its role is always `reasoning` and always written.
    pub struct ReasoningMessageStart("REASONING_MESSAGE_START", tagged, "role": "reasoning") {
        required {
            /// Id of the message; another one than that of the answer.
            message_id: MessageId = "messageId",
        }
        optional {}
    }
}

event! {
    /// Appends text to an open reasoning message.
    pub struct ReasoningMessageContent("REASONING_MESSAGE_CONTENT", tagged) {
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
    /// Closes a reasoning message.
    pub struct ReasoningMessageEnd("REASONING_MESSAGE_END", tagged) {
        required {
            /// Id of the message.
            message_id: MessageId = "messageId",
        }
        optional {}
    }
}

event! {
    /// Shorthand that opens, continues and implicitly closes a reasoning message.
    #[derive(Default)]
    pub struct ReasoningMessageChunk("REASONING_MESSAGE_CHUNK", tagged) {
        required {}
        optional {
            /// Id of the message; the first chunk needs it.
            message_id: MessageId = "messageId", with_message_id, plain;
            /// The text to append.
            delta: String = "delta", with_delta, plain;
        }
    }
}

event! {
    /// Reasoning that only the provider can read; the client returns it with the next run.
    pub struct ReasoningEncryptedValue("REASONING_ENCRYPTED_VALUE", tagged) {
        required {
            /// What the value belongs to.
            subtype: EncryptedValueSubtype = "subtype",
            /// Id of that tool call or message.
            entity_id: String = "entityId",
            /// The value.
            encrypted_value: String = "encryptedValue",
        }
        optional {}
    }
}
