//! `agui record` and `agui replay`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::program::{Finished, agui, command};
use crate::testbed::Testbed;

/// A replay; dropping it ends it.
struct Replay {
    process: Child,
    url: String,
}

impl Replay {
    fn start(file: &str, flags: &[&str]) -> Self {
        let arguments = [&["replay", file, "--port", "0"], flags].concat();
        let mut process = command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { process, url: url.trim().to_owned() }
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn record(bed: &Testbed, file: &str, rest: &[&str]) -> Finished {
    agui(&[&["record", &bed.url(), file], rest].concat())
}

fn words(finished: &Finished) -> String {
    let events = finished.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter_map(|event| event["delta"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_recorded_conversation_is_replayed_with_the_ids_of_each_request() {
    let bed = Testbed::start();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("trace.jsonl");
    let file = file.to_str().unwrap();
    let recorded = record(&bed, file, &["ask"]);
    assert_eq!((recorded.code, recorded.err), (0, format!("agui: 2 events recorded in {file}\n")));
    assert_eq!(record(&bed, file, &["again"]).code, 2, "a trace is not written over");
    assert_eq!(record(&bed, file, &["--append", "--answer", "q-1=cancel"]).code, 0);
    let threads: Vec<Value> = bed.inputs().iter().map(|input| input["threadId"].clone()).collect();
    assert_eq!(threads[0], threads[1], "what is added goes on with the thread");

    // The judge sees both exchanges, and the replay is a server like any other.
    let judged = agui(&["verify", file]);
    assert_eq!(judged.out, format!("{file}#1: no faults in 2 events\n{file}#2: no faults in 5 events\n"));
    let replay = Replay::start(file, &["--pace", "fast"]);
    let ended = agui(&["run", &replay.url, "ask", "--answer", "q-1=cancel", "--json", "--thread", "new"]);
    assert_eq!((ended.code, words(&ended).as_str()), (0, "answer: cancelled nothing"), "{}", ended.err);
    assert_eq!(agui(&["verify", &replay.url, "hi"]).code, 0, "the ids are those of the request");
    let kept = Replay::start(file, &["--pace", "fast", "--keep-ids"]);
    let judged = agui(&["verify", &kept.url, "hi"]);
    assert!(judged.code == 1 && judged.out.contains("not-echoed"), "{}", judged.out);
}

#[test]
fn faults_and_refusals_are_replayed_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("trace.jsonl");
    let broken = r#"{"t":0,"kind":"request","n":1,"method":"POST","path":"/run?x=1","headers":[],"body":{"threadId":"t","runId":"r"}}
{"t":1,"kind":"event","n":1,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}}
{"t":2,"kind":"text","n":1,"text":"[DONE]"}
{"t":3,"kind":"end","n":1,"end":"cut"}
{"t":4,"kind":"request","n":2,"method":"POST","path":"/run","headers":[],"body":{}}
{"t":5,"kind":"response","n":2,"status":409,"headers":[]}
{"t":6,"kind":"body","n":2,"body":{"error":{"code":"BUSY","message":"later"}}}
"#;
    std::fs::write(&file, broken).unwrap();
    let replay = Replay::start(file.to_str().unwrap(), &[]);
    let url = format!("{}run", replay.url);
    let judged = agui(&["verify", &url, "hi", "--format", "json"]);
    let report: Value = serde_json::from_str(&judged.out).unwrap();
    let findings = report["streams"][0]["findings"].as_array().unwrap().iter();
    let rules: Vec<&str> = findings.map(|finding| finding["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["not-json", "cut-connection", "unterminated"]);
    let refused = agui(&["run", &url, "hi"]);
    assert!(refused.code == 2 && refused.err.contains("409 (BUSY: later)"), "{}", refused.err);
}

#[test]
fn a_stream_that_was_cut_is_cut_again_behind_its_last_record() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("trace.jsonl");
    let delta = "x".repeat(1024 * 1024);
    let trace = format!(
        r#"{{"t":0,"kind":"request","n":1,"method":"POST","path":"/","headers":[],"body":{{"threadId":"t","runId":"r"}}}}
{{"t":1,"kind":"event","n":1,"event":{{"type":"RUN_STARTED","threadId":"t","runId":"r"}}}}
{{"t":2,"kind":"event","n":1,"event":{{"type":"TEXT_MESSAGE_START","messageId":"m"}}}}
{{"t":3,"kind":"event","n":1,"event":{{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"{delta}"}}}}
{{"t":4,"kind":"end","n":1,"end":"cut"}}
"#
    );
    std::fs::write(&file, trace).unwrap();
    let replay = Replay::start(file.to_str().unwrap(), &["--pace", "fast"]);
    let ended = agui(&["run", &replay.url, "hi", "--json"]);
    assert_eq!((ended.code, words(&ended).len()), (1, delta.len()), "{}", ended.err);
    assert!(ended.err.starts_with("agui: connection broke before the run ended"), "{}", ended.err);

    // What is recorded of it is cut as well.
    let again = dir.path().join("again.jsonl");
    let recorded = agui(&["record", &replay.url, again.to_str().unwrap(), "hi"]);
    assert_eq!(recorded.code, 1, "{}", recorded.err);
    let last = std::fs::read_to_string(&again).unwrap();
    let last: Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    assert_eq!((&last["kind"], &last["end"]), (&Value::from("end"), &Value::from("cut")));
}

#[test]
fn what_a_question_calls_a_secret_is_not_recorded_with_its_answer() {
    let bed = Testbed::start();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("trace.jsonl");
    let file = file.to_str().unwrap();
    assert_eq!(record(&bed, file, &["vault"]).code, 0);
    let answer = r#"vault={"user":"me-myself","code":"s3cr3t-code"}"#;
    assert_eq!(record(&bed, file, &["--append", "--answer", answer]).code, 0);
    assert_eq!(bed.inputs()[1]["resume"][0]["payload"]["code"], "s3cr3t-code");
    let trace = std::fs::read_to_string(file).unwrap();
    assert!(!trace.contains("s3cr3t-code"), "{trace}");
    assert!(trace.contains(r#""payload":{"code":"[redacted]","user":"me-myself"}"#), "{trace}");
}

#[test]
fn no_secret_reaches_the_file() {
    let bed = Testbed::start();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("trace.jsonl");
    let url = bed.url();
    let arguments = [
        "record",
        &url,
        file.to_str().unwrap(),
        "secret AKIAIOSFODNN7EXAMPLE",
        "--header",
        "x-anything: topsecret-header",
        "--header",
        "x-pin: 12",
        "--bearer-env",
        "TEST_TOKEN",
        "--redact-env",
        "TEST_SECRET",
        "--props",
        r#"{"iacCode":{"accessKeySecret":"aks-1"}}"#,
    ];
    let status =
        command(&arguments).env("TEST_TOKEN", "t0ken-value").env("TEST_SECRET", "s3cr3t-from-env").status();
    assert!(status.unwrap().success());
    let trace = std::fs::read_to_string(&file).unwrap();
    assert!(trace.contains(r#"["x-pin","[redacted]"]"#), "short ones too: {trace}");
    let secrets = [
        "t0ken-value",
        "topsecret-header",
        "s3cr3t-from",
        "hunter2",
        "ter2",
        "aks-1",
        "AKIAIOSFODNN7EXAMPLE",
    ];
    for secret in secrets {
        assert!(!trace.contains(secret), "{secret} in {trace}");
    }
    let said: String = trace
        .lines()
        .filter_map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["event"]["delta"].as_str().map(str::to_owned)
        })
        .collect();
    assert_eq!(said, "the password: [redacted] and [redacted]");
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn traces_of_the_lab_are_read() {
    let fixtures = agui_testkit::replay::fixtures_dir().join("c_allow_once/agui.jsonl");
    let replay = Replay::start(fixtures.to_str().unwrap(), &["--pace", "fast"]);
    let ended = agui(&["run", &replay.url, "write a file", "--no-input", "--json"]);
    assert_eq!(ended.code, 3, "{}", ended.err);
    assert!(ended.out.contains("\"toolCallName\":\"write_file\""), "{}", ended.out);
}
