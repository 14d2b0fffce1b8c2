//! Interrupts that nobody answers in time (S7.3, S11.5).

use std::time::Duration;

use agui_testkit::client::input::{cancelled, decision};
use agui_testkit::faulty::{Script, Step};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::stack::{PATIENCE, Stack, demo, error_code, interrupt_id, interrupts, outcome, refusal};
use crate::upstream::{CANCEL, RESTORE, Rig, SEND, asks, permission};

/// The shortest life that can be configured.
const TTL: [&str; 2] = ["--interrupt-ttl", "1"];

/// Waits until the thread has no open question in its file.
async fn lapsed(stack: &Stack, thread: &str) {
    let lapsed = async {
        while stack.state_file(thread)["execution"]["pending"] != json!({}) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, lapsed).await.expect("the question lapses");
}

#[tokio::test]
async fn s7_3_an_interrupt_says_when_it_expires_and_lives_as_long_as_configured() {
    let kernel = demo().await;
    for (thread, flags, seconds) in [("a", &[][..], 540), ("b", &["--interrupt-ttl", "75"][..], 75)] {
        let stack = Stack::start_with(&kernel.url(), flags, &[]).await;
        let asked = stack.say(thread, "r1", "write").await;
        let expires = interrupts(&asked)[0]["expiresAt"].as_str().unwrap().to_owned();
        let stored = &stack.state_file(thread)["execution"]["pending"];
        let stored = stored.as_object().unwrap().values().next().unwrap();
        assert_eq!(stored["expiresAt"], json!(expires), "the same in the file");
        let at = |text: &str| text.parse::<jiff_seconds::Seconds>().unwrap().0;
        let asked_at = asked.find("RUN_FINISHED").unwrap()["timestamp"].as_u64().unwrap();
        let lives_ms = at(&expires).saturating_sub(asked_at);
        assert!(lives_ms.abs_diff(seconds * 1000) < 5_000, "{lives_ms} ms");
    }
}

/// RFC 3339 in UTC without a date library: days since 1970 by the civil calendar.
mod jiff_seconds {
    use std::str::FromStr;

    pub(super) struct Seconds(pub(super) u64);

    impl FromStr for Seconds {
        type Err = std::num::ParseIntError;

        fn from_str(text: &str) -> Result<Self, Self::Err> {
            let number = |from: usize, to: usize| text[from..to].parse::<u64>();
            let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
            let shifted = if month > 2 { year } else { year - 1 };
            let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
            let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + of_year - 719_468;
            let seconds = days * 86_400 + number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
            Ok(Self(seconds * 1000 + number(20, 23)?))
        }
    }
}

#[tokio::test]
async fn s11_5_without_any_traffic_the_question_lapses_and_its_task_is_cancelled_once() {
    let kernel = demo().await;
    let stack = Stack::start_with(&kernel.url(), &TTL, &[]).await;
    let id = interrupt_id(&stack.say("t", "r1", "write").await);
    let other = interrupt_id(&stack.say("u", "r1", "write").await);
    kernel.requests().wait_for(CANCEL, 2).await.unwrap();
    lapsed(&stack, "t").await;
    lapsed(&stack, "u").await;

    // Whoever answers now hears that it is too late, however often.
    for run in ["r2", "r3"] {
        let late = stack.run(&stack.input("t", run).with_answer(decision(&id, "allow_once"))).await;
        assert_eq!(error_code(&late), "EXECUTION_EXPIRED");
    }
    assert_eq!(outcome(&stack.say("t", "r4", "chat").await), "success");
    let late = stack.run(&stack.input("t", "r5").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(error_code(&late), "EXECUTION_EXPIRED");
    // Giving up what has lapsed is no error for the client that cannot go on otherwise.
    let gives_up = |run: &str| stack.input("u", run).with_answer(cancelled(&other));
    assert_eq!(error_code(&stack.run(&gives_up("r2")).await), "EXECUTION_EXPIRED");
    assert_eq!(outcome(&stack.run(&gives_up("r3").with("protocolVersion", json!("1.0"))).await), "cancelled");
    assert_eq!((kernel.requests().count(CANCEL), kernel.executed_tools()), (2, 0));
}

#[tokio::test]
async fn s11_5_what_lapsed_while_the_server_was_down_is_found_by_the_next_one() {
    let kernel = demo().await;
    let mut stack = Stack::start_with(&kernel.url(), &TTL, &[]).await;
    let id = interrupt_id(&stack.say("answered", "r1", "write").await);
    interrupt_id(&stack.say("ignored", "r1", "write").await);
    stack.kill();
    sleep(Duration::from_millis(1050)).await;
    stack.launch().await;

    let late = stack.run(&stack.input("answered", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(error_code(&late), "EXECUTION_EXPIRED");
    for thread in ["answered", "ignored"] {
        assert_eq!(outcome(&stack.say(thread, "r3", "chat").await), "success", "{thread}");
    }
    assert_eq!((kernel.requests().count(CANCEL), kernel.executed_tools()), (2, 0));
}

#[tokio::test]
async fn s11_5_a_kernel_that_cannot_be_told_is_told_by_the_next_message() {
    let script = Script::new()
        .on(SEND, asks(&permission("p1", "call-1", "x")))
        .on(CANCEL, [Step::json(500, &json!({}))]);
    let rig = Rig::start_with(script, &TTL).await;
    interrupt_id(&rig.say("t", "r1").await);
    rig.kernel.requests().wait_for(CANCEL, 1).await.unwrap();
    lapsed(&rig.stack, "t").await;
    assert_eq!(rig.stack.state_file("t")["execution"]["taskId"], "faulty-task", "nobody has forgotten it");
    rig.play(Script::new().on(SEND, Step::good_turn("fine")));
    assert_eq!(outcome(&rig.say("t", "r2").await), "success");
    assert_eq!(rig.kernel.requests().kinds(), [SEND, CANCEL, CANCEL, SEND]);
}

#[tokio::test]
async fn s11_5_an_answer_in_time_stops_the_clock() {
    let kernel = demo().await;
    let stack = Stack::start_with(&kernel.url(), &TTL, &[]).await;
    let id = interrupt_id(&stack.say("t", "r1", "write").await);
    assert_eq!(
        outcome(&stack.run(&stack.input("t", "r2").with_answer(decision(&id, "allow_once"))).await),
        "success"
    );
    // A question that stays open after a refused answer keeps its own deadline.
    let open = interrupt_id(&stack.say("u", "r1", "write").await);
    let before = stack.state_file("u")["execution"]["pending"].clone();
    let bad = stack.run(&stack.input("u", "r2").with_answer(decision(&open, "maybe"))).await;
    assert_eq!(error_code(&bad), "RESUME_PAYLOAD_INVALID");
    assert_eq!(stack.state_file("u")["execution"]["pending"], before);
    lapsed(&stack, "u").await;
    assert_eq!(kernel.requests().count(CANCEL), 1);
    let (_, code, _) = refusal(stack.post(&stack.input("t", "r2").with_user("x")).await).await;
    assert_eq!(code, "RUN_ID_CONFLICT");
}

#[tokio::test]
async fn s11_5_a_deadline_that_passes_during_a_resume_holds_after_it() {
    let script = Script::new().on(SEND, asks(&permission("p1", "call-1", "x"))).on(RESTORE, [Step::Stall]);
    let rig = Rig::start_with(script, &["--interrupt-ttl", "1", "--a2a-call-timeout", "1.2"]).await;
    let id = interrupt_id(&rig.say("t", "r1").await);
    let slow = rig.stack.run(&rig.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(error_code(&slow), "A2A_UNAVAILABLE");
    lapsed(&rig.stack, "t").await;
    assert_eq!((rig.count(CANCEL), rig.count(SEND)), (1, 1));
}
