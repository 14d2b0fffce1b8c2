//! Pipeline states as they were earlier than they were recorded.

use bytes::Bytes;
use serde_json::Value;

use super::pick::after_sequence;
use super::{Exchange, LateState, Trace};

/// Kind of the requests for a pipeline state.
const STATE: &str = "GET /iac-code/pipeline/state";

/// The state that an exchange answers with, as of the beginning of the stream before it; `None` if it is to
/// be told as it was recorded.
pub(super) fn earlier(trace: &Trace, exchange: &Exchange, late_state: LateState) -> Option<Bytes> {
    if late_state == LateState::AsRecorded || exchange.kind() != STATE {
        return None;
    }
    let after = after_sequence(&exchange.request)?;
    let before = || trace.exchanges.iter().filter(|other| other.seq < exchange.seq);
    let stream = before().filter(|other| other.is_stream()).last()?;
    let begun = stream.events().iter().map(highest_sequence).find(|sequence| *sequence > 0)?;
    if begun <= after {
        return None;
    }
    let mut state: Value = body(exchange)?;
    let is_early =
        |event: &Value| event["sequence"].as_f64().is_some_and(|sequence| sequence <= begun as f64);
    state.get_mut("events")?.as_array_mut()?.retain(is_early);
    if let Some(snapshot) = state.get_mut("snapshot") {
        // The newest snapshot that is not too new; an old one says less, a newer one would say too much.
        let snapshots = before().filter(|other| other.kind() == STATE).filter_map(body);
        let mut fitting = snapshots
            .map(|mut state| state["snapshot"].take())
            .filter(|snapshot| snapshot["lastSequence"].as_u64().is_some_and(|sequence| sequence <= begun));
        *snapshot = fitting.by_ref().last()?;
    }
    Some(Bytes::from(state.to_string()))
}

fn body(exchange: &Exchange) -> Option<Value> {
    let (_, bytes) = exchange.pieces.first()?;
    serde_json::from_slice(bytes).ok()
}

/// The highest pipeline sequence anywhere in a value.
fn highest_sequence(value: &Value) -> u64 {
    match value {
        Value::Object(members) => {
            let own = members.get("sequence").and_then(Value::as_f64).unwrap_or_default();
            members.values().map(highest_sequence).max().unwrap_or_default().max(own as u64)
        }
        Value::Array(items) => items.iter().map(highest_sequence).max().unwrap_or_default(),
        _ => 0,
    }
}
