//! Sockets: who opens them, who closes them, who waits for whom.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_client::{ClientError, Delivery};
use tokio::sync::mpsc;

use crate::peer::{Peer, json_answer, message, said, soon, status};

const TASK: &str =
    r#"{"result":{"id":"T1","status":{"state":"TASK_STATE_WORKING"}},"id":"1","jsonrpc":"2.0"}"#;

/// A peer that holds every stream after one update, answers everything else, and tells when a client
/// has closed a stream.
async fn holding() -> (Peer, mpsc::UnboundedReceiver<()>) {
    let (closed, closings) = mpsc::unbounded_channel();
    let peer = Peer::start(move |_, mut connection| {
        let closed = closed.clone();
        async move {
            if !connection.read_request().await.contains("SendStreamingMessage") {
                connection.write(&json_answer(TASK)).await;
                return;
            }
            connection.open_stream().await;
            connection.chunk(&status("a")).await;
            connection.closed().await;
            let _ = closed.send(());
        }
    })
    .await;
    (peer, closings)
}

#[tokio::test]
async fn dropped_stream_closes_its_socket() {
    let (peer, mut closings) = holding().await;
    let mut stream = peer.client().send_streaming(&message()).await.unwrap();
    assert_eq!(said(&soon(stream.next()).await.unwrap().unwrap()), "a");
    drop(stream);
    soon(closings.recv()).await.unwrap();
}

#[tokio::test]
async fn dropped_call_closes_its_socket() {
    let (arrived, mut arrivals) = mpsc::unbounded_channel();
    let peer = Peer::start(move |_, mut connection| {
        let arrived = arrived.clone();
        async move {
            connection.read_request().await;
            arrived.send("request").unwrap();
            connection.closed().await;
            arrived.send("closed").unwrap();
        }
    })
    .await;
    let client = peer.client();
    let request = message();
    let mut call = Box::pin(client.send_streaming(&request));
    tokio::select! {
        // Both are cancel safe: the call is meant to be dropped here.
        _ = &mut call => panic!("the peer does not answer"),
        event = soon(arrivals.recv()) => assert_eq!(event, Some("request")),
    }
    drop(call);
    assert_eq!(soon(arrivals.recv()).await, Some("closed"));
}

#[tokio::test]
async fn control_calls_are_answered_while_300_streams_are_open() {
    let (peer, mut closings) = holding().await;
    let client = peer.client();
    let mut streams = Vec::new();
    for _ in 0..300 {
        let mut stream = soon(client.send_streaming(&message())).await.unwrap();
        assert_eq!(said(&soon(stream.next()).await.unwrap().unwrap()), "a");
        streams.push(stream);
    }
    for _ in 0..3 {
        let task = soon(client.cancel_task("T1")).await.unwrap();
        assert_eq!(said(&task), "task T1 TASK_STATE_WORKING");
    }
    assert_eq!(peer.connections(), 303);
    drop(streams);
    for _ in 0..300 {
        soon(closings.recv()).await.unwrap();
    }
}

#[tokio::test]
async fn peer_that_closes_kept_alive_connections_breaks_no_call() {
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: keep-alive\r\ncontent-length: {}\r\n\r\n{TASK}",
        TASK.len()
    );
    let peer = Peer::answering(answer).await;
    let client = peer.client();
    for _ in 0..50 {
        assert_eq!(said(&soon(client.get_task("T1", Some(0))).await.unwrap()), "task T1 TASK_STATE_WORKING");
    }
    assert_eq!(peer.connections(), 50);
}

#[tokio::test]
async fn request_that_may_have_had_an_effect_is_sent_once() {
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&requests);
    let peer = Peer::start(move |_, mut connection| {
        let counter = Arc::clone(&counter);
        async move {
            connection.read_request().await;
            counter.fetch_add(1, Ordering::SeqCst);
        }
    })
    .await;
    let error = soon(peer.client().send(&message())).await.unwrap_err();
    assert!(matches!(error, ClientError::Cut(_)), "{error:?}");
    assert_eq!((error.delivery(), requests.load(Ordering::SeqCst)), (Delivery::Unknown, 1));
}

#[test]
fn streams_and_clients_move_between_threads() {
    fn assert_send<T: Send>() {}
    fn assert_sync<T: Sync>() {}
    assert_send::<a2a_client::UpdateStream>();
    assert_send::<a2a_client::Datum>();
    assert_sync::<a2a_client::Client>();
}
