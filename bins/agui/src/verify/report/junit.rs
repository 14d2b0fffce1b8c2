//! JUnit XML: a suite for each stream, a failed case for each finding that counts.

use std::fmt::Write as _;

use super::super::finding::{Finding, Judged};
use super::super::rules::Severity;
use super::{message, place};

pub(super) fn write(judged: &[Judged]) -> String {
    let mut suites = String::new();
    let (mut tests, mut failures) = (0, 0);
    for judged in judged {
        let failed = judged.count(Severity::Error);
        let cases = judged.findings.len().max(1);
        tests += cases;
        failures += failed;
        let name = escaped(&judged.source);
        // Writing to a string does not fail.
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{name}\" tests=\"{cases}\" failures=\"{failed}\" errors=\"0\">"
        );
        if judged.findings.is_empty() {
            let _ = writeln!(suites, "    <testcase classname=\"{name}\" name=\"no faults\"/>");
        }
        for finding in &judged.findings {
            suites.push_str(&case(&name, finding));
        }
        suites.push_str("  </testsuite>\n");
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"agui verify\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">\n{suites}</testsuites>\n"
    )
}

fn case(class: &str, finding: &Finding) -> String {
    let (place, rule) = (escaped(&place(finding)), finding.rule);
    let name = format!("{rule}: {place}");
    let text = escaped(&format!("{}. Fix: {}.", message(finding), rule.fix()));
    let said = escaped(&message(finding));
    match rule.severity() {
        Severity::Error => format!(
            "    <testcase classname=\"{class}\" name=\"{name}\">\n      <failure type=\"{rule}\" message=\"{said}\">{text}</failure>\n    </testcase>\n"
        ),
        severity => format!(
            "    <testcase classname=\"{class}\" name=\"{name}\">\n      <system-out>{}: {text}</system-out>\n    </testcase>\n",
            severity.as_str()
        ),
    }
}

/// Text for elements and attributes; characters that XML does not have become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}
