//! Runs that outlive their client, and clients that come back to them.

use std::time::Duration;

use agui_core::{Decoded, Reading, Verifier, decode_event_with};
use agui_testkit::client::input::decision;
use agui_testkit::client::raw::{Hangup, RawConnection};
use agui_testkit::client::{Received, Recording, StreamEnd, TestResponse};
use agui_testkit::demo::{DemoConfig, DemoKernel};
use agui_testkit::faulty::{Script, Step};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::stack::{
    PATIENCE, Stack, demo, error_code, execution_id, faulty, interrupt_id, outcome, refusal, verify,
};

const DETACH: &[&str] = &["--on-disconnect", "detach"];
const LONG_GRACE: &[&str] = &["--on-disconnect", "grace:600"];

async fn start(kernel: &DemoKernel, flags: &[&str]) -> Stack {
    Stack::start_with(&kernel.url(), flags, &[]).await
}

/// Asks for the events of a run.
async fn attach(stack: &Stack, thread: &str, run: &str, last: Option<&str>) -> TestResponse {
    let client = match last {
        Some(last) => stack.client.clone().with_header("last-event-id", last),
        None => stack.client.clone(),
    };
    client.get(&format!("/extensions/agui/v1/runs/{thread}/{run}/events")).await.unwrap()
}

/// The events of a run after a position, up to the end.
async fn read_on(stack: &Stack, thread: &str, run: &str, last: Option<&str>) -> Recording {
    to_the_end(attach(stack, thread, run, last).await).await
}

async fn to_the_end(response: TestResponse) -> Recording {
    assert!(response.is_stream(), "status {}", response.status);
    let recording = timeout(PATIENCE, response.events().collect()).await.expect("the stream ends");
    assert_eq!(recording.end, StreamEnd::Complete);
    recording
}

/// Starts a run and leaves it in the middle, after its first text; gives what came.
async fn leave(stack: &Stack, thread: &str, run: &str, prompt: &str) -> Vec<Received> {
    let response = stack.post(&stack.input(thread, run).with_user(prompt)).await;
    assert!(response.is_stream(), "status {}", response.status);
    let text = |event: &Received| event.kind() == "TEXT_MESSAGE_CONTENT";
    timeout(PATIENCE, response.events().collect_until(text)).await.unwrap().events
}

fn id(event: &Received) -> &str {
    event.id.as_deref().expect("an id")
}

fn json_of(events: &[Received]) -> Vec<&Value> {
    events.iter().map(|event| &event.json).collect()
}

/// The events are numbered without a gap or a repeat, and together they are one valid run.
fn assert_whole(parts: &[&[Received]]) {
    let events: Vec<&Received> = parts.iter().copied().flatten().collect();
    let mut verifier = Verifier::new();
    for (position, event) in (1_u64..).zip(&events) {
        assert_eq!(id(event), position.to_string());
        let text = event.json.to_string();
        let (decoded, _) = decode_event_with(text.as_bytes(), Reading::Exact).unwrap();
        let Decoded::Known(event) = decoded else { panic!("unknown event: {text}") };
        verifier.check(&event).unwrap_or_else(|violation| panic!("{violation}: {text}"));
    }
    verifier.finish().expect("one terminal event");
}

/// Whether the thread's execution is over.
fn has_ended(stack: &Stack, thread: &str) -> bool {
    stack.state_file(thread)["terminalExecutionIds"] != json!([])
}

async fn until(mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, wait).await.expect("it comes about");
}

#[tokio::test]
async fn c14_whoever_comes_back_reads_on_without_a_gap_or_a_repeat() {
    for flags in [DETACH, LONG_GRACE] {
        let kernel = demo().await;
        let stack = start(&kernel, flags).await;
        let before = leave(&stack, "t", "r", "hold").await;
        let last = id(before.last().unwrap()).to_owned();
        let back = attach(&stack, "t", "r", Some(&last)).await;
        kernel.release_holds();
        let after = to_the_end(back).await;

        assert_whole(&[&before, &after.events]);
        assert_eq!(outcome(&after), "success");
        assert_eq!(
            after.headers.iter().find(|(name, _)| name == "cache-control").unwrap().1,
            "no-cache, no-transform"
        );
        // And from the start, after the end: the very same events.
        let again = read_on(&stack, "t", "r", None).await;
        assert_eq!(json_of(&again.events), json_of(&[before, after.events].concat()));
        assert_whole(&[&again.events]);
        assert_eq!(kernel.requests().count("CancelTask"), 0);
        assert_eq!(kernel.requests().count("SendStreamingMessage"), 1);
    }
}

#[tokio::test]
async fn c14_a_run_that_nobody_reads_goes_on_to_its_end_however_the_client_left() {
    for hangup in [Hangup::Fin, Hangup::Rst] {
        let kernel = demo().await;
        let stack = start(&kernel, DETACH).await;
        let mut rude = RawConnection::connect(&stack.url).await.unwrap();
        rude.post("/", &stack.input("t", "r").with_user("hold").to_json()).await.unwrap();
        until(|| kernel.running_tasks() == 1).await;
        rude.hang_up(hangup).unwrap();
        kernel.release_holds();
        until(|| has_ended(&stack, "t")).await;
        let whole = read_on(&stack, "t", "r", Some("0")).await;
        assert_whole(&[&whole.events]);
        assert_eq!(
            (outcome(&whole), whole.text("TEXT_MESSAGE_CONTENT").as_str()),
            ("success", "I hold. I am back.")
        );
        assert_eq!(kernel.requests().count("CancelTask"), 0);
    }
}

#[tokio::test]
async fn s12_3_a_question_that_was_asked_while_nobody_read_can_be_answered() {
    let kernel =
        DemoKernel::start(DemoConfig::instant().with_delta_delay(Duration::from_millis(5))).await.unwrap();
    let stack = start(&kernel, DETACH).await;
    let left = stack.post(&stack.input("t", "r1").with_user("write a file")).await;
    drop(left);
    let asked = read_on(&stack, "t", "r1", None).await;
    assert_whole(&[&asked.events]);
    let id = interrupt_id(&asked);
    let resumed =
        to_the_end(stack.post(&stack.input("t", "r2").with_answer(decision(&id, "allow_once"))).await).await;
    assert_whole(&[&resumed.events]);
    assert_eq!(outcome(&resumed), "success");
    assert_eq!(kernel.executed_tools(), 1);
}

#[tokio::test]
async fn s12_2_by_default_a_client_that_leaves_cancels_its_run_and_events_have_no_ids() {
    for flags in [&[][..], &["--on-disconnect", "cancel"]] {
        let kernel = demo().await;
        let stack = start(&kernel, flags).await;
        let before = leave(&stack, "t", "r", "hold").await;
        assert!(before.iter().all(|event| event.id.is_none()));
        until(|| kernel.requests().count("CancelTask") == 1).await;
        let (status, code, _) = refusal(attach(&stack, "t", "r", None).await).await;
        assert_eq!((status, code.as_str()), (404, "NOT_FOUND"));
    }
}

#[tokio::test]
async fn s12_2_when_the_grace_is_over_the_task_is_cancelled_once_and_the_thread_is_free() {
    for grace in ["grace:0", "grace:1"] {
        let kernel = demo().await;
        let stack = start(&kernel, &["--on-disconnect", grace]).await;
        let before = leave(&stack, "t", "r1", "hold").await;
        until(|| kernel.requests().count("CancelTask") == 1).await;

        let late = read_on(&stack, "t", "r1", Some(id(before.last().unwrap()))).await;
        assert_whole(&[&before, &late.events]);
        assert_eq!(error_code(&late), "CANCELLED");
        let next = to_the_end(stack.post(&stack.input("t", "r2").with_user("chat")).await).await;
        assert_eq!(outcome(&next), "success");
        assert_eq!(kernel.requests().count("CancelTask"), 1);
    }
}

#[tokio::test]
async fn several_readers_get_the_same_events_at_once() {
    let kernel = demo().await;
    let stack = start(&kernel, DETACH).await;
    let client = stack.post(&stack.input("t", "r").with_user("long 3000")).await;
    let readers = [None, Some("0"), Some("1"), None].map(|last| attach(&stack, "t", "r", last));
    let mut streams = vec![client];
    for reader in readers {
        streams.push(reader.await);
    }
    let reading = streams.into_iter().map(|stream| tokio::spawn(to_the_end(stream)));
    let reading: Vec<_> = reading.collect();
    let mut recordings = Vec::new();
    for reader in reading {
        recordings.push(reader.await.unwrap());
    }
    assert_whole(&[&recordings[0].events]);
    let whole = json_of(&recordings[0].events);
    assert!(whole.len() > 3_000);
    for (recording, skipped) in recordings[1..].iter().zip([0, 0, 1, 0]) {
        assert_eq!(json_of(&recording.events), whole[skipped..]);
        assert_eq!(id(&recording.events[0]), (skipped + 1).to_string());
    }
}

#[tokio::test]
async fn each_value_of_last_event_id_has_a_defined_meaning() {
    let kernel = demo().await;
    let stack = start(&kernel, DETACH).await;
    let whole = to_the_end(stack.post(&stack.input("t", "r").with_user("chat")).await).await;
    assert_whole(&[&whole.events]);
    let end = whole.events.len();
    for (last, first) in [(None, 1), (Some("0"), 1), (Some("1"), 2), (Some("007"), 8)] {
        let rest = read_on(&stack, "t", "r", last).await;
        assert_eq!(json_of(&rest.events), json_of(&whole.events[first - 1..]), "{last:?}");
        assert_eq!(id(&rest.events[0]), first.to_string(), "{last:?}");
    }
    let nothing = read_on(&stack, "t", "r", Some(&end.to_string())).await;
    assert_eq!((nothing.status, nothing.events), (200, vec![]));

    let beyond = (end + 1).to_string();
    for last in [&*beyond, "18446744073709551616", "-1", "+1", "abc", "1.5", "1,2", "\u{661}"] {
        let (status, code, message) = refusal(attach(&stack, "t", "r", Some(last)).await).await;
        assert_eq!((status, code.as_str()), (400, "INVALID_INPUT"), "{last}");
        assert!(message.contains("Last-Event-ID") && !message.contains(last), "{message}");
    }
    for (thread, run) in [("t", "other"), ("other", "r"), ("t", "%2e%2e"), ("T", "r")] {
        let (status, code, _) = refusal(attach(&stack, thread, run, Some("1")).await).await;
        assert_eq!((status, code.as_str()), (404, "RUN_NOT_FOUND"), "{thread} {run}");
    }
}

#[tokio::test]
async fn ids_with_any_characters_can_be_asked_for() {
    let kernel = demo().await;
    let stack = start(&kernel, DETACH).await;
    let (thread, run) = ("feishu:oc_1/ä b", "..");
    let whole = to_the_end(stack.post(&stack.input(thread, run).with_user("chat")).await).await;
    let again = read_on(&stack, "feishu%3Aoc_1%2F%C3%A4%20b", "%2E%2E", None).await;
    assert_eq!(json_of(&again.events), json_of(&whole.events));
}

#[tokio::test]
async fn events_that_are_gone_are_one_error_and_what_is_left_can_be_asked_for() {
    let kernel = demo().await;
    let stack = start(&kernel, DETACH).await;
    let before = leave(&stack, "t", "r", "long 30000").await;
    let recorded = async {
        while attach(&stack, "t", "r", Some("30000")).await.status == 400 {
            sleep(Duration::from_millis(20)).await;
        }
        read_on(&stack, "t", "r", Some("30000")).await
    };
    assert_eq!(outcome(&timeout(PATIENCE, recorded).await.unwrap()), "success");
    let language =
        stack.client.clone().with_header("accept-language", "fr").with_header("last-event-id", "2");
    let gap = to_the_end(language.get("/extensions/agui/v1/runs/t/r/events").await.unwrap()).await;
    assert_eq!(gap.events.len(), 1);
    assert_eq!(error_code(&gap), "EVENTS_LOST");
    assert!(gap.events[0].json["message"].as_str().unwrap().contains("plus"), "{}", gap.events[0].json);

    let resume_at: u64 = id(&gap.events[0]).parse().unwrap();
    assert!(resume_at > 2 && usize::try_from(resume_at).unwrap() > before.len());
    let rest = read_on(&stack, "t", "r", Some(id(&gap.events[0]))).await;
    assert_eq!(outcome(&rest), "success");
    for (position, event) in (resume_at + 1..).zip(&rest.events) {
        assert_eq!(id(event), position.to_string());
    }
    assert!(rest.events.len() > 20_000, "{}", rest.events.len());
}

#[tokio::test]
async fn s12_2_one_client_too_many_that_leaves_has_its_run_cancelled_and_the_other_run_goes_on() {
    let kernel = demo().await;
    let stack = start(&kernel, &["--on-disconnect", "detach", "--max-unattended-runs", "1"]).await;
    let mut left = Vec::new();
    for thread in ["a", "b"] {
        left.push((thread, leave(&stack, thread, "r", "hold").await));
    }
    until(|| left.iter().any(|(thread, _)| has_ended(&stack, thread))).await;
    // Which of the two is noticed first is up to the system.
    left.sort_by_key(|(thread, _)| has_ended(&stack, thread));
    let [(goes_on, before), (cancelled, cut)] = &left[..] else { panic!("two clients") };
    let end = read_on(&stack, cancelled, "r", Some(id(cut.last().unwrap()))).await;
    assert_whole(&[cut, &end.events]);
    assert_eq!(error_code(&end), "CANCELLED");
    stack.wait_for_log(&["WARN", "without a reader"]).await;

    assert_eq!(kernel.running_tasks(), 1);
    kernel.release_holds();
    until(|| has_ended(&stack, goes_on)).await;
    let rest = read_on(&stack, goes_on, "r", Some(id(before.last().unwrap()))).await;
    assert_whole(&[before, &rest.events]);
    assert_eq!((outcome(&rest), kernel.requests().count("CancelTask")), ("success", 1));
}

#[tokio::test]
async fn s10_a_run_without_readers_can_be_cancelled() {
    let kernel = demo().await;
    let stack = start(&kernel, DETACH).await;
    let response = stack.post(&stack.input("t", "r").with_user("hold")).await;
    let mut stream = response.events();
    timeout(PATIENCE, stream.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT")).await.unwrap();
    let before = stream.abort();
    let (status, body) = stack.cancel(&execution_id(&before), "t", "inv-t").await;
    assert_eq!((status, &body["status"]), (200, &json!("cancelled")));
    let after = read_on(&stack, "t", "r", Some(id(before.events.last().unwrap()))).await;
    assert_whole(&[&before.events, &after.events]);
    assert_eq!(error_code(&after), "CANCELLED");
}

#[tokio::test]
async fn answers_that_were_refused_can_be_read_again_until_the_next_try() {
    let kernel = demo().await;
    let stack = start(&kernel, DETACH).await;
    let id = interrupt_id(&to_the_end(stack.post(&stack.input("t", "r1").with_user("write")).await).await);
    let bad = stack.input("t", "r2").with_answer(decision(&id, "perhaps"));
    let refused = to_the_end(stack.post(&bad).await).await;
    assert_eq!(error_code(&refused), "RESUME_PAYLOAD_INVALID");
    assert_eq!(json_of(&read_on(&stack, "t", "r2", None).await.events), json_of(&refused.events));

    let good = stack.input("t", "r2").with_answer(decision(&id, "deny"));
    let resumed = to_the_end(stack.post(&good).await).await;
    assert_eq!(json_of(&read_on(&stack, "t", "r2", None).await.events), json_of(&resumed.events));
}

#[tokio::test]
async fn s4_2_who_waits_with_a_run_hears_that_the_connection_lives() {
    let kernel = demo().await;
    let stack = start(&kernel, &["--on-disconnect", "detach", "--heartbeat", "0.02"]).await;
    let before = leave(&stack, "t", "r", "hold").await;
    let back = attach(&stack, "t", "r", Some(id(before.last().unwrap()))).await;
    let mut stream = back.events();
    // Comments are noticed while the next event is awaited.
    while stream.so_far().comments.len() < 2 {
        if let Ok(event) = timeout(Duration::from_millis(20), stream.next()).await {
            event.expect("the run goes on");
        }
    }
    assert!(stream.so_far().comments.iter().all(|comment| comment.text == "heartbeat"));
    kernel.release_holds();
    let after = timeout(PATIENCE, stream.collect()).await.unwrap();
    assert_whole(&[&before, &after.events]);
}

#[tokio::test]
async fn s1_5_reading_a_run_again_needs_the_token_and_an_accept_that_admits_events() {
    let kernel = demo().await;
    let stack = Stack::start_with(&kernel.url(), DETACH, &[("IAC_CODE_AGUI_AUTH_TOKEN", "tok")]).await;
    let path = "/extensions/agui/v1/runs/t/r/events";
    for client in [stack.client.clone(), stack.client.clone().with_token("other")] {
        let (status, code, _) = refusal(client.get(path).await.unwrap()).await;
        assert_eq!((status, code.as_str()), (401, "UNAUTHORIZED"));
    }
    let client = stack.client.clone().with_token("tok");
    assert_eq!(client.get(path).await.unwrap().status, 404);
    let html = client.clone().with_header("accept", "text/html").get(path).await.unwrap();
    assert_eq!(html.status, 406);
    let posted = client.post(path, &json!({})).await.unwrap();
    assert_eq!((posted.status, posted.header("allow")), (405, Some("GET")));
}

#[tokio::test]
async fn a_restart_forgets_the_events_and_a_stop_ends_runs_that_nobody_reads() {
    let kernel = demo().await;
    let mut stack = start(&kernel, DETACH).await;
    to_the_end(stack.post(&stack.input("t", "done").with_user("chat")).await).await;
    leave(&stack, "u", "r", "hold").await;
    let back = attach(&stack, "u", "r", None).await;
    let reading = tokio::spawn(to_the_end(back));
    stack.stop().await;
    let end = reading.await.unwrap();
    assert_whole(&[&end.events]);
    assert_eq!(error_code(&end), "SHUTTING_DOWN");
    assert_eq!(kernel.running_tasks(), 0);

    stack.launch().await;
    for (thread, run) in [("t", "done"), ("u", "r")] {
        let (status, code, _) = refusal(attach(&stack, thread, run, Some("1")).await).await;
        assert_eq!((status, code.as_str()), (404, "RUN_NOT_FOUND"));
    }
}

#[tokio::test]
async fn c15_two_hundred_clients_that_vanish_leave_nothing_behind_after_the_grace() {
    let kernel = demo().await;
    let stack = start(&kernel, &["--on-disconnect", "grace:0"]).await;
    for number in 0..200 {
        let input = stack.input(&format!("t{number}"), "r").with_user("hold");
        drop(stack.post(&input).await);
    }
    until(|| kernel.running_tasks() == 0 && kernel.connections().open() == 0).await;
    let stopped = stack.client.get("/health").await.unwrap();
    assert_eq!(stopped.status, 200);
    let again = to_the_end(stack.post(&stack.input("t0", "r2").with_user("chat")).await).await;
    assert_eq!(outcome(&again), "success");
}

#[tokio::test]
async fn a_kernel_that_fails_is_told_to_whoever_comes_back() {
    let steps = Step::turn([Step::text("a"), Step::Await("cut".to_owned()), Step::Rst]);
    let kernel = faulty(Script::new().on("SendStreamingMessage", steps).with_cancel()).await;
    let stack = Stack::start_with(&kernel.url(), DETACH, &[]).await;
    let before = leave(&stack, "t", "r", "x").await;
    let back = attach(&stack, "t", "r", Some(id(before.last().unwrap()))).await;
    kernel.release("cut");
    let after = to_the_end(back).await;
    assert_whole(&[&before, &after.events]);
    assert_eq!(error_code(&after), "A2A_UNAVAILABLE");
}

#[tokio::test]
async fn the_stream_of_the_run_itself_is_the_same_but_for_the_ids() {
    let kernels = (demo().await, demo().await);
    let (plain, numbered) = (start(&kernels.0, &[]).await, start(&kernels.1, DETACH).await);
    let one = plain.say("t", "r", "tool: list").await;
    verify(&one);
    let two = to_the_end(numbered.post(&numbered.input("t", "r").with_user("tool: list")).await).await;
    assert_eq!(one.kinds(), two.kinds());
    assert_whole(&[&two.events]);
}
