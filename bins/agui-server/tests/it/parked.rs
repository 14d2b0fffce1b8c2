//! Questions that nobody answers in time, over restarts.

use std::time::Duration;

use agui_testkit::client::input::{RunInput, cancelled, decision};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::stack::{PATIENCE, Stack, demo, error_code, interrupt_id, interrupts, outcome};

async fn until(mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, wait).await.expect("it comes about");
}

fn markers(stack: &Stack) -> Vec<String> {
    let entries = std::fs::read_dir(stack.dir.path().join("state/parked")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

fn is_parked(stack: &Stack, thread: &str) -> bool {
    stack.state_file(thread)["execution"]["pending"] != json!({})
}

/// Makes the open questions of a thread overdue, behind the back of the server.
fn make_overdue(stack: &Stack, thread: &str) {
    let path = stack.dir.path().join("state/threads").join(format!("{thread}.json"));
    let mut state = stack.state_file(thread);
    for question in state["execution"]["pending"].as_object_mut().unwrap().values_mut() {
        question["expiresAt"] = json!("2001-01-01T00:00:00.000Z");
    }
    std::fs::write(path, state.to_string()).unwrap();
}

#[tokio::test]
async fn s11_5_a_question_expires_after_a_restart_although_nobody_touches_its_thread() {
    let kernel = demo().await;
    let mut stack = Stack::start_with(&kernel.url(), &["--interrupt-ttl", "2"], &[]).await;
    let id = interrupt_id(&stack.say("t", "r1", "write a file").await);
    stack.kill();
    stack.launch().await;

    until(|| !is_parked(&stack, "t")).await;
    until(|| markers(&stack).is_empty()).await;
    let late = stack.run(&stack.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(error_code(&late), "EXECUTION_EXPIRED");
    // The official client cannot go on before it could give its question up.
    let up = stack.input("t", "r3").with("protocolVersion", json!("1.0")).with_answer(cancelled(&id));
    assert_eq!(outcome(&stack.run(&up).await), "cancelled");
    assert_eq!(outcome(&stack.say("t", "r4", "chat").await), "success");
    assert_eq!((kernel.executed_tools(), kernel.requests().count("CancelTask")), (0, 1));
}

#[tokio::test]
async fn s11_5_what_became_overdue_while_the_server_was_down_expires_at_once() {
    let kernel = demo().await;
    let mut stack = Stack::start(&kernel.url()).await;
    let asked = stack.say("t", "r1", "write a file").await;
    let both = stack.run(&stack.input("p", "r1").with_user("pipeline").with_pipeline("selling")).await;
    stack.say("in-time", "r1", "write a file").await;
    assert_eq!(markers(&stack), ["in-time", "p", "t"]);
    stack.kill();
    make_overdue(&stack, "t");
    make_overdue(&stack, "p");
    stack.launch().await;

    until(|| markers(&stack) == ["in-time"]).await;
    assert!(!is_parked(&stack, "t") && !is_parked(&stack, "p") && is_parked(&stack, "in-time"));
    assert_eq!(kernel.requests().count("CancelTask"), 2);
    let late = stack.run(&stack.input("t", "r2").with_answer(decision(&interrupt_id(&asked), "deny"))).await;
    assert_eq!(error_code(&late), "EXECUTION_EXPIRED");
    let answers = interrupts(&both).into_iter().map(|one| decision(one["id"].as_str().unwrap(), "deny"));
    let late = stack.run(&answers.fold(stack.input("p", "r2"), RunInput::with_answer)).await;
    assert_eq!(error_code(&late), "EXECUTION_EXPIRED");
}

#[tokio::test]
async fn c06_a_question_that_is_in_time_is_answered_after_a_restart_and_its_timer_is_gone() {
    let kernel = demo().await;
    let mut stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("t", "r1", "write a file").await);
    stack.kill();
    // A server that goes when nobody is waited for: a timer that was left would keep it.
    stack.reconfigure(&["--idle-shutdown", "1"], &[]);
    stack.launch().await;
    let resumed = stack.run(&stack.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(outcome(&resumed), "success");
    assert_eq!((kernel.executed_tools(), kernel.requests().count("CancelTask")), (1, 0));
    assert_eq!(markers(&stack), [""; 0]);
    stack.wait_for_log(&["idle for long enough"]).await;
}

#[tokio::test]
async fn s11_3_start_up_reads_only_what_waits_and_drops_markers_without_a_thread() {
    let kernel = demo().await;
    let mut stack = Stack::start(&kernel.url()).await;
    stack.say("waits", "r", "write a file").await;
    stack.say("idle", "r", "chat").await;
    stack.kill();
    let state = stack.dir.path().join("state");
    for name in ["idle", "gone"] {
        std::fs::write(state.join("parked").join(name), "").unwrap();
    }
    // Whoever reads this one complains.
    std::fs::create_dir(state.join("threads/unreadable.json")).unwrap();
    stack.launch().await;

    stack.wait_for_log(&["parked threads found", "timers=1"]).await;
    assert_eq!(markers(&stack), ["waits"]);
    assert_eq!(kernel.requests().count("CancelTask"), 0);
    let log = stack.log();
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

#[tokio::test]
async fn s11_5_a_thread_that_another_program_parked_expires_when_it_is_touched() {
    let kernel = demo().await;
    let mut stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("foreign", "r1", "write a file").await);
    stack.kill();
    make_overdue(&stack, "foreign");
    std::fs::remove_file(stack.dir.path().join("state/parked/foreign")).unwrap();
    stack.launch().await;
    stack.wait_for_log(&["parked threads found", "timers=0"]).await;
    assert!(is_parked(&stack, "foreign"));
    let late = stack.run(&stack.input("foreign", "r2").with_answer(decision(&id, "deny"))).await;
    assert_eq!(error_code(&late), "EXECUTION_EXPIRED");
    assert!(!is_parked(&stack, "foreign"));
    assert_eq!(kernel.requests().count("CancelTask"), 1);
}
