//! Dependencies between the crates only point down.

use std::fs;

use anyhow::Result;

use crate::{
    verdict::Verdict,
    workspace::{Package, Workspace},
};

/// One row of the layer table.
#[derive(Debug, Clone, Copy)]
struct Row {
    name: &'static str,
    layer: u8,
    /// No clock, random source, file, socket or runtime.
    pure: bool,
    /// Crates of its own layer that it may know.
    beside: &'static [&'static str],
    /// Crates of lower layers that it must not know all the same.
    not: &'static [&'static str],
}

const fn pure(name: &'static str, layer: u8) -> Row {
    Row { name, layer, pure: true, beside: &[], not: &[] }
}

const fn edge(name: &'static str, layer: u8, not: &'static [&'static str]) -> Row {
    Row { name, layer, pure: false, beside: &[], not }
}

/// What speaks A2A, which the two crates at the HTTP edge must not know.
const KERNEL_SIDE: &[&str] = &["a2a-client", "a2a-wire", "agui-adapter", "agui-mapper", "agui-store"];

/// The layer table; a crate may depend on crates of lower layers only.
///
/// The test kit stands so high because only programs may have it as a normal dependency.
const TABLE: &[Row] = &[
    pure("a2a-wire", 0),
    pure("agui-core", 0),
    pure("agui-iac-code", 0),
    pure("sse-frame", 0),
    pure("agui-i18n", 1),
    pure("agui-mapper", 1),
    pure("agui-proto", 1),
    edge("agui-tls", 1, &[]),
    Row { beside: &["agui-tls"], ..edge("http-exchange", 1, &[]) },
    edge("a2a-client", 2, &["agui-mapper", "agui-core"]),
    edge("agui-client", 2, &["a2a-wire", "agui-iac-code", "agui-mapper"]),
    edge("agui-store", 2, &["a2a-wire", "agui-mapper"]),
    edge("agui-adapter", 3, &[]),
    edge("agui-relay", 3, &["a2a-client", "a2a-wire", "agui-adapter", "agui-mapper"]),
    edge("agui-auth", 4, KERNEL_SIDE),
    Row { beside: &["agui-auth"], ..edge("agui-transport", 4, KERNEL_SIDE) },
    edge("agui-ws", 4, KERNEL_SIDE),
    edge("agui-testkit", 4, &[]),
    edge("agui-host", 5, &[]),
];

/// Layer of everything under these directories: programs, which nobody depends on.
const PROGRAM_DIRS: &[&str] = &["bins", "examples", "xtask"];
const PROGRAM_LAYER: u8 = 6;

/// Third-party crates that pure crates may use: they neither wait nor look at the machine.
const PURE_DEPENDENCIES: &[&str] = &[
    "base64",
    "bytes",
    "fluent-bundle",
    "futures-core",
    "json-patch",
    "memchr",
    "prost",
    "schemars",
    "serde",
    "serde_json",
    "sha2",
    "thiserror",
    "unic-langid",
    "zeroize",
];

pub(crate) fn run(workspace: &Workspace) -> Result<Verdict> {
    let packages = workspace.packages()?;
    let mut findings = check_dependencies(&packages);
    findings.extend(check_purity_lints(workspace, &packages));
    Ok(Verdict::from_findings(findings, format!("{} packages", packages.len())))
}

fn row_of(package: &Package) -> Option<Row> {
    let program = PROGRAM_DIRS.iter().any(|dir| package.dir.starts_with(dir));
    if program {
        return Some(edge("program", PROGRAM_LAYER, &[]));
    }
    TABLE.iter().copied().find(|row| row.name == package.name)
}

fn check_dependencies(packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    for row in TABLE {
        if !packages.iter().any(|package| package.name == row.name) {
            findings.push(format!("{}: in the layer table, but not in the workspace", row.name));
        }
    }
    for package in packages {
        match row_of(package) {
            Some(row) => findings.extend(check_package(package, row, packages)),
            None => findings.push(format!("{}: not in the layer table", package.name)),
        }
    }
    findings
}

fn check_package(package: &Package, row: Row, packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    for name in &package.dependencies {
        let ours = packages.iter().find(|other| other.name == *name);
        match ours.map(row_of) {
            Some(Some(other)) if row.beside.contains(&other.name) => {}
            Some(Some(other)) if other.layer >= row.layer => findings.push(format!(
                "{} (layer {}) depends on {name} (layer {}): arrows only point down",
                package.name, row.layer, other.layer
            )),
            Some(_) if row.not.contains(&name.as_str()) => {
                findings.push(format!("{} must not know {name}", package.name));
            }
            Some(_) => {}
            None if row.pure && !PURE_DEPENDENCIES.contains(&name.as_str()) => {
                findings
                    .push(format!("{} is pure, and {name} is not on the list for pure crates", package.name));
            }
            None => {}
        }
    }
    findings
}

/// Every pure crate bans the same calls, so their `clippy.toml` files are one text.
fn check_purity_lints(workspace: &Workspace, packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    let mut model: Option<(&str, Vec<u8>)> = None;
    for package in packages.iter().filter(|package| row_of(package).is_some_and(|row| row.pure)) {
        match (fs::read(workspace.path(&package.dir).join("clippy.toml")), &model) {
            (Err(_), _) => findings.push(format!("{}: a pure crate needs a clippy.toml", package.name)),
            (Ok(text), Some((_, same))) if text == *same => {}
            (Ok(_), Some((name, _))) => {
                findings.push(format!("{}: clippy.toml differs from that of {name}", package.name));
            }
            (Ok(text), None) => model = Some((&package.name, text)),
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn package(name: &str, dir: &str, dependencies: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            dir: PathBuf::from(dir),
            dependencies: dependencies.iter().map(|&name| name.to_owned()).collect(),
            features: Vec::new(),
            is_published: true,
        }
    }

    /// Every crate of the table without dependencies, with some replaced.
    fn tree(changed: &[(&str, &[&str])]) -> Vec<Package> {
        let mut packages: Vec<Package> =
            TABLE.iter().map(|row| package(row.name, &format!("crates/{}", row.name), &[])).collect();
        for (name, dependencies) in changed {
            packages.retain(|package| package.name != *name);
            packages.push(package(name, &format!("crates/{name}"), dependencies));
        }
        packages
    }

    #[test]
    fn arrows_that_point_down_are_accepted() {
        let packages = tree(&[
            ("agui-mapper", &["agui-core", "a2a-wire", "serde_json"]),
            ("agui-transport", &["agui-auth", "tokio"]),
        ]);
        assert_eq!(check_dependencies(&packages), Vec::<String>::new());
    }

    #[test]
    fn arrows_that_point_up_or_sideways_are_found() {
        let found =
            check_dependencies(&tree(&[("agui-core", &["a2a-wire"]), ("agui-adapter", &["agui-testkit"])]));
        assert_eq!(
            found,
            [
                "agui-core (layer 0) depends on a2a-wire (layer 0): arrows only point down",
                "agui-adapter (layer 3) depends on agui-testkit (layer 4): arrows only point down",
            ]
        );
    }

    #[test]
    fn pure_crates_take_listed_dependencies_only() {
        let found = check_dependencies(&tree(&[("sse-frame", &["bytes", "memchr", "tokio"])]));
        assert_eq!(found, ["sse-frame is pure, and tokio is not on the list for pure crates"]);
    }

    #[test]
    fn the_http_edge_does_not_know_the_kernel() {
        let found = check_dependencies(&tree(&[("agui-transport", &["agui-core", "a2a-client", "hyper"])]));
        assert_eq!(found, ["agui-transport must not know a2a-client"]);
    }

    #[test]
    fn unknown_and_missing_crates_are_found() {
        let mut packages = tree(&[]);
        packages.retain(|package| package.name != "agui-auth");
        packages.push(package("agui-extra", "crates/agui-extra", &[]));
        packages.push(package("agui-server", "bins/agui-server", &["agui-adapter", "agui-transport"]));
        assert_eq!(
            check_dependencies(&packages),
            ["agui-auth: in the layer table, but not in the workspace", "agui-extra: not in the layer table"]
        );
    }

    #[test]
    fn nobody_depends_on_a_program() {
        let mut packages = tree(&[("agui-adapter", &["agui-server"])]);
        packages.push(package("agui-server", "bins/agui-server", &[]));
        assert_eq!(
            check_dependencies(&packages),
            ["agui-adapter (layer 3) depends on agui-server (layer 6): arrows only point down"]
        );
    }
}
