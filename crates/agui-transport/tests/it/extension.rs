//! Routes that a binary adds.

use std::net::Ipv4Addr;
use std::sync::Arc;

use crate::agents::{PARROT, parrot};
use crate::rig::{INPUT, Rig, envelope, post, request, run_request};
use agui_auth::Authenticator;
use agui_core::{Problem, RunFinished, RunLimits, RunStarted, run_channel};
use agui_iac_code::MessageKey;
use agui_transport::{Route, RouteReply, RouteRequest, Server, ServerError, SseRecord};
use http::StatusCode;
use serde_json::json;

const CANCEL: &str = "/extensions/iac-code/v1/executions/{executionId}/cancel";
const CANCEL_TOO_LARGE: &str = "The cancel request body is too large.";

/// Answers with what it was asked.
async fn echo(request: RouteRequest) -> RouteReply {
    let told = json!({
        "params": request.params,
        "query": request.query,
        "limit": request.query_param("limit"),
        "lastEventId": request.last_event_id(),
        "body": String::from_utf8_lossy(&request.body),
        "language": request.language.as_str(),
    });
    RouteReply::json(StatusCode::ACCEPTED, &told)
}

#[tokio::test]
async fn a_route_gets_the_parameters_the_query_the_headers_and_the_body() {
    let rig = Rig::with(parrot(), |server| server.route(Route::post(CANCEL, echo))).await;
    let line = "POST /extensions/iac-code/v1/executions/exec%2F1/cancel?limit=a%20b&limit=2&x HTTP/1.1";
    let headers = ["Content-Type: application/json", "Last-Event-ID: 41", "Accept-Language: pt-BR"];
    let answer = rig.exchange(request(line, &headers, r#"{"threadId":"t1"}"#)).await;
    let expected = json!({
        "params": [["executionId", "exec/1"]],
        "query": "limit=a%20b&limit=2&x",
        "limit": "a b",
        "lastEventId": "41",
        "body": r#"{"threadId":"t1"}"#,
        "language": "pt",
    });
    assert_eq!((answer.head.status, answer.body), (202, expected.to_string()));
    assert_eq!(answer.head.header("content-type").as_deref(), Some("application/json"));
}

#[tokio::test]
async fn a_route_is_behind_the_same_checks_and_its_own_cap() {
    let rig = Rig::with(parrot(), |server| {
        let cancel = Route::post(CANCEL, echo)
            .with_max_body_bytes(Route::MAX_BODY_BYTES, MessageKey::CancelBodyTooLarge);
        server.route(cancel).authenticator(Authenticator::bearer("tok-1").unwrap())
    })
    .await;
    let path = "/extensions/iac-code/v1/executions/e1/cancel";
    let ask = |method: &str, headers: &[&str], body: &str| {
        let headers = [&["Authorization: Bearer tok-1"], headers].concat();
        request(&format!("{method} {path} HTTP/1.1"), &headers, body)
    };
    let json = "Content-Type: application/json";
    let full = "x".repeat(64 * 1024);
    let over = "x".repeat(64 * 1024 + 1);
    assert_eq!(rig.exchange(post(path, "{}")).await.head.status, 401);
    assert_eq!(rig.exchange(ask("POST", &[], "{}")).await.head.status, 415);
    assert_eq!(rig.exchange(ask("POST", &[json], &full)).await.head.status, 202);
    let answer = rig.exchange(ask("POST", &[json], &over)).await;
    assert_eq!((answer.head.status, answer.body), (413, envelope("REQUEST_TOO_LARGE", CANCEL_TOO_LARGE)));
    let answer = rig.exchange(ask("GET", &[], "")).await;
    assert_eq!((answer.head.status, answer.head.header("allow").as_deref()), (405, Some("POST")));
}

#[tokio::test]
async fn a_route_can_refuse_in_its_own_words() {
    let refuse = |_: RouteRequest| async {
        RouteReply::Problem(Problem::new(404, "EXECUTION_NOT_FOUND", "no such execution"))
    };
    let rig = Rig::with(parrot(), |server| server.route(Route::get("/x", refuse))).await;
    let answer = rig.exchange(request("GET /x HTTP/1.1", &[], "")).await;
    let expected = envelope("EXECUTION_NOT_FOUND", "no such execution");
    assert_eq!((answer.head.status, answer.body), (404, expected));
}

#[tokio::test]
async fn a_route_can_stream_records_with_ids() {
    let subscribe = |request: RouteRequest| async move {
        let after: u32 = request.last_event_id().and_then(|id| id.parse().ok()).unwrap_or(0);
        let records =
            (after + 1..=3).map(|n| SseRecord::new(format!("{{\"n\":{n}}}")).with_id(n.to_string()));
        let unspeakable = SseRecord::new("{}").with_id("a\nb");
        RouteReply::records(futures_util::stream::iter(records.chain([unspeakable])))
    };
    let rig =
        Rig::with(parrot(), |server| server.route(Route::get("/events", subscribe).with_event_stream()))
            .await;
    let answer = rig.exchange(request("GET /events HTTP/1.1", &["Last-Event-ID: 1"], "")).await;
    assert_eq!(answer.head.header("content-type").as_deref(), Some("text/event-stream"));
    assert_eq!(answer.body, "id: 2\ndata: {\"n\":2}\n\nid: 3\ndata: {\"n\":3}\n\ndata: {}\n\n");
    let refused = rig.exchange(request("GET /events HTTP/1.1", &["Accept: text/html"], "")).await;
    assert_eq!(refused.head.status, 406);
}

#[tokio::test]
async fn a_route_can_stream_a_run() {
    let attach = |_: RouteRequest| async {
        let (mut sink, stream) = run_channel("t1", "r1", RunLimits::default());
        sink.send(RunStarted::new("t1", "r1"));
        sink.send(RunFinished::new("t1", "r1"));
        RouteReply::Run(stream)
    };
    let rig =
        Rig::with(parrot(), |server| server.route(Route::get("/run", attach).with_event_stream())).await;
    let answer = rig.exchange(request("GET /run HTTP/1.1", &[], "")).await;
    assert_eq!(
        answer.body,
        concat!(
            "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n",
            "data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n",
        )
    );
}

#[tokio::test]
async fn a_method_can_be_added_to_a_path_that_is_taken_but_not_a_second_time() {
    let rig = Rig::with(parrot(), |server| server.route(Route::get("/", echo))).await;
    assert_eq!(rig.exchange(request("GET / HTTP/1.1", &[], "")).await.head.status, 202);
    assert_eq!(rig.exchange(run_request()).await.body, PARROT);
    let answer = rig.exchange(request("PUT / HTTP/1.1", &[], INPUT)).await;
    assert_eq!(answer.head.header("allow").as_deref(), Some("POST, GET"));

    let loopback = (Ipv4Addr::LOCALHOST, 0).into();
    let twice = Server::builder(Arc::new(parrot())).route(Route::post("/", echo)).bind(loopback).await;
    assert!(matches!(twice, Err(ServerError::Route { .. })));
}

#[tokio::test]
async fn a_public_address_is_refused_without_authentication() {
    let public = (Ipv4Addr::UNSPECIFIED, 0).into();
    let bare = Server::builder(Arc::new(parrot())).bind(public).await;
    assert!(matches!(bare, Err(ServerError::PublicWithoutAuth { .. })));
    let token = Authenticator::bearer("tok-1").unwrap();
    assert!(Server::builder(Arc::new(parrot())).authenticator(token).bind(public).await.is_ok());
    assert!(Server::builder(Arc::new(parrot())).allow_public_without_auth().bind(public).await.is_ok());
}
