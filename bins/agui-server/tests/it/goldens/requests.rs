//! What the kernel was asked, next to what the recorded adapter asked it.

use std::collections::BTreeSet;

use agui_testkit::LoggedRequest;
use agui_testkit::replay::Trace;
use serde_json::{Map, Value, json};

use super::canon::Item;
use super::changes::{self, Change};
use super::play::{KERNEL_TOKEN, Played};
use super::script::RECORDED_WORKSPACE;

/// Whether this server makes that request as promptly as the recorded adapter did.
pub(super) fn prompt(_request: &LoggedRequest) -> bool {
    true
}

/// The requests that only one of the two made.
pub(super) fn compare(trace: &str, played: &Played) -> Vec<String> {
    let recorded = Trace::fixture(trace).unwrap();
    let theirs: Vec<Item> = recorded.exchanges.iter().map(|exchange| item(&exchange.request, "")).collect();
    let ours: Vec<Item> = played.requests.iter().map(|request| item(request, &played.workspace)).collect();
    changes::between(&theirs, &ours).iter().map(ToString::to_string).collect()
}

/// A request without what every adapter chooses by itself.
fn item(request: &LoggedRequest, workspace: &str) -> Item {
    let text = request.json.to_string();
    let text = if workspace.is_empty() { text } else { text.replace(workspace, RECORDED_WORKSPACE) };
    let mut value: Value = serde_json::from_str(&text).unwrap();
    if let Some(members) = value.as_object_mut() {
        members.remove("id");
    }
    let query = request.target.split_once('?').map(|(_, query)| query.split('&').collect::<BTreeSet<_>>());
    Item { kind: request.kind(), value: json!({ "query": query, "body": value }) }
}
