//! Measures what is built here beside something that people know.

mod agentcore;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::{process, verdict::Verdict, workspace::Workspace};

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What to measure.
    #[arg(value_enum, default_value = "streams")]
    what: What,
    /// Rounds of each contender, interleaved.
    #[arg(long, default_value_t = 9)]
    rounds: u32,
    /// streams: streams held open to see what one costs while idle; 0 leaves that out.
    #[arg(long, default_value_t = 200)]
    idle: u32,
    /// streams: runs of a short answer to see the time to its first text; 0 leaves that out.
    #[arg(long, default_value_t = 200)]
    latency: u32,
    /// Measure the binary that is there instead of building it.
    #[arg(long)]
    no_build: bool,
    /// agentcore: put the tables into docs/agentcore-comparison.md.
    #[arg(long)]
    write: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// agui-server beside a byte-for-byte proxy on the same stream.
    Streams,
    /// agentcore-shim beside the app of the official kit.
    Agentcore,
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<Verdict> {
    match options.what {
        What::Streams => streams(workspace, options),
        What::Agentcore => agentcore::run(workspace, options),
    }
}

fn streams(workspace: &Workspace, options: &Options) -> Result<Verdict> {
    build(workspace, options, "agui-server")?;
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

fn build(workspace: &Workspace, options: &Options, package: &str) -> Result<()> {
    if options.no_build {
        return Ok(());
    }
    let mut build = workspace.cargo();
    build.args(["build", "--release", "--locked", "--package", package]);
    anyhow::ensure!(process::inherit(&mut build)?, "building {package}");
    Ok(())
}
