//! Child processes and what the system says about them.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result};

/// A child that is ended when this value goes.
#[derive(Debug)]
pub(crate) struct Process(Child);

impl Process {
    /// Starts `command` with nothing on its standard input; its output goes nowhere.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Ok(Self(child.with_context(|| format!("starting {program}"))?))
    }

    /// Starts `command` and waits for the first line that it prints.
    pub(crate) fn start_and_read(command: &mut Command) -> Result<(Self, String)> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().context("no standard output")?;
        let process = Self(child);
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        Ok((process, line.trim().to_owned()))
    }

    pub(crate) fn has_ended(&mut self) -> Result<bool> {
        Ok(self.0.try_wait()?.is_some())
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Resident memory in KiB.
    pub(crate) fn rss_kib(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(line.trim_end_matches("kB").trim().parse()?)
    }
}

/// Processor time of all threads of a process so far.
pub(crate) fn cpu(process_id: u32) -> Result<Duration> {
    let mut nanos = 0;
    for task in fs::read_dir(format!("/proc/{process_id}/task"))? {
        let Ok(text) = fs::read_to_string(task?.path().join("schedstat")) else { continue };
        nanos += text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanos))
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
