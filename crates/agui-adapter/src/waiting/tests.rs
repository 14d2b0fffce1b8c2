use std::sync::Arc;

use agui_core::JsonObject;
use agui_store::{Execution, MemoryStore, PendingInterrupt, ThreadRecord, ThreadStore, Version};
use serde_json::{Value, json};

use super::*;
use crate::config::AdapterConfig;
use crate::kernel::Kernel;

const NEVER: UnixMillis = UnixMillis::new(4_102_444_800_000);

fn object(value: &Value) -> JsonObject {
    JsonObject::from_string(value.to_string()).unwrap()
}

fn permission(id: &str) -> PendingInterrupt {
    let value = json!({"inputId": id, "kind": "permission", "toolUseId": "c", "prompt": "May it?", "secret": "s3cr3t"});
    PendingInterrupt::new(object(&value)).with_expires_at(NEVER)
}

async fn adapter(threads: &[(&str, &[(&str, PendingInterrupt)])]) -> Adapter {
    let store = MemoryStore::new();
    for (thread, pending) in threads {
        let execution = Execution::new(format!("e-{thread}").as_str().into(), "inv".into());
        let mut record = ThreadRecord::new((*thread).into(), "/ws", execution);
        record.execution.pending =
            pending.iter().map(|(id, stored)| ((*id).into(), stored.clone())).collect();
        store.save(&mut record, Version::ABSENT).await.unwrap();
    }
    let client = a2a_client::Client::new(a2a_client::ClientConfig::new("http://127.0.0.1:9/")).unwrap();
    Adapter::new(AdapterConfig::new([]), Arc::new(store), Kernel::fixed(client))
}

async fn page(adapter: &Adapter, limit: Option<&str>, cursor: Option<&str>) -> WaitingPage {
    let request = WaitingRequest::decode(limit, cursor, Language::En).unwrap();
    adapter.waiting(request, Language::En).await.unwrap()
}

#[tokio::test]
async fn a_question_is_listed_with_these_fields_and_no_others() {
    let now = clock::now();
    let told = json!({"id": "p#2", "reason": "tool_call", "message": "Darf es?", "metadata": {"x": "s3cr3t"},
        "responseSchema": {"type": "object"}, "expiresAt": "2100-01-01T00:00:00.000Z"});
    let announced = UnixMillis::new(now.as_u64() - 61_500);
    let changed = permission("p").with_announced(object(&told), announced);
    let foreign = PendingInterrupt::new(object(
        &json!({"inputId": "q", "kind": "ask_user_question", "prompt": "Which?"}),
    ));
    let adapter = adapter(&[("t", &[("p", changed), ("q", foreign)]), ("idle", &[])]).await;

    let found = serde_json::to_value(page(&adapter, None, None).await).unwrap();

    assert_eq!(
        found,
        json!({"interrupts": [
            {"threadId": "t", "executionId": "e-t", "interruptId": "p#2", "reason": "tool_call", "message": "Darf es?",
                "kind": "permission", "ageSeconds": 61, "expiresAt": "2100-01-01T00:00:00.000Z"},
            {"threadId": "t", "executionId": "e-t", "interruptId": "q", "reason": "input_required", "message": "Which?",
                "kind": "ask_user_question"},
        ]})
    );
}

#[tokio::test]
async fn s11_5_what_is_too_old_to_be_answered_is_not_listed() {
    let late = permission("late").with_expires_at(UnixMillis::new(1));
    let adapter = adapter(&[("t", &[("late", late), ("other", permission("other"))])]).await;
    assert_eq!(page(&adapter, None, None).await, WaitingPage::default());
}

#[tokio::test]
async fn pages_of_any_size_give_everything_once_and_in_the_same_order() {
    let ask = |ids: &[&'static str]| ids.iter().map(|id| (*id, permission(id))).collect::<Vec<_>>();
    let (a, b, d) = (ask(&["1", "2", "3"]), ask(&["1"]), ask(&["1", "2"]));
    let adapter = adapter(&[("a", &a), ("b", &b), ("c", &[]), ("d", &d), ("e", &[])]).await;
    let expected = [("a", "1"), ("a", "2"), ("a", "3"), ("b", "1"), ("d", "1"), ("d", "2")];
    for limit in ["1", "2", "3", "4", "5", "6", "7", "1000"] {
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let page = page(&adapter, Some(limit), cursor.as_deref()).await;
            assert!(page.interrupts.len() <= limit.parse().unwrap(), "{limit}");
            found.extend(
                page.interrupts
                    .into_iter()
                    .map(|one| (one.thread_id.to_string(), one.interrupt_id.to_string())),
            );
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let found: Vec<(&str, &str)> = found.iter().map(|(thread, id)| (&**thread, &**id)).collect();
        assert_eq!(found, expected, "{limit}");
    }
}

#[tokio::test]
async fn a_thread_that_was_answered_between_two_pages_hides_no_other_one() {
    let ask = |ids: &[&'static str]| ids.iter().map(|id| (*id, permission(id))).collect::<Vec<_>>();
    let (a, b) = (ask(&["7", "8"]), ask(&["1"]));
    let adapter = adapter(&[("a", &a), ("b", &b)]).await;
    let cursor = page(&adapter, Some("1"), None).await.next_cursor.unwrap();
    let store = adapter.shared.threads.store();
    let mut stored = store.load(&"a".into()).await.unwrap().unwrap();
    stored.record.mark_terminal();
    store.save(&mut stored.record, stored.version).await.unwrap();

    let rest = page(&adapter, None, Some(&cursor)).await;
    assert_eq!(rest.interrupts.len(), 1);
    assert_eq!(rest.interrupts[0].thread_id, "b");
}

#[tokio::test]
async fn a_page_ends_after_many_threads_that_do_not_wait_and_the_next_goes_on() {
    let names: Vec<String> = (0..WAITING_SCAN + 10).map(|number| format!("t{number:05}")).collect();
    let last = [("i", permission("i"))];
    let mut threads: Vec<(&str, &[(&str, PendingInterrupt)])> =
        names.iter().map(|name| (name.as_str(), &[] as &[_])).collect();
    threads.push(("z", &last));
    let adapter = adapter(&threads).await;
    let first = page(&adapter, None, None).await;
    assert_eq!(first.interrupts, []);
    let second = page(&adapter, None, first.next_cursor.as_deref()).await;
    assert_eq!((second.interrupts.len(), second.next_cursor), (1, None));
}

#[test]
fn limits_and_cursors_that_are_none_are_refused() {
    let bad = [
        (Some("0"), None),
        (Some("1001"), None),
        (Some("-1"), None),
        (Some(""), None),
        (Some("many"), None),
        (None, Some("")),
        (None, Some("t1")),
        (None, Some("bnVsbA")),
        (None, Some("WzEsMl0=")),
    ];
    for (limit, cursor) in bad {
        let problem = WaitingRequest::decode(limit, cursor, Language::En).unwrap_err();
        assert_eq!((problem.status, &*problem.code), (400, "INVALID_INPUT"), "{limit:?} {cursor:?}");
        let name = if limit.is_some() { "limit" } else { "cursor" };
        assert_eq!(problem.message, format!("The field {name} has a value that is not allowed."));
    }
    assert_eq!(WaitingRequest::decode(Some("1000"), None, Language::En).unwrap().limit.get(), 1000);
}
