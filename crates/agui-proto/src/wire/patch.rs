//! Operations of a JSON patch.

use agui_core::{PatchAction, PatchOp};

use super::{Mirror, Opaque};
use crate::ProtoError;
use crate::json::{Members, Object};
use crate::value::value_bytes;

/// The operations by their numbers.
const NAMES: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct JsonPatchOperation {
    #[prost(int32, tag = "1")]
    op: i32,
    #[prost(string, tag = "2")]
    path: String,
    #[prost(string, optional, tag = "3")]
    from: Option<String>,
    #[prost(bytes = "vec", repeated, tag = "4")]
    value: Opaque,
}

/// Of the members that the operation does not define, those stay that another one defines.
impl Mirror<PatchOp> for JsonPatchOperation {
    fn mirror(of: &PatchOp) -> Result<Self, ProtoError> {
        let (op, from, value) = match &of.action {
            PatchAction::Add { value } => (0, None, Some(value)),
            PatchAction::Remove => (1, None, None),
            PatchAction::Replace { value } => (2, None, Some(value)),
            PatchAction::Move { from } => (3, Some(from), None),
            PatchAction::Copy { from } => (4, Some(from), None),
            PatchAction::Test { value } => (5, None, Some(value)),
            // An operation of a later version; readers leave it out.
            _ => (i32::MAX, None, None),
        };
        let extra = |name| of.extra.iter().rev().find(|(key, _)| key == name).map(|(_, json)| json);
        let from = match from {
            Some(from) => Some(from.as_str().to_owned()),
            None => extra("from").and_then(|from| from.parse().ok()),
        };
        let value = value.or_else(|| extra("value"));
        let value = value.map_or(Ok(Opaque::new()), |value| value_bytes(value.get()))?;
        Ok(Self { op, path: of.path.as_str().to_owned(), from, value })
    }
}

impl Members for JsonPatchOperation {
    fn members(&self, object: &mut Object<'_>) -> Result<(), ProtoError> {
        // The number of an unknown operation is no name of one, so that readers leave it out.
        match usize::try_from(self.op).ok().and_then(|op| NAMES.get(op)) {
            Some(name) => object.text("op", name)?,
            None => object.text("op", &self.op.to_string())?,
        }
        object.maybe_text("from", &self.from)?;
        object.text("path", &self.path)?;
        object.value("value", &self.value)
    }
}
