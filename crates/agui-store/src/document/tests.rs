use agui_core::{InterruptId, JsonObject, ThreadId, UnixMillis};
use proptest::prelude::*;

use super::*;
use crate::{Corruption, Digest, Execution, PendingInterrupt, ThreadRecord};

const DOCUMENT: &str = include_str!("../../tests/documents/full.json");

fn thread() -> ThreadId {
    ThreadId::from("t")
}

fn object(text: &str) -> JsonObject {
    JsonObject::from_string(text.to_owned()).unwrap()
}

fn record() -> ThreadRecord {
    let mut record = ThreadRecord::new(thread(), "/ws", Execution::new("e2".into(), "inv".into()));
    record.context_id = "ctx".into();
    record.revision = 7;
    record.session_id = Some("s".into());
    record.record_run("r2".into(), Digest::of(b"2"));
    record.record_run("r1".into(), Digest::of(b"1"));
    record.terminal_executions = vec!["e1".into(), "e0".into()];
    let execution = &mut record.execution;
    execution.task_id = Some("task".into());
    execution.pipeline_sequence = 3;
    execution.open_steps = ["step:plan".into()].into();
    execution.text_digests = [Digest::of(b"text")].into();
    execution.position = Some(object(r#"{"texts":[],"artifacts":["a1"]}"#));
    let interrupt = PendingInterrupt::new(object(r#"{"inputId":"i1","n":1.50}"#))
        .with_expires_at(UnixMillis::new(1_764_523_800_120))
        .with_announced(object(r#"{"id":"i1","a":"ä\u00e4"}"#), UnixMillis::new(1_764_523_260_000));
    execution.pending.insert("i1".into(), interrupt);
    record.apply_answer(&"i0".into(), Digest::of(b"answer"));
    record
}

#[test]
fn a_document_looks_like_this() {
    assert_eq!(String::from_utf8(encode(&record()).unwrap()).unwrap(), DOCUMENT);
    assert_eq!(decode(DOCUMENT.as_bytes(), &thread()), Ok(record()));
}

#[test]
fn a_document_without_our_key_has_safe_defaults() {
    let mut expected = record();
    expected.revision = 0;
    expected.runs.reverse();
    expected.execution.position = None;
    let pending = expected.execution.pending.get_mut("i1").unwrap();
    pending.announced_at = None;
    pending.interrupt = None;

    let mut document: serde_json::Value = serde_json::from_str(DOCUMENT).unwrap();
    document.as_object_mut().unwrap().remove(OURS);
    let document = document.to_string().replace("\"n\":1.5}", "\"n\":1.50}");

    assert_eq!(decode(document.as_bytes(), &thread()), Ok(expected));
}

#[test]
fn what_this_version_does_not_know_is_written_back() {
    let foreign = [
        ("{\n  \"aguiServer\": {", "{\n  \"aaa\": [ 1.50, {\"x\" : \"y\"} ],\n  \"aguiServer\": {"),
        ("\"revision\": 7", "\"revision\": 7, \"newer\": {\"k\": 1e0}"),
        (
            "\"executionId\": \"e2\",\n    \"pending\"",
            "\"executionId\": \"e2\", \"extra\": null,\n    \"pending\"",
        ),
        ("\"sideband\": false", "\"sideband\": false, \"other\": -0.0"),
    ];
    let mut text = DOCUMENT.to_owned();
    for (from, to) in foreign {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let written = encode(&decode(text.as_bytes(), &thread()).unwrap()).unwrap();
    let written = String::from_utf8(written).unwrap();
    let shown = layout::compact(&written);
    for part in ["\"aaa\":[1.50,{\"x\":\"y\"}]", "\"newer\":{\"k\":1e0}", "\"extra\":null", "\"other\":-0.0"]
    {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn a_pending_input_without_its_id_is_read_and_written_with_it() {
    let text = DOCUMENT.replace("\"inputId\": \"i1\",\n", "\n");
    let record = decode(text.as_bytes(), &thread()).unwrap();
    assert_eq!(record.execution.pending["i1"].value, object(r#"{"n":1.50}"#));

    let again = decode(&encode(&record).unwrap(), &thread()).unwrap();
    assert_eq!(again.execution.pending["i1"].value, object(r#"{"inputId":"i1","n":1.50}"#));
}

#[test]
fn an_empty_run_id_is_forgotten_as_iac_code_does() {
    let text = DOCUMENT.replace("\"r2\":", "\"\":");
    let record = decode(text.as_bytes(), &thread()).unwrap();
    assert_eq!(record.runs.iter().map(|run| run.run_id.as_str()).collect::<Vec<_>>(), ["r1"]);
}

#[test]
fn expiry_of_iac_code_0_14_is_read() {
    let cases = [
        ("2025-11-30T17:30:00Z", Some(1_764_523_800_000)),
        ("2025-11-30T17:30:00.123456Z", Some(1_764_523_800_123)),
        ("2025-11-30T19:30:00.5+02:00", Some(1_764_523_800_500)),
        ("1969-12-31T23:59:59Z", None),
        ("tomorrow", None),
    ];
    for (text, expected) in cases {
        let document = DOCUMENT.replace("2025-11-30T17:30:00.120Z", text);
        let read = decode(document.as_bytes(), &thread());
        match expected {
            Some(millis) => {
                assert_eq!(read.unwrap().execution.deadline(), Some(UnixMillis::new(millis)), "{text}");
            }
            None => assert_eq!(read, Err(Corruption::WrongType { field: "expiresAt" }), "{text}"),
        }
    }
}

#[test]
fn damaged_documents_are_refused_with_a_reason() {
    let missing = |field| Corruption::Missing { field };
    let wrong = |field| Corruption::WrongType { field };
    let no_digest = |field| Corruption::NotADigest { field };
    let twice = |field| Corruption::DuplicateKey { field };
    let cases = [
        ("{\n  \"aguiServer\"", "{broken", Corruption::NotJson),
        ("\"userId\": null\n}", "\"userId\": null\n", Corruption::NotJson),
        ("\"userId\": null\n}", "\"userId\": null\n}}", Corruption::NotJson),
        ("\"schemaVersion\": 1", "\"schemaVersion\": 2", Corruption::SchemaVersion),
        ("\"schemaVersion\": 1", "\"schemaVersion\": \"1\"", Corruption::SchemaVersion),
        ("\"schemaVersion\": 1", "\"x\": 1", Corruption::SchemaVersion),
        ("\"threadId\": \"t\"", "\"threadId\": \"T\"", Corruption::OtherThread),
        ("\"threadId\": \"t\"", "\"threadId\": 1", wrong("threadId")),
        ("\"threadId\": \"t\"", "\"threadId\": \"\"", missing("threadId")),
        ("\"userId\": null", "\"userId\": 1", wrong("userId")),
        ("\"userId\": null", "\"userId\": null, \"userId\": null", twice("the document")),
        ("\"cwd\": \"/ws\"", "\"cwd\": \"\"", missing("cwd")),
        ("\"contextId\":", "\"x\":", missing("contextId")),
        ("\"execution\":", "\"x\":", missing("execution")),
        ("\"executionId\": \"e2\",\n    \"pending\"", "\"pending\"", missing("executionId")),
        ("\"rosInvocationId\": \"inv\"", "\"rosInvocationId\": null", wrong("rosInvocationId")),
        ("\"pipelineSequence\": 3", "\"pipelineSequence\": -1", wrong("pipelineSequence")),
        ("\"pipelineSequence\": 3", "\"pipelineSequence\": 3.0", wrong("pipelineSequence")),
        ("\"pipelineSequence\": 3", "\"pipelineSequence\": true", wrong("pipelineSequence")),
        ("\"step:plan\"", "\"\"", missing("pipelineOpenSteps")),
        ("\"step:plan\"", "1", wrong("pipelineOpenSteps")),
        (
            "\"982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1\"",
            "\"982d\"",
            no_digest("textSnapshotDigests"),
        ),
        ("\"sideband\": false", "\"sideband\": 0", wrong("sideband")),
        ("\"inputId\": \"i1\"", "\"inputId\": \"i2\"", Corruption::PendingIdentity),
        ("\"inputId\": \"i1\"", "\"inputId\": 1", Corruption::PendingIdentity),
        ("\"sideband\": false,\n        \"value\"", "\"x\"", missing("value")),
        ("\"runDigests\":", "\"x\":", missing("runDigests")),
        ("\"r1\": \"6b86", "\"r1\": \"6B86", no_digest("runDigests")),
        ("\"r1\": \"6b86", "\"r2\": \"6b86", twice("runDigests")),
        ("\"appliedResumeDigests\":", "\"x\":", missing("appliedResumeDigests")),
        ("\"interruptId\": \"i0\"", "\"interruptId\": \"\"", missing("interruptId")),
        ("\"terminalExecutionIds\":", "\"x\":", missing("terminalExecutionIds")),
        ("\"e0\"", "0", wrong("terminalExecutionIds")),
        ("\"revision\": 7", "\"revision\": -7", wrong("revision")),
        ("\"position\": {", "\"position\": 1, \"x\": {", wrong("aguiServer")),
        ("\"announcedAt\": 1764523260000", "\"announcedAt\": \"now\"", wrong("announcedAt")),
    ];
    for (from, to, expected) in cases {
        assert!(DOCUMENT.contains(from), "{from}");
        let document = DOCUMENT.replacen(from, to, 1);
        assert_eq!(decode(document.as_bytes(), &thread()), Err(expected), "{from} -> {to}");
    }
    assert_eq!(decode(b"\xff", &thread()), Err(Corruption::NotJson));
    assert_eq!(decode(b"", &thread()), Err(Corruption::NotJson));
    assert_eq!(decode(b"[]", &thread()), Err(Corruption::NotJson));
}

#[test]
fn the_order_of_runs_counts_only_while_it_fits() {
    let cases = [
        ("[\n      1,\n      0\n    ]", ["r2", "r1"]),
        ("[0]", ["r1", "r2"]),
        ("[1,1]", ["r1", "r2"]),
        ("[1,2]", ["r1", "r2"]),
    ];
    for (order, expected) in cases {
        let document = DOCUMENT.replace("[\n      1,\n      0\n    ]", order);
        let record = decode(document.as_bytes(), &thread()).unwrap();
        assert_eq!(
            record.runs.iter().map(|run| run.run_id.as_str()).collect::<Vec<_>>(),
            expected,
            "{order}"
        );
    }
}

#[test]
fn the_debug_text_does_not_tell_what_others_keep() {
    let document = DOCUMENT.replace("\"revision\": 7", "\"revision\": 7, \"theirs\": \"hunter2\"");
    let text = format!("{:?}", decode(document.as_bytes(), &thread()).unwrap());
    assert!(text.contains("theirs") && !text.contains("hunter2"), "{text}");
}

/// Text of any characters, never empty.
fn name() -> impl Strategy<Value = String> {
    any::<String>().prop_filter("not empty", |text| !text.is_empty())
}

fn names() -> impl Strategy<Value = Vec<String>> {
    prop::collection::btree_set(name(), 0..6)
        .prop_map(|names| names.into_iter().collect::<Vec<_>>())
        .prop_shuffle()
}

fn pending() -> impl Strategy<Value = (String, PendingInterrupt)> {
    let instant = || prop::option::of((0..253_402_300_799_999_u64).prop_map(UnixMillis::new));
    (name(), any::<bool>(), instant(), instant(), prop::option::of(name())).prop_map(
        |(id, sideband, expires_at, announced_at, announced)| {
            let value = serde_json::json!({"z": 1.0, "inputId": id, "prompt": announced}).to_string();
            let mut interrupt = PendingInterrupt::new(object(&value));
            interrupt.sideband = sideband;
            interrupt.expires_at = expires_at;
            interrupt.announced_at = announced_at;
            interrupt.interrupt =
                announced.map(|text| object(&serde_json::json!({"message": text}).to_string()));
            (id, interrupt)
        },
    )
}

prop_compose! {
    fn records()(
        ids in (name(), name(), name(), name()),
        optional in prop::option::of(name()),
        lists in (names(), names(), names(), names()),
        pending in prop::collection::vec(pending(), 0..3),
        number in any::<u64>(),
    ) -> ThreadRecord {
        let (thread, cwd, execution, invocation) = ids;
        let (runs, ended, steps, answered) = lists;
        let execution = Execution::new(execution.as_str().into(), invocation.as_str().into());
        let mut record = ThreadRecord::new(thread.into(), cwd, execution);
        record.user_id = optional.clone().map(Into::into);
        record.session_id = optional.map(Into::into);
        record.revision = number;
        record.terminal_executions = ended.into_iter().map(Into::into).collect();
        for run in runs {
            record.record_run(run.as_str().into(), Digest::of(run.as_bytes()));
        }
        for interrupt in answered {
            record.apply_answer(&interrupt.as_str().into(), Digest::of(interrupt.as_bytes()));
        }
        record.execution.pipeline_sequence = number;
        record.execution.open_steps = steps.into_iter().map(Into::into).collect();
        record.execution.pending = pending.into_iter().map(|(id, entry)| (InterruptId::from(id), entry)).collect();
        record
    }
}

proptest! {
    #[test]
    fn any_record_survives(record in records()) {
        let document = encode(&record).unwrap();
        prop_assert_eq!(decode(&document, &record.thread_id), Ok(record));
    }

    #[test]
    fn arbitrary_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(decode_any(&bytes).is_err());
    }

    #[test]
    fn a_cut_document_is_refused(end in 0..DOCUMENT.len() - 2) {
        prop_assert_eq!(decode_any(&DOCUMENT.as_bytes()[..end]), Err(Corruption::NotJson));
    }
}
