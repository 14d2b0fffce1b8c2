//! The test client against servers whose behaviour is known.

use std::time::Duration;

use agui_testkit::TestkitError;
use agui_testkit::client::input::{RunInput, decision};
use agui_testkit::client::raw::{Hangup, RawConnection, leave_after_events, leave_before_headers};
use agui_testkit::client::{StreamEnd, TestClient};
use agui_testkit::faulty::{FaultyServer, Framing, Script, Step};
use serde_json::json;

/// A server that streams numbered AG-UI-like events and then waits.
async fn counting(count: usize, then: Step) -> FaultyServer {
    let mut steps = vec![Step::sse()];
    steps.extend((0..count).map(|number| Step::Datum(format!(r#"{{"type":"N","delta":"{number}"}}"#))));
    steps.push(then);
    FaultyServer::start(Script::new().always("POST /", steps)).await.unwrap()
}

fn input() -> serde_json::Value {
    RunInput::new("t1", "r1", "/ws").with_user("hi").with_answer(decision("p1", "deny")).to_json()
}

#[tokio::test]
async fn events_keep_their_text_and_their_time() {
    let server = counting(3, Step::End).await;
    let client = TestClient::new(&server.url()).unwrap().with_token("t").with_header("accept-language", "fr");
    let got = client.post("/", &input()).await.unwrap().events().collect().await;
    assert_eq!((got.status, got.kinds(), got.text("N").as_str()), (200, vec!["N"; 3], "012"));
    assert_eq!(got.find("N"), Some(&json!({"type": "N", "delta": "0"})));
    assert_eq!(got.events[0].raw, "data: {\"type\":\"N\",\"delta\":\"0\"}\r\n\r\n");
    assert!(got.events.windows(2).all(|pair| pair[0].at <= pair[1].at));
    let request = &server.requests().all()[0];
    let sent = ["authorization", "accept-language", "content-type"].map(|name| request.header(name).unwrap());
    assert_eq!(sent, ["Bearer t", "fr", "application/json"]);
    assert_eq!(request.json, input());
    let shown = format!("{request:?}");
    assert!(!shown.contains("Bearer") && !shown.contains("hi"), "{shown}");
}

#[tokio::test]
async fn dropping_a_stream_closes_its_connection() {
    let server = counting(5, Step::Stall).await;
    let client = TestClient::new(&server.url()).unwrap();
    let got = client
        .post("/", &input())
        .await
        .unwrap()
        .events()
        .collect_until(|event| event.json["delta"] == "1")
        .await;
    assert_eq!((got.text("N").as_str(), got.end), ("01", StreamEnd::LeftByClient));
    server.connections().wait_open(0).await.unwrap();
    let response = client.post("/", &input()).await.unwrap();
    drop(response);
    server.connections().wait_open(0).await.unwrap();
    assert_eq!(server.connections().accepted(), 2);
}

#[tokio::test]
async fn rude_clients_leave_when_they_say() {
    let server = counting(20, Step::Stall).await;
    for how in [Hangup::Fin, Hangup::Rst] {
        leave_before_headers(&server.url(), "/", &input(), how).await.unwrap();
        let came = leave_after_events(&server.url(), "/", &input(), 3, how).await.unwrap();
        assert!(String::from_utf8(came).unwrap().matches("data:").count() >= 3);
        server.connections().wait_open(0).await.unwrap();
    }
    assert_eq!(server.connections().accepted(), 4);
}

#[tokio::test]
async fn a_slow_reader_gets_everything_in_its_own_time() {
    let mut steps = vec![Step::sse_framed(Framing::UntilClose)];
    steps.extend((0..200).map(|_| Step::huge(1000)));
    let server = FaultyServer::start(Script::new().always("*", steps)).await.unwrap();
    let mut slow = RawConnection::connect_with_buffer(&server.url(), 4096).await.unwrap();
    slow.post("/", &json!({"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage"})).await.unwrap();
    let all = slow.read_slowly(8192, Duration::from_micros(10)).await.unwrap();
    assert_eq!(String::from_utf8(all).unwrap().matches("xxxxx\"").count(), 200);
}

#[tokio::test]
async fn a_half_closed_client_is_seen_as_gone() {
    let server = counting(2, Step::Stall).await;
    let mut raw = RawConnection::connect(&server.url()).await.unwrap();
    raw.post("/", &input()).await.unwrap();
    raw.read_until("data:", 2).await.unwrap();
    raw.half_close().await.unwrap();
    assert_eq!(raw.read(10).await.unwrap(), b"");
    server.connections().wait_open(0).await.unwrap();
}

#[test]
fn only_http_urls_with_a_port_are_taken() {
    for url in ["https://127.0.0.1:1", "http://127.0.0.1", "127.0.0.1:1"] {
        assert!(matches!(TestClient::new(url), Err(TestkitError::Url)), "{url}");
    }
    assert!(TestClient::new("http://127.0.0.1:1/path").is_ok());
}
