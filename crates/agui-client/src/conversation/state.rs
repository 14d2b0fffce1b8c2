use agui_core::{Json, JsonObject, PatchOp};
use serde_json::Value;

use super::patch::{self, PatchFailure};

/// The shared state: as text while it is as the agent sent it, so that digits survive, and as a value once a
/// patch has touched it.
#[derive(Clone)]
pub(super) enum State {
    Text(Json),
    Value(Value),
}

impl Default for State {
    fn default() -> Self {
        Self::Text(JsonObject::empty().into())
    }
}

impl From<Json> for State {
    fn from(text: Json) -> Self {
        Self::Text(text)
    }
}

impl State {
    pub(super) fn to_json(&self) -> Json {
        match self {
            Self::Text(text) => text.clone(),
            // A value has a JSON form.
            Self::Value(value) => Json::from_serialize(value).unwrap_or_else(|_| Json::null()),
        }
    }

    /// Applies the whole patch, or nothing of it.
    pub(super) fn patch(&mut self, patch: &[PatchOp]) -> Result<(), PatchFailure> {
        match self {
            Self::Value(value) => patch::apply(value, patch),
            Self::Text(text) => {
                let mut value = text.parse().map_err(|_| PatchFailure::Unreadable)?;
                patch::apply(&mut value, patch)?;
                *self = Self::Value(value);
                Ok(())
            }
        }
    }
}
