//! Connections: used again, filled up, left idle.

use std::time::Duration;

use agui_transport::{Limits, Timeouts};

use crate::agents::{Census, PARROT, STARTED, parrot, silent};
use crate::rig::{Rig, envelope, eventually, run_request};

const HEALTH: &str = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
const SERVER_BUSY: &str = "The server is busy. Try again later.";

#[tokio::test]
async fn requests_sent_in_one_go_are_answered_in_order() {
    let rig = Rig::start(parrot()).await;
    let mut client = rig.connect().await;
    client.send([HEALTH, &run_request(), &run_request(), HEALTH].concat()).await;
    let mut bodies = Vec::new();
    for _ in 0..4 {
        bodies.push(client.answer().await.body);
    }
    let health = r#"{"status":"ok","protocol":"ag-ui"}"#;
    assert_eq!(bodies, [health, PARROT, PARROT, health]);
}

#[tokio::test]
async fn a_connection_over_the_cap_is_told_so_and_can_still_probe() {
    let census = Census::default();
    let rig = Rig::with(silent(&census), |server| server.limits(Limits::new().with_max_connections(2))).await;
    let mut seated = Vec::new();
    for _ in 0..2 {
        let mut client = rig.connect().await;
        client.send(run_request()).await;
        client.until(STARTED).await;
        seated.push(client);
    }
    let answer = rig.exchange(run_request()).await;
    assert_eq!((answer.head.status, answer.body), (503, envelope("SERVER_BUSY", SERVER_BUSY)));
    assert_eq!(answer.head.header("retry-after").as_deref(), Some("1"));
    assert_eq!(answer.head.header("connection").as_deref(), Some("close"));
    assert_eq!(rig.exchange(HEALTH).await.head.status, 200);
    assert_eq!(census.begun(), 2);

    // A place that becomes free is given away again.
    seated.pop();
    eventually(|| rig.activity.connections() == 1).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    client.until(STARTED).await;
    assert_eq!(census.begun(), 3);
}

#[tokio::test]
async fn a_head_that_does_not_arrive_in_time_ends_its_connection() {
    let timeouts = Timeouts::new().with_head(Duration::from_millis(50));
    let rig = Rig::with(parrot(), |server| server.timeouts(timeouts)).await;
    let mut slow = rig.connect().await;
    slow.send("POST / HTTP/1.1\r\nHost: loc").await;
    let mut mute = rig.connect().await;
    let mut idle = rig.connect().await;
    assert_eq!(idle.exchange(HEALTH).await.head.status, 200);
    slow.closed().await;
    mute.closed().await;
    idle.closed().await;
    rig.deserted().await;
}

#[tokio::test]
async fn the_head_timeout_does_not_end_a_stream() {
    let timeouts =
        Timeouts::new().with_head(Duration::from_millis(20)).with_heartbeat(Duration::from_millis(20));
    let rig = Rig::with(silent(&Census::default()), |server| server.timeouts(timeouts)).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    client.until(STARTED).await;
    for _ in 0..5 {
        client.until(": heartbeat\n\n").await;
    }
}

#[tokio::test]
async fn a_head_that_is_too_large_gets_431() {
    let rig = Rig::with(parrot(), |server| server.limits(Limits::new().with_max_head_bytes(8 * 1024))).await;
    let padding = "x".repeat(9 * 1024);
    let mut client = rig.connect().await;
    client.send(format!("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Padding: {padding}\r\n\r\n")).await;
    assert_eq!(client.head().await.status, 431);
    client.closed().await;
}
