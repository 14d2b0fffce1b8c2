//! Threads that wait are found.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use agui_core::UnixMillis;

use super::{object, record};
use crate::{
    Digest, ParkedCursor, ParkedPage, ParkedThread, PendingInterrupt, ThreadRecord, ThreadStore, Version,
};

/// All parked threads are found, once each, whatever the page size.
///
/// Example: see [`ThreadStore`].
pub async fn parked_threads_are_listed_once_over_all_pages(store: Arc<dyn ThreadStore>) {
    let mut expected = BTreeSet::new();
    for number in 0..11_u64 {
        let mut record = record(&format!("Thread {number}"));
        for question in 0..number % 3 {
            let id = format!("i{question}");
            let interrupt = PendingInterrupt::new(object("{}"))
                .with_announced(object("{}"), UnixMillis::new(1000 - question))
                .with_expires_at(UnixMillis::new(2000 + question));
            record.execution.pending.insert(id.into(), interrupt);
        }
        if number % 3 > 0 {
            expected.insert((record.thread_id.clone(), usize::try_from(number % 3).unwrap()));
        }
        store.save(&mut record, Version::ABSENT).await.unwrap();
    }
    for listing in [Listing::All, Listing::Index] {
        for limit in [1, 2, 3, 100] {
            let threads = all_parked(&*store, listing, NonZeroUsize::new(limit).unwrap()).await;
            let found = threads.iter().map(|thread| (thread.thread_id.clone(), thread.pending.len()));
            assert_eq!(threads.len(), expected.len());
            assert_eq!(found.collect::<BTreeSet<_>>(), expected);
            for (number, thread) in threads.iter().enumerate() {
                let oldest = 1000 - u64::try_from(thread.pending.len() - 1).unwrap();
                assert_eq!(thread.execution_id, "e0");
                assert_eq!(thread.since(), Some(UnixMillis::new(oldest)));
                assert_eq!(thread.deadline(), Some(UnixMillis::new(2000)));
                // A listing can go on behind any thread of it.
                let rest = list(&*store, listing, Some(&thread.cursor), NonZeroUsize::MAX).await.threads;
                assert_eq!(rest, threads[number + 1..]);
            }
        }
    }
}

/// What is done to a record, and whether its thread waits afterwards.
type Change<'a> = (&'a dyn Fn(&mut ThreadRecord), bool);

/// A thread is in the index exactly while it waits.
///
/// Source: S11.3.
pub async fn the_index_follows_what_is_saved(store: Arc<dyn ThreadStore>) {
    let mut record = record("t");
    let mut version = Version::ABSENT;
    let pending = |record: &mut ThreadRecord, ids: &[&str]| {
        for id in ids {
            record.execution.pending.insert((*id).into(), PendingInterrupt::new(object("{}")));
        }
    };
    let changes: [Change<'_>; 8] = [
        (&|record| record.record_run("r1".into(), Digest::of(b"1")), false),
        (&|record| pending(record, &["i1", "i2"]), true),
        (&|record| record.record_run("r2".into(), Digest::of(b"2")), true),
        (&|record| record.apply_answer(&"i1".into(), Digest::of(b"a")), true),
        (&|record| record.apply_answer(&"i2".into(), Digest::of(b"a")), false),
        (&|record| pending(record, &["i3"]), true),
        (&ThreadRecord::mark_terminal, false),
        (&|record| record.rotate("e1".into(), "inv".into()), false),
    ];
    for (number, (change, waits)) in changes.into_iter().enumerate() {
        change(&mut record);
        version = store.save(&mut record, version).await.unwrap();
        for listing in [Listing::Index, Listing::All] {
            let found = all_parked(&*store, listing, NonZeroUsize::MIN).await;
            let found: Vec<_> = found.iter().map(|thread| thread.thread_id.as_str()).collect();
            assert_eq!(found, if waits { vec!["t"] } else { vec![] }, "step {number}, {listing:?}");
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Listing {
    All,
    Index,
}

async fn list(
    store: &dyn ThreadStore,
    listing: Listing,
    after: Option<&ParkedCursor>,
    limit: NonZeroUsize,
) -> ParkedPage {
    match listing {
        Listing::All => store.parked(after, limit).await.unwrap(),
        Listing::Index => store.parked_index(after, limit).await.unwrap(),
    }
}

async fn all_parked(store: &dyn ThreadStore, listing: Listing, limit: NonZeroUsize) -> Vec<ParkedThread> {
    let mut threads = Vec::new();
    let mut next = None;
    loop {
        let page = list(store, listing, next.as_ref(), limit).await;
        assert!(page.threads.len() <= limit.get());
        assert_eq!(page.unreadable, 0);
        threads.extend(page.threads);
        next = page.next;
        if next.is_none() {
            return threads;
        }
    }
}
