use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use agui_core::{Event, TextMessageContent};
use proptest::prelude::*;

use super::*;

fn log_with(events: usize, bytes: usize, ahead: RunLimits) -> (Arc<Log>, Arc<AtomicUsize>) {
    let live = Arc::new(AtomicUsize::new(0));
    let log = Log::new(Bounds { events, bytes, ahead, live_bytes: usize::MAX }, Arc::clone(&live));
    log.admit();
    (log, live)
}

fn log(events: usize, bytes: usize) -> Arc<Log> {
    log_with(events, bytes, RunLimits::default()).0
}

fn event(number: usize) -> Event {
    TextMessageContent::new("m", number.to_string()).into()
}

fn append(log: &Log, numbers: std::ops::Range<usize>) {
    log.append(&mut numbers.map(event).collect());
}

fn poll<T>(future: impl Future<Output = T>) -> Poll<T> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Everything that is there for a reader, and how it goes on: `None` if more may come.
fn drain(follower: &mut Follower) -> (Vec<Event>, Option<Next>) {
    let mut events = Vec::new();
    loop {
        match poll(follower.next(&mut events)) {
            Poll::Ready(Next::Events) => {}
            Poll::Ready(end) => return (events, Some(end)),
            Poll::Pending => return (events, None),
        }
    }
}

#[test]
fn every_reader_gets_the_run_from_its_first_event() {
    let log = log(10_000, 1_000_000);
    let mut early = log.follow().unwrap();
    append(&log, 0..3);
    let mut late = log.follow().unwrap();
    assert_eq!(drain(&mut early), ((0..3).map(event).collect(), None));
    append(&log, 3..2_000);
    let mut later = log.follow().unwrap();
    assert_eq!(drain(&mut early).0, (3..2_000).map(event).collect::<Vec<_>>());
    drop(early);
    let whole = log.end();
    assert!(whole.is_some());
    let all = ((0..2_000).map(event).collect::<Vec<_>>(), Some(Next::End));
    assert_eq!(drain(&mut late), all);
    assert_eq!(drain(&mut later), all);
    assert_eq!(drain(&mut log.follow().unwrap()), all, "also after the end");
}

#[test]
fn a_single_reader_gets_values_and_the_log_keeps_only_json() {
    let log = log(10_000, 1_000_000);
    let mut reader = log.follow().unwrap();
    append(&log, 0..10);
    assert_eq!(log.lock().tail.len(), 10);
    drain(&mut reader);
    assert_eq!(log.lock().tail.len(), 0);
    drop(reader);
    append(&log, 10..20);
    assert_eq!(log.lock().tail.len(), 0, "nobody is about to read");
}

#[test]
fn a_log_that_is_too_large_loses_its_beginning_and_takes_no_more_readers() {
    let bytes = serde_json::to_vec(&event(1_000)).unwrap().len();
    for (events, bytes) in [(1_000, usize::MAX), (usize::MAX, 1_000 * bytes)] {
        let (log, live) = log_with(events, bytes, RunLimits::new(8, 10_000));
        let mut slow = log.follow().unwrap();
        for number in 1_000..6_000 {
            append(&log, number..number + 1);
        }
        assert!(log.follow().is_none());
        assert_eq!(drain(&mut slow), (vec![], Some(Next::Gap)));
        assert_eq!(drain(&mut slow), (vec![], Some(Next::End)), "nothing after a gap");
        let kept = live.load(Ordering::Relaxed);
        assert!(kept > 0 && kept <= 1_000 * bytes.min(200), "{kept}");
        assert_eq!(log.end(), None, "not the whole run");
        assert_eq!(live.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn when_all_runs_keep_too_much_a_run_keeps_what_its_readers_need() {
    let live = Arc::new(AtomicUsize::new(1_000_000));
    let ahead = RunLimits::new(100, 40_000);
    let bounds = Bounds { events: usize::MAX, bytes: usize::MAX, ahead, live_bytes: 1_000_000 };
    let log = Log::new(bounds, Arc::clone(&live));
    let mut reader = log.follow().unwrap();
    for number in 0..10_000 {
        append(&log, number..number + 1);
        assert_eq!(drain(&mut reader), (vec![event(number)], None));
    }
    assert!(live.load(Ordering::Relaxed) < 1_000_000 + 2 * 40_000);
    assert!(log.follow().is_none());
}

#[tokio::test]
async fn a_run_waits_for_its_fastest_reader_and_for_nobody_else() {
    let (log, _) = log_with(100_000, 10_000_000, RunLimits::new(100, 100_000));
    append(&log, 0..1_000);
    assert!(poll(log.room()).is_ready(), "nobody reads");
    let (mut slow, mut fast) = (log.follow().unwrap(), log.follow().unwrap());
    let waiting = tokio::spawn({
        let log = Arc::clone(&log);
        async move { log.room().await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    drain(&mut fast);
    waiting.await.unwrap();
    assert!(poll(log.room()).is_ready(), "the fast one is there, whatever the slow one does");
    drop(fast);
    assert!(poll(log.room()).is_pending(), "the slow one is the fastest now");
    drain(&mut slow);
    assert!(poll(log.room()).is_ready());
    log.append(&mut vec![TextMessageContent::new("m", "x".repeat(100_000)).into()]);
    assert!(poll(log.room()).is_pending(), "bytes count, too");
    drop(slow);
    assert!(poll(log.room()).is_ready());
}

#[tokio::test(start_paused = true)]
async fn a_log_is_deserted_when_nobody_has_read_for_the_whole_time() {
    let log = log(100, 100_000);
    let reader = log.follow().unwrap();
    let start = Instant::now();
    let deserted = tokio::spawn({
        let log = Arc::clone(&log);
        async move { log.deserted_for(Duration::from_secs(10)).await }
    });
    tokio::time::sleep(Duration::from_secs(100)).await;
    drop(reader);
    tokio::time::sleep(Duration::from_secs(9)).await;
    let again = log.follow().unwrap();
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert!(!deserted.is_finished());
    drop(again);
    deserted.await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 219);
}

#[test]
fn a_time_that_no_clock_reaches_never_passes() {
    assert!(poll(log(100, 100_000).deserted_for(Duration::MAX)).is_pending());
}

#[tokio::test]
async fn readers_that_wait_are_woken_by_the_answer_of_the_agent() {
    let live = Arc::new(AtomicUsize::new(0));
    let bounds = Bounds { events: 10, bytes: 10, ahead: RunLimits::default(), live_bytes: 10 };
    for problem in [None, Some(Problem::new(409, "X", "x"))] {
        let log = Log::new(bounds, Arc::clone(&live));
        let mut reader = log.follow().unwrap();
        let waiting = tokio::spawn(async move { reader.admitted().await });
        tokio::task::yield_now().await;
        match problem.clone() {
            None => log.admit(),
            Some(problem) => log.refuse(problem),
        }
        assert_eq!(waiting.await.unwrap().err(), problem);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever the pace: every reader gets every event once and in order, up to the end or to a gap that is
    /// really there; what all logs keep is counted right.
    #[test]
    fn nobody_misses_or_repeats_an_event(
        moves in prop::collection::vec((0_usize..160, 0_usize..6, 0_usize..4), 1..60),
        max_bytes in prop_oneof![Just(usize::MAX), 20_000_usize..200_000],
        ahead in (1_usize..600, 1_000_usize..50_000),
    ) {
        let (log, live) = log_with(usize::MAX, max_bytes, RunLimits::new(ahead.0, ahead.1));
        let mut readers: Vec<(Follower, Vec<Event>, Option<Next>)> = Vec::new();
        let mut written = 0;
        for (count, who, action) in moves {
            append(&log, written..written + count);
            written += count;
            match action {
                0 => match log.follow() {
                    Some(follower) => readers.push((follower, Vec::new(), None)),
                    None => prop_assert!(max_bytes < usize::MAX),
                },
                1 if who < readers.len() => drop(readers.swap_remove(who)),
                2 => for (follower, seen, end) in readers.iter_mut().skip(who) {
                    if let Poll::Ready(next) = poll(follower.next(seen)) && next != Next::Events {
                        *end = end.or(Some(next));
                    }
                },
                _ => for (follower, seen, end) in readers.iter_mut().skip(who) {
                    let (more, next) = drain(follower);
                    seen.extend(more);
                    *end = end.or(next);
                },
            }
            let state = log.lock();
            prop_assert_eq!(live.load(Ordering::Relaxed), state.end.bytes - state.start.bytes);
            prop_assert!(state.end.bytes - state.start.bytes <= max_bytes.saturating_add(40_000));
            prop_assert!(state.tail.len() <= 2 * ahead.0);
        }
        let whole = log.end();
        prop_assert_eq!(live.load(Ordering::Relaxed), 0);
        for (mut follower, mut seen, mut end) in readers {
            let (more, next) = drain(&mut follower);
            seen.extend(more);
            end = end.or(next);
            let expected: Vec<Event> = (0..seen.len()).map(event).collect();
            prop_assert_eq!(&seen, &expected);
            match end {
                Some(Next::Gap) => prop_assert!(whole.is_none()),
                _ => prop_assert_eq!(seen.len(), written),
            }
        }
    }
}
