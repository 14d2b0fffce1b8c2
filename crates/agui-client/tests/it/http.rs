//! Requests and answers on the wire.

use std::time::Duration;

use agui_client::{AgentConfig, ClientError, Dialect, HttpAgent, Note, Run, RunEnd};
use agui_core::RunAgentInput;
use agui_testkit::faulty::{Eol, FaultyServer, Framing, Script, Step, refusing_url};
use futures_util::StreamExt as _;
use serde_json::json;

pub(crate) const STARTED: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
pub(crate) const FINISHED: &str = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;

pub(crate) fn datum(json: &str) -> Step {
    Step::Datum(json.to_owned())
}

async fn server(steps: impl Into<Vec<Step>>) -> FaultyServer {
    FaultyServer::start(Script::new().always("*", steps)).await.unwrap()
}

fn input() -> RunAgentInput {
    RunAgentInput::new("t", "r", Vec::new())
}

async fn open(server: &FaultyServer) -> Result<Run, ClientError> {
    HttpAgent::new(AgentConfig::new(server.url())).unwrap().run(input()).await
}

/// The types of the events, then how the stream ends.
async fn drain(mut run: Run) -> (Vec<String>, String) {
    let mut seen = Vec::new();
    loop {
        match soon(run.next()).await {
            Some(Ok(event)) => seen.push(event.event_type().to_string()),
            Some(Err(error)) => {
                assert!(soon(run.next()).await.is_none(), "nothing follows an error");
                return (seen, error.to_string());
            }
            None => return (seen, format!("end: {:?}", run.end())),
        }
    }
}

/// Long enough for a loaded machine, short enough to notice a hang.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work).await.unwrap()
}

#[tokio::test]
async fn the_request_has_all_keys_and_fixed_headers() {
    let server = server([Step::sse(), datum(STARTED), datum(FINISHED)]).await;
    let config = AgentConfig::new(format!("{}/agent?x=1", server.url()))
        .with_bearer("secret")
        .with_header("Accept", "application/json")
        .with_header("x-extra", "1");
    assert!(!format!("{config:?}").contains("secret"));
    let agent = HttpAgent::new(config).unwrap();
    assert!(!format!("{agent:?}").contains("secret"));
    drain(agent.run(input()).await.unwrap()).await;
    let old = AgentConfig::new(server.url()).with_dialect(Dialect::Legacy);
    drain(HttpAgent::new(old).unwrap().run(input()).await.unwrap()).await;

    let requests = server.requests().all();
    let sent = &requests[0];
    assert_eq!((sent.method.as_str(), sent.target.as_str()), ("POST", "/agent?x=1"));
    let headers =
        ["accept", "content-type", "authorization", "x-extra", "host"].map(|name| sent.header(name));
    let host = server.addr().to_string();
    let expected = ["text/event-stream", "application/json", "Bearer secret", "1", &host];
    assert_eq!(headers, expected.map(Some));
    let mut body = json!({"threadId": "t", "runId": "r", "protocolVersion": "1.0", "messages": [],
        "state": {}, "tools": [], "context": [], "forwardedProps": {}});
    assert_eq!(sent.json, body);
    body.as_object_mut().unwrap().remove("protocolVersion");
    assert_eq!(requests[1].json, body);
}

/// What the agent does, the types of the events, and how the end begins.
type Ending = (&'static str, Vec<Step>, &'static [&'static str], &'static str);

const WHOLE: &[&str] = &["RUN_STARTED", "RUN_FINISHED"];
const LATE: &[&str] = &["RUN_STARTED", "RUN_FINISHED", "RUN_ERROR"];
const FAILURE: &str = r#"{"type":"RUN_ERROR","message":"no","code":"X"}"#;

async fn assert_endings(endings: Vec<Ending>) {
    for (name, steps, types, end) in endings {
        let server = server(steps).await;
        let (seen, how) = drain(open(&server).await.unwrap()).await;
        assert_eq!(seen, types, "{name}");
        assert!(how.starts_with(end), "{name}: {how}");
    }
}

fn run_then(more: impl IntoIterator<Item = Step>) -> Vec<Step> {
    [Step::sse(), datum(STARTED), datum(FINISHED)].into_iter().chain(more).collect()
}

fn started_then(more: impl IntoIterator<Item = Step>) -> Vec<Step> {
    [Step::sse(), datum(STARTED)].into_iter().chain(more).collect()
}

#[tokio::test]
async fn runs_end_as_their_agent_says() {
    let success = "end: Some(Success { result: None })";
    let failed = r#"end: Some(Failed(RunError { message: "no", code: Some("X"), usage: [], "#;
    let lf = vec![Step::sse(), Step::Eol(Eol::Lf), Step::Ping, datum(STARTED), datum(FINISHED)];
    let head = Step::sse_framed(Framing::UntilClose);
    assert_endings(vec![
        ("a run", run_then([]), WHOLE, success),
        ("LF", lf, WHOLE, success),
        ("until close", vec![head, datum(STARTED), datum(FINISHED), Step::Fin], WHOLE, success),
        ("cut after the end", run_then([Step::Fin]), WHOLE, success),
        ("a failure", vec![Step::sse(), datum(FAILURE)], &["RUN_ERROR"], failed),
        ("a late failure", run_then([datum(FAILURE)]), LATE, failed),
    ])
    .await;
}

#[tokio::test]
async fn a_stream_without_an_end_is_an_error() {
    let started = &["RUN_STARTED"];
    let unterminated = "event stream ended before the run did";
    let unreadable = "event stream cannot be read";
    let head = Step::sse_framed(Framing::UntilClose);
    assert_endings(vec![
        ("no end", started_then([Step::End]), started, unterminated),
        ("no events", vec![Step::sse(), Step::End], &[], unterminated),
        ("a close like an end", vec![head, datum(STARTED), Step::Fin], started, unterminated),
        ("half a record", started_then([Step::Body("data: {".into()), Step::End]), started, unreadable),
        ("a cut", started_then([Step::Fin]), started, "connection broke before the run ended"),
        ("no JSON", started_then([datum("[DONE]")]), started, "event cannot be read"),
        ("a second start", started_then([datum(STARTED)]), started, "event stream breaks the protocol"),
    ])
    .await;
}

#[tokio::test]
async fn a_refusal_has_status_code_and_message() {
    let body = json!({"error": {"code": "THREAD_BUSY", "message": "A run is open."}});
    let busy = server([Step::json(409, &body).with_header("retry-after", "3")]).await;
    let error = open(&busy).await.unwrap_err();
    assert_eq!(error.to_string(), "agent refused the run with status 409 (THREAD_BUSY: A run is open.)");
    let ClientError::Refused { status, code, message, retry_after_s } = error else { panic!("{error:?}") };
    let found = (status, code.as_deref(), message.as_deref(), retry_after_s);
    assert_eq!(found, (409, Some("THREAD_BUSY"), Some("A run is open."), Some(3)));

    let moved = server([Step::complete(307, "text/plain", "moved").with_header("location", "/x")]).await;
    assert_eq!(open(&moved).await.unwrap_err().to_string(), "agent refused the run with status 307 (moved)");
    assert_eq!(moved.requests().all().len(), 1);
}

#[tokio::test]
async fn what_is_no_event_stream_is_no_run() {
    let json = server([Step::json(200, &json!({}))]).await;
    let refused = open(&json).await.unwrap_err().to_string();
    assert_eq!(refused, r#"answer is "application/json", not an event stream"#);
    let garbage = server([Step::Socket("SSH-2.0-x\r\n\r\n".into()), Step::Fin]).await;
    assert!(matches!(open(&garbage).await, Err(ClientError::NotHttp(_))));
    let gone = HttpAgent::new(AgentConfig::new(refusing_url().await.unwrap())).unwrap();
    assert!(matches!(gone.run(input()).await, Err(ClientError::Connect(_))));
}

#[tokio::test]
async fn an_answer_as_it_is_has_any_status_and_every_byte() {
    let refusing = server([Step::json(409, &json!({"a": 1}))]).await;
    let cut = server([Step::sse(), Step::Body("data: x\n".into()), Step::Rst]).await;
    for (server, status, bytes, is_cut) in
        [(&refusing, 409, "{\"a\":1}", false), (&cut, 200, "data: x\n", true)]
    {
        let agent = HttpAgent::new(AgentConfig::new(server.url())).unwrap();
        let mut answer = agent.open(input()).await.unwrap();
        assert_eq!(answer.status(), status);
        assert!(answer.headers().contains_key("content-type"));
        let mut body = Vec::new();
        let fault = loop {
            match soon(answer.chunk()).await {
                Some(Ok(chunk)) => body.extend_from_slice(&chunk),
                Some(Err(error)) => break Some(error),
                None => break None,
            }
        };
        assert_eq!((String::from_utf8(body).unwrap().as_str(), fault.is_some()), (bytes, is_cut));
        assert!(soon(answer.chunk()).await.is_none(), "nothing follows the end");
    }
}

#[tokio::test]
async fn configurations_that_cannot_work_are_refused() {
    let refused = |config| HttpAgent::new(config).unwrap_err().to_string();
    #[cfg(not(feature = "tls"))]
    assert_eq!(refused(AgentConfig::new("https://agent.example/")), "https is not supported");
    let credentials = AgentConfig::new("http://bob:secret@agent.example/");
    assert_eq!(refused(credentials), "address is not an http URL without credentials");
    let split = AgentConfig::new("http://agent.example/").with_header("x", "a\r\nb: c");
    assert_eq!(refused(split), r#"header "x" cannot be sent"#);
}

#[tokio::test]
async fn silence_is_an_error_but_not_after_the_end() {
    let config =
        |server: &FaultyServer| AgentConfig::new(server.url()).with_idle_timeout(Duration::from_millis(50));
    let silent = server([Step::sse(), datum(STARTED), Step::Stall]).await;
    let run = HttpAgent::new(config(&silent)).unwrap().run(input()).await.unwrap();
    let expected = (vec!["RUN_STARTED".to_owned()], "agent was silent for 50 ms".to_owned());
    assert_eq!(drain(run).await, expected);

    let mute = server([Step::Stall]).await;
    let error = HttpAgent::new(config(&mute)).unwrap().run(input()).await.unwrap_err();
    assert_eq!(error.to_string(), "agent was silent for 50 ms");

    let open_end = server([Step::sse(), datum(STARTED), datum(FINISHED), Step::Stall]).await;
    let run = HttpAgent::new(config(&open_end)).unwrap().run(input()).await.unwrap();
    let (seen, how) = drain(run).await;
    assert_eq!((seen.len(), how.as_str()), (2, "end: Some(Success { result: None })"));
    open_end.connections().wait_open(0).await.unwrap();
}

#[tokio::test]
async fn dropping_a_run_closes_the_connection() {
    let server = server([Step::sse(), datum(STARTED), Step::Stall]).await;
    let mut run = open(&server).await.unwrap();
    assert!(matches!(soon(run.next()).await, Some(Ok(_))));
    assert_eq!(server.connections().open(), 1);
    drop(run);
    server.connections().wait_open(0).await.unwrap();
}

#[tokio::test]
async fn a_record_beyond_the_limit_is_refused() {
    let server = server([Step::sse(), datum(STARTED), datum(&"x".repeat(200))]).await;
    let config = AgentConfig::new(server.url()).with_max_event_bytes(100);
    let run = HttpAgent::new(config).unwrap().run(input()).await.unwrap();
    assert_eq!(drain(run).await, (vec!["RUN_STARTED".to_owned()], "event stream cannot be read".to_owned()));
}

#[tokio::test]
async fn a_run_is_a_stream_with_notes_and_an_end() {
    let started = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"2.0"}"#;
    let cancelled = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}"#;
    let server = server([Step::sse(), datum(started), datum(r#"{"type":"NEW"}"#), datum(cancelled)]).await;
    let mut run = open(&server).await.unwrap();
    assert_eq!(soon(run.by_ref().count()).await, 2);
    let notes =
        [Note::OtherVersion { declared: "2.0".to_owned() }, Note::UnknownEvent { event_type: "NEW".into() }];
    assert_eq!(run.take_notes(), notes);
    assert_eq!(run.end(), Some(&RunEnd::Cancelled));
}
