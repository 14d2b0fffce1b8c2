//! What a stream delivers and how it ends.

use std::task::Poll;
use std::time::Duration;

use a2a_client::{Client, ClientError, Delivery};
use a2a_wire::StreamItem;

use crate::peer::{Peer, drain, json_answer, message, said, soon, status, status_json};

async fn drained(records: Vec<Vec<u8>>) -> (Vec<String>, String) {
    let peer = Peer::streaming(records).await;
    let mut stream = peer.client().send_streaming(&message()).await.unwrap();
    soon(drain(&mut stream)).await
}

fn seen(texts: &[&str], end: &str) -> (Vec<String>, String) {
    (texts.iter().map(|text| (*text).to_owned()).collect(), end.to_owned())
}

#[tokio::test]
async fn updates_arrive_in_order_whatever_the_framing() {
    let lf = format!("data: {}\n\n", status_json("b")).into_bytes();
    let bare = format!("data:{}\r\r", status_json("c")).into_bytes();
    let ping = b": ping - 2026-11-30 15:12:40.341524+00:00\r\n\r\n".to_vec();
    let split = status("d\u{2028}e");
    let (head, tail) = split.split_at(split.len() - 3);
    let no_blank_line = format!("data: {}\r\n", status_json("f")).into_bytes();
    let records =
        vec![status("a"), ping, lf, bare, b"data:\n\n".to_vec(), head.to_vec(), tail.to_vec(), no_blank_line];
    assert_eq!(drained(records).await, seen(&["a", "b", "c", "d\u{2028}e", "f"], "end"));
}

#[tokio::test]
async fn repaired_text_reaches_the_caller() {
    let json = status_json(r"plan \ud83d done");
    let records = vec![format!("data: {json}\n\n").into_bytes()];
    assert_eq!(drained(records).await, seen(&["plan \u{fffd} done"], "end"));
}

#[tokio::test]
async fn datum_that_cannot_be_read_does_not_end_the_stream() {
    let records = vec![b"data: oops\n\n".to_vec(), status("a")];
    assert_eq!(drained(records).await, seen(&["invalid JSON at line 1, column 1", "a"], "end"));
}

#[tokio::test]
async fn error_event_ends_the_stream_without_its_text() {
    let error = r#"{"error":{"code":-32603,"message":"sk-1","data":null},"id":"1","jsonrpc":"2.0"}"#;
    for record in [format!("event: error\r\ndata: {error}\r\n\r\n"), format!("data: {error}\n\n")] {
        let peer = Peer::streaming(vec![status("a"), record.into_bytes(), status("never")]).await;
        let mut stream = peer.client().send_streaming(&message()).await.unwrap();
        assert_eq!(said(&soon(stream.next()).await.unwrap().unwrap()), "a");
        let failed = soon(stream.next()).await.unwrap().unwrap_err();
        assert_eq!(
            (failed.to_string().as_str(), failed.delivery()),
            ("JSON-RPC error -32603", Delivery::Unknown)
        );
        assert!(stream.next().await.is_none() && stream.is_ended());
    }
    let records = vec![b"event: error\ndata: sk-1\n\n".to_vec()];
    assert_eq!(drained(records).await, seen(&[], "answer could not be decoded"));
}

#[tokio::test]
async fn connection_that_ends_early_is_a_cut_and_no_end() {
    let cut_in_chunk = Peer::start(|_, mut connection| async move {
        connection.read_request().await;
        connection.open_stream().await;
        connection.chunk(&status("a")).await;
        connection.write(b"ff\r\ndata: {").await;
    });
    let cut_between_chunks = Peer::start(|_, mut connection| async move {
        connection.read_request().await;
        connection.open_stream().await;
        connection.chunk(&status("a")).await;
    });
    for peer in [cut_in_chunk.await, cut_between_chunks.await] {
        let mut stream = peer.client().send_streaming(&message()).await.unwrap();
        assert_eq!(soon(drain(&mut stream)).await, seen(&["a"], "connection was cut"));
    }
    let half_line = drained(vec![status("a"), b"data: {\"result\"".to_vec()]).await;
    assert_eq!(half_line, seen(&["a"], "connection was cut"));
}

#[tokio::test]
async fn reset_connection_is_a_cut() {
    let (saw_first, first_seen) = tokio::sync::oneshot::channel::<()>();
    let first_seen = std::sync::Mutex::new(Some(first_seen));
    let peer = Peer::start(move |_, mut connection| {
        let first_seen = first_seen.lock().unwrap().take();
        async move {
            connection.read_request().await;
            connection.open_stream().await;
            connection.chunk(&status("a")).await;
            first_seen.unwrap().await.unwrap();
            connection.reset();
        }
    })
    .await;
    let mut stream = peer.client().send_streaming(&message()).await.unwrap();
    assert_eq!(said(&soon(stream.next()).await.unwrap().unwrap()), "a");
    saw_first.send(()).unwrap();
    let failed = soon(stream.next()).await.unwrap().unwrap_err();
    assert!(matches!(failed, ClientError::Cut(Some(_))), "{failed:?}");
    assert_eq!(failed.delivery(), Delivery::Unknown);
}

#[tokio::test]
async fn silent_stream_is_given_up() {
    let peer = Peer::start(|_, mut connection| async move {
        connection.read_request().await;
        connection.open_stream().await;
        connection.chunk(&status("a")).await;
        connection.closed().await;
    })
    .await;
    let config = peer.config().with_idle_timeout(Duration::from_millis(50));
    let mut stream = Client::new(config).unwrap().send_streaming(&message()).await.unwrap();
    assert_eq!(soon(drain(&mut stream)).await, seen(&["a"], "stream was silent for 50 ms"));
}

#[tokio::test]
async fn pings_keep_a_stream_that_says_nothing() {
    let idle = Duration::from_millis(600);
    let peer = Peer::start(move |_, mut connection| async move {
        connection.read_request().await;
        connection.open_stream().await;
        let mut pace = tokio::time::interval(idle / 10);
        for _ in 0..15 {
            pace.tick().await;
            connection.chunk(b": ping\r\n\r\n").await;
        }
        connection.chunk(&status("a")).await;
        connection.end_stream().await;
    })
    .await;
    let client = Client::new(peer.config().with_idle_timeout(idle)).unwrap();
    let mut stream = client.send_streaming(&message()).await.unwrap();
    assert_eq!(soon(drain(&mut stream)).await, seen(&["a"], "end"));
}

#[tokio::test]
async fn datum_of_8_mib_is_read_and_the_cap_is_kept() {
    let text = "x".repeat(8 * 1024 * 1024);
    let peer = Peer::streaming(vec![status(&text), status("after")]).await;

    let mut stream = peer.client().send_streaming(&message()).await.unwrap();
    let datum = soon(stream.next()).await.unwrap().unwrap();
    assert!(said(&datum) == text);
    assert_eq!(soon(drain(&mut stream)).await, seen(&["after"], "end"));

    let client = Client::new(peer.config().with_max_datum_bytes(1024 * 1024)).unwrap();
    let mut stream = client.send_streaming(&message()).await.unwrap();
    assert_eq!(soon(drain(&mut stream)).await, seen(&[], "answer is larger than 1048576 bytes"));
}

#[tokio::test]
async fn what_has_arrived_is_taken_without_waiting() {
    let peer = Peer::start(|_, mut connection| async move {
        connection.read_request().await;
        connection.open_stream().await;
        connection.chunk(&[status("a"), status("b"), status("c")].concat()).await;
        connection.closed().await;
    })
    .await;
    let mut stream = peer.client().send_streaming(&message()).await.unwrap();
    let mut seen = vec![said(&soon(stream.next()).await.unwrap().unwrap())];
    while let Poll::Ready(Some(datum)) = stream.next_arrived().await {
        seen.push(said(&datum.unwrap()));
    }
    assert_eq!(seen, ["a", "b", "c"]);
    assert!(stream.next_arrived().await.is_pending() && !stream.is_ended());
}

#[tokio::test]
async fn plain_result_of_a_streaming_call_is_its_only_update() {
    let body = r#"{"jsonrpc":"2.0","id":"1","result":{"task":{"id":"T1","status":{"state":"completed"}}}}"#;
    let peer = Peer::answering(json_answer(body)).await;
    let mut stream = peer.client().subscribe("T1").await.unwrap();
    assert_eq!(soon(drain(&mut stream)).await, seen(&["task T1 TASK_STATE_COMPLETED"], "end"));
    assert!(stream.is_ended());
}

#[tokio::test]
async fn error_that_follows_a_result_is_still_an_error() {
    let record = br#"data: {"result":{"task":{"id":"T1"}},"error":{"code":-32603}}"#;
    let peer = Peer::streaming(vec![[&record[..], b"\n\n"].concat()]).await;
    let mut stream = peer.client().send_streaming(&message()).await.unwrap();
    let datum = soon(stream.next()).await.unwrap().unwrap();
    assert!(!matches!(datum.item(), Ok(StreamItem::Task(_))));
    assert_eq!(said(&datum), "reply is error -32603");
}
