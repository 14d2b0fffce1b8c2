//! The list of what waits for a person.

use std::collections::BTreeSet;

use agui_testkit::client::TestClient;
use agui_testkit::client::input::decision;
use serde_json::{Value, json};

use crate::stack::{Stack, demo, execution_id, interrupt_id, interrupts, refusal};

const PATH: &str = "/extensions/agui/v1/interrupts";

async fn page(client: &TestClient, query: &str) -> Value {
    let response = client.get(&format!("{PATH}{query}")).await.unwrap();
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    response.json().await.unwrap()
}

fn ids(page: &Value) -> Vec<(&str, &str)> {
    let list = page["interrupts"].as_array().unwrap();
    let of = |one: &'_ Value, name: &str| one[name].as_str().unwrap().to_owned();
    list.iter()
        .map(|one| {
            assert!(!of(one, "executionId").is_empty());
            (one["threadId"].as_str().unwrap(), one["interruptId"].as_str().unwrap())
        })
        .collect()
}

#[tokio::test]
async fn what_waits_is_listed_as_it_was_asked_and_goes_when_it_is_answered() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    assert_eq!(page(&stack.client, "").await, json!({"interrupts": []}));

    stack.say("idle", "r", "chat").await;
    let input = stack.input("Thread 1", "r1").with_user("write: hunter2 in a file");
    let input = input.with_iac_code("llmApiKey", json!("sk-hunter2")).with_iac_code("userId", json!("u"));
    let asked = stack.run(&input).await;
    let told = &interrupts(&asked)[0];
    let found = page(&stack.client, "").await;
    let one = &found["interrupts"][0];

    let keys: BTreeSet<&str> = one.as_object().unwrap().keys().map(String::as_str).collect();
    let all =
        ["ageSeconds", "executionId", "expiresAt", "interruptId", "kind", "message", "reason", "threadId"];
    assert_eq!(keys, all.into());
    assert_eq!(found["interrupts"].as_array().unwrap().len(), 1);
    for (ours, theirs) in
        [("interruptId", "id"), ("reason", "reason"), ("message", "message"), ("expiresAt", "expiresAt")]
    {
        assert_eq!(one[ours], told[theirs], "{ours}");
    }
    assert_eq!(one["threadId"], "Thread 1");
    assert_eq!(one["executionId"], execution_id(&asked));
    assert_eq!(one["kind"], "permission");
    assert!(one["ageSeconds"].as_u64().unwrap() < 20, "{one}");
    assert!(!found.to_string().contains("sk-hunter2"), "{found}");

    let id = interrupt_id(&asked);
    let answer =
        stack.input("Thread 1", "r2").with_iac_code("userId", json!("u")).with_answer(decision(&id, "deny"));
    stack.run(&answer).await;
    assert_eq!(page(&stack.client, "").await, json!({"interrupts": []}));
}

#[tokio::test]
async fn pages_are_small_and_complete_and_the_list_survives_a_restart() {
    let kernel = demo().await;
    let mut stack = Stack::start(&kernel.url()).await;
    let mut expected = BTreeSet::new();
    for thread in ["a", "b", "C"] {
        let id = interrupt_id(&stack.say(thread, "r", "write a file").await);
        expected.insert((thread.to_owned(), id));
    }
    let both = stack.run(&stack.input("p", "r").with_user("pipeline").with_pipeline("selling")).await;
    for interrupt in interrupts(&both) {
        expected.insert(("p".to_owned(), interrupt["id"].as_str().unwrap().to_owned()));
    }
    stack.say("q", "r", "chat").await;
    stack.kill();
    stack.launch().await;

    for limit in [1, 2, 100] {
        let (mut found, mut query) = (Vec::new(), format!("?limit={limit}"));
        loop {
            let page = page(&stack.client, &query).await;
            let ids = ids(&page);
            assert!(ids.len() <= limit);
            found.extend(ids.into_iter().map(|(thread, id)| (thread.to_owned(), id.to_owned())));
            let Some(cursor) = page["nextCursor"].as_str() else { break };
            query = format!("?limit={limit}&cursor={cursor}");
        }
        assert_eq!(found.len(), expected.len(), "{limit}");
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected, "{limit}");
    }
}

#[tokio::test]
async fn s1_5_the_list_needs_the_token() {
    let kernel = demo().await;
    let stack = Stack::start_with(&kernel.url(), &[], &[("IAC_CODE_AGUI_AUTH_TOKEN", "tok")]).await;
    for client in [stack.client.clone(), stack.client.clone().with_token("other")] {
        let response = client.get(PATH).await.unwrap();
        assert_eq!(response.header("www-authenticate"), Some("Bearer"));
        let (status, code, _) = refusal(response).await;
        assert_eq!((status, code.as_str()), (401, "UNAUTHORIZED"));
    }
    assert_eq!(page(&stack.client.clone().with_token("tok"), "").await, json!({"interrupts": []}));
}

#[tokio::test]
async fn parameters_that_make_no_sense_are_refused_by_name() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    for (query, name) in [
        ("?limit=0", "limit"),
        ("?limit=-1", "limit"),
        ("?limit=1001", "limit"),
        ("?limit=", "limit"),
        ("?limit=all", "limit"),
        ("?cursor=", "cursor"),
        ("?cursor=..%2Fx", "cursor"),
        ("?limit=5&cursor=t1", "cursor"),
    ] {
        let client = stack.client.clone().with_header("accept-language", "de");
        let (status, code, message) = refusal(client.get(&format!("{PATH}{query}")).await.unwrap()).await;
        assert_eq!((status, code.as_str()), (400, "INVALID_INPUT"), "{query}");
        assert!(message.contains(&format!(" {name} ")) && message.contains("Feld"), "{message}");
    }
    assert_eq!(page(&stack.client, "?limit=1000&other=1").await, json!({"interrupts": []}));
    let posted = stack.client.post(PATH, &json!({})).await.unwrap();
    assert_eq!((posted.status, posted.header("allow")), (405, Some("GET")));
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_counted_and_hides_no_other_one() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("t", "r", "write a file").await);
    std::fs::write(stack.dir.path().join("state/threads/a.json"), "{").unwrap();
    let found = page(&stack.client, "").await;
    assert_eq!(ids(&found), [("t", id.as_str())]);
    assert_eq!(found["unreadableThreads"], 1);
}
