//! The scripted model server.

use agui_testkit::client::{StreamEnd, TestClient};
use agui_testkit::model::{ModelScript, ModelServer};
use serde_json::{Value, json};

const PATH: &str = "/v1/chat/completions";

async fn start(script: &Value) -> (ModelServer, TestClient) {
    let server = ModelServer::start(ModelScript::from_json(script).unwrap()).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    (server, client)
}

fn ask(text: &str, stream: bool) -> Value {
    json!({"model": "m", "stream": stream, "temperature": 0, "messages": [{"role": "user", "content": text}]})
}

/// The deltas of a stream, without empty ones, and the last record.
async fn deltas(client: &TestClient, body: &Value) -> (Vec<Value>, Value) {
    let got = client.post(PATH, body).await.unwrap().events().collect().await;
    let chunks = got.json();
    let last = chunks.last().cloned().unwrap();
    (chunks.iter().filter_map(|chunk| chunk["choices"][0].get("delta").cloned()).collect(), last)
}

#[tokio::test]
async fn the_recorded_permission_script_drives_a_tool_call_and_an_answer() {
    let server = ModelServer::start(ModelScript::fixture("g_two_permissions").unwrap()).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    let (first, last) = deltas(&client, &ask("write", true)).await;
    assert_eq!(last, "[DONE]");
    let calls = first.iter().filter_map(|delta| delta["tool_calls"][0].as_object());
    let mut arguments = vec![String::new(); 2];
    let mut names = Vec::new();
    for call in calls {
        let at = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
        arguments[at].push_str(call["function"]["arguments"].as_str().unwrap());
        names.extend(call["function"].get("name").map(|name| (call["id"].clone(), name.clone())));
    }
    let write = json!("write_file");
    assert_eq!(names, [(json!("call_write_1"), write.clone()), (json!("call_write_2"), write)]);
    let parsed: Vec<Value> = arguments.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    assert_eq!(parsed[0], json!({"path": "notes.txt", "content": "hello from the lab\n"}));
    let mut tool = ask("write", true);
    tool["messages"].as_array_mut().unwrap().push(json!({"role": "tool", "content": "done"}));
    let (second, _) = deltas(&client, &tool).await;
    assert_eq!(
        second,
        [json!({"role": "assistant", "content": ""}), json!({"content": "Both handled."}), json!({})]
    );
    let log = server.log();
    assert_eq!(
        (&log[0]["turn"], &log[1]["turn"], &log[0]["extra"]),
        (&json!(0), &json!(1), &json!({"temperature": 0}))
    );
    assert_eq!(log[1]["messages"][1], json!({"role": "tool", "text": "done"}));
}

#[tokio::test]
async fn text_reasoning_usage_and_finish_are_streamed_in_order() {
    let (_server, client) = start(&json!({"turns": [{"steps": [
        {"reasonings": ["hm ", "yes"]}, {"texts": ["a", "b"]}, {"repeat": "t%d ", "n": 2}, {"finish": "length"},
        {"usage": {"prompt_tokens": 5, "completion_tokens": 2, "cached_tokens": 1}},
    ]}]}))
    .await;
    let got = client.post(PATH, &ask("x", true)).await.unwrap().events().collect().await;
    let chunks = got.json();
    let deltas: Vec<&Value> = chunks[1..7].iter().map(|chunk| &chunk["choices"][0]["delta"]).collect();
    assert_eq!(
        deltas,
        [
            &json!({"reasoning_content": "hm "}),
            &json!({"reasoning_content": "yes"}),
            &json!({"content": "a"}),
            &json!({"content": "b"}),
            &json!({"content": "t0 "}),
            &json!({"content": "t1 "}),
        ]
    );
    assert_eq!(chunks[7]["choices"][0]["finish_reason"], "length");
    let usage = json!({
        "prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, "prompt_tokens_details": {"cached_tokens": 1},
    });
    assert_eq!((&chunks[8]["choices"], &chunks[8]["usage"]), (&json!([]), &usage));
    assert_eq!((&chunks[8]["model"], &chunks[9]), (&json!("m"), &json!("[DONE]")));
}

#[tokio::test]
async fn errors_cuts_and_the_fallback() {
    let (server, client) = start(&json!({"turns": [
        {"when": {"last_user": "bad"}, "steps": [{"error": {"status": 400, "body": {"error": {"message": "no"}}}}]},
        {"when": {"last_user": "down"}, "steps": [{"error": {}}]},
        {"when": {"last_user": "cut"}, "steps": [{"text": "half an "}, {"drop": true}]},
    ]}))
    .await;
    let response = client.post(PATH, &ask("bad", true)).await.unwrap();
    assert_eq!((response.status, response.json().await.unwrap()), (400, json!({"error": {"message": "no"}})));
    assert_eq!(client.post(PATH, &ask("down", false)).await.unwrap().status, 500);
    let cut = client.post(PATH, &ask("cut", true)).await.unwrap().events().collect().await;
    assert_eq!(cut.end, StreamEnd::Cut(None));
    let (deltas, _) = deltas(&client, &ask("cut", true)).await;
    assert_eq!(deltas[1], json!({"content": "(no scripted turn matched)"}));
    let turns: Vec<Value> = server.log().iter().map(|entry| entry["turn"].clone()).collect();
    assert_eq!(turns, [json!(0), json!(1), json!(2), json!(-1)]);
}

#[tokio::test]
async fn a_hold_waits_for_its_release_and_a_client_that_leaves_takes_its_turn_along() {
    let script =
        json!({"turns": [{"times": 0, "steps": [{"text": "one"}, {"hold": "h1"}, {"text": "two"}]}]});
    let (server, client) = start(&script).await;
    let mut held = client.post(PATH, &ask("x", true)).await.unwrap().events();
    held.read_until(|event| event.json["choices"][0]["delta"]["content"] == "one").await.unwrap();
    drop(held);
    server.connections().wait_open(0).await.unwrap();
    let mut held = client.post(PATH, &ask("x", true)).await.unwrap().events();
    held.read_until(|event| event.json["choices"][0]["delta"]["content"] == "one").await.unwrap();
    server.release("h1");
    assert_eq!(held.next().await.unwrap().json["choices"][0]["delta"]["content"], "two");
}

#[tokio::test]
async fn a_request_without_stream_gets_one_answer() {
    let (_server, client) = start(&json!({"turns": [{"steps": [
        {"reasoning": "r"}, {"text": "a"}, {"text": "b"}, {"tool": {"id": "c1", "name": "f", "args": "{\"x\":1}"}},
        {"usage": {"prompt_tokens": 1, "completion_tokens": 2}},
    ]}]}))
    .await;
    let answer = client.post(PATH, &ask("x", false)).await.unwrap().json().await.unwrap();
    let function = json!({"name": "f", "arguments": "{\"x\":1}"});
    let message = json!({
        "role": "assistant", "content": "ab", "reasoning_content": "r",
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    });
    assert_eq!(answer["choices"], json!([{"index": 0, "message": message, "finish_reason": "tool_calls"}]));
    assert_eq!(answer["usage"]["total_tokens"], 3);
}

#[tokio::test]
async fn the_controls_work_over_http() {
    let (server, client) = start(&json!({})).await;
    let script = json!({"turns": [{"times": 0, "steps": [{"hold": "h"}, {"text": "new"}]}]});
    let set = client.post("/_lab/scenario", &script).await.unwrap().json().await.unwrap();
    assert_eq!(set, json!({"turns": 1}));
    let bad = json!({"turns": [{"when": {"last_user": "a+"}, "steps": []}]});
    assert_eq!(client.post("/_lab/scenario", &bad).await.unwrap().status, 400);
    client.post("/_lab/release/h", &json!({})).await.unwrap();
    let (got, _) = deltas(&client, &ask("x", true)).await;
    assert_eq!(got[1], json!({"content": "new"}));
    let log = client.get("/_lab/log").await.unwrap().json().await.unwrap();
    assert_eq!(log, Value::Array(server.log()));
    let models = client.get("/v1/models").await.unwrap().json().await.unwrap();
    assert_eq!(models["data"][0]["object"], "model");
    assert_eq!(client.get("/health").await.unwrap().json().await.unwrap(), json!({"status": "ok"}));
    assert_eq!(client.get("/v2").await.unwrap().status, 404);
}

#[tokio::test]
async fn the_binary_prints_its_port_and_serves_the_script() {
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    let script = agui_testkit::replay::fixtures_dir().join("a_plain_text/llm_script.json");
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_agui-testkit-model"))
        .arg("--script")
        .arg(script)
        .args(["--port", "0"])
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let line = BufReader::new(child.stdout.take().unwrap()).lines().next_line().await.unwrap().unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    let url = ready["url"].as_str().unwrap();
    assert!(url.ends_with(&format!(":{}", ready["port"])), "{line}");
    let (got, _) = deltas(&TestClient::new(url).unwrap(), &ask("first question", true)).await;
    assert_eq!(got[1], json!({"content": "Hello"}));
    child.kill().await.unwrap();
    let wrong =
        tokio::process::Command::new(env!("CARGO_BIN_EXE_agui-testkit-model")).arg("--x").output().await;
    assert_eq!(wrong.unwrap().status.code(), Some(2));
}
