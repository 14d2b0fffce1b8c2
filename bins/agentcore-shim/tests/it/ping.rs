//! `GET /ping`.

use http::Method;
use serde_json::json;

use crate::fake_agent::{FINISHED, FakeAgent, STARTED, Step, hello};
use crate::socket::Socket;
use crate::stack::{Shim, last, outcome, say};

fn unix_s() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

#[tokio::test]
async fn r18_r19_r20_r25_ping_is_answered_for_an_agent_that_knows_nothing_of_it() {
    let before = unix_s();
    let agent = FakeAgent::start(hello()).await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    let response = shim.client.get("/ping").await.unwrap();
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    let document = response.json().await.unwrap();
    let time = document["time_of_last_update"].as_u64().unwrap();
    assert_eq!(document, json!({"status": "Healthy", "time_of_last_update": time}));
    assert!((before..=unix_s()).contains(&time), "{time} are the seconds of the start");
    let head = shim.client.send(Method::HEAD, "/ping", None).await.unwrap();
    assert_eq!((head.status, head.bytes().await.unwrap().len()), (200, 0));
    assert!(agent.requests().is_empty());
}

#[tokio::test]
async fn r21_row_1_a_run_makes_it_busy_and_the_time_stands_still_meanwhile() {
    let agent = FakeAgent::start(vec![STARTED, Step::Hold, FINISHED]).await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    let mut events = shim.client.post("/invocations", &say("t", "r", "hi")).await.unwrap().events();
    events.next().await.unwrap();
    let since = shim.pings("HealthyBusy").await;
    // Longer than a second: a time that moved with the clock would show.
    let again = tokio::time::Instant::now() + std::time::Duration::from_millis(1100);
    tokio::time::sleep_until(again).await;
    let (status, document) = shim.ping().await;
    assert_eq!((status, document), (200, json!({"status": "HealthyBusy", "time_of_last_update": since})));
    agent.release();
    assert_eq!(outcome(&events.collect().await), "success");
    assert!(shim.pings("Healthy").await > since);
}

#[tokio::test]
async fn r22_r23_r24_the_time_is_there_and_moves_only_with_the_state() {
    let shim = Shim::demo().await;
    let (_, first) = shim.ping().await;
    let again = tokio::time::Instant::now() + std::time::Duration::from_millis(1100);
    tokio::time::sleep_until(again).await;
    for _ in 0..50 {
        assert_eq!(shim.ping().await.1, first);
    }
}

#[tokio::test]
async fn row_1_runs_of_sockets_and_runs_that_nobody_reads_count_too() {
    let agent = FakeAgent::start(vec![STARTED, Step::Hold, FINISHED]).await;
    let shim = Shim::in_front_of(&agent.url(), &["--on-disconnect", "detach"]).await;
    let mut socket = Socket::open(&shim).await;
    shim.pings("Healthy").await;
    socket.send(&say("t", "r", "hi")).await;
    socket.event().await;
    shim.pings("HealthyBusy").await;
    socket.close().await;
    // It goes on although its client has gone.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!((shim.ping().await.1["status"].as_str(), agent.open()), (Some("HealthyBusy"), 1));
    agent.release();
    shim.pings("Healthy").await;
}

#[tokio::test]
async fn row_2_a_flood_of_events_holds_no_probe_up() {
    let shim = Shim::demo().await;
    let mut events = shim.client.post("/invocations", &say("t", "r", "long 100000")).await.unwrap().events();
    let mut count = 0;
    let mut during = 0;
    while let Some(event) = events.next().await {
        count += 1;
        if count % 10_000 == 0 {
            let (status, document) = shim.ping().await;
            assert_eq!(status, 200);
            during += usize::from(document["status"] == "HealthyBusy");
        }
        if event.kind() == "RUN_FINISHED" {
            break;
        }
    }
    assert!(count > 100_000 && during >= 9, "{count} events, {during} probes");
}

#[tokio::test]
async fn row_3_every_state_is_a_document_and_none_a_failure_of_its_own() {
    let shim = Shim::start(&["--a2a-command", "false"], &[]).await;
    shim.pings("Unhealthy").await;
    let response = shim.client.get("/ping").await.unwrap();
    assert_eq!((response.status, response.header("content-type")), (503, Some("application/json")));
    assert_eq!(response.json().await.unwrap()["reason"], "the agent does not start");
}

#[tokio::test]
async fn a_question_that_waits_keeps_the_session_only_if_that_is_wanted() {
    let asks = || {
        FakeAgent::start(vec![
            STARTED,
            Step::Event(
                r#"{"type":"RUN_FINISHED","threadId":"{thread}","runId":"{run}","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"ask"}]}}"#,
            ),
        ])
    };
    let (idle_agent, busy_agent) = (asks().await, asks().await);
    let idle = Shim::in_front_of(&idle_agent.url(), &[]).await;
    let busy = Shim::in_front_of(&busy_agent.url(), &["--busy-while-parked", "--interrupt-ttl", "2"]).await;
    let demo = Shim::start(&["--demo", "--busy-while-parked", "--interrupt-ttl", "2"], &[]).await;
    for shim in [&idle, &busy, &demo] {
        let recording = shim.run(&say("t", "r", "write")).await;
        assert_eq!(last(&recording)["outcome"]["type"], "interrupt");
    }
    idle.pings("Healthy").await;
    for shim in [&busy, &demo] {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        assert_eq!(shim.ping().await.1["status"], "HealthyBusy");
        // Until its time is over.
        shim.pings("Healthy").await;
    }
}
