//! The replayer, driven by a client that does what the recorded adapter did, with identities of its own.

use std::sync::Arc;
use std::time::Duration;

use agui_testkit::client::{Recording, StreamEnd, TestClient};
use agui_testkit::replay::{
    Exchange, ExchangeEnd, LateState, Problem, ReplayConfig, ReplayServer, Trace, fixtures_dir,
};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How often a driver's text must be replaced to compare it with the record.
const MINE: &str = "mine-";

/// A request as another adapter would make it: other JSON-RPC, context and message ids, another
/// workspace.
fn mine(exchange: &Exchange) -> Value {
    let mut body = exchange.request.json.clone();
    let prefix = |value: &mut Value| {
        if let Some(text) = value.as_str() {
            *value = json!(format!("{MINE}{text}"));
        }
    };
    if body.get("jsonrpc").is_some() {
        prefix(&mut body["id"]);
    }
    if let Some(message) = body.pointer_mut("/params/message") {
        prefix(&mut message["contextId"]);
        prefix(&mut message["messageId"]);
        if let Some(cwd) = message.pointer_mut("/metadata/iac_code/cwd") {
            *cwd = json!(format!("/{MINE}{}", cwd.as_str().unwrap().trim_start_matches('/')));
        }
    }
    body
}

/// One request of the driver: how many events it has received, and its end.
struct Running {
    received: watch::Receiver<usize>,
    task: JoinHandle<Option<Recording>>,
}

fn start(client: &TestClient, exchange: Exchange) -> Running {
    let (count, received) = watch::channel(0);
    let client = client.clone();
    let task = tokio::spawn(async move {
        let body = (!exchange.request.body.is_empty()).then(|| Bytes::from(mine(&exchange).to_string()));
        let method = exchange.request.method.parse().unwrap();
        let response = client.send(method, &exchange.request.target, body).await;
        let Ok(response) = response else {
            count.send_replace(usize::MAX);
            assert_eq!(exchange.status, None, "exchange {} was cut", exchange.seq);
            return None;
        };
        assert_eq!(Some(response.status), exchange.status, "exchange {}", exchange.seq);
        if !exchange.is_stream() {
            let text = String::from_utf8(response.bytes().await.unwrap().to_vec()).unwrap();
            count.send_replace(usize::MAX);
            let recorded = String::from_utf8(exchange.pieces[0].1.to_vec()).unwrap();
            assert_eq!(text.replace(MINE, ""), recorded, "exchange {}", exchange.seq);
            return None;
        }
        let expected = exchange.events().len();
        let leaves = exchange.end == ExchangeEnd::ClientClosed && !exchange.ends_by_itself();
        let mut events = response.events();
        while events.next().await.is_some() {
            count.send_modify(|count| *count += 1);
            if leaves && events.so_far().events.len() == expected {
                break;
            }
        }
        count.send_replace(usize::MAX);
        Some(events.abort())
    });
    Running { received, task }
}

/// Drives a whole trace in its causal order and compares every event with the record.
async fn drive(name: &str) {
    let trace = Trace::fixture(name).unwrap();
    let server = Arc::new(ReplayServer::start(trace.clone(), ReplayConfig::default()).await.unwrap());
    let client = TestClient::new(&server.url()).unwrap();
    let mut running: Vec<(Exchange, Running)> = Vec::new();
    let exchanges =
        trace.exchanges.iter().map(|exchange| (exchange.seq, exchange.at_ms, None, Some(exchange)));
    let marks = trace.marks.iter().map(|(seq, at, mark)| (*seq, *at, Some(mark.clone()), None));
    let mut script: Vec<_> = exchanges.chain(marks).collect();
    script.sort_by_key(|(seq, ..)| *seq);
    for (_, at, mark, exchange) in script {
        for (earlier, state) in &mut running {
            let counts = |piece: &Bytes| !earlier.is_stream() || piece.starts_with(b"data:");
            let before = earlier.pieces.iter().filter(|(ms, piece)| *ms < at && counts(piece)).count();
            state.received.wait_for(|received| *received >= before).await.unwrap();
        }
        if let Some(mark) = mark {
            server.mark(&mark);
        }
        if let Some(exchange) = exchange {
            running.push((exchange.clone(), start(&client, exchange.clone())));
            let same_kind = running.iter().filter(|(other, _)| other.kind() == exchange.kind()).count();
            server.requests().wait_for(&exchange.kind(), same_kind).await.unwrap();
        }
    }
    for (exchange, state) in running {
        let Some(got) = state.task.await.unwrap() else { continue };
        let text = Value::Array(got.json()).to_string().replace(MINE, "");
        assert_eq!(text, Value::Array(exchange.events()).to_string(), "{name}: exchange {}", exchange.seq);
        let cut = exchange.end == ExchangeEnd::UpstreamClosed;
        assert_eq!(matches!(got.end, StreamEnd::Cut(_)), cut, "{name}: exchange {}", exchange.seq);
    }
    assert_eq!((server.problems(), server.unmatched()), (vec![], vec![]), "{name}");
    assert_eq!(server.unused(), Vec::<String>::new(), "{name}");
}

#[tokio::test]
async fn every_recorded_trace_replays_to_a_driver_with_other_identities() {
    let mut names: Vec<String> = std::fs::read_dir(fixtures_dir())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| !name.contains('.'))
        .collect();
    names.sort();
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        drive(&name).await;
    }
}

#[tokio::test]
async fn an_event_waits_for_the_request_that_came_before_it() {
    let trace = Trace::fixture("i_cancel").unwrap();
    let server = ReplayServer::start(trace.clone(), ReplayConfig::default()).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    let mut events = client.post("/", &mine(&trace.exchanges[0])).await.unwrap().events();
    let count = trace.exchanges[0].events().len();
    for _ in 0..count - 1 {
        events.next().await.unwrap();
    }
    let last = tokio::spawn(async move { events.next().await });
    let cancel = client.post("/", &mine(&trace.exchanges[1])).await.unwrap().json().await.unwrap();
    assert_eq!(cancel["result"]["status"]["state"], "TASK_STATE_CANCELED");
    let last = last.await.unwrap().unwrap().json;
    assert_eq!(last["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_CANCELED");
    assert_eq!(server.problems(), []);
}

#[tokio::test]
async fn what_never_comes_is_reported_and_does_not_block_for_ever() {
    let trace = Trace::fixture("i_cancel").unwrap();
    let config = ReplayConfig::default().with_gate_timeout(Duration::from_millis(20));
    let server = ReplayServer::start(trace.clone(), config).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    let got = client.post("/", &mine(&trace.exchanges[0])).await.unwrap().events().collect().await;
    assert_eq!(got.events.len(), trace.exchanges[0].events().len());
    let missing = vec![(2, "CancelTask".to_owned())];
    assert_eq!(server.problems(), [Problem::GateTimeout { exchange: 1, missing }]);
    assert_eq!(server.unused().len(), trace.exchanges.len() - 1);
}

#[tokio::test]
async fn optional_requests_hold_nothing_back() {
    let trace = Trace::fixture("i_cancel").unwrap();
    let config = ReplayConfig::default().with_optional("CancelTask");
    let server = ReplayServer::start(trace.clone(), config).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    let got = client.post("/", &mine(&trace.exchanges[0])).await.unwrap().events().collect().await;
    assert_eq!((got.end, server.problems()), (StreamEnd::Complete, vec![]));
    assert!(!server.unused().contains(&"CancelTask".to_owned()));
}

#[tokio::test]
async fn requests_beyond_the_record_are_refused_and_reported() {
    let trace = Trace::fixture("c_allow_once").unwrap();
    let server = ReplayServer::start(trace.clone(), ReplayConfig::default()).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    let cancel = json!({"jsonrpc": "2.0", "id": "mine", "method": "CancelTask", "params": {"id": "task"}});
    let refused = client.post("/", &cancel).await.unwrap().json().await.unwrap();
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32001), &cancel["id"]));
    assert_eq!(client.get("/health").await.unwrap().status, 404);
    assert_eq!(server.unmatched(), ["CancelTask", "GET /health"]);
}

#[tokio::test]
async fn a_read_that_is_repeated_gets_the_same_answer() {
    let trace = Trace::fixture("c_allow_once").unwrap();
    let server = ReplayServer::start(trace.clone(), ReplayConfig::default()).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    client.post("/", &mine(&trace.exchanges[0])).await.unwrap().events().collect().await;
    let mut get = mine(&trace.exchanges[2]);
    let mut first = client.post("/", &get).await.unwrap().json().await.unwrap();
    get["id"] = json!("another");
    let again = client.post("/", &get).await.unwrap().json().await.unwrap();
    assert_eq!(again["id"], "another");
    first["id"] = json!("another");
    assert_eq!(first, again);
    assert_eq!(server.unmatched(), Vec::<String>::new());
}

#[tokio::test]
async fn a_read_does_not_tell_what_came_of_a_message_that_was_not_sent() {
    let trace = Trace::fixture("o2_pipeline_two").unwrap();
    let server = ReplayServer::start(trace.clone(), ReplayConfig::default()).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    let reads: Vec<&Exchange> =
        trace.exchanges.iter().filter(|exchange| exchange.kind() == "GetTask").collect();
    let pending = async || {
        let task = client.post("/", &mine(reads[0])).await.unwrap().json().await.unwrap();
        let pending = task.pointer("/result/metadata/iac_code/pendingPermissions").cloned();
        pending.and_then(|list| list.as_array().map(Vec::len)).unwrap_or_default()
    };
    drop(client.post("/", &mine(&trace.exchanges[0])).await.unwrap());
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(pending().await);
    }
    for answer in trace.exchanges.iter().filter(|exchange| exchange.kind() == "SendMessage") {
        client.post("/", &mine(answer)).await.unwrap().json().await.unwrap();
        seen.push(pending().await);
    }
    assert_eq!(seen, [2, 2, 2, 2, 0]);
}

#[tokio::test]
async fn a_late_pipeline_state_can_be_told_as_it_was_when_the_stream_began() {
    let trace = Trace::fixture("o1_pipeline").unwrap();
    let states: Vec<&Exchange> =
        trace.exchanges.iter().filter(|exchange| exchange.kind() == "GET /iac-code/pipeline/state").collect();
    let recorded = |exchange: &Exchange| serde_json::from_slice::<Value>(&exchange.pieces[0].1).unwrap();
    let config = ReplayConfig::default().with_late_state(LateState::AsOfStreamStart);
    let server = ReplayServer::start(trace.clone(), config).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    let mut told = Vec::new();
    for exchange in &trace.exchanges {
        let method = exchange.request.method.parse().unwrap();
        let body = (!exchange.request.body.is_empty()).then(|| mine(exchange).to_string().into());
        let response = client.send(method, &exchange.request.target, body).await.unwrap();
        if exchange.kind() == states[0].kind() {
            told.push(response.json().await.unwrap());
        } else if exchange.is_stream() {
            let mut events = response.events();
            while events.so_far().events.len() < exchange.events().len() && events.next().await.is_some() {}
        }
    }
    let last_sequences = |state: &Value| {
        let events = state["events"].as_array().unwrap();
        (state["snapshot"]["lastSequence"].clone(), events.last().map(|event| event["sequence"].clone()))
    };
    assert_eq!(last_sequences(&recorded(states[1])), (json!(64), Some(json!(64))));
    assert_eq!(last_sequences(&told[1]), (json!(34), Some(json!(37))), "the stream begins with 37");
    for at in [0, 2] {
        assert_eq!(last_sequences(&told[at]), last_sequences(&recorded(states[at])), "not late");
    }
}

#[tokio::test]
async fn an_answer_is_not_served_by_a_recorded_question() {
    let trace = Trace::fixture("c_allow_once").unwrap();
    let server = ReplayServer::start(trace.clone(), ReplayConfig::default()).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    let mut text_answer = mine(&trace.exchanges[4]);
    text_answer["params"]["message"]["parts"] = json!([{"text": "allow"}]);
    let refused = client.post("/", &text_answer).await.unwrap();
    assert!(!refused.is_stream());
    assert_eq!(server.unmatched(), ["SendStreamingMessage"]);
}

#[tokio::test]
async fn a_stream_that_should_have_been_left_is_reported() {
    let trace = Trace::fixture("o2_pipeline_two").unwrap();
    assert!(!trace.exchanges[0].ends_by_itself());
    let config = ReplayConfig::default().with_leave_timeout(Duration::from_millis(20));
    let server = ReplayServer::start(trace.clone(), config).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    let got = client.post("/", &mine(&trace.exchanges[0])).await.unwrap().events().collect().await;
    assert_eq!(
        (got.end, server.problems()),
        (StreamEnd::Cut(None), vec![Problem::StreamNotLeft { exchange: 1 }])
    );
}

#[test]
fn the_client_side_of_a_trace_can_be_read_too() {
    let records = Trace::fixture("c_allow_once").unwrap().agui().unwrap();
    let requests = records.iter().filter(|record| record["kind"] == "request").count();
    assert_eq!(requests, 2);
}

#[tokio::test]
async fn where_the_record_shows_that_nobody_listened_nobody_listens() {
    let trace = Trace::fixture("m6_a2a_dies").unwrap();
    let server = ReplayServer::start(trace.clone(), ReplayConfig::default()).await.unwrap();
    let client = TestClient::new(&server.url()).unwrap();
    let get = json!({"jsonrpc": "2.0", "id": "mine", "method": "GetTask", "params": {"id": "task"}});
    let mut answered = Vec::new();
    for mark in ["stop-a2a", "restart-a2a"] {
        server.mark(mark);
        answered.push(client.post("/", &get).await.is_ok());
    }
    assert_eq!(answered, [false, true]);
    assert_eq!(server.unmatched(), ["GetTask"], "only what was heard");
}
