//! Measures the server beside a byte-for-byte proxy on the same stream.

use anyhow::Result;
use clap::Args;

use crate::{process, verdict::Verdict, workspace::Workspace};

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Rounds of each contender, interleaved.
    #[arg(long, default_value_t = 9)]
    rounds: u32,
    /// Streams held open to see what one costs while idle; 0 leaves that out.
    #[arg(long, default_value_t = 200)]
    idle: u32,
    /// Runs of a short answer to see the time to its first text; 0 leaves that out.
    #[arg(long, default_value_t = 200)]
    latency: u32,
    /// Measure the binary that is there instead of building it.
    #[arg(long)]
    no_build: bool,
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<Verdict> {
    if !options.no_build {
        let mut build = workspace.cargo();
        build.args(["build", "--release", "--locked", "--package", "agui-server"]);
        anyhow::ensure!(process::inherit(&mut build)?, "building agui-server");
    }
    let server = workspace.target_dir().join("release/agui-server");
    let mut bench = workspace.cargo();
    bench.args(["bench", "--quiet", "--locked", "--package", "xtask", "--bench", "streams", "--"]);
    bench.arg("--server").arg(server);
    for (name, value) in
        [("--rounds", options.rounds), ("--idle", options.idle), ("--latency", options.latency)]
    {
        bench.args([name, &value.to_string()]);
    }
    anyhow::ensure!(process::inherit(&mut bench)?, "the bench failed");
    Ok(Verdict::Clean(String::new()))
}
