//! Tools of the application, context for the model, and calls in the message history.

use crate::{Json, JsonObject, ToolCallId};

record! {
    /// A tool that the application offers and runs itself.
    pub struct Tool {
        required {
            /// Name of the tool.
            name: String = "name",
            /// What it does; may be empty.
            description: String = "description",
        }
        optional {
            /// JSON Schema of the arguments.
            parameters: Json = "parameters", with_parameters, compat;
            /// Open keys.
            metadata: JsonObject = "metadata", with_metadata, plain;
        }
    }
}

record! {
    /// A piece of context for the model.
    pub struct Context {
        required {
            /// What the value is.
            description: String = "description",
            /// The value.
            value: String = "value",
        }
        optional {}
    }
}

record! {
    /// The function that a tool call names.
    pub struct FunctionCall {
        required {
            /// Name of the tool.
            name: String = "name",
            /// JSON text of the arguments.
            arguments: String = "arguments",
        }
        optional {}
    }
}

record! {
    /// A tool call in the message history.
    pub struct ToolCall tag("type": "function") {
        required {
            /// Id of the call.
            id: ToolCallId = "id",
            /// What is called.
            function: FunctionCall = "function",
        }
        optional {
            /// Reasoning that only the provider can read.
            encrypted_value: String = "encryptedValue", with_encrypted_value, plain;
            /// Open keys.
            metadata: JsonObject = "metadata", with_metadata, plain;
        }
    }
}
