//! The shim as a process: starting, stopping, and what it logs.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::fake_agent::{FINISHED, FakeAgent, STARTED, Step};
use crate::socket::{Came, Socket};
use crate::stack::{PATIENCE, Shim, error_code, failing_start, run_with, say};

#[tokio::test]
async fn row_18_a_stop_ends_runs_with_an_event_and_sockets_with_1001_and_the_process_with_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut shim = Shim::demo().await;
        let mut events = shim.client.post("/invocations", &say("a", "r", "hold")).await.unwrap().events();
        events.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT").await.unwrap();
        let mut socket = Socket::open(&shim).await;
        socket.send(&say("b", "r", "hold")).await;
        socket.until("TEXT_MESSAGE_CONTENT").await;
        let idle = Socket::open(&shim).await;
        shim.signal(signal);
        let recording = tokio::time::timeout(PATIENCE, events.collect()).await.unwrap();
        crate::stack::verify(&recording);
        assert_eq!(error_code(&recording), "SHUTTING_DOWN");
        let told = socket.until("RUN_ERROR").await;
        assert_eq!(told.last().unwrap()["code"], "SHUTTING_DOWN");
        for mut socket in [socket, idle] {
            assert_eq!(socket.next().await, Came::Closed(Some(1001)));
            socket.close().await;
        }
        assert_eq!(shim.exit_code().await, Some(0));
    }
}

#[tokio::test]
async fn row_18_an_agent_that_does_not_end_holds_no_stop_up() {
    let agent = FakeAgent::start(vec![STARTED, Step::Hold, FINISHED]).await;
    let mut shim = Shim::in_front_of(&agent.url(), &[]).await;
    let mut events = shim.client.post("/invocations", &say("t", "r", "hi")).await.unwrap().events();
    events.next().await.unwrap();
    shim.signal(Signal::TERM);
    let recording = tokio::time::timeout(Duration::from_secs(10), events.collect()).await.unwrap();
    assert_eq!(error_code(&recording), "SHUTTING_DOWN");
    assert_eq!(shim.exit_code().await, Some(0));
}

#[tokio::test]
async fn a_question_survives_the_process() {
    let mut shim = Shim::demo().await;
    let asked = shim.run(&say("t", "r1", "write")).await;
    shim.signal(Signal::TERM);
    assert_eq!(shim.exit_code().await, Some(0));
    let state = shim.dir.path().join("state/threads/t.json");
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(state).unwrap()).unwrap();
    let id = crate::stack::last(&asked)["outcome"]["interrupts"][0]["id"].as_str().unwrap().to_owned();
    assert!(record["execution"]["pending"].get(&id).is_some(), "{record}");
}

#[tokio::test]
async fn row_22_log_lines_are_json_with_ids_and_probes_are_not_logged() {
    let shim = Shim::demo().await;
    let client = shim.in_session("s-42").with_header("x-amzn-requestid", "req-42");
    run_with(&client, &say("t", "r", "chat")).await;
    for _ in 0..5 {
        shim.ping().await;
    }
    let line = shim.wait_for_log(|line| line["message"] == "request finished").await;
    assert_eq!((&line["requestId"], &line["sessionId"]), (&json!("req-42"), &json!("s-42")));
    assert_eq!(
        (&line["thread_id"], &line["run_id"], &line["status"]),
        (&json!("t"), &json!("r"), &json!(200))
    );
    assert!(shim.log_lines().iter().all(serde_json::Value::is_object), "{}", shim.log());
    assert!(!shim.log().contains("/ping"), "{}", shim.log());
}

#[tokio::test]
async fn a_container_may_be_configured_by_its_environment_alone() {
    let variables = [
        ("AGENTCORE_SHIM_DEMO", "1"),
        ("AGENTCORE_SHIM_PATH", "/agent"),
        ("AGENTCORE_SHIM_ERROR_MODE", "stream"),
        ("AGENTCORE_SHIM_BUSY_WHILE_PARKED", "false"),
    ];
    let shim = Shim::start(&[], &variables).await;
    let recording =
        shim.client.post("/agent", &say("t", "r", "chat")).await.unwrap().events().collect().await;
    assert_eq!((recording.status, crate::stack::outcome(&recording)), (200, "success"));
    let (status, event) = crate::stack::refusal(shim.client.post("/agent", &json!({})).await.unwrap()).await;
    assert_eq!((status, event["code"].as_str()), (200, Some("VALIDATION_ERROR")));
}

#[test]
fn bad_flags_are_told_and_nothing_is_started() {
    for (flags, name) in [
        (&["--upstream", "ftp://x"][..], "--upstream"),
        (&["--path", "/ws"], "--path"),
        (&["--auth", "bearer"], "--auth"),
        (&["--forward-header", "host", "--", "false"], "--forward-header"),
    ] {
        let (code, text) = failing_start(flags);
        assert_eq!(code, Some(1), "{flags:?}: {text}");
        assert!(text.contains(name), "{flags:?}: {text}");
    }
}

#[tokio::test]
async fn an_address_that_is_taken_is_told() {
    let shim = Shim::demo().await;
    let (code, text) = failing_start(&["--demo", "--port", &shim.port.to_string()]);
    assert_eq!(code, Some(1));
    assert!(text.contains("cannot listen on"), "{text}");
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn what_an_agent_leaves_behind_is_waited_for() {
    let program = env!("CARGO_BIN_EXE_agentcore-shim");
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    // The inner shell leaves a process without a parent, and the outer one becomes the agent.
    let script = format!(
        "sh -c '(while [ ! -e {0}/go ]; do sleep 0.01; done) &'; \
         exec {program} --demo --host 127.0.0.1 --state-dir {0}/s --workspace-root {0}/w",
        dir.path().display()
    );
    let shim = Shim::start(&["--upstream-path", "/invocations", "--", "sh", "-c", &script], &[]).await;
    let warm = shim.client.post("/warmup", &json!({})).await.unwrap();
    assert_eq!(warm.status, 200);
    let guard = crate::stack::children(shim.process_id())[0];
    assert_eq!(crate::stack::children(guard).len(), 2, "the agent, and what it left behind");
    std::fs::write(go, "").unwrap();
    let alone = async {
        while crate::stack::children(guard).len() > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, alone).await.expect("nobody stays a zombie");
}
