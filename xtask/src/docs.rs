//! The table of public error codes in `docs/`, which is written from the code.

use std::{fmt::Write as _, fs};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{process, verdict::Verdict, workspace::Workspace};

const PATH: &str = "docs/errors.md";

/// What stands above the table.
const HEAD: &str = "\
# Error codes

Every error that a client can meet has one of these codes. They are stable: none is renamed, none is used again
for something else. The message beside a code is for people, in the language of the caller (en, zh, es, fr, de, ja,
pt), and may say more than the text here: the field that is wrong, the interrupts that wait, the seconds to wait.

- Before a stream begins, an error is the JSON body `{\"error\":{\"code\":…,\"message\":…}}` with the HTTP status of
  the table. A `Retry-After` header comes with it where the time is known.
- Once a stream has begun, it is the `code` of the `RUN_ERROR` that ends it; the HTTP status was 200.
- \"Retry\" tells whether the same request can succeed later without being changed.

This file is written by `cargo xtask docs`.

| code | status | retry | text |
|---|---|---|---|
";

/// Writes the table, or with `check` reports that it differs.
///
/// The rows come from an example program, so that this one needs none of the crates it checks.
pub(crate) fn run(workspace: &Workspace, check: bool) -> Result<Verdict> {
    let mut command = workspace.cargo();
    command.args(["run", "--quiet", "--locked", "--package", "xtask", "--example", "errors"]);
    let printed = process::stdout_of(&mut command)?;
    let codes: Vec<Value> = serde_json::from_slice(&printed).context("reading the error codes")?;
    anyhow::ensure!(!codes.is_empty(), "there is no error code");
    let wanted = document(&codes)?;
    let remark = format!("{} error codes", codes.len());
    if !check {
        fs::write(workspace.path(PATH), wanted)?;
        return Ok(Verdict::Clean(remark));
    }
    let present = fs::read_to_string(workspace.path(PATH)).ok();
    Ok(Verdict::from_findings(compare(&wanted, present.as_deref()), remark))
}

fn document(codes: &[Value]) -> Result<String> {
    let mut text = HEAD.to_owned();
    for row in codes {
        let code = row["code"].as_str().context("an error code without a name")?;
        let status = row["status"].as_u64().context("an error code without a status")?;
        let retry =
            if row["retryable"].as_bool().context("a code that does not say")? { "yes" } else { "no" };
        let words = row["text"].as_str().context("an error code without a text")?.replace('|', "\\|");
        writeln!(text, "| `{code}` | {status} | {retry} | {words} |")?;
    }
    Ok(text)
}

fn compare(wanted: &str, present: Option<&str>) -> Vec<String> {
    match present {
        Some(present) if present == wanted => Vec::new(),
        Some(_) => vec![format!("{PATH} is out of date: run `cargo xtask docs`")],
        None => vec![format!("{PATH} is missing: run `cargo xtask docs`")],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_code_is_one_row() {
        let codes = [
            json!({"code": "THREAD_BUSY", "status": 409, "retryable": true, "text": "Wait."}),
            json!({"code": "INVALID_INPUT", "status": 400, "retryable": false, "text": "This | that."}),
        ];
        let rows = "| `THREAD_BUSY` | 409 | yes | Wait. |\n| `INVALID_INPUT` | 400 | no | This \\| that. |\n";
        assert_eq!(document(&codes).unwrap(), format!("{HEAD}{rows}"));
        assert!(document(&[json!({"code": "X", "status": 400, "retryable": true})]).is_err());
    }

    #[test]
    fn a_table_that_is_missing_or_old_is_found() {
        assert_eq!(compare("a", Some("a")), [""; 0]);
        assert_eq!(compare("a", Some("b")), ["docs/errors.md is out of date: run `cargo xtask docs`"]);
        assert_eq!(compare("a", None), ["docs/errors.md is missing: run `cargo xtask docs`"]);
    }
}
