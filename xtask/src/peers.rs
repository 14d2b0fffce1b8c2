//! The programs of other people that we are checked against: the official clients and models of
//! AG-UI, an independent validator, and the real kernel.

mod page;
mod run;
mod setup;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

pub(crate) use run::agentcore_script;

use crate::{verdict::Verdict, workspace::Workspace};

/// What to do with the peers.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Install them below `.peers/` and `peers/node/node_modules/`, once for each set of versions.
    Setup,
    /// Install them if needed, and run the checks.
    Run(run::Options),
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<Verdict> {
    match &options.action {
        None => check(workspace),
        Some(Action::Setup) => setup::run(workspace),
        Some(Action::Run(options)) => set_up_and_run(workspace, options),
    }
}

/// All stages, against the debug build of the server.
pub(crate) fn check(workspace: &Workspace) -> Result<Verdict> {
    set_up_and_run(workspace, &run::Options::default())
}

/// Installs them if need be.
pub(crate) fn set_up(workspace: &Workspace) -> Result<Verdict> {
    setup::run(workspace)
}

/// The interpreter that has the official kit for AgentCore.
pub(crate) fn agentcore_python(workspace: &Workspace) -> PathBuf {
    setup::python(workspace, "agentcore")
}

fn set_up_and_run(workspace: &Workspace, options: &run::Options) -> Result<Verdict> {
    match setup::run(workspace)? {
        Verdict::Clean(_) => run::run(workspace, options),
        verdict => Ok(verdict),
    }
}
