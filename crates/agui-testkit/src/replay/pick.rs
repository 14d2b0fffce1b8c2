//! Which recorded exchange answers a request.

use serde_json::Value;

use super::Exchange;
use crate::log::LoggedRequest;

/// What a message is for.
#[derive(Debug, PartialEq, Eq)]
enum Purpose<'a> {
    /// It is no message.
    None,
    /// It starts a task.
    New,
    /// It answers a permission, with the input id.
    Permission(&'a str),
    /// It speaks to a task: an answer or guidance.
    Reply,
}

fn purpose(request: &LoggedRequest) -> Purpose<'_> {
    let message = request.message();
    if message.is_null() {
        return Purpose::None;
    }
    let parts = message["parts"].as_array().into_iter().flatten();
    let permission = parts.map(|part| &part["data"]).find(|data| data["kind"] == "permission");
    match permission {
        Some(data) => Purpose::Permission(data["inputId"].as_str().unwrap_or_default()),
        None if message["taskId"].is_string() => Purpose::Reply,
        None => Purpose::New,
    }
}

/// The free exchange that fits best: same kind and purpose, then the same identities; the first of
/// equals.
pub(super) fn best<'a>(
    free: impl Iterator<Item = (usize, &'a Exchange)>,
    request: &LoggedRequest,
) -> Option<(usize, &'a Exchange)> {
    let kind = request.kind();
    let mut best: Option<(u32, (usize, &Exchange))> = None;
    for (at, exchange) in free.filter(|(_, exchange)| exchange.kind() == kind) {
        let Some(score) = score(&exchange.request, request) else { continue };
        if best.is_none_or(|(other, _)| score > other) {
            best = Some((score, (at, exchange)));
        }
    }
    best.map(|(_, found)| found)
}

/// How well a recorded request fits; `None` when it is for something else.
fn score(recorded: &LoggedRequest, request: &LoggedRequest) -> Option<u32> {
    let same = |a: &Value, b: &Value| u32::from(!a.is_null() && a == b);
    let (old, new) = (recorded.message(), request.message());
    let mut score = match (purpose(recorded), purpose(request)) {
        (Purpose::Permission(old), Purpose::Permission(new)) => 4 * u32::from(old == new),
        (old, new) if old == new => 0,
        _ => return None,
    };
    score += 8 * same(&old["messageId"], &new["messageId"]);
    score += 2 * same(&old["parts"], &new["parts"]);
    score += 2 * same(&task(recorded), &task(request));
    score += same(&old["contextId"], &new["contextId"]);
    score += 2 * u32::from(
        after_sequence(recorded).is_some() && after_sequence(recorded) == after_sequence(request),
    );
    Some(score)
}

/// Whether a request changes nothing: the kernel may be asked again and again.
pub(super) fn is_read(exchange: &Exchange) -> bool {
    let kind = exchange.kind();
    kind == "GetTask" || kind.starts_with("GET ") || kind == "POST /iac-code/session/ensure-restored"
}

/// Whether a request tells the kernel something.
pub(super) fn tells(exchange: &Exchange) -> bool {
    matches!(exchange.kind().as_str(), "SendMessage" | "SendStreamingMessage" | "CancelTask")
}

/// The sequence after which pipeline events are asked for.
pub(super) fn after_sequence(request: &LoggedRequest) -> Option<u64> {
    request.query("afterSequence")?.parse().ok()
}

/// The task that a request names, wherever it names it.
fn task(request: &LoggedRequest) -> Value {
    let params = &request.json["params"];
    let named = [&request.message()["taskId"], &params["id"], &params["taskId"], &request.json["taskId"]];
    let named = named.into_iter().find(|value| value.is_string()).cloned();
    named.or_else(|| request.query("taskId").map(Value::from)).unwrap_or(Value::Null)
}

/// Recorded and actual identities that the adapter chooses by itself, as they stand in JSON text.
///
/// Message ids can be short words, so they are given with their quotes.
pub(super) fn identities(exchange: &Exchange, request: &LoggedRequest) -> Vec<(String, String)> {
    let (old, new) = (exchange.request.message(), request.message());
    let mut pairs = Vec::new();
    let mut pair = |old: &Value, new: &Value| {
        if let (Some(old), Some(new)) = (old.as_str(), new.as_str())
            && !old.is_empty()
        {
            pairs.push((inside(old), inside(new)));
        }
    };
    pair(&old["contextId"], &new["contextId"]);
    let cwd = "/metadata/iac_code/cwd";
    if let (Some(old), Some(new)) = (old.pointer(cwd), new.pointer(cwd)) {
        pair(old, new);
    }
    if let (old @ Value::String(_), new @ Value::String(_)) = (&old["messageId"], &new["messageId"]) {
        pairs.push((old.to_string(), new.to_string()));
    }
    if let (Some(old), Some(new)) = (exchange.request.header("host"), request.header("host")) {
        pairs.push((old.to_owned(), new.to_owned()));
    }
    pairs
}

/// A string as it stands between the quotes of JSON text.
fn inside(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
