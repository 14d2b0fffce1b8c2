//! Numbers in rows.

use std::fmt;

/// Median and spread of some values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stats {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) p95: f64,
}

impl Stats {
    /// Of no values: not a number.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let at = |share: usize| values.get((values.len() * share / 100).min(values.len().saturating_sub(1)));
        let value = |share| at(share).copied().unwrap_or(f64::NAN);
        Self { median: value(50), min: value(0), max: value(100), p95: value(95) }
    }
}

/// A table with a title, printed with aligned columns.
#[derive(Debug)]
pub(crate) struct Table {
    title: String,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(title: String, columns: &[&str]) -> Self {
        let head = std::iter::once("").chain(columns.iter().copied()).map(str::to_owned).collect();
        Self { title, rows: vec![head] }
    }

    pub(crate) fn row(&mut self, name: &str, cells: &[String]) {
        self.rows.push(std::iter::once(name.to_owned()).chain(cells.iter().cloned()).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| self.rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        writeln!(f, "{}", self.title)?;
        for row in &self.rows {
            write!(f, "  {:<wide$}", row[0], wide = widths[0])?;
            for (cell, wide) in row.iter().zip(&widths).skip(1) {
                write!(f, "  {cell:>wide$}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
