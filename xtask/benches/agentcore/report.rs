//! Figures as a table of Markdown.

use std::fmt;

/// Rows of one figure each: the kit's, the shim's, and how many times better the shim's is.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<[String; 4]>,
}

/// Which of two figures is the better one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Better {
    Less,
    More,
}

impl Report {
    /// A figure of both, in one unit.
    pub(crate) fn row(&mut self, what: &str, unit: &str, better: Better, kit: f64, shim: f64) {
        let ratio = match better {
            Better::Less => kit / shim,
            Better::More => shim / kit,
        };
        let shown = |value: f64| format!("{} {unit}", significant(value));
        self.rows.push([what.to_owned(), shown(kit), shown(shim), format!("{}×", significant(ratio))]);
    }

    /// What cannot be compared by a number.
    pub(crate) fn note(&mut self, what: &str, kit: &str, shim: &str) {
        self.rows.push([what.to_owned(), kit.to_owned(), shim.to_owned(), String::new()]);
    }
}

/// Two or three digits that mean something.
fn significant(value: f64) -> String {
    let rounded = match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => return format!("{value:.2}"),
    };
    let (whole, fraction) = rounded.split_once('.').map_or((&*rounded, ""), |parts| parts);
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if fraction.is_empty() { grouped } else { format!("{grouped}.{fraction}") }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| figure | official app | agentcore-shim | better by |\n|---|---|---|---|")?;
        for [what, kit, shim, ratio] in &self.rows {
            writeln!(f, "| {what} | {kit} | {shim} | {ratio} |")?;
        }
        Ok(())
    }
}
