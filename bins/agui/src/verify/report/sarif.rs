//! SARIF 2.1.0. Source: OASIS, "Static Analysis Results Interchange Format".

use serde_json::{Value, json};

use super::super::finding::{Finding, Judged};
use super::super::rules::{Rule, Severity};
use super::message;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn write(judged: &[Judged]) -> String {
    let rules: Vec<Value> = Rule::ALL
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id(),
                "shortDescription": { "text": rule.what() },
                "help": { "text": rule.fix() },
                "defaultConfiguration": { "level": level(rule.severity()) },
            })
        })
        .collect();
    let results: Vec<Value> = judged
        .iter()
        .flat_map(|judged| judged.findings.iter().map(|finding| result(&judged.source, finding)))
        .collect();
    let report = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "agui-verify",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
        }],
    });
    format!("{report:#}\n")
}

fn result(source: &str, finding: &Finding) -> Value {
    let index = Rule::ALL.iter().position(|rule| *rule == finding.rule).unwrap_or_default();
    let mut location = json!({ "artifactLocation": { "uri": uri(source) } });
    if let Some(line) = finding.line {
        location["region"] = json!({ "startLine": line });
    }
    let mut result = json!({
        "ruleId": finding.rule.id(),
        "ruleIndex": index,
        "level": level(finding.rule.severity()),
        "message": { "text": format!("{}. Fix: {}.", message(finding), finding.rule.fix()) },
        "locations": [{ "physicalLocation": location }],
    });
    if let Some(event) = finding.event {
        let kind = finding.event_type.as_deref().unwrap_or("event");
        result["locations"][0]["logicalLocations"] =
            json!([{ "name": kind, "fullyQualifiedName": format!("event {event}"), "kind": "element" }]);
        result["properties"] = json!({ "event": event, "pointer": finding.pointer });
    }
    result
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// A reference as RFC 3986 has it: what cannot stand in one is percent-encoded.
fn uri(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    for byte in source.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => out.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'~' | b'/' | b':' | b'?' | b'=' | b'&' | b'#' | b'@' | b'[' | b']' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
