//! Every thread file that iac-code's adapter wrote in the recorded exchanges.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agui_store::{ContextId, Corruption, StoreError, ThreadStore};
use serde_json::Value;

use crate::support::Scratch;

fn recorded() -> Vec<PathBuf> {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces");
    let scenarios = fs::read_dir(traces).unwrap().map(|entry| entry.unwrap().path().join("state"));
    let files = scenarios.filter(|state| state.is_dir()).flat_map(|state| fs::read_dir(state).unwrap());
    files.map(|entry| entry.unwrap().path()).collect()
}

fn json(path: &Path) -> BTreeMap<String, Value> {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[tokio::test]
async fn recorded_threads_are_loaded_and_saved_without_a_change_to_what_iac_code_knows() {
    let mut loaded = 0;
    for path in recorded() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let scratch = Scratch::new();
        fs::copy(&path, scratch.path(name)).unwrap();
        if fs::read_to_string(&path).unwrap() == "{broken" {
            let refused = scratch.store.load(&"thread-n6".into()).await;
            let Err(StoreError::Corrupt { corruption: Corruption::NotJson, .. }) = refused else {
                panic!("{refused:?}")
            };
            continue;
        }
        let before = json(&path);
        let thread = before["threadId"].as_str().unwrap().into();
        let mut stored = scratch.store.load(&thread).await.unwrap().unwrap();
        assert_eq!(stored.record.context_id, ContextId::for_thread(&thread), "{name}");
        scratch.store.save(&mut stored.record, stored.version).await.unwrap();

        let mut after = json(&scratch.path(name));
        after.remove("aguiServer").unwrap();
        assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
        for (key, value) in &before {
            match key.as_str() {
                "runDigests" => assert_subset(&after[key], value),
                "terminalExecutionIds" => assert_subset_of_list(&after[key], value),
                "appliedResumeDigests" => assert_eq!(after[key], of_newest_execution(&before), "{name}"),
                _ => assert_eq!(&after[key], value, "{name} {key}"),
            }
        }
        for (run, digest) in before["runDigests"].as_object().unwrap() {
            let found = scratch.store.run_digest(&thread, &run.as_str().into()).await.unwrap().unwrap();
            assert_eq!(found.to_string(), digest.as_str().unwrap());
        }
        for execution in before["terminalExecutionIds"].as_array().unwrap() {
            assert!(scratch.store.is_terminal(&thread, &execution.as_str().unwrap().into()).await.unwrap());
        }
        loaded += 1;
    }
    assert!(loaded > 50, "{loaded} threads");
}

/// Answers to earlier executions leave the document: nobody asks it for them.
fn of_newest_execution(document: &BTreeMap<String, Value>) -> Value {
    let newest = &document["execution"]["executionId"];
    let answers = document["appliedResumeDigests"].as_array().unwrap();
    answers.iter().filter(|answer| &answer["executionId"] == newest).cloned().collect()
}

fn assert_subset(part: &Value, whole: &Value) {
    for (key, value) in part.as_object().unwrap() {
        assert_eq!(whole.get(key), Some(value));
    }
}

fn assert_subset_of_list(part: &Value, whole: &Value) {
    for value in part.as_array().unwrap() {
        assert!(whole.as_array().unwrap().contains(value));
    }
}

#[tokio::test]
async fn numbers_and_texts_of_a_recorded_question_keep_their_spelling() {
    let path = recorded().into_iter().find(|path| path.ends_with("thread-o5.json")).unwrap();
    let scratch = Scratch::new();
    fs::copy(&path, scratch.path("thread-o5.json")).unwrap();
    let mut stored = scratch.store.load(&"thread-o5".into()).await.unwrap().unwrap();
    let [pending] = &stored.record.execution.pending.values().cloned().collect::<Vec<_>>()[..] else {
        panic!("{:?}", stored.record)
    };
    assert!(pending.sideband);
    assert_eq!(pending.expires_at, None);
    assert!(pending.value.get().contains(r#""schemaVersion":1.0,"#), "{}", pending.value.get());

    scratch.store.save(&mut stored.record, stored.version).await.unwrap();
    let written = fs::read_to_string(scratch.path("thread-o5.json")).unwrap();
    for line in fs::read_to_string(&path).unwrap().lines() {
        let token = line.trim();
        assert!(written.contains(token), "{token}");
    }
}
