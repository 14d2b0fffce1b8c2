//! Two servers on one state directory (weakness 15).

use std::fs::File;
use std::time::Duration;

use agui_testkit::client::input::{RunInput, decision};
use agui_testkit::faulty::{Script, Step};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::stack::{PATIENCE, Stack, demo, error_code, faulty, interrupt_id, outcome, verify};
use crate::upstream::{CANCEL, SEND, complete};

/// A second server on the state of the first.
async fn beside(first: &Stack, kernel_url: &str, flags: &[&str]) -> Stack {
    let (state, workspace) = (first.state_dir().join("state"), first.workspace());
    let shared =
        [("IAC_CODE_AGUI_STATE_DIR", state.to_str().unwrap()), ("IAC_CODE_AGUI_ALLOWED_CWDS", &*workspace)];
    Stack::start_with(kernel_url, flags, &shared).await
}

#[tokio::test]
async fn weakness_15_a_thread_that_one_server_runs_is_busy_for_every_other_one_until_that_server_is_gone() {
    let kernel = demo().await;
    let mut first = Stack::start(&kernel.url()).await;
    let second = beside(&first, &kernel.url(), &[]).await;
    let workspace = first.workspace();
    let input = |thread: &str, run: &str| RunInput::new(thread, run, &workspace);
    // One that has a task, and one whose task nobody knows yet.
    let mut running = first.post(&input("t", "r1").with_user("hold")).await.events();
    let session = running.read_until(|event| event.kind() == "CUSTOM").await.unwrap();
    running.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT").await.unwrap();
    let (_, code, _) = second.refused(&input("t", "r1").with_user("hold")).await;
    assert_eq!(code, "DUPLICATE_RUN_ID");
    let (status, code, _) = second.refused(&input("t", "r2").with_user("chat")).await;
    assert_eq!((status, code.as_str()), (409, "THREAD_BUSY"));
    assert_eq!((kernel.running_tasks(), kernel.requests().kinds()), (1, vec![SEND.to_owned()]));

    // A cancel reaches the task through whichever server, and the one that runs it tells its client.
    let execution = session.json["value"]["executionId"].as_str().unwrap();
    let reply = second.cancel(execution, "t", "inv-t").await;
    assert_eq!(reply, (200, json!({"executionId": execution, "status": "cancelled"})));
    while running.next().await.is_some() {}
    let ended = running.abort();
    verify(&ended);
    assert_eq!(error_code(&ended), "CANCELLED");
    assert_eq!((kernel.requests().count(CANCEL), kernel.running_tasks()), (1, 0));
    for (stack, run) in [(&second, "r3"), (&first, "r4"), (&second, "r5")] {
        assert_eq!(outcome(&stack.run(&input("t", run).with_user("chat")).await), "success", "{run}");
    }

    // Whose server is gone has nobody who runs it.
    let mut running = first.post(&input("t", "r6").with_user("hold")).await.events();
    running.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT").await.unwrap();
    first.kill();
    assert_eq!(outcome(&second.run(&input("t", "r7").with_user("chat")).await), "success");
    assert_eq!((kernel.requests().count(CANCEL), kernel.running_tasks()), (2, 0));
    for run in ["r1", "r3", "r4", "r5", "r6", "r7"] {
        let (_, code, _) = second.refused(&input("t", run).with_user("another")).await;
        assert_eq!(code, "RUN_ID_CONFLICT", "no run id was lost");
    }
}

#[tokio::test]
async fn weakness_15_a_cancel_that_cannot_reach_a_run_of_another_server_does_not_claim_that_it_did() {
    let head = vec![Step::Await("head".into())];
    let kernel = faulty(complete(Script::new().on(SEND, [head, Step::good_turn("fine")].concat()))).await;
    let first = Stack::start(&kernel.url()).await;
    let second = beside(&first, &kernel.url(), &[]).await;
    let running = first.post(&first.input("t", "r1").with_user("go")).await.events();
    kernel.requests().wait_for(SEND, 1).await.unwrap();
    let execution = first.state_file("t")["execution"]["executionId"].as_str().unwrap().to_owned();
    let (status, body) = second.cancel(&execution, "t", "inv-t").await;
    assert_eq!((status, &body["error"]["code"]), (409, &json!("THREAD_BUSY")));
    assert_eq!(second.cancel(&execution, "t", "inv-x").await.0, 404);
    kernel.release("head");
    let done = timeout(PATIENCE, running.collect()).await.unwrap();
    assert_eq!(outcome(&done), "success");
    assert_eq!(kernel.requests().count(CANCEL), 0);
}

#[tokio::test]
async fn weakness_15_a_question_that_one_server_answers_does_not_lapse_by_the_timer_of_another() {
    let kernel = demo().await;
    let flags = ["--interrupt-ttl", "2"];
    let first = Stack::start_with(&kernel.url(), &flags, &[]).await;
    let id = interrupt_id(&first.say("t", "r1", "write").await);
    let second = beside(&first, &kernel.url(), &flags).await;
    second.wait_for_log(&["parked threads found", "timers=1"]).await;
    // The answer of this one is long in coming.
    let held = File::options()
        .append(true)
        .create(true)
        .open(first.state_dir().join("state/threads/.t.json.run"))
        .unwrap();
    held.lock().unwrap();
    sleep(Duration::from_millis(2_500)).await;
    assert_eq!(kernel.requests().count(CANCEL), 0, "somebody runs the thread");
    held.unlock().unwrap();
    // The next access finds it overdue.
    let late = first.run(&first.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(error_code(&late), "EXECUTION_EXPIRED");
    assert_eq!((kernel.requests().count(CANCEL), kernel.executed_tools()), (1, 0));
}
