//! AG-UI in front of an A2A kernel, first of all iac-code.

mod flags;
mod health;
mod serve;
mod settings;

use std::process::ExitCode;

use clap::Parser as _;

use crate::flags::Flags;
use crate::settings::Settings;

fn main() -> ExitCode {
    if let Some(code) = agui_host::guard::main() {
        return ExitCode::from(code);
    }
    let settings = match Settings::new(Flags::parse(), &|name| std::env::var(name).ok()) {
        Ok(settings) => settings,
        Err(error) => return fail(&error),
    };
    settings.logs().start();
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
