//! What a platform that runs agents asks of a server: its forms of errors, ids, probes and hooks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use agui_auth::{Authenticator, RateLimit};
use agui_core::{Problem, RunRequest};
use agui_transport::{
    EchoHeaders, ErrorMode, Health, Limits, Route, RouteReply, RouteRequest, ServerBuilder, Timeouts,
    on_runtime,
};
use http::{HeaderName, StatusCode};
use serde_json::json;

use crate::agents::{Census, PARROT, STARTED, Scripted, begin, finish, parrot, say, silent};
use crate::rig::{INPUT, Rig, envelope, eventually, post, request, run_request};

const SESSION: &str = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id";

fn run_error(code: &str, message: &str) -> String {
    format!("data: {{\"type\":\"RUN_ERROR\",\"code\":\"{code}\",\"message\":\"{message}\"}}\n\n")
}

/// Request ids as AgentCore gives them.
fn amazon_ids() -> EchoHeaders {
    EchoHeaders::new(HeaderName::from_static("x-amzn-requestid"))
        .prefer(HeaderName::from_static("x-amzn-bedrock-agentcore-runtime-request-id"))
        .with_session(HeaderName::from_bytes(SESSION.as_bytes()).unwrap())
}

fn invocations(server: ServerBuilder) -> ServerBuilder {
    server.run_path("/invocations").also_run_path("/invocations/")
}

fn refusing(status: u16, code: &'static str) -> impl agui_core::Agent {
    Scripted(move |_: RunRequest| async move {
        Err(Problem::new(status, code, "secret=/etc/passwd").with_retry_after_s(7))
    })
}

#[tokio::test]
async fn a_run_path_may_end_with_a_slash() {
    let rig = Rig::with(parrot(), invocations).await;
    for path in ["/invocations", "/invocations/"] {
        assert_eq!(rig.exchange(post(path, INPUT)).await.body, PARROT);
    }
    assert_eq!(rig.exchange(run_request()).await.head.status, 404);
}

#[tokio::test]
async fn a_refusal_can_be_an_event_with_the_status_of_the_error() {
    let rig = Rig::with(refusing(409, "THREAD_BUSY"), |server| {
        invocations(server)
            .errors_as_events(ErrorMode::Status)
            .allow_origin("https://app.example")
            .authenticator(Authenticator::bearer("s3cret").unwrap())
    })
    .await;
    let token = "Authorization: Bearer s3cret";
    let json = "Content-Type: application/json";
    let run = "POST /invocations HTTP/1.1";
    // (line, headers, body, status, event, headers of the answer)
    type Row<'a> = (&'a str, &'a [&'a str], &'a str, u16, &'a str, &'a [(&'a str, &'a str)]);
    let table: &[Row<'_>] = &[
        (
            run,
            &[json],
            INPUT,
            401,
            "UNAUTHORIZED A valid bearer token is required.",
            &[("www-authenticate", "Bearer")],
        ),
        (run, &[json, token, "Origin: https://evil.example"], INPUT, 403, "ACCESS_DENIED", &[]),
        (run, &[json, token], "{", 400, "VALIDATION_ERROR", &[]),
        (run, &[json, token], r#"{"threadId":"hush"}"#, 400, "VALIDATION_ERROR", &[]),
        (run, &["Content-Type: text/xml", token], INPUT, 415, "VALIDATION_ERROR", &[]),
        (run, &[json, token, "Accept: text/html"], INPUT, 406, "VALIDATION_ERROR", &[]),
        ("PUT /invocations HTTP/1.1", &[json], INPUT, 405, "VALIDATION_ERROR", &[("allow", "POST")]),
        ("POST /nope HTTP/1.1", &[json], INPUT, 404, "VALIDATION_ERROR", &[]),
        (run, &[json, token], INPUT, 409, "THREAD_BUSY secret=/etc/passwd", &[("retry-after", "7")]),
    ];
    for (line, headers, body, status, event, told) in table {
        let answer = rig.exchange(request(line, headers, body)).await;
        assert_eq!(answer.head.status, *status, "{line} {headers:?} {body}");
        assert_eq!(answer.head.header("content-type").as_deref(), Some("text/event-stream"));
        let json = answer.body.strip_prefix("data: ").and_then(|rest| rest.strip_suffix("\n\n")).unwrap();
        let error: serde_json::Value = serde_json::from_str(json).unwrap();
        let (code, message) = (error["code"].as_str().unwrap(), error["message"].as_str().unwrap());
        assert_eq!(answer.body, run_error(code, message));
        assert!(format!("{code} {message}").starts_with(event), "{line}: {}", answer.body);
        assert!(!answer.body.contains("hush"), "{}", answer.body);
        for (name, value) in *told {
            assert_eq!(answer.head.header(name).as_deref(), Some(*value), "{line} {headers:?}");
        }
    }
}

#[tokio::test]
async fn a_refusal_can_be_a_stream_that_a_proxy_passes_on() {
    let rig = Rig::with(refusing(409, "THREAD_BUSY"), |server| {
        invocations(server)
            .errors_as_events(ErrorMode::Stream)
            .limits(Limits::new().with_max_run_body_bytes(99))
    })
    .await;
    let too_large = " ".repeat(100);
    for (line, body, status, code) in [
        ("POST /invocations HTTP/1.1", INPUT, 200, "THREAD_BUSY"),
        ("POST /invocations HTTP/1.1", "{}", 200, "VALIDATION_ERROR"),
        ("POST /invocations HTTP/1.1", &too_large, 200, "VALIDATION_ERROR"),
        ("PUT /invocations HTTP/1.1", INPUT, 405, "VALIDATION_ERROR"),
        ("POST /nope HTTP/1.1", INPUT, 404, "VALIDATION_ERROR"),
    ] {
        let answer = rig.exchange(request(line, &["Content-Type: application/json"], body)).await;
        assert_eq!(answer.head.status, status, "{line}");
        assert_eq!(answer.head.header("content-type").as_deref(), Some("text/event-stream"), "{line}");
        let begin = format!("data: {{\"type\":\"RUN_ERROR\",\"code\":\"{code}\",");
        assert!(answer.body.starts_with(&begin), "{line}: {}", answer.body);
    }
}

#[tokio::test]
async fn what_a_failed_agent_says_stays_inside() {
    for mode in [ErrorMode::Status, ErrorMode::Stream] {
        let configure = |server: ServerBuilder| server.errors_as_events(mode).echo_headers(amazon_ids());
        let ask =
            request("POST / HTTP/1.1", &["Content-Type: application/json", "x-amzn-requestid: req-1"], INPUT);
        let expected = run_error("AGENT_ERROR", "Agent execution failed. (req-1)");
        let failing = Rig::with(refusing(500, "BOOM"), configure).await;
        let answer = failing.exchange(&ask).await;
        assert_eq!((answer.head.status, answer.body.as_str()), (200, expected.as_str()));
        let panicking =
            Rig::with(Scripted(|_: RunRequest| async { unreachable!("secret=/etc/passwd") }), configure)
                .await;
        let answer = panicking.exchange(&ask).await;
        assert_eq!((answer.head.status, answer.body.as_str()), (200, expected.as_str()));
    }
}

#[tokio::test]
async fn a_server_over_its_cap_says_so_in_an_event() {
    let rig = Rig::with(silent(&Census::default()), |server| {
        server.errors_as_events(ErrorMode::Status).limits(Limits::new().with_max_connections(1))
    })
    .await;
    let mut first = rig.connect().await;
    first.send(run_request()).await;
    first.until(STARTED).await;
    let answer = rig.exchange(run_request()).await;
    assert_eq!(answer.head.status, 503);
    assert_eq!(answer.head.header("retry-after").as_deref(), Some("1"));
    assert_eq!(answer.body, run_error("SERVER_BUSY", "The server is busy. Try again later."));
}

#[tokio::test]
async fn a_body_that_is_announced_as_something_else_can_be_read_as_json() {
    let rig = Rig::with(parrot(), ServerBuilder::any_json_content_type).await;
    for (headers, status) in [
        (&[][..], 200),
        (&["Content-Type: application/octet-stream"], 200),
        (&["Content-Type: text/plain;charset=UTF-8"], 200),
        (&["Content-Type: application/x-www-form-urlencoded"], 415),
        (&["Content-Type: application/json", "Content-Encoding: gzip"], 415),
    ] {
        let answer = rig.exchange(request("POST / HTTP/1.1", headers, INPUT)).await;
        assert_eq!(answer.head.status, status, "{headers:?}");
    }
}

#[tokio::test]
async fn ids_come_back_with_every_answer_and_reach_the_agent() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let agent = {
        let seen = Arc::clone(&seen);
        Scripted(move |request: RunRequest| {
            let id = request.header("x-amzn-requestid").map(str::to_owned);
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(id.unwrap());
            async move {
                let (mut sink, stream) = begin(&request);
                say(&mut sink, "m1", &["hi"]);
                finish(&request, sink);
                Ok(stream)
            }
        })
    };
    let rig = Rig::with(agent, |server| server.echo_headers(amazon_ids())).await;
    let json = "Content-Type: application/json";
    let session = format!("{SESSION}: s-1");
    let edge = "X-Amzn-Bedrock-AgentCore-Runtime-Request-Id: edge-1";
    let cases: &[(&str, &[&str], u16, Option<&str>)] = &[
        ("POST / HTTP/1.1", &[json, &session, edge, "x-amzn-requestid: r-1"], 200, Some("edge-1")),
        ("POST / HTTP/1.1", &[json, &session, "x-amzn-requestid: r-1"], 200, Some("r-1")),
        ("POST / HTTP/1.1", &[json, &session], 200, None),
        ("POST /nope HTTP/1.1", &[json, &session], 404, None),
        ("GET /health HTTP/1.1", &[&session], 200, None),
    ];
    let mut given = Vec::new();
    for (line, headers, status, id) in cases {
        let answer = rig.exchange(request(line, headers, INPUT)).await;
        assert_eq!(answer.head.status, *status, "{line}");
        assert_eq!(answer.head.header(SESSION).as_deref(), Some("s-1"), "{line}");
        let told = answer.head.header("x-amzn-requestid").unwrap();
        match id {
            Some(id) => assert_eq!(told, *id),
            None => assert_eq!(told.len(), 36, "{told}"),
        }
        given.push(told);
    }
    assert_eq!(*seen.lock().unwrap(), given[..3]);
    let without = rig.exchange(run_request()).await;
    assert_eq!(without.head.header(SESSION), None);
}

#[tokio::test]
async fn probes_answer_whoever_asks_whenever() {
    let looks = Arc::new(AtomicUsize::new(0));
    let rig = Rig::with(silent(&Census::default()), |server| {
        let looks = Arc::clone(&looks);
        server
            .authenticator(Authenticator::bearer("s3cret").unwrap())
            .limits(Limits::new().with_max_connections(1))
            .probe("/ping", move || {
                looks.fetch_add(1, Ordering::AcqRel);
                Health::ok(&json!({"status": "Healthy"}))
            })
            .probe("/broken", || {
                Health::ok(&json!({"status": "Unhealthy"})).with_status(StatusCode::SERVICE_UNAVAILABLE)
            })
    })
    .await;
    let mut seated = rig.connect().await;
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    for client in [&mut seated, &mut rig.connect().await] {
        let answer = client.exchange(get("/ping")).await;
        assert_eq!((answer.head.status, answer.body.as_str()), (200, r#"{"status":"Healthy"}"#));
        assert_eq!(answer.head.header("content-type").as_deref(), Some("application/json"));
    }
    seated.send("HEAD /ping HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let head = seated.head().await;
    assert_eq!((head.status, head.header("content-length").as_deref()), (200, Some("20")));
    assert_eq!(rig.exchange(get("/health")).await.head.status, 200);
    assert_eq!(rig.exchange(get("/broken")).await.head.status, 503);
    let answer = rig.exchange(post("/ping", "{}")).await;
    assert_eq!((answer.head.status, answer.head.header("allow").as_deref()), (405, Some("GET, HEAD")));
    assert_eq!(looks.load(Ordering::Acquire), 3);
}

#[tokio::test]
async fn a_hook_needs_neither_credentials_nor_a_body() {
    let rig = Rig::with(parrot(), |server| {
        let warm_up = |request: RouteRequest| async move {
            RouteReply::json(StatusCode::OK, &json!({"bytes": request.body.len()}))
        };
        server
            .authenticator(Authenticator::bearer("s3cret").unwrap())
            .route(Route::post("/warmup", warm_up).without_body().without_auth())
            .route(Route::get("/.well-known/x", warm_up).without_auth())
            .route(Route::post("/guarded", warm_up).without_body())
    })
    .await;
    let mut client = rig.connect().await;
    for ask in [
        "POST /warmup HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        request("POST /warmup HTTP/1.1", &["Content-Type: text/plain"], "hello"),
        "GET /.well-known/x HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
    ] {
        let answer = client.exchange(&ask).await;
        assert_eq!((answer.head.status, answer.body.as_str()), (200, r#"{"bytes":0}"#), "{ask}");
    }
    assert_eq!(client.exchange("POST /guarded HTTP/1.1\r\nHost: localhost\r\n\r\n").await.head.status, 401);
}

const HEALTH: &str = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[tokio::test]
async fn an_idle_connection_may_rest_longer_than_a_head_may_take() {
    let timeouts = Timeouts::new().with_head(Duration::from_millis(500)).with_idle(Duration::from_secs(3600));
    let rig = Rig::with(parrot(), |server| server.timeouts(timeouts)).await;
    let mut resting = rig.connect().await;
    assert_eq!(resting.exchange(HEALTH).await.head.status, 200);
    // A connection that came later and never asks is closed when its time is over.
    rig.connect().await.closed().await;
    assert_eq!(resting.exchange(HEALTH).await.head.status, 200);
    // Once the next request has begun it has to come as fast as any other.
    resting.send("GET /health HT").await;
    resting.closed().await;
    rig.deserted().await;
}

#[tokio::test]
async fn an_idle_connection_may_be_closed_sooner_than_a_head_has_to_be_there() {
    let timeouts = Timeouts::new().with_head(Duration::from_secs(3600)).with_idle(Duration::from_millis(50));
    let rig = Rig::with(parrot(), |server| server.timeouts(timeouts)).await;
    let mut begun = rig.connect().await;
    begun.send(&HEALTH[..10]).await;
    let mut resting = rig.connect().await;
    assert_eq!(resting.exchange(HEALTH).await.head.status, 200);
    resting.closed().await;
    assert_eq!(begun.exchange(&HEALTH[10..]).await.head.status, 200);
}

/// A runtime of one thread for agents; ends without waiting for what blocks it.
struct Workers(Option<tokio::runtime::Runtime>);

impl Workers {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("agents")
            .enable_all()
            .build()
            .unwrap();
        Self(Some(runtime))
    }

    fn handle(&self) -> tokio::runtime::Handle {
        self.0.as_ref().unwrap().handle().clone()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Blocks its thread before and after it has accepted a run, until it gets a sign.
fn blocking(census: &Census, signs: mpsc::Receiver<()>) -> impl agui_core::Agent + use<> {
    let (census, signs) = (census.clone(), Arc::new(Mutex::new(signs)));
    Scripted(move |request: RunRequest| {
        let (census, signs) = (census.clone(), Arc::clone(&signs));
        let block = move || {
            assert_eq!(std::thread::current().name(), Some("agents"));
            census.begin();
            signs.lock().unwrap().recv().unwrap();
        };
        async move {
            block();
            let (mut sink, stream) = begin(&request);
            tokio::spawn(async move {
                block();
                say(&mut sink, "m1", &["hi"]);
                finish(&request, sink);
            });
            Ok(stream)
        }
    })
}

#[tokio::test]
async fn an_agent_that_blocks_its_threads_blocks_no_probe() {
    let (workers, census) = (Workers::start(), Census::default());
    let (sign, signs) = mpsc::channel();
    let rig = Rig::with(blocking(&census, signs), |server| server.agent_runtime(workers.handle())).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    for stage in [1, 2] {
        eventually(|| census.begun() == stage).await;
        assert_eq!(rig.exchange(HEALTH).await.head.status, 200);
        sign.send(()).unwrap();
    }
    assert_eq!(client.answer().await.body, PARROT);
}

#[tokio::test]
async fn an_agent_alone_can_work_elsewhere() {
    let (workers, census) = (Workers::start(), Census::default());
    let (sign, signs) = mpsc::channel();
    sign.send(()).unwrap();
    sign.send(()).unwrap();
    let rig = Rig::start(on_runtime(Arc::new(blocking(&census, signs)), workers.handle())).await;
    assert_eq!(rig.exchange(run_request()).await.body, PARROT);
    drop(sign);
    let panicked = rig.exchange(run_request()).await;
    assert_eq!(panicked.head.status, 500);
}

#[tokio::test]
async fn a_session_may_begin_so_many_runs() {
    let header = HeaderName::from_static("x-session");
    let rig = Rig::with(parrot(), |server| {
        server
            .rate_limit(RateLimit::per_session("2/h".parse().unwrap()), header)
            .route(Route::get("/more", |_: RouteRequest| async { RouteReply::json(StatusCode::OK, &1) }))
            .route(Route::upgrade("/ws", |_: RouteRequest| async {
                RouteReply::Problem(Problem::new(409, "X", "x"))
            }))
    })
    .await;
    let run = |session: &str| {
        request(
            "POST / HTTP/1.1",
            &["Content-Type: application/json", &format!("X-Session: {session}")],
            INPUT,
        )
    };
    let ws = "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Session: a\r\n\r\n";
    let more = "GET /more HTTP/1.1\r\nHost: localhost\r\nX-Session: a\r\n\r\n";
    for (ask, status) in [
        (run("a").as_str(), 200),
        (ws, 409),
        (&run("a"), 429),
        (ws, 429),
        (more, 200),
        (&run("b"), 200),
        (&run_request(), 200),
        (&run_request(), 200),
        (&run_request(), 429),
    ] {
        assert_eq!(rig.exchange(ask).await.head.status, status, "{ask}");
    }
    let refused = rig.exchange(run("a")).await;
    assert_eq!(refused.head.header("retry-after").as_deref(), Some("1800"));
    assert_eq!(
        refused.body,
        envelope("RATE_LIMIT_EXCEEDED", "Too many requests. Try again in 1800 seconds.")
    );
}
