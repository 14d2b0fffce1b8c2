//! Talking A2A to a kernel.

use agui_testkit::client::a2a::{Outgoing, rpc};
use agui_testkit::client::{Recording, TestClient};
use agui_testkit::demo::{DemoConfig, DemoKernel};
use serde_json::{Value, json};

pub(crate) const CONTEXT: &str = "agui-context";

/// A demo kernel without pauses and a client of it.
pub(crate) async fn demo(config: DemoConfig) -> (DemoKernel, TestClient) {
    let kernel = DemoKernel::start(config).await.unwrap();
    let client = a2a_client(&kernel.url());
    (kernel, client)
}

pub(crate) fn a2a_client(url: &str) -> TestClient {
    TestClient::new(url).unwrap().with_header("a2a-version", "1.0")
}

/// A message with text in the usual context; its id is made of its text.
pub(crate) fn says(text: &str) -> Outgoing {
    Outgoing::new(&format!("m-{}", text.replace(' ', "-")), CONTEXT, "/ws").with_text(text)
}

/// The answer to a permission.
pub(crate) fn decides(input: &Value, decision: &str) -> Outgoing {
    Outgoing::new(&format!("answer-{decision}"), CONTEXT, "/ws").with_decision(input, decision)
}

/// Sends a message and reads its stream to the end.
pub(crate) async fn stream(client: &TestClient, message: &Outgoing) -> Recording {
    let response = client.post("/", &message.streaming()).await.unwrap();
    assert!(response.is_stream(), "{:?}", response.headers);
    response.events().collect().await
}

/// A JSON-RPC call that is answered with JSON.
pub(crate) async fn call(client: &TestClient, request: &Value) -> Value {
    let response = client.post("/", request).await.unwrap();
    assert_eq!(response.header("content-type"), Some("application/json"));
    response.json().await.unwrap()
}

pub(crate) async fn get_task(client: &TestClient, task_id: &str) -> Value {
    let reply = call(client, &rpc("g", "GetTask", &json!({"id": task_id, "historyLength": 100}))).await;
    reply["result"].clone()
}

pub(crate) async fn cancel(client: &TestClient, task_id: &str) -> Value {
    call(client, &rpc("c", "CancelTask", &json!({"id": task_id}))).await
}

/// The JSON of a `GET`, with its status.
pub(crate) async fn get(client: &TestClient, path: &str) -> (u16, Value) {
    let response = client.get(path).await.unwrap();
    (response.status, response.json().await.unwrap())
}

/// `metadata.iac_code` of an event.
pub(crate) fn iac(event: &Value) -> &Value {
    &event["result"]["statusUpdate"]["metadata"]["iac_code"]
}

/// What an event is, in one word or two.
pub(crate) fn word(event: &Value) -> String {
    let result = &event["result"];
    if let Some(kind) =
        ["task", "message", "artifactUpdate"].into_iter().find(|key| result.get(*key).is_some())
    {
        return kind.to_owned();
    }
    let meta = iac(event);
    if let Some(event_type) = meta["pipeline"]["eventType"].as_str() {
        return event_type.to_owned();
    }
    if let Some(status) = meta["tool"]["status"].as_str() {
        return format!("tool {status}");
    }
    let keys = [
        "thinking",
        "usage",
        "assistantFinal",
        "inputReceived",
        "permissionIdentityError",
        "error",
        "input",
        "permission",
    ];
    if let Some(key) = keys.into_iter().find(|key| meta.get(*key).is_some()) {
        return key.to_owned();
    }
    let status = &result["statusUpdate"]["status"];
    match status["message"]["parts"][0]["text"].as_str() {
        Some(_) if status["state"] == "TASK_STATE_WORKING" => "text".to_owned(),
        _ => status["state"].as_str().unwrap_or_default().trim_start_matches("TASK_STATE_").to_owned(),
    }
}

/// The words of all events; what repeats stands once.
pub(crate) fn words(recording: &Recording) -> Vec<String> {
    let mut words: Vec<String> = recording.events.iter().map(|event| word(&event.json)).collect();
    words.dedup();
    words
}

/// The live text of a stream.
pub(crate) fn said(recording: &Recording) -> String {
    let texts = recording.events.iter().filter(|event| word(&event.json) == "text");
    let text = |event: &Value| {
        event["result"]["statusUpdate"]["status"]["message"]["parts"][0]["text"].as_str().map(str::to_owned)
    };
    texts.filter_map(|event| text(&event.json)).collect()
}

/// The state of the last event.
pub(crate) fn last_state(recording: &Recording) -> String {
    let last = &recording.events.last().unwrap().json["result"]["statusUpdate"]["status"]["state"];
    last.as_str().unwrap().trim_start_matches("TASK_STATE_").to_owned()
}

/// The open question that the last event shows.
pub(crate) fn open_input(recording: &Recording) -> Value {
    let input = iac(&recording.events.last().unwrap().json)["input"].clone();
    assert_eq!(input["required"], json!(true), "{input}");
    input
}

pub(crate) fn task_id(recording: &Recording) -> String {
    let first = &recording.events[0].json["result"];
    let id = first["task"]["id"].as_str().or_else(|| first["statusUpdate"]["taskId"].as_str());
    id.unwrap().to_owned()
}
