//! The program as its users meet it: the real binary, real sockets, an agent that does as it is told.
#![expect(clippy::unwrap_used, reason = "tests")]

mod program;
mod run;
mod seeded;
#[cfg(target_os = "linux")]
mod terminal;
mod testbed;
mod traces;
mod verify;
