//! Access to the recorded exchanges.
#![expect(clippy::disallowed_methods, reason = "tests read recorded fixtures")]

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

/// One recorded answer of the kernel.
pub(crate) struct Answer {
    /// Folder of the recording.
    pub scenario: String,
    /// Path and query of the request.
    pub path: String,
    /// Body as text, all chunks joined.
    pub body: String,
}

impl Answer {
    /// The JSON documents of the body: one a `data:` line, or the body itself.
    pub(crate) fn documents(&self) -> Vec<&str> {
        let events: Vec<&str> = self.body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        if events.is_empty() && !self.body.starts_with(':') { vec![self.body.trim()] } else { events }
    }
}

/// Every recorded answer with status 200, in the order of the folders.
pub(crate) fn answers() -> Vec<Answer> {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces");
    let mut folders: Vec<_> =
        traces.read_dir().unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    let mut all = Vec::new();
    for folder in folders {
        let scenario = folder.file_name().unwrap().to_str().unwrap().to_owned();
        for line in exchanges(&folder).lines() {
            let exchange: Value = serde_json::from_str(line).unwrap();
            if exchange["status"] != 200 {
                continue;
            }
            let chunks = exchange["chunks"].as_array().unwrap();
            let body = chunks.iter().map(|chunk| chunk[1].as_str().unwrap()).collect();
            let path = exchange["path"].as_str().unwrap().to_owned();
            all.push(Answer { scenario: scenario.clone(), path, body });
        }
    }
    all
}

fn exchanges(folder: &Path) -> String {
    let plain = folder.join("a2a.jsonl");
    if plain.exists() {
        return String::from_utf8(std::fs::read(plain).unwrap()).unwrap();
    }
    let mut text = String::new();
    let packed = std::fs::read(folder.join("a2a.jsonl.gz")).unwrap();
    GzDecoder::new(packed.as_slice()).read_to_string(&mut text).unwrap();
    text
}
