//! The project's own checks and tools: `cargo xtask help` lists them.
//!
//! Every command ends with 0 (nothing to say), 1 (it found something) or 2 (it could not run).

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool speaks on its terminal")]

mod bench;
mod ci;
mod dist;
mod docs;
mod layers;
mod peers;
mod process;
mod schema;
mod tidy;
mod verdict;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{verdict::Verdict, workspace::Workspace};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own checks and tools")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every check, or only the named steps, and print one line for each.
    Ci(ci::Options),
    /// Check that dependencies between crates only point down.
    Layers,
    /// Check what the compiler and clippy do not: sizes, names, left-overs, links, proofs.
    Tidy,
    /// Write the JSON Schemas into `schemas/`.
    Schema {
        /// Write nothing; report schemas that differ from the code.
        #[arg(long)]
        check: bool,
    },
    /// Write the table of error codes into `docs/errors.md`.
    Docs {
        /// Write nothing; report a table that differs from the code.
        #[arg(long)]
        check: bool,
    },
    /// Install and run the programs of other people that we are checked against.
    Peers(peers::Options),
    /// Run the bodies of the fuzz targets over their seeds and a bounded number of mutations.
    FuzzSmoke {
        /// Mutations for each target.
        #[arg(long, default_value_t = 20_000)]
        rounds: u32,
        /// Write the seeds to fuzz/corpus, where cargo-fuzz looks for them.
        #[arg(long)]
        corpus: bool,
    },
    /// Build what is shipped: programs, checksums, bills of materials, a container image.
    Dist(dist::Options),
    /// Measure release builds beside something that people know.
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli.command) {
        Ok(verdict) => {
            verdict.print();
            verdict.exit_code()
        }
        Err(error) => {
            eprintln!("could not run: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> anyhow::Result<Verdict> {
    let workspace = Workspace::locate()?;
    match command {
        Command::Ci(options) => ci::run(&workspace, &options),
        Command::Layers => layers::run(&workspace),
        Command::Tidy => tidy::run(&workspace),
        Command::Schema { check } => schema::run(&workspace, check),
        Command::Docs { check } => docs::run(&workspace, check),
        Command::Peers(options) => peers::run(&workspace, &options),
        Command::FuzzSmoke { rounds, corpus } => ci::fuzz_smoke(&workspace, rounds, corpus),
        Command::Bench(options) => bench::run(&workspace, &options),
        Command::Dist(options) => dist::run(&workspace, &options),
    }
}
