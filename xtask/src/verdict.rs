//! How a check ended.

use std::process::ExitCode;

/// Exit code of a command that was skipped on purpose, as automake and its kin use it.
pub(crate) const SKIPPED_EXIT_CODE: u8 = 77;

/// How a check that could run has ended; one that could not is an error instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing to complain about; the text is a short remark, possibly empty.
    Clean(String),
    /// Something to mend, one entry a finding.
    Found(Vec<String>),
    /// Something that the check needs cannot be had here.
    Skipped(String),
}

impl Verdict {
    /// Clean when there are no findings.
    pub(crate) fn from_findings(findings: Vec<String>, remark: impl Into<String>) -> Self {
        if findings.is_empty() { Self::Clean(remark.into()) } else { Self::Found(findings) }
    }

    pub(crate) fn print(&self) {
        match self {
            Self::Clean(remark) if remark.is_empty() => {}
            Self::Clean(remark) => println!("{remark}"),
            Self::Found(findings) => findings.iter().for_each(|finding| println!("{finding}")),
            Self::Skipped(reason) => println!("SKIPPED: {reason}"),
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Clean(_) => ExitCode::SUCCESS,
            Self::Found(_) => ExitCode::from(1),
            Self::Skipped(_) => ExitCode::from(SKIPPED_EXIT_CODE),
        }
    }
}
