//! Reports in the forms that people and programs read. Pure.

mod json;
mod junit;
mod sarif;
mod text;

use super::finding::{Finding, Judged};
use super::rules::Severity;
use crate::flags::{FailOn, Format};
use crate::plain;

/// Writes a report. What a terminal would obey is escaped or shown as a picture in every form.
pub(super) fn write(format: Format, judged: &[Judged]) -> String {
    match format {
        Format::Text => text::write(judged),
        Format::Json => plain::json(&json::write(judged)).into_owned(),
        Format::Sarif => plain::json(&sarif::write(judged)).into_owned(),
        Format::Junit => plain::plain(&junit::write(judged)).into_owned(),
    }
}

/// Whether the findings are a failure.
pub(super) fn fails(judged: &[Judged], fail_on: FailOn, max_warnings: Option<usize>) -> bool {
    let count = |severity| judged.iter().map(|judged| judged.count(severity)).sum::<usize>();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let by_severity = match fail_on {
        FailOn::Error => errors > 0,
        FailOn::Warning => errors + warnings > 0,
        FailOn::None => false,
    };
    by_severity || max_warnings.is_some_and(|most| warnings > most)
}

/// Where a fault is, as in "event 3 TEXT_MESSAGE_END, line 7".
fn place(finding: &Finding) -> String {
    let mut place = match (finding.event, &finding.event_type) {
        (Some(number), Some(event_type)) => format!("event {number} {event_type}"),
        (Some(number), None) => format!("event {number}"),
        (None, _) if finding.line.is_some() => String::new(),
        (None, _) => "end of the stream".to_owned(),
    };
    if let Some(line) = finding.line {
        place.push_str(&format!("{}line {line}", if place.is_empty() { "" } else { ", " }));
    }
    place
}

fn message(finding: &Finding) -> String {
    match finding.more {
        0 => finding.message.clone(),
        1 => format!("{}, and one event more", finding.message),
        more => format!("{}, and {more} events more", finding.message),
    }
}
