//! The program as its users start it.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// What a finished program has left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The program with these arguments; the environment is that of the test without colours.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agui"));
    command.args(arguments).env_remove("NO_COLOR").env("TERM", "xterm");
    command
}

/// Runs it to its end, without input.
pub(crate) fn agui(arguments: &[&str]) -> Finished {
    agui_with_input(arguments, "")
}

/// Runs it to its end with input that is no terminal.
pub(crate) fn agui_with_input(arguments: &[&str], input: &str) -> Finished {
    let mut command = command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that does not read may be gone before this is written.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Finished {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
