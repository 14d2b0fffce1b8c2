//! Raw streams and whether a consumer takes them: our own ones, and the public corpus where it is.
//!
//! The variable `AGUI_CONFORMANCE_DIR` names a directory with the folders of the public corpus
//! (`1.0`, `1.1`, `draft`).

use std::path::{Path, PathBuf};

use agui_core::{Decoded, Verifier, decode_event};
use serde::Deserialize;
use serde_json::Value;

/// One file of the corpus, as far as it is used here.
#[derive(Deserialize)]
struct Stream {
    description: String,
    stream: Vec<Value>,
    expect: Expectation,
}

#[derive(Deserialize)]
struct Expectation {
    outcome: String,
}

impl Stream {
    /// What the specification says; some files pin what it forbids.
    fn is_accepted(&self) -> bool {
        let accepted = match self.expect.outcome.as_str() {
            "completed" => true,
            "failed" => false,
            other => panic!("unknown outcome {other}"),
        };
        accepted != self.description.starts_with("ADMITTED GAP")
    }
}

/// The first fault of a stream.
fn fault<'a>(frames: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut verifier = Verifier::new();
    for frame in frames {
        match decode_event(frame.as_bytes()) {
            Ok(Decoded::Known(event)) => {
                if let Err(violation) = verifier.check(&event) {
                    return Some(violation.rule().to_string());
                }
            }
            Ok(_) => {}
            Err(error) => return Some(error.to_string()),
        }
    }
    verifier.finish().err().map(|violation| violation.rule().to_string())
}

#[test]
fn streams_have_their_verdict() {
    let cases: &[(&str, &[&str], Option<&str>)] = &[
        (
            "a plain answer",
            &[
                r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}"#,
                r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}"#,
                r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hi","fromTheFuture":1}"#,
                r#"{"type":"SOMETHING_NEW"}"#,
                r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
                r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}"#,
            ],
            None,
        ),
        (
            "a question and its answer",
            &[
                r#"{"type":"RUN_STARTED","threadId":"t","runId":"r1"}"#,
                r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}"#,
                r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#,
                r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r1","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"tool_call","toolCallId":"c"}]}}"#,
                r#"{"type":"RUN_STARTED","threadId":"t","runId":"r2"}"#,
                r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"done"}"#,
                r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r2"}"#,
            ],
            None,
        ),
        (
            "an interrupt with an open call",
            &[
                r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
                r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}"#,
                r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"tool_call"}]}}"#,
            ],
            Some("still-open"),
        ),
        (
            "a null member",
            &[r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","timestamp":null}"#],
            Some("/timestamp: null is not a value here, leave the member out"),
        ),
        (
            "a list for an outcome",
            &[
                r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
                r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":[]}"#,
            ],
            Some("/outcome: expected an object"),
        ),
        ("a cut stream", &[r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#], Some("unterminated")),
        ("a frame that is no event", &["[DONE]"], Some("document: not JSON within the limits")),
    ];
    for (name, frames, expected) in cases {
        assert_eq!(fault(frames.iter().copied()).as_deref(), *expected, "{name}");
    }
    if let Some(directory) = corpus() {
        assert_public_streams(&directory);
    }
}

fn assert_public_streams(directory: &Path) {
    let mut count = 0;
    let mut wrong = Vec::new();
    for version in ["1.0", "1.1", "draft"] {
        for (path, text) in files(&directory.join(version)) {
            let stream: Stream = serde_json::from_str(&text).expect(&path);
            let frames: Vec<String> = stream.stream.iter().map(Value::to_string).collect();
            let fault = fault(frames.iter().map(String::as_str));
            if fault.is_none() != stream.is_accepted() {
                wrong.push((path, fault));
            }
            count += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count >= 80, "only {count} streams found");
}

/// The directory of the public corpus, if there is one.
#[expect(clippy::disallowed_methods, reason = "the test reads what the crate must not")]
pub(crate) fn corpus() -> Option<PathBuf> {
    std::env::var("AGUI_CONFORMANCE_DIR").ok().map(PathBuf::from)
}

/// The JSON files of a folder, by name.
pub(crate) fn files(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("a folder of the corpus")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap()))
        .collect();
    files.sort();
    files
}
