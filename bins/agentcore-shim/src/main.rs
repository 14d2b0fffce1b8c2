//! An AG-UI agent as a container on Amazon Bedrock AgentCore.

mod access;
mod agent_program;
mod aliases;
mod awaited;
mod backend;
mod cancel;
mod envelope;
mod fill;
mod flags;
mod members;
mod parking;
mod ping;
mod platform;
mod presence;
mod pulse;
mod routes;
mod serve;
mod session;
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
    settings.logs.start();
    match serve::run(settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// The operator reads this: the whole chain of causes on one line.
#[expect(clippy::print_stderr, reason = "the log may not be set up yet")]
fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("agentcore-shim: {error:#}");
    ExitCode::FAILURE
}
