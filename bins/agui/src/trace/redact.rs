//! What must not stand in a file that is handed on. Pure.

use std::collections::BTreeMap;

use agui_core::Json;
use serde_json::Value;

use super::lines::Line;

mod names;
mod text;

use names::is_secret_header;
pub(crate) use names::is_telling;

/// What stands in the place of a secret.
pub(super) const REDACTED: &str = "[redacted]";

/// Shortest text that is taken out wherever it occurs, in bytes: shorter ones are parts of other words.
const MIN_LITERAL_BYTES: usize = 4;

/// Takes secrets out of traces.
///
/// - headers that carry credentials;
/// - values of members with telling names, at any depth, and of patches and of text that looks like such;
/// - what looks like a key, a token or a password in an address;
/// - the texts it was given;
/// - all of it also where a stream has cut it into deltas.
pub(super) struct Redactor {
    literals: Vec<String>,
}

/// Whether a value stands under a telling name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Open,
    Telling,
    /// The members of a JSON Schema: names of things, not things.
    Schema,
}

impl Redactor {
    pub(super) fn new(literals: Vec<String>) -> Self {
        let mut literals: Vec<String> =
            literals.into_iter().filter(|literal| literal.len() >= MIN_LITERAL_BYTES).collect();
        // A longer one may hold a shorter one.
        literals.sort_by_key(|literal| std::cmp::Reverse(literal.len()));
        Self { literals }
    }

    /// Redacts the lines of one exchange. An event without a secret keeps its text.
    pub(super) fn exchange(&self, lines: &mut [Line]) {
        let given: Vec<Option<Value>> =
            lines.iter().map(|line| line.event.as_ref().and_then(|event| event.parse().ok())).collect();
        let mut events = given.clone();
        self.deltas(&mut events);
        for ((line, given), event) in lines.iter_mut().zip(given).zip(&mut events) {
            if let Some(path) = &mut line.path {
                *path = self.text(path);
            }
            if let Some(headers) = &mut line.headers {
                self.headers(headers);
            }
            if let Some(text) = &mut line.text {
                *text = self.text(text);
            }
            if let Some(body) = &mut line.body {
                self.value(body, Place::Open);
            }
            if let Some(event) = event {
                self.value(event, Place::Open);
            }
            // The text is looked at as well: a repeated member is seen in it only.
            let has_secret = |json: &Json| !text::spans(json.get(), &self.literals).is_empty();
            if given != *event || line.event.as_ref().is_some_and(has_secret) {
                line.event = event.as_ref().and_then(|event| Json::from_serialize(event).ok());
            }
        }
    }

    fn headers(&self, headers: &mut Value) {
        let Value::Array(pairs) = headers else { return };
        for pair in pairs {
            let Some([Value::String(name), Value::String(value)]) =
                pair.as_array_mut().map(Vec::as_mut_slice)
            else {
                continue;
            };
            *value = if is_secret_header(name) { REDACTED.to_owned() } else { self.text(value) };
        }
    }

    /// Text without secrets.
    fn text(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for span in text::spans(text, &self.literals).iter().rev() {
            out.replace_range(span.range.clone(), &span.replacement());
        }
        out
    }

    fn value(&self, value: &mut Value, place: Place) {
        match value {
            Value::String(_) | Value::Number(_) if place == Place::Telling => *value = Value::from(REDACTED),
            Value::Number(number) if self.literals.contains(&number.to_string()) => {
                *value = Value::from(REDACTED);
            }
            Value::String(text) => *text = self.text(text),
            Value::Array(elements) => {
                for element in elements {
                    self.value(element, place);
                }
            }
            Value::Object(members) => {
                // `{"path": "/a/password", "value": …}` of patches and `{"name": …, "value": …}` of pairs.
                let named = ["path", "name", "key"].iter().filter_map(|key| members.get(*key)?.as_str());
                let names_secret =
                    named.clone().any(|name| is_telling(name.rsplit('/').next().unwrap_or(name)));
                for (key, member) in members.iter_mut() {
                    let inner = match (place, member.is_object()) {
                        // A member of a schema describes; what it holds is judged by its own names.
                        (Place::Schema, true) => Place::Open,
                        _ if is_telling(key) || (names_secret && key == "value") => Place::Telling,
                        (Place::Telling, _) => Place::Telling,
                        _ if key == "properties" => Place::Schema,
                        _ => Place::Open,
                    };
                    self.value(member, inner);
                }
                // Some objects have keys for names.
                if members.keys().any(|key| !text::spans(key, &self.literals).is_empty()) {
                    let given = std::mem::take(members);
                    *members = given.into_iter().map(|(key, member)| (self.text(&key), member)).collect();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Redacts what lies across the deltas of one item.
    fn deltas(&self, events: &mut [Option<Value>]) {
        let mut items: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
        let mut last_ids: BTreeMap<String, String> = BTreeMap::new();
        for (index, event) in events.iter().enumerate() {
            let Some(event) = event else { continue };
            let member = |key: &str| event.get(key).and_then(Value::as_str);
            let (Some(event_type), Some(_)) = (member("type"), member("delta")) else { continue };
            // Content and chunks of an item are of one family.
            let family = event_type.rsplit_once('_').map_or(event_type, |(family, _)| family).to_owned();
            let id = member("messageId").or_else(|| member("toolCallId")).map(str::to_owned);
            // A chunk without an id continues the last one.
            let id = id.or_else(|| last_ids.get(&family).cloned()).unwrap_or_default();
            last_ids.insert(family.clone(), id.clone());
            items.entry((family, id)).or_default().push(index);
        }
        for indexes in items.into_values().filter(|indexes| indexes.len() > 1) {
            self.joined(events, &indexes);
        }
    }

    fn joined(&self, events: &mut [Option<Value>], indexes: &[usize]) {
        let delta_of = |event: &Option<Value>| {
            let delta = event.as_ref().and_then(|event| event.get("delta")).and_then(Value::as_str);
            delta.unwrap_or_default().to_owned()
        };
        let deltas: Vec<String> = indexes.iter().map(|index| delta_of(&events[*index])).collect();
        let whole = deltas.concat();
        let spans = text::spans(&whole, &self.literals);
        if spans.is_empty() {
            return;
        }
        let mut begin = 0;
        for (index, delta) in indexes.iter().zip(&deltas) {
            let end = begin + delta.len();
            let mut out = String::new();
            let mut at = begin;
            for span in spans.iter().filter(|span| span.range.start < end && span.range.end > begin) {
                if span.range.start >= at {
                    out.push_str(&whole[at..span.range.start]);
                }
                // The place of a secret is that of its first piece.
                if span.range.start >= begin {
                    out.push_str(&span.replacement());
                }
                at = span.range.end.min(end);
            }
            out.push_str(&whole[at..end]);
            if let Some(event) = &mut events[*index] {
                event["delta"] = Value::from(out);
            }
            begin = end;
        }
    }
}

#[cfg(test)]
mod tests;
