use serde::Serialize;
use serde_json::Value;

use super::Emitter;
use crate::{Json, JsonPatch, StateDelta, StateSnapshot};

/// Shared state of a run: knows what the client has, and sends what has changed.
///
/// The first change goes out whole, so that client and agent start from the same; later ones as JSON Patch
/// (RFC 6902), or whole where that is shorter. Numbers are held as `serde_json` holds them: what fits
/// neither 64 bits nor a double is rounded.
///
/// ```
/// use agui_core::{EventSink, RunAgentInput, RunLimits};
/// use serde_json::json;
///
/// let input = RunAgentInput::new("t1", "r1", Vec::new());
/// let (sink, stream) = EventSink::start(&input, RunLimits::default());
/// let mut state = sink.shared_state(&input)?;
/// state.set(&json!({"title": "A long title that stays", "done": 0}))?; // STATE_SNAPSHOT
/// state.update(|state| state["done"] = json!(1))?; // the shorter one of snapshot and STATE_DELTA
/// sink.finish();
/// # drop(stream);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct SharedState<'a> {
    emitter: &'a Emitter,
    value: Value,
    is_sent: bool,
}

impl<'a> SharedState<'a> {
    pub(super) fn new(emitter: &'a Emitter, base: Option<&Json>) -> Result<Self, serde_json::Error> {
        let value = match base {
            Some(base) if !base.is_null() => base.parse()?,
            Some(_) | None => Value::Object(serde_json::Map::new()),
        };
        Ok(Self { emitter, value, is_sent: false })
    }

    /// The state as the client has it; before the first change, what the client sent, or `{}`.
    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// Replaces the state and sends the difference; nothing if there is none.
    ///
    /// # Errors
    /// If `state` cannot be written as JSON. Then nothing is sent.
    pub fn set<T: Serialize + ?Sized>(&mut self, state: &T) -> Result<(), serde_json::Error> {
        let next = serde_json::to_value(state)?;
        if self.is_sent {
            let patch = json_patch::diff(&self.value, &next);
            if patch.0.is_empty() {
                return Ok(());
            }
            let (whole, changes) = (Json::from_serialize(&next)?, Json::from_serialize(&patch)?);
            if changes.get().len() < whole.get().len() {
                self.emitter.emit(StateDelta::new(changes.parse::<JsonPatch>()?));
            } else {
                self.emitter.emit(StateSnapshot::new(whole));
            }
        } else {
            self.emitter.emit(StateSnapshot::new(Json::from_serialize(&next)?));
        }
        (self.value, self.is_sent) = (next, true);
        Ok(())
    }

    /// Changes the state in place and sends the difference.
    ///
    /// # Errors
    /// None in practice: a JSON value can be written.
    pub fn update(&mut self, change: impl FnOnce(&mut Value)) -> Result<(), serde_json::Error> {
        let mut next = self.value.clone();
        change(&mut next);
        self.set(&next)
    }
}
