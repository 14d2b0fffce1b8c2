//! AG-UI in front of an A2A kernel, first of all iac-code.

mod descriptors;
mod extensions;
mod flags;
mod guard;
mod health;
mod kernel;
mod logs;
mod serve;
mod settings;
mod tuning;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use crate::flags::Flags;
use crate::settings::Settings;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == guard::GUARD_ARGUMENT) {
        return guard::run(&arguments[2..]);
    }
    let settings = match Settings::new(Flags::parse(), &|name| std::env::var(name).ok()) {
        Ok(settings) => settings,
        Err(error) => return fail(&error),
    };
    logs::start(&settings);
    match serve::run(settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// The operator reads this: the whole chain of causes on one line.
#[expect(clippy::print_stderr, reason = "the log may not be set up yet")]
fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("agui-server: {error:#}");
    ExitCode::FAILURE
}
