use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use futures_core::Stream;

use super::{
    Agent, BoxFuture, OVERRUN_FACTOR, Problem, RunLimits, RunRequest, RunSink, RunStream, run_channel,
};
use crate::{
    Event, EventType, Json, RunAgentInput, RunFinished, RunStarted, StateSnapshot, TextMessageContent,
    TextMessageStart,
};

/// Counts how often it is woken.
#[derive(Debug, Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Wakes {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn channel(max_events: usize, max_bytes: usize) -> (RunSink, RunStream) {
    run_channel("t", "r", RunLimits::new(max_events, max_bytes))
}

fn started() -> RunStarted {
    RunStarted::new("t", "r")
}

async fn next(stream: &mut RunStream) -> Option<Event> {
    poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx)).await
}

async fn rest(stream: &mut RunStream) -> Vec<EventType> {
    let mut types = Vec::new();
    while let Some(event) = next(stream).await {
        types.push(event.event_type());
    }
    types
}

#[test]
fn both_ends_can_move_between_threads() {
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    let (sink, stream) = channel(1, 1);
    shared(&sink);
    shared(&stream);
}

#[tokio::test]
async fn events_arrive_in_order_and_the_stream_ends_after_the_terminal_event() {
    let (mut sink, mut stream) = channel(100, 100_000);
    let writer = tokio::spawn(async move {
        sink.send(started());
        tokio::task::yield_now().await;
        sink.send(TextMessageStart::new("m"));
        sink.send(RunFinished::new("t", "r"));
        assert!(sink.has_ended());
        assert!(!sink.send(started()).is_clean());
    });
    assert_eq!(
        rest(&mut stream).await,
        [
            EventType::RunStarted,
            EventType::TextMessageStart,
            EventType::TextMessageEnd,
            EventType::RunFinished
        ]
    );
    writer.await.unwrap();
    assert_eq!(next(&mut stream).await, None);
}

#[tokio::test]
async fn a_dropped_sink_fails_the_run() {
    let (mut sink, mut stream) = channel(100, 100_000);
    sink.send(started());
    sink.send(TextMessageStart::new("m"));
    drop(sink);
    let mut batch = Vec::new();
    assert!(poll_fn(|cx| stream.poll_batch(cx, &mut batch)).await);
    assert!(!poll_fn(|cx| stream.poll_batch(cx, &mut batch)).await);
    let last: Vec<String> = batch[2..].iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    assert_eq!(
        last,
        [
            r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
            r#"{"type":"RUN_ERROR","message":"The agent stopped before the run was finished.","code":"AGENT_ERROR"}"#
        ]
    );
}

#[tokio::test]
async fn a_batch_takes_what_the_stream_has_left() {
    let (mut sink, mut stream) = channel(100, 100_000);
    sink.send(started());
    sink.send(TextMessageStart::new("m"));
    assert_eq!(next(&mut stream).await.map(|event| event.event_type()), Some(EventType::RunStarted));
    sink.send(TextMessageContent::new("m", "x"));
    let mut batch = Vec::new();
    assert!(poll_fn(|cx| stream.poll_batch(cx, &mut batch)).await);
    let types: Vec<EventType> = batch.iter().map(Event::event_type).collect();
    assert_eq!(types, [EventType::TextMessageStart, EventType::TextMessageContent]);
}

#[test]
fn the_writer_waits_while_the_reader_is_behind() {
    let small = || TextMessageContent::new("m", "x");
    let wide = || StateSnapshot::new(Json::from_serialize(&"x".repeat(500)).unwrap());
    let cases: [(&str, usize, usize, Vec<Event>); 2] = [
        ("events", 3, 100_000, vec![started().into(), TextMessageStart::new("m").into(), small().into()]),
        ("bytes", 100, 500, vec![started().into(), wide().into()]),
    ];
    for (name, max_events, max_bytes, events) in cases {
        let (mut sink, mut stream) = channel(max_events, max_bytes);
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let mut cx = Context::from_waker(&waker);
        for event in events {
            assert_eq!(sink.poll_ready(&mut cx), Poll::Ready(()), "{name}");
            sink.send(event);
        }
        assert_eq!(sink.poll_ready(&mut cx), Poll::Pending, "{name}");
        let mut ready = pin!(sink.ready());
        assert_eq!(ready.as_mut().poll(&mut cx), Poll::Pending, "{name}");
        assert_eq!(wakes.count(), 0, "{name}");
        let mut batch = Vec::new();
        assert_eq!(stream.poll_batch(&mut cx, &mut batch), Poll::Ready(true), "{name}");
        assert_eq!(wakes.count(), 1, "{name}");
        assert_eq!(ready.as_mut().poll(&mut cx), Poll::Ready(()), "{name}");
    }
}

#[test]
fn the_reader_is_woken_once_for_what_waits() {
    let (mut sink, mut stream) = channel(100, 100_000);
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    let mut batch = Vec::new();
    assert_eq!(stream.poll_batch(&mut cx, &mut batch), Poll::Pending);
    sink.send(started());
    sink.send(TextMessageStart::new("m"));
    assert_eq!(wakes.count(), 1);
    assert_eq!(stream.poll_batch(&mut cx, &mut batch), Poll::Ready(true));
    assert_eq!((batch.len(), stream.poll_batch(&mut cx, &mut batch)), (2, Poll::Pending));
}

#[tokio::test]
async fn the_writer_learns_that_the_reader_has_gone() {
    let (mut sink, stream) = channel(1, 1);
    sink.send(started());
    assert!(!sink.is_closed());
    let waits = tokio::spawn(async move {
        sink.closed().await;
        sink.ready().await;
        sink.send(TextMessageStart::new("m"));
        sink.is_closed()
    });
    tokio::task::yield_now().await;
    drop(stream);
    assert!(waits.await.unwrap());
}

#[tokio::test]
async fn an_agent_that_ignores_the_limits_loses_its_run() {
    let (mut sink, mut stream) = channel(2, 100_000);
    sink.send(started());
    sink.send(TextMessageStart::new("m"));
    for _ in 0..10_000 {
        sink.send(TextMessageContent::new("m", "x"));
    }
    assert!(sink.has_ended());
    let types = rest(&mut stream).await;
    assert_eq!(types.len(), 2 * OVERRUN_FACTOR + 2);
    assert_eq!(types[types.len() - 2..], [EventType::TextMessageEnd, EventType::RunError]);
}

#[tokio::test]
async fn zero_limits_are_read_as_one() {
    let (mut sink, mut stream) = channel(0, 0);
    sink.ready().await;
    sink.send(started());
    sink.send(StateSnapshot::new(Json::null()));
    sink.send(RunFinished::new("t", "r"));
    assert_eq!(
        rest(&mut stream).await,
        [EventType::RunStarted, EventType::StateSnapshot, EventType::RunFinished]
    );
}

/// Finishes every run at once; refuses the thread `no`.
struct Prompt;

impl Agent for Prompt {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async move {
            let RunAgentInput { thread_id, run_id, .. } = request.input;
            if thread_id == "no" {
                return Err(Problem::new(409, "BUSY", "One run at a time.").with_retry_after_s(3));
            }
            let (mut sink, stream) = run_channel(&thread_id, &run_id, RunLimits::default());
            sink.send(RunStarted::new(&thread_id, &run_id));
            sink.send(RunFinished::new(thread_id, run_id));
            Ok(stream)
        })
    }
}

#[tokio::test]
async fn an_agent_is_used_through_a_pointer() {
    let agent: Arc<dyn Agent> = Arc::new(Prompt);
    let request = |thread: &str| RunRequest::new(RunAgentInput::new(thread, "r", []), Bytes::new());
    let mut stream = agent.run(request("t")).await.unwrap();
    assert_eq!(rest(&mut stream).await, [EventType::RunStarted, EventType::RunFinished]);
    let problem = agent.run(request("no")).await.unwrap_err();
    assert_eq!(problem.to_string(), "409 BUSY: One run at a time.");
    assert_eq!(problem.retry_after_s, Some(3));
}

#[test]
fn debug_output_of_a_request_shows_no_header_and_no_body() {
    let request = RunRequest::new(RunAgentInput::new("t", "r", []), Bytes::from_static(b"SECRET"))
        .with_accept_language("de")
        .with_header("authorization", "SECRET");
    let shown = format!("{request:?}");
    assert!(!shown.contains("SECRET"), "{shown}");
    assert!(shown.contains("body_bytes: 6") && shown.contains("authorization"), "{shown}");
    assert_eq!((request.header("authorization"), request.header("cookie")), (Some("SECRET"), None));
}
