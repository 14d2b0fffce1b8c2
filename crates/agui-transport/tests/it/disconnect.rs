//! Clients that leave: the agent learns of each, at once, and nothing stays behind.

use std::time::Duration;

use agui_core::{Problem, RunRequest};
use agui_transport::Timeouts;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{Semaphore, mpsc};

use crate::agents::{Census, STARTED, Scripted, begin, silent};
use crate::client::soon;
use crate::rig::{INPUT, Rig, eventually, post, run_request};

#[tokio::test]
async fn a_client_that_closes_during_silence_is_noticed_without_a_heartbeat() {
    let census = Census::default();
    let rig = Rig::start(silent(&census)).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    client.until(STARTED).await;
    drop(client);
    // The heartbeat is 15 s away.
    eventually(|| census.left() == 1).await;
    rig.deserted().await;
}

#[tokio::test]
async fn a_client_that_resets_its_connection_is_noticed() {
    let census = Census::default();
    let rig = Rig::start(silent(&census)).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    client.until(STARTED).await;
    client.socket.set_zero_linger().unwrap();
    drop(client);
    eventually(|| census.left() == 1).await;
    rig.deserted().await;
}

#[tokio::test]
async fn a_client_that_closes_its_writing_side_has_left() {
    let census = Census::default();
    let rig = Rig::start(silent(&census)).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    client.until(STARTED).await;
    client.socket.shutdown().await.unwrap();
    eventually(|| census.left() == 1).await;
    client.closed().await;
    rig.deserted().await;
}

#[tokio::test]
async fn a_client_that_asked_for_the_connection_to_close_is_noticed_all_the_same() {
    let census = Census::default();
    let rig = Rig::start(silent(&census)).await;
    for request in [
        run_request().replace("Host:", "Connection: close\r\nHost:"),
        run_request().replace("HTTP/1.1", "HTTP/1.0"),
    ] {
        let mut client = rig.connect().await;
        client.send(request).await;
        client.until(STARTED).await;
    }
    eventually(|| census.left() == 2).await;
    rig.deserted().await;
}

#[tokio::test]
async fn a_client_that_had_sent_its_next_request_is_noticed_by_the_heartbeat() {
    let census = Census::default();
    let timeouts = Timeouts::new().with_heartbeat(Duration::from_millis(20));
    let rig = Rig::with(silent(&census), |server| server.timeouts(timeouts)).await;
    let mut client = rig.connect().await;
    client.send([run_request(), post("/", &INPUT.replace("r1", "r2"))].concat()).await;
    client.until(STARTED).await;
    drop(client);
    eventually(|| census.left() == 1).await;
    rig.deserted().await;
    assert_eq!(census.begun(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_clients_that_vanish_leave_nothing_behind() {
    const CLIENTS: usize = 200;
    let census = Census::default();
    let rig = Rig::start(silent(&census)).await;
    let mut clients = Vec::new();
    for n in 0..CLIENTS {
        let mut client = rig.connect().await;
        client.send(run_request()).await;
        match n % 4 {
            // Gone before an answer can have come.
            0 => drop(client),
            // Gone by a reset after the first event.
            1 => {
                client.until(STARTED).await;
                client.socket.set_zero_linger().unwrap();
                clients.push(client);
            }
            // Gone in the silence that follows.
            _ => {
                client.until(STARTED).await;
                clients.push(client);
            }
        }
    }
    drop(clients);
    rig.deserted().await;
    // A client of the first kind may be gone before its request was even looked at.
    eventually(|| census.left() == census.begun()).await;
    assert!(census.begun() >= CLIENTS * 3 / 4, "{}", census.begun());
    assert_eq!(rig.exchange("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.head.status, 200);
}

#[tokio::test]
async fn an_admission_that_has_begun_is_finished_when_the_client_leaves() {
    let gate = std::sync::Arc::new(Semaphore::new(0));
    let (to, mut admitted) = mpsc::unbounded_channel();
    let census = Census::default();
    let agent = {
        let (gate, census) = (gate.clone(), census.clone());
        Scripted(move |request: RunRequest| {
            let (gate, to, census) = (gate.clone(), to.clone(), census.clone());
            async move {
                to.send("begun").ok();
                let _slow = gate.acquire().await.map_err(|_| Problem::new(500, "X", "x"))?;
                let (sink, stream) = begin(&request);
                to.send("finished").ok();
                tokio::spawn(async move {
                    sink.closed().await;
                    census.leave();
                });
                Ok(stream)
            }
        })
    };
    let rig = Rig::start(agent).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    assert_eq!(soon(admitted.recv()).await, Some("begun"));
    drop(client);
    rig.deserted().await;
    gate.add_permits(1);
    assert_eq!(soon(admitted.recv()).await, Some("finished"));
    eventually(|| census.left() == 1).await;
}
