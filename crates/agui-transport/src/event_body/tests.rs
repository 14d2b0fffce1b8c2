use std::future::poll_fn;
use std::task::Waker;

use agui_core::{MessageId, RunFinished, RunLimits, RunSink, RunStarted, TextMessageContent, run_channel};
use http::Method;

use super::*;
use crate::activity::Activity;
use crate::echo::Ids;

struct Rig {
    sink: RunSink,
    body: EventBody,
    wire: Arc<Wire>,
    activity: Activity,
}

impl Rig {
    fn new() -> Self {
        let (sink, stream) = run_channel("t1", "r1", RunLimits::default());
        let (wire, activity) = (Arc::new(Wire::default()), Activity::default());
        let body = EventBody::new(
            Source::run(stream),
            Duration::from_secs(15),
            Arc::clone(&wire),
            Language::En,
            activity.enter_stream(),
            RequestLog::new(Method::POST, Ids::default()),
        );
        Self { sink, body, wire, activity }
    }

    async fn chunk(&mut self) -> Option<String> {
        let chunk = poll_fn(|cx| self.body.poll_chunk(cx)).await?;
        Some(String::from_utf8(chunk.into()).unwrap())
    }

    fn is_waiting(&mut self) -> bool {
        self.body.poll_chunk(&mut Context::from_waker(Waker::noop())).is_pending()
    }
}

const STARTED: &str = "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n";
const FINISHED: &str = "data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n";
const HEARTBEAT: &str = ": heartbeat\n\n";

#[tokio::test(start_paused = true)]
async fn what_waits_is_one_chunk_and_the_end_ends_the_body() {
    let mut rig = Rig::new();
    assert!(rig.is_waiting());
    rig.sink.send(RunStarted::new("t1", "r1"));
    rig.sink.send(RunFinished::new("t1", "r1"));
    assert_eq!(rig.chunk().await, Some([STARTED, FINISHED].concat()));
    // The sink is still there; after the terminal event it does not matter.
    assert!(rig.body.is_over());
    assert_eq!(rig.chunk().await, None);
}

#[tokio::test(start_paused = true)]
async fn s4_2_a_comment_comes_after_each_15_seconds_of_silence() {
    let mut rig = Rig::new();
    let start = Instant::now();
    assert_eq!(rig.chunk().await.as_deref(), Some(HEARTBEAT));
    assert_eq!(start.elapsed().as_secs(), 15);
    assert_eq!(rig.chunk().await.as_deref(), Some(HEARTBEAT));
    assert_eq!(start.elapsed().as_secs(), 30);

    // An event starts the silence anew.
    tokio::time::advance(Duration::from_secs(10)).await;
    rig.sink.send(RunStarted::new("t1", "r1"));
    assert_eq!(rig.chunk().await.as_deref(), Some(STARTED));
    assert_eq!(rig.chunk().await.as_deref(), Some(HEARTBEAT));
    assert_eq!(start.elapsed().as_secs(), 55);
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_cut_into_chunks_and_nothing_is_lost() {
    const DELTAS: usize = 700;
    let mut rig = Rig::new();
    rig.sink.send(RunStarted::new("t1", "r1"));
    for _ in 0..DELTAS {
        rig.sink.send(TextMessageContent::new(MessageId::new("m1"), "x".repeat(400)));
    }
    rig.sink.send(RunFinished::new("t1", "r1"));
    let mut all = String::new();
    while let Some(chunk) = rig.chunk().await {
        assert!(chunk.len() < CHUNK_BYTES + 1024, "{}", chunk.len());
        assert!(chunk.ends_with("\n\n"), "a record was cut");
        all.push_str(&chunk);
    }
    assert!(all.starts_with(STARTED) && all.ends_with(FINISHED));
    assert_eq!(all.matches("TEXT_MESSAGE_CONTENT").count(), DELTAS);
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_agent_went_away_ends_with_its_error() {
    let Rig { sink, mut body, wire: _, activity: _activity } = Rig::new();
    drop(sink);
    let chunk = poll_fn(|cx| body.poll_chunk(cx)).await.unwrap();
    assert!(String::from_utf8(chunk.into()).unwrap().contains("\"code\":\"AGENT_ERROR\""));
    assert!(body.is_over());
}

#[tokio::test(start_paused = true)]
async fn the_last_call_ends_a_silent_run_after_what_it_had_to_say() {
    let mut rig = Rig::new();
    rig.sink.send(RunStarted::new("t1", "r1"));
    rig.wire.call_last();
    assert_eq!(rig.chunk().await.as_deref(), Some(STARTED));
    let error = concat!(
        "data: {\"type\":\"RUN_ERROR\",\"message\":\"The server is shutting down. Try again later.\",",
        "\"code\":\"SHUTTING_DOWN\"}\n\n"
    );
    assert_eq!(rig.chunk().await.as_deref(), Some(error));
    assert_eq!(rig.chunk().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_body_tells_the_agent_and_is_no_longer_counted() {
    let Rig { sink, body, wire: _, activity } = Rig::new();
    assert!(!sink.is_closed());
    assert_eq!(activity.streams(), 1);
    drop(body);
    sink.closed().await;
    assert_eq!(activity.streams(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_keeps_no_room_for_the_burst_before() {
    let mut rig = Rig::new();
    for n in 0..1000 {
        rig.sink.send(TextMessageContent::new(MessageId::new("m1"), n.to_string()));
    }
    while !rig.is_waiting() {}
    let Source::Run(run) = &rig.body.source else { unreachable!("made from a run") };
    assert!(run.batch.capacity() <= KEPT_EVENTS, "{}", run.batch.capacity());
}

#[tokio::test(start_paused = true)]
async fn in_binary_events_are_frames_and_silence_is_silence() {
    let mut rig = Rig::new();
    rig.body = rig.body.encoded_as(Encoding::Binary);
    rig.sink.send(RunStarted::new("t1", "r1"));
    let chunk = poll_fn(|cx| rig.body.poll_chunk(cx)).await.unwrap();
    let mut expected = Vec::new();
    agui_proto::encode(&RunStarted::new("t1", "r1").into(), &mut expected).unwrap();
    assert_eq!(chunk, expected);
    tokio::time::advance(Duration::from_secs(60)).await;
    assert!(rig.is_waiting());
    // The end of the server is told as a frame, too.
    rig.wire.call_last();
    let chunk = poll_fn(|cx| rig.body.poll_chunk(cx)).await.unwrap();
    let error = agui_proto::decode(&chunk[agui_proto::PREFIX_BYTES..]).unwrap();
    assert!(matches!(
        error,
        agui_proto::Received::Known(Event::RunError(error)) if error.code.as_deref() == Some("SHUTTING_DOWN")
    ));
    assert!(rig.body.is_over());
}
