//! What neither the compiler nor clippy looks at.

mod links;
mod proofs;
mod requirements;
mod shape;
mod sources;
mod test_names;
mod text;

use std::fmt;

use anyhow::Result;

use crate::{
    verdict::Verdict,
    workspace::{SourceFile, Workspace},
};

/// One place to mend.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    /// 1-based; 0 when it is about the whole file.
    line: usize,
    message: String,
}

impl Finding {
    fn whole(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), line: 0, message: message.into() }
    }

    fn at(file: &SourceFile, line: usize, message: impl Into<String>) -> Self {
        Self { path: file.path.clone(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

pub(crate) fn run(workspace: &Workspace) -> Result<Verdict> {
    let files = workspace.source_files()?;
    let packages = workspace.packages()?;
    let mut findings = Vec::new();
    for file in &files {
        findings.extend(shape::check_file(file));
        findings.extend(text::check_file(file));
    }
    findings.extend(shape::check_packages(&files, &packages));
    findings.extend(links::check(&files));
    findings.extend(requirements::check(&files));
    findings.extend(sources::check(&files));
    findings.sort();
    let findings = findings.iter().map(ToString::to_string).collect();
    Ok(Verdict::from_findings(findings, format!("{} files", files.len())))
}

#[cfg(test)]
fn file(path: &str, text: impl Into<String>) -> SourceFile {
    SourceFile { path: path.to_owned(), text: text.into() }
}
