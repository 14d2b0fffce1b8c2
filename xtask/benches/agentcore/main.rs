//! agentcore-shim beside the app of the official kit, in one run.
//!
//! Both are asked by the same client, which does nothing but read. The kit's agent is a few lines of Python in the
//! kit's own process, as its documentation has it; the shim stands before an agent in this process that only writes
//! bytes. Rounds are interleaved: what the machine does besides then meets both alike.

#![expect(clippy::print_stdout, reason = "a bench prints its table")]

mod agent;
mod figures;
mod http;
mod process;
mod report;
mod socket;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;

#[derive(Parser)]
struct Options {
    /// The release build of agentcore-shim.
    #[arg(long)]
    shim: PathBuf,
    /// The interpreter that has the official kit.
    #[arg(long)]
    python: PathBuf,
    /// The agent on the official kit.
    #[arg(long)]
    kit_agent: PathBuf,
    /// Rounds of each contender.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Text deltas of one run.
    #[arg(long, default_value_t = 100_000)]
    deltas: usize,
    /// Probes beside a busy run.
    #[arg(long, default_value_t = 400)]
    pings: u32,
    /// Cargo gives it to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut report = report::Report::default();
    let measured = runtime.block_on(figures::measure(&options, &mut report));
    println!("{report}");
    measured
}
