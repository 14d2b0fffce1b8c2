use std::time::Duration;

use agui_core::{
    EventType, RunFinished, RunLimits, RunSink, RunStarted, RunStream, TextMessageContent, TextMessageStart,
    run_channel,
};
use agui_store::MemoryStore;
use futures_util::StreamExt as _;
use tokio::time::{Instant, sleep, timeout};

use super::*;
use crate::active::{Active, StopReason};
use crate::config::{AdapterConfig, OnDisconnect};
use crate::kernel::Kernel;

/// An adapter whose kernel is never asked.
fn adapter(policy: OnDisconnect) -> Adapter {
    adapter_with(AdapterConfig::new([]).with_on_disconnect(policy))
}

fn adapter_with(config: AdapterConfig) -> Adapter {
    let client = a2a_client::Client::new(a2a_client::ClientConfig::new("http://127.0.0.1:9/")).unwrap();
    Adapter::new(config, Arc::new(MemoryStore::new()), Kernel::fixed(client))
}

/// A run behind a relay, as the test plays it.
struct Played {
    adapter: Adapter,
    sink: RunSink,
    active: Arc<Active>,
    client: RunStream,
}

impl Played {
    fn start(policy: OnDisconnect) -> Self {
        Self::start_on(adapter(policy), "r")
    }

    fn start_on(adapter: Adapter, run: &str) -> Self {
        let (mut sink, stream) = run_channel("t", run, RunLimits::default());
        sink.send(RunStarted::new("t", run));
        let active = Arc::new(Active::new("e".into(), "i".into()));
        let key = RunKey::new(&"t".into(), &run.into());
        let client = relay(&adapter.shared, key, Some(Arc::clone(&active)), Language::En, stream);
        Self { adapter, sink, active, client }
    }

    fn say(&mut self, count: usize) {
        self.sink.send(TextMessageStart::new("m"));
        for number in 0..count {
            self.sink.send(TextMessageContent::new("m", number.to_string()));
        }
    }

    /// The client goes away.
    fn leave(&mut self) {
        self.client = run_channel("t", "gone", RunLimits::default()).1;
    }

    fn finish(mut self) -> (Adapter, RunStream) {
        self.sink.send(RunFinished::new("t", "r"));
        (self.adapter, self.client)
    }
}

fn attach(adapter: &Adapter, run: &str, last_event_id: Option<&str>) -> Result<RunEvents, Problem> {
    let last = last_event_id.map(str::as_bytes);
    adapter.attach(&AttachRequest::decode("t", run, last, Language::En)?, Language::En)
}

/// Lets every task run until it waits.
async fn recorded() {
    sleep(Duration::from_millis(1)).await;
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(600), future).await.expect("no end")
}

async fn collect(events: RunEvents) -> Vec<(u64, EventType)> {
    let numbered = events.map(|numbered| (numbered.position, numbered.event.event_type()));
    within(numbered.collect()).await
}

const WHOLE: [EventType; 5] = [
    EventType::RunStarted,
    EventType::TextMessageStart,
    EventType::TextMessageContent,
    EventType::TextMessageEnd,
    EventType::RunFinished,
];

fn from(position: u64) -> Vec<(u64, EventType)> {
    (1..).zip(WHOLE).filter(|(at, _)| *at >= position).collect()
}

#[tokio::test(start_paused = true)]
async fn every_position_can_be_read_on_from_while_the_run_goes_on_and_after_it() {
    let mut run = Played::start(OnDisconnect::Detach);
    run.say(1);
    recorded().await;
    let live = attach(&run.adapter, "r", Some("2")).unwrap();
    let (adapter, client) = run.finish();
    assert_eq!(collect(live).await, from(3));
    let shown: Vec<EventType> = within(client.map(|event| event.event_type()).collect()).await;
    assert_eq!(shown, WHOLE);
    for last in 0..=5_u64 {
        let events = attach(&adapter, "r", Some(&last.to_string())).unwrap();
        assert_eq!(collect(events).await, from(last + 1), "{last}");
    }
    assert_eq!(collect(attach(&adapter, "r", None).unwrap()).await, from(1));
    assert_eq!(collect(attach(&adapter, "r", Some("00")).unwrap()).await, from(1));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_position_of_the_run_is_refused() {
    let mut run = Played::start(OnDisconnect::Detach);
    run.say(1);
    let (adapter, _client) = run.finish();
    let wrong_type = "The field Last-Event-ID has the wrong type.";
    let out_of_range = "The field Last-Event-ID has a value that is not allowed.";
    recorded().await;
    let cases = [
        ("6", out_of_range),
        ("18446744073709551615", out_of_range),
        ("18446744073709551616", out_of_range),
        ("-1", wrong_type),
        ("+1", wrong_type),
        ("1.0", wrong_type),
        ("0x1", wrong_type),
        ("abc", wrong_type),
        ("", wrong_type),
        ("1 2", wrong_type),
        ("\u{661}", wrong_type),
    ];
    for (value, message) in cases {
        let problem = attach(&adapter, "r", Some(value)).unwrap_err();
        assert_eq!((problem.status, &*problem.code), (400, "INVALID_INPUT"), "{value:?}");
        assert_eq!(problem.message, message, "{value:?}");
    }
    assert!(AttachRequest::decode("t", "r", Some(b"\xff1"), Language::En).is_err());
    let problem = attach(&adapter, "other", None).unwrap_err();
    assert_eq!((problem.status, &*problem.code), (404, "RUN_NOT_FOUND"));
}

#[tokio::test(start_paused = true)]
async fn s12_2_a_run_that_nobody_reads_is_stopped_after_the_grace_and_not_before() {
    let grace = Duration::from_secs(30);
    let mut run = Played::start(OnDisconnect::Grace(grace));
    run.say(1);
    drop(run.client);
    sleep(Duration::from_secs(29)).await;
    let reader = attach(&run.adapter, "r", Some("2")).unwrap();
    sleep(Duration::from_secs(300)).await;
    assert_eq!(run.active.stop_requested(), None, "somebody reads");
    let left = Instant::now();
    drop(reader);
    assert_eq!(within(run.active.stopping()).await, StopReason::Disconnect);
    assert_eq!(left.elapsed().as_secs(), 30);

    // How the run ends now is recorded like any other end.
    assert!(!run.sink.is_closed());
    run.sink.send(agui_core::RunError::new("x").with_code("CANCELLED"));
    let told = collect(attach(&run.adapter, "r", Some("3")).unwrap()).await;
    assert_eq!(told, [(4, EventType::TextMessageEnd), (5, EventType::RunError)]);
}

#[tokio::test(start_paused = true)]
async fn s12_2_the_grace_runs_although_the_run_is_never_silent() {
    let mut run = Played::start(OnDisconnect::Grace(Duration::from_secs(30)));
    drop(run.client);
    run.sink.send(TextMessageStart::new("m"));
    let talking = async {
        loop {
            run.sink.send(TextMessageContent::new("m", "x"));
            sleep(Duration::from_secs(1)).await;
        }
    };
    tokio::select! {
        reason = within(run.active.stopping()) => assert_eq!(reason, StopReason::Disconnect),
        () = talking => {}
    }
}

#[tokio::test(start_paused = true)]
async fn a_detached_run_is_never_held_up_or_stopped_and_keeps_its_newest_events() {
    let mut run = Played::start(OnDisconnect::Detach);
    drop(run.client);
    recorded().await;
    run.sink.send(TextMessageStart::new("m"));
    let events = LOG_MAX_EVENTS + 100;
    for number in 0..events {
        within(run.sink.ready()).await;
        run.sink.send(TextMessageContent::new("m", number.to_string()));
    }
    sleep(Duration::from_secs(86_400)).await;
    assert_eq!(run.active.stop_requested(), None);

    let oldest = u64::try_from(events + 2 - LOG_MAX_EVENTS).unwrap();
    let from_start = attach(&run.adapter, "r", None).unwrap();
    let error = within(from_start.collect::<Vec<_>>()).await;
    let [NumberedEvent { position, event }] = &*error else { panic!("{error:?}") };
    let Event::RunError(error) = &**event else { panic!("{event:?}") };
    assert_eq!((*position, error.code.as_deref()), (oldest, Some("EVENTS_LOST")));
    // Whoever wants what is left asks with the position of the error.
    let mut rest = attach(&run.adapter, "r", Some(&position.to_string())).unwrap();
    assert_eq!(within(rest.next()).await.unwrap().position, oldest + 1);
}

#[tokio::test(start_paused = true)]
async fn s12_2_of_runs_that_nobody_reads_a_bounded_number_goes_on_and_one_more_is_cancelled() {
    for policy in [OnDisconnect::Detach, OnDisconnect::Grace(Duration::from_secs(3_600))] {
        let config = AdapterConfig::new([]).with_on_disconnect(policy).with_max_unattended_runs(2);
        let adapter = adapter_with(config);
        let mut runs: Vec<Played> =
            (0..4).map(|number| Played::start_on(adapter.clone(), &format!("r{number}"))).collect();
        let stopped = |runs: &[Played]| -> Vec<bool> {
            runs.iter().map(|run| run.active.stop_requested().is_some()).collect()
        };
        for left in [0, 1] {
            runs[left].leave();
            recorded().await;
        }
        assert_eq!(stopped(&runs), [false; 4]);
        runs[2].leave();
        recorded().await;
        assert_eq!(stopped(&runs), [false, false, true, false], "{policy:?}");
        assert_eq!(runs[2].active.stop_requested(), Some(StopReason::Disconnect));

        // Who comes back gives the place free, who leaves again needs one.
        let reader = attach(&adapter, "r0", None).unwrap();
        recorded().await;
        runs[3].leave();
        recorded().await;
        assert_eq!(stopped(&runs), [false, false, true, false], "{policy:?}");
        drop(reader);
        recorded().await;
        assert_eq!(stopped(&runs), [true, false, true, false], "{policy:?}");

        // So does a run that ends.
        runs[1].sink.send(RunFinished::new("t", "r1"));
        recorded().await;
        runs.push(Played::start_on(adapter.clone(), "r4"));
        runs[4].leave();
        recorded().await;
        assert_eq!(stopped(&runs), [true, false, true, false, false], "{policy:?}");
        sleep(Duration::from_secs(3_000)).await;
        assert_eq!(stopped(&runs), [true, false, true, false, false], "{policy:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_holds_its_run_back_until_another_one_does() {
    let mut run = Played::start(OnDisconnect::Detach);
    run.sink.send(TextMessageStart::new("m"));
    let mut written = 0;
    while timeout(Duration::from_secs(60), run.sink.ready()).await.is_ok() {
        run.sink.send(TextMessageContent::new("m", "x"));
        written += 1;
        assert!(written < 10_000, "the run is not held back");
    }
    let mut other = attach(&run.adapter, "r", Some("1")).unwrap();
    for position in 2..=LOG_MAX_EVENTS as u64 * 2 {
        if position > written {
            within(run.sink.ready()).await;
            run.sink.send(TextMessageContent::new("m", "x"));
        }
        assert_eq!(within(other.next()).await.unwrap().position, position);
    }
    // The first one has fallen out of the log. It is told once, and its stream is a valid one.
    let shown: Vec<Event> = within(run.client.collect()).await;
    let mut verifier = agui_core::Verifier::new();
    shown.iter().for_each(|event| verifier.check(event).unwrap());
    verifier.finish().unwrap();
    let Some(Event::RunError(error)) = shown.last() else { panic!("{:?}", shown.last()) };
    assert_eq!(error.code.as_deref(), Some("EVENTS_LOST"));
}

#[tokio::test(start_paused = true)]
async fn finished_runs_are_forgotten_after_a_while_and_when_there_are_too_many() {
    let adapter = adapter(OnDisconnect::Detach);
    let play = |run: String| {
        let mut played = Played::start_on(adapter.clone(), &run);
        played.sink.send(RunFinished::new("t", run));
    };
    for number in 0..FINISHED_MAX_RUNS + 2 {
        play(format!("r{number}"));
        recorded().await;
    }
    let known = |number: usize| attach(&adapter, &format!("r{number}"), None).is_ok();
    assert!(!known(0) && !known(1) && known(2) && known(FINISHED_MAX_RUNS + 1));
    assert_eq!(adapter.shared.logs.counts(), (FINISHED_MAX_RUNS, FINISHED_MAX_RUNS));

    let reader = attach(&adapter, "r2", None).unwrap();
    sleep(FINISHED_FOR).await;
    assert_eq!(adapter.shared.logs.counts(), (0, 0));
    assert_eq!(collect(reader).await.len(), 2, "who reads already may finish");
}

#[tokio::test(start_paused = true)]
async fn finished_runs_are_forgotten_when_they_are_too_large_together() {
    let adapter = adapter(OnDisconnect::Detach);
    let text = "x".repeat(LOG_MAX_BYTES / 2);
    let runs = usize::try_from(FINISHED_MAX_BYTES).unwrap() / text.len() + 1;
    for number in 0..runs {
        let run = format!("r{number}");
        let mut played = Played::start_on(adapter.clone(), &run);
        played.sink.send(TextMessageStart::new("m"));
        played.sink.send(TextMessageContent::new("m", text.as_str()));
        played.sink.send(RunFinished::new("t", run));
        recorded().await;
    }
    let known = |number: usize| attach(&adapter, &format!("r{number}"), None).is_ok();
    assert!(!known(0) && known(runs - 1));
}

#[tokio::test(start_paused = true)]
async fn a_second_try_with_the_same_run_id_takes_the_place_of_the_first() {
    let adapter = adapter(OnDisconnect::Detach);
    let mut refused = Played::start_on(adapter.clone(), "r");
    refused.sink.send(agui_core::RunError::new("x"));
    sleep(Duration::from_secs(200)).await;
    let second = Played::start_on(adapter.clone(), "r");
    sleep(Duration::from_secs(200)).await;
    assert_eq!(adapter.shared.logs.counts(), (1, 0), "the first is gone, the second goes on");
    assert!(attach(&adapter, "r", None).is_ok());
    drop(second);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_for_no_reader() {
    let mut run = Played::start(OnDisconnect::Detach);
    let _stuck = attach(&run.adapter, "r", None).unwrap();
    run.say(2_000);
    recorded().await;
    let (adapter, _client) = run.finish();
    timeout(Duration::from_secs(1), adapter.shutdown()).await.unwrap();
    assert_eq!(adapter.shared.logs.counts(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn s12_2_by_default_nothing_stands_between_a_run_and_its_client() {
    let run = Played::start(OnDisconnect::Cancel);
    assert_eq!(attach(&run.adapter, "r", None).unwrap_err().status, 404);
    drop(run.client);
    within(run.sink.closed()).await;
}
