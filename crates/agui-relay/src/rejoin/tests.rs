use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agui_core::{
    Agent, BoxFuture, Event, Interrupt, Outcome, Problem, RunAgentInput, RunFinished, RunLimits, RunRequest,
    RunSink, RunStarted, RunStream, TextMessageContent, TextMessageStart, Verifier, run_channel,
};
use futures_util::StreamExt as _;
use proptest::prelude::*;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::*;

/// An agent whose runs the test does itself.
#[derive(Clone, Default)]
struct Puppet(Arc<Strings>);

#[derive(Default)]
struct Strings {
    sinks: Mutex<HashMap<String, RunSink>>,
    asked: AtomicUsize,
    /// Refuses the first requests.
    refuse: AtomicUsize,
    /// Holds every decision back.
    slow: Mutex<Option<Arc<Notify>>>,
}

impl Agent for Puppet {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async move {
            self.0.asked.fetch_add(1, Ordering::SeqCst);
            let slow = self.0.slow.lock().unwrap().clone();
            if let Some(slow) = slow {
                slow.notified().await;
            }
            if self.0.refuse.load(Ordering::SeqCst) > 0 {
                self.0.refuse.fetch_sub(1, Ordering::SeqCst);
                return Err(Problem::new(409, "THREAD_BUSY", "busy"));
            }
            let RunAgentInput { thread_id, run_id, .. } = request.input;
            let (mut sink, stream) = run_channel(thread_id.clone(), run_id.clone(), RunLimits::default());
            sink.send(RunStarted::new(thread_id, run_id.clone()));
            self.0.sinks.lock().unwrap().insert(run_id.to_string(), sink);
            Ok(stream)
        })
    }
}

impl Puppet {
    fn asked(&self) -> usize {
        self.0.asked.load(Ordering::SeqCst)
    }

    fn send(&self, run: &str, event: impl Into<Event>) {
        self.0.sinks.lock().unwrap().get_mut(run).unwrap().send(event);
    }

    fn say(&self, run: &str, deltas: std::ops::Range<usize>) {
        for delta in deltas {
            self.send(run, TextMessageContent::new("m", delta.to_string()));
        }
    }

    fn finish(&self, run: &str) {
        self.send(run, RunFinished::new("t", run));
        self.0.sinks.lock().unwrap().remove(run);
    }

    fn is_left(&self, run: &str) -> bool {
        self.0.sinks.lock().unwrap().get(run).is_some_and(RunSink::is_closed)
    }
}

fn request(run: &str) -> RunRequest {
    body(&format!(r#"{{"threadId":"t","runId":"{run}","messages":[],"protocolVersion":"1.0"}}"#))
}

fn body(json: &str) -> RunRequest {
    let json = bytes::Bytes::copy_from_slice(json.as_bytes());
    RunRequest::new(RunAgentInput::decode(&json).unwrap(), json)
}

fn setup(config: RejoinConfig) -> (Puppet, Rejoin) {
    let puppet = Puppet::default();
    (puppet.clone(), Rejoin::new(puppet, config))
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(3_600), future).await.unwrap()
}

/// The rest of a run, checked to be valid when it is read from its start.
async fn rest(stream: RunStream) -> Vec<Event> {
    let events: Vec<Event> = within(stream.collect()).await;
    let mut verifier = Verifier::new();
    events.iter().for_each(|event| verifier.check(event).unwrap());
    verifier.finish().unwrap();
    events
}

/// Lets every task do what it can do.
async fn settled() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

fn code(problem: Result<RunStream, Problem>) -> (u16, String) {
    let problem = problem.unwrap_err();
    (problem.status, problem.code.into_owned())
}

fn last_code(events: &[Event]) -> Option<&str> {
    match events.last() {
        Some(Event::RunError(error)) => error.code.as_deref(),
        _ => None,
    }
}

#[tokio::test]
async fn row_16_the_same_request_joins_the_live_run_from_its_first_event() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let first = within(rejoin.run(request("r"))).await.unwrap();
    puppet.send("r", TextMessageStart::new("m"));
    puppet.say("r", 0..500);
    settled().await;
    // Order of keys, white space and spelling of numbers do not make another request.
    let again = r#"{ "protocolVersion":"1.0", "messages":[], "runId":"r", "threadId":"t" }"#;
    let second = within(rejoin.run(body(again))).await.unwrap();
    puppet.say("r", 500..600);
    puppet.finish("r");
    let (first, second) = (rest(first).await, rest(second).await);
    assert_eq!(first.len(), 604);
    assert_eq!(first, second);
    assert_eq!(puppet.asked(), 1);
}

#[tokio::test]
async fn row_16_a_finished_run_answers_what_it_answered_questions_and_failures_too() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let ask = Outcome::interrupt([Interrupt::new("i", "confirmation")]);
    let ends: [(&str, Event); 3] = [
        ("done", RunFinished::new("t", "done").into()),
        ("asks", RunFinished::new("t", "asks").with_outcome(ask).into()),
        ("fails", agui_core::RunError::new("no").with_code("X").into()),
    ];
    for (run, end) in ends {
        let first = within(rejoin.run(request(run))).await.unwrap();
        puppet.send(run, TextMessageStart::new("m"));
        puppet.send(run, end);
        let first = rest(first).await;
        settled().await;
        assert_eq!(rejoin.runs().count(), 0, "{run}: a run that has ended does not go on");
        let again = rest(within(rejoin.run(request(run))).await.unwrap()).await;
        assert_eq!(first, again, "{run}");
    }
    assert_eq!(puppet.asked(), 3);
}

#[tokio::test]
async fn another_request_with_the_same_run_id_is_refused() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let stream = within(rejoin.run(request("r"))).await.unwrap();
    let other = || body(r#"{"threadId":"t","runId":"r","messages":[],"state":1}"#);
    assert_eq!(code(within(rejoin.run(other())).await), (409, "RUN_ID_CONFLICT".to_owned()));
    puppet.finish("r");
    rest(stream).await;
    settled().await;
    assert_eq!(code(within(rejoin.run(other())).await), (409, "RUN_ID_CONFLICT".to_owned()));
    // A run id is unique within its thread only.
    let elsewhere = body(r#"{"threadId":"u","runId":"r","messages":[]}"#);
    assert!(within(rejoin.run(elsewhere)).await.is_ok());
    assert_eq!(puppet.asked(), 2);
}

#[tokio::test]
async fn a_run_is_shown_to_its_requester_only() {
    let (puppet, rejoin) = setup(RejoinConfig::default().with_requester(&["X-Session", "authorization"]));
    let by = |headers: &[(&str, &str)]| {
        headers.iter().fold(request("r"), |request, (name, value)| request.with_header(*name, *value))
    };
    let mine: &[(&str, &str)] = &[("x-session", "s"), ("authorization", "Bearer a"), ("x-trace", "1")];
    let stream = within(rejoin.run(by(mine))).await.unwrap();
    let others: [&[(&str, &str)]; 4] = [
        &[],
        &[("x-session", "s")],
        &[("x-session", "s"), ("authorization", "Bearer b")],
        &[("x-session", "z"), ("authorization", "Bearer a")],
    ];
    for _ in 0..2 {
        for other in others {
            let answer = code(within(rejoin.run(by(other))).await);
            assert_eq!(answer, (409, "RUN_ID_CONFLICT".to_owned()), "{other:?}");
        }
        // The second time it has ended.
        puppet.0.sinks.lock().unwrap().remove("r");
        settled().await;
    }
    let again = [("x-trace", "2"), ("authorization", "Bearer a"), ("x-session", "s")];
    let again = within(rejoin.run(by(&again))).await.unwrap();
    assert_eq!(rest(stream).await, rest(again).await);
    assert_eq!(puppet.asked(), 1);
}

#[test]
fn large_bodies_are_compared_byte_by_byte() {
    let with = |space: &str, length: usize| format!("{{\"a\":{space}1,\"b\":\"{}\"}}", "x".repeat(length));
    let same = |length| digest(with("", length).as_bytes()) == digest(with(" ", length).as_bytes());
    assert!(same(10) && same(MEANING_MAX_BYTES - 100));
    assert!(!same(MEANING_MAX_BYTES));
    let large = with("", MEANING_MAX_BYTES);
    assert_eq!(digest(large.as_bytes()), digest(large.as_bytes()));
}

#[tokio::test]
async fn whoever_asks_while_the_agent_decides_gets_the_same_answer_and_a_refusal_leaves_no_trace() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let gate = Arc::new(Notify::new());
    *puppet.0.slow.lock().unwrap() = Some(Arc::clone(&gate));
    puppet.0.refuse.store(1, Ordering::SeqCst);
    for expected in [Err("THREAD_BUSY"), Ok(())] {
        let asking: Vec<_> = (0..3)
            .map(|_| {
                let rejoin = rejoin.clone();
                tokio::spawn(async move { rejoin.run(request("r")).await })
            })
            .collect();
        settled().await;
        assert_eq!(rejoin.runs().count(), 1);
        gate.notify_one();
        let mut streams = Vec::new();
        for asked in asking {
            let answer = within(asked).await.unwrap();
            assert_eq!(answer.as_ref().map(|_| ()).map_err(|problem| &*problem.code), expected);
            streams.extend(answer.ok());
        }
        settled().await;
        assert_eq!(rejoin.runs().count(), usize::from(expected.is_ok()));
    }
    assert_eq!(puppet.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_agent_is_left_when_the_last_reader_is_gone_for_as_long_as_the_policy_says() {
    let after = Abandon::After(Duration::from_secs(30));
    for (abandon, patience_s) in [(Abandon::AtOnce, Some(0)), (after, Some(30)), (Abandon::Never, None)] {
        let (puppet, rejoin) = setup(RejoinConfig::default().with_abandon(abandon));
        let one = within(rejoin.run(request("r"))).await.unwrap();
        let two = within(rejoin.run(request("r"))).await.unwrap();
        drop(one);
        sleep(Duration::from_secs(1_000)).await;
        assert!(!puppet.is_left("r"), "{abandon:?}: somebody reads");
        drop(two);
        let left = Instant::now();
        let ended = timeout(Duration::from_secs(86_400), async {
            rejoin.runs().watch().wait_for(|live| *live == 0).await.unwrap();
            left.elapsed().as_secs()
        });
        assert_eq!(ended.await.ok(), patience_s, "{abandon:?}");
        assert_eq!(puppet.is_left("r"), patience_s.is_some(), "{abandon:?}");
        if patience_s.is_some() {
            // It does not run again: it was cancelled, and says so.
            let again = rest(within(rejoin.run(request("r"))).await.unwrap()).await;
            let Some(Event::RunFinished(end)) = again.last() else { panic!("{again:?}") };
            assert_eq!(end.outcome, Some(Outcome::Cancelled));
        }
        assert_eq!(puppet.asked(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_comes_back_in_time_keeps_the_run() {
    let (puppet, rejoin) =
        setup(RejoinConfig::default().with_abandon(Abandon::After(Duration::from_secs(30))));
    drop(within(rejoin.run(request("r"))).await.unwrap());
    sleep(Duration::from_secs(29)).await;
    let back = within(rejoin.run(request("r"))).await.unwrap();
    sleep(Duration::from_secs(1_000)).await;
    puppet.finish("r");
    assert_eq!(rest(back).await.len(), 2);
}

#[tokio::test]
async fn a_caller_that_leaves_while_the_agent_decides_does_not_decide_for_others() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let gate = Arc::new(Notify::new());
    *puppet.0.slow.lock().unwrap() = Some(Arc::clone(&gate));
    let ask = |rejoin: &Rejoin| {
        let rejoin = rejoin.clone();
        tokio::spawn(async move { rejoin.run(request("r")).await })
    };
    let (first, second) = (ask(&rejoin), ask(&rejoin));
    settled().await;
    first.abort();
    settled().await;
    gate.notify_one();
    let stream = within(second).await.unwrap().unwrap();
    puppet.finish("r");
    assert_eq!(rest(stream).await.len(), 2);

    // Without others the agent is not asked any longer.
    *puppet.0.slow.lock().unwrap() = Some(Arc::new(Notify::new()));
    let rejoin_other = rejoin.clone();
    let alone = tokio::spawn(async move { rejoin_other.run(request("alone")).await });
    settled().await;
    assert_eq!(rejoin.runs().count(), 1);
    alone.abort();
    within(rejoin.runs().watch().wait_for(|live| *live == 0)).await.unwrap();
}

#[tokio::test]
async fn runs_are_listed_and_cancelled_by_thread_and_id() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let runs = rejoin.runs();
    let stream = within(rejoin.run(request("r"))).await.unwrap();
    let old = body(r#"{"threadId":"t","runId":"old","messages":[]}"#);
    let old = within(rejoin.run(old)).await.unwrap();
    puppet.send("r", TextMessageStart::new("m"));
    settled().await;
    let listed = runs.list().into_iter().map(|run| (run.run_id.to_string(), run.readers, run.events));
    let listed: std::collections::BTreeSet<_> = listed.collect();
    assert_eq!(Vec::from_iter(listed), [("old".to_owned(), 1, 1), ("r".to_owned(), 1, 2)]);

    assert!(runs.knows(&"t".into(), &"r".into()) && !runs.knows(&"u".into(), &"r".into()));
    assert_eq!(runs.cancel(&"t".into(), &"nothing".into()), CancelOutcome::Unknown);
    assert_eq!(runs.cancel(&"u".into(), &"r".into()), CancelOutcome::Unknown);
    assert_eq!(runs.cancel(&"t".into(), &"r".into()), CancelOutcome::Cancelled);
    let events = rest(stream).await;
    let Some(Event::RunFinished(end)) = events.last() else { panic!("{events:?}") };
    assert_eq!((events.len(), end.outcome.clone()), (4, Some(Outcome::Cancelled)), "the message is closed");
    assert!(puppet.is_left("r"));
    // A client that names no version does not know that outcome.
    assert_eq!(runs.cancel(&"t".into(), &"old".into()), CancelOutcome::Cancelled);
    assert_eq!(last_code(&rest(old).await), Some("CANCELLED"));
    settled().await;
    assert_eq!(runs.cancel(&"t".into(), &"r".into()), CancelOutcome::AlreadyEnded);
    assert!(runs.knows(&"t".into(), &"r".into()));
    assert_eq!(runs.count(), 0);
}

#[tokio::test]
async fn a_shutdown_ends_every_run_and_takes_no_more() {
    let (puppet, rejoin) = setup(RejoinConfig::default().with_abandon(Abandon::Never));
    let stream = within(rejoin.run(request("r"))).await.unwrap();
    let stuck = within(rejoin.run(request("stuck"))).await.unwrap();
    puppet.send("stuck", TextMessageStart::new("m"));
    puppet.say("stuck", 0..3_000);
    settled().await;
    *puppet.0.slow.lock().unwrap() = Some(Arc::new(Notify::new()));
    let undecided = {
        let rejoin = rejoin.clone();
        tokio::spawn(async move { rejoin.run(request("undecided")).await })
    };
    settled().await;
    within(rejoin.shutdown()).await;
    assert_eq!(last_code(&rest(stream).await), Some("SHUTTING_DOWN"));
    assert_eq!(last_code(&rest(stuck).await), Some("SHUTTING_DOWN"));
    let refused = (503, "SHUTTING_DOWN".to_owned());
    assert_eq!(code(within(undecided).await.unwrap()), refused);
    assert_eq!(code(within(rejoin.run(request("late"))).await), refused);
    assert_eq!(rejoin.runs().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_neither_holds_the_others_up_nor_costs_more_than_the_log() {
    let (puppet, rejoin) = setup(RejoinConfig::default().with_log(usize::MAX, 300_000));
    let slow = within(rejoin.run(request("r"))).await.unwrap();
    let fast = within(rejoin.run(request("r"))).await.unwrap();
    let reading = tokio::spawn(rest(fast));
    puppet.send("r", TextMessageStart::new("m"));
    let total = 40_000;
    for number in 0..total / 100 {
        puppet.say("r", number * 100..number * 100 + 100);
        settled().await;
    }
    // Its first events are gone, so nobody can join any more.
    assert_eq!(code(within(rejoin.run(request("r"))).await), (409, "SESSION_BUSY".to_owned()));
    puppet.finish("r");
    assert_eq!(within(reading).await.unwrap().len(), total + 4);
    let shown = rest(slow).await;
    assert!(shown.len() < total);
    assert_eq!(last_code(&shown), Some("SESSION_BUSY"));
    // It has run, and its answer is not kept: it does not run again.
    assert_eq!(code(within(rejoin.run(request("r"))).await), (409, "DUPLICATE_RUN_ID".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_does_not_read_holds_the_run_back_while_it_is_the_only_one() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let stream = within(rejoin.run(request("r"))).await.unwrap();
    puppet.send("r", TextMessageStart::new("m"));
    let mut written = 0;
    loop {
        settled().await;
        let sinks = puppet.0.sinks.lock().unwrap();
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        if sinks["r"].poll_ready(&mut cx).is_pending() {
            break;
        }
        drop(sinks);
        puppet.say("r", written..written + 1);
        written += 1;
        assert!(written < 20_000, "the run is not held back");
    }
    puppet.finish("r");
    assert_eq!(rest(stream).await.len(), written + 4, "and loses nothing");
}

#[tokio::test(start_paused = true)]
async fn finished_runs_are_forgotten_by_time_by_number_and_by_size() {
    let minute = Duration::from_secs(60);
    let (puppet, rejoin) = setup(RejoinConfig::default().with_finished(minute, 3, 2_000));
    let play = async |run: &str, text: &str| {
        let stream = within(rejoin.run(request(run))).await.unwrap();
        if !text.is_empty() {
            puppet.send(run, TextMessageStart::new("m"));
            puppet.send(run, TextMessageContent::new("m", text));
        }
        puppet.finish(run);
        rest(stream).await;
        settled().await;
    };
    let large = "x".repeat(1_000);
    play("a", &large).await;
    play("b", &large).await;
    // Together too large: the oldest is remembered without its events.
    assert_eq!(code(within(rejoin.run(request("a"))).await), (409, "DUPLICATE_RUN_ID".to_owned()));
    assert!(within(rejoin.run(request("b"))).await.is_ok());
    play("c", "").await;
    play("d", "").await;
    let (runs, bytes) = rejoin.shared.table.finished();
    assert!(runs == 3 && bytes < 2_000, "{runs} {bytes}");
    assert_eq!(puppet.asked(), 4);
    // Too many: the oldest is forgotten, and so runs again.
    play("a", "").await;
    assert_eq!(puppet.asked(), 5);
    sleep(minute).await;
    play("a", "").await;
    assert_eq!(puppet.asked(), 6);
    assert_eq!(rejoin.shared.table.finished().0, 1);
}

/// One step of a play with several clients.
#[derive(Debug, Clone)]
enum Move {
    Ask { run: usize, other_body: bool },
    Leave { client: usize },
    Say { run: usize, deltas: usize },
    Finish { run: usize },
    Cancel { run: usize },
    Wait,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let step = prop_oneof![
        4 => (0_usize..3, prop::bool::weighted(0.1)).prop_map(|(run, other_body)| Move::Ask { run, other_body }),
        2 => (0_usize..6).prop_map(|client| Move::Leave { client }),
        4 => (0_usize..3, 0_usize..300).prop_map(|(run, deltas)| Move::Say { run, deltas }),
        1 => (0_usize..3).prop_map(|run| Move::Finish { run }),
        1 => (0_usize..3).prop_map(|run| Move::Cancel { run }),
        3 => Just(Move::Wait),
    ];
    prop::collection::vec(step, 1..40)
}

/// Plays `moves`; gives what every client that stayed has seen, by run, and how often the agent was asked.
async fn play(moves: Vec<Move>, abandon: Abandon) -> (Vec<(usize, Vec<Event>)>, usize, usize) {
    let (puppet, rejoin) = setup(RejoinConfig::default().with_abandon(abandon));
    let mut clients: Vec<(usize, RunStream)> = Vec::new();
    let mut said = [0_usize; 3];
    let alive = |run: &str| puppet.0.sinks.lock().unwrap().contains_key(run);
    for step in moves {
        match step {
            Move::Ask { run, other_body } => {
                let name = format!("r{run}");
                let asked = if other_body {
                    body(&format!(r#"{{"threadId":"t","runId":"{name}","messages":[],"state":0}}"#))
                } else {
                    request(&name)
                };
                if let Ok(stream) = within(rejoin.run(asked)).await {
                    clients.push((run, stream));
                }
            }
            Move::Leave { client } if client < clients.len() => drop(clients.swap_remove(client)),
            Move::Say { run, deltas } if alive(&format!("r{run}")) => {
                let name = format!("r{run}");
                if said[run] == 0 {
                    puppet.send(&name, TextMessageStart::new("m"));
                }
                puppet.say(&name, said[run]..said[run] + deltas);
                said[run] += deltas;
            }
            Move::Finish { run } if alive(&format!("r{run}")) => puppet.finish(&format!("r{run}")),
            Move::Cancel { run } => {
                let _ = rejoin.runs().cancel(&"t".into(), &format!("r{run}").into());
            }
            Move::Wait => settled().await,
            Move::Leave { .. } | Move::Say { .. } | Move::Finish { .. } => {}
        }
    }
    let left: Vec<String> = puppet.0.sinks.lock().unwrap().keys().cloned().collect();
    left.iter().for_each(|run| puppet.finish(run));
    let mut seen = Vec::new();
    for (run, stream) in clients {
        seen.push((run, rest(stream).await));
    }
    within(rejoin.runs().watch().wait_for(|live| *live == 0)).await.unwrap();
    (seen, puppet.asked(), rejoin.shared.table.finished().0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever happens when: no run id runs twice, all readers of a run see the same valid stream, and nothing
    /// is left behind.
    #[test]
    fn a_run_id_is_one_run(moves in moves(), grace in any::<bool>()) {
        let abandon = if grace { Abandon::After(Duration::from_secs(5)) } else { Abandon::AtOnce };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let (seen, asked, finished) = runtime.unwrap().block_on(play(moves, abandon));
        prop_assert!(asked <= 3);
        prop_assert_eq!(finished, asked);
        let mut by_run: HashMap<usize, Vec<Event>> = HashMap::new();
        for (run, events) in seen {
            let first = by_run.entry(run).or_insert_with(|| events.clone());
            prop_assert_eq!(&*first, &events);
        }
    }
}
