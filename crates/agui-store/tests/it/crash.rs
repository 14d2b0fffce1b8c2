//! A save that is stopped at any step leaves the old thread or the new one, never something between.

use std::path::Path;
use std::process::Command;

use agui_store::{Failpoints, FileStore, Step, StoreError, ThreadRecord, ThreadStore};

use crate::support::{Scratch, becomes_idle, digest, record, save_runs};

/// Tells the child process of a test which directory to write to.
const CHILD_DIRECTORY: &str = "AGUI_STORE_CRASH_DIRECTORY";

/// Runs of the thread before the crash; the next one moves two entries to the history.
const RUNS: usize = 8;

struct Case {
    point: &'static str,
    step: Step,
    /// Whether the new document is there afterwards.
    replaced: bool,
}

const fn case(point: &'static str, step: Step, replaced: bool) -> Case {
    Case { point, step, replaced }
}

const CASES: [Case; 9] = [
    case("store.before_history", Step::AppendHistory, false),
    case("store.during_history", Step::AppendHistory, false),
    case("store.after_history", Step::AppendHistory, false),
    case("store.before_temp", Step::CreateTemp, false),
    case("store.during_temp", Step::WriteTemp, false),
    case("store.before_temp_sync", Step::SyncTemp, false),
    case("store.before_rename", Step::Rename, false),
    case("store.before_directory_sync", Step::SyncDirectory, true),
    case("store.done", Step::SyncDirectory, true),
];

fn change(record: &mut ThreadRecord) {
    record.record_run("new".into(), digest("new"));
    record.rotate("e-new".into(), "inv".into());
}

fn changed(mut record: ThreadRecord) -> ThreadRecord {
    change(&mut record);
    drop(record.retire_history());
    record.revision += 1;
    record
}

/// What must hold whatever happened: no run is forgotten, and the thread can be saved again.
async fn assert_sound(directory: &Path, expected: ThreadRecord) {
    let store = FileStore::open_with_failpoints(directory, Failpoints::default()).unwrap();
    let mut stored = store.load(&"t".into()).await.unwrap().unwrap();
    assert_eq!(stored.record, expected);
    change(&mut stored.record);
    let version = store.save(&mut stored.record, stored.version).await.unwrap();
    assert_eq!(store.load(&"t".into()).await.unwrap().unwrap().version, version);
    for run in (0..RUNS).map(|number| format!("r{number}")).chain(["new".to_owned()]) {
        assert_eq!(
            store.run_digest(&"t".into(), &run.as_str().into()).await.unwrap(),
            Some(digest(&run)),
            "{run}"
        );
    }
    assert!(store.is_terminal(&"t".into(), &"e0".into()).await.unwrap());
}

#[tokio::test]
async fn a_failed_step_leaves_the_old_thread() {
    for Case { point, step, replaced } in CASES {
        let scratch = Scratch::new();
        let (old, version) = save_runs(&scratch.store, "t", RUNS).await;
        let failpoints: Failpoints = format!("{point}:error").parse().unwrap();
        let store = FileStore::open_with_failpoints(scratch.state_dir(), failpoints).unwrap();

        let mut record = old.clone();
        change(&mut record);
        let before = record.clone();
        let failed = store.save(&mut record, version).await;

        assert!(
            matches!(&failed, Err(StoreError::Io { step: found, .. }) if *found == step),
            "{point}: {failed:?}"
        );
        assert_eq!(record, before, "{point}");
        assert!(!scratch.path(".t.json.tmp").exists(), "{point}");
        becomes_idle(&store).await;
        assert_sound(scratch.state_dir(), if replaced { changed(old) } else { old }).await;
    }
}

#[tokio::test]
async fn c73_a_process_that_dies_in_a_save_leaves_the_old_thread_or_the_new_one() {
    for Case { point, replaced, .. } in CASES {
        let scratch = Scratch::new();
        let (old, _) = save_runs(&scratch.store, "t", RUNS).await;

        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::child_process_of_the_crash_test", "--nocapture"])
            .env(CHILD_DIRECTORY, scratch.state_dir())
            .env("AGUI_FAILPOINT", format!("other.point:kill,{point}:kill"))
            .output()
            .unwrap();
        assert!(!child.status.success(), "{point}: {child:?}");
        assert_eq!(child.status.code(), None, "{point}: {child:?}");

        assert_sound(scratch.state_dir(), if replaced { changed(old) } else { old }).await;
    }
}

/// Does something only in the process that the test above starts.
#[tokio::test]
async fn child_process_of_the_crash_test() {
    let Some(directory) = std::env::var_os(CHILD_DIRECTORY) else { return };
    let store = FileStore::open(Path::new(&directory)).unwrap();
    let mut stored = store.load(&"t".into()).await.unwrap().unwrap();
    change(&mut stored.record);
    store.save(&mut stored.record, stored.version).await.unwrap();
}

#[tokio::test]
async fn c74_a_rename_is_tried_again_while_the_document_is_in_use() {
    let scratch = Scratch::new();
    let failpoints: Failpoints = "store.before_rename:busy@3".parse().unwrap();
    let store = FileStore::open_with_failpoints(scratch.state_dir(), failpoints).unwrap();
    let mut saved = record("t");
    store.save(&mut saved, agui_store::Version::ABSENT).await.unwrap();
    assert_eq!(store.load(&"t".into()).await.unwrap().unwrap().record, saved);
}

#[tokio::test]
async fn a_failpoint_can_wait_for_its_turn() {
    let scratch = Scratch::new();
    let failpoints: Failpoints = "store.before_rename:error@2".parse().unwrap();
    let store = FileStore::open_with_failpoints(scratch.state_dir(), failpoints).unwrap();
    let mut record = record("t");
    let version = store.save(&mut record, agui_store::Version::ABSENT).await.unwrap();
    assert!(store.save(&mut record, version).await.is_err());
    assert!(store.save(&mut record, version).await.is_ok());
}

#[test]
fn a_misspelt_failpoint_is_refused() {
    for list in [
        "store.before_lunch:kill",
        "store.done:explode",
        "store.done",
        "store.done:kill@x",
        "store.done:busy",
    ] {
        assert!(list.parse::<Failpoints>().is_err(), "{list}");
    }
}
