//! The JSON Schemas in `schemas/`, which are written from the code.

use std::{collections::BTreeMap, fs};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{process, verdict::Verdict, workspace::Workspace};

const DIRECTORY: &str = "schemas";

/// Writes the schemas, or with `check` reports those that differ.
///
/// The schemas come from an example program, so that this one needs none of the crates it checks.
pub(crate) fn run(workspace: &Workspace, check: bool) -> Result<Verdict> {
    let wanted = generate(workspace)?;
    let present = read_present(workspace)?;
    let findings = compare(&wanted, &present);
    if check {
        return Ok(Verdict::from_findings(findings, format!("{} schemas", wanted.len())));
    }
    let directory = workspace.path(DIRECTORY);
    fs::create_dir_all(&directory)?;
    for (name, text) in &wanted {
        fs::write(directory.join(name), text)?;
    }
    for name in present.keys().filter(|name| !wanted.contains_key(*name)) {
        fs::remove_file(directory.join(name))?;
    }
    Ok(Verdict::Clean(format!("{} schemas, {} changed", wanted.len(), findings.len())))
}

/// File name and text of each schema.
fn generate(workspace: &Workspace) -> Result<BTreeMap<String, String>> {
    let mut command = workspace.cargo();
    command.args(["run", "--quiet", "--locked", "--package", "xtask", "--example", "schemas"]);
    let printed = process::stdout_of(&mut command)?;
    let schemas: BTreeMap<String, Value> = serde_json::from_slice(&printed).context("reading the schemas")?;
    anyhow::ensure!(!schemas.is_empty(), "there is no schema");
    schemas.into_iter().map(|(name, schema)| Ok((name, text_of(&schema)?))).collect()
}

fn text_of(schema: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(schema)? + "\n")
}

fn read_present(workspace: &Workspace) -> Result<BTreeMap<String, String>> {
    let mut present = BTreeMap::new();
    let Ok(entries) = fs::read_dir(workspace.path(DIRECTORY)) else { return Ok(present) };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".json") {
            present.insert(name, fs::read_to_string(entry.path())?);
        }
    }
    Ok(present)
}

fn compare(wanted: &BTreeMap<String, String>, present: &BTreeMap<String, String>) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, text) in wanted {
        match present.get(name) {
            None => findings.push(format!("{DIRECTORY}/{name} is missing: run `cargo xtask schema`")),
            Some(old) if old == text => {}
            Some(_) => findings.push(format!("{DIRECTORY}/{name} is out of date: run `cargo xtask schema`")),
        }
    }
    let stale = present.keys().filter(|name| !wanted.contains_key(*name));
    findings
        .extend(stale.map(|name| format!("{DIRECTORY}/{name} belongs to nothing: run `cargo xtask schema`")));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect()
    }

    #[test]
    fn missing_changed_and_stale_schemas_are_found() {
        let wanted = files(&[("a.json", "1"), ("b.json", "2"), ("c.json", "3")]);
        let present = files(&[("b.json", "2"), ("c.json", "4"), ("d.json", "5")]);
        assert_eq!(
            compare(&wanted, &present),
            [
                "schemas/a.json is missing: run `cargo xtask schema`",
                "schemas/c.json is out of date: run `cargo xtask schema`",
                "schemas/d.json belongs to nothing: run `cargo xtask schema`",
            ]
        );
        assert_eq!(compare(&wanted, &wanted), Vec::<String>::new());
    }
}
