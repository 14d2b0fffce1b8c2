//! Single documents and whether the closed schema takes them: our own ones, and the public ones.

use std::path::Path;

use agui_core::{
    DecodeError, Decoded, Interrupt, Reading, ResumeEntry, RunAgentInput, Tool, ToolMessage, UserMessage,
    decode_event_with,
};
use serde::Deserialize;

use crate::conformance::{corpus, files};

/// Where the schema refuses a document of the public corpus.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Refusal {
    keyword: String,
    instance_location: String,
}

/// Reads a document as the type that a folder of the corpus is named after.
fn read(folder: &str, json: &[u8]) -> Result<(), DecodeError> {
    match folder {
        "Interrupt" => Interrupt::from_json(json, Reading::Exact).map(drop),
        "ResumeEntry" => ResumeEntry::from_json(json, Reading::Exact).map(drop),
        "RunAgentInput" => RunAgentInput::from_json(json, Reading::Exact).map(drop),
        "Tool" => Tool::from_json(json, Reading::Exact).map(drop),
        "ToolMessage" => ToolMessage::from_json(json, Reading::Exact).map(drop),
        "UserMessage" => UserMessage::from_json(json, Reading::Exact).map(drop),
        event => {
            let (decoded, _) = decode_event_with(json, Reading::Exact)?;
            let Decoded::Known(known) = decoded else { panic!("{event} is not known") };
            let name = known.event_type().as_str().replace('_', "").to_lowercase() + "event";
            assert_eq!(name, event.to_lowercase());
            Ok(())
        }
    }
}

#[test]
fn documents_have_their_verdict() {
    let cases: &[(&str, &str, Option<&str>)] = &[
        ("Interrupt", r#"{"id":"i","reason":"confirmation","responseSchema":{}}"#, None),
        ("Interrupt", r#"{"id":"i","reason":"confirmation","responseSchema":true}"#, Some("/responseSchema")),
        ("Interrupt", r#"{"id":"i"}"#, Some("/reason")),
        ("ResumeEntry", r#"{"interruptId":"i","status":"cancelled"}"#, None),
        ("ResumeEntry", r#"{"interruptId":"i","status":"resolved","payload":null}"#, Some("/payload")),
        ("Tool", r#"{"name":"f","description":"","parameters":null}"#, Some("/parameters")),
        ("ToolMessage", r#"{"role":"tool","id":"1","toolCallId":"c","content":[]}"#, None),
        ("UserMessage", r#"{"role":"tool","id":"1","content":""}"#, Some("/role")),
        (
            "UserMessage",
            r#"{"role":"user","id":"1","content":[{"type":"binary","mimeType":"m"}]}"#,
            Some("/content/0"),
        ),
        ("ToolCallStartEvent", r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}"#, None),
    ];
    for (folder, json, expected) in cases {
        let pointer = read(folder, json.as_bytes()).err().map(|error| error.pointer);
        assert_eq!(pointer.as_deref(), *expected, "{folder} {json}");
    }
    if let Some(directory) = corpus() {
        assert_public_documents(&directory.join("fixtures/draft"));
    }
}

fn assert_public_documents(root: &Path) {
    let mut count = 0;
    for entry in std::fs::read_dir(root).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        for (path, text) in files(&folder.join("valid")) {
            assert_eq!(read(&name, text.as_bytes()), Ok(()), "{path}");
            count += 1;
        }
        let invalid = folder.join("invalid");
        if !invalid.exists() {
            continue;
        }
        for (path, text) in files(&invalid).into_iter().filter(|(path, _)| !path.ends_with(".expect.json")) {
            let error = read(&name, text.as_bytes()).expect_err(&path);
            let refusal = std::fs::read_to_string(path.replace(".json", ".expect.json")).unwrap();
            let refusal: Refusal = serde_json::from_str(&refusal).unwrap();
            assert!(same_place(&error.pointer, &refusal), "{path}: {error}");
            count += 1;
        }
    }
    assert!(count >= 70, "only {count} documents found");
}

/// A schema names the object for a missing member and the constant for an unknown operation.
fn same_place(pointer: &str, refusal: &Refusal) -> bool {
    let place = refusal.instance_location.as_str();
    match refusal.keyword.as_str() {
        "required" => pointer.rsplit_once('/').is_some_and(|(object, _)| object == place),
        "const" => pointer == place || place.rsplit_once('/').is_some_and(|(object, _)| object == pointer),
        _ => pointer == place,
    }
}
