//! What is reported.

use super::rules::{Rule, Severity};

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) rule: Rule,
    /// 1-based number of the event; `None` if the fault is of the stream as a whole.
    pub(crate) event: Option<usize>,
    /// 1-based line of the source.
    pub(crate) line: Option<usize>,
    /// Type of the event.
    pub(crate) event_type: Option<String>,
    /// JSON pointer into the event.
    pub(crate) pointer: Option<String>,
    pub(crate) message: String,
    /// Events behind this one with the same fault for the same reason.
    pub(crate) more: usize,
}

impl Finding {
    pub(crate) fn new(rule: Rule, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { rule, event: None, line: None, event_type: None, pointer: None, message, more: 0 }
    }

    pub(crate) const fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    pub(crate) fn at_pointer(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }
}

/// One stream and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judged {
    /// Address or file, and the exchange of a trace.
    pub(crate) source: String,
    pub(crate) events: usize,
    /// In the order of the events; those of the stream as a whole last.
    pub(crate) findings: Vec<Finding>,
}

impl Judged {
    /// How many findings are of a severity.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.rule.severity() == severity).count()
    }
}
