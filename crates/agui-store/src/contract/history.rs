//! What a record has no room for is known for ever.

use std::sync::Arc;

use agui_core::{InterruptId, RunId, ThreadId};

use super::record;
use crate::{Digest, ExecutionId, ThreadStore, Version};

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
