//! The bill of materials of a program, as CycloneDX.
//!
//! Source: CycloneDX 1.6, JSON; package URLs of type `cargo`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::target::Target;
use crate::{process, workspace::Workspace};

/// The bill of `bin`: what is compiled into it for `target`, without what only builds or tests it.
pub(super) fn document(workspace: &Workspace, target: &Target, bin: &str) -> Result<Vec<u8>> {
    let mut command = workspace.cargo();
    command.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", target.triple()]);
    let metadata: Value = serde_json::from_slice(&process::stdout_of(&mut command)?)?;
    let lock = std::fs::read_to_string(workspace.path("Cargo.lock"))?;
    let mut text = serde_json::to_vec_pretty(&bill(&metadata, &checksums(&lock), bin)?)?;
    text.push(b'\n');
    Ok(text)
}

/// Checksums of the lock file by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let mut sums = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""))?;
            line.strip_suffix('"').map(str::to_owned)
        };
        if let (Some(name), Some(version), Some(sum)) = (value("name"), value("version"), value("checksum")) {
            sums.insert((name, version), sum);
        }
    }
    sums
}

fn bill(metadata: &Value, sums: &BTreeMap<(String, String), String>, bin: &str) -> Result<Value> {
    let packages = by_id(&metadata["packages"]);
    let nodes = by_id(&metadata["resolve"]["nodes"]);
    let (root, _) = packages
        .iter()
        .find(|(_, package)| package["name"] == bin && package["source"].is_null())
        .with_context(|| format!("cargo metadata without {bin}"))?;

    let mut seen = BTreeSet::from([*root]);
    let mut waiting = vec![*root];
    let mut edges = BTreeMap::new();
    while let Some(id) = waiting.pop() {
        let mut needs: BTreeSet<&str> = nodes.get(id).map(|node| compiled_in(node)).unwrap_or_default();
        needs.retain(|need| !packages.get(need).is_some_and(|package| is_macro(package)));
        waiting.extend(needs.iter().filter(|need| seen.insert(need)));
        edges.insert(id, needs);
    }
    let component = |id: &&str| packages.get(id).map(|package| component(package, sums));
    let components: Vec<Value> = seen.iter().filter(|id| *id != root).filter_map(component).collect();
    let url = |id: &str| packages.get(id).map(|package| purl(package));
    let dependencies: Vec<Value> = edges
        .iter()
        .map(|(id, needs)| json!({"ref": url(id), "dependsOn": needs.iter().map(|need| url(need)).collect::<Vec<_>>()}))
        .collect();
    let mut program = component(root).context("no root package")?;
    program["type"] = "application".into();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": program},
        "components": components,
        "dependencies": dependencies,
    }))
}

fn by_id(list: &Value) -> BTreeMap<&str, &Value> {
    let entries = list.as_array().into_iter().flatten();
    entries.filter_map(|entry| Some((entry["id"].as_str()?, entry))).collect()
}

/// Ids of the packages that a node links.
fn compiled_in(node: &Value) -> BTreeSet<&str> {
    let needs = node["deps"].as_array().into_iter().flatten();
    let normal =
        |need: &&Value| need["dep_kinds"].as_array().into_iter().flatten().any(|kind| kind["kind"].is_null());
    needs.filter(normal).filter_map(|need| need["pkg"].as_str()).collect()
}

/// Whether a package runs in the compiler and is no part of what it makes.
fn is_macro(package: &Value) -> bool {
    let targets = package["targets"].as_array().into_iter().flatten();
    targets
        .flat_map(|target| target["kind"].as_array().into_iter().flatten())
        .any(|kind| kind == "proc-macro")
}

fn purl(package: &Value) -> String {
    let part = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    format!("pkg:cargo/{}@{}", part("name"), part("version").replace('+', "%2B"))
}

fn component(package: &Value, sums: &BTreeMap<(String, String), String>) -> Value {
    let part = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let (name, version) = (part("name"), part("version"));
    let url = purl(package);
    let mut component =
        json!({"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url});
    if let Some(licence) = package["license"].as_str() {
        // The slash is an old spelling of "or" that is no SPDX expression.
        component["licenses"] = json!([{"expression": licence.replace('/', " OR ")}]);
    }
    if let Some(sum) = sums.get(&(name, version)) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_names_what_is_compiled_in_and_nothing_else() {
        let registry = "registry+index";
        let metadata = json!({
            "packages": [
                {"id": "p", "name": "program", "version": "1.0.0", "source": null, "license": "MIT"},
                {"id": "a", "name": "alpha", "version": "2.0.0+x", "source": registry, "license": "Apache-2.0/MIT"},
                {"id": "b", "name": "builder", "version": "3.0.0", "source": registry},
                {"id": "m", "name": "maker", "version": "5.0.0", "source": registry, "targets": [{"kind": ["proc-macro"]}]},
                {"id": "c", "name": "other", "version": "4.0.0", "source": registry},
            ],
            "resolve": {"nodes": [
                {"id": "p", "deps": [
                    {"pkg": "a", "dep_kinds": [{"kind": null}]},
                    {"pkg": "b", "dep_kinds": [{"kind": "build"}]},
                    {"pkg": "m", "dep_kinds": [{"kind": null}]},
                ]},
                {"id": "a", "deps": []},
            ]},
        });
        let lock =
            "[[package]]\nname = \"alpha\"\nversion = \"2.0.0+x\"\nsource = \"r\"\nchecksum = \"ab12\"\n";
        let bill = bill(&metadata, &checksums(lock), "program").unwrap();
        assert_eq!(bill["metadata"]["component"]["purl"], "pkg:cargo/program@1.0.0");
        assert_eq!(
            bill["components"],
            json!([{
                "type": "library", "bom-ref": "pkg:cargo/alpha@2.0.0%2Bx", "name": "alpha", "version": "2.0.0+x",
                "purl": "pkg:cargo/alpha@2.0.0%2Bx", "licenses": [{"expression": "Apache-2.0 OR MIT"}],
                "hashes": [{"alg": "SHA-256", "content": "ab12"}],
            }])
        );
        assert_eq!(
            bill["dependencies"],
            json!([
                {"ref": "pkg:cargo/alpha@2.0.0%2Bx", "dependsOn": []},
                {"ref": "pkg:cargo/program@1.0.0", "dependsOn": ["pkg:cargo/alpha@2.0.0%2Bx"]},
            ])
        );
        assert!(super::bill(&metadata, &BTreeMap::new(), "nobody").is_err());
    }
}
