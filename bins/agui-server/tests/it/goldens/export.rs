//! The golden streams as files, for checkers that are no Rust programs.

use std::path::Path;

use super::play::{Outcome, Played};

/// Variable that asks for the files.
const WRITE: &str = "AGUI_WRITE_GOLDENS";

/// Writes every stream that came to its end to `target/goldens/<trace>/<number>.v0.jsonl`, one event a line.
///
/// The number is that of the run in the recording. No recorded client named a protocol version; `.v0` tells
/// the readers of these files.
pub(super) fn export(trace: &str, played: &Played) {
    if std::env::var_os(WRITE).is_none() {
        return;
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("goldens").join(trace);
    let runs = played.script.recorded.iter().zip(&played.outcomes).filter(|(recorded, _)| recorded.is_run);
    for (number, (recorded, outcome)) in (1..).zip(runs) {
        let Outcome::Stream(stream) = outcome else { continue };
        if recorded.end == "complete" {
            let lines: String = stream.json().iter().map(|event| format!("{event}\n")).collect();
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(directory.join(format!("{number}.v0.jsonl")), lines).unwrap();
        }
    }
}
