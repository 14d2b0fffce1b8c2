//! The bulk server.

use agui_testkit::client::{Recording, StreamEnd, TestClient};
use agui_testkit::replay::{BulkConfig, BulkServer, BulkStream, Trace, WriteMode};
use serde_json::{Value, json};

use crate::kernel::{CONTEXT, call, iac, said, says, task_id, word, words};

async fn get(stream: &BulkStream, config: BulkConfig) -> Recording {
    let server = BulkServer::start(stream.clone(), config).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    let got = client.post("/", &says("go").streaming()).await.unwrap().events().collect().await;
    server.stop().await;
    got
}

const TURN: [&str; 7] = ["task", "SUBMITTED", "WORKING", "text", "usage", "assistantFinal", "INPUT_REQUIRED"];

#[tokio::test]
async fn every_way_of_writing_gives_the_same_events() {
    for stream in [
        BulkStream::synthetic(300),
        BulkStream::from_trace(&Trace::fixture("a_plain_text").unwrap()).unwrap(),
        BulkStream::from_trace(&Trace::fixture("a_plain_text").unwrap()).unwrap().with_repeated_deltas(7),
    ] {
        let mut texts = Vec::new();
        for write in [WriteMode::PerEvent, WriteMode::Large(100), WriteMode::Large(64 << 10)] {
            let got = get(&stream, BulkConfig::default().with_write(write)).await;
            assert_eq!((got.events.len(), &got.end), (stream.events(), &StreamEnd::Complete));
            assert_eq!(words(&got), TURN);
            texts.push(said(&got));
        }
        assert!(texts.iter().all(|text| *text == texts[0] && !text.is_empty()));
        let deltas = get(&stream, BulkConfig::default()).await;
        let deltas = deltas.events.iter().filter(|event| word(&event.json) == "text").count();
        assert_eq!(deltas, stream.deltas());
    }
}

#[tokio::test]
async fn a_stream_carries_the_identities_of_its_request() {
    let trace = Trace::fixture("q_long_output").unwrap();
    let stream = BulkStream::from_trace(&trace).unwrap();
    assert_eq!(stream.deltas(), 2000);
    let got = get(&stream, BulkConfig::default()).await;
    let task = task_id(&got);
    assert_ne!(json!(task), trace.exchanges[0].events()[0]["result"]["task"]["id"]);
    assert_eq!(got.events[0].json["result"]["task"]["history"][0]["messageId"], "m-go");
    let session = iac(&got.events[1].json)["iacCodeSessionId"].clone();
    for event in &got.events[1..] {
        let update = &event.json["result"]["statusUpdate"];
        assert_eq!(
            (&event.json["id"], &update["contextId"], &update["taskId"]),
            (&json!("rpc-m-go"), &json!(CONTEXT), &json!(task))
        );
        assert_eq!(iac(&event.json)["iacCodeSessionId"], session);
    }
}

#[tokio::test]
async fn a_stalled_stream_stays_open_until_its_client_leaves() {
    let config = BulkConfig::default().with_stall_after(5);
    let server = BulkServer::start(BulkStream::synthetic(20), config).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut events = client.post("/", &says("go").streaming()).await.unwrap().events();
        for _ in 0..5 {
            events.next().await.unwrap();
        }
        streams.push(events);
    }
    assert_eq!(server.connections().open(), 3);
    drop(streams);
    server.connections().wait_open(0).await.unwrap();
}

#[tokio::test]
async fn other_requests_get_small_answers() {
    let server = BulkServer::start(BulkStream::synthetic(1), BulkConfig::default()).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    let canceled = crate::kernel::cancel(&client, "T1").await;
    assert_eq!(canceled["result"]["status"], json!({"state": "TASK_STATE_CANCELED"}));
    let unknown = call(&client, &agui_testkit::client::a2a::rpc("1", "GetTask", &json!({"id": "T1"}))).await;
    assert_eq!(unknown["error"]["code"], -32001);
    let (status, health): (u16, Value) = crate::kernel::get(&client, "/health").await;
    assert_eq!((status, &health["status"]), (200, &json!("healthy")));
    assert_eq!(crate::kernel::get(&client, "/x").await.0, 404);
}
