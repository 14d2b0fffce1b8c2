//! Each step of the faulty upstream, seen by a client.

use std::io::Read as _;

use agui_testkit::client::a2a::rpc;
use agui_testkit::client::raw::RawConnection;
use agui_testkit::client::{EventStream, Recording, StreamEnd, TestClient};
use agui_testkit::faulty::{Eol, FaultyServer, Framing, Script, Step, refusing_url};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::kernel::{CONTEXT, last_state, says, words};

async fn start(script: Script) -> (FaultyServer, TestClient) {
    let server = FaultyServer::start(script).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    (server, client)
}

async fn open(client: &TestClient) -> EventStream {
    client.post("/", &says("go").streaming()).await.unwrap().events()
}

/// One streamed exchange with these steps after the head.
async fn played(framing: Framing, steps: Vec<Step>) -> Recording {
    let mut all = vec![Step::sse_framed(framing)];
    all.extend(steps);
    let (_server, client) = start(Script::new().on("SendStreamingMessage", all)).await;
    open(&client).await.collect().await
}

#[tokio::test]
async fn a_good_turn_carries_the_identities_of_its_request() {
    let (server, client) = start(Script::new().always("SendStreamingMessage", Step::good_turn("hi"))).await;
    let got = open(&client).await.collect().await;
    assert_eq!(words(&got), ["task", "WORKING", "text", "assistantFinal", "INPUT_REQUIRED"]);
    assert_eq!(got.end, StreamEnd::Complete);
    assert!(got.events.iter().all(|event| event.json["id"] == "rpc-m-go"));
    let task = &got.events[0].json["result"]["task"];
    assert_eq!((&task["id"], &task["contextId"]), (&json!("faulty-task"), &json!(CONTEXT)));
    let message = &got.events[2].json["result"]["statusUpdate"]["status"]["message"];
    assert_eq!(
        (&message["messageId"], &message["contextId"]),
        (&json!("faulty-task-message"), &json!(CONTEXT))
    );
    assert_eq!(server.requests().kinds(), ["SendStreamingMessage"]);
}

#[tokio::test]
async fn exactly_one_cancel_and_no_open_socket_can_be_asserted() {
    let script = Script::new()
        .on(
            "SendStreamingMessage",
            Step::turn([
                Step::text("a"),
                Step::AwaitRequests { kind: "CancelTask".into(), count: 1 },
                Step::text("after the cancel"),
                Step::Stall,
            ]),
        )
        .with_cancel();
    let (server, client) = start(script).await;
    let mut events = open(&client).await;
    events.read_until(|event| crate::kernel::word(&event.json) == "text").await.unwrap();
    assert_eq!((server.requests().count("CancelTask"), server.connections().open()), (0, 1));
    let cancel = rpc("c", "CancelTask", &json!({"id": "T9"}));
    let reply = client.post("/", &cancel).await.unwrap().json().await.unwrap();
    assert_eq!((&reply["id"], &reply["result"]["id"]), (&json!("c"), &json!("T9")));
    assert_eq!(reply["result"]["status"]["state"], "TASK_STATE_CANCELED");
    assert_eq!(crate::kernel::word(&events.next().await.unwrap().json), "text");
    let cancels = server.requests().wait_for("CancelTask", 1).await.unwrap();
    assert_eq!(cancels[0].json["params"], json!({"id": "T9"}));
    drop(events);
    server.connections().wait_open(0).await.unwrap();
    assert_eq!((server.connections().accepted(), server.unmatched()), (2, Vec::<String>::new()));
}

#[tokio::test]
async fn the_end_of_a_stream_is_proper_cut_or_reset() {
    for (framing, last, complete) in [
        (Framing::Chunked, Step::End, true),
        (Framing::UntilClose, Step::Fin, true),
        (Framing::UntilClose, Step::End, true),
        (Framing::Chunked, Step::Fin, false),
        (Framing::Chunked, Step::Rst, false),
        (Framing::UntilClose, Step::Rst, false),
    ] {
        let got = played(framing, vec![Step::text("a"), Step::text("b"), last.clone()]).await;
        let cut = matches!(got.end, StreamEnd::Cut(None));
        assert_eq!(
            (got.end == StreamEnd::Complete, cut),
            (complete, !complete),
            "{framing:?} {last:?} {:?}",
            got.end
        );
        // A reset may overtake what was sent before it.
        assert!(got.events.len() == 2 || matches!(last, Step::Rst), "{framing:?} {last:?}");
    }
}

#[tokio::test]
async fn half_a_record_stays_half() {
    let result = json!({"statusUpdate": {"status": {"state": "TASK_STATE_COMPLETED"}}});
    let half = Step::Half { result, bytes: 31 };
    let got = played(Framing::UntilClose, vec![Step::text("a"), half.clone()]).await;
    assert_eq!(got.end, StreamEnd::HalfRecord("data: {\"result\":{\"statusUpdate\"".into()));
    let got = played(Framing::Chunked, vec![Step::text("a"), half, Step::Fin]).await;
    assert_eq!(got.end, StreamEnd::Cut(Some("data: {\"result\":{\"statusUpdate\"".into())));
    assert_eq!(got.events.len(), 1);
}

#[tokio::test]
async fn records_have_the_line_ends_and_lines_that_the_script_says() {
    let steps = vec![
        Step::Datum("1".into()),
        Step::Eol(Eol::Lf),
        Step::Datum("[2,\n3]".into()),
        Step::Eol(Eol::Cr),
        Step::Datum("4".into()),
        Step::ErrorEvent { code: -32603, message: "broken".into() },
        Step::Body(Bytes::from_static(b"data:5\n\n")),
        Step::Ping,
    ];
    let got = played(Framing::Chunked, steps).await;
    let raws: Vec<&str> = got.events.iter().map(|event| event.raw.as_str()).collect();
    let error = r#"{"error":{"code":-32603,"data":null,"message":"broken"},"id":"rpc-m-go","jsonrpc":"2.0"}"#;
    assert_eq!(
        raws,
        [
            "data: 1\r\n\r\n",
            "data: [2,\ndata: 3]\n\n",
            "data: 4\r\r",
            &format!("event: error\rdata: {error}\r\r"),
            "data:5\n\n",
        ]
    );
    let json: Vec<Value> = got.json().into_iter().filter(|value| !value.is_object()).collect();
    assert_eq!(json, [json!(1), json!([2, 3]), json!(4), json!(5)]);
    assert_eq!((got.comments.len(), got.comments[0].after), (1, 5));
    assert!(got.comments[0].text.starts_with("ping - "), "{:?}", got.comments);
}

#[tokio::test]
async fn a_huge_record_arrives_whole() {
    let got = played(Framing::Chunked, vec![Step::huge(3 << 20)]).await;
    assert_eq!(crate::kernel::said(&got).len(), 3 << 20);
}

#[tokio::test]
async fn whole_responses_have_their_status_type_and_headers() {
    let html = Step::complete(502, "text/html", "<h1>Bad Gateway</h1>");
    let busy = Step::json(429, &json!({"error": "slow down"})).with_header("retry-after", "7");
    let gzip = Step::json(200, &json!({"a": "x".repeat(1000)})).gzipped();
    let script = Script::new()
        .on("*", [html])
        .on("*", [busy])
        .on("*", [gzip])
        .on("*", [Step::Complete { status: 204, headers: vec![], body: Bytes::new() }])
        .on("*", [Step::error(-32001, "no task")])
        .on("*", [Step::Reply(json!({"id": "@task@"}))]);
    let (server, client) = start(script).await;
    let post = async || client.post("/", &says("go").streaming()).await.unwrap();
    let response = post().await;
    assert_eq!((response.status, response.header("content-type")), (502, Some("text/html")));
    let response = post().await;
    assert_eq!((response.status, response.header("retry-after")), (429, Some("7")));
    assert_eq!(response.json().await.unwrap(), json!({"error": "slow down"}));
    let response = post().await;
    assert_eq!(response.header("content-encoding"), Some("gzip"));
    let packed = response.bytes().await.unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(&*packed).read_to_string(&mut text).unwrap();
    assert!(packed.len() < 100 && text.len() > 1000);
    assert_eq!(post().await.status, 204);
    let error = json!({"code": -32001, "message": "no task", "data": null});
    assert_eq!(
        post().await.json().await.unwrap(),
        json!({"error": error, "id": "rpc-m-go", "jsonrpc": "2.0"})
    );
    assert_eq!(post().await.json().await.unwrap()["result"]["id"], "faulty-task");
    assert_eq!(post().await.json().await.unwrap()["error"]["code"], -32601);
    assert_eq!(client.get("/health").await.unwrap().status, 404);
    assert_eq!(server.unmatched(), ["SendStreamingMessage", "GET /health"]);
}

#[tokio::test]
async fn connections_can_be_refused_reset_closed_or_left_without_an_answer() {
    let nobody = TestClient::new(&refusing_url().await.unwrap()).unwrap();
    assert!(nobody.get("/health").await.is_err());
    let script = Script::new()
        .with_resets_on_accept(1)
        .on("GET /closed", [Step::Fin])
        .on("GET /reset", [Step::Rst])
        .on("GET /raw", [Step::Socket(Bytes::from_static(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"))])
        .on("GET /silent", [Step::Stall]);
    let (server, client) = start(script).await;
    for path in ["/early", "/closed", "/reset"] {
        assert!(client.get(path).await.is_err(), "{path}");
    }
    assert_eq!(client.get("/raw").await.unwrap().bytes().await.unwrap(), "ok");
    let silent = tokio::spawn({
        let client = client.clone();
        async move { client.get("/silent").await.is_ok() }
    });
    server.requests().wait_for("GET /silent", 1).await.unwrap();
    assert_eq!(server.requests().kinds(), ["GET /closed", "GET /reset", "GET /raw", "GET /silent"]);
    server.stop().await;
    assert!(!silent.await.unwrap());
}

#[tokio::test]
async fn a_step_waits_until_the_test_lets_it_go() {
    let steps = Step::turn([Step::Await("door".into()), Step::text("open")]);
    let (server, client) = start(Script::new().on("SendStreamingMessage", steps)).await;
    let mut events = open(&client).await;
    events.next().await.unwrap();
    assert_eq!(crate::kernel::word(&events.next().await.unwrap().json), "WORKING");
    server.release("door");
    assert_eq!(crate::kernel::said(&events.collect().await), "open");
}

#[tokio::test]
async fn a_script_can_be_replaced_and_counts_its_uses() {
    let (server, client) = start(Script::new().times(2, "GET /x", [Step::json(200, &json!(1))])).await;
    let status = async || client.get("/x").await.unwrap().status;
    assert_eq!([status().await, status().await, status().await], [200, 200, 404]);
    server.set_script(Script::new().always("GET /x", [Step::json(201, &json!(2))]));
    assert_eq!([status().await, status().await], [201, 201]);
}

#[tokio::test]
async fn a_server_comes_back_on_its_old_address() {
    let (server, client) = start(Script::new().always("SendStreamingMessage", Step::good_turn("one"))).await;
    let addr = server.addr();
    server.stop().await;
    assert!(client.get("/").await.is_err());
    let script = Script::new().always("SendStreamingMessage", Step::good_turn("two"));
    let _server = FaultyServer::start_on(addr, script).await.unwrap();
    assert_eq!(last_state(&open(&client).await.collect().await), "INPUT_REQUIRED");
}

#[tokio::test]
async fn a_chunked_request_is_read_as_a_whole() {
    let (server, _client) = start(Script::new().always("*", [Step::json(200, &json!(1))])).await;
    let mut raw = RawConnection::connect(&server.url()).await.unwrap();
    raw.write(
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n4\r\n{\"me\r\nc;x=y\r\nthod\":\"Get\"}\r\n",
    )
    .await
    .unwrap();
    raw.write(b"0\r\ntrailer: 1\r\n\r\nGET /next HTTP/1.1\r\n\r\n").await.unwrap();
    raw.read_until("HTTP/1.1 200 OK", 2).await.unwrap();
    assert_eq!(server.requests().kinds(), ["Get", "GET /next"]);
}
