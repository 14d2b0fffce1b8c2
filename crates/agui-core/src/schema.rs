//! JSON Schemas (2020-12) of the wire types: what a 1.0 peer should send, `null` for absent not included.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::decode::MAX_SAFE_INTEGER;
use crate::{
    InterruptId, Json, JsonObject, JsonPointer, MessageId, RunId, SubagentRunId, ThreadId, ToolCallId,
};

/// A type that can be a member of a described object.
pub(crate) trait WireSchema {
    fn wire_schema(generator: &mut SchemaGenerator) -> Schema;
}

/// Makes a schema from a JSON object.
pub(crate) fn schema(value: Value) -> Schema {
    Schema::try_from(value).unwrap_or_default()
}

/// The schema of an object, member by member.
pub(crate) struct Members {
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Members {
    pub(crate) fn new() -> Self {
        Self { properties: Map::new(), required: Vec::new() }
    }

    /// A member with one possible value.
    pub(crate) fn constant(&mut self, key: &str, value: &str) {
        self.required(key, "", schema(json!({ "const": value })));
    }

    /// A member that has to be there.
    pub(crate) fn required(&mut self, key: &str, doc: &str, member: Schema) {
        self.optional(key, doc, member);
        self.required.push(Value::from(key));
    }

    /// A member that may be left out.
    pub(crate) fn optional(&mut self, key: &str, doc: &str, mut member: Schema) {
        if !doc.is_empty() && member.as_object().is_some() {
            member.insert("description".to_owned(), Value::from(doc.trim()));
        }
        self.properties.insert(key.to_owned(), member.to_value());
    }

    pub(crate) fn build(self, doc: &str) -> Schema {
        schema(json!({
            "type": "object",
            "description": doc.trim(),
            "properties": self.properties,
            "required": self.required,
        }))
    }
}

/// The schema of a value that has one of several forms.
pub(crate) fn one_of(doc: &str, forms: Vec<Schema>) -> Schema {
    let forms: Vec<Value> = forms.into_iter().map(Schema::to_value).collect();
    schema(json!({ "description": doc.trim(), "oneOf": forms }))
}

/// The schema of a list.
pub(crate) fn list_of<T: WireSchema>(generator: &mut SchemaGenerator) -> Schema {
    schema(json!({ "type": "array", "items": T::wire_schema(generator).to_value() }))
}

impl<T: WireSchema> WireSchema for Vec<T> {
    fn wire_schema(generator: &mut SchemaGenerator) -> Schema {
        list_of::<T>(generator)
    }
}

impl<T: WireSchema> WireSchema for Box<T> {
    fn wire_schema(generator: &mut SchemaGenerator) -> Schema {
        T::wire_schema(generator)
    }
}

macro_rules! plain_schema {
    ($($ty:ty: $json:tt,)*) => {$(
        impl WireSchema for $ty {
            fn wire_schema(_: &mut SchemaGenerator) -> Schema {
                schema(json!($json))
            }
        }
    )*};
}

plain_schema! {
    String: { "type": "string" },
    bool: { "type": "boolean" },
    i64: { "type": "integer", "minimum": (-MAX_SAFE_INTEGER), "maximum": MAX_SAFE_INTEGER },
    u64: { "type": "integer", "minimum": 0, "maximum": MAX_SAFE_INTEGER },
    Json: {},
    JsonObject: { "type": "object" },
    JsonPointer: { "type": "string", "pattern": "^(/([^~/]|~[01])*)*$" },
    ThreadId: { "type": "string" },
    RunId: { "type": "string" },
    MessageId: { "type": "string" },
    ToolCallId: { "type": "string" },
    InterruptId: { "type": "string" },
    SubagentRunId: { "type": "string" },
}

/// The schema of one of several words.
pub(crate) fn words(doc: &str, words: &[&str]) -> Schema {
    schema(json!({ "description": doc.trim(), "type": "string", "enum": words }))
}
