//! A terminal client for AG-UI agents: run one, judge its streams, record and replay them.

mod exit;
mod flags;
mod plain;
mod request;
mod run;
mod trace;
mod verify;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;

use crate::exit::Exit;
use crate::flags::{Command, Flags};

/// How long work that nobody waits for may hold up the end of the program, 100 ms: a blocked read of the
/// terminal is one, and it ends with the process.
const SHUTDOWN: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    let flags = Flags::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return exit::report(&error.into()),
    };
    let ended = runtime.block_on(async {
        match flags.command {
            Command::Run(flags) => Box::pin(run::run(*flags)).await,
            Command::Verify(flags) => Box::pin(verify::run(*flags)).await,
            Command::Record(flags) => Box::pin(trace::record(*flags)).await,
            Command::Replay(flags) => trace::replay(flags).await,
        }
    });
    runtime.shutdown_timeout(SHUTDOWN);
    ended.map_or_else(|error| exit::report(&error), Exit::code)
}
