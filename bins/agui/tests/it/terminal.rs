//! `agui run` on a terminal: a pseudo terminal with the program at its other end.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use serde_json::json;

use crate::program::command;
use crate::testbed::Testbed;

/// The program and the terminal it runs on.
struct Terminal {
    child: Child,
    screen: File,
    /// Everything that was written so far.
    shown: String,
    /// How much of it was waited for.
    passed: usize,
}

impl Terminal {
    fn start(mut command: Command) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
        let open = || OpenOptions::new().read(true).write(true).open(&name).unwrap();
        command.stdin(Stdio::from(open())).stdout(Stdio::from(open())).stderr(Stdio::from(open()));
        let child = command.spawn().unwrap();
        Self { child, screen: File::from(controller), shown: String::new(), passed: 0 }
    }

    /// Reads until `text` has been written, behind what was waited for before.
    fn wait_for(&mut self, text: &str) {
        let mut buffer = [0; 4096];
        let at = loop {
            if let Some(at) = self.shown[self.passed..].find(text) {
                break at;
            }
            let count = self.screen.read(&mut buffer).unwrap_or_default();
            assert!(count > 0, "{text:?} does not come: {:?}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
        };
        self.passed += at + text.len();
    }

    fn type_line(&mut self, line: &str) {
        self.screen.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn signal(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
    }

    /// Reads what is left, and gives the exit code.
    fn end(&mut self) -> i32 {
        let code = self.child.wait().unwrap().code().unwrap();
        let mut buffer = [0; 4096];
        // At the end of its program a terminal gives an error.
        while let Ok(count @ 1..) = self.screen.read(&mut buffer) {
            self.shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        code
    }
}

#[test]
fn a_question_is_asked_and_answered_on_the_terminal() {
    let bed = Testbed::start();
    let mut terminal = Terminal::start(command(&["run", &bed.url(), "ask"]));
    for (prompt, line) in [
        ("choice: ", "2"),
        ("name: ", "shop"),
        ("count (whole number, empty for 1): ", ""),
        ("backup (y/n, empty for none): ", "n"),
        ("choice (numbers with commas, empty for none): ", "1"),
    ] {
        terminal.wait_for(prompt);
        terminal.type_line(line);
    }
    assert_eq!(terminal.end(), 0);
    assert!(
        terminal.shown.contains(
            r#"answer: resolved {"backup":false,"count":1,"name":"shop","size":"large","zones":["a"]}"#
        ),
        "{}",
        terminal.shown
    );
}

#[test]
fn a_secret_is_not_shown_while_it_is_typed_and_nothing_repeats_it() {
    let bed = Testbed::start();
    let mut terminal = Terminal::start(command(&["run", &bed.url(), "vault", "--verbose"]));
    for (prompt, line) in [
        ("user: ", "me-myself"),
        ("code (hidden): ", "s3c"),
        ("code (hidden): ", "s3cr3t-code"),
        ("note (empty for none): ", "seen-again"),
    ] {
        terminal.wait_for(prompt);
        terminal.type_line(line);
    }
    assert_eq!(terminal.end(), 0);
    let shown = &terminal.shown;
    assert!(!shown.contains("s3c"), "{shown}");
    for expected in ["me-myself", "! value is shorter than 4 characters", "seen-again", "taken"] {
        assert!(shown.contains(expected), "{expected} in {shown}");
    }
    let payload = json!({"user": "me-myself", "code": "s3cr3t-code", "note": "seen-again"});
    assert_eq!(bed.inputs()[1]["resume"][0]["payload"], payload);
}

#[test]
fn ctrl_c_at_a_hidden_question_leaves_a_terminal_that_shows() {
    let bed = Testbed::start();
    let mut terminal = Terminal::start(command(&["run", &bed.url(), "vault"]));
    terminal.wait_for("user: ");
    terminal.type_line("me");
    terminal.wait_for("code (hidden): ");
    assert!(!tcgetattr(&terminal.screen).unwrap().local_modes.contains(LocalModes::ECHO));
    terminal.signal();
    assert_eq!(terminal.end(), 130);
    assert!(tcgetattr(&terminal.screen).unwrap().local_modes.contains(LocalModes::ECHO));
}

#[test]
fn a_terminal_gets_colours_unless_it_asks_for_none() {
    let bed = Testbed::start();
    let mut terminal = Terminal::start(command(&["run", &bed.url(), "hello"]));
    assert_eq!(terminal.end(), 0);
    assert!(terminal.shown.contains("\u{1b}[2mLet me see.\u{1b}[0m"), "{:?}", terminal.shown);
    let mut plain = command(&["run", &bed.url(), "hello"]);
    plain.env("NO_COLOR", "1");
    let mut terminal = Terminal::start(plain);
    assert_eq!(terminal.end(), 0);
    assert!(!terminal.shown.contains('\u{1b}'), "{:?}", terminal.shown);
}

#[test]
fn silence_shows_its_length_and_ctrl_c_ends_the_run() {
    let bed = Testbed::start();
    let mut terminal = Terminal::start(command(&["run", &bed.url(), "hold"]));
    terminal.wait_for("waiting");
    // The time stands behind the cursor, which stays where it is.
    terminal.wait_for(" s\u{1b}[0m\u{1b}8");
    terminal.signal();
    assert_eq!(terminal.end(), 130);
    bed.wait_until_left();
}

#[test]
fn ctrl_c_ends_a_question_too() {
    let bed = Testbed::start();
    let mut terminal = Terminal::start(command(&["run", &bed.url(), "ask"]));
    terminal.wait_for("choice: ");
    terminal.signal();
    assert_eq!(terminal.end(), 130);
}

#[test]
fn ctrl_c_stops_a_judge_that_waits_for_its_input() {
    // More than a pipe holds: once it is written, the program reads.
    let more_than_a_pipe = [b' '; 128 * 1024];
    // It must not depend on chance.
    for _ in 0..8 {
        let mut child =
            command(&["verify", "-"]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(&more_than_a_pipe).unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while child.try_wait().unwrap().is_none() {
            if std::time::Instant::now() > deadline {
                child.kill().unwrap();
                panic!("it goes on");
            }
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
            std::thread::yield_now();
        }
    }
}
