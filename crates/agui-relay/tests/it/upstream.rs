//! Requests, refusals and the lives of connections.

use std::time::Duration;

use agui_core::{Agent as _, Event, Problem, RunAgentInput, RunLimits, RunRequest, RunStream, Verifier};
use agui_relay::{ErrorText, RelayError, Upstream, UpstreamConfig};
use agui_testkit::faulty::{FaultyServer, Script, Step, refusing_url};
use futures_util::StreamExt as _;

pub(crate) const STARTED: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
pub(crate) const FINISHED: &str = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;

pub(crate) fn datum(json: &str) -> Step {
    Step::Datum(json.to_owned())
}

pub(crate) fn body(text: impl Into<Vec<u8>>) -> Step {
    Step::Body(text.into().into())
}

pub(crate) async fn server(steps: impl Into<Vec<Step>>) -> FaultyServer {
    FaultyServer::start(Script::new().always("*", steps)).await.unwrap()
}

pub(crate) fn request() -> RunRequest {
    // Spacing, unknown keys and spellings of numbers that no encoder of ours would write.
    let body = br#"{ "threadId":"t","runId":"r", "messages":[], "state":{"n":1.50}, "later":[1e2] }"#;
    RunRequest::new(RunAgentInput::decode(body).unwrap(), bytes::Bytes::from_static(body))
}

/// Long enough for a loaded machine, short enough to notice a hang.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work).await.unwrap()
}

pub(crate) async fn ask(config: UpstreamConfig) -> Result<RunStream, Problem> {
    soon(Upstream::new(config).unwrap().run(request())).await
}

/// The events of a run; whatever they are, they are a valid stream with the ids of the request.
pub(crate) async fn rest(stream: RunStream) -> Vec<Event> {
    let events: Vec<Event> = soon(stream.collect()).await;
    let mut verifier = Verifier::for_run("t", "r");
    events.iter().for_each(|event| verifier.check(event).unwrap());
    verifier.finish().unwrap();
    events
}

pub(crate) fn shown(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| serde_json::to_string(event).unwrap()).collect()
}

#[tokio::test]
async fn the_body_goes_there_as_it_came_with_the_headers_that_may_go() {
    let server = server([Step::sse(), datum(STARTED), datum(FINISHED), Step::End]).await;
    let config = UpstreamConfig::new(format!("{}/invocations?x=1", server.url()))
        .with_header("authorization", "Bearer of-the-relay")
        .with_forward("X-Tenant");
    let upstream = Upstream::new(config).unwrap();
    let session = "x-amzn-bedrock-agentcore-runtime-session-id";
    let given = [
        ("authorization", "Bearer of-the-caller"),
        ("cookie", "secret"),
        ("workloadaccesstoken", "secret"),
        ("content-type", "application/octet-stream"),
        ("content-length", "7"),
        ("host", "elsewhere"),
        ("x-forwarded-for", "10.0.0.1"),
        ("traceparent", "00-1-2-03"),
        ("baggage", "session.id=s"),
        (session, "s-1"),
        ("x-amzn-bedrock-agentcore-runtime-custom-a", "1"),
        ("x-tenant", "acme"),
    ];
    let mut sent = request().with_accept_language("fr");
    for (name, value) in given {
        sent = sent.with_header(name, value);
    }
    let expected_body = sent.body.clone();
    rest(soon(upstream.run(sent)).await.unwrap()).await;

    let requests = server.requests().all();
    let [seen] = &*requests else { panic!("{} requests", requests.len()) };
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/invocations?x=1"));
    assert_eq!(seen.json, serde_json::from_slice::<serde_json::Value>(&expected_body).unwrap());
    assert_eq!(seen.header("content-length"), Some(&*expected_body.len().to_string()));
    let host = server.addr().to_string();
    let expected = [
        ("authorization", Some("Bearer of-the-relay")),
        ("content-type", Some("application/json")),
        ("accept", Some("text/event-stream")),
        ("accept-language", Some("fr")),
        ("host", Some(&*host)),
        ("cookie", None),
        ("workloadaccesstoken", None),
        ("x-forwarded-for", None),
        ("traceparent", Some("00-1-2-03")),
        ("baggage", Some("session.id=s")),
        (session, Some("s-1")),
        ("x-amzn-bedrock-agentcore-runtime-custom-a", Some("1")),
        ("x-tenant", Some("acme")),
    ];
    for (name, value) in expected {
        assert_eq!(seen.header(name), value, "{name}");
    }
}

#[tokio::test]
async fn what_is_no_event_stream_is_a_failure_of_the_agent_and_tells_nothing() {
    let json = |status: u16, text: &str| {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        vec![Step::Complete { status, headers, body: text.to_owned().into() }]
    };
    let secret = r#"{"error":"secret=/etc/passwd","message":"secret"}"#;
    let cases = [
        ("a JSON answer", json(200, secret), "AGENT_ERROR"),
        ("a server error", json(500, secret), "AGENT_ERROR"),
        ("no HTTP", vec![Step::Socket("secret\r\n\r\n".into()), Step::Fin], "AGENT_ERROR"),
        ("nothing", vec![Step::Fin], "AGENT_ERROR"),
        (
            "the answer of the official kit",
            json(400, r#"{"error":"Invalid JSON","details":"secret"}"#),
            "VALIDATION_ERROR",
        ),
    ];
    for (name, steps, code) in cases {
        let server = server(steps).await;
        let problem = ask(UpstreamConfig::new(server.url())).await.unwrap_err();
        assert_eq!(problem.code, code, "{name}");
        assert!(!problem.to_string().contains("secret"), "{name}: {problem}");
    }
    let stream = r#"data: {"type":"RUN_ERROR","code":"SESSION_BUSY","message":"secret"}"#;
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    let server =
        server([Step::Complete { status: 409, headers, body: format!("{stream}\n\n").into() }]).await;
    let problem = ask(UpstreamConfig::new(server.url())).await.unwrap_err();
    assert_eq!((problem.status, &*problem.code), (409, "SESSION_BUSY"));
    assert_eq!(problem.message, "The session is already processing a request.");

    let problem = ask(UpstreamConfig::new(refusing_url().await.unwrap())).await.unwrap_err();
    assert_eq!((problem.status, &*problem.code), (500, "AGENT_ERROR"));
    let (text, id) = problem.message.split_once(" [").unwrap();
    assert_eq!((text, id.len()), ("Agent execution failed.", 33));
}

#[tokio::test]
async fn addresses_and_headers_that_cannot_be_used_are_refused_at_once() {
    for config in [
        UpstreamConfig::new("ftp://agent/"),
        UpstreamConfig::new("http://user:password@agent/"),
        UpstreamConfig::new("http://agent/").with_header("a b", "c"),
    ] {
        assert!(matches!(Upstream::new(config), Err(RelayError::Upstream(_))));
    }
    let config = UpstreamConfig::new("http://agent/").with_forward("content-length");
    assert!(matches!(Upstream::new(config), Err(RelayError::InvalidForward { .. })));
    let debug = format!("{:?}", UpstreamConfig::new("http://a/?key=secret").with_header("x", "secret"));
    assert!(!debug.contains("secret"), "{debug}");
}

#[tokio::test]
async fn a_reader_that_leaves_closes_the_connection_at_once_also_while_the_agent_is_silent() {
    let server = server([Step::sse(), datum(STARTED), Step::Stall]).await;
    let upstream = Upstream::new(UpstreamConfig::new(server.url())).unwrap();
    let mut stream = soon(upstream.run(request())).await.unwrap();
    assert!(matches!(soon(stream.next()).await, Some(Event::RunStarted(_))));
    assert_eq!(server.connections().open(), 1);
    drop(stream);
    closed(&server).await;
}

async fn closed(server: &FaultyServer) {
    soon(async {
        while server.connections().open() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_reader_may_leave_before_the_agent_has_answered_at_all() {
    let server = server([Step::Stall]).await;
    let config = UpstreamConfig::new(server.url()).with_head_patience(Duration::from_millis(1));
    let stream = ask(config).await.unwrap();
    soon(async {
        while server.requests().all().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(server.connections().open(), 1);
    drop(stream);
    closed(&server).await;
}

#[tokio::test]
async fn an_answer_that_takes_its_time_is_relayed_and_a_refusal_ends_the_run() {
    let good = [Step::Await("late".into()), Step::sse(), datum(STARTED), datum(FINISHED), Step::End];
    let bad =
        [Step::Await("late".into()), Step::json(422, &serde_json::json!({"error": {"code": "BAD_TOOL"}}))];
    let cases: [(Vec<Step>, &[&str]); 2] =
        [(good.into(), &["RUN_STARTED", "RUN_FINISHED"]), (bad.into(), &["RUN_ERROR BAD_TOOL"])];
    for (steps, expected) in cases {
        let server = server(steps).await;
        let config = UpstreamConfig::new(server.url()).with_head_patience(Duration::from_millis(1));
        let stream = ask(config).await.unwrap();
        server.release("late");
        let events = rest(stream).await;
        let told: Vec<String> = events
            .iter()
            .map(|event| match event {
                Event::RunError(error) => format!("RUN_ERROR {}", error.code.as_deref().unwrap_or_default()),
                event => event.event_type().as_str().to_owned(),
            })
            .collect();
        assert_eq!(told, expected);
    }
}

#[tokio::test]
async fn an_upstream_is_not_read_faster_than_its_reader_reads() {
    let delta =
        format!(r#"{{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"{}"}}"#, "x".repeat(4_000));
    let start = datum(r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}"#);
    let mut steps = vec![Step::sse(), datum(STARTED), start];
    steps.extend(std::iter::repeat_n(datum(&delta), 8_000));
    steps.extend([Step::End]);
    let server = server(steps).await;
    let config = UpstreamConfig::new(server.url()).with_limits(RunLimits::new(64, 100_000));
    let mut stream = ask(config).await.unwrap();
    assert!(soon(stream.next()).await.is_some());
    // 32 MB are on their way. What is not taken stays with the server, so the run is not overrun.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    let events: Vec<Event> = soon(stream.collect()).await;
    assert_eq!(events.len(), 8_003);
    assert!(matches!(events.last(), Some(Event::RunFinished(_))));
}

#[tokio::test]
async fn a_shutdown_ends_runs_closes_their_connections_and_takes_no_more() {
    let server = server([Step::sse(), datum(STARTED), Step::Stall]).await;
    let upstream = Upstream::new(UpstreamConfig::new(server.url())).unwrap();
    let stream = soon(upstream.run(request())).await.unwrap();
    soon(upstream.shutdown()).await;
    let events = rest(stream).await;
    let Some(Event::RunError(error)) = events.last() else { panic!("{events:?}") };
    assert_eq!(error.code.as_deref(), Some("SHUTTING_DOWN"));
    let problem = soon(upstream.run(request())).await.unwrap_err();
    assert_eq!((problem.status, &*problem.code), (503, "SHUTTING_DOWN"));
}

#[tokio::test]
async fn row_12_the_text_of_a_failure_is_hidden_unless_it_is_trusted() {
    let failures = [
        (r#""code":"INTERNAL_ERROR""#, "AGENT_ERROR"),
        (r#""code":"RATE_LIMITED""#, "RATE_LIMITED"),
        (r#""code":"secret=/etc/passwd""#, "AGENT_ERROR"),
        (r#""rawEvent":{"trace":"secret"}"#, "AGENT_ERROR"),
    ];
    for (more, code) in failures {
        let failure = format!(r#"{{"type":"RUN_ERROR","message":"secret=/etc/passwd",{more}}}"#);
        let inner = r#"{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"secret","code":"secret"}"#;
        let steps = [
            Step::sse(),
            datum(STARTED),
            datum(r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}"#),
            datum(inner),
            datum(&failure),
            Step::End,
        ];
        let server = server(steps).await;
        let events = rest(ask(UpstreamConfig::new(server.url())).await.unwrap()).await;
        assert!(!shown(&events).concat().contains("secret"), "{events:?}");
        let Some(Event::RunError(error)) = events.last() else { panic!("{events:?}") };
        assert_eq!(error.code.as_deref(), Some(code));
        assert!(error.message.starts_with("Agent execution failed. ["), "{}", error.message);

        let trusted = UpstreamConfig::new(server.url()).with_error_text(ErrorText::Trusted);
        let events = rest(ask(trusted).await.unwrap()).await;
        assert_eq!(shown(&events)[3], failure);
    }
}
