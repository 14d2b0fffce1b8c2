//! `POST /invocations` as the contract has it.

use agui_testkit::client::{StreamEnd, input::decision};
use http::Method;
use serde_json::{Value, json};

use crate::fake_agent::{FINISHED, FakeAgent, STARTED, Step, hello};
use crate::socket::Socket;
use crate::stack::{Shim, last, outcome, post_as, refusal, run_with, say, session_event};

const UUID: &str = "0f8b6c5e-7b5e-4a8e-9d5b-2f0c8d6e4a11";

#[tokio::test]
async fn r1_every_endpoint_of_the_contract_is_there() {
    let shim = Shim::demo().await;
    for (method, path, status) in [
        (Method::GET, "/ping", 200),
        (Method::HEAD, "/ping", 200),
        (Method::GET, "/health", 200),
        (Method::POST, "/warmup", 200),
        (Method::GET, "/ws", 426),
        (Method::GET, "/invocations", 405),
        (Method::GET, "/nothing", 404),
    ] {
        let response = shim.client.send(method.clone(), path, None).await.unwrap();
        assert_eq!(response.status, status, "{method} {path}");
    }
    for path in ["/invocations", "/invocations/"] {
        let run = format!("r{}", path.len());
        let recording =
            shim.client.post(path, &say("t", &run, "chat")).await.unwrap().events().collect().await;
        assert_eq!((recording.status, outcome(&recording)), (200, "success"), "{path}");
    }
    Socket::open(&shim).await.close().await;
}

#[tokio::test]
async fn r2_r8_a_run_comes_by_events_and_by_socket_alike() {
    let agent = FakeAgent::start(hello()).await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    let by_events = shim.run(&say("t", "r1", "hi")).await.json();
    let mut socket = Socket::open(&shim).await;
    let mut by_socket = socket.run(&say("t", "r2", "hi")).await;
    for event in &mut by_socket {
        if event.get("runId").is_some() {
            event["runId"] = "r1".into();
        }
    }
    assert_eq!(by_events, by_socket);
}

#[tokio::test]
async fn r3_the_session_names_the_workspace_and_the_invocation() {
    let shim = Shim::demo().await;
    let recording = run_with(&shim.in_session(UUID), &say("t", "r1", "chat")).await;
    assert_eq!(session_event(&recording)["rosInvocationId"], UUID);
    assert!(shim.dir.path().join("ws").join(UUID).is_dir());
    let echoed = |name: &str| {
        recording.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    };
    assert_eq!(echoed("x-amzn-bedrock-agentcore-runtime-session-id"), Some(UUID));
    assert!(echoed("x-amzn-requestid").is_some());

    // What names no session is in one that stays the same.
    for run in ["r1", "r2"] {
        let recording = shim.run(&say("other", run, "chat")).await;
        assert_eq!(session_event(&recording)["rosInvocationId"], "local");
    }
    assert!(shim.dir.path().join("ws/local").is_dir());
}

#[tokio::test]
async fn r3_a_session_that_would_lead_elsewhere_is_refused() {
    let shim = Shim::demo().await;
    for id in ["../../etc", "a/b", ".hidden"] {
        let response = shim.in_session(id).post("/invocations", &say("t", "r", "chat")).await.unwrap();
        let (status, event) = refusal(response).await;
        assert_eq!((status, event["code"].as_str()), (400, Some("VALIDATION_ERROR")), "{id}");
    }
    assert_eq!(std::fs::read_dir(shim.dir.path().join("ws")).unwrap().count(), 0);
}

#[tokio::test]
async fn r9_answers_thinking_and_tools_are_told() {
    let shim = Shim::demo().await;
    let recording = shim.run(&say("t", "r", "tool")).await;
    for kind in ["TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", "TOOL_CALL_START", "TOOL_CALL_RESULT"] {
        assert!(recording.find(kind).is_some(), "{kind}: {:?}", recording.kinds());
    }
}

#[tokio::test]
async fn r10_the_body_counts_and_not_what_it_is_said_to_be() {
    let shim = Shim::demo().await;
    for (index, kind) in
        ["application/octet-stream", "text/plain", "application/json; charset=utf-8", "binary/octet-stream"]
            .into_iter()
            .enumerate()
    {
        let body = say("t", &format!("r{index}"), "chat").to_string();
        let recording = post_as(&shim, kind, body).await.events().collect().await;
        assert_eq!((recording.status, outcome(&recording)), (200, "success"), "{kind}");
    }
    for kind in ["multipart/form-data", "application/x-www-form-urlencoded", "application/xml"] {
        let (status, event) = refusal(post_as(&shim, kind, "{}").await).await;
        assert_eq!((status, event["code"].as_str()), (415, Some("VALIDATION_ERROR")), "{kind}");
    }
}

#[tokio::test]
async fn r11_r12_row_24_three_members_are_needed_and_no_more() {
    let shim = Shim::demo().await;
    assert_eq!(outcome(&shim.run(&say("t", "r", "chat")).await), "success");
    for missing in ["threadId", "runId", "messages"] {
        let mut body = say("t", "r2", "chat");
        body.as_object_mut().unwrap().remove(missing);
        let (status, event) = refusal(shim.client.post("/invocations", &body).await.unwrap()).await;
        assert_eq!((status, event["code"].as_str()), (400, Some("VALIDATION_ERROR")), "{missing}");
        assert!(event["message"].as_str().unwrap().contains(&format!("/{missing}")), "{event}");
    }
}

#[tokio::test]
async fn r13_the_example_of_the_contract_is_a_run() {
    let shim = Shim::demo().await;
    let body = json!({
        "threadId": "thread-123", "runId": "run-456",
        "messages": [{"id": "msg-1", "role": "user", "content": "Hello, agent!"}],
        "tools": [], "context": [], "state": {}, "forwardedProps": {}
    });
    let recording = shim.run(&body).await;
    let (first, last) = (&recording.events[0].json, last(&recording));
    for event in [first, last] {
        assert_eq!((&event["threadId"], &event["runId"]), (&json!("thread-123"), &json!("run-456")));
    }
}

#[tokio::test]
async fn r14_an_agent_gets_the_whole_input_as_it_came() {
    let agent = FakeAgent::start(hello()).await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    let body = json!({
        "threadId": "t", "runId": "r", "parentRunId": "p",
        "messages": [
            {"id": "1", "role": "developer", "content": "d"},
            {"id": "2", "role": "system", "content": "s"},
            {"id": "3", "role": "user", "content": [{"type": "text", "text": "u"}]},
            {"id": "4", "role": "assistant", "toolCalls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ]},
            {"id": "5", "role": "tool", "toolCallId": "c", "content": "ok"}
        ],
        "tools": [{"name": "f", "description": "d", "parameters": {"type": "object"}}],
        "context": [{"description": "d", "value": "v"}],
        "state": {"n": 1.5, "deep": [{"x": null}]},
        "forwardedProps": {"mine": [1, 2]},
        "unknown": {"kept": true}
    });
    shim.run(&body).await;
    assert_eq!(agent.requests()[0].body, body);
}

#[tokio::test]
async fn r15_a_record_is_one_data_line_and_a_blank_one() {
    let agent = FakeAgent::start(vec![STARTED, FINISHED]).await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    let response = shim.client.post("/invocations", &say("t1", "r1", "hi")).await.unwrap();
    assert_eq!((response.status, response.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(response.header("x-accel-buffering"), Some("no"));
    let body = response.bytes().await.unwrap();
    assert_eq!(
        std::str::from_utf8(&body).unwrap(),
        "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n\
         data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n"
    );
}

#[tokio::test]
async fn r15_the_sample_stream_of_the_contract_comes_out_valid() {
    let agent = FakeAgent::start(vec![
        STARTED,
        Step::Event(r#"{"type":"TEXT_MESSAGE_START","messageId":"msg-789","role":"assistant"}"#),
        Step::Event(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-789","delta":"Processing your request"}"#),
        Step::Event(
            r#"{"type":"TOOL_CALL_START","toolCallId":"tool-001","toolCallName":"search","parentMessageId":"msg-789"}"#,
        ),
        Step::Event(
            r#"{"type":"TOOL_CALL_RESULT","messageId":"msg-789","toolCallId":"tool-001","content":"Search completed"}"#,
        ),
        Step::Event(r#"{"type":"TEXT_MESSAGE_END","messageId":"msg-789"}"#),
        FINISHED,
    ])
    .await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    // The stream is verified by `run`.
    let recording = shim.run(&say("thread-123", "run-456", "hi")).await;
    let kinds = recording.kinds();
    for kind in
        ["TEXT_MESSAGE_CONTENT", "TOOL_CALL_START", "TOOL_CALL_END", "TOOL_CALL_RESULT", "TEXT_MESSAGE_END"]
    {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("RUN_STARTED", "RUN_FINISHED"));
}

#[tokio::test]
async fn an_interrupt_is_answered_by_the_next_run_of_its_session() {
    let shim = Shim::demo().await;
    let client = shim.in_session(UUID);
    let asked = run_with(&client, &say("t", "r1", "write")).await;
    let id = last(&asked)["outcome"]["interrupts"][0]["id"].as_str().unwrap().to_owned();
    let mut answer = json!({"threadId": "t", "runId": "r2", "messages": []});
    answer["resume"] = Value::Array(vec![decision(&id, "allow_once")]);
    assert_eq!(outcome(&run_with(&client, &answer).await), "success");
}

#[tokio::test]
async fn row_17_silence_is_broken_by_comments() {
    let agent = FakeAgent::start(vec![STARTED, Step::Hold, FINISHED]).await;
    let shim = Shim::in_front_of(&agent.url(), &["--heartbeat", "0.02"]).await;
    let mut events = shim.client.post("/invocations", &say("t", "r", "hi")).await.unwrap().events();
    events.next().await.unwrap();
    let waiting = tokio::spawn(events.collect());
    // Several intervals of the heartbeat: the answer comes no sooner.
    for _ in 0..20 {
        shim.ping().await;
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    agent.release();
    let recording = waiting.await.unwrap();
    assert!(!recording.comments.is_empty());
    assert_eq!((outcome(&recording), &recording.end), ("success", &StreamEnd::Complete));
}

#[tokio::test]
async fn row_19_bodies_have_a_cap_in_bytes_and_in_depth() {
    let shim = Shim::start(&["--demo", "--max-body-bytes", "4096"], &[]).await;
    let large = format!(r#"{{"threadId":"t","runId":"r","messages":[],"state":"{}"}}"#, "x".repeat(5000));
    let (status, event) = refusal(post_as(&shim, "application/json", large).await).await;
    assert_eq!((status, event["code"].as_str()), (413, Some("VALIDATION_ERROR")));

    let deep = format!(
        r#"{{"threadId":"t","runId":"r","messages":[],"state":{}{}}}"#,
        "[".repeat(1500),
        "]".repeat(1500)
    );
    let (status, event) = refusal(post_as(&shim, "application/json", deep).await).await;
    assert_eq!((status, event["code"].as_str()), (400, Some("VALIDATION_ERROR")));
    assert_eq!(outcome(&shim.run(&say("t", "r", "chat")).await), "success");
}
