//! Installs the peers, each version pinned by a file in `peers/`.

use std::{env, fs, path::Path, process::Command};

use anyhow::{Context, Result};

use crate::{
    process::{self, Finished},
    verdict::Verdict,
    workspace::Workspace,
};

/// Everything installed lies here, except the node modules.
pub(super) const DIRECTORY: &str = ".peers";
/// The Python environments: directory in [`DIRECTORY`] and file in `peers/requirements/`.
const ENVIRONMENTS: &[&str] = &["tools", "models", "kernel", "agentcore", "generic"];
/// Directories with node modules.
const NODE_DIRECTORIES: &[&str] = &["peers/node", "peers/generic"];
/// Holds the pinned versions that are installed; written last.
const STAMP: &str = ".peers/stamp";
/// Oldest versions that the peers run with.
const MIN_NODE_MAJOR: u32 = 20;
const MIN_PYTHON: (u32, u32) = (3, 11);
/// Interpreter to use instead of the `python3` on the path.
const PYTHON_VARIABLE: &str = "PEERS_PYTHON";

/// Parts of messages of npm and pip that say that a registry was not reached.
const UNREACHABLE: &[&str] = &[
    "ECONNREFUSED",
    "ECONNRESET",
    "EAI_AGAIN",
    "ENOTFOUND",
    "ETIMEDOUT",
    "ConnectTimeoutError",
    "NewConnectionError",
    "ProxyError",
    "ReadTimeoutError",
    "Temporary failure in name resolution",
    "connection broken",
    // pip without an answer from its index.
    "(from versions: none)",
];

/// Why an installation did not come about.
enum Failure {
    /// It cannot be had on this machine.
    Unavailable(String),
    Broken(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Broken(error)
    }
}

pub(super) fn run(workspace: &Workspace) -> Result<Verdict> {
    let wanted = pinned_versions(workspace)?;
    let stamp = workspace.path(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(Verdict::Clean("peers are installed".to_owned()));
    }
    if stamp.exists() {
        fs::remove_file(&stamp)?;
    }
    match install(workspace) {
        Ok(()) => {
            fs::write(&stamp, wanted)?;
            Ok(Verdict::Clean("peers installed".to_owned()))
        }
        Err(Failure::Unavailable(reason)) => Ok(Verdict::Skipped(reason)),
        Err(Failure::Broken(error)) => Err(error),
    }
}

/// Text of all files that pin versions: when it changes, everything is installed anew.
fn pinned_versions(workspace: &Workspace) -> Result<String> {
    let mut files: Vec<String> =
        ENVIRONMENTS.iter().map(|name| format!("peers/requirements/{name}.txt")).collect();
    files.extend(NODE_DIRECTORIES.iter().map(|directory| format!("{directory}/package-lock.json")));
    let mut text = String::new();
    for file in files {
        text += &fs::read_to_string(workspace.path(&file)).with_context(|| format!("reading {file}"))?;
    }
    Ok(text)
}

fn install(workspace: &Workspace) -> Result<(), Failure> {
    let python = find_python()?;
    check_node()?;
    fs::create_dir_all(workspace.path(DIRECTORY)).map_err(anyhow::Error::from)?;
    for directory in NODE_DIRECTORIES {
        install_node_modules(workspace, directory)?;
    }
    for name in ENVIRONMENTS {
        install_environment(workspace, &python, name)?;
    }
    Ok(())
}

fn find_python() -> Result<String, Failure> {
    let python = env::var(PYTHON_VARIABLE).unwrap_or_else(|_| "python3".to_owned());
    let (major, minor) = MIN_PYTHON;
    let script = format!("import sys, ensurepip, venv; sys.exit(sys.version_info < ({major}, {minor}))");
    let good =
        Command::new(&python).args(["-c", &script]).output().is_ok_and(|output| output.status.success());
    let missing =
        || Failure::Unavailable(format!("{python} is not Python {major}.{minor} or newer with venv"));
    if good { Ok(python) } else { Err(missing()) }
}

fn check_node() -> Result<(), Failure> {
    let missing =
        || Failure::Unavailable(format!("Node.js {MIN_NODE_MAJOR} or newer with npm is not installed"));
    let version = process::stdout_of(Command::new("node").arg("--version")).map_err(|_| missing())?;
    let version = String::from_utf8_lossy(&version);
    let major: u32 =
        version.trim_start_matches('v').split('.').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    if major >= MIN_NODE_MAJOR && process::exists("npm") { Ok(()) } else { Err(missing()) }
}

fn install_node_modules(workspace: &Workspace, directory: &str) -> Result<(), Failure> {
    let mut command = Command::new("npm");
    command.current_dir(workspace.path(directory)).args(["ci", "--no-audit", "--no-fund"]);
    installed("npm ci", &process::capture(&mut command, &workspace.log("peers-npm"))?)
}

/// A fresh environment with exactly the listed packages.
fn install_environment(workspace: &Workspace, python: &str, name: &str) -> Result<(), Failure> {
    let directory = workspace.path(DIRECTORY).join(name);
    let log = workspace.log(&format!("peers-{name}"));
    let mut create = Command::new(python);
    create.args(["-m", "venv", "--clear"]).arg(&directory);
    installed("python -m venv", &process::capture(&mut create, &log)?)?;
    let pip = |arguments: &[&str]| {
        let mut command = Command::new(directory.join("bin/python"));
        command.args(["-m", "pip", "--disable-pip-version-check", "--no-input"]).args(arguments);
        process::capture(&mut command, &log)
    };
    let requirements = workspace.path(format!("peers/requirements/{name}.txt"));
    let requirements = requirements.to_string_lossy();
    installed("pip install", &pip(&["install", "--no-deps", "--requirement", &requirements])?)?;
    installed("pip check", &pip(&["check"])?)
}

fn installed(what: &str, finished: &Finished) -> Result<(), Failure> {
    if finished.ok() {
        return Ok(());
    }
    if UNREACHABLE.iter().any(|sign| finished.output.contains(sign)) {
        return Err(Failure::Unavailable(format!("{what}: the package registry cannot be reached")));
    }
    Err(Failure::Broken(anyhow::anyhow!("{what} failed:\n{}", finished.excerpt())))
}

/// The interpreter of an installed environment.
pub(super) fn python(workspace: &Workspace, environment: &str) -> std::path::PathBuf {
    workspace.path(Path::new(DIRECTORY).join(environment).join("bin/python"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: i32, output: &str) -> Finished {
        Finished { code: Some(code), log: "some.log".into(), output: output.to_owned() }
    }

    #[test]
    fn an_unreachable_registry_is_told_from_a_broken_installation() {
        assert!(installed("npm ci", &ended(0, "added 19 packages")).is_ok());
        for sign in UNREACHABLE {
            let failed = installed("npm ci", &ended(1, &format!("npm error code {sign}\n")));
            assert!(matches!(failed, Err(Failure::Unavailable(_))), "{sign}");
        }
        let failed = installed("pip check", &ended(1, "a 1.0 requires b, which is not installed."));
        assert!(matches!(failed, Err(Failure::Broken(_))));
    }
}
