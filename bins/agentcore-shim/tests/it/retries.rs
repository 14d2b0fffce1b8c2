//! Requests that come again.

use crate::fake_agent::{FINISHED, FakeAgent, STARTED, Step, hello};
use crate::stack::{Shim, outcome, refusal, run_with, say};

#[tokio::test]
async fn row_16_a_repeated_request_joins_its_run_and_runs_nothing_twice() {
    let agent = FakeAgent::start(vec![STARTED, Step::Hold, FINISHED]).await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    let body = say("t", "r", "hi");
    let mut first = shim.client.post("/invocations", &body).await.unwrap().events();
    first.next().await.unwrap();
    let mut second = shim.client.post("/invocations", &body).await.unwrap().events();
    assert_eq!(second.next().await.unwrap().kind(), "RUN_STARTED");
    agent.release();
    let (first, second) = (first.collect().await, second.collect().await);
    assert_eq!(first.json(), second.json());
    // What has ended answers what it answered.
    assert_eq!(shim.run(&body).await.json(), first.json());
    assert_eq!(agent.requests().len(), 1);

    let mut other = body.clone();
    other["messages"][0]["content"] = "something else".into();
    let (status, event) = refusal(shim.client.post("/invocations", &other).await.unwrap()).await;
    assert_eq!((status, event["code"].as_str()), (409, Some("RUN_ID_CONFLICT")));
}

#[tokio::test]
async fn r3_nobody_else_gets_what_a_run_answered() {
    let agent = FakeAgent::start(hello()).await;
    let shim = Shim::in_front_of(&agent.url(), &["--forward-header", "authorization"]).await;
    let mine = shim.in_session("s-1").with_header("authorization", "Bearer mine");
    let body = say("t", "r", "hi");
    let first = run_with(&mine, &body).await;
    for other in [shim.client.clone(), shim.in_session("s-1"), shim.in_session("s-2")] {
        let (status, event) = refusal(other.post("/invocations", &body).await.unwrap()).await;
        assert_eq!((status, event["code"].as_str()), (409, Some("RUN_ID_CONFLICT")));
    }
    assert_eq!(run_with(&mine, &body).await.json(), first.json());
    assert_eq!(agent.requests().len(), 1);
}

#[tokio::test]
async fn row_16_the_kernel_gets_a_repeated_message_once() {
    let shim = Shim::demo().await;
    let body = say("t", "r", "write");
    let first = shim.run(&body).await;
    let again = shim.run(&body).await;
    assert_eq!((outcome(&first), first.json()), ("interrupt", again.json()));
}

#[tokio::test]
async fn a_client_that_gave_up_finds_its_run_when_runs_outlive_their_clients() {
    let agent = FakeAgent::start(vec![STARTED, Step::Hold, FINISHED]).await;
    let shim = Shim::in_front_of(&agent.url(), &["--on-disconnect", "grace:60"]).await;
    let body = say("t", "r", "hi");
    let mut first = shim.client.post("/invocations", &body).await.unwrap().events();
    first.next().await.unwrap();
    drop(first);
    let again = shim.client.post("/invocations", &body).await.unwrap().events();
    agent.release();
    assert_eq!(outcome(&again.collect().await), "success");
    assert_eq!(agent.requests().len(), 1);
}

#[tokio::test]
async fn a_refused_request_may_come_again() {
    let agent = FakeAgent::refusing(429, "{}").await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    for _ in 0..2 {
        let response = shim.client.post("/invocations", &say("t", "r", "hi")).await.unwrap();
        assert_eq!(refusal(response).await.0, 429);
    }
    assert_eq!(agent.requests().len(), 2);
    let well = FakeAgent::start(hello()).await;
    let shim = Shim::in_front_of(&well.url(), &[]).await;
    assert_eq!(outcome(&shim.run(&say("t", "r", "hi")).await), "success");
}
