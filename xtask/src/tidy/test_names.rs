//! The names under which tests can be cited.

use std::collections::BTreeSet;

use crate::workspace::SourceFile;

/// Names of the functions that carry a test attribute, and of the scenarios of the peers.
pub(super) fn collect(files: &[SourceFile]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in files {
        if file.is_rust() && is_compiled(file, files) {
            names.extend(tests(&file.text).map(|(_, name)| name.to_owned()));
            names.extend(functions(property_tests(&file.text)).map(|(_, name)| name.to_owned()));
        } else if file.path.starts_with("peers/lab/scenarios/") && file.path.ends_with(".py") {
            let scenarios = file.text.lines().filter_map(|line| line.strip_suffix("(lab: Lab) -> None:"));
            names.extend(scenarios.filter_map(|line| line.strip_prefix("async def ")).map(str::to_owned));
        }
    }
    names
}

/// Whether the file is a root, or a module of the file that is one level up: nobody runs the tests of a
/// file that was forgotten in its `main.rs`.
fn is_compiled(file: &SourceFile, files: &[SourceFile]) -> bool {
    let Some((dir, name)) = file.path.rsplit_once('/') else { return true };
    if matches!(name, "main.rs" | "lib.rs") {
        return true;
    }
    let declaration = format!("mod {};", name.trim_end_matches(".rs"));
    let parents = [format!("{dir}/main.rs"), format!("{dir}/lib.rs"), format!("{dir}.rs")];
    let mut declaring = files.iter().filter(|parent| parents.contains(&parent.path));
    declaring.any(|parent| parent.text.lines().any(|line| line.trim().ends_with(&declaration)))
}

/// Functions with a test attribute, and the 1-based lines of their `fn`.
pub(super) fn tests(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    functions(text).filter(move |&(line, _)| is_test(&lines[..line - 1]))
}

/// The last part of a path such as `module::test`.
pub(super) fn last_part(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
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

/// Whether the attributes at the end of `above` make a test of what follows.
fn is_test(above: &[&str]) -> bool {
    above.iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//")).any(|line| {
        let attribute = line.trim_start_matches("#[").split(['(', ']']).next().unwrap_or("");
        attribute == "test" || attribute.ends_with("::test")
    })
}

/// What stands in `proptest!`: its functions are all tests, wherever their attribute is.
fn property_tests(text: &str) -> &str {
    text.split_once("proptest! {").map_or("", |(_, inside)| inside)
}

#[cfg(test)]
mod tests {
    use super::{super::file, *};

    fn names(path: &str, text: &str) -> Vec<String> {
        collect(&[file(path, text)]).into_iter().collect()
    }

    #[test]
    fn only_functions_with_a_test_attribute_count() {
        let code = "#[test]\nfn a() {}\n\n#[tokio::test(flavor = \"multi_thread\")]\n// why\n#[cfg(unix)]\n\
                    async fn b() {}\n\nfn helper() {}\n#[cfg(test)]\nfn c() {}\n";
        assert_eq!(names("crates/a/src/lib.rs", code), ["a", "b"]);
        assert_eq!(names("crates/a/README.md", code), [""; 0]);
    }

    #[test]
    fn files_that_are_no_modules_do_not_count() {
        let test = |name: &str| format!("#[test]\nfn {name}() {{}}\n");
        let files = [
            file("crates/a/tests/it/main.rs", "mod known;\n#[cfg(unix)]\nmod deep;\n// mod forgotten here\n"),
            file("crates/a/tests/it/known.rs", test("a")),
            file("crates/a/tests/it/deep.rs", "pub(crate) mod inner;\n"),
            file("crates/a/tests/it/deep/inner.rs", test("b")),
            file("crates/a/tests/it/forgotten.rs", test("c")),
        ];
        assert_eq!(collect(&files).into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn property_tests_count_as_tests() {
        let code = "proptest! {\n    #[test]\n    fn any_split(x in 0..9u8) { let _ = x; }\n}\n";
        assert_eq!(names("crates/a/src/lib.rs", code), ["any_split"]);
    }

    #[test]
    fn scenarios_of_the_peers_count_and_their_helpers_do_not() {
        let code = "async def c_allow_once(lab: Lab) -> None:\n    pass\n\nasync def helper(lab: Lab, n: int) -> None:\n";
        assert_eq!(names("peers/lab/scenarios/permissions.py", code), ["c_allow_once"]);
        assert_eq!(names("peers/lab/drive.py", code), [""; 0]);
    }
}
