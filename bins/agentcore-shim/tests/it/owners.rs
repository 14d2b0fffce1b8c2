//! Whose a run is.

use agui_testkit::client::TestClient;
use serde_json::{Value, json};

use crate::callers::{issuer, tokens};
use crate::fake_agent::{FINISHED, FakeAgent, STARTED, Step, hello};
use crate::socket::Socket;
use crate::stack::{Shim, error_code, outcome, refusal, run_with, say, session_event};

/// In front of an agent at `url`, for users of an issuer at `issuer`.
async fn for_users(url: &str, issuer: &str, more: &[&str]) -> Shim {
    let flags = ["--auth", "jwt", "--jwt-discovery-url", issuer, "--jwt-audience", "a1"];
    Shim::in_front_of(url, &[&flags[..], more].concat()).await
}

struct User(String);

impl User {
    fn new(token: &str) -> Self {
        Self(tokens()[token].as_str().unwrap().to_owned())
    }

    fn client(&self, shim: &Shim) -> TestClient {
        shim.client.clone().with_token(&self.0)
    }

    async fn socket(&self, shim: &Shim) -> Socket {
        let token = format!("Bearer {}", self.0);
        Socket::open_with(shim, "/ws", &[("Authorization", token.as_str())]).await.unwrap()
    }
}

fn cancel(run: &str, target: &Value) -> Value {
    json!({
        "threadId": "t", "runId": run, "messages": [], "forwardedProps": {"iacCode": {"cancel": target}},
    })
}

#[tokio::test]
async fn r3_users_of_an_issuer_share_no_run_and_a_fresh_token_finds_its_users() {
    let (issuer, _issuer) = issuer().await;
    let (mine, refreshed) = (User::new("good"), User::new("refreshed"));
    let other = User::new("of_another_user");
    let body = say("t", "r", "hi");
    // Whether the agent gets the token or not.
    for flags in [&[][..], &["--forward-header", "authorization"]] {
        let agent = FakeAgent::start(hello()).await;
        let shim = for_users(&agent.url(), &issuer, flags).await;
        let first = run_with(&mine.client(&shim), &body).await;

        let (status, event) = refusal(other.client(&shim).post("/invocations", &body).await.unwrap()).await;
        assert_eq!((status, &event["code"]), (409, &json!("RUN_ID_CONFLICT")), "{flags:?}");
        let mut socket = other.socket(&shim).await;
        socket.send(&body).await;
        assert_eq!(socket.event().await["code"], "RUN_ID_CONFLICT", "{flags:?}");

        assert_eq!(run_with(&refreshed.client(&shim), &body).await.json(), first.json(), "{flags:?}");
        let on_socket = refreshed.socket(&shim).await.run(&body).await;
        assert_eq!(on_socket, first.json(), "{flags:?}");
        assert_eq!(agent.requests().len(), 1, "{flags:?}");
        let head = &agent.requests()[0].head;
        assert!(!head.contains(":caller") && !head.contains("jwt "), "who calls stays here: {head}");
    }
}

#[tokio::test]
async fn nobody_ends_the_run_of_another_user() {
    let (issuer, _issuer) = issuer().await;
    let agent = FakeAgent::start(vec![STARTED, Step::Hold, FINISHED]).await;
    let shim = for_users(&agent.url(), &issuer, &[]).await;
    let (mine, other) = (User::new("good"), User::new("of_another_user"));
    let mut events = mine.client(&shim).post("/invocations", &say("t", "r", "hi")).await.unwrap().events();
    events.next().await.unwrap();

    for (index, target) in [json!({"runId": "r"}), json!({"executionId": "r"})].iter().enumerate() {
        let told = run_with(&other.client(&shim), &cancel(&format!("c{index}"), target)).await;
        assert_eq!(error_code(&told), "EXECUTION_NOT_FOUND", "{target}");
    }
    let message = json!({"type": "cancel", "threadId": "t", "runId": "r"});
    let mut socket = other.socket(&shim).await;
    socket.send(&message).await;
    assert_eq!(socket.event().await["code"], "EXECUTION_NOT_FOUND");
    assert_eq!(agent.open(), 1, "the run goes on");

    let mut socket = User::new("refreshed").socket(&shim).await;
    socket.send(&message).await;
    let told = socket.until("CUSTOM").await;
    assert_eq!(told.last().unwrap()["value"]["result"], "cancelled");
    crate::stack::verify(&events.collect().await);
}

#[tokio::test]
async fn a_run_of_another_session_is_not_ended_by_its_id() {
    let shim = Shim::demo().await;
    let client = shim.in_session("s-1");
    let mut events = client.post("/invocations", &say("t", "r", "hold")).await.unwrap().events();
    events.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT").await.unwrap();
    let header = |session| [(crate::stack::SESSION, session)];
    // Without an invocation: a run is known by its own id, and the execution behind it is looked up here.
    let message = json!({"type": "cancel", "threadId": "t", "runId": "r"});
    for session in ["s-2", ""] {
        let mut socket = Socket::open_with(&shim, "/ws", &header(session)).await.unwrap();
        socket.send(&message).await;
        assert_eq!(socket.event().await["code"], "EXECUTION_NOT_FOUND", "{session}");
    }
    // An execution ends for whoever knows it and its invocation, as by the cancel extension.
    let execution = session_event(events.so_far())["executionId"].clone();
    let whole = json!({"executionId": execution, "rosInvocationId": "s-1"});
    let told = run_with(&shim.in_session("s-2"), &cancel("c", &whole)).await;
    assert_eq!(told.events[1].json["value"]["result"], "cancelled");
    assert_eq!(error_code(&events.collect().await), "CANCELLED");

    let mut socket = Socket::open_with(&shim, "/ws", &header("s-1")).await.unwrap();
    let mut events = client.post("/invocations", &say("t", "r2", "hold")).await.unwrap().events();
    events.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT").await.unwrap();
    socket.send(&json!({"type": "cancel", "threadId": "t", "runId": "r2"})).await;
    socket.until("CUSTOM").await;
    assert_eq!(error_code(&events.collect().await), "CANCELLED");
    assert_eq!(outcome(&run_with(&client, &say("t", "r3", "chat")).await), "success");
}
