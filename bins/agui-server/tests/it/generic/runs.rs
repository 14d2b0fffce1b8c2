//! What is sent, what is shown, and what is done when a stream breaks.

use agui_testkit::faulty::{Script, Step};
use serde_json::{Value, json};

use super::{Plain, artifact, card, custom, done, ids, input, says, status, stream, task, texts};
use crate::stack::outcome;

#[tokio::test]
async fn nothing_of_iac_code_is_sent_and_the_conversation_is_the_agents_own() {
    let plain = Plain::start(Script::new().times(2, "SendStreamingMessage", done())).await;
    assert_eq!(outcome(&plain.say("t", "r1").await), "success");
    assert_eq!(outcome(&plain.say("t", "r2").await), "success");
    let sent: Vec<Value> = plain
        .agent
        .requests()
        .of("SendStreamingMessage")
        .iter()
        .map(|it| it.json["params"].clone())
        .collect();
    let message = |run: &str| json!({"role": "ROLE_USER", "messageId": format!("m-{run}-1"), "parts": [{"text": "go"}]});
    let mut second = message("r2");
    second["contextId"] = json!("C1");
    assert_eq!(sent, [json!({"message": message("r1")}), json!({"message": second})]);
    let kinds = ["GET /.well-known/agent-card.json", "SendStreamingMessage", "SendStreamingMessage"];
    assert_eq!(plain.agent.requests().kinds(), kinds);
}

#[tokio::test]
async fn the_conversation_survives_a_restart_and_may_change_its_name() {
    let other = json!({"taskId": "T2", "contextId": "C2", "status": {"state": "TASK_STATE_COMPLETED"}});
    let script = Script::new()
        .on("SendStreamingMessage", done())
        .on("SendStreamingMessage", stream([json!({"statusUpdate": other})]))
        .on("SendStreamingMessage", done());
    let mut plain = Plain::start(script).await;
    plain.say("t", "r1").await;
    plain.stack.stop().await;
    assert_eq!(plain.stack.state_file("t")["contextId"], "C1");
    plain.play(
        Script::new()
            .always(super::CARD, [Step::json(200, &super::at(&card("1.0", true), &plain.agent.url()))])
            .on("SendStreamingMessage", stream([json!({"statusUpdate": other})]))
            .on("SendStreamingMessage", done()),
    );
    plain.stack.launch().await;
    assert_eq!(outcome(&plain.say("t", "r2").await), "success");
    plain.say("t", "r3").await;
    let contexts: Vec<Value> = plain.messages().iter().map(|message| message["contextId"].clone()).collect();
    assert_eq!(contexts, [Value::Null, json!("C1"), json!("C2")]);
}

#[tokio::test]
async fn hints_go_to_the_agent_and_tools_of_the_client_are_never_called() {
    let plain = Plain::start(Script::new().on("SendStreamingMessage", done())).await;
    let props =
        json!({"a2a": {"acceptedOutputModes": ["text/plain"], "metadata": {"urn:x": {"n": 1.0}}}, "x": 7});
    let tools = json!([{"name": "t", "description": "d", "parameters": {}}]);
    let input = input("t", "r").with_user("go").with("forwardedProps", props).with("tools", tools);
    assert_eq!(outcome(&plain.stack.run(&input).await), "success");
    let sent = &plain.agent.requests().of("SendStreamingMessage")[0].json["params"];
    assert_eq!(sent["configuration"], json!({"acceptedOutputModes": ["text/plain"]}));
    assert_eq!(sent["message"]["metadata"], json!({"urn:x": {"n": 1.0}}));
}

#[tokio::test]
async fn artifacts_grow_side_by_side_and_what_is_no_text_is_told_as_it_came() {
    let chunk = |id: &str, text: &str, last: bool| {
        let mut update = artifact(id, &json!([{"text": text}]));
        update["artifactUpdate"]["append"] = json!(true);
        update["artifactUpdate"]["lastChunk"] = json!(last);
        update
    };
    let results = [
        json!({"task": task("WORKING")}),
        artifact("a", &json!([{"text": "a1 "}])),
        artifact("b", &json!([{"text": "b1 "}])),
        chunk("a", "a2", true),
        chunk("b", "b2", false),
        artifact("a", &json!([{"text": "another a"}])),
        artifact("d", &json!([{"data": {"n": 1.0}}, {"text": "beside it"}])),
        artifact(
            "big",
            &json!([{"raw": "A".repeat(300_000), "mediaType": "image/png", "filename": "big.png"}]),
        ),
        status("COMPLETED", None),
    ];
    let plain = Plain::start(Script::new().on("SendStreamingMessage", stream(results))).await;
    let run = plain.say("t", "r").await;
    assert_eq!(texts(&run), ["a1 a2", "b1 b2", "another a", "beside it"]);
    let artifacts = custom(&run, "a2a.artifact.v1");
    let parts = json!([{"data": {"n": 1.0}}, {"text": "beside it"}]);
    assert_eq!(
        artifacts[0],
        &json!({"schemaVersion": 1, "artifactId": "d", "artifact": {"artifactId": "d", "parts": parts}})
    );
    let left_out = json!([{"mediaType": "image/png", "filename": "big.png", "omittedBytes": 300_080}]);
    assert_eq!((&artifacts[1]["truncated"], &artifacts[1]["artifact"]["parts"]), (&json!(true), &left_out));
}

#[tokio::test]
async fn an_agent_without_tasks_answers_with_a_message() {
    let message = json!({"messageId": "m", "role": "ROLE_AGENT", "contextId": "C9",
        "parts": [{"text": "Forty-two."}, {"data": {"n": 42}}]});
    let script = Script::new().times(2, "SendStreamingMessage", stream([json!({"message": message})]));
    let plain = Plain::start(script).await;
    let run = plain.say("t", "r1").await;
    assert_eq!((outcome(&run), texts(&run)), ("success", vec!["Forty-two.".to_owned()]));
    let data = json!({"schemaVersion": 1, "messageId": "m", "parts": [{"data": {"n": 42}}]});
    assert_eq!(custom(&run, "a2a.message.v1"), [&data]);
    assert_eq!(custom(&run, "a2a.task.v1"), Vec::<&Value>::new(), "there is no task to cancel");
    plain.say("t", "r2").await;
    assert_eq!(plain.messages()[1]["contextId"], "C9");
}

#[tokio::test]
async fn a_cut_stream_is_taken_up_where_it_broke() {
    let mut half = task("WORKING");
    half["status"]["message"] = says("m1", "Looking");
    half["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "one "}, {"text": "two "}]}]);
    let mut more = artifact("a", &json!([{"text": "three"}]));
    more["artifactUpdate"]["append"] = json!(true);
    let cut =
        stream([status("WORKING", Some(says("m1", "Looking"))), artifact("a", &json!([{"text": "one "}]))]);
    let script = Script::new()
        .on("SendStreamingMessage", [cut, vec![Step::Rst]].concat())
        .on("GetTask", [Step::Reply(half.clone())])
        .on("SubscribeToTask", stream([json!({"task": half}), more, status("COMPLETED", None)]));
    let plain = Plain::start(script).await;
    let run = plain.say("t", "r").await;
    assert_eq!(outcome(&run), "success", "{}", plain.stack.log());
    assert_eq!(texts(&run), ["Looking", "one two three"]);
}

#[tokio::test]
async fn a_task_that_nobody_may_subscribe_to_is_looked_at_until_it_ends() {
    let mut whole = task("COMPLETED");
    whole["status"]["message"] = says("m2", "Done.");
    let script = Script::new()
        .on("SendStreamingMessage", [stream([json!({"task": task("WORKING")})]), vec![Step::Fin]].concat())
        .times(3, "GetTask", [Step::Reply(task("WORKING"))])
        .on("SubscribeToTask", [Step::error(-32004, "not supported")])
        .on("GetTask", [Step::Reply(whole)]);
    let plain = Plain::start(script).await;
    let run = plain.say("t", "r").await;
    assert_eq!((outcome(&run), texts(&run)), ("success", vec!["Done.".to_owned()]));
}

#[tokio::test]
async fn the_ids_of_a_run_are_told_once() {
    let plain = Plain::start(Script::new().on("SendStreamingMessage", done())).await;
    let run = plain.say("t", "r").await;
    let mut told = ids(&run).clone();
    assert!(told.as_object_mut().unwrap().remove("executionId").is_some_and(|id| id.is_string()));
    assert_eq!(
        told,
        json!({"schemaVersion": 1, "threadId": "t", "runId": "r", "taskId": "T1", "contextId": "C1"})
    );
    assert_eq!(custom(&run, "a2a.task.v1").len(), 1);
    assert_eq!(run.find("CUSTOM").unwrap()["name"], "a2a.task.v1", "nothing of another profile");
}
