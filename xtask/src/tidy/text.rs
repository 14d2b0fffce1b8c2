//! Words that must not stay in a file.

use super::Finding;
use crate::workspace::SourceFile;

/// Recorded exchanges are not ours to reword.
const RECORDINGS: &str = "fixtures/";

/// Left-overs in code. Spelt in pieces, so that this file does not name itself.
const IN_RUST: &[(&str, &str)] = &[
    (concat!("to", "do!("), "unfinished code"),
    (concat!("unimple", "mented!("), "unfinished code"),
    (concat!("db", "g!("), "debugging output"),
    (concat!("#[al", "low("), "use `#[expect(lint, reason = \"…\")]`"),
    (concat!("#![al", "low("), "use `#![expect(lint, reason = \"…\")]`"),
    (concat!("#[ig", "nore"), "a test that does not run proves nothing"),
];

const EVERYWHERE: &[(&str, &str)] = &[
    (concat!("FIX", "ME"), "unfinished work"),
    (concat!("/wo", "rk/"), "path of a machine"),
    (concat!("/ro", "ot/"), "path of a machine"),
    (concat!("/tmp/bash", "_jobs"), "path of a machine"),
    (concat!("deb.", "debian.org"), "host of a package registry"),
    (concat!("index.", "crates.io"), "host of a package registry"),
    (concat!("static.", "crates.io"), "host of a package registry"),
    (concat!("files.", "pythonhosted.org"), "host of a package registry"),
    (concat!("pypi.", "org/simple"), "host of a package registry"),
    (concat!("registry.", "npmjs.org"), "host of a package registry"),
];

pub(super) fn check_file(file: &SourceFile) -> Vec<Finding> {
    if file.path.starts_with(RECORDINGS) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        let rust = if file.is_rust() { IN_RUST } else { &[] };
        for (word, why) in EVERYWHERE.iter().chain(rust) {
            if line.contains(word) {
                findings.push(Finding::at(file, number + 1, format!("`{word}`: {why}")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{super::file, *};

    #[test]
    fn every_listed_word_is_found_where_it_counts() {
        for (word, why) in IN_RUST {
            let found = check_file(&file("crates/a/src/lib.rs", format!("fn a() {{}}\n{word}\n")));
            assert_eq!(found, [Finding::at(&file("crates/a/src/lib.rs", ""), 2, format!("`{word}`: {why}"))]);
            assert_eq!(check_file(&file("docs/a.md", *word)), [], "{word} may be written about");
        }
        for (word, _) in EVERYWHERE {
            assert_eq!(check_file(&file("docs/a.md", *word)).len(), 1, "{word}");
            assert_eq!(check_file(&file("fixtures/traces/a/a2a.jsonl", *word)), [], "{word}");
        }
    }

    #[test]
    fn ordinary_paths_and_hosts_are_free() {
        let text = "see https://crates.io/crates/serde, /workspace/ws and /tmp/ws";
        assert_eq!(check_file(&file("README.md", text)), []);
    }
}
