//! What is loaded is what was saved, under any thread id.

use std::sync::Arc;

use agui_core::{ThreadId, UnixMillis};

use super::{object, record, stored};
use crate::{Digest, Execution, PendingInterrupt, StoreError, ThreadRecord, ThreadStore, Version};

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
