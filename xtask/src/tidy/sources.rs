//! Public items of the libraries: each shows how it is used, or says where it comes from.
//!
//! A doc comment has a block of code, a line `Source: …` that names a protocol or requirement, or a line
//! `Example: see […]` with a link to an item that has a block of code. Read as text: what a macro makes is
//! not seen, and an item in a private module counts as public.

use std::collections::BTreeSet;

use super::Finding;
use crate::workspace::SourceFile;

/// Where the libraries are.
const LIBRARIES: &str = "crates/";

/// Libraries that only programs and tests of this workspace build with.
const INTERNAL: &[&str] = &["agui-testkit", "agui-host"];

const KEYWORDS: &[&str] = &["struct", "enum", "union", "trait", "fn", "const", "static", "type"];

/// What may stand between `pub` and the keyword of a function.
const QUALIFIERS: &[&str] = &["async ", "unsafe ", "const fn "];

const FENCE: &str = "```";
const SOURCE: &str = "Source: ";
const EXAMPLE: &str = "Example: see [`";

/// An item with what is written about it.
struct Item<'a> {
    /// 1-based.
    line: usize,
    /// At the top level of its file and `pub`.
    is_public: bool,
    name: &'a str,
    /// Lines of the doc comment, without its slashes.
    docs: Vec<&'a str>,
}

impl Item<'_> {
    fn has_code(&self) -> bool {
        self.docs.iter().any(|line| line.starts_with(FENCE))
    }

    fn has_source(&self) -> bool {
        self.docs.iter().any(|line| line.strip_prefix(SOURCE).is_some_and(|source| !source.trim().is_empty()))
    }

    /// The last part of the path in the link to an example.
    fn linked(&self) -> Option<&str> {
        let link = self.docs.iter().find_map(|line| line.strip_prefix(EXAMPLE))?;
        let (path, _) = link.split_once('`')?;
        Some(path.rsplit("::").next().unwrap_or(path).trim_end_matches("()"))
    }
}

/// Items that show nothing, links that lead to nothing, and sources that a reader does not have.
pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let sources: Vec<&SourceFile> = files.iter().filter(|file| is_library_source(&file.path)).collect();
    let with_code: BTreeSet<&str> = sources
        .iter()
        .flat_map(|file| items(&file.text))
        .filter(Item::has_code)
        .map(|item| item.name)
        .collect();
    let mut findings = Vec::new();
    for file in sources {
        for item in items(&file.text).iter().filter(|item| item.is_public) {
            if item.has_code() || item.has_source() {
                continue;
            }
            let fault = match item.linked() {
                None => "no example, `Source:` or `Example:`".to_owned(),
                Some(target) if with_code.contains(target) => continue,
                Some(target) => format!("`{target}` has no example"),
            };
            findings.push(Finding::at(file, item.line, format!("`{}`: {fault}", item.name)));
        }
        for (index, line) in file.text.lines().enumerate() {
            if is_comment(line) && line.split_once(SOURCE).is_some_and(|(_, source)| source.contains(".md")) {
                findings.push(Finding::at(file, index + 1, "a source is a protocol, not a file"));
            }
        }
    }
    findings
}

fn is_library_source(path: &str) -> bool {
    let mut parts = path.strip_prefix(LIBRARIES).unwrap_or("").split('/');
    let is_published = parts.next().is_some_and(|package| !INTERNAL.contains(&package));
    is_published
        && parts.next() == Some("src")
        && path.ends_with(".rs")
        && parts.all(|part| !matches!(part, "tests" | "tests.rs"))
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// Every item, also methods and private ones: an example may be there.
fn items(text: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut docs = Vec::new();
    let mut in_attribute = false;
    for (index, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if in_attribute {
            in_attribute = !line.trim_end().ends_with(")]");
        } else if let Some(doc) = code.strip_prefix("///") {
            docs.push(doc.strip_prefix(' ').unwrap_or(doc));
        } else if code.starts_with("#[") {
            in_attribute = !line.trim_end().ends_with(']');
        } else if !is_comment(line) {
            let docs = std::mem::take(&mut docs);
            if let Some(name) = name(code) {
                items.push(Item { line: index + 1, is_public: line.starts_with("pub "), name, docs });
            }
        }
    }
    items
}

/// Name of the item that begins here.
fn name(code: &str) -> Option<&str> {
    let mut code = code.strip_prefix("pub ").unwrap_or(code);
    for qualifier in QUALIFIERS {
        code = match code.strip_prefix(qualifier) {
            Some(rest) if qualifier.ends_with("fn ") => return Some(word(rest)),
            Some(rest) => rest,
            None => code,
        };
    }
    let (keyword, rest) = code.split_once(' ')?;
    KEYWORDS.contains(&keyword).then(|| word(rest))
}

fn word(code: &str) -> &str {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(code)
}

#[cfg(test)]
mod tests {
    use super::{super::file, *};

    fn messages(files: &[SourceFile]) -> Vec<String> {
        check(files).iter().map(ToString::to_string).collect()
    }

    fn of(text: &str) -> Vec<String> {
        messages(&[file("crates/a/src/lib.rs", text)])
    }

    #[test]
    fn a_public_item_needs_an_example_or_a_source() {
        let missing = "crates/a/src/lib.rs:2: `A`: no example, `Source:` or `Example:`";
        for item in [
            "pub struct A;",
            "pub enum A {}",
            "pub trait A: Send {}",
            "pub fn A() {}",
            "pub async fn A() {}",
            "pub const fn A() {}",
            "pub const A: u8 = 1;",
            "pub type A<T> = T;",
        ] {
            assert_eq!(of(&format!("/// One.\n{item}\n")), [missing], "{item}");
            assert_eq!(of(&format!("/// One.\n///\n/// Source: RFC 6902.\n{item}\n")), [""; 0], "{item}");
            assert_eq!(of(&format!("/// ```\n/// one();\n/// ```\n{item}\n")), [""; 0], "{item}");
        }
        assert_eq!(of("\npub struct A;\n"), [missing]);
        assert_eq!(of("/// Source: \npub struct A;\n"), [missing]);
    }

    #[test]
    fn a_link_leads_to_an_item_with_code() {
        let link = "/// Example: see [`B::run`].\npub struct A;\n";
        let method = "impl B {\n    /// ```\n    /// ```\n    #[must_use]\n    pub fn run() {}\n}\n";
        assert_eq!(of(&format!("{link}{method}")), [""; 0]);
        let elsewhere = [file("crates/a/src/lib.rs", link), file("crates/b/src/lib.rs", method)];
        assert_eq!(messages(&elsewhere), [""; 0]);
        assert_eq!(of(link), ["crates/a/src/lib.rs:2: `A`: `run` has no example"]);
    }

    #[test]
    fn attributes_may_stand_between() {
        let text = "/// Source: S1.1.\n#[derive(Debug)]\n#[expect(\n    dead_code,\n    reason = \"why\"\n)]\n\
                    // Why.\npub struct A;\n";
        assert_eq!(of(text), [""; 0]);
    }

    #[test]
    fn the_docs_of_an_item_are_not_those_of_the_next() {
        let text = "/// Source: S1.1.\npub struct A {\n    /// One.\n    pub b: u8,\n}\n\npub struct B;\n";
        assert_eq!(of(text), ["crates/a/src/lib.rs:7: `B`: no example, `Source:` or `Example:`"]);
    }

    #[test]
    fn what_others_cannot_build_with_is_free() {
        let text = "pub struct A;\n";
        for path in [
            "crates/agui-testkit/src/lib.rs",
            "crates/agui-host/src/lib.rs",
            "crates/a/src/b/tests.rs",
            "crates/a/src/b/tests/c.rs",
            "crates/a/tests/it/main.rs",
            "bins/a/src/main.rs",
            "crates/a/README.md",
        ] {
            assert_eq!(messages(&[file(path, text)]), [""; 0], "{path}");
        }
        assert_eq!(of("pub(crate) struct A;\npub use b::B;\npub mod b;\nstruct C;\n"), [""; 0]);
    }

    #[test]
    fn a_source_is_not_a_file() {
        let text = "/// Source: a.md section 2.\npub struct A;\n";
        assert_eq!(of(text), ["crates/a/src/lib.rs:1: a source is a protocol, not a file"]);
    }
}
