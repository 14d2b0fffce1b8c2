//! Sizes and places of files.

use std::path::Path;

use super::Finding;
use crate::workspace::{Package, SourceFile};

/// Lines that a source file may have, its tests not counted: a longer one holds two concepts.
const MAX_LINES: usize = 500;

/// Where the packages are that other packages build with.
const LIBRARIES: &str = "crates/";

/// Ends of the names of files that [`MAX_LINES`] is about.
const SOURCE_SUFFIXES: &[&str] = &[".rs", ".py", ".mjs"];

/// Line count, and names that the module layout does not know.
pub(super) fn check_file(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = lines_without_tests(file);
    if lines > MAX_LINES {
        findings
            .push(Finding::whole(&file.path, format!("{lines} lines without tests, {MAX_LINES} at most")));
    }
    if file_name(&file.path) == "mod.rs" {
        findings.push(Finding::whole(&file.path, "modules are `foo.rs` beside `foo/`"));
    }
    findings
}

/// A README for each package, with an example if others build with it, and one binary of integration tests.
pub(super) fn check_packages(files: &[SourceFile], packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let dir = package.dir.to_string_lossy().replace('\\', "/");
        if !files.iter().any(|file| file.path == format!("{dir}/README.md")) {
            findings.push(Finding::whole(&dir, "every package has a README.md"));
        } else if dir.starts_with(LIBRARIES) && !has_compiled_example(files, &dir) {
            findings.push(Finding::whole(&dir, "the README of a library has an example that is compiled"));
        }
        let tests = format!("{dir}/tests/");
        for file in files.iter().filter(|file| file.is_rust()) {
            let Some(inner) = file.path.strip_prefix(&tests) else { continue };
            let own_binary =
                !inner.contains('/') || inner.matches('/').count() == 1 && inner.ends_with("/main.rs");
            if own_binary && inner != "it/main.rs" {
                findings
                    .push(Finding::whole(&file.path, "integration tests are modules of tests/it/main.rs"));
            }
        }
    }
    findings
}

/// Whether the README shows code, and the library takes it in as documentation.
fn has_compiled_example(files: &[SourceFile], dir: &str) -> bool {
    let holds = |path: &str, texts: &[&str]| {
        let file = files.iter().find(|file| file.path == format!("{dir}/{path}"));
        file.is_some_and(|file| texts.iter().any(|text| file.text.contains(text)))
    };
    // A fence without a word is Rust, too; what follows it tells it from the end of another block.
    holds("README.md", &["```rust", "\n```\nuse "])
        && holds("src/lib.rs", &["#![doc = include_str!(\"../README.md\")]"])
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn lines_without_tests(file: &SourceFile) -> usize {
    if !SOURCE_SUFFIXES.iter().any(|suffix| file.path.ends_with(suffix)) || is_test_file(&file.path) {
        return 0;
    }
    let mut count = 0;
    let mut in_tests = false;
    let mut lines = file.text.lines().peekable();
    while let Some(line) = lines.next() {
        let opens = line == "#[cfg(test)]"
            && lines.peek().is_some_and(|next| next.starts_with("mod ") && next.ends_with('{'));
        in_tests |= opens;
        count += usize::from(!in_tests);
        in_tests &= line != "}";
    }
    count
}

fn is_test_file(path: &str) -> bool {
    let path = Path::new(path);
    path.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{super::file, *};

    fn messages(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_tests_in_a_file_do_not_count() {
        let code = "fn a() {}\n".repeat(MAX_LINES);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "    fn b() {}\n".repeat(300));
        assert_eq!(check_file(&file("crates/a/src/lib.rs", format!("{code}{tests}"))), []);
        let found = check_file(&file("crates/a/src/lib.rs", format!("{code}{tests}fn last() {{}}\n")));
        assert_eq!(messages(&found), ["crates/a/src/lib.rs: 501 lines without tests, 500 at most"]);
    }

    #[test]
    fn files_of_tests_may_be_long() {
        let long = "fn a() {}\n".repeat(MAX_LINES + 1);
        for path in ["crates/a/tests/it/runs.rs", "crates/a/src/state/tests.rs", "docs/long.md"] {
            assert_eq!(check_file(&file(path, long.clone())), [], "{path}");
        }
        assert_eq!(check_file(&file("peers/lab/long.py", long)).len(), 1);
    }

    #[test]
    fn mod_rs_is_found() {
        let found = check_file(&file("crates/a/src/state/mod.rs", ""));
        assert_eq!(messages(&found), ["crates/a/src/state/mod.rs: modules are `foo.rs` beside `foo/`"]);
    }

    #[test]
    fn each_package_has_a_readme_and_one_test_binary() {
        let package = Package {
            name: "a".to_owned(),
            dir: PathBuf::from("crates/a"),
            dependencies: Vec::new(),
            features: Vec::new(),
            is_published: true,
        };
        let good = [
            "crates/a/README.md",
            "crates/a/src/lib.rs",
            "crates/a/tests/it/main.rs",
            "crates/a/tests/ui/one.rs",
        ];
        let text = "#![doc = include_str!(\"../README.md\")]\n```rust\n```\n";
        let good: Vec<SourceFile> = good.iter().map(|path| file(path, text)).collect();
        assert_eq!(check_packages(&good, std::slice::from_ref(&package)), []);
        let silent: Vec<SourceFile> = good.iter().map(|readme| file(&readme.path, "")).collect();
        assert_eq!(
            messages(&check_packages(&silent, std::slice::from_ref(&package))),
            ["crates/a: the README of a library has an example that is compiled"]
        );
        let bad = ["crates/a/tests/more.rs", "crates/a/tests/other/main.rs"];
        let bad: Vec<SourceFile> = bad.iter().map(|path| file(path, "")).collect();
        assert_eq!(
            messages(&check_packages(&bad, &[package])),
            [
                "crates/a: every package has a README.md",
                "crates/a/tests/more.rs: integration tests are modules of tests/it/main.rs",
                "crates/a/tests/other/main.rs: integration tests are modules of tests/it/main.rs",
            ]
        );
    }
}
