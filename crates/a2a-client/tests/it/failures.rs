//! Answers that are no stream and no result, each with its own error.

use std::time::Duration;

use a2a_client::{Client, ClientConfig, ClientError, Delivery};
use agui_iac_code::Secret;

use crate::peer::{Peer, answer, json_answer, message, soon};

const JSON: &str = "content-type: application/json\r\n";
const HTML: &str = "content-type: text/html\r\n";
const PAGE: &str = "<html>sk-1 /home/bob</html>";

/// Checks that a streaming and a unary call fail alike on the same answer.
async fn assert_fails(bytes: Vec<u8>, text: &str, delivery: Delivery) {
    let shown = String::from_utf8_lossy(&bytes).into_owned();
    let peer = Peer::answering(bytes).await;
    let client = peer.client();
    let streaming = soon(client.send_streaming(&message())).await.unwrap_err();
    let unary = soon(client.send(&message())).await.unwrap_err();
    let seen = [streaming, unary].map(|error| (error.to_string(), error.delivery()));
    assert_eq!(seen, [(text.to_owned(), delivery), (text.to_owned(), delivery)], "{shown}");
}

#[tokio::test]
async fn plain_json_errors_are_json_rpc_failures() {
    let cases = [
        (
            "200 OK",
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no task"}}"#,
            "JSON-RPC error -32001",
        ),
        (
            "200 OK",
            r#"{"error":{"code":-32602,"message":"sk-1","data":{"code":"SESSION_BACKUP_NOT_READY","retryable":true}},"id":"1"}"#,
            "JSON-RPC error -32602 (SESSION_BACKUP_NOT_READY)",
        ),
        (
            "400 Bad Request",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"sk-1"}}"#,
            "JSON-RPC error -32600",
        ),
    ];
    for (status, body, text) in cases {
        assert_fails(answer(status, JSON, body), text, Delivery::Refused).await;
    }
}

#[tokio::test]
async fn http_refusals_are_told_apart() {
    let not_ready = r#"{"error":{"code":"SESSION_BACKUP_NOT_READY","retryable":true}}"#;
    let unauthorized = r#"{"error":"Unauthorized"}"#;
    let cases = [
        ("401 Unauthorized", JSON, unauthorized, "not authorized (HTTP 401)", Delivery::Refused),
        ("403 Forbidden", HTML, PAGE, "forbidden (HTTP 403)", Delivery::Refused),
        (
            "429 Too Many Requests",
            "retry-after: 7\r\n",
            "",
            "too many requests (HTTP 429)",
            Delivery::Refused,
        ),
        ("302 Found", "location: http://127.0.0.1:1/\r\n", "", "redirected (HTTP 302)", Delivery::Refused),
        ("404 Not Found", "content-type: text/plain\r\n", "Not Found", "HTTP 404", Delivery::Refused),
        ("502 Bad Gateway", HTML, PAGE, "HTTP 502", Delivery::Unknown),
        (
            "503 Service Unavailable",
            JSON,
            not_ready,
            "HTTP 503 (SESSION_BACKUP_NOT_READY)",
            Delivery::Unknown,
        ),
    ];
    for (status, headers, body, text, delivery) in cases {
        assert_fails(answer(status, headers, body), text, delivery).await;
    }
}

#[tokio::test]
async fn successes_without_an_answer_are_failures() {
    let gzip = "content-type: application/json\r\ncontent-encoding: gzip\r\n";
    let short = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{}";
    let cases = [
        (answer("200 OK", HTML, PAGE), "unexpected content (HTTP 200)"),
        (answer("200 OK", JSON, ""), "unexpected content (HTTP 200)"),
        (answer("200 OK", JSON, "sk-1"), "answer could not be decoded"),
        (answer("200 OK", JSON, "{}"), "answer could not be decoded"),
        (b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(), "unexpected content (HTTP 204)"),
        (answer("200 OK", gzip, "\u{1f}\u{8b}"), "answer is compressed"),
        (b"SSH-2.0-sk-1\r\n".to_vec(), "answer is not HTTP/1"),
        (short.to_vec(), "connection was cut"),
        (Vec::new(), "connection was cut"),
    ];
    for (bytes, text) in cases {
        assert_fails(bytes, text, Delivery::Unknown).await;
    }
}

#[tokio::test]
async fn retry_after_is_kept() {
    let peer = Peer::answering(answer("429 Too Many Requests", "retry-after: 7\r\n", "")).await;
    let error = soon(peer.client().cancel_task("T1")).await.unwrap_err();
    assert!(matches!(error, ClientError::RateLimited { retry_after_s: Some(7) }));

    let peer = Peer::answering(answer("503 Service Unavailable", "retry-after: 3\r\n", "")).await;
    let ClientError::Http(failure) = soon(peer.client().cancel_task("T1")).await.unwrap_err() else {
        panic!("an HTTP failure");
    };
    assert_eq!((failure.status, failure.retry_after_s), (503, Some(3)));
}

#[tokio::test]
async fn event_stream_is_no_answer_to_a_unary_call() {
    let head = "content-type: text/event-stream\r\n";
    let peer = Peer::answering(answer("200 OK", head, "data: {\"result\":{}}\n\n")).await;
    let error = soon(peer.client().get_task("T1", None)).await.unwrap_err();
    assert_eq!(error.to_string(), "unexpected content (HTTP 200)");
}

#[tokio::test]
async fn no_errors_hold_the_token_the_address_or_text_of_the_peer() {
    let page =
        answer("502 Bad Gateway", "content-type: text/html\r\nx-debug: sk-peer\r\n", "<html>sk-peer</html>");
    for bytes in [page, b"HTTP/1.1 sk-peer\r\n".to_vec(), json_answer(r#"{"result":"sk-peer"#)] {
        let peer = Peer::answering(bytes).await;
        let config = peer.config().with_token(Secret::new("sk-own"));
        let client = Client::new(config.clone()).unwrap();
        let error = soon(client.send(&message())).await.unwrap_err();
        let mut shown = format!("{client:?} {config:?} {error:?} {error}");
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            shown.push_str(&format!(" {cause:?} {cause}"));
            source = cause.source();
        }
        for secret in ["sk-own", "sk-peer", "127.0.0.1"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}

#[tokio::test]
async fn peer_that_does_not_listen_was_not_reached() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let client = Client::new(ClientConfig::new(format!("http://{address}/"))).unwrap();
    let error = soon(client.send_streaming(&message())).await.unwrap_err();
    assert!(matches!(error, ClientError::Connect(_)), "{error:?}");
    assert_eq!(error.delivery(), Delivery::NotSent);
}

#[tokio::test]
async fn peer_that_does_not_answer_is_given_up() {
    let peer = Peer::start(|_, mut connection| async move {
        connection.read_request().await;
        connection.closed().await;
    })
    .await;
    let short = Duration::from_millis(50);
    let config =
        peer.config().with_first_byte_timeout(short).with_call_timeout(short).with_send_timeout(short);
    let client = Client::new(config).unwrap();
    let errors = [
        soon(client.send_streaming(&message())).await.unwrap_err(),
        soon(client.subscribe("T1")).await.unwrap_err(),
        soon(client.send(&message())).await.unwrap_err(),
        soon(client.get_task("T1", None)).await.unwrap_err(),
        soon(client.health()).await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(
            (error.to_string().as_str(), error.delivery()),
            ("no answer within 50 ms", Delivery::Unknown)
        );
    }
}

#[tokio::test]
async fn body_that_stalls_is_given_up() {
    let peer = Peer::start(|_, mut connection| async move {
        connection.read_request().await;
        connection
            .write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{")
            .await;
        connection.closed().await;
    })
    .await;
    let client = Client::new(peer.config().with_call_timeout(Duration::from_millis(50))).unwrap();
    let errors = [
        soon(client.send_streaming(&message())).await.unwrap_err(),
        soon(client.get_task("T1", None)).await.unwrap_err(),
    ];
    assert_eq!(errors.map(|error| error.to_string()), ["no answer within 50 ms"; 2].map(str::to_owned));
}

#[tokio::test]
async fn unary_body_has_a_cap() {
    let body = format!(r#"{{"result":{{"id":"{}"}}}}"#, "x".repeat(2000));
    let peer = Peer::answering(json_answer(&body)).await;
    let client = Client::new(peer.config().with_max_body_bytes(1000)).unwrap();
    let error = soon(client.get_task("T1", None)).await.unwrap_err();
    assert_eq!(error.to_string(), "answer is larger than 1000 bytes");
}
