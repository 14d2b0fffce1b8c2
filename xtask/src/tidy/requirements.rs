//! Every requirement, every known weakness and every field case is proved by tests that exist.

use std::collections::BTreeSet;

use super::{
    Finding,
    proofs::{self, Document},
    test_names,
};
use crate::workspace::SourceFile;

/// First and last number of each chapter of the requirements: S1.1 to S1.8, and so on.
const CHAPTERS: &[(u8, u8, u8)] = &[
    (1, 1, 8),
    (2, 1, 12),
    (3, 0, 4),
    (4, 1, 3),
    (5, 1, 4),
    (6, 1, 6),
    (7, 1, 3),
    (8, 1, 7),
    (9, 1, 2),
    (10, 1, 2),
    (11, 1, 7),
    (12, 1, 4),
];

/// The last weakness; 1b came later.
const LAST_WEAKNESS: u8 = 63;

/// The last requirement of the contract of AgentCore, and the last row of what its own kit gets wrong.
const LAST_CONTRACT: u8 = 35;
const LAST_ROW: u8 = 24;

/// The last field case, and the numbers that were never given.
const LAST_CASE: u8 = 77;
const NO_CASES: &[u8] = &[8, 10, 21, 35, 38, 39, 41, 43, 45, 47, 53, 58, 62, 66, 70, 75];

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let tests = test_names::collect(files);
    let mut findings = check_cited_ids(files);
    for document in documents() {
        findings.extend(proofs::check(&document, files, &tests));
    }
    findings
}

fn documents() -> [Document; 4] {
    [
        Document {
            path: "docs/requirements.md",
            what: "requirement",
            ids: requirements().collect(),
            takes_reasons: false,
        },
        Document {
            path: "docs/weaknesses.md",
            what: "weakness",
            ids: weaknesses().collect(),
            takes_reasons: false,
        },
        Document { path: "docs/cases.md", what: "case", ids: cases().collect(), takes_reasons: true },
        Document {
            path: "docs/agentcore-requirements.md",
            what: "requirement of AgentCore",
            ids: contract().collect(),
            takes_reasons: false,
        },
    ]
}

fn requirements() -> impl Iterator<Item = String> {
    CHAPTERS.iter().flat_map(|&(chapter, first, last)| (first..=last).map(move |n| format!("S{chapter}.{n}")))
}

fn weaknesses() -> impl Iterator<Item = String> {
    (1..=LAST_WEAKNESS).map(|number| number.to_string()).chain(["1b".to_owned()])
}

fn cases() -> impl Iterator<Item = String> {
    (1..=LAST_CASE).filter(|number| !NO_CASES.contains(number)).map(|number| format!("C{number:02}"))
}

/// R1 to R35 are the sentences of the contract, the rows are what the kit of the platform gets wrong.
fn contract() -> impl Iterator<Item = String> {
    let sentences = (1..=LAST_CONTRACT).map(|number| format!("R{number}"));
    sentences.chain((1..=LAST_ROW).map(|number| format!("row {number}")))
}

/// Tests whose name begins with an id must mean one that exists.
fn check_cited_ids(files: &[SourceFile]) -> Vec<Finding> {
    let known: BTreeSet<String> =
        requirements().chain(weaknesses()).chain(cases()).chain(contract()).collect();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        for (line, name) in test_names::tests(&file.text) {
            if cited_id(name).is_some_and(|id| !known.contains(&id)) {
                findings.push(Finding::at(file, line, format!("`{name}` cites an id that does not exist")));
            }
        }
    }
    findings
}

/// `S3.4` of `s3_4_secrets`, `41` of `w41_deltas` and `weakness_41_deltas`, `C06` of `c06_questions`, `R15`
/// of `r15_records`, `row 8` of `row_8_frames`; `None` for other names.
fn cited_id(name: &str) -> Option<String> {
    let (first, rest) = name.split_once('_')?;
    let second = rest.split('_').next().unwrap_or(rest);
    if let Some(chapter) = first.strip_prefix('s').filter(|text| is_number(text)) {
        return is_number(second).then(|| format!("S{chapter}.{second}"));
    }
    if let Some(case) = first.strip_prefix('c').filter(|text| is_number(text)) {
        return Some(format!("C{case:0>2}"));
    }
    if let Some(sentence) = first.strip_prefix('r').filter(|text| is_number(text)) {
        return Some(format!("R{sentence}"));
    }
    if first == "row" {
        return is_number(second).then(|| format!("row {second}"));
    }
    let weakness = if first.starts_with("weakness") { Some(second) } else { first.strip_prefix('w') };
    weakness.filter(|text| is_number(text)).map(str::to_owned)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{super::file, *};

    #[test]
    fn every_document_has_its_ids() {
        let [requirements, weaknesses, cases, contract] = documents().map(|document| document.ids);
        assert_eq!((requirements.len(), weaknesses.len(), cases.len()), (63, 64, 61));
        assert_eq!((contract.len(), contract[0].as_str(), contract[58].as_str()), (59, "R1", "row 24"));
        assert_eq!((requirements[8].as_str(), requirements[62].as_str()), ("S2.1", "S12.4"));
        assert_eq!((weaknesses[62].as_str(), weaknesses[63].as_str()), ("63", "1b"));
        assert_eq!((cases[0].as_str(), cases[60].as_str()), ("C01", "C77"));
    }

    #[test]
    fn every_document_is_looked_at() {
        let table: String = requirements().map(|id| format!("| {id} | text | `works` |\n")).collect();
        let files = [
            file("docs/requirements.md", table.replace("S2.3 | text | `works`", "S2.3 | text | none yet")),
            file(
                "docs/cases.md",
                cases().map(|id| format!("| {id} | text | Not tested: why |\n")).collect::<String>(),
            ),
            file("crates/a/src/lib.rs", "#[test]\nfn works() {}\n"),
        ];
        let found: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "docs/requirements.md:11: S2.3 names no test",
                "docs/weaknesses.md: the document is missing",
                "docs/agentcore-requirements.md: the document is missing",
            ]
        );
    }

    #[test]
    fn tests_cite_ids_that_exist() {
        let names = [
            ("s99_1_unknown", true),
            ("s3_0_strict", false),
            ("s5_text_becomes_one_message", false),
            ("sse_1_is_no_id", false),
            ("w64_unknown", true),
            ("weakness_64_unknown", true),
            ("weaknesses_10_and_48_known", false),
            ("w63_known", false),
            ("c08_unknown", true),
            ("c77_known", false),
            ("c_allow_once", false),
            ("r36_unknown", true),
            ("r35_known", false),
            ("row_25_unknown", true),
            ("row_24_known", false),
            ("row_of_names", false),
            ("works", false),
        ];
        for (name, unknown) in names {
            let found =
                check_cited_ids(&[file("crates/a/src/lib.rs", format!("#[test]\nfn {name}() {{}}\n"))]);
            let expected = format!("crates/a/src/lib.rs:2: `{name}` cites an id that does not exist");
            let expected = if unknown { vec![expected] } else { Vec::new() };
            assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
        }
        assert_eq!(check_cited_ids(&[file("a.rs", "fn s99_1_helper() {}\n")]), []);
    }
}
