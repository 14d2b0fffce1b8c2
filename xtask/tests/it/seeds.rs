//! Seeds from the recorded exchanges.

use std::sync::OnceLock;

use agui_testkit::replay::{Exchange, Trace, fixtures_dir};

/// Longer seeds would slow the mutations down and add nothing.
const MAX_SEED_BYTES: usize = 32 * 1024;
/// Recordings of one very long answer, which would be left out anyway.
const LONG: &str = "q";

/// The recordings, read once for all targets.
fn traces() -> &'static [Trace] {
    static TRACES: OnceLock<Vec<Trace>> = OnceLock::new();
    TRACES.get_or_init(|| {
        let entries = std::fs::read_dir(fixtures_dir()).unwrap().map(|entry| entry.unwrap());
        let directories = entries.filter(|entry| entry.file_type().unwrap().is_dir());
        let mut names: Vec<String> =
            directories.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.starts_with(LONG));
        names.sort();
        names.iter().map(|name| Trace::fixture(name).unwrap()).collect()
    })
}

/// The records of each of the kernel's streams, as JSON texts.
fn kernel_records() -> impl Iterator<Item = Vec<String>> {
    let streams = traces().iter().flat_map(|trace| &trace.exchanges).filter(|exchange| exchange.is_stream());
    streams.map(|exchange: &Exchange| exchange.events().iter().map(ToString::to_string).collect())
}

/// Bodies of the kernel's streams; the first byte is the size of the chunks.
pub(crate) fn streams() -> Vec<Vec<u8>> {
    seeds(kernel_records().map(|records| {
        let body: String = records.iter().map(|record| format!("data: {record}\r\n\r\n")).collect();
        [b"\x07", body.as_bytes()].concat()
    }))
}

/// The same streams, one JSON text a line.
pub(crate) fn kernel_events() -> Vec<Vec<u8>> {
    seeds(kernel_records().map(|records| records.join("\n").into_bytes()))
}

/// Run requests of the recorded clients.
pub(crate) fn requests() -> Vec<Vec<u8>> {
    let lines = traces().iter().flat_map(|trace| trace.agui().unwrap());
    let requests =
        lines.filter(|line| line["kind"] == "request" && line["path"] == "/" && line["body"].is_object());
    seeds(requests.map(|line| line["body"].to_string().into_bytes()))
}

/// Frames of the official binary encoder; the first byte is the size of the chunks.
pub(crate) fn frames() -> Vec<Vec<u8>> {
    let text = include_str!("../../../crates/agui-proto/tests/fixtures/frames.jsonl");
    // Only the frame is read: events may hold numbers that have no place in a value.
    let frames = text.lines().filter_map(|line| line.strip_prefix("{\"frame\":\"")?.split('"').next());
    let frames = frames.map(|digits| {
        let bytes = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
        std::iter::once(7).chain(bytes.map(|pair| u8::from_str_radix(pair, 16).unwrap())).collect()
    });
    seeds(frames)
}

fn seeds(all: impl Iterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = all.filter(|seed| seed.len() <= MAX_SEED_BYTES).collect();
    seeds.sort();
    seeds.dedup();
    assert!(!seeds.is_empty(), "the recordings are gone");
    seeds
}
