//! Questions that are lost or given up.

use agui_testkit::client::input::{cancelled, decision};
use agui_testkit::demo::{DemoConfig, DemoKernel};
use agui_testkit::faulty::{Script, Step};
use agui_testkit::wire::State;
use serde_json::{Value, json};

use super::waits_for;
use crate::stack::{Stack, demo, error_code, interrupt_id, outcome};
use crate::upstream::{
    CANCEL, GET, RESTORE, Rig, SEND, asks, found, permission, question, received_and_done,
};

#[tokio::test]
async fn c07_a_question_whose_task_is_gone_is_lost_once_and_the_thread_goes_on() {
    let p = permission("p1", "call-1", "x");
    let gone = || Step::error(-32001, "Task not found");
    let restore =
        |status: u16, body: &Value| Script::new().on(SEND, asks(&p)).on(RESTORE, [Step::json(status, body)]);
    let look = || found(State::InputRequired, json!({"input": p}));
    let cases: [(&str, Script, &str, bool); 6] = [
        ("the task is gone", Script::new().on(SEND, asks(&p)).on(GET, [gone()]), "EXECUTION_LOST", true),
        (
            "it went meanwhile",
            Script::new().on(SEND, asks(&p)).on(GET, [look()]).on(SEND, [gone()]),
            "EXECUTION_LOST",
            true,
        ),
        ("the session is gone", restore(404, &json!({"status": "not_found"})), "EXECUTION_LOST", true),
        (
            "it was canceled",
            Script::new().on(SEND, asks(&p)).on(GET, [found(State::Canceled, json!({}))]),
            "CANCELLED",
            true,
        ),
        (
            "a backup runs",
            restore(409, &json!({"error": {"code": "SESSION_BACKUP_NOT_READY", "retryable": true}})),
            "SESSION_BACKUP_NOT_READY",
            false,
        ),
        ("restoring fails", restore(503, &json!({"error": "x"})), "A2A_UNAVAILABLE", false),
    ];
    let rig = Rig::start(Script::new()).await;
    for (at, (what, script, code, lost)) in cases.into_iter().enumerate() {
        let thread = format!("t{at}");
        rig.play(script);
        let id = interrupt_id(&rig.say(&thread, "r1").await);
        let answer = |run: &str| rig.input(&thread, run).with_answer(decision(&id, "allow_once"));
        assert_eq!(error_code(&rig.stack.run(&answer("r2")).await), code, "{what}");
        if lost {
            rig.play(Script::new().on(SEND, Step::good_turn("fine")));
            assert_eq!(error_code(&rig.stack.run(&answer("r3")).await), "EXECUTION_LOST", "{what}");
            assert_eq!(outcome(&rig.say(&thread, "r4").await), "success", "{what}");
        } else {
            rig.play(Script::new().on(GET, [look()]).on(SEND, received_and_done("permission", "p1")));
            assert_eq!(outcome(&rig.stack.run(&answer("r3")).await), "success", "{what}");
        }
    }
    assert_eq!(rig.count(CANCEL), 0);
}

#[tokio::test]
async fn a_session_that_is_gone_is_replaced_by_the_next_message() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("t", "r1", "write").await);
    let addr = kernel.addr();
    kernel.stop().await;
    let kernel = DemoKernel::start(DemoConfig::instant().with_addr(addr)).await.unwrap();
    let lost = stack.run(&stack.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(error_code(&lost), "EXECUTION_LOST");
    assert_eq!(outcome(&stack.say("t", "r3", "chat").await), "success");
    assert_eq!(kernel.executed_tools(), 0);
}

#[tokio::test]
async fn s8_3_giving_a_question_up_ends_the_task_and_is_told_as_the_client_understands_it() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    for (thread, speaks_1_0) in [("new", true), ("old", false)] {
        let id = interrupt_id(&stack.run(&stack.input(thread, "r1").with_user("question")).await);
        let mut resume = stack.input(thread, "r2").with_answer(cancelled(&id));
        if speaks_1_0 {
            resume = resume.with("protocolVersion", json!("1.0"));
        }
        let given_up = stack.run(&resume).await;
        if speaks_1_0 {
            assert_eq!(outcome(&given_up), "cancelled");
        } else {
            assert_eq!(error_code(&given_up), "CANCELLED");
        }
        assert_eq!(kernel.running_tasks(), 0);
        assert_eq!(outcome(&stack.say(thread, "r3", "chat").await), "success");
    }
    assert_eq!(kernel.requests().count(CANCEL), 2);
}

#[tokio::test]
async fn s8_3_giving_up_one_question_allows_nothing_else_on_its_task() {
    let (p, q) = (permission("p1", "call-1", "x"), question("q1", "Which zone?"));
    let script = Script::new()
        .on(SEND, waits_for(&[&q], &[&p]))
        .on(GET, [found(State::InputRequired, json!({"input": q, "pendingPermissions": [p]}))]);
    let rig = Rig::start(script).await;
    rig.say("t", "r1").await;
    let resume = rig.input("t", "r2").with_answer(decision("p1", "allow_once")).with_answer(cancelled("q1"));
    assert_eq!(error_code(&rig.stack.run(&resume).await), "CANCELLED");
    assert_eq!((rig.count(CANCEL), rig.answers().len()), (1, 0));
}
