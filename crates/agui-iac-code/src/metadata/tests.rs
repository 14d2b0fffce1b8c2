use super::*;

mod pipeline;
mod questions;
mod robustness;
mod turns;

fn raw(text: &str) -> &RawValue {
    serde_json::from_str(text).unwrap()
}

/// The metadata of an update that says `members`.
fn metadata(members: &str) -> String {
    format!(r#"{{"iac_code":{{"iacCodeSessionId":"S1",{members}}}}}"#)
}

/// Reads a metadata that must be free of notes.
fn read(text: &str) -> IacMetadata<'_> {
    let read = IacMetadata::read(raw(text));
    assert!(read.notes.is_empty(), "{:?}", read.notes);
    read
}

fn told(notes: &Notes) -> Vec<String> {
    notes.as_slice().iter().map(ToString::to_string).collect()
}
