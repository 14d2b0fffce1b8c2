//! What every store must do, as tests; feature `contract`.
//!
//! [`thread_store_contract_tests!`](crate::thread_store_contract_tests) makes a test of each function.

#![expect(clippy::unwrap_used, reason = "these functions are bodies of tests")]

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use agui_core::{InterruptId, JsonObject, RunId, ThreadId, UnixMillis};

use crate::{
    Digest, Execution, ExecutionId, ParkedCursor, ParkedPage, ParkedThread, PendingInterrupt, StoreError,
    ThreadRecord, ThreadStore, Version,
};

/// Makes the tests that each store must pass, one `#[tokio::test]` a rule.
///
/// The argument is evaluated once a test and gives an empty store as `Arc<dyn ThreadStore>` and anything
/// that must live as long, such as a scratch directory. The calling crate needs tokio with `macros` and
/// `rt`.
///
/// ```
/// mod memory {
///     agui_store::thread_store_contract_tests!((std::sync::Arc::new(agui_store::MemoryStore::new()), ()));
/// }
/// ```
#[macro_export]
macro_rules! thread_store_contract_tests {
    ($make:expr) => {
        $crate::thread_store_contract_tests! {
            @tests $make;
            a_thread_that_was_never_saved_is_none
            a_record_is_loaded_as_it_was_saved
            a_saved_record_equals_the_loaded_one
            a_stale_writer_is_refused_and_nothing_changes
            one_of_many_writers_wins
            threads_do_not_mix
            unsafe_thread_ids_stay_distinct
            an_empty_thread_id_is_refused
            a_record_that_could_not_be_loaded_is_refused
            run_ids_are_known_for_ever
            ended_executions_are_known_for_ever
            answers_are_known_for_ever_and_belong_to_an_execution
            parked_threads_are_listed_once_over_all_pages
            the_index_follows_what_is_saved
        }
    };
    (@tests $make:expr; $($rule:ident)*) => {
        $(
            #[tokio::test]
            async fn $rule() {
                let (store, _guard) = $make;
                $crate::contract::$rule(store).await;
            }
        )*
    };
}

fn record(thread: &str) -> ThreadRecord {
    ThreadRecord::new(thread.into(), "/workspace", Execution::new("e0".into(), "inv-0".into()))
}

fn object(text: &str) -> JsonObject {
    JsonObject::from_string(text.to_owned()).unwrap()
}

fn full_record() -> ThreadRecord {
    let mut record = record("t").with_user_id("user");
    record.session_id = Some("session".into());
    record.record_run("run-b".into(), Digest::of(b"b"));
    record.record_run("run-a".into(), Digest::of(b"a"));
    record.terminal_executions = vec!["e-z".into(), "e-a".into()];
    let execution = &mut record.execution;
    execution.task_id = Some("task".into());
    execution.pipeline_sequence = u64::MAX;
    execution.open_steps = ["step:plan".into(), "candidate:c:s".into()].into();
    execution.text_digests = [Digest::of(b"text")].into();
    execution.position = Some(object(r#"{"texts":[],"artifacts":["a1"]}"#));
    let value = object(
        r#"{"inputId":"i1","kind":"permission","n":1.50,"big":123456789012345678901234567890,"e":1E400,"s":"\u00e4 { \" ä"}"#,
    );
    let announced = object(r#"{"responseSchema":{"z":1,"a":[{},[]]},"id":"i1"}"#);
    let interrupt = PendingInterrupt::new(value)
        .with_sideband()
        .with_expires_at(UnixMillis::new(1_764_523_800_120))
        .with_announced(announced, UnixMillis::new(1_764_523_260_001));
    execution.pending.insert("i1".into(), interrupt);
    execution.pending.insert("i2".into(), PendingInterrupt::new(object(r#"{"inputId":"i2"}"#)));
    record.apply_answer(&"i0".into(), Digest::of(b"answer"));
    record
}

async fn stored(store: &dyn ThreadStore, thread: &str) -> (ThreadRecord, Version) {
    let stored = store.load(&thread.into()).await.unwrap().unwrap();
    (stored.record, stored.version)
}

/// Nothing is found where nothing was put.
///
/// Example: see [`ThreadStore`].
pub async fn a_thread_that_was_never_saved_is_none(store: Arc<dyn ThreadStore>) {
    let thread = ThreadId::from("t");
    assert!(store.load(&thread).await.unwrap().is_none());
    assert_eq!(store.run_digest(&thread, &"r".into()).await.unwrap(), None);
    assert_eq!(store.applied_answer(&thread, &"i".into(), None).await.unwrap(), None);
    assert!(!store.is_terminal(&thread, &"e".into()).await.unwrap());
}

/// Every field survives, texts and digits included.
///
/// Example: see [`ThreadStore`].
pub async fn a_record_is_loaded_as_it_was_saved(store: Arc<dyn ThreadStore>) {
    let mut record = full_record();
    let version = store.save(&mut record, Version::ABSENT).await.unwrap();

    let expected = ThreadRecord { revision: 1, ..full_record() };
    assert_eq!(stored(&*store, "t").await, (expected, version));
}

/// After a save the writer's record is what a load gives, also when history left it.
///
/// Example: see [`ThreadStore`].
pub async fn a_saved_record_equals_the_loaded_one(store: Arc<dyn ThreadStore>) {
    let mut record = record("t");
    let mut version = Version::ABSENT;
    for number in 0..20 {
        record.record_run(format!("r{number}").into(), Digest::of(b"request"));
        record.apply_answer(&"i".into(), Digest::of(b"answer"));
        record.rotate(format!("e{}", number + 1).into(), "inv".into());
        version = store.save(&mut record, version).await.unwrap();
        assert_eq!(stored(&*store, "t").await, (record.clone(), version));
    }
    assert_eq!(record.revision, 20);
}

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

/// Run ids, executions and answers count within their thread only.
///
/// Source: S9.1.
pub async fn threads_do_not_mix(store: Arc<dyn ThreadStore>) {
    for (thread, content) in [("one", b"1"), ("two", b"2")] {
        let mut record = record(thread);
        record.record_run("r".into(), Digest::of(content));
        record.apply_answer(&"i".into(), Digest::of(content));
        record.mark_terminal();
        store.save(&mut record, Version::ABSENT).await.unwrap();
    }
    store.save(&mut record("three"), Version::ABSENT).await.unwrap();

    let expected = [("one", Some(Digest::of(b"1"))), ("two", Some(Digest::of(b"2"))), ("three", None)];
    for (thread, digest) in expected {
        let thread = ThreadId::from(thread);
        assert_eq!(store.run_digest(&thread, &"r".into()).await.unwrap(), digest);
        assert_eq!(store.applied_answer(&thread, &"i".into(), None).await.unwrap(), digest);
        assert_eq!(store.is_terminal(&thread, &"e0".into()).await.unwrap(), digest.is_some());
    }
}

/// Thread ids are opaque: none escapes, none is another one's neighbour.
///
/// Source: S11.7.
pub async fn unsafe_thread_ids_stay_distinct(store: Arc<dyn ThreadStore>) {
    let long = "x".repeat(300);
    let longer = "x".repeat(301);
    let upper = "X".repeat(300);
    let ids = [
        "t1",
        "T1",
        "feishu:oc_1",
        "../x",
        "..",
        ".",
        "/",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "CON",
        "con",
        "con.json",
        "Ä",
        "A\u{308}",
        " ",
        "t1 ",
        "t1.",
        "t1.json",
        "t1.runs",
        ".t1.json.lock",
        "a\0b",
        "a\nb",
        "aguiid~5431",
        "\u{202e}x",
        &long,
        &longer,
        &upper,
    ];
    let mut versions = Vec::new();
    for id in ids {
        versions.push(store.save(&mut record(id), Version::ABSENT).await.unwrap());
    }
    for (id, version) in ids.into_iter().zip(versions) {
        let (record, found) = stored(&*store, id).await;
        assert_eq!((record.thread_id.as_str(), found), (id, version));
    }
}

/// The empty id names no thread.
///
/// Source: S2.1.
pub async fn an_empty_thread_id_is_refused(store: Arc<dyn ThreadStore>) {
    let empty = ThreadId::from("");
    assert!(matches!(store.load(&empty).await, Err(StoreError::EmptyThreadId)));
    assert!(matches!(store.save(&mut record(""), Version::ABSENT).await, Err(StoreError::EmptyThreadId)));
    assert!(matches!(store.run_digest(&empty, &"r".into()).await, Err(StoreError::EmptyThreadId)));
    assert!(matches!(store.applied_answer(&empty, &"i".into(), None).await, Err(StoreError::EmptyThreadId)));
    assert!(matches!(store.is_terminal(&empty, &"e".into()).await, Err(StoreError::EmptyThreadId)));
}

/// What a load would refuse is refused before it replaces something that can be loaded.
///
/// Example: see [`ThreadStore`].
pub async fn a_record_that_could_not_be_loaded_is_refused(store: Arc<dyn ThreadStore>) {
    let mut good = record("t");
    let version = store.save(&mut good, Version::ABSENT).await.unwrap();

    let mut no_workspace = good.clone();
    no_workspace.cwd = "".into();
    let mut no_execution = good.clone();
    no_execution.execution = Execution::new("".into(), "inv".into());
    let mut no_step = good.clone();
    no_step.execution.open_steps.insert("".into());
    let mut no_run = good.clone();
    no_run.record_run("".into(), Digest::of(b"request"));
    let mut no_ended = good.clone();
    no_ended.terminal_executions.push("".into());
    let mut other_input = good.clone();
    let interrupt = PendingInterrupt::new(object(r#"{"inputId":"i2"}"#));
    other_input.execution.pending.insert("i1".into(), interrupt);
    for mut bad in [no_workspace, no_execution, no_step, no_run, no_ended, other_input] {
        let refused = store.save(&mut bad, version).await;
        assert!(matches!(refused, Err(StoreError::InvalidRecord(_))), "{bad:?}: {refused:?}");
    }

    assert_eq!(stored(&*store, "t").await, (good, version));
}

/// A run id is used up for ever, while the record stays small.
///
/// Source: S2.2.
pub async fn run_ids_are_known_for_ever(store: Arc<dyn ThreadStore>) {
    let digest = |number: usize| Digest::of(format!("request {number}").as_bytes());
    let run = |number: usize| RunId::from(format!("run-{number}"));
    let mut record = record("t");
    let mut version = Version::ABSENT;
    for number in 0..300 {
        record.record_run(run(number), digest(number));
        version = store.save(&mut record, version).await.unwrap();
    }
    assert!(record.runs.len() < 100, "{}", record.runs.len());
    for number in 0..300 {
        assert_eq!(
            store.run_digest(&"t".into(), &run(number)).await.unwrap(),
            Some(digest(number)),
            "{number}"
        );
    }
    assert_eq!(store.run_digest(&"t".into(), &run(300)).await.unwrap(), None);
}

/// A late cancel of an execution that ended long ago is told so.
///
/// Source: S10.1.
pub async fn ended_executions_are_known_for_ever(store: Arc<dyn ThreadStore>) {
    let execution = |number: usize| ExecutionId::from(format!("execution-{number}"));
    let mut record = record("t");
    let mut version = Version::ABSENT;
    for number in 0..300 {
        record.rotate(execution(number), "inv".into());
        version = store.save(&mut record, version).await.unwrap();
    }
    assert!(record.terminal_executions.len() < 100, "{}", record.terminal_executions.len());
    let thread = ThreadId::from("t");
    assert!(store.is_terminal(&thread, &"e0".into()).await.unwrap());
    for number in 0..299 {
        assert!(store.is_terminal(&thread, &execution(number)).await.unwrap(), "{number}");
    }
    assert!(!store.is_terminal(&thread, &execution(299)).await.unwrap());
    record.mark_terminal();
    store.save(&mut record, version).await.unwrap();
    assert!(store.is_terminal(&thread, &execution(299)).await.unwrap());
}

/// An answer is recognised when it comes again, within its execution and later.
///
/// Source: S8.6.
pub async fn answers_are_known_for_ever_and_belong_to_an_execution(store: Arc<dyn ThreadStore>) {
    let digest = |execution: usize, number: usize| Digest::of(format!("{execution}/{number}").as_bytes());
    let interrupt = |number: usize| InterruptId::from(format!("ask-{number}"));
    let execution = |number: usize| ExecutionId::from(format!("e{number}"));
    let thread = ThreadId::from("t");
    let mut record = record("t");
    let mut version = Version::ABSENT;
    for number in 0..2 {
        for question in 0..150 {
            record.apply_answer(&interrupt(question), digest(number, question));
            version = store.save(&mut record, version).await.unwrap();
        }
        record.rotate(execution(number + 1), "inv".into());
        version = store.save(&mut record, version).await.unwrap();
    }
    assert!(record.applied_answers.is_empty());
    for question in 0..150 {
        for number in 0..2 {
            let found = store.applied_answer(&thread, &interrupt(question), Some(&execution(number))).await;
            assert_eq!(found.unwrap(), Some(digest(number, question)));
        }
        let newest = store.applied_answer(&thread, &interrupt(question), None).await.unwrap();
        assert_eq!(newest, Some(digest(1, question)));
        let other = store.applied_answer(&thread, &interrupt(question), Some(&execution(2))).await.unwrap();
        assert_eq!(other, None);
    }
}

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
