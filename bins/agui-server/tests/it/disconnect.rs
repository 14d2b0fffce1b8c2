//! Clients that leave (S12, weaknesses 1 to 3, cases C14 and C15).

use std::collections::BTreeSet;
use std::time::Duration;

use agui_testkit::LoggedRequest;
use agui_testkit::client::Recording;
use agui_testkit::client::input::{RunInput, decision};
use agui_testkit::client::raw::{Hangup, RawConnection, leave_after_events, leave_before_headers};
use agui_testkit::demo::{DemoConfig, DemoKernel};
use agui_testkit::faulty::{Script, Step};
use agui_testkit::wire::State;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::stack::{PATIENCE, Stack, demo, interrupt_id, outcome, verify};
use crate::upstream::{CANCEL, RESTORE, Rig, SEND, asks, permission, received, received_and_done};

/// Waits until the demo kernel has nothing to do.
async fn idle(kernel: &DemoKernel) {
    let idle = async {
        while kernel.running_tasks() > 0 {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, idle).await.expect("every task ends");
    kernel.connections().wait_open(0).await.unwrap();
}

/// Leaves a run of `thread` in the way that belongs to `number`.
async fn leave(url: &str, body: &Value, number: usize) {
    let how = if number.is_multiple_of(3) { Hangup::Rst } else { Hangup::Fin };
    match number % 4 {
        0 => leave_before_headers(url, "/", body, how).await.unwrap(),
        1 => drop(leave_after_events(url, "/", body, 1, how).await.unwrap()),
        2 => drop(leave_after_events(url, "/", body, 4, how).await.unwrap()),
        _ => {
            let mut silent = RawConnection::connect(url).await.unwrap();
            silent.post("/", body).await.unwrap();
            silent.read_until("hold. ", 1).await.unwrap();
            silent.hang_up(how).unwrap();
        }
    }
}

/// As many clients as the demo kernel remembers tasks of, with one task more for each.
const CLIENTS: usize = 72;

#[tokio::test]
async fn weaknesses_1_to_3_two_hundred_clients_that_leave_cost_one_cancel_each_and_nothing_stays() {
    let mut kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    for wave in 0..3 {
        leave_all(&kernel, &stack, wave).await;
        let addr = kernel.addr();
        kernel.stop().await;
        kernel = DemoKernel::start(DemoConfig::instant().with_addr(addr)).await.unwrap();
    }
}

/// Starts runs that end by nothing but a cancel, leaves all of them, and goes on with every thread.
async fn leave_all(kernel: &DemoKernel, stack: &Stack, wave: usize) {
    let thread = |number: usize| format!("t{wave}-{number}");
    let mut leaving = tokio::task::JoinSet::new();
    for number in 0..CLIENTS {
        let body = stack.input(&thread(number), "r1").with_user("hold").to_json();
        let url = stack.url.clone();
        leaving.spawn(async move { leave(&url, &body, number).await });
    }
    while let Some(left) = leaving.join_next().await {
        left.unwrap();
    }
    for number in 0..CLIENTS {
        let run = once_free(stack, &stack.input(&thread(number), "r2").with_user("chat")).await;
        assert_eq!(outcome(&run), "success", "{number}");
    }
    idle(kernel).await;

    let held = |request: &LoggedRequest| request.message()["parts"][0]["text"] == "hold";
    let started = kernel.requests().of(SEND).iter().filter(|request| held(request)).count();
    let id = |request: LoggedRequest| request.json["params"]["id"].to_string();
    let cancelled: Vec<String> = kernel.requests().of(CANCEL).into_iter().map(id).collect();
    let distinct: BTreeSet<&String> = cancelled.iter().collect();
    assert_eq!(distinct.len(), cancelled.len(), "no task is cancelled twice");
    assert_eq!(cancelled.len(), started, "and none is left out");
    // A request whose connection was reset before it was read was never there, nor sent if its client had left.
    assert!(started >= CLIENTS / 2, "{started}");
}

#[tokio::test]
async fn s12_3_leaving_after_an_interrupt_keeps_it() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    for (thread, how) in [("a", Hangup::Fin), ("b", Hangup::Rst)] {
        let body = stack.input(thread, "r1").with_user("write").to_json();
        let mut client = RawConnection::connect(&stack.url).await.unwrap();
        client.post("/", &body).await.unwrap();
        let came = client.read_until("RUN_FINISHED", 1).await.unwrap();
        client.hang_up(how).unwrap();
        let text = String::from_utf8(came).unwrap();
        let id = text.split("permission-").nth(1).unwrap()[..32].to_owned();
        let answer = decision(&format!("permission-{id}"), "allow_once");
        assert_eq!(outcome(&stack.run(&stack.input(thread, "r2").with_answer(answer)).await), "success");
    }
    assert_eq!((kernel.executed_tools(), kernel.requests().count(CANCEL)), (2, 0));
}

#[tokio::test]
async fn weakness_2_leaving_a_resume_before_its_answer_is_sent_keeps_the_question() {
    let script = Script::new().on(SEND, asks(&permission("p1", "call-1", "x"))).on(RESTORE, [Step::Stall]);
    let rig = Rig::start(script).await;
    let id = interrupt_id(&rig.say("t", "r1").await);
    let resume = |run: &str| rig.input("t", run).with_answer(decision(&id, "allow_once"));

    leave_after_events(&rig.stack.url, "/", &resume("r2").to_json(), 1, Hangup::Rst).await.unwrap();
    rig.kernel.connections().wait_open(0).await.unwrap();
    assert_eq!((rig.count(CANCEL), rig.count(SEND)), (0, 1), "nothing was answered, nothing is cancelled");

    rig.play(
        Script::new()
            .on(crate::upstream::GET, [crate::upstream::found(State::InputRequired, json!({}))])
            .on(SEND, received_and_done("permission", "p1")),
    );
    assert_eq!(outcome(&once_free(&rig.stack, &resume("r3")).await), "success");
}

#[tokio::test]
async fn s12_2_leaving_a_resume_whose_answer_was_taken_cancels_the_task() {
    let working = [Step::text("I do it. "), Step::Stall];
    let script = Script::new()
        .on(SEND, asks(&permission("p1", "call-1", "x")))
        .on(crate::upstream::GET, [crate::upstream::found(State::InputRequired, json!({}))])
        .on(SEND, received("permission", "p1", working));
    let rig = Rig::start(script).await;
    let id = interrupt_id(&rig.say("t", "r1").await);
    let body = rig.input("t", "r2").with_answer(decision(&id, "allow_once")).to_json();
    let mut client = RawConnection::connect(&rig.stack.url).await.unwrap();
    client.post("/", &body).await.unwrap();
    client.read_until("I do it. ", 1).await.unwrap();
    client.hang_up(Hangup::Fin).unwrap();

    rig.kernel.requests().wait_for(CANCEL, 1).await.unwrap();
    rig.kernel.connections().wait_open(0).await.unwrap();
    rig.play(Script::new().on(SEND, Step::good_turn("fine")));
    let run = once_free(&rig.stack, &rig.input("t", "r3").with_user("go")).await;
    assert_eq!(outcome(&run), "success");
    assert_eq!(rig.count(CANCEL), 1);
}

/// A run as soon as the thread is free.
async fn once_free(stack: &Stack, input: &RunInput) -> Recording {
    let free = async {
        loop {
            let response = stack.post(input).await;
            if response.is_stream() {
                return response.events().collect().await;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    let recording = timeout(PATIENCE, free).await.expect("the thread is free again");
    verify(&recording);
    recording
}
