//! Every requirement is proved by tests that exist.
//!
//! `docs/requirements.md` has one table row a requirement: the id in the first cell, the tests that
//! prove it in the last one, each in backticks. A test is named by its function, or by its path.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::workspace::SourceFile;

const DOCUMENT: &str = "docs/requirements.md";

/// First and last number of each chapter of the requirements: S1.1 to S1.8, and so on.
const CHAPTERS: &[(u8, u8, u8)] = &[
    (1, 1, 8),
    (2, 1, 12),
    (3, 0, 4),
    (4, 1, 3),
    (5, 1, 5),
    (6, 1, 6),
    (7, 1, 3),
    (8, 1, 7),
    (9, 1, 2),
    (10, 1, 2),
    (11, 1, 7),
    (12, 1, 4),
];

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let tests = test_names(files);
    let mut findings = check_cited_ids(files);
    let Some(document) = files.iter().find(|file| file.path == DOCUMENT) else { return findings };
    let rows = rows(&document.text);
    for id in ids() {
        let Some((line, cited)) = rows.get(&id) else {
            findings.push(Finding::whole(DOCUMENT, format!("{id} has no row")));
            continue;
        };
        if cited.is_empty() {
            findings.push(Finding::at(document, *line, format!("{id} names no test")));
        }
        for name in cited.iter().filter(|name| !tests.contains(last_part(name))) {
            findings.push(Finding::at(document, *line, format!("{id}: no test is named `{name}`")));
        }
    }
    for (id, (line, _)) in &rows {
        if !ids().any(|known| known == *id) {
            findings.push(Finding::at(document, *line, format!("{id} is no requirement")));
        }
    }
    findings
}

fn ids() -> impl Iterator<Item = String> {
    CHAPTERS.iter().flat_map(|&(chapter, first, last)| (first..=last).map(move |n| format!("S{chapter}.{n}")))
}

/// Test functions whose name starts with a requirement id must mean one that exists.
fn check_cited_ids(files: &[SourceFile]) -> Vec<Finding> {
    let known: BTreeSet<String> = ids().map(|id| id.to_lowercase().replace('.', "_")).collect();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        for (line, name) in functions(&file.text) {
            let Some(prefix) = id_prefix(name) else { continue };
            if !known.contains(&prefix) {
                findings.push(Finding::at(
                    file,
                    line,
                    format!("`{name}` cites a requirement that does not exist"),
                ));
            }
        }
    }
    findings
}

/// `s3_4` of `s3_4_secrets_stay_out`; `None` for other names.
fn id_prefix(name: &str) -> Option<String> {
    let (chapter, rest) = name.strip_prefix('s')?.split_once('_')?;
    let (number, _) = rest.split_once('_')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(chapter) && is_number(number)).then(|| format!("s{chapter}_{number}"))
}

fn last_part(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Requirement rows by id: line of the row and the tests that it names.
fn rows(text: &str) -> BTreeMap<String, (usize, Vec<String>)> {
    let mut rows = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let Some(row) = line.trim().strip_prefix('|') else { continue };
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        let [id, .., tests] = cells.as_slice() else { continue };
        let is_id = id.strip_prefix('S').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if is_id {
            let names = tests.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            rows.insert((*id).to_owned(), (index + 1, names));
        }
    }
    rows
}

/// Names of the functions that carry a test attribute, and of the scenarios of the peers.
fn test_names(files: &[SourceFile]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in files {
        if file.is_rust() {
            names.extend(
                functions(&file.text)
                    .filter(|&(line, _)| is_test(&file.text, line))
                    .map(|(_, name)| name.to_owned()),
            );
            names.extend(proptest_functions(&file.text));
        } else if file.path.starts_with("peers/") && file.path.ends_with(".py") {
            let defined = file.text.lines().filter_map(|line| line.strip_prefix("async def "));
            names.extend(defined.filter_map(|rest| rest.split('(').next()).map(str::to_owned));
        }
    }
    names
}

/// Functions with the 1-based lines of their `fn`.
fn functions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter_map(|(index, line)| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub(crate) ").or_else(|| line.strip_prefix("pub ")).unwrap_or(line);
        let rest = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ")?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        Some((index + 1, &rest[..end]))
    })
}

/// Whether the attributes right above the 1-based `line` make it a test.
fn is_test(text: &str, line: usize) -> bool {
    let lines: Vec<&str> = text.lines().take(line - 1).map(str::trim).collect();
    lines.iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//")).any(|line| {
        let attribute = line.trim_start_matches("#[").split(['(', ']']).next().unwrap_or("");
        attribute == "test" || attribute.ends_with("::test")
    })
}

/// `proptest!` takes functions whose test attribute may be anywhere above them; all are tests.
fn proptest_functions(text: &str) -> impl Iterator<Item = String> {
    let inside = text.split_once("proptest! {").map_or("", |(_, inside)| inside);
    functions(inside).map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{super::file, *};

    const TESTS: &str = "#[test]\nfn s1_1_health_is_open() {}\n\n#[tokio::test]\nasync fn busy_threads_wait() {}\n\nfn helper() {}\n";

    fn document(change: impl Fn(&str) -> Option<String>) -> SourceFile {
        let rows: String = ids()
            .map(|id| change(&id).unwrap_or_else(|| format!("| {id} | text | `s1_1_health_is_open` |\n")))
            .collect();
        file(DOCUMENT, format!("| id | what | tests |\n|---|---|---|\n{rows}"))
    }

    fn problems(document: SourceFile, code: &str) -> Vec<String> {
        check(&[document, file("crates/a/tests/it/main.rs", code)]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_complete_table_is_accepted() {
        let cited = "| S9.1 | a `b` | `it::busy_threads_wait`, `s1_1_health_is_open` |\n".to_owned();
        let document = document(|id| (id == "S9.1").then(|| cited.clone()));
        assert_eq!(problems(document, TESTS), Vec::<String>::new());
    }

    #[test]
    fn missing_rows_and_tests_are_found() {
        let document = document(|id| match id {
            "S2.3" => Some(String::new()),
            "S4.2" => Some("| S4.2 | text | none yet |\n".to_owned()),
            "S12.4" => {
                Some("| S12.4 | text | `helper` |\n| S13.1 | text | `s1_1_health_is_open` |\n".to_owned())
            }
            _ => None,
        });
        assert_eq!(
            problems(document, TESTS),
            [
                "docs/requirements.md: S2.3 has no row",
                "docs/requirements.md:28: S4.2 names no test",
                "docs/requirements.md:65: S12.4: no test is named `helper`",
                "docs/requirements.md:66: S13.1 is no requirement",
            ]
        );
    }

    #[test]
    fn tests_cite_requirements_that_exist() {
        let code =
            "#[test]\nfn s99_1_unknown() {}\n#[test]\nfn s3_0_strict() {}\n#[test]\nfn sse_1_is_no_id() {}\n";
        let found: Vec<String> =
            check(&[file("crates/a/src/lib.rs", code)]).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["crates/a/src/lib.rs:2: `s99_1_unknown` cites a requirement that does not exist"]);
    }

    #[test]
    fn property_tests_count_as_tests() {
        let code =
            "proptest! {\n    #[test]\n    fn any_split_gives_the_same(x in 0..9u8) { let _ = x; }\n}\n";
        assert!(test_names(&[file("crates/a/src/lib.rs", code)]).contains("any_split_gives_the_same"));
    }
}
