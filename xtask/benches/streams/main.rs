//! Text streams through the server, beside a byte-for-byte proxy and the bare kernel, in one run.
//!
//! Kernel and client live in this process; the server and the proxy (this program again, started
//! with `--proxy`) in one of their own each, so that the processor time of each can be told. Rounds
//! are interleaved: what the machine does besides then meets all contenders alike.

#![expect(clippy::print_stdout, reason = "a bench prints its table")]

mod child;
mod client;
mod contender;
mod idle;
mod latency;
mod proxy;
mod table;
mod throughput;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;

#[derive(Parser)]
struct Options {
    /// The release build of agui-server.
    #[arg(long, required_unless_present = "proxy")]
    server: Option<PathBuf>,
    /// Rounds of each contender.
    #[arg(long, default_value_t = 9)]
    rounds: u32,
    /// Streams held open at once; 0 leaves that out.
    #[arg(long, default_value_t = 200)]
    idle: u32,
    /// Short answers for the time to the first text; 0 leaves that out.
    #[arg(long, default_value_t = 200)]
    latency: u32,
    /// Be the proxy to this address instead.
    #[arg(long)]
    proxy: Option<String>,
    /// Cargo gives it to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match (&options.proxy, &options.server) {
        (Some(upstream), _) => runtime.block_on(proxy::serve(upstream)),
        (None, Some(server)) => runtime.block_on(run(&options, server)),
        (None, None) => anyhow::bail!("--server or --proxy"),
    }
}

async fn run(options: &Options, server: &std::path::Path) -> Result<()> {
    println!("{}", throughput::measure(server, options.rounds).await?);
    if options.latency > 0 {
        println!("{}", latency::measure(server, options.latency).await?);
    }
    if options.idle > 0 {
        println!("{}", idle::measure(server, options.idle).await?);
    }
    Ok(())
}
