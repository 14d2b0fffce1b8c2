//! The table of error codes: each one that this server can give happens here, over HTTP.

use std::pin::Pin;

use agui_iac_code::ErrorCode;
use agui_testkit::client::TestResponse;
use agui_testkit::client::input::{cancelled, decision, resolved};
use agui_testkit::client::raw::RawConnection;
use agui_testkit::faulty::{Script, Step};
use agui_testkit::wire::{self, State, iac, status};
use http::Method;
use serde_json::json;

use crate::stack::{Stack, demo, error_code, interrupt_id, refusal};
use crate::upstream::{CANCEL, Rig, SEND, asks, permission};

type Provoked = Pin<Box<dyn Future<Output = (u16, String)> + Send>>;

/// A way to provoke a code, and the status it comes with; 200 inside a stream.
struct Row {
    code: ErrorCode,
    status: u16,
    provoke: fn() -> Provoked,
}

macro_rules! rows {
    ($($code:ident $status:literal $provoke:ident;)*) => {
        const ROWS: &[Row] = &[
            $(Row { code: ErrorCode::$code, status: $status, provoke: || Box::pin($provoke()) }),*
        ];
    };
}

rows! {
    InvalidInput 400 invalid_input;
    DuplicateRunId 409 duplicate_run_id;
    RunIdConflict 409 run_id_conflict;
    ThreadBusy 409 thread_busy;
    ThreadBindingConflict 409 thread_binding_conflict;
    ResumeRequired 409 resume_required;
    IncompleteResume 200 incomplete_resume;
    UnknownInterrupt 200 unknown_interrupt;
    ResumePayloadInvalid 200 resume_payload_invalid;
    ResumeAlreadyApplied 200 resume_already_applied;
    ExecutionExpired 200 execution_expired;
    ExecutionLost 409 execution_lost;
    StatePersistenceFailed 200 state_persistence_failed;
    StateUnavailable 503 state_unavailable;
    A2aUnavailable 200 a2a_unavailable;
    A2aProtocolError 200 a2a_protocol_error;
    A2aExecutionFailed 200 a2a_execution_failed;
    Cancelled 200 cancelled_by_answer;
    SessionBackupNotReady 200 session_backup_not_ready;
    Unauthorized 401 unauthorized;
    ForbiddenOrigin 403 forbidden_origin;
    ForbiddenHost 403 forbidden_host;
    NotFound 404 not_found;
    ExecutionNotFound 404 execution_not_found;
    RunNotFound 404 run_not_found;
    EventsLost 200 events_lost;
    MethodNotAllowed 405 method_not_allowed;
    NotAcceptable 406 not_acceptable;
    RequestTimeout 408 request_timeout;
    RequestTooLarge 413 request_too_large;
    UnsupportedMediaType 415 unsupported_media_type;
    InvalidJson 400 invalid_json;
    RateLimitExceeded 200 rate_limit_exceeded;
    ServerBusy 503 server_busy;
    ShuttingDown 200 shutting_down;
}

/// Codes that this server does not give, and why.
const ELSEWHERE: &[(ErrorCode, &str)] = &[
    (ErrorCode::AccessDenied, "a caller who is known and may not: only where signatures are checked"),
    (ErrorCode::ValidationError, "the word of another front door for an input that does not fit"),
    (ErrorCode::SessionBusy, "the word of another front door for a thread that is busy"),
    (ErrorCode::UpgradeRequired, "a path for WebSocket connections, which this server has none of"),
    (ErrorCode::AgentError, "a fault in the agent itself: its run task would have to panic"),
    (ErrorCode::InternalError, "a fault in the server itself: a task would have to panic"),
];

#[test]
fn every_code_is_provoked_or_has_a_reason_not_to_be() {
    for code in ErrorCode::ALL {
        let provoked = ROWS.iter().filter(|row| row.code == *code).count();
        let elsewhere = ELSEWHERE.iter().filter(|(other, _)| other == code).count();
        assert_eq!(provoked + elsewhere, 1, "{code}");
    }
}

#[tokio::test]
async fn every_code_happens_with_its_status() {
    let mut running = tokio::task::JoinSet::new();
    for row in ROWS {
        let provoked = (row.provoke)();
        running.spawn(async move { (row, provoked.await) });
        if running.len() >= 6 {
            check(running.join_next().await.unwrap().unwrap());
        }
    }
    while let Some(done) = running.join_next().await {
        check(done.unwrap());
    }
}

fn check((row, (status, code)): (&Row, (u16, String))) {
    assert_eq!((status, code.as_str()), (row.status, row.code.as_str()));
    if row.status != 200 {
        assert_eq!(row.status, row.code.spec().status, "{code}");
    }
}

/// Status and code of a response, whichever form it has.
async fn told(response: TestResponse) -> (u16, String) {
    if !response.is_stream() {
        let (status, code, message) = refusal(response).await;
        assert!(!message.is_empty(), "{code} says something");
        return (status, code);
    }
    let recording = response.events().collect().await;
    crate::stack::verify(&recording);
    (200, error_code(&recording).to_owned())
}

async fn stack() -> (agui_testkit::demo::DemoKernel, Stack) {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    (kernel, stack)
}

async fn invalid_input() -> (u16, String) {
    let (_kernel, stack) = stack().await;
    told(stack.post(&stack.input("t", "r1")).await).await
}

async fn duplicate_run_id() -> (u16, String) {
    let (_kernel, stack) = stack().await;
    stack.say("t", "r1", "chat").await;
    told(stack.post(&stack.input("t", "r1").with_user("chat")).await).await
}

async fn run_id_conflict() -> (u16, String) {
    let (_kernel, stack) = stack().await;
    stack.say("t", "r1", "chat").await;
    told(stack.post(&stack.input("t", "r1").with_user("other")).await).await
}

async fn thread_busy() -> (u16, String) {
    let (_kernel, stack) = stack().await;
    let mut running = stack.post(&stack.input("t", "r1").with_user("hold")).await.events();
    running.next().await.unwrap();
    told(stack.post(&stack.input("t", "r2").with_user("chat")).await).await
}

async fn thread_binding_conflict() -> (u16, String) {
    let (_kernel, stack) = stack().await;
    stack.say("t", "r1", "chat").await;
    let other = stack.input("t", "r2").with_user("chat").with_iac_code("userId", json!("bob"));
    told(stack.post(&other).await).await
}

/// A thread `t` that waits, and the id of its question.
async fn parked() -> (agui_testkit::demo::DemoKernel, Stack, String) {
    let (kernel, stack) = stack().await;
    let id = interrupt_id(&stack.say("t", "r1", "write").await);
    (kernel, stack, id)
}

async fn resume_required() -> (u16, String) {
    let (_kernel, stack, _) = parked().await;
    told(stack.post(&stack.input("t", "r2").with_user("chat")).await).await
}

async fn incomplete_resume() -> (u16, String) {
    let (_kernel, stack, id) = parked().await;
    let twice = stack.input("t", "r2").with_answer(decision(&id, "deny")).with_answer(decision(&id, "deny"));
    told(stack.post(&twice).await).await
}

async fn unknown_interrupt() -> (u16, String) {
    let (_kernel, stack, _) = parked().await;
    told(stack.post(&stack.input("t", "r2").with_answer(decision("other", "deny"))).await).await
}

async fn resume_payload_invalid() -> (u16, String) {
    let (_kernel, stack, id) = parked().await;
    told(stack.post(&stack.input("t", "r2").with_answer(resolved(&id, &json!({})))).await).await
}

async fn resume_already_applied() -> (u16, String) {
    let (_kernel, stack, id) = parked().await;
    stack.run(&stack.input("t", "r2").with_answer(decision(&id, "deny"))).await;
    told(stack.post(&stack.input("t", "r3").with_answer(decision(&id, "deny"))).await).await
}

async fn execution_expired() -> (u16, String) {
    let kernel = demo().await;
    let stack = Stack::start_with(&kernel.url(), &["--interrupt-ttl", "1"], &[]).await;
    let id = interrupt_id(&stack.say("t", "r1", "write").await);
    kernel.requests().wait_for(CANCEL, 1).await.unwrap();
    told(stack.post(&stack.input("t", "r2").with_answer(decision(&id, "deny"))).await).await
}

async fn execution_lost() -> (u16, String) {
    let (_kernel, stack) = stack().await;
    told(stack.post(&stack.input("t", "r1").with_answer(decision("p", "deny"))).await).await
}

async fn state_persistence_failed() -> (u16, String) {
    let kernel = demo().await;
    let variables = [("AGUI_FAILPOINT", "store.before_rename:error@2")];
    let stack = Stack::start_with(&kernel.url(), &[], &variables).await;
    told(stack.post(&stack.input("t", "r1").with_user("chat")).await).await
}

async fn state_unavailable() -> (u16, String) {
    let (_kernel, stack) = stack().await;
    std::fs::write(stack.state_dir().join("state/threads/t.json"), "{").unwrap();
    told(stack.post(&stack.input("t", "r1").with_user("chat")).await).await
}

/// The end of a run whose message is answered by `steps`.
async fn answered_by(steps: Vec<Step>) -> (u16, String) {
    let rig = Rig::start(Script::new().on(SEND, steps)).await;
    told(rig.stack.post(&rig.input("t", "r1").with_user("go")).await).await
}

async fn a2a_unavailable() -> (u16, String) {
    answered_by(vec![Step::Fin]).await
}

async fn a2a_protocol_error() -> (u16, String) {
    let other = wire::Ids::new("stranger", "@context@", "faulty-session");
    let update = Step::Result(status(&other, State::Working, iac(&other, json!({}))));
    answered_by(Step::turn([update])).await
}

async fn a2a_execution_failed() -> (u16, String) {
    answered_by(vec![Step::error(-32602, "Unsupported run mode.")]).await
}

async fn rate_limit_exceeded() -> (u16, String) {
    answered_by(vec![Step::json(429, &json!({}))]).await
}

async fn session_backup_not_ready() -> (u16, String) {
    let data = json!({"code": "SESSION_BACKUP_NOT_READY", "retryable": true});
    answered_by(vec![Step::Error { code: -32602, message: String::new(), data }]).await
}

async fn cancelled_by_answer() -> (u16, String) {
    let mut input = permission("q1", "call-1", "x");
    input["kind"] = json!("ask_user_question");
    let rig = Rig::start(Script::new().on(SEND, asks(&input))).await;
    let id = interrupt_id(&rig.say("t", "r1").await);
    told(rig.stack.post(&rig.input("t", "r2").with_answer(cancelled(&id))).await).await
}

async fn unauthorized() -> (u16, String) {
    let kernel = demo().await;
    let stack = Stack::start_with(&kernel.url(), &[], &[("IAC_CODE_AGUI_AUTH_TOKEN", "secret")]).await;
    told(stack.post(&stack.input("t", "r1").with_user("chat")).await).await
}

/// A good run request with one more header.
async fn with_header(name: &str, value: &str) -> (u16, String) {
    let (_kernel, stack) = stack().await;
    let client = stack.client.clone().with_header(name, value);
    let response = client.post("/", &stack.input("t", "r1").with_user("chat").to_json()).await.unwrap();
    told(response).await
}

async fn forbidden_origin() -> (u16, String) {
    with_header("origin", "https://evil.example").await
}

async fn not_acceptable() -> (u16, String) {
    with_header("accept", "text/html").await
}

async fn unsupported_media_type() -> (u16, String) {
    with_header("content-type", "text/plain").await
}

/// Status and code of an answer that came as bytes.
fn read(bytes: &[u8]) -> (u16, String) {
    let text = String::from_utf8_lossy(bytes);
    let status = text.split(' ').nth(1).unwrap().parse().unwrap();
    let code = text.split(r#""code":""#).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    (status, code.to_owned())
}

/// What comes back for bytes that are written as they are.
async fn raw(stack: &Stack, request: &str) -> (u16, String) {
    let mut connection = RawConnection::connect(&stack.url).await.unwrap();
    connection.write(request.as_bytes()).await.unwrap();
    read(&connection.read_until("}}", 1).await.unwrap())
}

async fn forbidden_host() -> (u16, String) {
    let (_kernel, stack) = stack().await;
    raw(&stack, "POST / HTTP/1.1\r\nhost: evil.example\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}").await
}

async fn request_timeout() -> (u16, String) {
    let kernel = demo().await;
    let stack = Stack::start_with(&kernel.url(), &["--request-timeout", "0.1"], &[]).await;
    raw(
        &stack,
        "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n{",
    )
    .await
}

async fn server_busy() -> (u16, String) {
    let kernel = demo().await;
    let stack = Stack::start_with(&kernel.url(), &["--max-connections", "1"], &[]).await;
    let mut running = stack.post(&stack.input("t", "r1").with_user("hold")).await.events();
    running.next().await.unwrap();
    told(stack.post(&stack.input("u", "r1").with_user("chat")).await).await
}

async fn not_found() -> (u16, String) {
    let (_kernel, stack) = stack().await;
    told(stack.client.get("/nowhere").await.unwrap()).await
}

async fn execution_not_found() -> (u16, String) {
    let (_kernel, stack) = stack().await;
    let (status, body) = stack.cancel("e", "t", "inv-t").await;
    (status, body["error"]["code"].as_str().unwrap().to_owned())
}

/// The events of run `r1` of thread `t`, on a server that keeps them.
async fn events_of(prompt: Option<&str>) -> (u16, String) {
    let kernel = demo().await;
    let stack = Stack::start_with(&kernel.url(), &["--on-disconnect", "detach"], &[]).await;
    if let Some(prompt) = prompt {
        // To its end: what is asked for then is not kept any more.
        stack.post(&stack.input("t", "r1").with_user(prompt)).await.events().collect().await;
    }
    let client = stack.client.clone().with_header("last-event-id", "1");
    let response = client.get("/extensions/agui/v1/runs/t/r1/events").await.unwrap();
    if !response.is_stream() {
        return told(response).await;
    }
    (response.status, error_code(&response.events().collect().await).to_owned())
}

async fn run_not_found() -> (u16, String) {
    events_of(None).await
}

async fn events_lost() -> (u16, String) {
    events_of(Some("long 30000")).await
}

async fn method_not_allowed() -> (u16, String) {
    let (_kernel, stack) = stack().await;
    told(stack.client.send(Method::PUT, "/", None).await.unwrap()).await
}

async fn request_too_large() -> (u16, String) {
    let (_kernel, stack) = stack().await;
    let body = vec![b' '; 12 * 1024 * 1024 + 1];
    told(stack.client.send(Method::POST, "/", Some(body.into())).await.unwrap()).await
}

async fn invalid_json() -> (u16, String) {
    let (_kernel, stack) = stack().await;
    told(stack.client.send(Method::POST, "/", Some("{".into())).await.unwrap()).await
}

async fn shutting_down() -> (u16, String) {
    let (_kernel, mut stack) = stack().await;
    let mut running = stack.post(&stack.input("t", "r1").with_user("hold")).await.events();
    running.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT").await.unwrap();
    let (rest, ()) = tokio::join!(running.collect(), stack.stop());
    crate::stack::verify(&rest);
    (200, error_code(&rest).to_owned())
}
