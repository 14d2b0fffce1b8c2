//! What stands in the state directory, and what is refused there.

use std::fs;
use std::num::NonZeroUsize;

use agui_store::{Corruption, Entry, FileStore, StoreError, ThreadStore, Version};

use crate::support::{Scratch, digest, parked, record, save_runs};

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::{Path, PathBuf};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn all_below(path: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(all_below(&path));
            }
            found.push(path);
        }
        found
    }

    #[tokio::test]
    async fn s11_7_directories_are_0700_and_files_0600() {
        let outer = tempfile::tempdir().unwrap();
        let state_dir = outer.path().join("new/state");
        let store = FileStore::open(&state_dir).unwrap();
        save_runs(&store, "t", 6).await;
        store.save(&mut parked("u"), Version::ABSENT).await.unwrap();

        let found = all_below(&outer.path().join("new"));
        let names = [".t.json.lock", "t.json", "t.runs", "threads", "parked", "parked/u", "state"];
        for name in names {
            assert!(found.iter().any(|path| path.ends_with(name)), "{name} in {found:?}");
        }
        for path in found {
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode(&path), expected, "{}", path.display());
        }
    }

    #[tokio::test]
    async fn s11_7_what_others_could_read_is_made_private() {
        let scratch = Scratch::new();
        save_runs(&scratch.store, "t", 1).await;
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        set(&scratch.path("t.json"), 0o644);
        set(&scratch.path(""), 0o755);
        set(scratch.state_dir(), 0o777);

        let store = scratch.other();
        store.load(&"t".into()).await.unwrap().unwrap();

        assert_eq!(mode(&scratch.path("t.json")), 0o600);
        assert_eq!(mode(&scratch.path("")), 0o700);
        assert_eq!(mode(scratch.state_dir()), 0o700);
    }

    #[test]
    fn s11_7_a_link_for_the_directory_of_threads_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        for (name, entry) in [("threads", Entry::ThreadsDirectory), ("parked", Entry::ParkedDirectory)] {
            for target in [elsewhere.path(), Path::new("/nonexistent"), Path::new("other")] {
                let link = directory.path().join(name);
                fs::remove_dir(&link).ok();
                symlink(target, &link).unwrap();
                let refused = FileStore::open(directory.path());
                assert!(
                    matches!(&refused, Err(StoreError::WrongKind(found)) if *found == entry),
                    "{refused:?}"
                );
                fs::remove_file(&link).unwrap();
            }
        }
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn the_state_directory_itself_may_be_reached_through_a_link() {
        let outer = tempfile::tempdir().unwrap();
        fs::create_dir(outer.path().join("real")).unwrap();
        symlink("real", outer.path().join("link")).unwrap();
        let store = FileStore::open(&outer.path().join("link")).unwrap();
        store.save(&mut record("t"), Version::ABSENT).await.unwrap();
        assert!(outer.path().join("real/threads/t.json").is_file());
    }

    #[tokio::test]
    async fn s11_7_a_link_for_a_document_is_refused_wherever_it_leads() {
        let scratch = Scratch::new();
        save_runs(&scratch.store, "other", 1).await;
        let outside = scratch.state_dir().join("outside.json");
        fs::copy(scratch.path("other.json"), &outside).unwrap();
        let before = fs::read(&outside).unwrap();

        for target in [outside.as_path(), Path::new("other.json"), Path::new("nowhere.json")] {
            symlink(target, scratch.path("t.json")).unwrap();
            for result in [
                scratch.store.load(&"t".into()).await.map(drop),
                scratch.store.run_digest(&"t".into(), &"r".into()).await.map(drop),
                scratch.store.save(&mut record("t"), Version::ABSENT).await.map(drop),
            ] {
                assert!(matches!(result, Err(StoreError::WrongKind(Entry::Document))), "{result:?}");
            }
            fs::remove_file(scratch.path("t.json")).unwrap();
        }
        assert_eq!(fs::read(&outside).unwrap(), before);
        assert!(!scratch.path("nowhere.json").exists());
    }

    #[tokio::test]
    async fn s11_7_a_link_for_the_lock_file_is_refused() {
        let scratch = Scratch::new();
        for target in ["outside", "../outside", "t.json"] {
            symlink(target, scratch.path(".t.json.lock")).unwrap();
            let refused = scratch.store.save(&mut record("t"), Version::ABSENT).await;
            assert!(matches!(refused, Err(StoreError::WrongKind(Entry::LockFile))), "{refused:?}");
            fs::remove_file(scratch.path(".t.json.lock")).unwrap();
        }
        assert!(!scratch.path("outside").exists() && !scratch.state_dir().join("outside").exists());
        assert!(!scratch.path("t.json").exists());
    }

    #[tokio::test]
    async fn s11_7_a_link_for_the_temporary_file_is_not_followed() {
        let scratch = Scratch::new();
        let outside = scratch.state_dir().join("outside");
        fs::write(&outside, "precious").unwrap();
        for target in [outside.as_path(), Path::new("nowhere")] {
            symlink(target, scratch.path(".t.json.tmp")).unwrap();
            let version = scratch
                .store
                .load(&"t".into())
                .await
                .unwrap()
                .map_or(Version::ABSENT, |stored| stored.version);
            scratch.store.save(&mut record("t"), version).await.unwrap();
            assert!(fs::symlink_metadata(scratch.path("t.json")).unwrap().is_file());
        }
        assert_eq!(fs::read_to_string(&outside).unwrap(), "precious");
        assert!(!scratch.path("nowhere").exists());
    }

    #[tokio::test]
    async fn s11_7_links_in_the_history_are_refused() {
        let scratch = Scratch::new();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), scratch.path("t.runs")).unwrap();
        let (mut record, version) = save_runs(&scratch.store, "t", 4).await;
        record.record_run("r4".into(), digest("r4"));
        let refused = scratch.store.save(&mut record, version).await;
        assert!(matches!(refused, Err(StoreError::WrongKind(Entry::HistoryDirectory))), "{refused:?}");
        let refused = scratch.store.run_digest(&"t".into(), &"x".into()).await;
        assert!(matches!(refused, Err(StoreError::WrongKind(Entry::HistoryDirectory))), "{refused:?}");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);

        fs::remove_file(scratch.path("t.runs")).unwrap();
        scratch.store.save(&mut record, version).await.unwrap();
        let file = all_below(&scratch.path("t.runs")).pop().unwrap();
        fs::rename(&file, scratch.path("moved")).unwrap();
        symlink("../moved", &file).unwrap();
        let refused = scratch.store.run_digest(&"t".into(), &"r0".into()).await;
        assert!(matches!(refused, Err(StoreError::WrongKind(Entry::HistoryFile))), "{refused:?}");
    }
}

#[tokio::test]
async fn a_directory_in_the_place_of_a_file_is_refused() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("t.json")).unwrap();
    let refused = scratch.store.load(&"t".into()).await;
    assert!(matches!(refused, Err(StoreError::WrongKind(Entry::Document))), "{refused:?}");
}

#[tokio::test]
async fn the_leftover_of_a_crash_is_harmless() {
    let scratch = Scratch::new();
    let (mut record, version) = save_runs(&scratch.store, "t", 1).await;
    fs::write(scratch.path(".t.json.tmp"), "{\"half").unwrap();
    fs::write(scratch.path(".t.json.k2x9_a1b.tmp"), "{\"half").unwrap();

    assert_eq!(scratch.store.load(&"t".into()).await.unwrap().unwrap().record, record);
    scratch.store.save(&mut record, version).await.unwrap();
    let page = scratch.store.parked(None, NonZeroUsize::MAX).await.unwrap();

    assert_eq!((page.threads.len(), page.unreadable), (0, 0));
    assert!(!scratch.path(".t.json.tmp").exists());
}

#[tokio::test]
async fn s11_2_a_document_of_another_thread_is_refused() {
    let scratch = Scratch::new();
    save_runs(&scratch.store, "t", 1).await;
    fs::copy(scratch.path("t.json"), scratch.path("u.json")).unwrap();
    let refused = scratch.store.load(&"u".into()).await;
    let corruption = Corruption::OtherThread;
    assert!(
        matches!(&refused, Err(StoreError::Corrupt { entry: Entry::Document, corruption: found }) if *found == corruption),
        "{refused:?}"
    );
    let page = scratch.store.parked(None, NonZeroUsize::MAX).await.unwrap();
    assert_eq!(page.unreadable, 1);
}

#[tokio::test]
async fn c06_an_unreadable_document_is_an_error_and_stays_as_it_is() {
    let scratch = Scratch::new();
    fs::write(scratch.path("t.json"), "{broken: \"hunter2\"").unwrap();
    let load = scratch.store.load(&"t".into()).await.map(drop);
    let save = scratch.store.save(&mut record("t"), Version::ABSENT).await.map(drop);
    let run = scratch.store.run_digest(&"t".into(), &"r".into()).await.map(drop);

    let Err(error @ StoreError::Corrupt { corruption: Corruption::NotJson, .. }) = load else {
        panic!("{load:?}")
    };
    assert_eq!(error.to_string(), "the thread document is damaged: not a JSON object");
    assert!(!format!("{error:?}").contains("hunter2"));
    assert!(matches!(save, Err(StoreError::Conflict)), "{save:?}");
    assert!(matches!(run, Err(StoreError::Corrupt { .. })), "{run:?}");
    assert_eq!(fs::read_to_string(scratch.path("t.json")).unwrap(), "{broken: \"hunter2\"");
}

#[tokio::test]
async fn c76_thread_ids_get_these_file_names() {
    let scratch = Scratch::new();
    let cases = [
        ("t1", "t1.json"),
        ("T1", "aguiid~5431.json"),
        ("feishu:oc_1", "aguiid~6665697368753a6f635f31.json"),
        ("../x", "aguiid~2e2e2f78.json"),
        ("CON", "aguiid~434f4e.json"),
        ("a/b", "aguiid~612f62.json"),
        ("\u{c4}", "aguiid~c384.json"),
        ("A\u{308}", "aguiid~41cc88.json"),
        (" ", "aguiid~20.json"),
        ("t1.", "aguiid~74312e.json"),
        (&"x".repeat(300), "aguihash~0d4e2ca9e9cbced7a7a5380eb29e1a3783b9b6d0db72de36a1051038e1c1fbc7.json"),
    ];
    for (id, _) in cases {
        scratch.store.save(&mut record(id), Version::ABSENT).await.unwrap();
    }
    let mut expected: Vec<&str> = cases.iter().map(|(_, name)| *name).collect();
    let files = fs::read_dir(scratch.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<String> = files.filter(|name| name.ends_with(".json")).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_long_thread_that_iac_code_stored_is_found_and_kept_under_its_name() {
    let scratch = Scratch::new();
    let id = "x".repeat(210);
    let (mut record, version) = save_runs(&scratch.store, &id, 6).await;
    let hashed = fs::read_dir(scratch.path("")).unwrap().map(|entry| entry.unwrap().path());
    let hashed = hashed.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let hashed: Vec<_> = hashed.collect();
    assert!(hashed[0].file_name().unwrap().to_str().unwrap().starts_with("aguihash~"), "{hashed:?}");

    let legacy = format!("{id}.json");
    fs::rename(&hashed[0], scratch.path(&legacy)).unwrap();
    let found = scratch.store.load(&id.as_str().into()).await.unwrap().unwrap();
    assert_eq!((&found.record, found.version), (&record, version));

    record.record_run("r6".into(), digest("r6"));
    scratch.store.save(&mut record, version).await.unwrap();
    assert!(!hashed[0].exists());
    assert_eq!(scratch.other().load(&id.as_str().into()).await.unwrap().unwrap().record, record);
}

#[tokio::test]
async fn a_damaged_history_file_is_an_error_and_not_an_unknown_run() {
    let scratch = Scratch::new();
    save_runs(&scratch.store, "t", 5).await;
    let file = fs::read_dir(scratch.path("t.runs")).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&file).unwrap();
    let known = || async { scratch.store.run_digest(&"t".into(), &"r0".into()).await };
    assert_eq!(known().await.unwrap(), Some(digest("r0")));

    let mut damaged = whole.clone();
    damaged[10] ^= 1;
    fs::write(&file, damaged).unwrap();
    let refused = known().await;
    let Err(StoreError::Corrupt { entry: Entry::HistoryFile, corruption: Corruption::HistoryLine }) = refused
    else {
        panic!("{refused:?}")
    };

    // Half a line is what a crash leaves behind a line that was never announced.
    let torn = [&whole[..], &whole[..whole.len() / 2]].concat();
    fs::write(&file, torn).unwrap();
    assert_eq!(known().await.unwrap(), Some(digest("r0")));
}

#[tokio::test]
async fn a_torn_line_is_cut_off_before_the_next_one_is_appended() {
    let scratch = Scratch::new();
    let (mut record, version) = save_runs(&scratch.store, "t", 5).await;
    let file = fs::read_dir(scratch.path("t.runs")).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, [&whole[..], b"r 0123"].concat()).unwrap();

    // The same run id again lands in the same file.
    record.runs.insert(0, agui_store::RecordedRun::new("r0".into(), digest("r0")));
    scratch.store.save(&mut record, version).await.unwrap();

    assert_eq!(fs::read(&file).unwrap(), [&whole[..], &whole[..]].concat());
    assert_eq!(scratch.store.run_digest(&"t".into(), &"r0".into()).await.unwrap(), Some(digest("r0")));
}
