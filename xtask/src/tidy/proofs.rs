//! Documents that name the tests which prove them.
//!
//! Each has one table row for each of its ids: the id in the first cell, the tests in backticks in the
//! last one. A test is named by its function, or by its path. Where a document admits it, the last cell
//! may say why there is no test instead.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, test_names};
use crate::workspace::SourceFile;

/// Begins the last cell of a row without a test.
const NOT_TESTED: &str = "Not tested: ";

/// What a document has to prove.
pub(super) struct Document {
    pub(super) path: &'static str,
    /// What an id stands for: "requirement".
    pub(super) what: &'static str,
    pub(super) ids: Vec<String>,
    /// Whether a row may give a reason instead of a test.
    pub(super) takes_reasons: bool,
}

/// A row that begins with an id.
struct Row<'a> {
    line: usize,
    /// The cell with the tests.
    proof: &'a str,
}

impl Row<'_> {
    /// What stands in backticks.
    fn cited(&self) -> impl Iterator<Item = &str> {
        self.proof.split('`').skip(1).step_by(2)
    }

    fn has_reason(&self) -> bool {
        self.proof.strip_prefix(NOT_TESTED).is_some_and(|reason| !reason.trim().is_empty())
    }
}

/// Every id has its row, every row its tests, and every test is there.
pub(super) fn check(document: &Document, files: &[SourceFile], tests: &BTreeSet<String>) -> Vec<Finding> {
    let Some(file) = files.iter().find(|file| file.path == document.path) else {
        return vec![Finding::whole(document.path, "the document is missing")];
    };
    let (rows, mut findings) = rows(file, document);
    for id in &document.ids {
        match rows.get(id.as_str()) {
            None => findings.push(Finding::whole(document.path, format!("{id} has no row"))),
            Some(row) => findings.extend(check_row(document, file, id, row, tests)),
        }
    }
    findings
}

fn check_row(
    document: &Document,
    file: &SourceFile,
    id: &str,
    row: &Row<'_>,
    tests: &BTreeSet<String>,
) -> Vec<Finding> {
    let at = |message: String| Finding::at(file, row.line, message);
    let unknown = row.cited().filter(|name| !tests.contains(test_names::last_part(name)));
    let mut findings: Vec<Finding> =
        unknown.map(|name| at(format!("{id}: no test is named `{name}`"))).collect();
    if row.cited().next().is_none() && !(document.takes_reasons && row.has_reason()) {
        findings.push(at(format!("{id} names no test")));
    }
    findings
}

/// The rows by id; ids that come twice or that nobody knows are findings.
fn rows<'a>(file: &'a SourceFile, document: &Document) -> (BTreeMap<&'a str, Row<'a>>, Vec<Finding>) {
    let (mut rows, mut findings) = (BTreeMap::new(), Vec::new());
    for (index, line) in file.text.lines().enumerate() {
        let Some(row) = line.trim().strip_prefix('|') else { continue };
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        let [id, .., proof] = cells.as_slice() else { continue };
        if !id.contains(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let line = index + 1;
        if !document.ids.iter().any(|known| known == id) {
            findings.push(Finding::at(file, line, format!("{id} is no {}", document.what)));
        } else if rows.insert(*id, Row { line, proof }).is_some() {
            findings.push(Finding::at(file, line, format!("{id} comes twice")));
        }
    }
    (rows, findings)
}

#[cfg(test)]
mod tests {
    use super::{super::file, *};

    fn document(takes_reasons: bool) -> Document {
        let ids = ["1", "1b", "2"].map(str::to_owned).to_vec();
        Document { path: "docs/a.md", what: "weakness", ids, takes_reasons }
    }

    fn problems(takes_reasons: bool, text: &str) -> Vec<String> {
        let tests = ["first", "second"].map(str::to_owned).into();
        let files = [file("docs/a.md", format!("# A\n\n| # | what | test |\n|---|---|---|\n{text}"))];
        check(&document(takes_reasons), &files, &tests).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_complete_table_is_accepted() {
        let text =
            "| 1 | a `b` | `it::first`, `second` |\n| 1b | a | live: `second` |\n| 2 | a | `first` |\n";
        assert_eq!(problems(false, text), [""; 0]);
    }

    #[test]
    fn rows_that_are_missing_doubled_or_of_no_id_are_found() {
        let text = "| 1 | a | `first` |\n| 1 | b | `first` |\n| 2 | c | `second` |\n| 3 | d | `first` |\n";
        assert_eq!(
            problems(false, text),
            ["docs/a.md:6: 1 comes twice", "docs/a.md:8: 3 is no weakness", "docs/a.md: 1b has no row"]
        );
    }

    #[test]
    fn rows_without_a_test_or_with_one_that_is_not_there_are_found() {
        let text = "| 1 | a | `third`, `first` |\n| 1b | `first` | see above |\n| 2 | c | `first` |\n";
        assert_eq!(
            problems(true, text),
            ["docs/a.md:5: 1: no test is named `third`", "docs/a.md:6: 1b names no test"]
        );
    }

    #[test]
    fn a_reason_counts_where_the_document_admits_it() {
        let text =
            "| 1 | a | `first` |\n| 1b | b | Not tested: it is another program |\n| 2 | c | Not tested:  |\n";
        assert_eq!(problems(true, text), ["docs/a.md:7: 2 names no test"]);
        assert_eq!(problems(false, text), ["docs/a.md:6: 1b names no test", "docs/a.md:7: 2 names no test"]);
    }

    #[test]
    fn a_document_that_is_not_there_is_found() {
        let found = check(&document(false), &[], &BTreeSet::new());
        assert_eq!(found, [Finding::whole("docs/a.md", "the document is missing")]);
    }
}
