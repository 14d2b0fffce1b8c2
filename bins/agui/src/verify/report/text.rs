use std::fmt::Write as _;

use super::super::finding::Judged;
use super::super::rules::Severity;
use super::{message, place};
use crate::plain::plain;

pub(super) fn write(judged: &[Judged]) -> String {
    let mut out = String::new();
    for judged in judged {
        let source = plain(&judged.source);
        for finding in &judged.findings {
            let (rule, severity) = (finding.rule, finding.rule.severity().as_str());
            let (place, message) = (place(finding), message(finding));
            // Writing to a string does not fail.
            let _ = writeln!(out, "{source}: {}: {severity} {rule}: {}", plain(&place), plain(&message));
            let _ = writeln!(out, "    fix: {}", rule.fix());
        }
        let counts = [Severity::Error, Severity::Warning, Severity::Info].map(|severity| {
            let count = judged.count(severity);
            let plural = if count == 1 || severity == Severity::Info { "" } else { "s" };
            (count, format!("{count} {}{plural}", severity.as_str()))
        });
        let told: Vec<&str> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(_, text)| text.as_str()).collect();
        let verdict = if told.is_empty() { "no faults".to_owned() } else { told.join(", ") };
        let events = if judged.events == 1 { "event" } else { "events" };
        let _ = writeln!(out, "{source}: {verdict} in {} {events}", judged.events);
    }
    out
}
