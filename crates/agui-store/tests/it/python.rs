//! Both adapters on one state directory, for real.
//!
//! The environment variable `AGUI_PYTHON` names a Python interpreter that has iac-code with its `agui` and
//! `a2a` extras; without it these tests say so and end.

use std::path::Path;
use std::process::Command;

use agui_core::{JsonObject, UnixMillis};
use agui_store::{
    Digest, PendingInterrupt, RecordedRun, ThreadRecord, ThreadStore, Version, python_digest, request_digest,
};
use serde_json::{Value, json};

use crate::support::{Scratch, digest, record};

const SCRIPT: &str = include_str!("compat.py");

/// Runs one command of the script; `None` if there is no interpreter.
#[expect(clippy::print_stdout, reason = "whoever runs the tests should know what did not run")]
fn python(command: &str, state_dir: &Path, input: &Value) -> Option<Value> {
    let Some(interpreter) = std::env::var_os("AGUI_PYTHON") else {
        println!("skipped: AGUI_PYTHON names no interpreter with iac-code");
        return None;
    };
    let output = Command::new(interpreter)
        .args(["-c", SCRIPT, command])
        .arg(state_dir)
        .arg(input.to_string())
        .env("IAC_CODE_CONFIG_DIR", state_dir.join("config"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn thread_ids() -> Vec<String> {
    let ids = [
        "t",
        "T",
        "feishu:oc_1",
        "../x",
        "CON",
        "com1.x",
        "ä",
        "a\u{308}",
        "..a",
        " ",
        "x.",
        "_.-",
        "a\u{0}",
    ];
    let mut ids: Vec<String> = ids.map(str::to_owned).to_vec();
    ids.extend(["x".repeat(200), "X".repeat(96), "X".repeat(97), "é".repeat(300)]);
    ids
}

fn parked_record(thread: &str) -> ThreadRecord {
    let object = |text: &str| JsonObject::from_string(text.to_owned()).unwrap();
    let mut record = record(thread).with_user_id("user");
    record.session_id = Some("session".into());
    for number in 0..10 {
        let run = format!("r{number}");
        record.record_run(run.as_str().into(), digest(&run));
        record.rotate(format!("e{}", number + 1).as_str().into(), "inv".into());
    }
    record.apply_answer(&"i0".into(), Digest::of(b"answer"));
    let execution = &mut record.execution;
    execution.task_id = Some("task".into());
    execution.pipeline_sequence = 12;
    execution.open_steps = ["step:plan".into()].into();
    execution.text_digests = [Digest::of(b"text")].into();
    execution.position = Some(object(r#"{"artifacts":["a1"]}"#));
    let value = r#"{"inputId":"i1","kind":"permission","schemaVersion":1.0,"toolName":"bash","prompt":"Δ?","unknown":1}"#;
    let permission = PendingInterrupt::new(object(value))
        .with_sideband()
        .with_expires_at(UnixMillis::new(1_764_523_800_120))
        .with_announced(object(r#"{"id":"i1"}"#), UnixMillis::new(1_764_523_260_000));
    execution.pending.insert("i1".into(), permission);
    let question = PendingInterrupt::new(object(r#"{"prompt":"?"}"#))
        .with_expires_at(UnixMillis::new(1_764_523_800_000));
    execution.pending.insert("i2".into(), question);
    record
}

#[tokio::test]
async fn iac_code_loads_what_is_saved_here() {
    let scratch = Scratch::new();
    for id in thread_ids() {
        scratch.store.save(&mut parked_record(&id), Version::ABSENT).await.unwrap();
    }
    let Some(found) = python("load", scratch.state_dir(), &json!(thread_ids())) else { return };

    let expected: Vec<Value> = thread_ids()
        .into_iter()
        .map(|id| {
            json!({
                "thread_id": id,
                "context_id": agui_store::ContextId::for_thread(&id.as_str().into()).as_str(),
                "cwd": "/workspace",
                "user_id": "user",
                "ros_invocation_id": "inv",
                "iac_code_session_id": "session",
                "execution_id": "e10",
                "task_id": "task",
                "pending": {
                    "i1": [true, {"inputId": "i1", "kind": "permission", "schemaVersion": 1.0, "toolName": "bash", "prompt": "Δ?"}],
                    "i2": [false, {"inputId": "i2", "prompt": "?"}],
                },
                "pipeline_sequence": 12,
                "pipeline_open_steps": ["step:plan"],
                "text_snapshot_digests": [Digest::of(b"text").to_string()],
                "run_digests": (6..10).map(|n| (format!("r{n}"), json!(digest(&format!("r{n}")).to_string()))).collect::<serde_json::Map<_, _>>(),
                "applied_resume_digests": [["e10", "i0", Digest::of(b"answer").to_string()]],
                "terminal_execution_ids": ["e6", "e7", "e8", "e9"],
            })
        })
        .collect();
    assert_eq!(found, Value::Array(expected));
}

#[tokio::test]
async fn what_iac_code_saves_is_loaded_here_and_noticed() {
    let scratch = Scratch::new();
    let mut saved = Vec::new();
    for id in thread_ids() {
        let mut record = parked_record(&id);
        let version = scratch.store.save(&mut record, Version::ABSENT).await.unwrap();
        saved.push((record, version));
    }
    let Some(keeps_expiry) = python("rewrite", scratch.state_dir(), &json!([thread_ids(), "r-py"])) else {
        return;
    };

    for (record, version) in saved {
        let thread = record.thread_id.clone();
        let stale = scratch.store.save(&mut record.clone(), version).await;
        assert!(matches!(stale, Err(agui_store::StoreError::Conflict)), "{stale:?}");
        let mut found = scratch.store.load(&thread).await.unwrap().unwrap();
        assert_eq!(found.record, rewritten(record, keeps_expiry == true));

        // Run ids that had left the document are refused as before, and the new one stays known.
        scratch.store.save(&mut found.record, found.version).await.unwrap();
        for run in (0..10).map(|number| format!("r{number}")).chain(["r-py".to_owned()]) {
            let known = scratch.store.run_digest(&thread, &run.as_str().into()).await.unwrap();
            assert_eq!(known, Some(digest(&run)), "{thread} {run}");
        }
    }
}

/// What is left of a record when iac-code has added a run and written it back.
fn rewritten(mut record: ThreadRecord, keeps_expiry: bool) -> ThreadRecord {
    record.revision = 0;
    record.execution.position = None;
    record.runs.insert(0, RecordedRun::new("r-py".into(), digest("r-py")));
    for (id, pending) in &mut record.execution.pending {
        let value = match id.as_str() {
            "i1" => {
                r#"{"inputId":"i1","kind":"permission","prompt":"Δ?","schemaVersion":1.0,"toolName":"bash"}"#
            }
            _ => r#"{"inputId":"i2","prompt":"?"}"#,
        };
        let before = pending.clone();
        *pending = PendingInterrupt::new(JsonObject::from_string(value.to_owned()).unwrap());
        pending.sideband = before.sideband;
        pending.expires_at = before.expires_at.filter(|_| keeps_expiry);
    }
    record
}

#[test]
fn digests_are_those_of_iac_code() {
    let whole = [
        r#"{"b":[1,-0,true,null],"a":"ä€😀\u0000\u001f\u007f\u2028\"\\\/\b\f\n\r\t","":{}}"#,
        r#"{"a":1,"b":{"z":1,"y":2},"a":2}"#,
        r#"{"n":123456789012345678901234567890,"😀":1,"\uffff":2,"A":3,"a":4}"#,
        r#" [ ] "#,
    ];
    let floats = [
        "[1.0,1e0,1E2,0.1,-0.0,1e-5,0.0001,1e15,1e16,123456789.123456789,1.5e300,5e-324,1e-400,1E400,-1E400]",
        "[9007199254740993.0,3.141592653589793238,2.2250738585072014e-308,1.7976931348623157e308,4.35,0.3e-6,1e23]",
    ];
    let directory = tempfile::tempdir().unwrap();
    let mut bodies: Vec<String> = whole.into_iter().chain(floats).map(str::to_owned).collect();
    bodies.extend(random_floats());
    let Some(found) = python("digests", directory.path(), &json!(bodies)) else { return };

    let found = found.as_array().unwrap();
    assert_eq!(found.len(), bodies.len());
    for (body, expected) in bodies.iter().zip(found) {
        assert_eq!(python_digest(body.as_bytes()).to_string(), expected.as_str().unwrap(), "{body}");
    }
    for (body, expected) in whole.iter().zip(found) {
        assert_eq!(request_digest(body.as_bytes()).to_string(), expected.as_str().unwrap(), "{body}");
    }
}

/// Doubles of all magnitudes, as shortest digits and as long decimals.
fn random_floats() -> Vec<String> {
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bodies = Vec::new();
    while bodies.len() < 2000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let value = f64::from_bits(bits ^ (bits >> 29));
        if value.is_finite() {
            bodies.push(format!("[{value:e},{value:.20e}]"));
        }
    }
    bodies
}
