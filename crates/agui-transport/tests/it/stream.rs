//! What an event stream looks like on the wire, and how fast a reader is followed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agui_core::{
    Agent, MessageId, RunLimits, RunRequest, RunSink, RunStarted, TextMessageContent, TextMessageStart,
    run_channel,
};
use agui_proto::{Decoder, MAX_FRAME_BYTES, Received};
use agui_transport::{Route, RouteReply, RouteRequest, ServerBuilder, Timeouts};
use tokio::sync::mpsc;

use crate::agents::{PARROT, STARTED, Scripted, begin, begin_within, finish, parrot};
use crate::client::soon;
use crate::rig::{INPUT, Rig, request, run_request};

/// Hands the sink of each run to the test.
fn handed_over(to: mpsc::UnboundedSender<(RunRequest, RunSink)>) -> impl Agent {
    Scripted(move |request: RunRequest| {
        let to = to.clone();
        async move {
            let (sink, stream) = begin(&request);
            to.send((request, sink)).ok().unwrap();
            Ok(stream)
        }
    })
}

#[tokio::test]
async fn each_event_leaves_at_once_when_nothing_else_waits() {
    let (to, mut runs) = mpsc::unbounded_channel();
    let rig = Rig::start(handed_over(to)).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    let (request, mut sink) = soon(runs.recv()).await.unwrap();
    client.head().await;
    assert_eq!(client.chunk().await.unwrap(), STARTED.as_bytes());
    sink.send(TextMessageStart::new(MessageId::new("m1")));
    let start = "data: {\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m1\"}\n\n";
    assert_eq!(client.chunk().await.unwrap(), start.as_bytes());
    finish(&request, sink);
    let end = "data: {\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m1\"}\n\ndata: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n";
    assert_eq!(client.chunk().await.unwrap(), end.as_bytes());
    assert_eq!(client.chunk().await, None);
}

#[tokio::test]
async fn events_that_wait_share_one_chunk() {
    let rig = Rig::start(parrot()).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    client.head().await;
    assert_eq!(client.chunk().await.unwrap(), PARROT.as_bytes());
    assert_eq!(client.chunk().await, None);
}

#[tokio::test]
async fn events_of_the_run_route_can_be_numbered_from_1() {
    let attach = |_: RouteRequest| async {
        let (mut sink, stream) = run_channel("t1", "r1", RunLimits::default());
        sink.send(RunStarted::new("t1", "r1"));
        RouteReply::Run(stream)
    };
    let attach = Route::get("/run", attach).with_event_stream();
    let rig = Rig::with(parrot(), |server| server.number_events().route(attach)).await;
    let plain: Vec<&str> = PARROT.split_inclusive("\n\n").collect();
    let numbered: String =
        (1..).zip(plain).map(|(number, record)| format!("id: {number}\n{record}")).collect();
    assert_eq!(rig.exchange(run_request()).await.body, numbered);
    // Each run has numbers of its own; a run that a route shows has those of the route.
    assert_eq!(rig.exchange(run_request()).await.body, numbered);
    let shown = rig.exchange(request("GET /run HTTP/1.1", &[], "")).await;
    assert!(shown.body.starts_with("data: {\"type\":\"RUN_STARTED\""), "{}", shown.body);
}

#[tokio::test]
async fn s4_2_silence_is_broken_by_comments_until_the_last_event() {
    let timeouts = Timeouts::new().with_heartbeat(Duration::from_millis(10));
    let (to, mut runs) = mpsc::unbounded_channel();
    let rig = Rig::with(handed_over(to), |server| server.timeouts(timeouts)).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    let (request, sink) = soon(runs.recv()).await.unwrap();
    client.head().await;
    assert_eq!(client.chunk().await.unwrap(), STARTED.as_bytes());
    for _ in 0..3 {
        assert_eq!(client.chunk().await.unwrap(), b": heartbeat\n\n");
    }
    finish(&request, sink);
    let mut rest = String::new();
    while let Some(chunk) = client.chunk().await {
        rest.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    let end = "data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n";
    assert_eq!(rest.trim_start_matches(": heartbeat\n\n"), end);
}

#[tokio::test]
async fn an_old_client_gets_the_stream_without_chunks() {
    let rig = Rig::start(parrot()).await;
    let mut client = rig.connect().await;
    client.send(run_request().replace("HTTP/1.1", "HTTP/1.0")).await;
    let answer = client.answer().await;
    assert_eq!(answer.head.header("transfer-encoding"), None);
    assert_eq!(answer.body, PARROT);
}

/// An agent that sends deltas as fast as its reader takes them, and counts them.
pub(crate) fn torrent(sent: &Arc<AtomicUsize>, deltas: usize, delta_bytes: usize) -> impl Agent + use<> {
    let sent = Arc::clone(sent);
    Scripted(move |request: RunRequest| {
        let sent = Arc::clone(&sent);
        async move {
            let (mut sink, stream) = begin_within(&request, RunLimits::new(64, 64 * 1024));
            tokio::spawn(async move {
                let id = MessageId::new("m1");
                sink.send(TextMessageStart::new(id.clone()));
                let delta = "x".repeat(delta_bytes);
                for _ in 0..deltas {
                    sink.ready().await;
                    if sink.is_closed() {
                        return;
                    }
                    sink.send(TextMessageContent::new(id.clone(), delta.as_str()));
                    sent.fetch_add(1, Ordering::AcqRel);
                }
                finish(&request, sink);
            });
            Ok(stream)
        }
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_holds_the_agent_back_and_loses_nothing() {
    const DELTAS: usize = 20_000;
    const DELTA_BYTES: usize = 4096;
    /// What may be on its way: the system's socket buffers, and little of ours.
    const IN_FLIGHT_BYTES: usize = 24 * 1024 * 1024;
    let sent = Arc::new(AtomicUsize::new(0));
    let rig = Rig::start(torrent(&sent, DELTAS, DELTA_BYTES)).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    client.head().await;
    let (mut seen, mut read) = (0, 0);
    while let Some(chunk) = client.chunk().await {
        assert!(chunk.len() < 72 * 1024, "a chunk of {} bytes", chunk.len());
        read += chunk.len();
        let ahead = (sent.load(Ordering::Acquire) * DELTA_BYTES).saturating_sub(read);
        assert!(ahead < IN_FLIGHT_BYTES, "{ahead} bytes were taken from the agent and not read");
        seen += String::from_utf8(chunk).unwrap().matches("TEXT_MESSAGE_CONTENT").count();
    }
    assert_eq!(seen, DELTAS);
}

#[tokio::test]
async fn a_reader_that_takes_nothing_is_given_up() {
    let sent = Arc::new(AtomicUsize::new(0));
    let timeouts = Timeouts::new().with_write(Duration::from_millis(100));
    let rig = Rig::with(torrent(&sent, usize::MAX, 4096), |server| server.timeouts(timeouts)).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    client.until(STARTED).await;
    rig.deserted().await;
}

#[tokio::test]
async fn a_slow_reader_does_not_slow_the_others() {
    let sent = Arc::new(AtomicUsize::new(0));
    let rig = Rig::start(torrent(&sent, usize::MAX, 4096)).await;
    let mut stuck = rig.connect().await;
    stuck.send(run_request()).await;
    stuck.until(STARTED).await;
    let answer = rig.exchange("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(answer.head.status, 200);
    drop(stuck);
    rig.deserted().await;
}

#[tokio::test]
async fn who_names_the_binary_encoding_gets_frames_and_errors_stay_json() {
    const PROTO: &str = "Accept: application/vnd.ag-ui.event+proto";
    let json = "Content-Type: application/json";
    let rig = Rig::with(parrot(), ServerBuilder::number_events).await;
    let mut client = rig.connect().await;
    client.send(request("POST / HTTP/1.1", &[json, PROTO], INPUT)).await;
    let head = client.head().await;
    assert_eq!(head.header("content-type").as_deref(), Some("application/vnd.ag-ui.event+proto"));
    assert_eq!(head.header("cache-control").as_deref(), Some("no-cache, no-transform"));
    let mut decoder = Decoder::new(MAX_FRAME_BYTES);
    let mut events = String::new();
    while let Some(chunk) = client.chunk().await {
        decoder.push(&chunk);
        while let Some(Received::Known(event)) = decoder.next_event().unwrap() {
            events += &format!("data: {}\n\n", serde_json::to_string(&event).unwrap());
        }
    }
    decoder.finish().unwrap();
    assert_eq!(events, PARROT);

    // Before the stream there is nothing binary, and other streams have no frames.
    let refused = rig.exchange(request("POST / HTTP/1.1", &[json, PROTO], "{}")).await;
    assert_eq!(refused.head.header("content-type").as_deref(), Some("application/json"));
    let text = rig.exchange(request("POST / HTTP/1.1", &[json, "Accept: */*"], INPUT)).await;
    assert_eq!(text.head.header("content-type").as_deref(), Some("text/event-stream"));
}

#[tokio::test]
async fn a_route_that_shows_a_run_has_text_only() {
    let attach = |_: RouteRequest| async {
        let (mut sink, stream) = run_channel("t1", "r1", RunLimits::default());
        sink.send(RunStarted::new("t1", "r1"));
        RouteReply::Run(stream)
    };
    let rig =
        Rig::with(parrot(), |server| server.route(Route::get("/run", attach).with_event_stream())).await;
    let proto = "Accept: application/vnd.ag-ui.event+proto";
    let refused = rig.exchange(request("GET /run HTTP/1.1", &[proto], "")).await;
    assert_eq!(refused.head.status, 406);
    let both = rig.exchange(request("GET /run HTTP/1.1", &[proto, "Accept: text/event-stream"], "")).await;
    assert_eq!(both.head.header("content-type").as_deref(), Some("text/event-stream"));
}
