//! The process between this server and the kernel that it manages.
//!
//! A child cannot be told to die with its parent in a portable way. So the server starts itself again as a
//! guard: the guard starts the kernel in a process group of its own and waits on its standard input, a pipe
//! that the operating system closes whenever the server ends, `SIGKILL` included. Then the group is ended.

use std::ffi::OsString;
use std::io::Read as _;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// First argument that turns the server into the guard.
pub(crate) const GUARD_ARGUMENT: &str = "__kernel-guard";
/// Time between the polite and the final signal.
pub(crate) const TERM_GRACE: Duration = Duration::from_secs(5);
/// How often the end of the kernel is looked for.
const POLL: Duration = Duration::from_millis(50);

/// Runs `words` until they end or standard input does; the exit code is the kernel's.
pub(crate) fn run(words: &[OsString]) -> ExitCode {
    let Some((program, arguments)) = words.split_first() else { return ExitCode::from(2) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    // 127 is the shells' code for a command that is not there.
    let Ok(mut kernel) = command.spawn() else { return ExitCode::from(127) };

    let (parent_gone, gone) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        let mut sink = [0; 64];
        while std::io::stdin().read(&mut sink).is_ok_and(|read| read > 0) {}
        drop(parent_gone);
    });
    loop {
        if let Some(code) = exited(&mut kernel) {
            return code;
        }
        if gone.recv_timeout(POLL) == Err(mpsc::RecvTimeoutError::Disconnected) {
            return end(&mut kernel);
        }
    }
}

fn exited(kernel: &mut Child) -> Option<ExitCode> {
    let status = kernel.try_wait().ok()??;
    Some(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

fn end(kernel: &mut Child) -> ExitCode {
    signal(kernel, Signal::Terminate);
    let deadline = Instant::now() + TERM_GRACE;
    while Instant::now() < deadline {
        if let Some(code) = exited(kernel) {
            // What the kernel itself started may still be there.
            signal(kernel, Signal::Kill);
            return code;
        }
        std::thread::sleep(POLL);
    }
    signal(kernel, Signal::Kill);
    let _ = kernel.wait();
    ExitCode::from(1)
}

#[derive(Clone, Copy)]
enum Signal {
    Terminate,
    Kill,
}

#[cfg(unix)]
fn signal(kernel: &mut Child, signal: Signal) {
    use rustix::process::{Pid, Signal as Unix};
    let Some(group) = i32::try_from(kernel.id()).ok().and_then(Pid::from_raw) else { return };
    let signal = match signal {
        Signal::Terminate => Unix::TERM,
        Signal::Kill => Unix::KILL,
    };
    let _ = rustix::process::kill_process_group(group, signal);
}

#[cfg(not(unix))]
fn signal(kernel: &mut Child, signal: Signal) {
    if matches!(signal, Signal::Kill) {
        let _ = kernel.kill();
    }
}
