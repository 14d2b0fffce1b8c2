//! Every route, status and code.

use std::borrow::Cow;

use agui_auth::Authenticator;
use agui_core::{Problem, RunRequest};
use agui_transport::Health;

use crate::agents::{Census, PARROT, STARTED, Scripted, parrot, silent};
use crate::rig::{INPUT, Rig, envelope, post, request, run_request};

#[tokio::test]
async fn s1_2_a_run_is_answered_with_an_event_stream() {
    let rig = Rig::start(parrot()).await;
    let answer = rig.exchange(run_request()).await;
    assert_eq!(answer.head.status, 200);
    assert_eq!(answer.body, PARROT);
}

#[tokio::test]
async fn s4_3_streams_tell_proxies_to_pass_events_on() {
    let rig = Rig::start(parrot()).await;
    let asks_for_gzip = request(
        "POST / HTTP/1.1",
        &["Content-Type: application/json", "Accept-Encoding: gzip, br", "Accept: text/event-stream"],
        INPUT,
    );
    let answer = rig.exchange(asks_for_gzip).await;
    let header = |name| answer.head.header(name);
    assert_eq!(header("content-type").as_deref(), Some("text/event-stream"));
    assert_eq!(header("cache-control").as_deref(), Some("no-cache, no-transform"));
    assert_eq!(header("x-accel-buffering").as_deref(), Some("no"));
    assert_eq!(header("content-encoding"), None);
    assert_eq!(header("transfer-encoding").as_deref(), Some("chunked"));
}

#[tokio::test]
async fn s1_1_health_needs_no_token_and_takes_get_and_head() {
    let rig = Rig::with(parrot(), |server| {
        let token = Authenticator::bearer("tok-1").unwrap();
        server.authenticator(token).health(|| Health::ok(&serde_json::json!({"status": "ok", "n": 1})))
    })
    .await;
    let mut client = rig.connect().await;
    let answer = client.exchange("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!((answer.head.status, answer.body.as_str()), (200, r#"{"n":1,"status":"ok"}"#));
    assert_eq!(answer.head.header("content-type").as_deref(), Some("application/json"));

    client.send("HEAD /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let head = client.head().await;
    assert_eq!((head.status, head.header("content-length").as_deref()), (200, Some("21")));

    // No body came with the answer to HEAD, so the next answer starts here.
    let answer = client.exchange("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(answer.head.status, 200);
}

#[tokio::test]
async fn a_server_that_was_not_told_otherwise_is_healthy() {
    let rig = Rig::start(parrot()).await;
    let answer = rig.exchange("GET /health?probe=1 HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(answer.body, r#"{"status":"ok","protocol":"ag-ui"}"#);
}

#[tokio::test]
async fn s1_7_unknown_paths_and_methods_get_the_error_envelope() {
    let rig = Rig::start(parrot()).await;
    let table = [
        ("GET / HTTP/1.1", 405, Some("POST"), "METHOD_NOT_ALLOWED", METHODS_POST),
        ("OPTIONS / HTTP/1.1", 405, Some("POST"), "METHOD_NOT_ALLOWED", METHODS_POST),
        ("DELETE /health HTTP/1.1", 405, Some("GET, HEAD"), "METHOD_NOT_ALLOWED", METHODS_HEALTH),
        ("GET /nope HTTP/1.1", 404, None, "NOT_FOUND", NOT_FOUND),
        ("POST /health/ HTTP/1.1", 404, None, "NOT_FOUND", NOT_FOUND),
        ("OPTIONS * HTTP/1.1", 404, None, "NOT_FOUND", NOT_FOUND),
    ];
    for (line, status, allow, code, message) in table {
        let answer = rig.exchange(request(line, &[], "")).await;
        assert_eq!(answer.head.status, status, "{line}");
        assert_eq!(answer.head.header("allow").as_deref(), allow, "{line}");
        assert_eq!(answer.head.header("content-type").as_deref(), Some("application/json"), "{line}");
        assert_eq!(answer.body, envelope(code, message), "{line}");
    }
}

#[tokio::test]
async fn s1_5_a_run_needs_the_token() {
    let rig =
        Rig::with(parrot(), |server| server.authenticator(Authenticator::bearer("tok-1").unwrap())).await;
    for headers in [&[][..], &["Authorization: Bearer tok-2"], &["Authorization: Bearer é"]] {
        let headers = [&["Content-Type: application/json"], headers].concat();
        let answer = rig.exchange(request("POST / HTTP/1.1", &headers, INPUT)).await;
        assert_eq!(answer.head.status, 401, "{headers:?}");
        assert_eq!(answer.head.header("www-authenticate").as_deref(), Some("Bearer"), "{headers:?}");
        assert_eq!(answer.body, envelope("UNAUTHORIZED", UNAUTHORIZED), "{headers:?}");
    }
    let headers = ["Content-Type: application/json", "Authorization: bEARER tok-1"];
    assert_eq!(rig.exchange(request("POST / HTTP/1.1", &headers, INPUT)).await.body, PARROT);
}

#[tokio::test]
async fn s1_4_the_content_type_and_accept_are_checked() {
    let rig = Rig::start(parrot()).await;
    let json = "Content-Type: application/json";
    let table: &[(&[&str], u16)] = &[
        (&["Content-Type: Application/JSON; charset=UTF-8"], 200),
        (&[json, "Accept: application/json"], 200),
        (&[json, "Accept: */*"], 200),
        (&[json, "Accept: text/event-stream;q=0.5"], 200),
        (&[json, "Accept: text/html"], 406),
        (&[json, "Accept: text/event-stream;q=0"], 406),
        (&[], 415),
        (&["Content-Type: text/plain"], 415),
        (&["Content-Type: application/problem+json"], 415),
        (&["Content-Type: application/json; charset=\"utf-16\""], 415),
        (&[json, "Content-Encoding: gzip"], 415),
        // The content type is looked at first.
        (&["Content-Type: text/plain", "Accept: text/html"], 415),
    ];
    for (headers, status) in table {
        let answer = rig.exchange(request("POST / HTTP/1.1", headers, INPUT)).await;
        let body = match status {
            406 => envelope("NOT_ACCEPTABLE", NOT_ACCEPTABLE),
            415 => envelope("UNSUPPORTED_MEDIA_TYPE", CONTENT_TYPE),
            _ => PARROT.to_owned(),
        };
        assert_eq!((answer.head.status, answer.body), (*status, body), "{headers:?}");
    }
}

#[tokio::test]
async fn s2_12_a_body_that_is_no_run_input_is_refused_with_the_place() {
    let rig = Rig::start(parrot()).await;
    let deep = format!(r#"{{"threadId":"t1","state":{}1}}"#, "[".repeat(20_000));
    let digits = format!(r#"{{"threadId":{}}}"#, "9".repeat(5_000));
    let table: &[(&str, &str, Cow<'_, str>)] = &[
        ("", "INVALID_JSON", NOT_JSON.into()),
        ("{", "INVALID_JSON", NOT_JSON.into()),
        ("{\"threadId\":\"t1\"} x", "INVALID_JSON", NOT_JSON.into()),
        (&deep, "INVALID_JSON", NOT_JSON.into()),
        (&digits, "INVALID_JSON", NOT_JSON.into()),
        ("[]", "INVALID_INPUT", NOT_OBJECT.into()),
        ("null", "INVALID_INPUT", NOT_OBJECT.into()),
        (r#"{"threadId":"secret"}"#, "INVALID_INPUT", wrong("/runId", "is missing").into()),
        (
            r#"{"threadId":7,"runId":"r1","messages":[]}"#,
            "INVALID_INPUT",
            wrong("/threadId", "has the wrong type").into(),
        ),
        (
            r#"{"threadId":"a","threadId":"b","runId":"r1","messages":[]}"#,
            "INVALID_INPUT",
            wrong("/threadId", "is given twice").into(),
        ),
    ];
    for (body, code, message) in table {
        let answer = rig.exchange(post("/", body)).await;
        let name: String = body.chars().take(60).collect();
        assert_eq!((answer.head.status, answer.body), (400, envelope(code, message)), "{name}");
    }
}

#[tokio::test]
async fn a_body_that_is_not_utf_8_is_no_json_and_a_byte_order_mark_is_tolerated() {
    let rig = Rig::start(parrot()).await;
    let head = |length: usize| {
        format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    let utf_16: Vec<u8> = INPUT.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for body in [&utf_16[..], b"{\"threadId\":\"\xff\xfe\"}"] {
        let answer = rig.exchange([head(body.len()).as_bytes(), body].concat()).await;
        assert_eq!((answer.head.status, answer.body), (400, envelope("INVALID_JSON", NOT_JSON)));
    }
    let marked = [b"\xef\xbb\xbf", INPUT.as_bytes()].concat();
    let answer = rig.exchange([head(marked.len()).as_bytes(), &marked].concat()).await;
    assert_eq!(answer.body, PARROT);
}

#[tokio::test]
async fn s1_6_refusals_are_worded_in_the_language_of_the_caller() {
    let rig = Rig::start(parrot()).await;
    let run = |language: &str, body: &str| {
        let language = format!("Accept-Language: {language}");
        request("POST / HTTP/1.1", &["Content-Type: application/json", &language], body)
    };
    let answer = rig.exchange(run("xx, fr;q=0.5, de;q=0.9", "{")).await;
    assert_eq!(answer.body, envelope("INVALID_JSON", NOT_JSON_DE));
    let answer = rig.exchange(run("xx", "{")).await;
    assert_eq!(answer.body, envelope("INVALID_JSON", NOT_JSON));
    // The body wins where it can be read at all.
    let body = r#"{"threadId":[],"forwardedProps":{"iacCode":{"preferredLanguage":"de"}}}"#;
    let german = rig.exchange(run("fr", body)).await;
    let header_only = rig.exchange(run("de", r#"{"threadId":[]}"#)).await;
    assert_eq!(german.body, header_only.body);
    assert_ne!(german.body, rig.exchange(run("fr", r#"{"threadId":[]}"#)).await.body);
}

#[tokio::test]
async fn s1_8_a_refusal_of_the_agent_is_passed_on() {
    let rig = Rig::start(Scripted(|_: RunRequest| async {
        Err(Problem::new(409, "THREAD_BUSY", "wait \"here\"").with_retry_after_s(7))
    }))
    .await;
    let answer = rig.exchange(run_request()).await;
    assert_eq!(answer.head.status, 409);
    assert_eq!(answer.head.header("retry-after").as_deref(), Some("7"));
    assert_eq!(answer.body, r#"{"error":{"code":"THREAD_BUSY","message":"wait \"here\""}}"#);
}

#[tokio::test]
async fn an_agent_that_panics_costs_its_caller_one_answer_and_the_server_nothing() {
    let rig = Rig::start(Scripted(|request: RunRequest| async move {
        assert_ne!(request.input.run_id.as_str(), "r1", "as scripted");
        Err(Problem::new(400, "REFUSED", "no"))
    }))
    .await;
    let mut client = rig.connect().await;
    let answer = client.exchange(run_request()).await;
    assert_eq!((answer.head.status, answer.body), (500, envelope("INTERNAL_ERROR", INTERNAL)));
    let answer = client.exchange(post("/", &INPUT.replace("r1", "r2"))).await;
    assert_eq!((answer.head.status, answer.body), (400, envelope("REFUSED", "no")));
}

#[tokio::test]
async fn the_agent_sees_the_body_the_language_and_the_headers_but_no_credentials() {
    let rig = Rig::start(Scripted(|request: RunRequest| async move {
        let header = |name: &str| {
            let found = request.headers.iter().find(|(key, _)| &**key == name);
            found.map_or("none", |(_, value)| value)
        };
        let seen = format!(
            "{} {} {} {} {}",
            request.accept_language.as_deref().unwrap_or("none"),
            header("traceparent"),
            header("authorization"),
            header("cookie"),
            request.body.len(),
        );
        Err(Problem::new(400, "SEEN", seen))
    }))
    .await;
    let headers = [
        "Content-Type: application/json",
        "Accept-Language: ja",
        "Traceparent: 00-ab-cd-01",
        "Authorization: Bearer secret",
        "Cookie: secret=1",
    ];
    let answer = rig.exchange(request("POST / HTTP/1.1", &headers, INPUT)).await;
    assert_eq!(answer.body, envelope("SEEN", &format!("ja 00-ab-cd-01 none none {}", INPUT.len())));
}

#[tokio::test]
async fn the_paths_of_runs_and_health_can_be_moved() {
    let rig = Rig::with(parrot(), |server| server.run_path("/invocations").health_path("/ping")).await;
    assert_eq!(rig.exchange(post("/invocations", INPUT)).await.body, PARROT);
    assert_eq!(rig.exchange("GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n").await.head.status, 200);
    assert_eq!(rig.exchange(run_request()).await.head.status, 404);
}

#[tokio::test]
async fn bytes_that_are_no_http_end_their_connection_and_nothing_else() {
    let census = Census::default();
    let rig = Rig::start(silent(&census)).await;
    let mut running = rig.connect().await;
    running.send(run_request()).await;
    running.until(STARTED).await;
    let noise: &[&[u8]] = &[
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 tls hello",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /%zz%00 HTTP/1.1\r\nHost: localhost\r\nAccept-Language: ;;;q=\r\nOrigin: \xff\r\nConnection: close\r\n\r\n",
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
    ];
    for bytes in noise {
        let mut client = rig.connect().await;
        client.send(bytes).await;
        client.closed().await;
    }
    assert_eq!((census.begun(), census.left()), (1, 0));
    assert_eq!(rig.exchange("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.head.status, 200);
}

fn wrong(pointer: &str, how: &str) -> String {
    format!("Invalid AG-UI RunAgentInput envelope. The field {pointer} {how}.")
}

const UNAUTHORIZED: &str = "A valid bearer token is required.";
const CONTENT_TYPE: &str = "Content-Type must be application/json.";
const NOT_ACCEPTABLE: &str = "The response can only be sent as text/event-stream.";
const NOT_FOUND: &str = "The requested path does not exist.";
const METHODS_POST: &str = "This path accepts only POST.";
const METHODS_HEALTH: &str = "This path accepts only GET, HEAD.";
const NOT_JSON: &str = "The request body is not valid JSON.";
const NOT_JSON_DE: &str = "Der Inhalt der Anfrage ist kein gültiges JSON.";
const NOT_OBJECT: &str = "RunAgentInput must be a JSON object.";
const INTERNAL: &str = "An internal error occurred.";
