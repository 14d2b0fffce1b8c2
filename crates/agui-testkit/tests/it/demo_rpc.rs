//! The demo kernel's protocol: refusals, unary calls, subscriptions, endpoints.

use std::time::Duration;

use agui_testkit::client::TestClient;
use agui_testkit::client::a2a::{Outgoing, rpc};
use agui_testkit::client::raw::RawConnection;
use agui_testkit::demo::{DemoConfig, DemoKernel, SCENARIOS};
use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};

use crate::kernel::{
    CONTEXT, a2a_client, call, demo, get, last_state, open_input, says, stream, task_id, word, words,
};

#[tokio::test]
async fn without_the_token_nothing_is_answered() {
    let kernel = DemoKernel::start(DemoConfig::instant().with_token("t0ken")).await.unwrap();
    let unauthorized = json!({"error": "Unauthorized"});
    for client in [a2a_client(&kernel.url()), a2a_client(&kernel.url()).with_token("other")] {
        for path in ["/health", "/.well-known/agent-card.json", "/iac-code/pipeline/state?taskId=x"] {
            assert_eq!(get(&client, path).await, (401, unauthorized.clone()), "{path}");
        }
        let response = client.post("/", &says("hi").streaming()).await.unwrap();
        assert_eq!((response.status, response.json().await.unwrap()), (401, unauthorized.clone()));
    }
    let client = a2a_client(&kernel.url()).with_token("t0ken");
    let health = json!({"status": "healthy", "version": "0.16.0", "mode": "normal"});
    assert_eq!(get(&client, "/health").await, (200, health));
    let (status, card) = get(&client, "/.well-known/agent-card.json").await;
    let interface =
        json!({"url": format!("{}/", kernel.url()), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    assert_eq!((status, &card["supportedInterfaces"]), (200, &json!([interface])));
    assert_eq!(card["capabilities"]["streaming"], true);
}

#[tokio::test]
async fn malformed_requests_are_refused_with_their_codes() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let plain = TestClient::new(&kernel.url()).unwrap();
    let old = plain.clone().with_header("a2a-version", "0.3");
    let hello = says("hi").streaming();
    let cases = [
        (&plain, hello.to_string(), -32009),
        (&old, hello.to_string(), -32009),
        (&client, "{".to_owned(), -32700),
        (&client, json!([hello]).to_string(), -32600),
        (&client, rpc("1", "DeleteTask", &json!({})).to_string(), -32601),
        (&client, rpc("1", "GetTask", &json!({"id": "x"})).to_string(), -32001),
        (&client, rpc("1", "SubscribeToTask", &json!({"id": "x"})).to_string(), -32001),
        (&client, rpc("1", "SendStreamingMessage", &json!({"message": {"parts": []}})).to_string(), -32602),
        (&client, says("hi").with_task("x").streaming().to_string(), -32001),
        (&client, says("please refuse").streaming().to_string(), -32602),
        (&client, says("hi").with_iac_code("run_mode", json!("turbo")).streaming().to_string(), -32602),
        (&client, says("hi").with_iac_code("cleanupOnly", json!(true)).streaming().to_string(), -32602),
        (
            &client,
            says("hi").with_iac_code("alibaba_cloud_region_id", json!("CN!")).streaming().to_string(),
            -32602,
        ),
        (
            &client,
            says("hi")
                .with_iac_code("run_mode", json!("pipeline"))
                .with_iac_code("pipeline_name", json!("buying"))
                .streaming()
                .to_string(),
            -32602,
        ),
    ];
    for (client, body, code) in cases {
        let response = client.send(Method::POST, "/", Some(Bytes::from(body.clone()))).await.unwrap();
        assert_eq!((response.status, response.is_stream()), (200, false), "{body}");
        assert_eq!(response.json().await.unwrap()["error"]["code"], code, "{body}");
    }
}

#[tokio::test]
async fn the_permission_payload_is_checked_key_by_key() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let asked = stream(&client, &says("write a file")).await;
    let input = open_input(&asked);
    let good = Outgoing::new("a", CONTEXT, "/ws").with_decision(&input, "allow_once").streaming();
    let changed = |pointer: &str, value: Value| {
        let mut request = good.clone();
        *request.pointer_mut(pointer).unwrap() = value;
        request
    };
    let part = "/params/message/parts/0/data";
    let mut extra = good.clone();
    extra.pointer_mut(part).unwrap()["note"] = json!("x");
    let mut second_part = good.clone();
    second_part["params"]["message"]["parts"].as_array_mut().unwrap().push(json!({"text": "x"}));
    let cases = [
        (extra, "payload fields do not match"),
        (changed(&format!("{part}/schemaVersion"), json!(2)), "payload fields do not match"),
        (changed(&format!("{part}/decision"), json!("always")), "must be allow_once or deny"),
        (changed(&format!("{part}/requestTaskId"), json!("other")), "does not match requestTaskId"),
        (changed(&format!("{part}/inputId"), json!("permission-1")), "input_response_mismatch"),
        (changed(&format!("{part}/toolUseId"), json!("call-1")), "input_response_mismatch"),
        (changed("/params/message/contextId", json!("agui-other")), "permission_resume_invalid"),
        (second_part, "only part"),
    ];
    for (request, text) in cases {
        let error = call(&client, &request).await["error"].clone();
        assert_eq!(error["code"], -32602, "{error}");
        assert!(error["message"].as_str().unwrap().contains(text), "{error}");
    }
    assert_eq!(kernel.executed_tools(), 0);
    let response = client.post("/", &good).await.unwrap();
    assert_eq!(last_state(&response.events().collect().await), "INPUT_REQUIRED");
    assert_eq!(kernel.executed_tools(), 1);
}

#[tokio::test]
async fn workspaces_are_absolute_and_bound_to_their_context() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let failed = |recording: &agui_testkit::client::Recording| {
        recording.events[1].json["result"]["statusUpdate"]["status"]["message"]["parts"][0]["text"].clone()
    };
    let relative = stream(&client, &Outgoing::new("m1", "c1", "ws").with_text("hi")).await;
    assert_eq!(failed(&relative), "Invalid A2A workspace metadata.");
    let good = stream(&client, &Outgoing::new("m2", "c1", "/ws").with_text("hi")).await;
    assert_eq!(last_state(&good), "INPUT_REQUIRED");
    let moved = stream(&client, &Outgoing::new("m3", "c1", "/other").with_text("hi")).await;
    assert_eq!(failed(&moved), "A2A context belongs to a different workspace");
    let pipeline =
        Outgoing::new("m4", "c3", "ws").with_text("x").with_iac_code("run_mode", json!("pipeline"));
    assert_eq!(call(&client, &pipeline.streaming()).await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_unary_message_waits_for_the_end_unless_it_shall_not() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let task = call(&client, &says("hello").unary()).await["result"]["task"].clone();
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    let mut hold = says("hold on").unary();
    hold["params"]["configuration"]["returnImmediately"] = json!(true);
    let task = call(&client, &hold).await["result"]["task"].clone();
    assert_eq!(kernel.running_tasks(), 1);
    let response = client.post("/", &rpc("s", "SubscribeToTask", &json!({"id": task["id"]}))).await.unwrap();
    kernel.release_holds();
    assert_eq!(last_state(&response.events().collect().await), "INPUT_REQUIRED");
}

#[tokio::test]
async fn a_subscriber_sees_the_task_and_then_the_same_events() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let mut own = client.post("/", &says("hold on").streaming()).await.unwrap().events();
    let second_word = |event: &agui_testkit::client::Received| {
        event.json["result"]["statusUpdate"]["status"]["message"]["parts"][0]["text"] == "hold. "
    };
    own.read_until(second_word).await.unwrap();
    let id = task_id(own.so_far());
    let subscribe = rpc("s", "SubscribeToTask", &json!({"id": id}));
    let mut other = client.post("/", &subscribe).await.unwrap().events();
    let first = other.next().await.unwrap().json["result"]["task"].clone();
    assert_eq!(first["status"]["message"]["parts"], json!([{"text": "hold. "}]));
    assert_eq!(first["history"].as_array().unwrap().len(), 1);
    kernel.release_holds();
    let (own, other) = (own.collect().await, other.collect().await);
    let results = |events: &[agui_testkit::client::Received]| -> Vec<Value> {
        events.iter().map(|event| event.json["result"].clone()).collect()
    };
    let tail = results(&other.events[1..]);
    assert!(!tail.is_empty() && results(&own.events).ends_with(&tail));
    assert_eq!(call(&client, &subscribe).await["error"]["code"], -32001);
    let failed = stream(&client, &says("fail")).await;
    let subscribe = rpc("s", "SubscribeToTask", &json!({"id": task_id(&failed)}));
    assert_eq!(call(&client, &subscribe).await["error"]["code"], -32004);
    assert_eq!(
        call(&client, &says("x").with_task(&task_id(&failed)).streaming()).await["error"]["code"],
        -32004
    );
}

#[tokio::test]
async fn a_finished_turn_can_go_on_in_the_same_task() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let first = stream(&client, &says("hello")).await;
    let next = stream(&client, &says("tool").with_task(&task_id(&first))).await;
    assert_eq!((word(&next.events[0].json).as_str(), task_id(&next)), ("SUBMITTED", task_id(&first)));
    assert!(words(&next).contains(&"tool completed".to_owned()));
}

#[tokio::test]
async fn silence_is_filled_with_comments() {
    let config = DemoConfig::instant().with_ping_interval(Duration::from_millis(1));
    let (kernel, _client) = demo(config).await;
    let mut raw = RawConnection::connect(&kernel.url()).await.unwrap();
    let body = says("hold on").streaming().to_string();
    let head =
        format!("POST / HTTP/1.1\r\nhost: x\r\na2a-version: 1.0\r\ncontent-length: {}\r\n\r\n", body.len());
    raw.write(format!("{head}{body}").as_bytes()).await.unwrap();
    raw.read_until("\"hold. \"", 1).await.unwrap();
    let silence = String::from_utf8(raw.read_until(": ping - ", 2).await.unwrap()).unwrap();
    assert!(silence.matches(": ping - ").count() >= 2, "{silence}");
}

#[tokio::test]
async fn sessions_are_current_missing_or_somebody_elses() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let turn = stream(&client, &says("hello")).await;
    let id = task_id(&turn);
    let session = crate::kernel::iac(&turn.events[1].json)["iacCodeSessionId"].clone();
    let other = json!("00000000-0000-4000-8000-000000000000");
    let cases = [
        (json!({"cwd": "/ws", "sessionId": session, "taskId": id}), 200, json!({"status": "current"})),
        (json!({"cwd": "/ws", "sessionId": session}), 200, json!({"status": "current"})),
        (json!({"cwd": "/ws", "sessionId": other}), 404, json!({"status": "not_found"})),
        (
            json!({"cwd": "/ws", "sessionId": other, "taskId": id}),
            400,
            json!({"error": "Invalid session restore request."}),
        ),
        (
            json!({"cwd": "/ws", "sessionId": session, "taskId": "x"}),
            400,
            json!({"error": "Invalid session restore request."}),
        ),
        (
            json!({"cwd": "ws", "sessionId": session}),
            400,
            json!({"error": "Invalid session restore request."}),
        ),
        (json!({"cwd": "/ws"}), 400, json!({"error": "Invalid session restore request."})),
    ];
    for (body, status, expected) in cases {
        let response = client.post("/iac-code/session/ensure-restored", &body).await.unwrap();
        assert_eq!((response.status, response.json().await.unwrap()), (status, expected), "{body}");
    }
}

#[tokio::test]
async fn the_state_endpoints_know_what_they_need() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let turn = stream(&client, &says("hello")).await;
    let id = task_id(&turn);
    let error = |text: &str| json!({"error": text});
    for (path, status, expected) in [
        ("/iac-code/pipeline/state".to_owned(), 400, error("contextId or taskId is required")),
        (
            format!("/iac-code/pipeline/state?taskId={id}&afterSequence=-1"),
            400,
            error("afterSequence must be a non-negative integer"),
        ),
        (
            format!("/iac-code/pipeline/state?taskId={id}&contextId=x"),
            404,
            error("A2A task/context mismatch"),
        ),
        (format!("/iac-code/pipeline/state?taskId={id}"), 404, error("A2A pipeline state not found")),
        (
            "/iac-code/session/recovery?contextId=x".to_owned(),
            400,
            error("Invalid execution control request."),
        ),
        (
            "/iac-code/session/recovery?contextId=x&executionId=y".to_owned(),
            404,
            error("Execution was not found"),
        ),
        ("/nowhere".to_owned(), 404, error("Not Found")),
    ] {
        assert_eq!(get(&client, &path).await, (status, expected), "{path}");
    }
}

#[tokio::test]
async fn requests_are_kept_only_when_they_shall_be() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    stream(&client, &says("hello")).await;
    assert_eq!(kernel.requests().kinds(), ["SendStreamingMessage"]);
    assert_eq!(kernel.requests().all()[0].message()["messageId"], "m-hello");
    let (kernel, client) = demo(DemoConfig::default().with_delta_delay(Duration::ZERO)).await;
    stream(&client, &says("hello")).await;
    assert!(kernel.requests().all().is_empty());
}

#[tokio::test]
async fn every_word_of_the_table_does_something_of_its_own() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    kernel.release_holds();
    let mut endings = Vec::new();
    for (word, description) in SCENARIOS {
        assert!(!description.is_empty());
        let context = format!("context-{word}");
        let message = Outgoing::new("m", &context, "/ws").with_text(&format!("Please, {word}!"));
        let response = client.post("/", &message.streaming()).await.unwrap();
        if !response.is_stream() {
            endings.push(response.json().await.unwrap()["error"]["code"].to_string());
            continue;
        }
        // A sideband permission leaves its stream open.
        let got = response.events().collect_until(|event| word_of_two_permissions(&event.json)).await;
        endings.push(words(&got).join(" "));
    }
    let distinct: std::collections::BTreeSet<&String> = endings.iter().collect();
    // Turns that only talk look alike from outside, and so do the first halves of two permissions.
    assert!(distinct.len() >= 11, "{distinct:#?}");
    kernel.stop().await;
}

/// The second candidate's permission is the last thing that happens without an answer.
fn word_of_two_permissions(event: &Value) -> bool {
    word(event) == "permission_requested"
        && crate::kernel::iac(event)["pipeline"]["candidate"]["index"] == json!(1.0)
}
