use serde_json::{Map, Value, json};

use super::super::finding::{Finding, Judged};
use super::super::rules::Severity;

pub(super) fn write(judged: &[Judged]) -> String {
    let streams: Vec<Value> = judged
        .iter()
        .map(|judged| {
            json!({
                "source": judged.source,
                "events": judged.events,
                "errors": judged.count(Severity::Error),
                "warnings": judged.count(Severity::Warning),
                "infos": judged.count(Severity::Info),
                "findings": judged.findings.iter().map(finding).collect::<Vec<_>>(),
            })
        })
        .collect();
    let report = json!({
        "tool": "agui verify",
        "version": env!("CARGO_PKG_VERSION"),
        "protocol": agui_core::PROTOCOL_VERSION,
        "streams": streams,
    });
    format!("{report:#}\n")
}

fn finding(finding: &Finding) -> Value {
    let mut members = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            members.insert(key.to_owned(), value);
        }
    };
    put("rule", Some(finding.rule.id().into()));
    put("severity", Some(finding.rule.severity().as_str().into()));
    put("event", finding.event.map(Into::into));
    put("line", finding.line.map(Into::into));
    put("type", finding.event_type.clone().map(Into::into));
    put("pointer", finding.pointer.clone().map(Into::into));
    put("message", Some(finding.message.clone().into()));
    put("fix", Some(finding.rule.fix().into()));
    put("more", (finding.more > 0).then(|| finding.more.into()));
    Value::Object(members)
}
