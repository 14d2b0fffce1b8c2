//! The cancel extension (S10).

use std::time::Duration;

use agui_testkit::client::EventStream;
use agui_testkit::client::input::decision;
use agui_testkit::faulty::{Script, Step, ids};
use agui_testkit::wire::{State, tool};
use http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::stack::{Stack, demo, error_code, execution_id, interrupt_id, last, outcome, refusal, verify};
use crate::upstream::{CANCEL, GET, Rig, SEND, asks, found, permission, received_and_done, task, update};

/// A run whose session is announced, with its execution.
async fn running(stack: &Stack, thread: &str, run: &str, prompt: &str) -> (EventStream, String) {
    let mut events = stack.post(&stack.input(thread, run).with_user(prompt)).await.events();
    let session = events.read_until(|event| event.kind() == "CUSTOM").await.expect("a session");
    (events, session.json["value"]["executionId"].as_str().unwrap().to_owned())
}

/// The rest of a stream that has to end with `CANCELLED`.
async fn cancelled(mut events: EventStream) {
    while events.next().await.is_some() {}
    let recording = events.abort();
    verify(&recording);
    assert_eq!(error_code(&recording), "CANCELLED");
}

fn answered(status: &str) -> impl Fn(&(u16, Value)) -> bool {
    move |(code, body)| *code == 200 && body["status"] == status
}

#[tokio::test]
async fn s10_1_cancelling_a_run_in_the_middle_of_its_text_ends_the_run_and_the_task() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let (events, execution) = running(&stack, "t", "r1", "hold").await;
    let reply = stack.cancel(&execution, "t", "inv-t").await;
    assert_eq!(reply, (200, json!({"executionId": execution, "status": "cancelled"})));
    cancelled(events).await;
    assert_eq!((kernel.running_tasks(), kernel.requests().count(CANCEL)), (0, 1));

    let again = stack.cancel(&execution, "t", "inv-t").await;
    assert_eq!(again, (200, json!({"executionId": execution, "status": "already_terminal"})));
    assert_eq!(outcome(&stack.say("t", "r2", "chat").await), "success");
    assert_eq!(kernel.requests().count(CANCEL), 1);
}

#[tokio::test]
async fn c16_two_cancels_at_once_are_both_answered_by_one_call() {
    let script = Script::new()
        .on(SEND, Step::turn([Step::text("Hi"), Step::Stall]))
        .on(CANCEL, [Step::Await("both".into()), Step::Reply(task(State::Canceled, json!({})))]);
    let rig = Rig::start(script).await;
    let (events, execution) = running(&rig.stack, "t", "r1", "go").await;
    let cancel = || rig.stack.cancel(&execution, "t", "inv-t");
    let release = async {
        rig.kernel.requests().wait_for(CANCEL, 1).await.unwrap();
        sleep(Duration::from_millis(20)).await;
        rig.kernel.release("both");
    };
    let (first, second, ()) = tokio::join!(cancel(), cancel(), release);
    assert!(answered("cancelled")(&first) && answered("cancelled")(&second), "{first:?} {second:?}");
    cancelled(events).await;
    assert_eq!(rig.count(CANCEL), 1);
}

#[tokio::test]
async fn weakness_4_a_cancel_before_the_first_update_waits_for_the_task_and_cancels_it() {
    let script = Script::new().on(
        SEND,
        [
            vec![Step::Await("head".into()), Step::sse(), Step::Await("task".into())],
            Step::turn([Step::Stall])[1..].to_vec(),
        ]
        .concat(),
    );
    let rig = Rig::start(script).await;
    let mut events = rig.stack.post(&rig.input("t", "r1").with_user("go")).await.events();
    events.read_until(|event| event.kind() == "RUN_STARTED").await.unwrap();
    rig.kernel.requests().wait_for(SEND, 1).await.unwrap();
    let execution = rig.stack.state_file("t")["execution"]["executionId"].as_str().unwrap().to_owned();

    let release = async {
        sleep(Duration::from_millis(50)).await;
        rig.kernel.release("head");
        sleep(Duration::from_millis(50)).await;
        assert_eq!(rig.count(CANCEL), 0, "nobody knows the task yet");
        rig.kernel.release("task");
    };
    let (reply, ()) = tokio::join!(rig.stack.cancel(&execution, "t", "inv-t"), release);
    assert!(answered("cancelled")(&reply), "{reply:?}");
    cancelled(events).await;
    assert_eq!(rig.count(CANCEL), 1);
    let sent = rig.kernel.requests().of(CANCEL);
    assert_eq!(sent[0].json["params"]["id"], "faulty-task");
}

#[tokio::test]
async fn s10_2_cancelling_during_a_tool_closes_the_call_and_cancelling_a_question_takes_it_away() {
    let started = json!({"status": "started", "toolUseId": "call-1", "name": "bash"});
    let script = Script::new()
        .on(SEND, Step::turn([Step::Result(tool(&ids(), &started)), Step::Stall]))
        .on(SEND, asks(&permission("p1", "call-1", "x")));
    let rig = Rig::start(script).await;
    let (mut events, execution) = running(&rig.stack, "t", "r1", "go").await;
    events.read_until(|event| event.kind() == "TOOL_CALL_START").await.unwrap();
    assert!(answered("cancelled")(&rig.stack.cancel(&execution, "t", "inv-t").await));
    while events.next().await.is_some() {}
    let recording = events.abort();
    verify(&recording);
    let kinds = recording.kinds();
    assert_eq!(kinds[kinds.len() - 2..], ["TOOL_CALL_END", "RUN_ERROR"]);

    let asked = rig.say("u", "r1").await;
    let (id, execution) = (interrupt_id(&asked), execution_id(&asked));
    assert!(answered("cancelled")(&rig.stack.cancel(&execution, "u", "inv-u").await));
    let resume = rig.stack.run(&rig.input("u", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(error_code(&resume), "EXECUTION_LOST");
    assert_eq!(rig.stack.state_file("u")["execution"]["pending"], json!({}));
    assert_eq!((rig.count(CANCEL), rig.count(SEND)), (2, 2));
}

#[tokio::test]
async fn weakness_8_a_task_that_ended_before_is_not_called_cancelled() {
    let not_cancelable = || Step::error(-32002, "Task cannot be canceled");
    let done = vec![
        Step::text("Hi"),
        Step::AwaitRequests { kind: CANCEL.into(), count: 1 },
        update(State::Completed, json!({})),
    ];
    let script = Script::new()
        .on(SEND, Step::turn(done))
        .on(SEND, asks(&permission("p1", "call-1", "x")))
        .always(CANCEL, [not_cancelable()]);
    let rig = Rig::start(script).await;
    let (events, execution) = running(&rig.stack, "t", "r1", "go").await;
    assert!(answered("already_terminal")(&rig.stack.cancel(&execution, "t", "inv-t").await));
    let recording = events.collect().await;
    assert_eq!(outcome(&recording), "success", "the run keeps its own end");

    let asked = rig.say("u", "r1").await;
    assert!(answered("already_terminal")(&rig.stack.cancel(&execution_id(&asked), "u", "inv-u").await));
    assert_eq!(rig.stack.state_file("u")["execution"]["pending"], json!({}));
}

#[tokio::test]
async fn c16_a_late_cancel_does_not_touch_what_came_after() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let first = execution_id(&stack.say("t", "r1", "chat").await);
    let (events, second) = running(&stack, "t", "r2", "hold").await;
    assert_ne!(first, second);
    for _ in 0..2 {
        assert!(answered("already_terminal")(&stack.cancel(&first, "t", "inv-t").await));
    }
    kernel.release_holds();
    assert_eq!(outcome(&events.collect().await), "success");
    assert_eq!(kernel.requests().count(CANCEL), 0);
    for number in 3..10 {
        stack.say("t", &format!("r{number}"), "chat").await;
    }
    assert!(answered("already_terminal")(&stack.cancel(&first, "t", "inv-t").await), "long ago");
}

#[tokio::test]
async fn s10_1_wrong_ids_of_any_kind_are_not_found() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let (events, execution) = running(&stack, "t", "r1", "hold").await;
    let asked = stack.say("parked", "r1", "write").await;
    let parked = execution_id(&asked);
    let cases = [
        ("other", "t", "inv-t"),
        (&execution, "u", "inv-t"),
        (&execution, "parked", "inv-parked"),
        (&execution, "t", "inv-u"),
        (&parked, "parked", "inv-t"),
        (&parked, "t", "inv-parked"),
    ];
    for (execution, thread, invocation) in cases {
        let (status, body) = stack.cancel(execution, thread, invocation).await;
        assert_eq!(
            (status, &body["error"]["code"]),
            (404, &json!("EXECUTION_NOT_FOUND")),
            "{thread} {invocation}"
        );
    }
    let path = format!("/extensions/iac-code/v1/executions/{execution}/cancel");
    let bad = ["", "[]", "{}", r#"{"threadId":"t"}"#, r#"{"threadId":"t","rosInvocationId":7}"#];
    for body in bad {
        let response =
            stack.client.send(Method::POST, &path, Some(body.as_bytes().to_vec().into())).await.unwrap();
        assert_eq!(refusal(response).await.0, 400, "{body}");
    }
    assert_eq!(kernel.requests().count(CANCEL), 0);
    kernel.release_holds();
    assert_eq!(outcome(&events.collect().await), "success");
}

#[tokio::test]
async fn weakness_7_a_kernel_that_cannot_be_told_is_a_503_and_a_later_cancel_works() {
    let script = Script::new()
        .on(SEND, Step::turn([Step::text("Hi"), Step::Stall]))
        .on(SEND, asks(&permission("p1", "call-1", "x")))
        .on(CANCEL, [Step::json(500, &json!({}))])
        .on(CANCEL, [Step::Fin])
        .on(CANCEL, [Step::Stall]);
    let rig = Rig::start_with(script, &["--cancel-timeout", "0.2"]).await;
    let (events, execution) = running(&rig.stack, "t", "r1", "go").await;
    let (status, body) = rig.stack.cancel(&execution, "t", "inv-t").await;
    assert_eq!((status, &body["error"]["code"]), (503, &json!("A2A_UNAVAILABLE")));
    cancelled(events).await;
    let (status, _) = rig.stack.cancel(&execution, "t", "inv-t").await;
    assert_eq!(status, 503);
    let (status, _) = rig.stack.cancel(&execution, "t", "inv-t").await;
    assert_eq!(status, 503, "no answer in time");
    assert!(answered("cancelled")(&rig.stack.cancel(&execution, "t", "inv-t").await));
    assert!(answered("already_terminal")(&rig.stack.cancel(&execution, "t", "inv-t").await));
    assert_eq!(rig.count(CANCEL), 4);
    assert_eq!(last(&rig.say("t", "r2").await)["outcome"]["type"], "interrupt");
}

#[tokio::test]
async fn c20_a_kernel_that_never_names_its_task_does_not_hold_a_cancel_for_ever() {
    let script = Script::new().on(SEND, [Step::sse(), Step::Stall]).on(SEND, [Step::Stall]);
    let rig = Rig::start_with(script, &["--task-id-timeout", "0.2"]).await;
    for thread in ["t", "u"] {
        let mut events = rig.stack.post(&rig.input(thread, "r1").with_user("go")).await.events();
        events.read_until(|event| event.kind() == "RUN_STARTED").await.unwrap();
        let execution = rig.stack.state_file(thread)["execution"]["executionId"].as_str().unwrap().to_owned();
        let (status, _) = rig.stack.cancel(&execution, thread, &format!("inv-{thread}")).await;
        assert_eq!(status, 503);
        cancelled(events).await;
    }
    rig.kernel.connections().wait_open(0).await.unwrap();
}

#[tokio::test]
async fn s10_2_a_cancel_in_the_middle_of_a_resume_ends_it_wherever_it_is() {
    let ask = || asks(&permission("p1", "call-1", "x"));
    let look = || found(State::InputRequired, json!({"input": permission("p1", "call-1", "x")}));
    let stages: [(&str, Script); 4] = [
        ("restoring", Script::new().on(SEND, ask()).on(crate::upstream::RESTORE, [Step::Stall])),
        ("looking", Script::new().on(SEND, ask()).on(GET, [Step::Stall])),
        ("answering", Script::new().on(SEND, ask()).on(GET, [look()]).on(SEND, [Step::Stall])),
        (
            "waiting for the receipt",
            Script::new().on(SEND, ask()).on(GET, [look()]).on(SEND, [Step::sse(), Step::Stall]),
        ),
    ];
    let rig = Rig::start(Script::new()).await;
    for (stage, script) in stages {
        let before = (rig.count(CANCEL), rig.kernel.requests().all().len());
        rig.play(script);
        let asked = rig.say(stage, "r1").await;
        let id = interrupt_id(&asked);
        let resume = rig.input(stage, "r2").with_answer(decision(&id, "allow_once"));
        let mut events = rig.stack.post(&resume).await.events();
        events.read_until(|event| event.kind() == "RUN_STARTED").await.unwrap();
        // The call that stalls has arrived.
        while rig.kernel.connections().open() == 0 || rig.kernel.requests().all().len() < before.1 + 2 {
            sleep(Duration::from_millis(2)).await;
        }
        let reply = rig.stack.cancel(&execution_id(&asked), stage, &format!("inv-{stage}")).await;
        assert!(answered("cancelled")(&reply), "{stage}: {reply:?}");
        cancelled(events).await;
        assert_eq!(rig.count(CANCEL) - before.0, 1, "{stage}");
        rig.kernel.connections().wait_open(0).await.unwrap();
        rig.play(Script::new().on(SEND, received_and_done("permission", "p1")));
        assert_eq!(outcome(&rig.say(stage, "r3").await), "success");
    }
}

#[tokio::test]
async fn s10_1_a_task_is_stopped_although_that_cannot_be_saved() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let asked = stack.say("t", "r1", "write").await;
    let run_file = stack.state_dir().join("state/threads/.t.json.run");
    std::fs::remove_file(&run_file).unwrap();
    std::fs::create_dir(&run_file).unwrap();
    let (status, body) = stack.cancel(&execution_id(&asked), "t", "inv-t").await;
    assert_eq!((status, &body["error"]["code"]), (503, &json!("STATE_UNAVAILABLE")));
    assert_eq!((kernel.running_tasks(), kernel.requests().count(CANCEL)), (0, 1));
    std::fs::remove_dir(&run_file).unwrap();
    let reply = stack.cancel(&execution_id(&asked), "t", "inv-t").await;
    assert!(answered("already_terminal")(&reply), "{reply:?}");
}
