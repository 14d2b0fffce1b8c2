//! The end of a server.

use std::time::Duration;

use agui_core::{Agent, RunRequest};
use agui_transport::{Stopped, Timeouts};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::agents::{Census, STARTED, Scripted, begin, finish, parrot, silent};
use crate::rig::{INPUT, Rig, envelope, eventually, run_request};

const SHUTTING_DOWN: &str = "The server is shutting down. Try again later.";
const HEALTH: &str = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Ends its runs when told to.
fn obedient(shutdown: &CancellationToken) -> impl Agent + use<> {
    let shutdown = shutdown.clone();
    Scripted(move |request: RunRequest| {
        let shutdown = shutdown.clone();
        async move {
            let (sink, stream) = begin(&request);
            tokio::spawn(async move {
                shutdown.cancelled().await;
                finish(&request, sink);
            });
            Ok(stream)
        }
    })
}

#[tokio::test]
async fn streams_end_with_the_last_word_of_the_agent() {
    let told = CancellationToken::new();
    let rig = Rig::start(obedient(&told)).await;
    let mut clients = Vec::new();
    for _ in 0..3 {
        let mut client = rig.connect().await;
        client.send(run_request()).await;
        client.until(STARTED).await;
        clients.push(client);
    }
    let mut idle = rig.connect().await;
    assert_eq!(idle.exchange(HEALTH).await.head.status, 200);
    let mut mute = rig.connect().await;
    let addr = rig.addr;

    rig.shutdown.cancel();
    idle.closed().await;
    mute.closed().await;
    told.cancel();
    for client in &mut clients {
        let end = "data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n\r\n0\r\n\r\n";
        client.until(end).await;
        assert_eq!(client.rest().await, b"");
    }
    assert_eq!(rig.stopped().await, Stopped::Clean);
    assert!(TcpStream::connect(addr).await.is_err());
}

#[tokio::test]
async fn a_run_that_comes_too_late_is_refused() {
    let census = Census::default();
    let rig = Rig::start(silent(&census)).await;
    let mut client = rig.connect().await;
    let head = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        INPUT.len()
    );
    client.send(head).await;
    assert_eq!(client.head().await.status, 100);
    rig.shutdown.cancel();
    let answer = client.exchange(INPUT).await;
    assert_eq!((answer.head.status, answer.body), (503, envelope("SHUTTING_DOWN", SHUTTING_DOWN)));
    assert_eq!(answer.head.header("connection").as_deref(), Some("close"));
    assert_eq!(census.begun(), 0);
    assert_eq!(rig.stopped().await, Stopped::Clean);
}

#[tokio::test]
async fn a_stream_that_its_agent_does_not_end_is_ended_with_an_error() {
    let timeouts = Timeouts::new().with_shutdown(Duration::from_millis(50));
    let rig = Rig::with(silent(&Census::default()), |server| server.timeouts(timeouts)).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    client.until(STARTED).await;
    rig.shutdown.cancel();
    let error = format!(
        "data: {{\"type\":\"RUN_ERROR\",\"message\":\"{SHUTTING_DOWN}\",\"code\":\"SHUTTING_DOWN\"}}\n\n\r\n0\r\n\r\n"
    );
    client.until(&error).await;
    assert_eq!(rig.stopped().await, Stopped::Forced);
}

#[tokio::test]
async fn an_admission_that_never_ends_does_not_hold_the_server() {
    let timeouts = Timeouts::new().with_shutdown(Duration::from_millis(50));
    let census = Census::default();
    let stuck = {
        let census = census.clone();
        Scripted(move |_: RunRequest| {
            census.begin();
            std::future::pending()
        })
    };
    let rig = Rig::with(stuck, |server| server.timeouts(timeouts)).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    eventually(|| census.begun() == 1).await;
    rig.shutdown.cancel();
    assert_eq!(rig.stopped().await, Stopped::Forced);
    client.closed().await;
}

#[tokio::test]
async fn a_server_that_is_dropped_takes_its_connections_with_it() {
    let census = Census::default();
    let rig = Rig::start(silent(&census)).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    client.until(STARTED).await;
    let activity = rig.activity.clone();
    drop(rig);
    client.closed().await;
    eventually(|| activity.connections() == 0 && census.left() == 1).await;
}

#[tokio::test]
async fn nothing_to_wait_for_means_no_waiting() {
    let rig = Rig::start(parrot()).await;
    rig.shutdown.cancel();
    assert_eq!(rig.stopped().await, Stopped::Clean);
}
