//! Pipelines of the demo kernel.

use agui_testkit::client::a2a::rpc;
use agui_testkit::client::{Recording, TestClient};
use agui_testkit::demo::{DemoConfig, DemoKernel};
use serde_json::{Value, json};

use crate::kernel::{
    call, cancel, decides, demo, get, get_task, iac, last_state, open_input, says, stream, task_id, word,
    words,
};

/// A pipeline up to the moment when both candidates wait; the stream is left then.
async fn two_waiting(client: &TestClient) -> (String, Vec<Value>, Recording) {
    let message = says("create a network").with_iac_code("run_mode", json!("pipeline"));
    let mut events = client.post("/", &message.streaming()).await.unwrap().events();
    let mut inputs = Vec::new();
    while inputs.len() < 2 {
        let event = events.read_until(|event| word(&event.json) == "permission_requested").await.unwrap();
        assert_eq!(event.json["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_WORKING");
        inputs.push(iac(&event.json)["input"].clone());
    }
    let recording = events.abort();
    (task_id(&recording), inputs, recording)
}

fn pipeline_events(recording: &Recording) -> Vec<Value> {
    let envelopes = recording.events.iter().map(|event| iac(&event.json)["pipeline"].clone());
    envelopes.filter(|envelope| !envelope.is_null()).collect()
}

async fn answer_sideband(client: &TestClient, input: &Value, decision: &str) -> Value {
    call(client, &decides(input, decision).unary()).await
}

/// Subscribes before the answers are given, so that nothing is missed.
async fn answered(client: &TestClient, id: &str, answers: &[(&Value, &str)]) -> Recording {
    let response = client.post("/", &rpc("s", "SubscribeToTask", &json!({"id": id}))).await.unwrap();
    for (input, decision) in answers {
        let ack = answer_sideband(client, input, decision).await;
        let data = &ack["result"]["message"]["parts"][0]["data"];
        assert_eq!(
            *data,
            json!({
                "schemaVersion": 1.0, "kind": "permission_ack", "inputId": input["inputId"],
                "toolUseId": input["toolUseId"], "decision": decision, "accepted": true,
            })
        );
    }
    response.events().collect().await
}

async fn state(client: &TestClient, id: &str, query: &str) -> Value {
    let (status, body) = get(client, &format!("/iac-code/pipeline/state?taskId={id}{query}")).await;
    assert_eq!(status, 200, "{body}");
    body
}

#[tokio::test]
async fn two_candidates_work_side_by_side_and_wait_for_their_permissions() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let (id, inputs, recording) = two_waiting(&client).await;
    let envelopes = pipeline_events(&recording);
    let sequences: Vec<f64> = envelopes.iter().map(|e| e["sequence"].as_f64().unwrap()).collect();
    assert!(sequences.iter().zip(1..).all(|(sequence, number)| *sequence == f64::from(number)));
    let texts = envelopes.iter().filter(|e| e["eventType"] == "text_delta" && e["scope"] == "candidate_step");
    let mut order: Vec<&Value> = texts.map(|e| &e["candidate"]["index"]).collect();
    order.dedup();
    assert!(order.len() > 2, "the texts of the candidates alternate: {order:?}");
    for (input, envelope) in
        inputs.iter().zip(envelopes.iter().filter(|e| e["eventType"] == "permission_requested"))
    {
        assert_eq!(input["subPipelineId"], envelope["candidate"]["id"]);
        assert_eq!((&input["scope"], &input["kind"]), (&json!("candidate_step"), &json!("permission")));
    }
    let task = get_task(&client, &id).await;
    let pending = task["metadata"]["iac_code"]["pendingPermissions"].as_array().unwrap();
    let ids = |list: &[Value]| list.iter().map(|input| input["inputId"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(pending), ids(&inputs));
    assert_eq!((kernel.executed_tools(), kernel.running_tasks()), (0, 1));
}

#[tokio::test]
async fn a_whole_pipeline_runs_to_its_committed_end() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let (id, inputs, _) = two_waiting(&client).await;
    let selecting = answered(&client, &id, &[(&inputs[0], "allow_once"), (&inputs[1], "allow_once")]).await;
    assert_eq!(kernel.executed_tools(), 2);
    assert_eq!(answer_sideband(&client, &inputs[0], "deny").await["error"]["code"], -32602);
    let repeated = answer_sideband(&client, &inputs[0], "allow_once").await;
    assert_eq!(repeated["result"]["message"]["parts"][0]["data"]["accepted"], true);

    let choice = open_input(&selecting);
    assert_eq!(choice["kind"], "candidate_selection");
    let labels: Vec<&Value> =
        choice["options"].as_array().unwrap().iter().map(|option| &option["label"]).collect();
    assert_eq!(labels, ["basic", "robust"]);
    let waiting = state(&client, &id, "").await["snapshot"].clone();
    assert_eq!(
        (&waiting["status"], &waiting["pendingInput"]["kind"]),
        (&json!("waiting_input"), &choice["kind"])
    );
    let last = waiting["lastSequence"].as_u64().unwrap();

    let done = stream(&client, &says("robust").with_task(&id)).await;
    assert_eq!(last_state(&done), "COMPLETED");
    let received = &pipeline_events(&done)[0];
    assert_eq!(
        (&received["eventType"], &received["data"]["selectedValue"]),
        (&json!("input_received"), &json!("robust"))
    );
    let end = pipeline_events(&done).pop().unwrap();
    assert_eq!((&end["eventType"], &end["visibility"]), (&json!("pipeline_completed"), &json!("committed")));
    assert_eq!(kernel.executed_tools(), 2);

    let missed = state(&client, &id, &format!("&afterSequence={last}&includeSnapshot=false")).await;
    let kinds: Vec<&str> = missed["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["eventType"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[kinds.len() - 3..], ["pipeline_completed", "backup_committed", "pipeline_completed"]);
    assert_eq!((&missed["fromSequence"], missed.get("snapshot")), (&json!(last), None));
    assert_eq!(missed["events"][0]["sequence"], last + 1);
    let over = state(&client, &id, "&lean=1").await["snapshot"].clone();
    assert_eq!(
        (&over["status"], &over["pendingInput"], over["display"].get("toolResults")),
        (&json!("completed"), &Value::Null, None)
    );
    let steps: Vec<(&Value, &Value)> =
        over["steps"].as_array().unwrap().iter().map(|step| (&step["id"], &step["status"])).collect();
    assert_eq!(steps.len(), 5, "{steps:?}");
    assert!(steps.iter().all(|(_, status)| *status == "completed"), "{steps:?}");
    assert_eq!(over["display"]["artifacts"].as_array().unwrap().len(), 2);
    assert_eq!(over["display"]["permissions"][0]["pending"], false);
    let texts: Vec<&Value> =
        over["display"]["messages"].as_array().unwrap().iter().map(|message| &message["text"]).collect();
    assert!(texts.contains(&&json!("Writing robust template.")), "{texts:?}");

    let cleaned = stream(&client, &says("clean").with_iac_code("cleanupOnly", json!(true))).await;
    assert_eq!(last_state(&cleaned), "INPUT_REQUIRED");
    assert_eq!(iac(&cleaned.events.last().unwrap().json)["cleanupOnly"]["requested"], true);
}

#[tokio::test]
async fn a_denied_candidate_is_not_offered() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let (id, inputs, _) = two_waiting(&client).await;
    let selecting = answered(&client, &id, &[(&inputs[0], "deny"), (&inputs[1], "allow_once")]).await;
    assert!(words(&selecting).contains(&"candidate_failed".to_owned()));
    let options = open_input(&selecting)["options"].clone();
    assert_eq!(options.as_array().unwrap().len(), 1);
    assert_eq!((&options[0]["id"], &options[0]["label"]), (&json!("1"), &json!("robust")));
    assert_eq!(kernel.executed_tools(), 1);
}

#[tokio::test]
async fn without_any_candidate_the_pipeline_fails() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let (id, inputs, _) = two_waiting(&client).await;
    let failed = answered(&client, &id, &[(&inputs[0], "deny"), (&inputs[1], "deny")]).await;
    assert_eq!((last_state(&failed).as_str(), kernel.executed_tools()), ("FAILED", 0));
    assert_eq!(words(&failed).last().unwrap(), "pipeline_failed");
    assert_eq!(state(&client, &id, "").await["snapshot"]["status"], "failed");
}

#[tokio::test]
async fn a_question_takes_an_option_or_free_text() {
    for (answer, selected, free) in [
        ("Large site", json!("large"), ""),
        ("small", json!("small"), ""),
        ("about ten nodes", json!(""), "about ten nodes"),
    ] {
        let (_kernel, client) = demo(DemoConfig::instant()).await;
        let asked = stream(&client, &says("question")).await;
        let input = open_input(&asked);
        assert_eq!((&input["kind"], &input["allowFreeText"]), (&json!("ask_user_question"), &json!(true)));
        assert_eq!(input["inputId"], json!(format!("ask-{}", input["toolUseId"].as_str().unwrap())));
        let done = stream(&client, &says(answer).with_task(&task_id(&asked))).await;
        let received = pipeline_events(&done)[0]["data"].clone();
        assert_eq!((&received["selectedId"], &received["freeText"]), (&selected, &json!(free)), "{answer}");
        let end = pipeline_events(&done).pop().unwrap();
        assert_eq!((last_state(&done).as_str(), &end["data"]["earlyExit"]), ("COMPLETED", &json!(true)));
    }
}

#[tokio::test]
async fn a_pipeline_message_without_a_task_goes_to_the_waiting_pipeline() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let asked = stream(&client, &says("question")).await;
    let done = stream(&client, &says("small").with_iac_code("run_mode", json!("pipeline"))).await;
    assert_eq!((task_id(&done), last_state(&done).as_str()), (task_id(&asked), "COMPLETED"));
}

#[tokio::test]
async fn a_deployment_to_confirm_shows_only_in_the_pipeline_event() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let message = says("create a network")
        .with_iac_code("run_mode", json!("pipeline"))
        .with_iac_code("pipeline_name", json!("selling_solution_first"));
    let asked = stream(&client, &message).await;
    let last = iac(&asked.events.last().unwrap().json);
    assert_eq!((last_state(&asked).as_str(), last.get("input")), ("INPUT_REQUIRED", None));
    assert_eq!(last["pipeline"]["data"]["kind"], "deployment_confirmation");
    let id = task_id(&asked);
    assert_eq!(state(&client, &id, "").await["snapshot"]["pendingInput"]["prompt"], "Deploy this solution?");
    let done = stream(&client, &says("yes").with_task(&id)).await;
    assert_eq!(last_state(&done), "COMPLETED");
}

#[tokio::test]
async fn guidance_shows_on_both_streams_and_stops_nothing() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let (id, inputs, _) = two_waiting(&client).await;
    let response = client.post("/", &rpc("s", "SubscribeToTask", &json!({"id": id}))).await.unwrap();
    let mut main = response.events();
    let guided = stream(&client, &says("make it small").with_task(&id)).await;
    assert_eq!(words(&guided), ["interrupt_received", "interrupt_classified"]);
    assert_eq!(pipeline_events(&guided)[0]["data"]["userInput"], "make it small");
    main.read_until(|event| word(&event.json) == "interrupt_classified").await.unwrap();
    for input in &inputs {
        answer_sideband(&client, input, "allow_once").await;
    }
    let main = main.collect().await;
    assert_eq!((last_state(&main).as_str(), kernel.executed_tools()), ("INPUT_REQUIRED", 2));
}

#[tokio::test]
async fn a_pipeline_can_be_cancelled_while_it_waits() {
    let (kernel, client) = demo(DemoConfig::instant()).await;
    let (id, inputs, _) = two_waiting(&client).await;
    let response = client.post("/", &rpc("s", "SubscribeToTask", &json!({"id": id}))).await.unwrap();
    let reply = cancel(&client, &id).await;
    assert_eq!(reply["result"]["status"]["message"]["parts"], json!([{"text": "Task canceled."}]));
    assert!(reply["result"]["metadata"]["iac_code"].get("pendingPermissions").is_none());
    let seen = response.events().collect().await;
    assert_eq!(
        (words(&seen).last().unwrap().as_str(), last_state(&seen).as_str()),
        ("pipeline_canceled", "CANCELED")
    );
    assert_eq!(answer_sideband(&client, &inputs[0], "allow_once").await["error"]["code"], -32602);
    assert_eq!((kernel.executed_tools(), kernel.running_tasks()), (0, 0));
    assert_eq!(state(&client, &id, "").await["snapshot"]["status"], "canceled");
}

#[tokio::test]
async fn dropping_the_kernel_ends_its_tasks() {
    let kernel = DemoKernel::start(DemoConfig::instant()).await.unwrap();
    let client = crate::kernel::a2a_client(&kernel.url());
    let mut open = client.post("/", &says("hold on").streaming()).await.unwrap().events();
    open.read_until(|event| word(&event.json) == "text").await.unwrap();
    drop(kernel);
    let end = open.collect().await.end;
    assert!(!matches!(end, agui_testkit::client::StreamEnd::LeftByClient), "{end:?}");
    assert!(client.get("/health").await.is_err());
}
