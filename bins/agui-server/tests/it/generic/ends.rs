//! How runs end that do not end well.

use agui_testkit::client::StreamEnd;
use agui_testkit::faulty::{Script, Step};
use serde_json::{Value, json};

use super::{CARD, Plain, at, card, done, input, says, status, stream, task, texts};
use crate::stack::{Stack, error_code, faulty, last, outcome};

#[tokio::test]
async fn a_failed_and_a_refused_task_say_why_in_the_agents_words_and_what_in_ours() {
    let cases = [("FAILED", "The A2A execution failed."), ("REJECTED", "service refused the request.")];
    for (state, ours) in cases {
        let ends =
            stream([json!({"task": task("WORKING")}), status(state, Some(says("m1", "I may not do that.")))]);
        let plain = Plain::start(Script::new().on("SendStreamingMessage", ends)).await;
        let run = plain.say("t", "r").await;
        assert_eq!(
            (error_code(&run), texts(&run)),
            ("A2A_EXECUTION_FAILED", vec!["I may not do that.".to_owned()])
        );
        let message = last(&run)["message"].as_str().unwrap();
        assert!(message.ends_with(ours) && !message.contains("I may not"), "{message}");
    }
}

#[tokio::test]
async fn errors_of_the_protocol_keep_their_words_to_themselves() {
    let cases = [
        (vec![Step::error(-32602, "no such key sk-1")], "A2A_EXECUTION_FAILED"),
        (
            vec![Step::sse(), Step::ErrorEvent { code: -32603, message: "sk-1".to_owned() }],
            "A2A_EXECUTION_FAILED",
        ),
        (vec![Step::json(500, &json!({"error": "sk-1"}))], "A2A_UNAVAILABLE"),
    ];
    for (steps, code) in cases {
        let plain = Plain::start(Script::new().on("SendStreamingMessage", steps)).await;
        let run = plain.say("t", "r").await;
        assert_eq!(error_code(&run), code);
        assert!(!last(&run).to_string().contains("sk-1") && !plain.stack.log().contains("sk-1"));
    }
}

#[tokio::test]
async fn a_file_that_the_agent_does_not_take_is_named_as_the_reason() {
    let refusal = Script::new().on("SendStreamingMessage", [Step::error(-32005, "sk-1")]);
    let plain = Plain::start(refusal).await;
    let run = plain.say("t", "r").await;
    assert_eq!(error_code(&run), "A2A_EXECUTION_FAILED");
    assert!(last(&run)["message"].as_str().unwrap().ends_with("Reason: CONTENT_TYPE_NOT_SUPPORTED"));
}

#[tokio::test]
async fn a_run_is_cancelled_by_the_ids_that_it_told() {
    let script = Script::new()
        .on("SendStreamingMessage", [stream([json!({"task": task("WORKING")})]), vec![Step::Stall]].concat())
        .on("CancelTask", [Step::Reply(task("CANCELED"))])
        .on("SendStreamingMessage", done());
    let plain = Plain::start(script).await;
    let mut events = plain.stack.post(&input("t", "r1").with_user("go")).await.events();
    while events.so_far().find("CUSTOM").is_none() {
        events.next().await.expect("the ids are told");
    }
    let told = events.so_far().clone();
    assert_eq!(plain.cancel(&told, "other").await.0, 404);
    let (status, reply) = plain.cancel(&told, "t").await;
    assert_eq!((status, &reply["status"]), (200, &json!("cancelled")));
    assert_eq!(error_code(&events.collect().await), "CANCELLED");
    assert_eq!(outcome(&plain.say("t", "r2").await), "success");
    assert_eq!(plain.agent.requests().of("CancelTask")[0].json["params"]["id"], "T1");
}

#[tokio::test]
async fn an_agent_that_does_not_cancel_does_not_hold_its_thread_for_ever() {
    for refusal in [Step::error(-32004, "this agent does not cancel"), Step::json(404, &json!({}))] {
        let hangs = [stream([json!({"task": task("WORKING")})]), vec![Step::Stall]].concat();
        let script = Script::new()
            .on("SendStreamingMessage", hangs)
            .always("CancelTask", [refusal])
            .on("SendStreamingMessage", done());
        let plain = Plain::start(script).await;
        let mut events = plain.stack.post(&input("t", "r1").with_user("go")).await.events();
        while events.so_far().find("CUSTOM").is_none() {
            events.next().await.expect("the ids are told");
        }
        let (status, reply) = plain.cancel(events.so_far(), "t").await;
        assert_eq!(
            (status, &reply["error"]["code"]),
            (502, &json!("A2A_EXECUTION_FAILED")),
            "the task goes on"
        );
        assert_eq!(error_code(&events.collect().await), "CANCELLED", "the run does not");
        assert_eq!(outcome(&plain.say("t", "r2").await), "success");
    }
}

#[tokio::test]
async fn a_task_that_the_agent_has_forgotten_is_lost() {
    let script = Script::new()
        .on("SendStreamingMessage", super::asks("q1", "Which city?"))
        .on("GetTask", [Step::error(-32001, "Task not found")])
        .on("SendStreamingMessage", done());
    let plain = Plain::start(script).await;
    let id = crate::stack::interrupt_id(&plain.say("t", "r1").await);
    let answer = agui_testkit::client::input::resolved(&id, &json!("Oslo"));
    assert_eq!(error_code(&plain.stack.run(&input("t", "r2").with_answer(answer)).await), "EXECUTION_LOST");
    assert_eq!(outcome(&plain.say("t", "r3").await), "success");
}

/// A server that dies at the given write of its state, which is that of a task's id, and then comes back.
async fn orphaned(write: u32, before: &[&str], script: Script) -> Plain {
    let agent = faulty(Script::new()).await;
    agent.set_script(script.always(CARD, [Step::json(200, &at(&card("1.0", true), &agent.url()))]));
    let failpoint = format!("store.before_temp:kill@{write}");
    let flags = ["--profile", "generic"];
    let stack = Stack::start_with(&agent.url(), &flags, &[("AGUI_FAILPOINT", &failpoint)]).await;
    let mut plain = Plain { agent, stack };
    for run in before {
        assert_eq!(outcome(&plain.say("t", run).await), "success");
    }
    let body = input("t", "dies").with_user("go");
    if let Ok(response) = plain.stack.client.post("/", &body.to_json()).await {
        let end = response.events().collect().await.end;
        assert!(!matches!(end, StreamEnd::Complete), "the server dies");
    }
    plain.stack.kill();
    plain.stack.reconfigure(&flags, &[]);
    plain.stack.launch().await;
    plain
}

/// The task with this id, as it began with a message of the user.
fn begun(id: &str, message: &str) -> Value {
    let said = json!({"messageId": message, "role": "ROLE_USER", "parts": [{"text": "go"}]});
    json!({"id": id, "contextId": "C1", "status": {"state": "TASK_STATE_WORKING"}, "history": [said]})
}

/// What one member of the parameters was in each call of a method.
fn asked_with(plain: &Plain, method: &str, member: &str) -> Vec<Value> {
    let requests = plain.agent.requests().of(method);
    requests.iter().map(|request| request.json["params"][member].clone()).collect()
}

#[tokio::test]
async fn a_task_whose_id_was_not_saved_is_looked_for_in_a_conversation_that_the_agent_has_named_only() {
    let hangs = [stream([json!({"task": task("WORKING")})]), vec![Step::Stall]].concat();
    let of_others = json!({"id": "T2", "contextId": "C2", "status": {"state": "TASK_STATE_WORKING"}});
    let listed = json!({"tasks": [task("WORKING"), of_others]});
    let cases = [(2, &[][..], vec![]), (5, &["r1"][..], vec!["C1"])];
    for (write, before, asked) in cases {
        let mut script = Script::new().always("ListTasks", [Step::Reply(listed.clone())]);
        for _ in before {
            script = script.on("SendStreamingMessage", done());
        }
        let script = script
            .on("SendStreamingMessage", hangs.clone())
            .on("GetTask", [Step::Reply(begun("T1", "m-dies-1"))])
            .always("CancelTask", [Step::Reply(task("CANCELED"))])
            .on("SendStreamingMessage", done());
        let plain = orphaned(write, before, script).await;
        assert_eq!(outcome(&plain.say("t", "next").await), "success");
        assert_eq!(asked_with(&plain, "ListTasks", "contextId"), asked);
        let cancelled = asked_with(&plain, "CancelTask", "id");
        assert_eq!(cancelled, if asked.is_empty() { vec![] } else { vec!["T1"] }, "those of others go on");
    }
}

#[tokio::test]
async fn a_conversation_that_threads_share_costs_no_other_thread_its_task() {
    let hangs = [stream([json!({"task": task("WORKING")})]), vec![Step::Stall]].concat();
    let [others, ours] = [begun("T7", "m-elsewhere-1"), begun("T1", "m-dies-1")];
    // The agent's answer to a message of ours does not begin with it: the task is another thread's.
    let joined = json!({"id": "T8", "contextId": "C1", "status": {"state": "TASK_STATE_WORKING"},
        "history": [others["history"][0], ours["history"][0]]});
    let silent = json!({"id": "T9", "contextId": "C1", "status": {"state": "TASK_STATE_WORKING"}});
    let cases = [(vec![&others, &silent, &joined, &ours], vec!["T1"]), (vec![&others, &silent], vec![])];
    for (tasks, cancelled) in cases {
        let mut script = Script::new()
            .always("ListTasks", [Step::Reply(json!({"tasks": tasks}))])
            .on("SendStreamingMessage", done())
            .on("SendStreamingMessage", hangs.clone())
            .always("CancelTask", [Step::Reply(task("CANCELED"))])
            .on("SendStreamingMessage", done());
        for task in &tasks {
            script = script.on("GetTask", [Step::Reply((*task).clone())]);
        }
        let plain = orphaned(5, &["r1"], script).await;
        assert_eq!(outcome(&plain.say("t", "next").await), "success");
        assert_eq!(asked_with(&plain, "CancelTask", "id"), cancelled);
        let is_told = plain.stack.log().contains("unfinished tasks of a conversation are left alone");
        assert_eq!(is_told, cancelled.is_empty());
    }
}
