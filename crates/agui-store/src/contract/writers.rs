//! Of those who write, or run, at the same time, one gets through.

use std::sync::Arc;

use super::{record, stored};
use crate::{Digest, StoreError, ThreadStore, Version};

/// The version decides, and a refused save leaves both sides as they were.
///
/// Example: see [`ThreadStore`].
pub async fn a_stale_writer_is_refused_and_nothing_changes(store: Arc<dyn ThreadStore>) {
    let mut first = record("t");
    let mut stale = record("t");
    let old = store.save(&mut first, Version::ABSENT).await.unwrap();
    first.record_run("r1".into(), Digest::of(b"1"));
    let new = store.save(&mut first, old).await.unwrap();
    assert_ne!(old, new);

    stale.record_run("r2".into(), Digest::of(b"2"));
    let before = stale.clone();
    for version in [Version::ABSENT, old] {
        assert!(matches!(store.save(&mut stale, version).await, Err(StoreError::Conflict)));
    }
    let mut other = record("never saved");
    assert!(matches!(store.save(&mut other, new).await, Err(StoreError::Conflict)));

    assert_eq!(stale, before);
    assert_eq!(stored(&*store, "t").await, (first, new));
    assert_eq!(store.run_digest(&"t".into(), &"r2".into()).await.unwrap(), None);
    assert!(store.load(&"never saved".into()).await.unwrap().is_none());
}

/// Of writers that have seen the same record one gets through, whoever it is.
///
/// Example: see [`ThreadStore`].
pub async fn one_of_many_writers_wins(store: Arc<dyn ThreadStore>) {
    let version = store.save(&mut record("t"), Version::ABSENT).await.unwrap();
    let mut writers = Vec::new();
    for number in 0..8 {
        let store = Arc::clone(&store);
        writers.push(tokio::spawn(async move {
            let mut mine = store.load(&"t".into()).await.unwrap().unwrap().record;
            mine.record_run(format!("r{number}").into(), Digest::of(b"request"));
            store.save(&mut mine, version).await.map(|_| mine)
        }));
    }
    let mut winners = Vec::new();
    for writer in writers {
        match writer.await.unwrap() {
            Ok(record) => winners.push(record),
            Err(error) => assert!(matches!(error, StoreError::Conflict), "{error:?}"),
        }
    }
    assert_eq!(winners, [stored(&*store, "t").await.0]);
}

/// Who runs a thread is the only one until it lets go; other threads, and writers, do not care.
///
/// Example: see [`ThreadStore::claim`].
pub async fn a_thread_is_claimed_by_one_at_a_time(store: Arc<dyn ThreadStore>) {
    let (thread, other) = ("t".into(), "Other".into());
    let mut record = record("t");
    let version = store.save(&mut record, Version::ABSENT).await.unwrap();
    for _ in 0..2 {
        let claim = store.claim(&thread).await.unwrap();
        assert!(claim.is_some());
        assert!(store.claim(&thread).await.unwrap().is_none());
        assert!(store.claim(&other).await.unwrap().is_some());
        drop(claim);
    }

    let _held = store.claim(&thread).await.unwrap().unwrap();
    record.record_run("r".into(), Digest::of(b"request"));
    let version = store.save(&mut record, version).await.unwrap();
    assert_eq!(stored(&*store, "t").await, (record, version));
    assert!(matches!(store.claim(&"".into()).await, Err(StoreError::EmptyThreadId)));

    // Of many at once one gets it.
    let mut claims = Vec::new();
    for _ in 0..8 {
        let store = Arc::clone(&store);
        claims.push(tokio::spawn(async move { store.claim(&"many".into()).await.unwrap() }));
    }
    let mut got = Vec::new();
    for claim in claims {
        got.extend(claim.await.unwrap());
    }
    assert_eq!(got.len(), 1);
}
