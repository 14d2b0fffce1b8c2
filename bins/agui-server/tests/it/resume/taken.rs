//! Whether the kernel took an answer, and as what.

use std::time::Duration;

use agui_testkit::client::input::decision;
use agui_testkit::demo::{DemoConfig, DemoKernel};
use agui_testkit::faulty::{Script, Step};
use agui_testkit::wire::State;
use serde_json::json;
use tokio::time::sleep;

use super::{named, waits_for};
use crate::stack::{Stack, demo, error_code, interrupt_id, interrupts, outcome};
use crate::upstream::{
    CANCEL, GET, Rig, SEND, UNARY, acknowledged, asks, found, permission, received, received_and_done, update,
};

#[tokio::test]
async fn weakness_30_an_identity_error_keeps_the_permission_and_says_why() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("t", "r1", "identity").await);
    let again = stack.run(&stack.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(interrupt_id(&again), id, "the same question is open");
    let message = interrupts(&again)[0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("identity") && message.contains("Allow once?"), "{message}");
    assert_eq!(kernel.executed_tools(), 0);
    let done = stack.run(&stack.input("t", "r3").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!((outcome(&done), kernel.executed_tools()), ("success", 1));
    assert!(
        error_code(&stack.run(&stack.input("t", "r4").with_answer(decision(&id, "deny"))).await)
            == "RESUME_ALREADY_APPLIED"
    );
}

#[tokio::test]
async fn weakness_34_an_approval_that_counts_as_denied_is_told_to_the_user() {
    let p = permission("p1", "call-1", "x");
    let acked = json!({"permissionAck": {
        "schemaVersion": 1, "kind": "permission_ack", "inputId": "p1", "toolUseId": "call-1", "decision": "deny", "accepted": true,
    }});
    let mut streamed = received("permission", "p1", [update(State::Working, acked)]);
    streamed.extend(Step::turn_end("Nothing was done."));
    let look = || found(State::Working, json!({"pendingPermissions": [p]}));
    let cases = [
        Script::new()
            .on(SEND, waits_for(&[], &[&p]))
            .on(GET, [look()])
            .on(UNARY, [acknowledged("p1", "call-1", "deny")])
            .always(GET, [found(State::Completed, json!({}))]),
        Script::new().on(SEND, asks(&p)).on(GET, [look()]).on(SEND, streamed),
    ];
    let rig = Rig::start(Script::new()).await;
    for (at, script) in cases.into_iter().enumerate() {
        rig.play(script);
        let thread = format!("t{at}");
        let id = interrupt_id(&rig.say(&thread, "r1").await);
        let resume = rig.input(&thread, "r2").with_answer(decision(&id, "allow_once"));
        let done = rig.stack.run(&resume.with_iac_code("preferredLanguage", json!("de"))).await;
        assert_eq!(outcome(&done), "success", "{at}");
        let text = done.text("TEXT_MESSAGE_CONTENT");
        assert!(text.contains("als Ablehnung gewertet"), "{at}: {text}");
    }
    // Who denies gets what was asked for.
    rig.play(
        Script::new()
            .on(SEND, waits_for(&[], &[&p]))
            .on(GET, [look()])
            .on(UNARY, [acknowledged("p1", "call-1", "deny")])
            .always(GET, [found(State::Completed, json!({}))]),
    );
    let id = interrupt_id(&rig.say("u", "r1").await);
    let done = rig.stack.run(&rig.input("u", "r2").with_answer(decision(&id, "deny"))).await;
    assert_eq!(done.text("TEXT_MESSAGE_CONTENT"), "");
}

#[tokio::test]
async fn c77_changed_arguments_void_the_old_id_and_the_new_one_works_even_after_a_restart() {
    let one = permission("p1", "call-1", "delete d-1");
    let three = permission("p1", "call-1", "delete d-1 d-2 d-3");
    let shows = || found(State::InputRequired, json!({"input": three}));
    let script = Script::new()
        .on(SEND, asks(&one))
        .always(GET, [shows()])
        .on(SEND, received_and_done("permission", "p1"));
    let mut rig = Rig::start(script).await;
    let old = interrupt_id(&rig.say("t", "r1").await);
    let answer = |rig: &Rig, run: &str, id: &str| rig.input("t", run).with_answer(decision(id, "allow_once"));

    let changed = rig.stack.run(&answer(&rig, "r2", &old)).await;
    let new = interrupt_id(&changed);
    assert_ne!(new, old);
    assert_eq!(rig.count(SEND), 1, "the answer to other arguments is not sent");
    assert_eq!(rig.stack.state_file("t")["execution"]["pending"]["p1"]["value"]["inputId"], "p1");

    for restarted in [false, true] {
        if restarted {
            rig.stack.kill();
            rig.stack.launch().await;
        }
        let (_, code, message) = rig.stack.refused(&rig.input("t", "r3").with_user("x")).await;
        assert_eq!(code, "RESUME_REQUIRED");
        assert!(message.contains(&new), "{message}");
        let late = rig.stack.run(&answer(&rig, "r3", &old)).await;
        assert_eq!(error_code(&late), "UNKNOWN_INTERRUPT", "restarted: {restarted}");
    }
    assert_eq!(outcome(&rig.stack.run(&answer(&rig, "r4", &new)).await), "success");
    let answers = rig.answers();
    assert_eq!(
        answers.iter().map(named).collect::<Vec<_>>(),
        [("p1", "allow_once")],
        "under the kernel's own id"
    );
    let again = rig.stack.run(&answer(&rig, "r5", &new)).await;
    assert_eq!(error_code(&again), "RESUME_ALREADY_APPLIED");
}

#[tokio::test]
async fn c01_an_answer_whose_run_then_fails_is_spent_only_if_the_kernel_took_it() {
    let p = permission("p1", "call-1", "x");
    let look = || found(State::InputRequired, json!({"input": p}));
    // Not taken: refused, cut, a page, no answer to the call.
    let not_taken: [(&str, Vec<Step>, &str); 6] = [
        ("refused", vec![Step::error(-32602, "input_response_mismatch: x")], "A2A_UNAVAILABLE"),
        (
            "a backup",
            vec![Step::Error {
                code: -32602,
                message: "x".into(),
                data: json!({"code": "SESSION_BACKUP_NOT_READY", "retryable": true}),
            }],
            "SESSION_BACKUP_NOT_READY",
        ),
        ("closed", vec![Step::Fin], "A2A_UNAVAILABLE"),
        ("an empty stream", vec![Step::sse()], "A2A_UNAVAILABLE"),
        ("a page", vec![Step::complete(200, "text/html", "x")], "A2A_UNAVAILABLE"),
        ("not readable", vec![Step::sse(), Step::Datum("{".into())], "A2A_UNAVAILABLE"),
    ];
    let rig = Rig::start(Script::new()).await;
    for (at, (what, steps, code)) in not_taken.into_iter().enumerate() {
        let thread = format!("t{at}");
        rig.play(Script::new().on(SEND, asks(&p)).always(GET, [look()]).on(SEND, steps));
        let id = interrupt_id(&rig.say(&thread, "r1").await);
        let answer = |run: &str| rig.input(&thread, run).with_answer(decision(&id, "allow_once"));
        let failed = rig.stack.run(&answer("r2")).await;
        assert_eq!(error_code(&failed), code, "{what}");
        let (_, required, _) = rig.stack.refused(&rig.input(&thread, "r3").with_user("x")).await;
        assert_eq!(required, "RESUME_REQUIRED", "{what}");
        rig.play(Script::new().always(GET, [look()]).on(SEND, received_and_done("permission", "p1")));
        assert_eq!(outcome(&rig.stack.run(&answer("r4")).await), "success", "{what}");
    }
    assert_eq!(rig.count(CANCEL), 0);

    // Taken, then cut, and nobody knows how the task stands: the answer is spent, the task cancelled.
    let cut = received("permission", "p1", [Step::text("I do it. "), Step::Rst]);
    rig.play(
        Script::new()
            .on(SEND, asks(&p))
            .on(GET, [look()])
            .on(SEND, cut)
            .always(GET, [Step::json(500, &json!({}))]),
    );
    let id = interrupt_id(&rig.say("u", "r1").await);
    let answer = |run: &str| rig.input("u", run).with_answer(decision(&id, "allow_once"));
    assert_eq!(error_code(&rig.stack.run(&answer("r2")).await), "A2A_UNAVAILABLE");
    assert_eq!(rig.count(CANCEL), 1);
    let sent = rig.count(SEND);
    assert_eq!(error_code(&rig.stack.run(&answer("r3")).await), "RESUME_ALREADY_APPLIED");
    assert_eq!(rig.count(SEND), sent, "one decision");
}

#[tokio::test]
async fn a_kernel_whose_task_store_stays_behind_does_not_ask_again() {
    let kernel = DemoKernel::start(DemoConfig::instant().with_stale_get_task()).await.unwrap();
    let stack = Stack::start(&kernel.url()).await;
    let first = interrupt_id(&stack.say("t", "r1", "both").await);
    let asked = stack.run(&stack.input("t", "r2").with_answer(decision(&first, "allow_once"))).await;
    let second = interrupt_id(&asked);
    assert_ne!(first, second);
    let done = stack.run(&stack.input("t", "r3").with_answer(decision(&second, "allow_once"))).await;
    assert_eq!((outcome(&done), kernel.executed_tools()), ("success", 2));
    assert!(done.text("TEXT_MESSAGE_CONTENT").contains("2 of 2 files"));
}

#[tokio::test]
async fn weakness_33_an_answer_that_was_taken_right_before_a_crash_is_recognised_and_nothing_is_lost() {
    for config in [DemoConfig::instant(), DemoConfig::instant().with_stale_get_task()] {
        let kernel = DemoKernel::start(config).await.unwrap();
        let mut stack = Stack::start(&kernel.url()).await;
        let id = interrupt_id(&stack.say("t", "r1", "write").await);
        // The first save of a resume is its run id, the second the answer that the kernel has taken.
        stack.kill();
        stack.reconfigure(&[], &[("AGUI_FAILPOINT", "store.before_temp:kill@2")]);
        stack.launch().await;
        let answer = |run: &str| stack.input("t", run).with_answer(decision(&id, "allow_once"));
        let (died, again) = (answer("r2"), answer("r3"));
        if let Ok(response) = stack.client.post("/", &died.to_json()).await {
            response.events().collect().await;
        }
        stack.kill();
        stack.reconfigure(&[], &[]);
        stack.launch().await;
        while kernel.running_tasks() > 0 {
            sleep(Duration::from_millis(2)).await;
        }
        assert_eq!(kernel.executed_tools(), 1);

        let done = stack.run(&again).await;
        assert_eq!((outcome(&done), kernel.executed_tools()), ("success", 1));
        assert!(done.text("TEXT_MESSAGE_CONTENT").contains("is written"), "{:?}", done.json());
        assert!(
            !done.text("TEXT_MESSAGE_CONTENT").contains("I will write"),
            "what was shown before is not repeated"
        );
    }
}

#[tokio::test]
async fn an_answer_whose_first_echo_is_the_end_ends_the_run_although_the_stream_stays_open() {
    let p = permission("p1", "call-1", "x");
    let next = permission("p2", "call-2", "y");
    let cases = [
        ("it failed", update(State::Failed, json!({})), "A2A_EXECUTION_FAILED"),
        ("it is complete", update(State::Completed, json!({})), "success"),
        ("it asks again", update(State::InputRequired, json!({"input": next})), "interrupt"),
    ];
    let rig = Rig::start(Script::new()).await;
    for (at, (what, first, expected)) in cases.into_iter().enumerate() {
        let script = Script::new()
            .on(SEND, asks(&p))
            .on(GET, [found(State::InputRequired, json!({"input": p}))])
            .on(SEND, [Step::sse(), first, Step::Stall]);
        rig.play(script);
        let thread = format!("t{at}");
        let id = interrupt_id(&rig.say(&thread, "r1").await);
        let run = rig.stack.run(&rig.input(&thread, "r2").with_answer(decision(&id, "allow_once"))).await;
        let end = if run.find("RUN_ERROR").is_some() { error_code(&run) } else { outcome(&run) };
        assert_eq!(end, expected, "{what}");
        rig.kernel.connections().wait_open(0).await.unwrap();
    }
    assert_eq!(rig.count(CANCEL), 0);
}
