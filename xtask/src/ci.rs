//! Every check in one command, one line for each.

mod steps;

use std::{
    process::Command,
    time::{Duration, Instant},
};

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::{verdict::Verdict, workspace::Workspace};

/// Which steps to run, and how strictly.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Steps to run; all of them, in this order, when none is named.
    #[arg(value_enum)]
    steps: Vec<Step>,
    /// Go on after a step that failed.
    #[arg(long)]
    keep_going: bool,
    /// A step that cannot be done here counts as one that could not run.
    #[arg(long)]
    no_skip: bool,
    /// Steps that may be skipped all the same, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', requires = "no_skip")]
    except: Vec<Step>,
}

/// One check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    /// Formatting.
    Fmt,
    /// Dependencies between crates.
    Layers,
    /// Sizes, names, left-overs, links, proofs.
    Tidy,
    /// Clippy without warnings, tests and benches included.
    Clippy,
    /// Each optional feature on its own.
    Features,
    /// Unit, integration and documentation tests.
    Test,
    /// The published JSON Schemas are what the code says.
    Schema,
    /// The table of error codes is what the code says.
    Docs,
    /// Documentation without warnings.
    Doc,
    /// What would be published can be packaged.
    Package,
    /// Licences, bans and sources of dependencies.
    Deny,
    /// The official clients, models and kernel.
    Peers,
    /// The container image for 64-bit ARM: built, read by the tools of others, run.
    Dist,
}

/// Counts for the closing line.
#[derive(Debug, Default)]
struct Tally {
    passed: usize,
    found: usize,
    skipped: usize,
    broken: usize,
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<Verdict> {
    let steps = if options.steps.is_empty() { Step::value_variants() } else { &options.steps };
    let started = Instant::now();
    let mut tally = Tally::default();
    for &step in steps {
        let no_skip = options.no_skip && !options.except.contains(&step);
        if !run_step(workspace, step, no_skip, &mut tally) && !options.keep_going {
            break;
        }
    }
    println!("{} s in all", started.elapsed().as_secs());
    println!(
        "steps: {} passed, {} failed, {} skipped",
        tally.passed,
        tally.found + tally.broken,
        tally.skipped
    );
    anyhow::ensure!(tally.broken == 0, "{} of the steps", tally.broken);
    Ok(if tally.found == 0 { Verdict::Clean(String::new()) } else { Verdict::Found(Vec::new()) })
}

/// Runs one step, prints its line, and tells whether the next may follow.
fn run_step(workspace: &Workspace, step: Step, no_skip: bool, tally: &mut Tally) -> bool {
    let started = Instant::now();
    let ended = steps::run(workspace, step);
    let time = started.elapsed();
    match ended {
        Ok(Verdict::Clean(remark)) => {
            tally.passed += 1;
            print_line("ok", step, time, &remark);
            true
        }
        Ok(Verdict::Found(findings)) => {
            tally.found += 1;
            findings.iter().for_each(|finding| println!("{finding}"));
            print_line("FOUND", step, time, &format!("{} to mend", findings.len()));
            false
        }
        Ok(Verdict::Skipped(reason)) if !no_skip => {
            tally.skipped += 1;
            print_line("SKIPPED", step, time, &reason);
            true
        }
        Ok(Verdict::Skipped(reason)) => {
            tally.broken += 1;
            print_line("BROKEN", step, time, &format!("it may not be skipped here: {reason}"));
            false
        }
        Err(error) => {
            tally.broken += 1;
            print_line("BROKEN", step, time, &format!("{error:#}"));
            false
        }
    }
}

fn print_line(outcome: &str, step: Step, time: Duration, remark: &str) {
    let name = step.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let line = format!("{outcome:8} {name:9} {:6.1} s  {remark}", time.as_secs_f32());
    println!("{}", line.trim_end());
}

/// The bodies of the fuzz targets under test, with more mutations than the ordinary tests make.
pub(crate) fn fuzz_smoke(workspace: &Workspace, rounds: u32, corpus: bool) -> Result<Verdict> {
    let mut command: Command = workspace.cargo();
    command.args(["test", "--locked", "--package", "xtask", "--test", "it", "--", "fuzz"]);
    command.env("FUZZ_ROUNDS", rounds.to_string());
    if corpus {
        command.env("FUZZ_CORPUS", workspace.path("fuzz/corpus"));
    }
    steps::cargo_step(workspace, "fuzz-smoke", &mut command, &format!("{rounds} mutations for each target"))
}
