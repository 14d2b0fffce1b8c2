//! The open questions of a record: stored under the kernel's ids, told to clients under their own.
//!
//! The two differ once a question has changed while it was open: the client got a new id for it (case C77).
//! The key stays the kernel's, because the other program that reads these records trusts no other key.

use std::collections::BTreeMap;

use agui_core::{InterruptId, Json, JsonObject};
use agui_iac_code::metadata::Input;
use agui_mapper::{OpenInput, Sideband, Texts};
use agui_store::{AppliedAnswer, Digest, PendingInterrupt, ThreadRecord};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The id that clients know a stored question by.
fn announced_id(key: &InterruptId, stored: &PendingInterrupt) -> InterruptId {
    #[derive(Deserialize)]
    struct Announced {
        id: InterruptId,
    }

    let announced = stored.interrupt.as_ref().and_then(|interrupt| interrupt.parse::<Announced>().ok());
    announced.map_or_else(|| key.clone(), |announced| announced.id)
}

/// The ids that the open questions of a record can be answered by.
pub(crate) fn announced_ids(record: &ThreadRecord) -> Vec<InterruptId> {
    record.execution.pending.iter().map(|(key, stored)| announced_id(key, stored)).collect()
}

/// The open questions of a record; one that cannot be read is left out.
pub(crate) fn questions(record: &ThreadRecord, texts: &Texts) -> Vec<OpenInput> {
    record.execution.pending.iter().filter_map(|(key, stored)| question(key, stored, texts)).collect()
}

/// A stored question; `None` if it cannot be read.
pub(crate) fn question(key: &InterruptId, stored: &PendingInterrupt, texts: &Texts) -> Option<OpenInput> {
    let sideband = if stored.sideband { Sideband::Yes } else { Sideband::No };
    let value = Json::from(stored.value.clone());
    let mut open = OpenInput::restore(announced_id(key, stored).as_str(), value, sideband, texts)?;
    open.input_id = key.as_str().into();
    Some(open)
}

/// What may be stored of a question: not the values that its user has typed. No answer is checked against them, and
/// a confirmation of others is another question.
pub(crate) fn storable(question: JsonObject) -> Option<JsonObject> {
    let mut members: BTreeMap<String, Box<RawValue>> = question.parse().ok()?;
    let before = members.len();
    members.retain(|name, _| !Input::UNSTORED_MEMBERS.contains(&name.as_str()));
    if members.len() == before { Some(question) } else { JsonObject::from_serialize(&members).ok() }
}

/// The kernel took the answer to a question: it is open no more, under whichever id.
pub(crate) fn settle(record: &mut ThreadRecord, question: &OpenInput, digest: Digest) {
    let key = InterruptId::from(&*question.input_id);
    record.apply_answer(&key, digest);
    if question.interrupt.id != key {
        remember(record, question.interrupt.id.clone(), digest);
    }
}

/// An answer that was taken did not count after all: its question is open again.
pub(crate) fn reopen(record: &mut ThreadRecord, question: &OpenInput) {
    let key = InterruptId::from(&*question.input_id);
    let execution = record.execution.id.clone();
    record.execution.answered.retain(|answered| *answered != key);
    record.applied_answers.retain(|applied| {
        applied.execution_id != execution
            || (applied.interrupt_id != key && applied.interrupt_id != question.interrupt.id)
    });
}

/// Nobody answered in time: the execution is over, and its questions are remembered as too old.
pub(crate) fn lapse(record: &mut ThreadRecord) {
    let ids = announced_ids(record);
    record.mark_terminal();
    for id in ids {
        remember(record, id, lapsed());
    }
}

/// Whether the digest of an accepted answer stands for one that never came.
pub(crate) fn has_lapsed(digest: Digest) -> bool {
    digest == lapsed()
}

/// What no answer has as its digest: answers are JSON objects.
fn lapsed() -> Digest {
    Digest::of(b"lapsed")
}

fn remember(record: &mut ThreadRecord, interrupt: InterruptId, digest: Digest) {
    record.applied_answers.push(AppliedAnswer::new(record.execution.id.clone(), interrupt, digest));
}

#[cfg(test)]
mod tests {
    use agui_core::UnixMillis;
    use agui_store::Execution;

    use super::*;

    fn record() -> ThreadRecord {
        let object = |text: &str| JsonObject::from_string(text.to_owned()).unwrap();
        let mut record = ThreadRecord::new("t".into(), "/ws", Execution::new("e".into(), "inv".into()));
        let value = object(r#"{"inputId":"p","kind":"permission","toolUseId":"c"}"#);
        let changed = PendingInterrupt::new(value)
            .with_announced(object(r#"{"id":"p#2","reason":"x"}"#), UnixMillis::new(1));
        let plain = PendingInterrupt::new(object(r#"{"inputId":"q","kind":"ask_user_question"}"#));
        record.execution.pending.insert("p".into(), changed);
        record.execution.pending.insert("q".into(), plain);
        record
    }

    fn answered(record: &ThreadRecord) -> Vec<&str> {
        record.applied_answers.iter().map(|applied| applied.interrupt_id.as_str()).collect()
    }

    #[test]
    fn c77_a_changed_question_is_known_by_the_id_that_was_told_last() {
        let record = record();
        assert_eq!(announced_ids(&record), ["p#2", "q"]);
        let questions = questions(&record, &Texts::new());
        let ids: Vec<_> =
            questions.iter().map(|open| (&*open.input_id, open.interrupt.id.as_str())).collect();
        assert_eq!(ids, [("p", "p#2"), ("q", "q")]);
    }

    #[test]
    fn s8_6_an_answer_is_remembered_under_both_ids_and_forgotten_when_it_does_not_count() {
        let mut record = record();
        let question = questions(&record, &Texts::new()).remove(0);
        settle(&mut record, &question, Digest::of(b"yes"));
        assert_eq!(record.execution.pending.len(), 1);
        assert_eq!(answered(&record), ["p", "p#2"]);
        assert!(record.execution.was_answered(&"p".into()));

        reopen(&mut record, &question);
        assert_eq!(answered(&record), [""; 0]);
        assert!(!record.execution.was_answered(&"p".into()));
    }

    #[test]
    fn s11_4_what_the_user_typed_into_a_deployment_is_not_stored_and_the_rest_passes_as_it_is() {
        let object = |text: &str| JsonObject::from_string(text.to_owned()).unwrap();
        let cases = [
            (
                r#"{"kind":"deployment_confirmation","parameter_overrides":{"Password":"s3cr3t"},"cost":{"n":1.50},"effective_deployment_parameters":{"Password":"s3cr3t"}}"#,
                r#"{"cost":{"n":1.50},"kind":"deployment_confirmation"}"#,
            ),
            (r#"{"b":1.50, "a":{"parameter_overrides":2}}"#, r#"{"b":1.50, "a":{"parameter_overrides":2}}"#),
        ];
        for (question, stored) in cases {
            assert_eq!(storable(object(question)).unwrap().get(), stored);
        }
    }

    #[test]
    fn s11_5_questions_that_lapsed_are_remembered_by_the_ids_that_clients_know() {
        let mut record = record();
        lapse(&mut record);
        assert!(record.execution.pending.is_empty());
        assert!(record.is_terminal(&"e".into()));
        assert_eq!(answered(&record), ["p#2", "q"]);
        assert!(record.applied_answers.iter().all(|applied| has_lapsed(applied.digest)));
        assert!(!has_lapsed(Digest::of(b"{}")));
    }
}
