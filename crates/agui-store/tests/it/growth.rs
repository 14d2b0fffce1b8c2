//! The age of a thread does not make its runs slow.

use std::fs;

use agui_store::{Digest, Execution, FileStore, ThreadRecord, ThreadStore, Version, WriteTotals};
use serde_json::json;

use crate::support::Scratch;

const OLD_RUNS: usize = 10_000;

/// An id as long as the ones that clients and the adapter make.
fn uuid(kind: &str, number: usize) -> String {
    format!("{kind}{number:07}-0000-4000-8000-000000000000")
}

fn run_id(number: usize) -> String {
    uuid("a", number)
}

/// The saves of one ordinary run: admitted, task known, session known, ended.
async fn one_run(store: &FileStore, thread: &str, number: usize) -> WriteTotals {
    let before = store.write_totals();
    let execution = uuid("b", number);
    let (mut record, mut version) = match store.load(&thread.into()).await.unwrap() {
        Some(mut stored) => {
            stored.record.rotate(execution.as_str().into(), "invocation".into());
            (stored.record, stored.version)
        }
        None => {
            let execution = Execution::new(execution.as_str().into(), "invocation".into());
            (ThreadRecord::new(thread.into(), "/workspace", execution), Version::ABSENT)
        }
    };
    let changes: [&dyn Fn(&mut ThreadRecord); 4] = [
        &|record| record.record_run(run_id(number).into(), Digest::of(b"request")),
        &|record| record.execution.task_id = Some(uuid("c", number).into()),
        &|record| record.session_id = Some(uuid("d", 0).into()),
        &ThreadRecord::mark_terminal,
    ];
    for change in changes {
        change(&mut record);
        version = store.save(&mut record, version).await.unwrap();
    }
    let after = store.write_totals();
    let mut run = WriteTotals::default();
    run.bytes = after.bytes - before.bytes;
    run.syncs = after.syncs - before.syncs;
    run.documents = after.documents - before.documents;
    run
}

/// A document as iac-code leaves it after thousands of runs, which it never trims.
fn grown_document() -> String {
    let digest = Digest::of(b"request").to_string();
    let runs: serde_json::Map<_, _> = (0..OLD_RUNS).map(|run| (run_id(run), json!(digest))).collect();
    let answers = (0..OLD_RUNS).map(|number| {
        json!({"digest": digest, "executionId": uuid("b", number), "interruptId": format!("i{number}")})
    });
    let document = json!({
        "appliedResumeDigests": answers.collect::<Vec<_>>(),
        "contextId": "agui-old",
        "cwd": "/workspace",
        "execution": {
            "executionId": uuid("b", OLD_RUNS - 1), "pending": {}, "pipelineOpenSteps": [], "pipelineSequence": 0,
            "rosInvocationId": "invocation", "taskId": null, "textSnapshotDigests": [],
        },
        "iacCodeSessionId": null,
        "runDigests": runs,
        "schemaVersion": 1,
        "terminalExecutionIds": (0..OLD_RUNS).map(|number| uuid("b", number)).collect::<Vec<_>>(),
        "threadId": "old",
        "userId": null,
    });
    serde_json::to_string_pretty(&document).unwrap()
}

#[tokio::test]
async fn ten_thousand_earlier_runs_do_not_double_what_a_run_writes() {
    let scratch = Scratch::new();
    let store = &scratch.store;
    let fresh = one_run(store, "fresh", 0).await;

    fs::write(scratch.path("old.json"), grown_document()).unwrap();
    // The first run moves the history aside once.
    one_run(store, "old", OLD_RUNS).await;
    for number in 1..=20 {
        let old = one_run(store, "old", OLD_RUNS + number).await;
        assert!(old.bytes <= 2 * fresh.bytes, "{old:?} against {fresh:?}");
        assert!(old.syncs <= 2 * fresh.syncs, "{old:?} against {fresh:?}");
        assert_eq!(old.documents, fresh.documents);
    }

    let digest = Some(Digest::of(b"request"));
    let thread = "old".into();
    for run in (0..OLD_RUNS + 21).step_by(97).chain([OLD_RUNS - 1, OLD_RUNS, OLD_RUNS + 20]) {
        assert_eq!(store.run_digest(&thread, &run_id(run).into()).await.unwrap(), digest, "{run}");
        assert!(store.is_terminal(&thread, &uuid("b", run).as_str().into()).await.unwrap(), "{run}");
    }
    for run in (0..OLD_RUNS).step_by(977) {
        let execution = uuid("b", run).as_str().into();
        let interrupt = format!("i{run}").into();
        assert_eq!(
            store.applied_answer(&thread, &interrupt, Some(&execution)).await.unwrap(),
            digest,
            "{run}"
        );
    }
    assert_eq!(store.run_digest(&thread, &run_id(OLD_RUNS + 21).into()).await.unwrap(), None);
}
