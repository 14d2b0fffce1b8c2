//! What is sent, and how answers to unary calls are read.

use std::sync::{Arc, Mutex};

use a2a_client::{Client, ClientError, PipelineStateQuery, RestoreRequest, Restored};
use a2a_wire::ProtocolVersion;
use agui_iac_code::Secret;

use crate::peer::{Peer, answer, json_answer, message, said, soon};

const JSON: &str = "content-type: application/json\r\n";
const TASK: &str =
    r#"{"result":{"id":"T1","status":{"state":"TASK_STATE_WORKING"}},"id":"1","jsonrpc":"2.0"}"#;

/// A peer that answers with the same bytes and keeps the requests.
async fn recording(answer: Vec<u8>) -> (Peer, Arc<Mutex<Vec<String>>>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&requests);
    let peer = Peer::start(move |_, mut connection| {
        let (log, answer) = (Arc::clone(&log), answer.clone());
        async move {
            let request = connection.read_request().await;
            log.lock().unwrap().push(request);
            connection.write(&answer).await;
        }
    })
    .await;
    (peer, requests)
}

/// Request line, sorted headers without the port, and body.
fn parts(request: &str) -> (String, Vec<String>, String) {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines().map(|line| match line.strip_prefix("host: 127.0.0.1:") {
        Some(_) => "host: 127.0.0.1:PORT".to_owned(),
        None => line.to_owned(),
    });
    let first = lines.next().unwrap();
    let mut headers: Vec<_> = lines.collect();
    headers.sort();
    (first, headers, body.to_owned())
}

#[tokio::test]
async fn message_is_sent_with_version_token_and_extra_headers() {
    let (peer, requests) = recording(json_answer(TASK)).await;
    let client = Client::new(peer.config().with_token(Secret::new("t0ken"))).unwrap();
    let client = client.with_header("traceparent", "00-01-02-00").unwrap();
    let task = soon(client.send(&message())).await.unwrap();
    assert_eq!(said(&task), "task T1 TASK_STATE_WORKING");

    let sent = parts(&requests.lock().unwrap()[0]);
    let headers = [
        "a2a-version: 1.0",
        "accept-encoding: identity",
        "accept: application/json",
        "authorization: Bearer t0ken",
        "content-length: 188",
        "content-type: application/json",
        "host: 127.0.0.1:PORT",
        "traceparent: 00-01-02-00",
        concat!("user-agent: a2a-client/", env!("CARGO_PKG_VERSION")),
    ];
    let body = r#"{"jsonrpc":"2.0","id":"1","method":"SendMessage","params":{"message":{"role":"ROLE_USER","messageId":"m-1","parts":[{"text":"hi"}]},"configuration":{"acceptedOutputModes":["text/plain"]}}}"#;
    assert_eq!(sent, ("POST / HTTP/1.1".to_owned(), headers.map(str::to_owned).to_vec(), body.to_owned()));
}

#[tokio::test]
async fn methods_are_named_for_the_version() {
    for (version, header, names) in [
        (
            ProtocolVersion::V1_0,
            "a2a-version: 1.0",
            ["SendStreamingMessage", "SubscribeToTask", "GetTask", "CancelTask", "ListTasks"],
        ),
        (
            ProtocolVersion::V0_3,
            "a2a-version: 0.3",
            ["message/stream", "tasks/resubscribe", "tasks/get", "tasks/cancel", "tasks/list"],
        ),
    ] {
        let (peer, requests) = recording(json_answer(TASK)).await;
        let client = Client::new(peer.config().with_version(version)).unwrap();
        soon(client.send_streaming(&message())).await.unwrap();
        soon(client.subscribe("T1")).await.unwrap();
        soon(client.get_task("T1", Some(100))).await.unwrap();
        soon(client.cancel_task("T1")).await.unwrap();
        soon(client.list_tasks("C1")).await.unwrap();
        let requests = requests.lock().unwrap();
        for (number, (request, name)) in requests.iter().zip(names).enumerate() {
            let (_, headers, body) = parts(request);
            assert!(headers.contains(&header.to_owned()), "{headers:?}");
            let start = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"{name}","params":{{"#, number + 1);
            assert!(body.starts_with(&start), "{body}");
        }
        assert!(requests[2].ends_with(r#""params":{"id":"T1","historyLength":100}}"#));
        let accepts = "accept: text/event-stream, application/json".to_owned();
        let streaming: Vec<_> = requests.iter().map(|request| parts(request).1.contains(&accepts)).collect();
        assert_eq!(streaming, [true, true, false, false, false]);
    }
}

#[tokio::test]
async fn headers_that_belong_to_the_client_cannot_be_replaced() {
    let (peer, _) = recording(json_answer(TASK)).await;
    let client = peer.client();
    let refused = [
        ("Host", "elsewhere"),
        ("authorization", "Bearer x"),
        ("A2A-Version", "0.3"),
        ("content-length", "1"),
        ("transfer-encoding", "chunked"),
        ("connection", "close"),
        ("bad name", "x"),
        ("x-a", "b\r\nc: d"),
    ];
    for (name, value) in refused {
        assert!(matches!(client.with_header(name, value), Err(ClientError::InvalidHeader)), "{name}");
    }
    let config = peer.config().with_token(Secret::new("a\nb"));
    assert!(matches!(Client::new(config), Err(ClientError::InvalidHeader)));
}

#[tokio::test]
async fn health_is_read_and_extra_members_are_skipped() {
    let (peer, requests) = recording(json_answer(r#"{"status":"healthy","version":"0.16.0","x":1}"#)).await;
    let health = soon(peer.client().health()).await.unwrap();
    let seen = (health.status.as_str(), health.version.as_str(), health.mode.as_str());
    assert_eq!(seen, ("healthy", "0.16.0", ""));
    assert_eq!(parts(&requests.lock().unwrap()[0]).0, "GET /health HTTP/1.1");
}

#[tokio::test]
async fn restored_sessions_are_told_apart_from_lost_ones_and_from_missing_endpoints() {
    let cases = [
        (json_answer(r#"{"status":"current"}"#), "Ok(Current)"),
        (json_answer(r#"{"status":"restored"}"#), "Ok(Restored)"),
        (json_answer(r#"{"status":"rebuilt"}"#), "Ok(Other)"),
        (answer("404 Not Found", JSON, r#"{"status":"not_found"}"#), "Ok(NotFound)"),
        (answer("404 Not Found", JSON, r#"{"detail":"Not Found"}"#), "HTTP 404"),
        (answer("404 Not Found", "", "Not Found"), "HTTP 404"),
        (
            answer(
                "409 Conflict",
                JSON,
                r#"{"error":{"code":"SESSION_BACKUP_NOT_READY","message":"m","retryable":true}}"#,
            ),
            "HTTP 409 (SESSION_BACKUP_NOT_READY)",
        ),
        (
            answer("503 Service Unavailable", JSON, r#"{"error":"Session restore is unavailable."}"#),
            "HTTP 503",
        ),
        (json_answer("[]"), "answer could not be decoded"),
    ];
    for (bytes, expected) in cases {
        let (peer, requests) = recording(bytes).await;
        let request = RestoreRequest::new("/ws", "S1").with_task_id("T1");
        let result: Result<Restored, _> = soon(peer.client().ensure_restored(request)).await;
        let shown = result.map_or_else(|error| error.to_string(), |restored| format!("Ok({restored:?})"));
        assert_eq!(shown, expected);
        let (line, _, body) = parts(&requests.lock().unwrap()[0]);
        assert_eq!(line, "POST /iac-code/session/ensure-restored HTTP/1.1");
        assert_eq!(body, r#"{"cwd":"/ws","sessionId":"S1","taskId":"T1"}"#);
    }
}

#[tokio::test]
async fn pipeline_state_is_a_document_or_absent() {
    let state = r#"{"snapshot":{"lastSequence":7.0},"events":[{"sequence":8.0,"n":NaN}]}"#;
    let (peer, requests) = recording(json_answer(state)).await;
    let query = PipelineStateQuery::of_task("T1").with_after_sequence(7);
    let document = soon(peer.client().pipeline_state(query)).await.unwrap().unwrap();
    assert_eq!(
        document.raw_result().unwrap().get(),
        r#"{"snapshot":{"lastSequence":7.0},"events":[{"sequence":8.0,"n":null}]}"#
    );
    let line = parts(&requests.lock().unwrap()[0]).0;
    assert_eq!(line, "GET /iac-code/pipeline/state?taskId=T1&afterSequence=7 HTTP/1.1");

    let (peer, _) =
        recording(answer("404 Not Found", JSON, r#"{"error":"A2A pipeline state not found"}"#)).await;
    assert!(soon(peer.client().pipeline_state(query)).await.unwrap().is_none());

    let (peer, _) = recording(answer(
        "400 Bad Request",
        JSON,
        r#"{"error":"afterSequence must be a non-negative integer"}"#,
    ))
    .await;
    let error = soon(peer.client().pipeline_state(query)).await.unwrap_err();
    assert_eq!(error.to_string(), "HTTP 400");
}

#[tokio::test]
async fn session_recovery_is_a_document_or_absent() {
    let (peer, requests) = recording(json_answer(r#"{"outputText":["a","b"]}"#)).await;
    let document = soon(peer.client().session_recovery("C1", "exec-1")).await.unwrap().unwrap();
    assert_eq!(document.raw_result().unwrap().get(), r#"{"outputText":["a","b"]}"#);
    let line = parts(&requests.lock().unwrap()[0]).0;
    assert_eq!(line, "GET /iac-code/session/recovery?contextId=C1&executionId=exec-1 HTTP/1.1");

    let (peer, _) = recording(answer("404 Not Found", JSON, r#"{"error":"Execution was not found"}"#)).await;
    assert!(soon(peer.client().session_recovery("C1", "exec-1")).await.unwrap().is_none());
}
