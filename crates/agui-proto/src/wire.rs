//! The messages on the wire, package `ag_ui`, each with its fields, its making from the type of
//! `agui-core` that it carries, and its members as JSON.
//!
//! Source: the wire format of `@ag-ui/proto` 1.0.0.

use agui_core::{
    EncryptedValueSubtype, Json, JsonObject, JsonPointer, MessageId, ResumeStatus, RunId, SubagentRunId,
    TextRole, ThreadId, ToolCallId, ToolRole,
};

use crate::ProtoError;
use crate::value::{Opaque, object_bytes, value_bytes};

#[macro_use]
mod table;
mod content;
mod envelope;
mod events;
mod input;
mod message;
mod patch;
mod run;

pub(crate) use envelope::Envelope;

/// What is made from a value of `agui-core`.
pub(crate) trait Mirror<T: ?Sized>: Sized {
    fn mirror(of: &T) -> Result<Self, ProtoError>;
}

impl<T, W: Mirror<T>> Mirror<Option<T>> for Option<W> {
    fn mirror(of: &Option<T>) -> Result<Self, ProtoError> {
        of.as_ref().map(W::mirror).transpose()
    }
}

impl<T, W: Mirror<T>> Mirror<Vec<T>> for Vec<W> {
    fn mirror(of: &Vec<T>) -> Result<Self, ProtoError> {
        of.iter().map(W::mirror).collect()
    }
}

impl<T, W: Mirror<T>> Mirror<Box<T>> for W {
    fn mirror(of: &Box<T>) -> Result<Self, ProtoError> {
        W::mirror(&**of)
    }
}

impl Mirror<Self> for String {
    fn mirror(of: &Self) -> Result<Self, ProtoError> {
        Ok(of.clone())
    }
}

impl Mirror<EncryptedValueSubtype> for String {
    fn mirror(of: &EncryptedValueSubtype) -> Result<Self, ProtoError> {
        Ok(of.as_str().to_owned())
    }
}

macro_rules! mirror_text {
    ($($ty:ty),*) => {
        $(
            impl Mirror<$ty> for String {
                fn mirror(of: &$ty) -> Result<Self, ProtoError> {
                    Ok(of.as_str().to_owned())
                }
            }
        )*
    };
}

mirror_text!(MessageId, RunId, SubagentRunId, ThreadId, ToolCallId);
mirror_text!(agui_core::InterruptId, JsonPointer, ResumeStatus, TextRole, ToolRole);

impl Mirror<Self> for bool {
    fn mirror(of: &Self) -> Result<Self, ProtoError> {
        Ok(*of)
    }
}

impl Mirror<u64> for i64 {
    /// The protocol ends at 2^53 - 1, far below what is cut off here.
    fn mirror(of: &u64) -> Result<Self, ProtoError> {
        Ok(Self::try_from(*of).unwrap_or(Self::MAX))
    }
}

impl Mirror<Json> for Opaque {
    fn mirror(of: &Json) -> Result<Self, ProtoError> {
        value_bytes(of.get())
    }
}

/// Optional opaque JSON is never `null`: that is another way to leave it out.
impl Mirror<Option<Json>> for Opaque {
    fn mirror(of: &Option<Json>) -> Result<Self, ProtoError> {
        of.as_ref().filter(|json| !json.is_null()).map_or(Ok(Self::new()), Self::mirror)
    }
}

impl Mirror<JsonObject> for Opaque {
    fn mirror(of: &JsonObject) -> Result<Self, ProtoError> {
        object_bytes(of.get())
    }
}

impl Mirror<Option<JsonObject>> for Opaque {
    fn mirror(of: &Option<JsonObject>) -> Result<Self, ProtoError> {
        of.as_ref().map_or(Ok(Self::new()), Self::mirror)
    }
}
