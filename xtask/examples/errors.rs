//! Prints the table of public error codes as a list of JSON objects.
//!
//! `cargo xtask docs` starts it.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use agui_i18n::Language;
use agui_iac_code::ErrorCode;
use serde_json::{Value, json};

fn main() -> anyhow::Result<()> {
    let rows: Vec<Value> = ErrorCode::ALL.iter().map(|code| row(*code)).collect();
    println!("{}", serde_json::to_string(&rows)?);
    Ok(())
}

fn row(code: ErrorCode) -> Value {
    let spec = code.spec();
    json!({
        "code": spec.code,
        "status": spec.status,
        "retryable": spec.retryable,
        "text": agui_i18n::text(Language::En, spec.key),
    })
}
