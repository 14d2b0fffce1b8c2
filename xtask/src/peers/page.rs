//! The example page: what it needs to be built and shown.

use std::{env, fs, path::PathBuf, process::Command, time::SystemTime};

use anyhow::Result;

use crate::{
    process::{self, Finished},
    workspace::Workspace,
};

/// Where the page is.
pub(super) const DIRECTORY: &str = "examples/web";
/// Browser to use instead of the first one that is found.
const VARIABLE: &str = "PEERS_CHROMIUM";
/// Names of the browser, and of its kin that are driven in the same way.
const NAMES: &[&str] = &["chromium", "chromium-browser", "chromium-headless-shell", "google-chrome"];

/// The browser to use, if there is one.
pub(super) fn browser() -> Option<PathBuf> {
    if let Some(chosen) = env::var_os(VARIABLE) {
        return Some(PathBuf::from(chosen));
    }
    let directories: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    let mut candidates =
        NAMES.iter().flat_map(|name| directories.iter().map(move |directory| directory.join(name)));
    candidates.find(|path| path.is_file())
}

/// Installs what the page is built with, if that has changed, and builds it. What failed, if something did.
pub(super) fn build(workspace: &Workspace) -> Result<Option<Finished>> {
    let changed = |file: &str| fs::metadata(workspace.path(DIRECTORY).join(file))?.modified();
    // npm writes this file last.
    let installed = changed("node_modules/.package-lock.json").unwrap_or(SystemTime::UNIX_EPOCH);
    let mut commands = vec![npm(workspace, &["run", "build"])];
    if installed < changed("package-lock.json")? {
        commands.insert(0, npm(workspace, &["ci"]));
    }
    for mut command in commands {
        let finished = process::capture(&mut command, &workspace.log("peers-web-build"))?;
        if !finished.ok() {
            return Ok(Some(finished));
        }
    }
    Ok(None)
}

fn npm(workspace: &Workspace, arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(workspace.path(DIRECTORY)).args(arguments);
    command
}
