//! agentcore-shim and the app of the official kit: figures, and the weaknesses of the one looked for in both.

use std::{fmt::Write as _, fs};

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Options, build};
use crate::{peers, process, verdict::Verdict, workspace::Workspace};

const DOCUMENT: &str = "docs/agentcore-comparison.md";
const PACKAGE: &str = "agentcore-shim";

pub(super) fn run(workspace: &Workspace, options: &Options) -> Result<Verdict> {
    let installed = peers::set_up(workspace)?;
    if !matches!(installed, Verdict::Clean(_)) {
        return Ok(installed);
    }
    build(workspace, options, PACKAGE)?;
    let shim = workspace.target_dir().join("release").join(PACKAGE);

    let seen = workspace.target_dir().join("agentcore-rows.json");
    let mut script = peers::agentcore_script(workspace, "rows.py", &shim);
    script.arg("--json").arg(&seen);
    let finished = process::capture(&mut script, &workspace.log("bench-agentcore-rows"))?;
    let seen: Vec<Value> = serde_json::from_slice(&fs::read(&seen).context("no rows were seen")?)?;
    let rows = table(&seen)?;
    println!("{rows}");

    let mut bench = workspace.cargo();
    bench.args(["bench", "--quiet", "--locked", "--package", "xtask", "--bench", "agentcore", "--"]);
    bench.arg("--shim").arg(&shim);
    bench.arg("--python").arg(peers::agentcore_python(workspace));
    bench.arg("--kit-agent").arg(workspace.path("peers/agentcore/sdk_agent.py"));
    bench.args(["--rounds", &options.rounds.to_string()]);
    let figures = String::from_utf8(process::stdout_of(&mut bench)?)?;
    println!("{figures}");

    if options.write {
        let path = workspace.path(DOCUMENT);
        let document = fs::read_to_string(&path).with_context(|| format!("reading {DOCUMENT}"))?;
        let document = replaced(&document, "rows", &rows)?;
        fs::write(&path, replaced(&document, "figures", figures.trim_end())?)?;
    }
    let findings = if finished.ok() { Vec::new() } else { vec![finished.excerpt()] };
    Ok(Verdict::from_findings(findings, format!("{} weaknesses looked for", seen.len())))
}

fn table(seen: &[Value]) -> Result<String> {
    let mut table =
        String::from("| # | what | official app | agentcore-shim | probe |\n|---|---|---|---|---|\n");
    for row in seen {
        let text = |key: &str| row[key].as_str().with_context(|| format!("a row without {key}"));
        let number = row["row"].as_u64().context("a row without a number")?;
        let cells = [text("what")?, text("sdk")?, text("ours")?].map(|cell| cell.replace('|', "\\|"));
        writeln!(table, "| {number} | {} | `{}` |", cells.join(" | "), text("probe")?)?;
    }
    Ok(table.trim_end().to_owned())
}

/// The document with `text` between the marks of `name`.
fn replaced(document: &str, name: &str, text: &str) -> Result<String> {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) =
        document.split_once(&open).with_context(|| format!("{DOCUMENT}: no place for {name}"))?;
    let (_, after) = rest.split_once(&close).with_context(|| format!("{DOCUMENT}: no end of {name}"))?;
    Ok(format!("{before}{open}{text}\n{close}{after}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_weakness_is_one_row() {
        let seen = [json!({"row": 1, "what": "a | b", "sdk": "bad", "ours": "good", "probe": "look"})];
        let rows = table(&seen).unwrap();
        assert_eq!(rows.lines().last(), Some(r"| 1 | a \| b | bad | good | `look` |"));
        assert!(table(&[json!({"row": 1})]).is_err());
    }

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let document = "a\n<!-- rows -->\nold\n<!-- end of rows -->\nb\n";
        assert_eq!(replaced(document, "rows", "new").unwrap(), document.replace("old", "new"));
        assert!(replaced(document, "figures", "new").is_err());
    }
}
