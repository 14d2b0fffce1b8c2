//! Normal turns of the demo kernel.

use agui_testkit::client::StreamEnd;
use agui_testkit::client::a2a::rpc;
use agui_testkit::demo::DemoConfig;
use serde_json::json;

use crate::kernel::{
    CONTEXT, call, cancel, decides, demo, get_task, iac, last_state, open_input, said, says, stream, task_id,
    word, words,
};

#[tokio::test]
async fn a_turn_has_the_order_and_the_shapes_of_the_kernel() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let message = says("good morning")
        .with_iac_code("iac_code_api_key", json!("key-1"))
        .with_iac_code("llm_headers", json!({"x": "secret"}));
    let got = stream(&client, &message).await;
    assert_eq!(got.end, StreamEnd::Complete);
    let header =
        |name: &str| got.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    assert_eq!(header("content-type"), Some("text/event-stream; charset=utf-8"));
    assert_eq!((header("cache-control"), header("x-accel-buffering")), (Some("no-store"), Some("no")));
    assert_eq!(
        words(&got),
        ["task", "SUBMITTED", "WORKING", "thinking", "text", "usage", "assistantFinal", "INPUT_REQUIRED"]
    );
    assert!(said(&got).contains("good morning"), "{}", said(&got));

    let id = task_id(&got);
    let echo = &got.events[0].json["result"]["task"]["history"][0];
    assert_eq!(echo["metadata"]["iac_code"], json!({"cwd": "/ws", "iac_code_api_key": "key-1"}));
    assert_eq!((&echo["taskId"], &echo["messageId"]), (&json!(id), &json!("m-good-morning")));
    let ids =
        |event: &serde_json::Value| event["result"]["statusUpdate"]["status"]["message"]["messageId"].clone();
    let text = got.events.iter().find(|event| word(&event.json) == "text").unwrap();
    assert_eq!(ids(&text.json), json!(format!("{id}-message")));
    let last = got.events.iter().find(|event| word(&event.json) == "assistantFinal").unwrap();
    assert_eq!(ids(&last.json), json!(format!("{id}-2")));
    for event in &got.events {
        assert!(event.raw.starts_with("data: {\"result\":{"), "{}", event.raw);
        assert!(
            event.raw.ends_with("},\"id\":\"rpc-m-good-morning\",\"jsonrpc\":\"2.0\"}\r\n\r\n"),
            "{}",
            event.raw
        );
    }
    let usage = got.events.iter().find(|event| word(&event.json) == "usage").unwrap();
    assert!(usage.raw.contains("\"cachedInputTokens\":0.0"), "{}", usage.raw);
    assert_eq!(kernel.executed_tools(), 0);
}

#[tokio::test]
async fn thinking_can_be_switched_off_and_attachments_are_counted() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let image = json!({"data": {"filename": "a.png", "bytes": "AAAA"}, "mediaType": "image/png"});
    let got =
        stream(&client, &says("look").with_part(image).with_iac_code("thinking", json!({"enabled": false})))
            .await;
    assert!(!words(&got).contains(&"thinking".to_owned()));
    assert!(said(&got).contains("1 attachments"), "{}", said(&got));
}

#[tokio::test]
async fn an_allowed_tool_runs_once_however_often_it_is_allowed() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let asked = stream(&client, &says("write a file")).await;
    assert_eq!(
        words(&asked)[5..],
        ["tool started", "tool input_delta", "tool input_complete", "usage", "input"]
    );
    let (id, input) = (task_id(&asked), open_input(&asked));
    assert_eq!((&input["kind"], &input["schemaVersion"]), (&json!("permission"), &json!(1.0)));
    let parked = get_task(&client, &id).await;
    assert_eq!(parked["status"], json!({"state": "TASK_STATE_INPUT_REQUIRED"}));
    assert_eq!(parked["metadata"]["iac_code"]["input"], input);
    assert_eq!(kernel.executed_tools(), 0);

    let allowed = stream(&client, &decides(&input, "allow_once")).await;
    assert_eq!(
        words(&allowed),
        [
            "inputReceived",
            "artifactUpdate",
            "tool completed",
            "text",
            "usage",
            "assistantFinal",
            "INPUT_REQUIRED"
        ]
    );
    assert_eq!(kernel.executions(&id), [input["toolUseId"].as_str().unwrap()]);

    let again = stream(&client, &decides(&input, "allow_once")).await;
    let receipt = json!({
        "kind": "permission", "inputId": input["inputId"], "toolUseId": input["toolUseId"],
        "decision": "allow_once", "recovered": true, "duplicate": true,
    });
    assert_eq!(again.events.len(), 1);
    assert_eq!(iac(&again.events[0].json)["inputReceived"], receipt);
    let opposite = call(&client, &decides(&input, "deny").streaming()).await;
    assert_eq!(opposite["error"]["code"], -32602);
    assert_eq!(kernel.executed_tools(), 1);
    assert!(get_task(&client, &id).await["metadata"]["iac_code"].get("input").is_none());
}

#[tokio::test]
async fn a_denied_tool_does_not_run() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let asked = stream(&client, &says("write a file")).await;
    let denied = stream(&client, &decides(&open_input(&asked), "deny")).await;
    assert_eq!(
        words(&denied),
        ["inputReceived", "tool failed", "text", "usage", "assistantFinal", "INPUT_REQUIRED"]
    );
    assert_eq!(said(&denied), "As you wish: nothing was written.");
    assert_eq!(kernel.executed_tools(), 0);
}

#[tokio::test]
async fn two_permissions_are_asked_one_after_the_other() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let first = stream(&client, &says("both")).await;
    let second = stream(&client, &decides(&open_input(&first), "allow_once")).await;
    assert_eq!(words(&second), ["inputReceived", "input"]);
    assert_eq!(kernel.executed_tools(), 0);
    let done = stream(&client, &decides(&open_input(&second), "deny")).await;
    assert!(said(&done).starts_with("1 of 2 files written."), "{}", said(&done));
    assert_eq!(kernel.executed_tools(), 1);
}

#[tokio::test]
async fn a_doubtful_identity_leaves_the_permission_open() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let asked = stream(&client, &says("identity")).await;
    let input = open_input(&asked);
    let doubted = stream(&client, &decides(&input, "allow_once")).await;
    assert_eq!(words(&doubted), ["inputReceived", "permissionIdentityError"]);
    assert_eq!((last_state(&doubted).as_str(), kernel.executed_tools()), ("INPUT_REQUIRED", 0));
    let done = stream(&client, &decides(&input, "allow_once")).await;
    assert_eq!(words(&done)[..3], ["inputReceived", "artifactUpdate", "tool completed"]);
    assert_eq!(kernel.executed_tools(), 1);
}

#[tokio::test]
async fn tools_report_their_input_progress_and_result() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let tool = stream(&client, &says("tool please")).await;
    assert!(words(&tool).contains(&"tool completed".to_owned()));
    let progress = stream(&client, &says("show progress")).await;
    let reports = progress.events.iter().filter(|event| word(&event.json) == "tool progress");
    let numbers: Vec<_> = reports.map(|event| iac(&event.json)["tool"]["mcp"]["progress"].clone()).collect();
    assert_eq!(numbers, [json!(1.0), json!(2.0), json!(3.0)]);
    assert_eq!(kernel.executed_tools(), 2);
}

#[tokio::test]
async fn a_client_that_leaves_does_not_stop_the_task() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let response = client.post("/", &says("hold on").streaming()).await.unwrap();
    let left = response.events().collect_until(|event| word(&event.json) == "text").await;
    kernel.connections().wait_open(0).await.unwrap();
    assert_eq!(kernel.running_tasks(), 1);

    let id = task_id(&left);
    let response = client.post("/", &rpc("s", "SubscribeToTask", &json!({"id": id}))).await.unwrap();
    let mut rest = response.events();
    assert_eq!(word(&rest.next().await.unwrap().json), "task");
    kernel.release_holds();
    let rest = rest.collect().await;
    assert!(said(&rest).ends_with("I am back."), "{}", said(&rest));
    assert_eq!((last_state(&rest).as_str(), kernel.running_tasks()), ("INPUT_REQUIRED", 0));
}

#[tokio::test]
async fn a_running_task_can_be_cancelled_once() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let mut events = client.post("/", &says("hold on").streaming()).await.unwrap().events();
    events.read_until(|event| word(&event.json) == "text").await.unwrap();
    let id = task_id(events.so_far());
    let reply = cancel(&client, &id).await;
    let canceled = json!({"state": "TASK_STATE_CANCELED", "text": "Task canceled.", "id": format!("{id}-5")});
    let short = |status: &serde_json::Value| {
        json!({
            "state": status["state"], "text": status["message"]["parts"][0]["text"],
            "id": status["message"]["messageId"],
        })
    };
    assert_eq!(short(&reply["result"]["status"]), canceled);
    let all = events.collect().await;
    assert_eq!(short(&all.events.last().unwrap().json["result"]["statusUpdate"]["status"]), canceled);
    assert_eq!(kernel.running_tasks(), 0);
    assert_eq!(cancel(&client, &id).await["error"]["code"], -32002);
    assert_eq!(cancel(&client, "nobody").await["error"]["code"], -32001);
    let finished = stream(&client, &says("hello")).await;
    assert_eq!(cancel(&client, &task_id(&finished)).await["error"]["code"], -32002);
}

#[tokio::test]
async fn a_parked_task_can_be_cancelled_and_then_takes_no_answer() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let asked = stream(&client, &says("write a file")).await;
    let (id, input) = (task_id(&asked), open_input(&asked));
    let reply = cancel(&client, &id).await;
    assert_eq!(reply["result"]["status"]["state"], "TASK_STATE_CANCELED");
    assert!(reply["result"]["metadata"]["iac_code"].get("input").is_none(), "{reply}");
    let late = call(&client, &decides(&input, "allow_once").streaming()).await;
    assert_eq!((&late["error"]["code"], kernel.executed_tools()), (&json!(-32602), 0));
    let next = stream(&client, &says("hello")).await;
    assert_eq!(last_state(&next), "INPUT_REQUIRED");
}

#[tokio::test]
async fn a_second_message_in_a_busy_context_fails() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let mut first = client.post("/", &says("hold on").streaming()).await.unwrap().events();
    first.read_until(|event| word(&event.json) == "text").await.unwrap();
    let second = stream(&client, &says("me too")).await;
    assert_eq!(words(&second), ["task", "FAILED"]);
    let status = &second.events[1].json["result"]["statusUpdate"]["status"];
    assert_eq!(status["message"]["parts"], json!([{"text": "Task is already working."}]));
    assert_ne!(task_id(&second), task_id(first.so_far()));
}

#[tokio::test]
async fn failures_tell_whether_another_try_helps() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let busy = stream(&client, &says("retry")).await;
    assert_eq!(
        (last_state(&busy).as_str(), words(&busy).last().unwrap().as_str()),
        ("INPUT_REQUIRED", "error")
    );
    assert_eq!(iac(&busy.events.last().unwrap().json)["error"]["retryable"], true);
    let works = stream(&client, &says("retry")).await;
    assert_eq!(said(&works), "This time it works.");
    let failed = stream(&client, &says("fail")).await;
    assert_eq!(last_state(&failed), "FAILED");
    assert_eq!(iac(&failed.events.last().unwrap().json)["error"]["retryable"], false);
}

#[tokio::test]
async fn a_plain_message_is_the_whole_answer() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let got = stream(&client, &says("be direct")).await;
    assert_eq!(words(&got), ["message"]);
    let message = &got.events[0].json["result"]["message"];
    assert_eq!(message["parts"], json!([{"text": "Without any task: be direct"}]));
    assert_eq!((&message["contextId"], message.get("taskId")), (&json!(CONTEXT), None));
}

#[tokio::test]
async fn a_long_answer_has_as_many_pieces_as_asked() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let got = stream(&client, &says("long 300")).await;
    let pieces = got.events.iter().filter(|event| word(&event.json) == "text").count();
    assert_eq!(pieces, 300);
    assert!(said(&got).ends_with("tok298 tok299 "));
    let slow = stream(&client, &says("slow")).await;
    assert!(said(&slow).ends_with("Line 120 of 120.\n"));
}

#[tokio::test]
async fn get_task_stays_behind_if_it_shall() {
    let (_kernel, client) = demo(DemoConfig::instant().with_stale_get_task()).await;
    let asked = stream(&client, &says("write a file")).await;
    let (id, input) = (task_id(&asked), open_input(&asked));
    let before = get_task(&client, &id).await;
    let done = stream(&client, &decides(&input, "allow_once")).await;
    assert_eq!(last_state(&done), "INPUT_REQUIRED");
    let after = get_task(&client, &id).await;
    assert_eq!((&after["metadata"]["iac_code"]["input"], &after["history"]), (&input, &before["history"]));

    let execution = after["metadata"]["iac_code"]["executionControl"]["executionId"].as_str().unwrap();
    let path = format!("/iac-code/session/recovery?contextId={CONTEXT}&executionId={execution}");
    let recovery = client.get(&path).await.unwrap().json().await.unwrap();
    assert_eq!(recovery["messages"][0], json!({"role": "user", "content": "write a file"}));
    let text = "The file notes.txt is written. (This is the demo: nothing is on the disk.)";
    assert_eq!(recovery["messages"][1], json!({"role": "assistant", "content": text}));
    let pieces: Vec<&str> =
        recovery["outputText"].as_array().unwrap().iter().map(|piece| piece.as_str().unwrap()).collect();
    assert_eq!(pieces.concat(), format!("I will write the file. {text}"));
}
