//! Tasks that wait for the user.

use agui_testkit::client::input::{cancelled, resolved};
use agui_testkit::faulty::{Script, Step};
use serde_json::{Value, json};

use super::{CARD, Plain, asks, at, card, done, input, says, status, stream, task, texts};
use crate::stack::{PATIENCE, error_code, interrupt_id, interrupts, last, outcome};

/// The task as it waits, for `GetTask`.
fn waiting(state: &str, message: Value) -> Value {
    let mut task = task(state);
    task["status"]["message"] = message;
    task
}

fn answered(text: &str) -> Vec<Step> {
    stream([status("WORKING", None), status("COMPLETED", Some(says("m9", text)))])
}

#[tokio::test]
async fn a_question_in_words_is_answered_in_words_by_a_message_to_its_task() {
    let script = Script::new()
        .on("SendStreamingMessage", asks("q1", "Which city?"))
        .on("GetTask", [Step::Reply(waiting("INPUT_REQUIRED", says("q1", "Which city?")))])
        .on("SendStreamingMessage", answered("Sunny."));
    let plain = Plain::start(script).await;
    let run = plain.say("t", "r1").await;
    let [interrupt] = &interrupts(&run)[..] else { panic!("one question") };
    let mut told = interrupt.clone();
    assert!(told.as_object_mut().unwrap().remove("expiresAt").is_some());
    assert_eq!(
        told,
        json!({
            "id": "input-T1-q1", "reason": "input_required", "message": "Which city?",
            "responseSchema": {"type": "string", "minLength": 1},
            "metadata": {"schemaVersion": 1, "kind": "input", "inputId": "input-T1-q1", "requestTaskId": "T1",
                "contextId": "C1", "required": true, "prompt": "Which city?"},
        })
    );
    let (_, code, _) = plain.stack.refused(&input("t", "r2").with_user("Oslo")).await;
    assert_eq!(code, "RESUME_REQUIRED");
    for (number, payload) in
        [json!({"freeText": "Oslo"}), json!(""), json!(7), Value::Null].iter().enumerate()
    {
        let wrong = input("t", &format!("w{number}")).with_answer(resolved("input-T1-q1", payload));
        assert_eq!(error_code(&plain.stack.run(&wrong).await), "RESUME_PAYLOAD_INVALID", "{payload}");
    }
    let answer = input("t", "r3").with_answer(resolved("input-T1-q1", &json!("Oslo")));
    let run = plain.stack.run(&answer).await;
    assert_eq!((outcome(&run), texts(&run)), ("success", vec!["Sunny.".to_owned()]));
    let sent = &plain.messages()[1];
    assert_eq!(
        (&sent["taskId"], &sent["contextId"], &sent["parts"], &sent["metadata"]),
        (&json!("T1"), &json!("C1"), &json!([{"text": "Oslo"}]), &Value::Null)
    );
    let again = input("t", "r4").with_answer(resolved("input-T1-q1", &json!("Oslo")));
    assert_eq!(error_code(&plain.stack.run(&again).await), "RESUME_ALREADY_APPLIED");
}

#[tokio::test]
async fn signing_in_is_asked_with_what_the_agent_gave_for_it() {
    let mut message = says("q1", "Sign in first.");
    message["parts"]
        .as_array_mut()
        .unwrap()
        .push(json!({"data": {"url": "https://login.example/", "code": "AB"}}));
    let script = Script::new()
        .on("SendStreamingMessage", stream([status("AUTH_REQUIRED", Some(message.clone()))]))
        .on("GetTask", [Step::Reply(waiting("AUTH_REQUIRED", message))])
        .on("SendStreamingMessage", answered("Welcome."));
    let plain = Plain::start(script).await;
    let run = plain.say("t", "r1").await;
    let interrupt = interrupts(&run)[0].clone();
    assert_eq!(
        (&interrupt["reason"], &interrupt["message"]),
        (&json!("a2a:auth_required"), &json!("Sign in first."))
    );
    let parts = json!([{"data": {"url": "https://login.example/", "code": "AB"}}]);
    assert_eq!((&interrupt["metadata"]["kind"], &interrupt["metadata"]["parts"]), (&json!("auth"), &parts));
    let answer = input("t", "r2").with_answer(resolved(interrupt["id"].as_str().unwrap(), &json!("done")));
    assert_eq!(outcome(&plain.stack.run(&answer).await), "success");
    assert_eq!(plain.messages()[1]["parts"], json!([{"text": "done"}]));
}

#[tokio::test]
async fn a_question_without_words_has_some_and_one_that_the_agent_repeats_is_another_one() {
    let ask = |at: &str| {
        let mut update = status("INPUT_REQUIRED", None);
        update["statusUpdate"]["status"]["timestamp"] = json!(at);
        update
    };
    let mut task = task("INPUT_REQUIRED");
    task["status"]["timestamp"] = json!("2026-01-01T00:00:00Z");
    let script = Script::new()
        .on("SendStreamingMessage", stream([ask("2026-01-01T00:00:00Z")]))
        .on("GetTask", [Step::Reply(task)])
        .on("SendStreamingMessage", stream([status("WORKING", None), ask("2026-01-01T00:00:01Z")]));
    let plain = Plain::start(script).await;
    let first = plain.say("t", "r1").await;
    assert_eq!(interrupts(&first)[0]["message"], "Input required");
    let (first, answer) = (interrupt_id(&first), json!("x"));
    let second =
        interrupt_id(&plain.stack.run(&input("t", "r2").with_answer(resolved(&first, &answer))).await);
    assert_ne!(first, second);
}

#[tokio::test]
async fn an_answer_outlives_a_restart_and_a_stale_task_does_not_ask_again() {
    let stale = waiting("INPUT_REQUIRED", says("q1", "Which city?"));
    let card_rule = |plain: &Plain| {
        Script::new().always(CARD, [Step::json(200, &at(&card("1.0", true), &plain.agent.url()))])
    };
    let mut plain = Plain::start(Script::new().on("SendStreamingMessage", asks("q1", "Which city?"))).await;
    let id = interrupt_id(&plain.say("t", "r1").await);
    plain.stack.kill();
    let mut ended = task("COMPLETED");
    ended["status"]["message"] = says("m2", "Sunny.");
    plain.play(
        card_rule(&plain)
            .on("GetTask", [Step::Reply(stale.clone())])
            // The reply shows the task as it was before the answer, and then nothing more.
            .on("SendStreamingMessage", [stream([json!({"task": stale.clone()})]), vec![Step::Fin]].concat())
            .on("GetTask", [Step::Reply(stale)])
            .on("SubscribeToTask", [Step::error(-32004, "no")])
            .always("GetTask", [Step::Reply(ended)]),
    );
    plain.stack.launch().await;
    let run = plain.stack.run(&input("t", "r2").with_answer(resolved(&id, &json!("Oslo")))).await;
    assert_eq!((outcome(&run), texts(&run)), ("success", vec!["Sunny.".to_owned()]), "{}", plain.stack.log());
}

#[tokio::test]
async fn an_answer_does_not_go_to_another_question() {
    let script = Script::new()
        .on("SendStreamingMessage", asks("q1", "Delete the draft?"))
        .on("GetTask", [Step::Reply(waiting("INPUT_REQUIRED", says("q2", "Delete everything?")))]);
    let plain = Plain::start(script).await;
    let id = interrupt_id(&plain.say("t", "r1").await);
    let run = plain.stack.run(&input("t", "r2").with_answer(resolved(&id, &json!("yes")))).await;
    assert_eq!(interrupts(&run)[0]["message"], "Delete everything?");
    assert_ne!(interrupt_id(&run), id);
    assert_eq!(plain.agent.requests().count("SendStreamingMessage"), 1, "no answer was sent");
}

#[tokio::test]
async fn a_question_is_given_up_with_its_task() {
    for protocol_version in [Some("1.0"), None] {
        let script = Script::new()
            .on("SendStreamingMessage", asks("q1", "Which city?"))
            .on("CancelTask", [Step::Reply(task("CANCELED"))])
            .on("SendStreamingMessage", done());
        let plain = Plain::start(script).await;
        let id = interrupt_id(&plain.say("t", "r1").await);
        let mut answer = input("t", "r2").with_answer(cancelled(&id));
        if let Some(version) = protocol_version {
            answer = answer.with("protocolVersion", json!(version));
        }
        let run = plain.stack.run(&answer).await;
        match protocol_version {
            Some(_) => assert_eq!(outcome(&run), "cancelled"),
            // What a client of 0.x does not know is not sent to it.
            None => assert_eq!((error_code(&run), &last(&run)["outcome"]), ("CANCELLED", &Value::Null)),
        }
        assert_eq!(outcome(&plain.say("t", "r3").await), "success");
    }
}

#[tokio::test]
async fn what_waits_is_listed() {
    let plain = Plain::start(Script::new().on("SendStreamingMessage", asks("q1", "Which city?"))).await;
    plain.say("t", "r1").await;
    let response = plain.stack.client.get("/extensions/agui/v1/interrupts").await.unwrap();
    let page = response.json().await.unwrap();
    let waiting = &page["interrupts"][0];
    assert_eq!((&waiting["threadId"], &waiting["kind"]), (&json!("t"), &json!("input")));
    assert_eq!(waiting["message"], "Which city?");
}

#[tokio::test]
async fn an_agent_that_notices_the_sign_in_itself_is_not_told_again() {
    let script = Script::new()
        .on("SendStreamingMessage", stream([status("AUTH_REQUIRED", Some(says("q1", "Sign in.")))]))
        .times(2, "GetTask", [Step::Reply(task("WORKING"))])
        .on(
            "SubscribeToTask",
            stream([json!({"task": task("WORKING")}), status("COMPLETED", Some(says("m2", "Welcome.")))]),
        );
    let plain = Plain::start(script).await;
    let id = interrupt_id(&plain.say("t", "r1").await);
    let run = plain.stack.run(&input("t", "r2").with_answer(resolved(&id, &json!("done")))).await;
    assert_eq!((outcome(&run), texts(&run)), ("success", vec!["Welcome.".to_owned()]));
    assert_eq!(plain.agent.requests().count("SendStreamingMessage"), 1);
}

#[tokio::test]
async fn a_sign_in_that_nobody_waits_for_is_cancelled_at_its_deadline_and_by_request() {
    for expires in [true, false] {
        let script = Script::new()
            .on("SendStreamingMessage", stream([status("AUTH_REQUIRED", Some(says("q1", "Sign in.")))]))
            .always("GetTask", [Step::Reply(waiting("AUTH_REQUIRED", says("q1", "Sign in.")))])
            .on("CancelTask", [Step::Reply(task("CANCELED"))])
            .on("SendStreamingMessage", done());
        let flags = if expires { &["--interrupt-ttl", "1"][..] } else { &[] };
        let plain = Plain::with_card(&card("1.0", true), script, flags).await;
        let run = plain.say("t", "r1").await;
        let id = interrupt_id(&run);
        if expires {
            lapse(&plain).await;
        } else {
            let (status, reply) = plain.cancel(&run, "t").await;
            assert_eq!((status, &reply["status"]), (200, &json!("cancelled")));
        }
        assert_eq!(plain.agent.requests().of("CancelTask")[0].json["params"]["id"], "T1");
        let answer = input("t", "r2").with_answer(resolved(&id, &json!("done")));
        let code = if expires { "EXECUTION_EXPIRED" } else { "EXECUTION_LOST" };
        assert_eq!(error_code(&plain.stack.run(&answer).await), code);
        assert_eq!(outcome(&plain.say("t", "r3").await), "success");
        assert_eq!(plain.agent.requests().count("CancelTask"), 1);
    }
}

/// Waits until the question of the thread is too old.
async fn lapse(plain: &Plain) {
    let lapsed = async {
        while plain.stack.state_file("t")["execution"]["pending"] != json!({}) {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, lapsed).await.expect("the question lapses");
}

#[tokio::test]
async fn a_task_that_works_again_at_its_deadline_goes_on_and_is_followed_by_whoever_answers() {
    // It works, or it asks something that nobody has seen.
    for now in [task("WORKING"), waiting("INPUT_REQUIRED", says("q2", "Which city?"))] {
        let script = Script::new()
            .on("SendStreamingMessage", stream([status("AUTH_REQUIRED", Some(says("q1", "Sign in.")))]))
            .always("GetTask", [Step::Reply(now.clone())])
            .on(
                "SubscribeToTask",
                stream([json!({"task": task("WORKING")}), status("COMPLETED", Some(says("m2", "Welcome.")))]),
            );
        let plain = Plain::with_card(&card("1.0", true), script, &["--interrupt-ttl", "1"]).await;
        let id = interrupt_id(&plain.say("t", "r1").await);
        plain.stack.wait_for_log(&["the task goes on without an answer"]).await;
        let (_, code, _) = plain.stack.refused(&input("t", "r2").with_user("hello?")).await;
        assert_eq!(code, "RESUME_REQUIRED");
        let run = plain.stack.run(&input("t", "r3").with_answer(resolved(&id, &json!("done")))).await;
        if now["status"]["state"] == "TASK_STATE_WORKING" {
            assert_eq!((outcome(&run), texts(&run)), ("success", vec!["Welcome.".to_owned()]));
        } else {
            assert_eq!(interrupts(&run)[0]["message"], "Which city?");
        }
        assert_eq!(plain.agent.requests().count("CancelTask"), 0);
    }
}

#[tokio::test]
async fn a_task_that_has_ended_by_its_deadline_is_not_cancelled() {
    for now in [Step::Reply(task("COMPLETED")), Step::error(-32001, "Task not found")] {
        let script = Script::new()
            .on("SendStreamingMessage", stream([status("AUTH_REQUIRED", Some(says("q1", "Sign in.")))]))
            .always("GetTask", [now])
            .on("SendStreamingMessage", done());
        let plain = Plain::with_card(&card("1.0", true), script, &["--interrupt-ttl", "1"]).await;
        let id = interrupt_id(&plain.say("t", "r1").await);
        lapse(&plain).await;
        let answer = input("t", "r2").with_answer(resolved(&id, &json!("done")));
        assert_eq!(error_code(&plain.stack.run(&answer).await), "EXECUTION_EXPIRED");
        assert_eq!(outcome(&plain.say("t", "r3").await), "success");
        assert_eq!(plain.agent.requests().count("CancelTask"), 0);
    }
}
