//! What each step of `cargo xtask ci` does.

use std::{env, path::PathBuf, process::Command};

use anyhow::Result;

use super::Step;
use crate::{
    docs, layers, peers, process, schema, tidy,
    verdict::{SKIPPED_EXIT_CODE, Verdict},
    workspace::{Package, Workspace},
};

pub(super) fn run(workspace: &Workspace, step: Step) -> Result<Verdict> {
    match step {
        Step::Fmt => cargo_step(
            workspace,
            "fmt",
            workspace.cargo().args(["fmt", "--all", "--check", "--", "-l", "--color", "never"]),
            "",
        ),
        Step::Layers => layers::run(workspace),
        Step::Tidy => tidy::run(workspace),
        Step::Clippy => clippy(workspace),
        Step::Features => features(workspace),
        Step::Test => test(workspace),
        Step::Schema => schema::run(workspace, true),
        Step::Docs => docs::run(workspace, true),
        Step::Doc => doc(workspace),
        Step::Package => package(workspace),
        Step::Deny => deny(workspace),
        Step::Peers => peers::check(workspace),
        Step::Dist => dist(workspace),
    }
}

/// Runs a command whose failure is a finding.
pub(super) fn cargo_step(
    workspace: &Workspace,
    name: &str,
    command: &mut Command,
    remark: &str,
) -> Result<Verdict> {
    let finished = process::capture(command, &workspace.log(name))?;
    Ok(if finished.ok() {
        Verdict::Clean(remark.to_owned())
    } else {
        Verdict::Found(vec![finished.excerpt()])
    })
}

fn clippy(workspace: &Workspace) -> Result<Verdict> {
    let mut command = workspace.cargo();
    command.args(["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"]);
    cargo_step(workspace, "clippy", &mut command, "")
}

/// Crates with features must compile without them, and with each of them alone: in the whole
/// workspace they are united, so a missing one goes unnoticed there.
fn features(workspace: &Workspace) -> Result<Verdict> {
    let mut findings = Vec::new();
    let mut checked = 0;
    for package in workspace.packages()?.iter().filter(|package| !package.features.is_empty()) {
        for chosen in feature_sets(package) {
            let mut command = workspace.cargo();
            command.args(["check", "--locked", "--package", &package.name, "--no-default-features"]);
            command.args(["--features", &chosen]);
            let finished = process::capture(&mut command, &workspace.log("features"))?;
            checked += 1;
            if !finished.ok() {
                findings.push(format!("{} with features [{chosen}]:\n{}", package.name, finished.excerpt()));
            }
        }
    }
    Ok(Verdict::from_findings(findings, format!("{checked} sets")))
}

/// No feature, and each one alone.
fn feature_sets(package: &Package) -> Vec<String> {
    let named = package.features.iter().filter(|name| *name != "default").cloned();
    std::iter::once(String::new()).chain(named).collect()
}

fn test(workspace: &Workspace) -> Result<Verdict> {
    let mut command = workspace.cargo();
    command.args(["test", "--locked", "--workspace", "--no-fail-fast"]);
    let finished = process::capture(&mut command, &workspace.log("test"))?;
    let count = Count::of(&finished.output);
    println!("tests: {} passed, {} failed", count.passed, count.failed);
    if !finished.ok() {
        let failed: Vec<&str> = finished.output.lines().filter(|line| line.ends_with("... FAILED")).collect();
        return Ok(Verdict::Found(vec![format!("{}\n{}", finished.excerpt(), failed.join("\n"))]));
    }
    anyhow::ensure!(count.passed > 0, "no test ran");
    Ok(Verdict::Clean(format!("{} tests", count.passed)))
}

/// Sums of the closing lines of test binaries.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    passed: usize,
    failed: usize,
}

impl Count {
    /// Reads lines such as `test result: ok. 3 passed; 0 failed; 0 ignored; …`.
    fn of(output: &str) -> Self {
        let mut count = Self::default();
        for line in output.lines().filter(|line| line.starts_with("test result: ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            for pair in words.windows(2) {
                let number = pair[0].parse().unwrap_or(0);
                match pair[1] {
                    "passed;" => count.passed += number,
                    "failed;" => count.failed += number,
                    _ => {}
                }
            }
        }
        count
    }
}

fn doc(workspace: &Workspace) -> Result<Verdict> {
    let mut command = workspace.cargo();
    command.args(["doc", "--locked", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    cargo_step(workspace, "doc", &mut command, "")
}

/// Packages are made of what a build has fetched already, and not built again.
fn package(workspace: &Workspace) -> Result<Verdict> {
    let mut command = workspace.cargo();
    command.args(["package", "--locked", "--offline", "--no-verify", "--allow-dirty", "--quiet"]);
    let packages = workspace.packages()?;
    let published: Vec<&str> =
        packages.iter().filter(|package| package.is_published).map(|package| package.name.as_str()).collect();
    for name in &published {
        command.args(["--package", name]);
    }
    cargo_step(workspace, "package", &mut command, &format!("{} packages", published.len()))
}

/// `cargo-deny` from the path or from the tools that `peers setup` installs. The advisory database
/// is no package, so advisories are left to where it can be fetched.
fn deny(workspace: &Workspace) -> Result<Verdict> {
    let installed = workspace.path(".peers/tools/bin/cargo-deny");
    let candidates = [PathBuf::from("cargo-deny"), installed];
    let found = candidates.iter().find(|path| process::exists(&path.to_string_lossy()));
    let Some(program) = found else {
        return Ok(Verdict::Skipped("cargo-deny is not installed (`cargo install cargo-deny`)".to_owned()));
    };
    // Crates for other systems are not there after a build; without a registry it must do as it is.
    process::capture(workspace.cargo().args(["fetch", "--locked"]), &workspace.log("fetch"))?;
    let mut command = Command::new(program);
    command.current_dir(workspace.root());
    command.args(["--offline", "--locked", "--config", "deny.toml", "check", "bans", "licenses", "sources"]);
    if let Some(cargo) = env::var_os("CARGO") {
        command.env("CARGO", cargo);
    }
    cargo_step(workspace, "deny", &mut command, "bans, licenses, sources")
}

/// Builds the image with the toolchain at hand, or with one that is made for it where rustup's server
/// cannot be reached, and runs it under an emulator.
fn dist(workspace: &Workspace) -> Result<Verdict> {
    let kit = workspace.target_dir().join("kit/aarch64");
    let mut make = Command::new(workspace.path("ci/cross-kit.sh"));
    let made = process::capture(make.arg(&kit), &workspace.log("cross-kit"))?;
    if let Some(verdict) = not_ok(&made) {
        return Ok(verdict);
    }
    // By its proxy: a toolchain is chosen with the first argument, and the libraries of this one stay out.
    let mut build = Command::new("cargo");
    build.current_dir(workspace.root()).env_remove("LD_LIBRARY_PATH").env_remove("CARGO");
    if kit.exists() {
        build.arg(format!("+{}", kit.display()));
    }
    build.args(["run", "--locked", "--package", "xtask", "--", "dist", "--target", "aarch64"]);
    build.args(["--bin", "agentcore-shim", "--tag", "check"]);
    let built = process::capture(&mut build, &workspace.log("dist"))?;
    if let Some(verdict) = not_ok(&built) {
        return Ok(verdict);
    }
    let out = workspace.target_dir().join("dist/aarch64-unknown-linux-musl");
    let mut check = Command::new(workspace.path("ci/dist-check.sh"));
    check.arg(out.join("agentcore-shim-check-linux-arm64.tar")).args(["check", "arm64"]);
    let checked = process::capture(&mut check, &workspace.log("dist-check"))?;
    let last = checked.output.lines().last().unwrap_or_default().to_owned();
    Ok(not_ok(&checked).unwrap_or(Verdict::Clean(last)))
}

/// What a child that did not succeed comes to; some of them say by their exit code that they cannot be run here.
fn not_ok(finished: &process::Finished) -> Option<Verdict> {
    match finished.code {
        Some(0) => None,
        Some(code) if code == i32::from(SKIPPED_EXIT_CODE) => {
            let said = finished.output.lines().last().unwrap_or_default();
            let reason = said.split_once(": ").map_or(said, |(_, reason)| reason);
            Some(Verdict::Skipped(reason.to_owned()))
        }
        _ => Some(Verdict::Found(vec![finished.excerpt()])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_summed() {
        let output = "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\
                      test result: FAILED. 5 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out\n";
        assert_eq!(Count::of(output), Count { passed: 7, failed: 1 });
        assert_eq!(Count::of("error: could not compile"), Count::default());
    }

    #[test]
    fn each_feature_is_tried_alone() {
        let package = Package {
            name: "a".to_owned(),
            dir: PathBuf::from("crates/a"),
            dependencies: Vec::new(),
            features: ["agent", "default", "schema"].map(str::to_owned).to_vec(),
            is_published: true,
        };
        assert_eq!(feature_sets(&package), ["", "agent", "schema"]);
    }
}
