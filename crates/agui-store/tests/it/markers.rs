//! The markers of threads that wait: cheap, durable before the question is shown, never in the way.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;

use agui_store::{
    Digest, Entry, Failpoints, FileStore, Step, StoreError, ThreadRecord, ThreadStore, Version, WriteTotals,
};

use crate::support::{Scratch, parked, record};

/// Tells the child process of a test which directory to write to.
const CHILD_DIRECTORY: &str = "AGUI_STORE_MARKER_DIRECTORY";

fn markers(state_dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(state_dir.join("parked")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// The threads that the index gives, and how many it could not read.
async fn index(store: &FileStore) -> (Vec<String>, usize) {
    let page = store.parked_index(None, NonZeroUsize::MAX).await.unwrap();
    (page.threads.iter().map(|thread| thread.thread_id.to_string()).collect(), page.unreadable)
}

fn answer(record: &mut ThreadRecord) {
    record.apply_answer(&"i".into(), Digest::of(b"answer"));
}

/// What a save that turns the thread `t` into `record` costs.
async fn cost(store: &FileStore, record: &mut ThreadRecord, version: &mut Version) -> WriteTotals {
    let before = store.write_totals();
    *version = store.save(record, *version).await.unwrap();
    let mut cost = store.write_totals();
    cost.bytes = 0;
    cost.syncs -= before.syncs;
    cost.documents -= before.documents;
    cost
}

#[tokio::test]
async fn parking_costs_one_sync_more_and_nothing_else_does() {
    let scratch = Scratch::new();
    let (mut record, mut version) = (record("t"), Version::ABSENT);
    let plain = cost(&scratch.store, &mut record, &mut version).await;
    record.execution.pending = parked("t").execution.pending;
    let parking = cost(&scratch.store, &mut record, &mut version).await;
    assert_eq!(markers(scratch.state_dir()), ["t"]);
    record.record_run("r".into(), Digest::of(b"r"));
    let while_parked = cost(&scratch.store, &mut record, &mut version).await;
    answer(&mut record);
    let answered = cost(&scratch.store, &mut record, &mut version).await;

    assert_eq!(markers(scratch.state_dir()), [""; 0]);
    assert_eq!(parking.syncs, plain.syncs + 1);
    assert_eq!([while_parked, answered], [plain, plain]);
    assert_eq!(parking.documents, plain.documents);
}

#[tokio::test]
async fn s11_3_the_index_reads_no_thread_that_does_not_wait() {
    let scratch = Scratch::new();
    for thread in ["a", "B", "c:d"] {
        scratch.store.save(&mut parked(thread), Version::ABSENT).await.unwrap();
    }
    // Whoever opens any of these fails.
    for name in ["x.json", "y.json"] {
        fs::write(scratch.path(name), "{broken").unwrap();
    }
    let store = scratch.other();
    let (mut threads, unreadable) = index(&store).await;
    threads.sort_unstable();
    assert_eq!((threads, unreadable), (vec!["B".to_owned(), "a".to_owned(), "c:d".to_owned()], 0));
    assert_eq!(store.parked(None, NonZeroUsize::MAX).await.unwrap().unreadable, 2);
}

#[tokio::test]
async fn a_marker_whose_thread_does_not_wait_is_dropped() {
    let scratch = Scratch::new();
    let marker = |name: &str| fs::write(scratch.state_dir().join("parked").join(name), "").unwrap();
    scratch.store.save(&mut record("idle"), Version::ABSENT).await.unwrap();
    scratch.store.save(&mut parked("waits"), Version::ABSENT).await.unwrap();
    marker("idle");
    marker("gone");
    assert_eq!(index(&scratch.store).await, (vec!["waits".to_owned()], 0));
    assert_eq!(markers(scratch.state_dir()), ["waits"]);
}

#[tokio::test]
async fn a_marker_is_kept_while_its_thread_is_being_saved_or_cannot_be_read() {
    let scratch = Scratch::new();
    let marker = |name: &str| fs::write(scratch.state_dir().join("parked").join(name), "").unwrap();
    scratch.store.save(&mut record("busy"), Version::ABSENT).await.unwrap();
    marker("busy");
    fs::write(scratch.path("damaged.json"), "{").unwrap();
    marker("damaged");
    let lock = fs::File::open(scratch.path(".busy.json.lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(index(&scratch.store).await, (vec![], 1));
    assert_eq!(markers(scratch.state_dir()), ["busy", "damaged"]);
    drop(lock);
    assert_eq!(index(&scratch.store).await, (vec![], 1));
    assert_eq!(markers(scratch.state_dir()), ["damaged"]);
}

#[tokio::test]
async fn a_thread_that_another_program_parked_is_marked_when_it_is_saved_here() {
    let scratch = Scratch::new();
    let mut record = parked("t");
    let version = scratch.store.save(&mut record, Version::ABSENT).await.unwrap();
    fs::remove_file(scratch.state_dir().join("parked/t")).unwrap();
    assert_eq!(index(&scratch.store).await, (vec![], 0));
    assert_eq!(scratch.store.parked(None, NonZeroUsize::MAX).await.unwrap().threads.len(), 1);

    record.record_run("r".into(), Digest::of(b"r"));
    scratch.store.save(&mut record, version).await.unwrap();
    assert_eq!(index(&scratch.store).await, (vec!["t".to_owned()], 0));
}

#[cfg(unix)]
#[tokio::test]
async fn s11_7_a_link_for_a_marker_is_not_followed() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new();
    let outside = scratch.state_dir().join("outside");
    fs::write(&outside, "precious").unwrap();
    let link = scratch.state_dir().join("parked/t");
    for target in [outside.as_path(), Path::new("nowhere")] {
        symlink(target, &link).unwrap();
        let refused = scratch.store.save(&mut parked("t"), Version::ABSENT).await;
        assert!(matches!(refused, Err(StoreError::WrongKind(Entry::Marker))), "{refused:?}");
        assert!(!scratch.path("t.json").exists(), "what cannot be marked is not parked");
        fs::remove_file(&link).unwrap();
    }
    symlink(&outside, &link).unwrap();
    scratch.store.save(&mut record("t"), Version::ABSENT).await.unwrap();
    assert!(fs::symlink_metadata(&link).is_err(), "the link goes, not what it leads to");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "precious");
}

#[tokio::test]
async fn s11_6_a_thread_that_cannot_be_marked_is_not_parked() {
    for point in ["store.before_marker", "store.after_marker"] {
        let scratch = Scratch::new();
        let failpoints: Failpoints = format!("{point}:error@1").parse().unwrap();
        let store = FileStore::open_with_failpoints(scratch.state_dir(), failpoints).unwrap();
        let mut record = parked("t");
        let failed = store.save(&mut record, Version::ABSENT).await;
        assert!(matches!(failed, Err(StoreError::Io { step: Step::Mark, .. })), "{point}: {failed:?}");
        assert!(!scratch.path("t.json").exists(), "{point}");
        assert_eq!(markers(scratch.state_dir()), [""; 0], "{point}");

        store.save(&mut record, Version::ABSENT).await.unwrap();
        assert_eq!(index(&store).await, (vec!["t".to_owned()], 0), "{point}");
    }
}

#[tokio::test]
async fn a_process_that_dies_around_a_marker_leaves_none_missing() {
    // The point, what the child does to the thread, whether the thread waits afterwards.
    let cases = [
        ("store.before_marker", "park", false),
        ("store.after_marker", "park", false),
        ("store.before_rename", "park", false),
        ("store.done", "park", true),
        ("store.before_rename", "answer", true),
        ("store.before_unmark", "answer", false),
    ];
    for (point, action, waits) in cases {
        let scratch = Scratch::new();
        let mut before = if action == "park" { record("t") } else { parked("t") };
        scratch.store.save(&mut before, Version::ABSENT).await.unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "markers::child_process_of_the_marker_test", "--nocapture"])
            .env(CHILD_DIRECTORY, scratch.state_dir())
            .env("AGUI_FAILPOINT", format!("{point}:kill"))
            .output()
            .unwrap();
        assert_eq!(child.status.code(), None, "{point}, {action}: {child:?}");

        let store = scratch.other();
        let expected = if waits { vec!["t".to_owned()] } else { vec![] };
        assert_eq!(index(&store).await, (expected.clone(), 0), "{point}, {action}");
        assert_eq!(markers(scratch.state_dir()), expected, "{point}, {action}");
    }
}

/// Does something only in the process that the test above starts: parks an idle thread, or answers.
#[tokio::test]
async fn child_process_of_the_marker_test() {
    let Some(directory) = std::env::var_os(CHILD_DIRECTORY) else { return };
    let store = FileStore::open(Path::new(&directory)).unwrap();
    let mut stored = store.load(&"t".into()).await.unwrap().unwrap();
    if stored.record.execution.pending.is_empty() {
        stored.record.execution.pending = parked("t").execution.pending;
    } else {
        answer(&mut stored.record);
    }
    store.save(&mut stored.record, stored.version).await.unwrap();
}
