//! Agents that serve AG-UI, well or badly.

use std::path::Path;

use serde_json::json;

use crate::fake_agent::{FINISHED, FakeAgent, STARTED, Step, TEXT, hello};
use crate::stack::{Shim, error_code, last, outcome, run_with, say};

#[tokio::test]
async fn row_14_whatever_an_agent_sends_comes_out_balanced_with_its_own_ids_and_one_end() {
    let [start, content, end] = TEXT;
    let wrong = Step::Event(r#"{"type":"RUN_STARTED","threadId":"other","runId":"other"}"#);
    let late = Step::Event(r#"{"type":"RUN_ERROR","message":"late"}"#);
    let cases: Vec<(&str, Vec<Step>)> = vec![
        ("it ends early", vec![STARTED, start.clone(), content.clone()]),
        ("it goes on after its end", vec![STARTED, FINISHED, late.clone(), content.clone()]),
        ("its ids are wrong", vec![wrong, start.clone(), content.clone(), end.clone(), FINISHED]),
        ("it begins without a beginning", vec![content.clone(), FINISHED]),
        ("it closes what is not open", vec![STARTED, end.clone(), FINISHED]),
        ("it leaves things open", vec![STARTED, start, FINISHED]),
    ];
    for (what, steps) in cases {
        let agent = FakeAgent::start(steps).await;
        let shim = Shim::in_front_of(&agent.url(), &[]).await;
        // The stream is verified by `run`.
        let recording = shim.run(&say("t", "r", "hi")).await;
        let first = &recording.events[0].json;
        assert_eq!(first["type"], "RUN_STARTED", "{what}");
        assert_eq!((&first["threadId"], &first["runId"]), (&json!("t"), &json!("r")), "{what}");
        assert_eq!(outcome(&recording), "success", "{what}");
    }
}

#[tokio::test]
async fn row_15_an_answer_that_is_cut_ends_with_an_error_and_a_whole_body() {
    let [start, content, _] = TEXT;
    let agent = FakeAgent::start(vec![STARTED, start, content, Step::Cut]).await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    let recording = shim.run(&say("t", "r", "hi")).await;
    assert_eq!(error_code(&recording), "AGENT_ERROR");
    assert!(recording.find("TEXT_MESSAGE_END").is_some());
}

#[tokio::test]
async fn traces_and_sessions_go_on_to_the_agent_and_credentials_do_not() {
    let agent = FakeAgent::start(hello()).await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    let sent = [
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("tracestate", "a=b"),
        ("x-amzn-trace-id", "root=1-5759e988-bd862e3fe1be46a994272793"),
        ("baggage", "session.id=1"),
        ("x-amzn-bedrock-agentcore-runtime-session-id", "s-1"),
        ("x-amzn-bedrock-agentcore-runtime-custom-tenant", "acme"),
    ];
    let mut client = shim.client.clone().with_header("authorization", "Bearer caller-s3cret");
    for (name, value) in sent {
        client = client.with_header(name, value);
    }
    run_with(&client, &say("t", "r", "hi")).await;
    let seen = &agent.requests()[0].head;
    for (name, value) in sent {
        assert!(seen.contains(&format!("{name}: {value}")), "{name}: {seen}");
    }
    assert!(!seen.contains("s3cret"), "{seen}");
}

/// Words of a command that starts this program in front of its built-in kernel, as an agent of its own.
fn agent_in(dir: &Path) -> String {
    let program = env!("CARGO_BIN_EXE_agentcore-shim");
    format!(
        "{program} --demo --host 127.0.0.1 --port {{port}} --state-dir {0}/s --workspace-root {0}/w",
        dir.display()
    )
}

#[tokio::test]
async fn an_agent_is_started_watched_and_found_on_a_port_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let command = agent_in(dir.path());
    let words: Vec<&str> = command.split(' ').collect();
    let shim = Shim::start(&[&["--upstream-path", "/invocations", "--"], &words[..]].concat(), &[]).await;
    let warm = shim.client.post("/warmup", &json!({})).await.unwrap();
    assert_eq!((warm.status, warm.json().await.unwrap()), (200, json!({"status": "ready"})));
    let recording = run_with(&shim.in_session("s-1"), &say("t", "r", "tool")).await;
    assert_eq!(outcome(&recording), "success");
    assert_eq!(crate::stack::session_event(&recording)["rosInvocationId"], "s-1");
    let health = shim.client.get("/health").await.unwrap().json().await.unwrap();
    assert_eq!(health["agent"], json!({"managed": true, "status": "ready", "restarts": 0}));
}

#[tokio::test]
async fn a_run_waits_for_an_agent_that_is_still_starting() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        "while [ ! -e {}/go ]; do sleep 0.01; done; exec {}",
        dir.path().display(),
        agent_in(dir.path())
    );
    let shim = Shim::start(&["--upstream-path", "/invocations", "--", "sh", "-c", &script], &[]).await;
    let waiting = {
        let client = shim.client.clone();
        tokio::spawn(async move { run_with(&client, &say("t", "r", "chat")).await })
    };
    shim.pings("HealthyBusy").await;
    let health = shim.client.get("/health").await.unwrap().json().await.unwrap();
    assert_eq!(health["agent"]["status"], "starting");
    std::fs::write(dir.path().join("go"), "").unwrap();
    assert_eq!(outcome(&waiting.await.unwrap()), "success");
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_kernel_is_started_beside_listening_and_ends_with_the_shim() {
    let dir = tempfile::tempdir().unwrap();
    // All that is asked of this kernel is that it lives: it answers the probe of a kernel.
    let mut shim = Shim::start(&["--a2a-command", &agent_in(dir.path())], &[]).await;
    assert_eq!(shim.client.post("/warmup", &json!({})).await.unwrap().status, 200);
    let guard = crate::stack::children(shim.process_id())[0];
    let kernel = crate::stack::children(guard)[0];
    shim.signal(rustix::process::Signal::TERM);
    assert_eq!(shim.exit_code().await, Some(0));
    assert!(!Path::new(&format!("/proc/{kernel}")).exists());
}

#[tokio::test]
async fn an_agent_that_does_not_start_is_told_of_and_nobody_waits_for_it() {
    let shim = Shim::start(&["--", "false"], &[]).await;
    shim.pings("Unhealthy").await;
    assert_eq!(shim.client.post("/warmup", &json!({})).await.unwrap().status, 503);
    let response = shim.client.post("/invocations", &say("t", "r", "hi")).await.unwrap();
    let (status, event) = crate::stack::refusal(response).await;
    assert_eq!((status, &event["code"]), (200, &json!("AGENT_ERROR")));
}

#[tokio::test]
async fn a_kernel_gets_the_traces_and_nothing_else_of_the_caller() {
    let kernel =
        agui_testkit::demo::DemoKernel::start(agui_testkit::demo::DemoConfig::instant()).await.unwrap();
    let shim = Shim::start(&["--a2a-url", &kernel.url()], &[]).await;
    let client = shim.client.clone().with_header("baggage", "k=v").with_header("x-mine", "1");
    let recording = run_with(&client, &say("t", "r", "chat")).await;
    assert_eq!(last(&recording)["type"], "RUN_FINISHED");
    let sent = kernel.requests().all();
    let message = sent.iter().find(|request| request.header("baggage").is_some()).expect("a message");
    assert_eq!((message.header("baggage"), message.header("x-mine")), (Some("k=v"), None));
}
