//! Child processes whose output is kept in a file and shown only when it matters.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result};

/// Lines of a failed child's output that are shown; the file named beside them has all.
const SHOWN_LINES: usize = 200;

/// What a finished child left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Exit code; `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    /// File with its standard output and standard error.
    pub(crate) log: PathBuf,
    /// The same as text.
    pub(crate) output: String,
}

impl Finished {
    pub(crate) fn ok(&self) -> bool {
        self.code == Some(0)
    }

    /// The end of the output with the place of the whole, as one finding. Cargo's progress is left out: it may be all
    /// that somebody sees who gets only a part of this.
    pub(crate) fn excerpt(&self) -> String {
        let lines: Vec<&str> = self.output.lines().filter(|line| !is_progress(line)).collect();
        let first = lines.len().saturating_sub(SHOWN_LINES);
        let cut = if first > 0 { format!("[{first} lines above]\n") } else { String::new() };
        format!("{cut}{}\n[whole output: {}]", lines[first..].join("\n"), self.log.display())
    }
}

fn is_progress(line: &str) -> bool {
    let mut words = line.split_whitespace();
    line.starts_with("   ")
        && matches!(words.next(), Some("Compiling" | "Checking" | "Downloaded" | "Documenting"))
}

/// Runs `command` to its end; both output streams go to `log`.
pub(crate) fn capture(command: &mut Command, log: &Path) -> Result<Finished> {
    if let Some(parent) = log.parent() {
        fs::create_dir_all(parent).with_context(|| format!("creating {}", parent.display()))?;
    }
    let file = File::create(log).with_context(|| format!("creating {}", log.display()))?;
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .status()
        .with_context(|| format!("starting {program}"))?;
    let output = String::from_utf8_lossy(&fs::read(log)?).into_owned();
    Ok(Finished { code: status.code(), log: log.to_path_buf(), output })
}

/// Runs `command` to its end with this process's own output; true when it succeeded.
pub(crate) fn inherit(command: &mut Command) -> Result<bool> {
    let program = command.get_program().to_string_lossy().into_owned();
    Ok(command.stdin(Stdio::null()).status().with_context(|| format!("starting {program}"))?.success())
}

/// Standard output of a child that must succeed.
pub(crate) fn stdout_of(command: &mut Command) -> Result<Vec<u8>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("starting {program}"))?;
    anyhow::ensure!(
        output.status.success(),
        "{program} failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(output.stdout)
}

/// Whether a program of this name can be started at all.
pub(crate) fn exists(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_a_failure_has_its_words_and_no_progress() {
        let output = "   Compiling a v1.0.0\n    Checking b v1.0.0\nerror: it is wrong\n  --> x.rs:1:1\n";
        let finished = Finished { code: Some(1), log: "the.log".into(), output: output.to_owned() };
        assert_eq!(finished.excerpt(), "error: it is wrong\n  --> x.rs:1:1\n[whole output: the.log]");
    }
}
