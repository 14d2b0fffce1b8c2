//! The process between a server and a program that it manages.
//!
//! A child cannot be told to die with its parent in a portable way. So the server starts itself again as a
//! guard: the guard starts the program in a process group of its own and waits on its standard input, a pipe
//! that the operating system closes whenever the server ends, `SIGKILL` included. Then the group is ended.
//!
//! On Linux it also takes the place of an init process: what the program started and left behind becomes the
//! guard's child, and is waited for when it ends. In a container nobody else would. And there the system ends the
//! program when the guard itself is killed: it is told so by one more start of the server, which then becomes the
//! program. That reaches the process that the command starts, not what it starts in turn: a command that is a shell's
//! line should `exec` the program.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// First argument that turns the server into the guard.
pub const GUARD_ARGUMENT: &str = "__kernel-guard";
/// First argument that turns the server into the program that the guard watches.
#[cfg(target_os = "linux")]
const PROGRAM_ARGUMENT: &str = "__kernel-program";
/// The shells' code for a command that is not there.
const NOT_FOUND: u8 = 127;
/// Time between the polite and the final signal.
pub const TERM_GRACE: Duration = Duration::from_secs(5);
/// How often the end of the program is looked for.
const POLL: Duration = Duration::from_millis(50);

/// Does the guard's work if this process was started as one, and gives its exit code; to be called before
/// anything else, on the main thread.
#[must_use]
pub fn main() -> Option<u8> {
    let mut arguments = std::env::args_os().skip(1);
    let role = arguments.next()?;
    if role == GUARD_ARGUMENT {
        return Some(run(&arguments.collect::<Vec<_>>()));
    }
    #[cfg(target_os = "linux")]
    if role == PROGRAM_ARGUMENT {
        return Some(become_program(&arguments.collect::<Vec<_>>()));
    }
    None
}

/// The file of this program, also if another one has taken its place since.
pub(crate) fn own_executable() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    let replaced = cfg!(target_os = "linux") && !path.exists();
    Ok(if replaced { "/proc/self/exe".into() } else { path })
}

/// Runs `words` until they end or standard input does; the exit code is the program's.
fn run(words: &[OsString]) -> u8 {
    let Some(mut command) = command(words) else { return 2 };
    command.stdin(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let Ok(mut program) = command.spawn() else { return NOT_FOUND };

    let (parent_gone, gone) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        let mut sink = [0; 64];
        while io::stdin().read(&mut sink).is_ok_and(|read| read > 0) {}
        drop(parent_gone);
    });
    loop {
        if let Some(code) = exited(&mut program) {
            return code;
        }
        if gone.recv_timeout(POLL) == Err(mpsc::RecvTimeoutError::Disconnected) {
            return end(&mut program);
        }
    }
}

/// How the program is started: by way of [`become_program`] where there is one.
fn command(words: &[OsString]) -> Option<Command> {
    let (program, arguments) = words.split_first()?;
    #[cfg(target_os = "linux")]
    if let Ok(own) = own_executable() {
        let mut command = Command::new(own);
        command.arg(PROGRAM_ARGUMENT).arg(std::process::id().to_string()).args(words);
        return Some(command);
    }
    let mut command = Command::new(program);
    command.args(arguments);
    Some(command)
}

/// Becomes the program, which the system kills when its guard ends: `arguments` are the guard's process id and the
/// program's words. Gives an exit code if that is not possible.
///
/// It is the end of the guard's thread that counts; the guard spawns and waits on its main thread, which ends with it.
#[cfg(target_os = "linux")]
fn become_program(arguments: &[OsString]) -> u8 {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};

    let [guard, program, arguments @ ..] = arguments else { return 2 };
    let guarded = set_parent_process_death_signal(Some(Signal::KILL)).is_ok();
    // A guard that ended before that line has sent no signal.
    let has_guard = getppid().is_some_and(|parent| guard == parent.as_raw_nonzero().to_string().as_str());
    if !guarded || !has_guard {
        return 1;
    }
    // Comes back only if it failed.
    let _ = std::os::unix::process::CommandExt::exec(Command::new(program).args(arguments));
    NOT_FOUND
}

/// The program's exit code once it has ended. Whoever else has ended is waited for on the way.
#[cfg(target_os = "linux")]
fn exited(program: &mut Child) -> Option<u8> {
    use rustix::process::{Pid, WaitOptions, wait};
    let own = Pid::from_child(program);
    loop {
        // `Child` is not asked any more: its own waits would miss what is taken here.
        match wait(WaitOptions::NOHANG) {
            Ok(Some((ended, status))) if ended == own => return Some(exit_code(status.exit_status())),
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return None,
            // Nobody is left to wait for.
            Err(_) => return Some(1),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn exited(program: &mut Child) -> Option<u8> {
    Some(exit_code(program.try_wait().ok()??.code()))
}

/// 1 for a program that a signal ended.
fn exit_code(status: Option<i32>) -> u8 {
    status.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

fn end(program: &mut Child) -> u8 {
    signal(program, Signal::Terminate);
    let deadline = Instant::now() + TERM_GRACE;
    while Instant::now() < deadline {
        if let Some(code) = exited(program) {
            // What the program itself started may still be there.
            signal(program, Signal::Kill);
            return code;
        }
        std::thread::sleep(POLL);
    }
    signal(program, Signal::Kill);
    while exited(program).is_none() {
        std::thread::sleep(POLL);
    }
    1
}

#[derive(Clone, Copy)]
enum Signal {
    Terminate,
    Kill,
}

#[cfg(unix)]
fn signal(program: &mut Child, signal: Signal) {
    use rustix::process::{Pid, Signal as Unix};
    let Some(group) = i32::try_from(program.id()).ok().and_then(Pid::from_raw) else { return };
    let signal = match signal {
        Signal::Terminate => Unix::TERM,
        Signal::Kill => Unix::KILL,
    };
    let _ = rustix::process::kill_process_group(group, signal);
}

#[cfg(not(unix))]
fn signal(program: &mut Child, signal: Signal) {
    if matches!(signal, Signal::Kill) {
        let _ = program.kill();
    }
}
