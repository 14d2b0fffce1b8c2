//! Ending executions by every way in.

use agui_testkit::client::{EventStream, TestClient};
use serde_json::{Value, json};

use crate::fake_agent::{FINISHED, FakeAgent, STARTED, Step};
use crate::socket::Socket;
use crate::stack::{PATIENCE, Shim, error_code, last, outcome, run_with, say, session_event};

fn envelope(thread: &str, run: &str, cancel: &Value) -> Value {
    json!({
        "threadId": thread, "runId": run, "messages": [],
        "forwardedProps": {"iacCode": {"cancel": cancel}},
    })
}

/// A run in the middle of its text, and the execution that it announced.
async fn holding(client: &TestClient, thread: &str) -> (EventStream, Value) {
    let mut events = client.post("/invocations", &say(thread, "r1", "hold")).await.unwrap().events();
    let text = events.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT");
    tokio::time::timeout(PATIENCE, text).await.expect("text comes").expect("text comes");
    let session = session_event(events.so_far()).clone();
    (events, session)
}

#[tokio::test]
async fn an_envelope_ends_an_execution_although_its_thread_is_busy() {
    let shim = Shim::demo().await;
    let client = shim.in_session("s-1");
    let (events, session) = holding(&client, "t").await;
    let execution = &session["executionId"];
    let whole = json!({"executionId": execution, "threadId": "t", "rosInvocationId": "s-1"});
    let told = run_with(&client, &envelope("t", "c1", &whole)).await;
    assert_eq!(told.kinds(), ["RUN_STARTED", "CUSTOM", "RUN_FINISHED"]);
    let custom = &told.events[1].json;
    assert_eq!(
        (&custom["name"], &custom["value"]),
        (&json!("iac-code.cancel.v1"), &json!({"executionId": execution, "result": "cancelled"}))
    );
    let recording = events.collect().await;
    assert_eq!(last(&recording)["code"], "CANCELLED");

    let again = run_with(&client, &envelope("t", "c2", &whole)).await;
    assert_eq!(again.events[1].json["value"]["result"], "already_terminal");
    assert_eq!(outcome(&run_with(&client, &say("t", "r2", "chat")).await), "success");
}

#[tokio::test]
async fn an_envelope_may_leave_to_the_request_what_the_request_says() {
    let shim = Shim::demo().await;
    let client = shim.in_session("s-1");
    let (events, session) = holding(&client, "t").await;
    let told = run_with(&client, &envelope("t", "c1", &json!({"executionId": session["executionId"]}))).await;
    assert_eq!(told.events[1].json["value"]["result"], "cancelled");
    events.collect().await;
    // The run's own id does as well.
    let (events, _) = holding(&client, "u").await;
    let told = run_with(&client, &envelope("u", "c1", &json!({"runId": "r1"}))).await;
    assert_eq!(told.events[1].json["value"], json!({"result": "cancelled"}));
    assert_eq!(last(&events.collect().await)["code"], "CANCELLED");
}

#[tokio::test]
async fn an_envelope_for_nothing_is_told_so() {
    let shim = Shim::demo().await;
    let client = shim.in_session("s-1");
    let (events, session) = holding(&client, "t").await;
    let execution = &session["executionId"];
    for (index, cancel) in [
        json!({"executionId": "unknown"}),
        json!({"executionId": execution, "threadId": "other"}),
        json!({"executionId": execution, "rosInvocationId": "somebody else"}),
        json!({"runId": "unknown"}),
        json!({"runId": "r1", "rosInvocationId": "somebody else"}),
    ]
    .into_iter()
    .enumerate()
    {
        let told = run_with(&client, &envelope("t", &format!("c{index}"), &cancel)).await;
        assert_eq!(error_code(&told), "EXECUTION_NOT_FOUND", "{cancel}");
    }
    for (index, cancel) in [json!({}), json!({"executionId": 7}), json!("text")].into_iter().enumerate() {
        let told = run_with(&client, &envelope("t", &format!("d{index}"), &cancel)).await;
        assert_eq!(error_code(&told), "VALIDATION_ERROR", "{cancel}");
    }
    drop(events);
}

#[tokio::test]
async fn a_run_that_still_waits_for_its_kernel_is_not_taken_for_the_one_before() {
    let state = tempfile::tempdir().unwrap();
    let state = state.path().to_str().unwrap();
    let workspaces = tempfile::tempdir().unwrap();
    let places = ["--state-dir", state, "--workspace-root", workspaces.path().to_str().unwrap()];
    let before = Shim::start(&[&["--demo"], &places[..]].concat(), &[]).await;
    assert_eq!(outcome(&before.run(&say("t", "r1", "chat")).await), "success");
    drop(before);

    let never = ["--a2a-command", "tail -f /dev/null {host} {port}"];
    let shim = Shim::start(&[&never[..], &places[..]].concat(), &[]).await;
    let (client, body) = (shim.client.clone(), say("t", "r2", "chat"));
    let waiting = tokio::spawn(async move { client.post("/invocations", &body).await.unwrap().events() });
    let mut told = shim.run(&envelope("t", "c0", &json!({"runId": "r2"}))).await;
    // The request may still be on its way.
    for index in 1.. {
        if last(&told)["code"] != "EXECUTION_NOT_FOUND" {
            break;
        }
        told = shim.run(&envelope("t", &format!("c{index}"), &json!({"runId": "r2"}))).await;
    }
    assert_eq!(told.events[1].json["value"], json!({"result": "cancelled"}));
    let recording = tokio::time::timeout(PATIENCE, waiting).await.expect("it ends").unwrap().collect().await;
    assert_eq!(error_code(&recording), "CANCELLED");
}

#[tokio::test]
async fn the_path_of_the_extension_is_served_too() {
    let shim = Shim::demo().await;
    let (events, session) = holding(&shim.client, "t").await;
    let path =
        format!("/extensions/iac-code/v1/executions/{}/cancel", session["executionId"].as_str().unwrap());
    let body = json!({"threadId": "t", "rosInvocationId": "local"});
    let response = shim.client.post(&path, &body).await.unwrap();
    assert_eq!((response.status, &response.json().await.unwrap()["status"]), (200, &json!("cancelled")));
    assert_eq!(last(&events.collect().await)["code"], "CANCELLED");
}

#[tokio::test]
async fn a_message_on_a_socket_ends_an_execution_of_another_client() {
    let shim = Shim::demo().await;
    let (events, session) = holding(&shim.client, "t").await;
    let mut socket = Socket::open(&shim).await;
    socket
        .send(&json!({
            "type": "cancel", "executionId": session["executionId"], "threadId": "t", "rosInvocationId": "local",
        }))
        .await;
    let told = socket.until("CUSTOM").await;
    assert_eq!(told.last().unwrap()["value"]["result"], "cancelled");
    assert_eq!(last(&events.collect().await)["code"], "CANCELLED");
}

#[tokio::test]
async fn row_15_a_cancelled_run_of_any_agent_ends_with_an_event() {
    let agent = FakeAgent::start(vec![STARTED, Step::Hold, FINISHED]).await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    let mut events = shim.client.post("/invocations", &say("t", "r1", "hi")).await.unwrap().events();
    events.next().await.unwrap();
    let told = shim.run(&envelope("t", "c1", &json!({"runId": "r1"}))).await;
    assert_eq!(told.events[1].json["value"], json!({"result": "cancelled"}));
    let recording = events.collect().await;
    crate::stack::verify(&recording);
    let again = shim.run(&envelope("t", "c2", &json!({"runId": "r1"}))).await;
    assert_eq!(again.events[1].json["value"], json!({"result": "already_terminal"}));
    assert_eq!(
        error_code(&shim.run(&envelope("t", "c3", &json!({"runId": "r9"}))).await),
        "EXECUTION_NOT_FOUND"
    );
}
