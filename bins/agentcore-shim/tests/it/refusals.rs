//! What callers are told when something is wrong, and what they are not told.

use agui_testkit::client::TestClient;
use http::Method;
use serde_json::json;

use crate::fake_agent::{FakeAgent, STARTED, Step, hello};
use crate::socket::Socket;
use crate::stack::{SESSION, Shim, error_code, last, post_as, refusal, say};

/// Everything that is refused before a run, with its status and code.
async fn refusals(shim: &Shim) -> Vec<(&'static str, u16, serde_json::Value)> {
    let mut told = Vec::new();
    let bodies: [(_, &[u8]); 6] = [
        ("no JSON", b"{\"threadId\": \"t1\","),
        ("no body", b""),
        ("no UTF-8", b"{\"threadId\":\"\xff\xfe\",\"runId\":\"r\",\"messages\":[]}"),
        ("no object", b"[]"),
        ("null", b"null"),
        ("no messages", br#"{"threadId":"s3cret","runId":"r","messages":7}"#),
    ];
    for (what, body) in bodies {
        let (status, event) = refusal(post_as(shim, "application/json", body).await).await;
        told.push((what, status, event));
    }
    told
}

#[tokio::test]
async fn r29_r31_row_13_refusals_have_their_status_and_say_where_and_not_what() {
    let shim = Shim::demo().await;
    for (what, status, event) in refusals(&shim).await {
        assert_eq!((status, &event["code"]), (400, &json!("VALIDATION_ERROR")), "{what}");
        let message = event["message"].as_str().unwrap();
        assert!(!message.contains("s3cret") && !message.contains("http"), "{what}: {message}");
    }
    let body =
        json!({"threadId": "t", "runId": "r", "messages": [{"id": "1", "role": "user", "content": 7}]});
    let (_, event) = refusal(shim.client.post("/invocations", &body).await.unwrap()).await;
    assert!(event["message"].as_str().unwrap().contains("/messages/0/content"), "{event}");
}

#[tokio::test]
async fn r29_on_the_platform_the_reason_survives_as_a_stream() {
    let shim = Shim::start(&["--demo"], &[("AGENT_OBSERVABILITY_ENABLED", "true")]).await;
    for (what, status, event) in refusals(&shim).await {
        assert_eq!((status, &event["code"]), (200, &json!("VALIDATION_ERROR")), "{what}");
    }
}

#[tokio::test]
async fn r30_r32_row_12_an_agent_that_fails_leaks_nothing_but_an_id() {
    let agent = FakeAgent::start(vec![
        STARTED,
        Step::Event(r#"{"type":"RUN_ERROR","message":"secret=/etc/passwd","code":"INTERNAL_ERROR"}"#),
    ])
    .await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    let recording = shim.run(&say("t", "r", "hi")).await;
    assert_eq!((recording.status, error_code(&recording)), (200, "AGENT_ERROR"));
    let message = last(&recording)["message"].as_str().unwrap();
    assert!(message.starts_with("Agent execution failed"), "{message}");
    let everything: String = recording.events.iter().map(|event| event.raw.as_str()).collect();
    assert!(!everything.contains("passwd"), "{everything}");
    let id = message.split(['[', ']']).nth(1).expect("an id");
    let logged = shim.wait_for_log(|line| line.to_string().contains(id)).await;
    assert!(logged.to_string().contains("secret=/etc/passwd"), "{logged}");

    let trusting = Shim::in_front_of(&agent.url(), &["--trust-errors"]).await;
    let recording = trusting.run(&say("t", "r", "hi")).await;
    assert_eq!(last(&recording)["message"], "secret=/etc/passwd");
}

#[tokio::test]
async fn r32_an_agent_that_is_not_there_fails_in_the_form_of_the_contract() {
    let shim = Shim::in_front_of("http://127.0.0.1:9/", &[]).await;
    let response = shim.client.post("/invocations", &say("t", "r", "hi")).await.unwrap();
    let id = response.header("x-amzn-requestid").unwrap().to_owned();
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    let (status, event) = refusal(response).await;
    assert_eq!((status, &event["code"]), (200, &json!("AGENT_ERROR")));
    let message = event["message"].as_str().unwrap();
    assert!(message.starts_with("Agent execution failed") && message.contains(&id), "{message}");
}

#[tokio::test]
async fn r31_what_an_agent_refuses_keeps_its_meaning() {
    for (status, body, expected) in [
        (400, r#"{"error":"Invalid RunAgentInput","details":"s3cret"}"#, (400, "VALIDATION_ERROR")),
        (409, "{}", (409, "SESSION_BUSY")),
        (429, "{}", (429, "RATE_LIMIT_EXCEEDED")),
        (500, "s3cret", (200, "AGENT_ERROR")),
        (404, "s3cret", (200, "AGENT_ERROR")),
    ] {
        let agent = FakeAgent::refusing(status, body).await;
        let shim = Shim::in_front_of(&agent.url(), &[]).await;
        let (told, event) =
            refusal(shim.client.post("/invocations", &say("t", "r", "hi")).await.unwrap()).await;
        assert_eq!((told, event["code"].as_str().unwrap()), expected, "{status}");
        assert!(!event.to_string().contains("s3cret"), "{event}");
    }
}

#[tokio::test]
async fn r31_a_session_that_calls_too_often_is_told_to_wait_and_the_others_are_not() {
    let shim = Shim::start(&["--demo", "--rate-limit", "2/h"], &[]).await;
    let (one, other) = (shim.in_session("one"), shim.in_session("other"));
    let post = async |client: &TestClient, run: &str| {
        client.post("/invocations", &say(&format!("t-{run}"), run, "chat")).await.unwrap()
    };
    for run in ["r1", "r2"] {
        assert_eq!(post(&one, run).await.status, 200);
    }
    let refused = post(&one, "r3").await;
    assert!(refused.header("retry-after").is_some());
    let (status, event) = refusal(refused).await;
    assert_eq!((status, &event["code"]), (429, &json!("RATE_LIMIT_EXCEEDED")));
    assert_eq!(post(&other, "r4").await.status, 200);
}

#[tokio::test]
async fn r31_runs_on_a_socket_count_like_others_and_the_socket_stays() {
    let shim = Shim::start(&["--demo", "--rate-limit", "4/h"], &[]).await;
    let open = async |session| Socket::open_with(&shim, "/ws", &[(SESSION, session)]).await.unwrap();
    // The socket itself, two runs on it, and one beside it.
    let mut socket = open("one").await;
    for run in ["r1", "r2"] {
        assert_eq!(socket.run(&say("t", run, "chat")).await.last().unwrap()["type"], "RUN_FINISHED");
    }
    let post = async |session: &str, run: &str| {
        let client = shim.in_session(session);
        client.post("/invocations", &say(&format!("t-{run}"), run, "chat")).await.unwrap()
    };
    assert_eq!(post("one", "r3").await.status, 200);
    for run in ["r4", "r5"] {
        socket.send(&say("t", run, "chat")).await;
        let refused = socket.event().await;
        assert_eq!(
            (&refused["type"], &refused["code"], &refused["runId"]),
            (&json!("RUN_ERROR"), &json!("RATE_LIMIT_EXCEEDED"), &json!(run))
        );
        assert_eq!(refused["metadata"]["refusal"], true);
        assert!(refused["metadata"]["retryAfterSeconds"].as_u64().unwrap() > 0, "{refused}");
    }
    assert_eq!(post("one", "r6").await.status, 429);
    assert_eq!(post("other", "r7").await.status, 200);
    let mut other = open("other").await;
    assert_eq!(other.run(&say("t-7", "r8", "chat")).await.last().unwrap()["type"], "RUN_FINISHED");
}

#[tokio::test]
async fn an_agent_gets_the_callers_authorization_if_that_is_asked_for() {
    let agent = FakeAgent::start(hello()).await;
    let url = agent.url();
    let shim = Shim::in_front_of(&url, &["--forward-header", "Authorization"]).await;
    let client = shim.client.clone().with_header("authorization", "Bearer tok-2");
    crate::stack::run_with(&client, &say("t", "r1", "hi")).await;
    assert!(agent.requests()[0].head.to_lowercase().contains("authorization: bearer tok-2"));
}

#[tokio::test]
async fn row_21_request_ids_and_tokens_are_known_by_all_their_names() {
    let agent = FakeAgent::start(hello()).await;
    let url = agent.url();
    let names = [
        "x-amzn-bedrock-agentcore-runtime-workload-accesstoken",
        "x-amz-bedrock-agentcore-identity-wat",
        "workloadaccesstoken",
    ];
    let flags: Vec<&str> = names.iter().flat_map(|name| ["--forward-header", name]).collect();
    let shim = Shim::in_front_of(&url, &flags).await;
    for (index, name) in names.iter().enumerate() {
        let client = shim.client.clone().with_header(name, "tok-1").with_header("x-amzn-requestid", "req-1");
        let recording = crate::stack::run_with(&client, &say("t", &format!("r{index}"), "hi")).await;
        let answered = recording.headers.iter().find(|(name, _)| name == "x-amzn-requestid").unwrap();
        assert_eq!(answered.1, "req-1");
        let seen = &agent.requests()[index].head;
        for name in names {
            assert!(seen.contains(&format!("{name}: tok-1")), "{seen}");
        }
    }
    let client = shim.client.clone().with_header("authorization", "Bearer tok-2");
    crate::stack::run_with(&client, &say("t", "r9", "hi")).await;
    assert!(!agent.requests()[names.len()].head.contains("tok-2"), "what was not asked for stays here");
    let preferred = "x-amzn-bedrock-agentcore-runtime-request-id";
    let client = shim.client.clone().with_header("x-amzn-requestid", "req-2").with_header(preferred, "req-3");
    let response = client.send(Method::POST, "/invocations", Some("{}".into())).await.unwrap();
    assert_eq!(response.header("x-amzn-requestid"), Some("req-3"));
}
