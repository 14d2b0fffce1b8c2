//! Several writers of one thread: in one process, in two, and a program that knows no lock.

use std::fs;
use std::future::ready;
use std::time::Duration;

use agui_store::{FileStore, StoreError, ThreadStore, Version};

use crate::support::{Scratch, becomes_idle, digest, record, save_runs};

#[tokio::test]
async fn two_stores_on_one_directory_refuse_the_stale_one() {
    let scratch = Scratch::new();
    let other = scratch.other();
    let (mut mine, old) = save_runs(&scratch.store, "t", 1).await;

    let mut theirs = other.load(&"t".into()).await.unwrap().unwrap();
    theirs.record.record_run("theirs".into(), digest("theirs"));
    other.save(&mut theirs.record, theirs.version).await.unwrap();

    mine.record_run("mine".into(), digest("mine"));
    assert!(matches!(scratch.store.save(&mut mine, old).await, Err(StoreError::Conflict)));
    assert_eq!(scratch.store.load(&"t".into()).await.unwrap().unwrap().record, theirs.record);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_run_is_lost_when_two_processes_save_at_once() {
    const RUNS: usize = 12;
    let scratch = Scratch::new();
    scratch.store.save(&mut record("t"), Version::ABSENT).await.unwrap();
    let mut writers = Vec::new();
    for writer in 0..4 {
        let store = if writer % 2 == 0 { scratch.store.clone() } else { scratch.other() };
        writers.push(tokio::spawn(async move {
            for number in 0..RUNS {
                add_run(&store, &format!("w{writer}-{number}")).await;
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    for run in (0..4).flat_map(|writer| (0..RUNS).map(move |number| format!("w{writer}-{number}"))) {
        let found = scratch.store.run_digest(&"t".into(), &run.as_str().into()).await.unwrap();
        assert_eq!(found, Some(digest(&run)), "{run}");
    }
    let record = scratch.store.load(&"t".into()).await.unwrap().unwrap().record;
    assert_eq!(record.revision, 1 + 4 * u64::try_from(RUNS).unwrap());
    becomes_idle(&scratch.store).await;
}

async fn add_run(store: &FileStore, run: &str) {
    loop {
        let mut stored = store.load(&"t".into()).await.unwrap().unwrap();
        stored.record.record_run(run.into(), digest(run));
        match store.save(&mut stored.record, stored.version).await {
            Ok(_) => return,
            Err(error) => assert!(matches!(error, StoreError::Conflict), "{error:?}"),
        }
    }
}

#[tokio::test]
async fn a_program_without_our_lock_is_noticed_by_what_it_wrote() {
    let scratch = Scratch::new();
    let (mut record, version) = save_runs(&scratch.store, "t", 1).await;
    let text = fs::read_to_string(scratch.path("t.json")).unwrap();
    fs::write(scratch.path("t.json"), text.replace("\"userId\": null", "\"userId\": \"u\"")).unwrap();

    assert!(matches!(scratch.store.save(&mut record, version).await, Err(StoreError::Conflict)));
    let stored = scratch.store.load(&"t".into()).await.unwrap().unwrap();
    assert_eq!(stored.record.user_id.as_deref(), Some("u"));

    fs::remove_file(scratch.path("t.json")).unwrap();
    assert!(matches!(scratch.store.save(&mut record, stored.version).await, Err(StoreError::Conflict)));
    scratch.store.save(&mut record, Version::ABSENT).await.unwrap();
}

#[tokio::test]
async fn a_dropped_save_ends_on_its_own_and_frees_the_thread() {
    let scratch = Scratch::new();
    let mut first = record("t");
    first.record_run("r1".into(), digest("r1"));
    let mut abandoned = first.clone();
    tokio::select! {
        biased;
        saved = scratch.store.save(&mut abandoned, Version::ABSENT) => panic!("{saved:?}"),
        () = ready(()) => {}
    }

    // Waits for the abandoned one, then finds what it wrote.
    let second = scratch.store.save(&mut record("t"), Version::ABSENT).await;
    assert!(matches!(second, Err(StoreError::Conflict)), "{second:?}");
    first.revision = 1;
    assert_eq!(scratch.store.load(&"t".into()).await.unwrap().unwrap().record, first);
    becomes_idle(&scratch.store).await;
}

#[tokio::test]
async fn a_lock_of_another_process_that_never_ends_is_given_up() {
    let scratch = Scratch::new();
    let lock = fs::File::create(scratch.path(".t.json.lock")).unwrap();
    lock.lock().unwrap();
    let patience = Duration::from_millis(1);
    let impatient = scratch.store.clone().with_lock_patience(patience);
    let refused = impatient.save(&mut record("t"), Version::ABSENT).await;
    assert!(matches!(refused, Err(StoreError::Locked(waited)) if waited == patience), "{refused:?}");

    drop(lock);
    scratch.store.save(&mut record("t"), Version::ABSENT).await.unwrap();
}

#[tokio::test]
async fn weakness_15_a_thread_that_one_process_runs_is_not_given_to_another() {
    let scratch = Scratch::new();
    let other = scratch.other();
    for thread in ["t", "T", "feishu:oc_1"].map(Into::into) {
        let claim = scratch.store.claim(&thread).await.unwrap();
        assert!(claim.is_some());
        assert!(other.claim(&thread).await.unwrap().is_none(), "{thread}");
        drop(claim);
        assert!(other.claim(&thread).await.unwrap().is_some(), "{thread}");
    }
    assert!(other.load(&"t".into()).await.unwrap().is_none(), "a claim is no thread");
}
