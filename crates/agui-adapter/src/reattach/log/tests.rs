use std::pin::pin;
use std::task::{Context, Poll, Waker};

use agui_core::{RunStarted, TextMessageContent};
use proptest::prelude::*;

use super::*;

fn log(events: usize, bytes: usize) -> Arc<EventLog> {
    EventLog::new(Bounds { events, bytes })
}

fn event(text: &str) -> Event {
    TextMessageContent::new("m", text).into()
}

fn append(log: &EventLog, count: usize) {
    log.append(&mut (0..count).map(|number| event(&number.to_string())).collect());
}

fn poll<T>(future: impl Future<Output = T>) -> Poll<T> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Positions up to where the follower has to wait; `true` if nothing follows.
fn drain(follower: &mut Follower) -> (Vec<u64>, bool) {
    let mut positions = Vec::new();
    loop {
        match poll(follower.next()) {
            Poll::Ready(Some(Step::Event(position, _))) => positions.push(position),
            Poll::Ready(Some(Step::Gap { lost })) => panic!("lost up to {lost}"),
            Poll::Ready(None) => return (positions, true),
            Poll::Pending => return (positions, false),
        }
    }
}

#[test]
fn a_reader_gets_what_comes_after_its_position_and_then_what_happens() {
    let log = log(100, 100_000);
    append(&log, 3);
    let mut readers: Vec<Follower> = (0..=3).map(|after| log.follow(after).unwrap()).collect();
    assert!(log.follow(4).is_none(), "the run has not got that far");
    let expected: [&[u64]; 4] = [&[1, 2, 3], &[2, 3], &[3], &[]];
    for (reader, expected) in readers.iter_mut().zip(expected) {
        assert_eq!(drain(reader), (expected.to_vec(), false));
    }
    append(&log, 2);
    log.end();
    for reader in &mut readers {
        assert_eq!(drain(reader), (vec![4, 5], true));
    }
    assert_eq!(drain(&mut log.follow(5).unwrap()), (vec![], true));
}

#[test]
fn the_same_event_is_given_to_everybody_and_is_not_copied() {
    let log = log(100, 100_000);
    log.append(&mut vec![RunStarted::new("t", "r").into()]);
    let first = |follower: &mut Follower| match poll(follower.next()) {
        Poll::Ready(Some(Step::Event(1, event))) => event,
        other => panic!("{other:?}"),
    };
    let (one, two) = (first(&mut log.follow(0).unwrap()), first(&mut log.follow(0).unwrap()));
    assert!(Arc::ptr_eq(&one, &two));
}

#[test]
fn the_log_keeps_the_newest_events_within_both_bounds() {
    let bytes = serde_json::to_vec(&event("0")).unwrap().len();
    for (bounds, kept) in [((4, 100_000), 4), ((100, 3 * bytes), 3), ((100, 3 * bytes - 1), 2), ((100, 1), 1)]
    {
        let log = log(bounds.0, bounds.1);
        append(&log, 9);
        assert_eq!(log.bytes(), as_u64(kept * bytes), "{bounds:?}");
        let oldest = as_u64(9 - kept);
        assert_eq!(drain(&mut log.follow(oldest).unwrap()).0.len(), kept, "{bounds:?}");
        let mut late = log.follow(oldest - 1).unwrap();
        assert_eq!(poll(late.next()), Poll::Ready(Some(Step::Gap { lost: oldest })), "{bounds:?}");
        assert_eq!(poll(late.next()), Poll::Ready(None), "nothing after a gap");
    }
}

#[tokio::test]
async fn a_run_waits_for_its_fastest_reader_and_for_nobody_else() {
    let log = log(LOG_MAX_EVENTS, LOG_MAX_BYTES);
    append(&log, READ_AHEAD.max_events);
    assert!(poll(log.room()).is_ready(), "nobody reads");
    let (mut slow, mut fast) = (log.follow(0).unwrap(), log.follow(0).unwrap());
    let waiting = tokio::spawn({
        let log = Arc::clone(&log);
        async move { log.room().await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    fast.next().await.unwrap();
    waiting.await.unwrap();

    assert!(poll(log.room()).is_ready(), "the fast one is ahead, whatever the slow one does");
    drop(fast);
    assert!(poll(log.room()).is_pending(), "the slow one is the fastest now");
    slow.next().await.unwrap();
    assert!(poll(log.room()).is_ready());
    log.append(&mut vec![event(&"x".repeat(READ_AHEAD.max_bytes))]);
    assert!(poll(log.room()).is_pending(), "bytes count, too");
    drop(slow);
    assert!(poll(log.room()).is_ready());
}

#[tokio::test(start_paused = true)]
async fn a_log_is_deserted_when_nobody_has_read_for_the_whole_time() {
    let log = log(100, 100_000);
    let reader = log.follow(0).unwrap();
    let start = Instant::now();
    let deserted = tokio::spawn({
        let log = Arc::clone(&log);
        async move { log.deserted_for(Duration::from_secs(10)).await }
    });
    tokio::time::sleep(Duration::from_secs(100)).await;
    drop(reader);
    tokio::time::sleep(Duration::from_secs(9)).await;
    let (one, two) = (log.follow(0).unwrap(), log.follow(0).unwrap());
    tokio::time::sleep(Duration::from_secs(100)).await;
    drop(one);
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert!(!deserted.is_finished());
    drop(two);
    // A wait that begins later counts from the same moment.
    tokio::time::sleep(Duration::from_secs(4)).await;
    log.deserted_for(Duration::from_secs(10)).await;
    assert_eq!(start.elapsed().as_secs(), 319);
    deserted.await.unwrap();
}

#[tokio::test]
async fn a_reader_that_waits_is_woken_by_events_and_by_the_end() {
    let log = log(100, 100_000);
    let mut reader = log.follow(0).unwrap();
    let reading = tokio::spawn(async move {
        let mut count = 0;
        while reader.next().await.is_some() {
            count += 1;
        }
        count
    });
    for _ in 0..5 {
        append(&log, 3);
        tokio::task::yield_now().await;
    }
    log.end();
    assert_eq!(reading.await.unwrap(), 15);
}

proptest! {
    /// Whatever the pace: consecutive positions, each with its own event, up to the end or to a gap that
    /// is really there.
    #[test]
    fn nobody_misses_or_repeats_an_event(
        moves in prop::collection::vec((0_usize..8, 0_usize..4, 0_usize..12), 1..60),
        after in 0_u64..6,
        events in 1_usize..12,
    ) {
        let log = log(events, 600);
        append(&log, 6);
        let mut readers: Vec<(Follower, u64, bool)> =
            (0..4).map(|_| (log.follow(after).unwrap(), after, false)).collect();
        let mut written = 6;
        for (count, who, reads) in moves {
            log.append(&mut (0..count).map(|step| event(&(written + step).to_string())).collect());
            written += count;
            let (follower, last, lost) = &mut readers[who];
            for _ in 0..reads {
                let Poll::Ready(step) = poll(follower.next()) else { break };
                match step {
                    Some(Step::Event(position, given)) => {
                        prop_assert!(!*lost);
                        prop_assert_eq!(position, *last + 1);
                        prop_assert_eq!(&*given, &event(&(position - 1).to_string()));
                        *last = position;
                    }
                    Some(Step::Gap { lost: up_to }) => {
                        prop_assert!(up_to > *last && !*lost);
                        prop_assert!(as_u64(written) - up_to <= as_u64(events));
                        *lost = true;
                    }
                    None => prop_assert!(*lost),
                }
            }
        }
        log.end();
        for (mut follower, mut last, lost) in readers {
            let mut gap = lost;
            while let Poll::Ready(Some(step)) = poll(follower.next()) {
                match step {
                    Step::Event(position, _) => {
                        prop_assert_eq!(position, last + 1);
                        last = position;
                    }
                    Step::Gap { .. } => gap = true,
                }
            }
            prop_assert!(gap || last == as_u64(written));
        }
    }
}
