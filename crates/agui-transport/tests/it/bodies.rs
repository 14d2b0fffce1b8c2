//! Bodies that are too large, too slow, cut, or not wanted.

use std::time::Duration;

use agui_auth::Authenticator;
use agui_transport::{Limits, Timeouts};
use tokio::io::AsyncWriteExt as _;

use crate::agents::{PARROT, parrot};
use crate::rig::{INPUT, Rig, envelope, post, request, run_request};

const TOO_LARGE: &str = "The AG-UI request body is too large.";
const MIB: usize = 1024 * 1024;

/// A run input of exactly `bytes`.
fn input_of(bytes: usize) -> String {
    let filler = bytes - INPUT.len() - r#","state":"""#.len();
    INPUT.replace("[]}", &format!(r#"[],"state":"{}"}}"#, "x".repeat(filler)))
}

/// `body` in chunks of at most `size` bytes, without the last, empty one.
fn chunks(body: &str, size: usize) -> String {
    let pieces = body.as_bytes().chunks(size);
    pieces.map(|piece| format!("{:x}\r\n{}\r\n", piece.len(), std::str::from_utf8(piece).unwrap())).collect()
}

const CHUNKED: &str = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

#[tokio::test]
async fn s1_7_a_body_may_have_12_mib_and_not_a_byte_more() {
    let rig = Rig::start(parrot()).await;
    for (bytes, status) in [(2 * MIB + 1, 200), (12 * MIB, 200), (12 * MIB + 1, 413)] {
        let answer = rig.exchange(post("/", &input_of(bytes))).await;
        let body = if status == 200 { PARROT.to_owned() } else { envelope("REQUEST_TOO_LARGE", TOO_LARGE) };
        assert_eq!((answer.head.status, answer.body), (status, body), "{bytes}");
    }
}

#[tokio::test]
async fn s1_7_a_body_without_a_length_is_counted() {
    let rig = Rig::with(parrot(), |server| server.limits(Limits::new().with_max_run_body_bytes(1000))).await;
    for (bytes, status) in [(1000, 200), (1001, 413)] {
        let answer = rig.exchange([CHUNKED, &chunks(&input_of(bytes), 7), "0\r\n\r\n"].concat()).await;
        assert_eq!(answer.head.status, status, "{bytes}");
    }
    // One that never ends is refused as soon as it is over the cap.
    let answer = rig.exchange([CHUNKED, &chunks(&"x".repeat(1001), 100)].concat()).await;
    assert_eq!(answer.body, envelope("REQUEST_TOO_LARGE", TOO_LARGE));
    assert_eq!(answer.head.header("connection").as_deref(), Some("close"));
}

#[tokio::test]
async fn a_client_that_asks_first_is_told_to_go_on_or_not_to() {
    let rig = Rig::with(parrot(), |server| server.limits(Limits::new().with_max_run_body_bytes(1000))).await;
    let ask = |length: usize| {
        format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    let mut client = rig.connect().await;
    client.send(ask(INPUT.len())).await;
    assert_eq!(client.head().await.status, 100);
    let answer = client.exchange(INPUT).await;
    assert_eq!((answer.head.status, answer.head.header("connection")), (200, None));
    assert_eq!(answer.body, PARROT);

    client.send(ask(1001)).await;
    let answer = client.answer().await;
    assert_eq!(answer.head.status, 413);
    assert_eq!(answer.head.header("connection").as_deref(), Some("close"));
    assert_eq!(client.rest().await, b"");
}

#[tokio::test]
async fn an_early_refusal_reaches_a_client_that_is_still_sending() {
    let rig =
        Rig::with(parrot(), |server| server.authenticator(Authenticator::bearer("tok-1").unwrap())).await;
    let mut client = rig.connect().await;
    assert_eq!(client.exchange("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.head.status, 200);

    // Everything is written before anything is read.
    let answer = client.exchange(post("/", &"x".repeat(20 * MIB))).await;
    assert_eq!(answer.head.status, 401);
    assert_eq!(answer.head.header("connection").as_deref(), Some("close"));
    assert_eq!(client.rest().await, b"");
    drop(client);
    rig.deserted().await;
}

#[tokio::test]
async fn a_small_refused_body_is_skipped_and_the_connection_used_again() {
    let rig =
        Rig::with(parrot(), |server| server.authenticator(Authenticator::bearer("tok-1").unwrap())).await;
    let mut client = rig.connect().await;
    for body in [INPUT, &"x".repeat(60_000)] {
        let answer = client.exchange(post("/", body)).await;
        assert_eq!((answer.head.status, answer.head.header("connection")), (401, None));
    }
    let headers = ["Content-Type: application/json", "Authorization: Bearer tok-1"];
    assert_eq!(client.exchange(request("POST / HTTP/1.1", &headers, INPUT)).await.body, PARROT);
}

#[tokio::test]
async fn a_refused_body_that_does_not_come_is_not_waited_for_long() {
    let rig = Rig::start(parrot()).await;
    let mut client = rig.connect().await;
    client.send("POST /nope HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n").await;
    let answer = client.answer().await;
    assert_eq!(answer.head.status, 404);
    assert_eq!(answer.head.header("connection").as_deref(), Some("close"));
}

#[tokio::test]
async fn a_body_that_does_not_arrive_in_time_gets_408() {
    let timeouts = Timeouts::new().with_body(Duration::from_millis(50));
    let rig = Rig::with(parrot(), |server| server.timeouts(timeouts)).await;
    let request = run_request();
    let answer = rig.exchange(&request[..request.len() - 1]).await;
    assert_eq!(answer.head.status, 408);
    assert_eq!(answer.head.header("connection").as_deref(), Some("close"));
    assert!(answer.body.starts_with(r#"{"error":{"code":"REQUEST_TIMEOUT","#), "{}", answer.body);
}

#[tokio::test]
async fn a_body_that_is_shorter_than_it_said_starts_no_run() {
    let rig = Rig::start(parrot()).await;
    let mut client = rig.connect().await;
    let request = run_request();
    client.send(&request[..request.len() - 1]).await;
    client.socket.shutdown().await.unwrap();
    let rest = String::from_utf8(client.rest().await).unwrap();
    assert!(rest.is_empty() || rest.starts_with("HTTP/1.1 400 "), "{rest}");
    rig.deserted().await;
}
