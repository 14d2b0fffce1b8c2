//! Runs the checks that need the peers.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::{
    page,
    setup::{self, DIRECTORY},
};
use crate::{
    process::{self, Finished},
    verdict::Verdict,
    workspace::Workspace,
};

/// Makes the server's golden tests write their streams to `goldens` in the target directory.
const WRITE_GOLDENS: &str = "AGUI_WRITE_GOLDENS";
/// Live scenarios of the ordinary run, by prefix; the others take minutes.
const LIVE: &str = "a_,b_,b2,c_,d_,e_,f,g_,h_,i_,j,m1,m4,m5,m6,n1,n2,n3,t_,u,w,o1_,o2_,o5,o6";

/// What to run, against which server.
#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// Stages to run; all of them, in this order, when none is named.
    #[arg(value_enum)]
    stages: Vec<Stage>,
    /// Scenarios by prefix of their names, separated by commas.
    #[arg(long)]
    only: Option<String>,
    /// Command of the server under test instead of the debug build of agui-server;
    /// `{host}` and `{port}` are replaced.
    #[arg(long)]
    server: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// The judges accept good streams and refuse bad ones.
    Samples,
    /// The streams that the server's golden tests pin.
    Golden,
    /// The server over recorded kernel traffic, and the streams that come of it.
    Replay,
    /// The official HttpAgent and the server over the real kernel.
    HttpAgent,
    /// The lab's client and the server over the real kernel, and the streams that come of it.
    Live,
    /// The server over sample agents on the official SDKs of A2A, and the streams that come of it.
    Generic,
    /// The official kit and clients of Bedrock AgentCore, beside and against agentcore-shim.
    Agentcore,
    /// The official binary encoder, and the official client on binary streams of the server's demo.
    Proto,
    /// The example page in a browser, across origins, against the server's demo.
    Web,
    /// `agui verify` on the golden streams, and beside the independent validator on broken ones.
    Verify,
}

pub(super) fn run(workspace: &Workspace, options: &Options) -> Result<Verdict> {
    let runner = Runner { workspace, options };
    let stages = if options.stages.is_empty() { Stage::value_variants() } else { &options.stages };
    if options.server.is_none() && stages.iter().any(|stage| stage.needs_server()) {
        let mut build = workspace.cargo();
        build.args(["build", "--locked", "--package", "agui-server", "--features", "failpoints"]);
        let built = process::capture(&mut build, &workspace.log("peers-build"))?;
        anyhow::ensure!(built.ok(), "building agui-server:\n{}", built.excerpt());
    }
    if stages.contains(&Stage::Agentcore) {
        let mut build = workspace.cargo();
        build.args(["build", "--locked", "--package", "agentcore-shim"]);
        let built = process::capture(&mut build, &workspace.log("peers-build-shim"))?;
        anyhow::ensure!(built.ok(), "building agentcore-shim:\n{}", built.excerpt());
    }
    let mut findings = Vec::new();
    for &stage in stages {
        let started = Instant::now();
        let found = runner.stage(stage)?;
        let state = if found.is_empty() { "ok" } else { "FOUND" };
        println!("{state:8} peers {:10} {:6.1} s", stage.name(), started.elapsed().as_secs_f32());
        findings.extend(found);
    }
    Ok(Verdict::from_findings(findings, String::new()))
}

impl Stage {
    fn needs_server(self) -> bool {
        matches!(self, Self::Replay | Self::HttpAgent | Self::Live | Self::Generic | Self::Proto | Self::Web)
    }

    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// One program of `peers/` and its arguments.
struct Judge {
    name: &'static str,
    command: Command,
    /// It looks at some streams only, and there may be none of them.
    selective: bool,
}

/// Exit code of a judge that had nothing to judge.
const NOTHING_JUDGED: Option<i32> = Some(2);

struct Runner<'a> {
    workspace: &'a Workspace,
    options: &'a Options,
}

impl Runner<'_> {
    fn stage(&self, stage: Stage) -> Result<Vec<String>> {
        match stage {
            Stage::Samples => self.samples(),
            Stage::Golden => self.golden(),
            Stage::Replay => self.drive_and_judge("replay", self.options.only.as_deref()),
            Stage::Live => self.drive_and_judge("live", Some(self.options.only.as_deref().unwrap_or(LIVE))),
            Stage::Agentcore => self.agentcore(),
            Stage::Generic => self.generic(),
            Stage::Proto => self.proto(),
            Stage::Web => self.web(),
            Stage::Verify => self.verify(),
            Stage::HttpAgent => {
                let mut command = self.lab("http_agent.py");
                if let Some(only) = &self.options.only {
                    command.args(["--only", only]);
                }
                self.finding("http-agent", &mut command)
            }
        }
    }

    /// The bytes of the official encoder are those that `agui-proto` has to write, and its decoder reads ours.
    fn proto(&self) -> Result<Vec<String>> {
        let mut frames = self.node("proto-fixtures.mjs");
        frames.arg("--check").arg(self.workspace.path("crates/agui-proto/tests/fixtures/frames.jsonl"));
        let mut findings = self.finding("proto-frames", &mut frames)?;
        findings.extend(self.proto_recordings()?);
        let mut streams = self.node("drive-binary.mjs");
        streams.arg(self.debug_build("agui-server"));
        findings.extend(self.finding("proto-streams", &mut streams)?);
        Ok(findings)
    }

    /// Every event of the golden streams, and of the public corpus where it is, as the official encoder
    /// writes it.
    fn proto_recordings(&self) -> Result<Vec<String>> {
        let corpus = env::var_os("AGUI_CONFORMANCE_DIR").map(PathBuf::from);
        let goldens = self.workspace.target_dir().join("goldens");
        let sources: Vec<PathBuf> =
            corpus.into_iter().chain([goldens]).filter(|path| path.exists()).collect();
        let mut encode = self.node("proto-fixtures.mjs");
        encode.arg("--all").args(sources);
        let frames = self.workspace.target_dir().join("proto-frames.jsonl");
        fs::write(&frames, process::stdout_of(&mut encode)?)?;
        let mut test = self.workspace.cargo();
        test.args(["test", "--locked", "--package", "agui-proto", "--test", "it", "frames"]);
        test.env("AGUI_PROTO_FRAMES", frames);
        self.finding("proto-recordings", &mut test)
    }

    fn web(&self) -> Result<Vec<String>> {
        let Some(browser) = page::browser() else {
            println!("         web: skipped, there is no Chromium on the path");
            return Ok(Vec::new());
        };
        if let Some(failed) = page::build(self.workspace)? {
            return Ok(vec![format!("peers web: building the page:\n{}", failed.excerpt())]);
        }
        let mut test = Command::new("node");
        test.current_dir(self.workspace.path(page::DIRECTORY)).arg("test/page.mjs");
        test.arg("--server").arg(self.debug_build("agui-server")).arg("--chromium").arg(browser);
        self.finding("web", &mut test)
    }

    fn verify(&self) -> Result<Vec<String>> {
        let mut build = self.workspace.cargo();
        build.args(["build", "--locked", "--package", "agui"]);
        let mut findings = self.finding("verify-build", &mut build)?;
        if !findings.is_empty() {
            return Ok(findings);
        }
        let program = self.debug_build("agui");
        let (goldens, failed) = self.write_goldens()?;
        let streams = if failed.is_empty() { files_below(&goldens)? } else { Vec::new() };
        findings.extend(failed);
        for stream in streams {
            let mut judge = Command::new(&program);
            judge.args(["verify", "--fail-on", "warning"]).arg(stream);
            findings.extend(self.finding("verify-golden", &mut judge)?);
        }
        let mut compare = Command::new(setup::python(self.workspace, "models"));
        compare.arg(self.workspace.path("peers/python/compare_validate.py"));
        compare.arg("--check").arg("--agui").arg(program);
        findings.extend(self.finding("verify-comparison", &mut compare)?);
        Ok(findings)
    }

    /// Judges that accept everything would make the other stages worthless.
    fn samples(&self) -> Result<Vec<String>> {
        let mut findings = self.judge(&self.workspace.path("peers/samples/good"), "samples")?;
        let mut bad = self.node_judge();
        bad.args(["--bad", "--quiet"]).arg(self.workspace.path("peers/samples/bad"));
        findings.extend(self.finding("samples-bad", &mut bad)?);
        for mut judge in self.python_judges() {
            judge.command.args(["--accept", "wrong_type"]).arg(self.workspace.path("peers/samples/bad"));
            let finished = self.capture(&format!("samples-bad-{}", judge.name), &mut judge.command)?;
            if finished.code != Some(1) {
                findings.push(format!(
                    "{} does not refuse a bad stream:\n{}",
                    judge.name,
                    finished.excerpt()
                ));
            }
        }
        Ok(findings)
    }

    fn golden(&self) -> Result<Vec<String>> {
        let (out, findings) = self.write_goldens()?;
        if findings.is_empty() { self.judge(&out, "golden") } else { Ok(findings) }
    }

    /// Lets the server's tests write the streams that they pin; where they lie, and what failed.
    fn write_goldens(&self) -> Result<(PathBuf, Vec<String>)> {
        let out = self.workspace.target_dir().join("goldens");
        remove(&out)?;
        let mut test = self.workspace.cargo();
        test.args(["test", "--locked", "--package", "agui-server", "--test", "it", "goldens"]);
        test.env(WRITE_GOLDENS, "1");
        let findings = self.finding("golden-tests", &mut test)?;
        Ok((out, findings))
    }

    fn drive_and_judge(&self, mode: &str, only: Option<&str>) -> Result<Vec<String>> {
        let out = self.workspace.path(DIRECTORY).join("out").join(mode);
        remove(&out)?;
        let mut drive = self.lab("drive.py");
        drive.arg(mode).arg("--out").arg(&out);
        if mode == "live" {
            // They mostly wait for programs to start.
            drive.args(["--jobs", "2"]);
        }
        if let Some(only) = only {
            drive.args(["--only", only]);
        }
        // Replayed clients are of the newest kind and live ones of the oldest, so both are seen.
        if mode == "replay" {
            drive.env("LAB_PROTOCOL_VERSION", "1.0");
        }
        let mut findings = self.finding(mode, &mut drive)?;
        if out.exists() {
            findings.extend(self.judge(&out, mode)?);
        }
        Ok(findings)
    }

    fn generic(&self) -> Result<Vec<String>> {
        let out = self.workspace.path(DIRECTORY).join("out/generic");
        remove(&out)?;
        let mut drive = Command::new(setup::python(self.workspace, "generic"));
        drive.arg(self.workspace.path("peers/generic/drive.py"));
        drive.arg("--server").arg(self.server()).arg("--out").arg(&out);
        if let Some(only) = &self.options.only {
            drive.args(["--only", only]);
        }
        let mut findings = self.finding("generic", &mut drive)?;
        if out.exists() {
            findings.extend(self.judge(&out, "generic")?);
        }
        Ok(findings)
    }

    /// What every judge says about the streams in `directory`.
    fn judge(&self, directory: &Path, name: &str) -> Result<Vec<String>> {
        let mut clients = self.node_judge();
        clients.args(["--quiet", "--accept", STREAM_FILES]).arg(directory);
        let mut findings = self.finding(&format!("{name}-clients"), &mut clients)?;
        for mut judge in self.python_judges() {
            judge.command.args(["--accept", STREAM_FILES]).arg(directory);
            let finished = self.capture(&format!("{name}-{}", judge.name), &mut judge.command)?;
            let idle = judge.selective && finished.code == NOTHING_JUDGED;
            if !finished.ok() && !idle {
                findings.push(format!("peers {name}-{}:\n{}", judge.name, finished.excerpt()));
            }
        }
        Ok(findings)
    }

    fn node_judge(&self) -> Command {
        self.node("verify-streams.mjs")
    }

    fn node(&self, script: &str) -> Command {
        let mut command = Command::new("node");
        command.arg(self.workspace.path("peers/node").join(script));
        command
    }

    fn debug_build(&self, program: &str) -> PathBuf {
        self.workspace.target_dir().join("debug").join(program)
    }

    fn python_judges(&self) -> Vec<Judge> {
        let judge = |name, environment, script: &str, arguments: &[&str]| {
            let selective = arguments.contains(&"--old-clients");
            let mut command = Command::new(setup::python(self.workspace, environment));
            command.arg(self.workspace.path("peers/python").join(script)).args(arguments);
            Judge { name, command, selective }
        };
        vec![
            judge("models-1", "models", "parse_events.py", &["--strict"]),
            judge("models-0", "kernel", "parse_events.py", &["--old-clients"]),
            judge("validator", "models", "validate_streams.py", &[]),
        ]
    }

    fn lab(&self, script: &str) -> Command {
        let mut command = Command::new(setup::python(self.workspace, "kernel"));
        command.arg(self.workspace.path("peers/lab").join(script));
        command.env("LAB_IAC_BIN", self.workspace.path(DIRECTORY).join("kernel/bin/iac-code"));
        command.env("LAB_AGUI_CMD", self.server());
        command
    }

    /// Command of the server under test.
    fn server(&self) -> String {
        let built = self.workspace.target_dir().join("debug/agui-server");
        let built = format!("'{}' --host {{host}} --port {{port}}", built.display());
        self.options.server.clone().unwrap_or(built)
    }

    /// What people call an agent on AgentCore with, and what its official kit does wrong.
    fn agentcore(&self) -> Result<Vec<String>> {
        let shim = self.workspace.target_dir().join("debug/agentcore-shim");
        let mut findings = Vec::new();
        for script in ["clients.py", "rows.py"] {
            let mut command = agentcore_script(self.workspace, script, &shim);
            findings.extend(self.finding(&format!("agentcore-{script}"), &mut command)?);
        }
        Ok(findings)
    }

    /// Runs a command whose failure is a finding.
    fn finding(&self, name: &str, command: &mut Command) -> Result<Vec<String>> {
        let finished = self.capture(name, command)?;
        Ok(if finished.ok() { Vec::new() } else { vec![format!("peers {name}:\n{}", finished.excerpt())] })
    }

    /// Runs a command and shows its closing line.
    fn capture(&self, name: &str, command: &mut Command) -> Result<Finished> {
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        let finished = process::capture(command, &self.workspace.log(&format!("peers-{name}")))?;
        if let Some(line) = finished.output.lines().last().filter(|line| line.contains(" passed, ")) {
            println!("         {name}: {line}");
        }
        Ok(finished)
    }
}

/// A script of `peers/agentcore` with the shim that it is to look at.
pub(crate) fn agentcore_script(workspace: &Workspace, script: &str, shim: &Path) -> Command {
    let mut command = Command::new(setup::python(workspace, "agentcore"));
    command.arg(workspace.path("peers/agentcore").join(script));
    command.env("AGENTCORE_SHIM", format!("'{}'", shim.display()));
    command.env("AGENTCORE_OLD_PYTHON", setup::python(workspace, "kernel"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// The files in the folders of a directory, sorted; there have to be some.
fn files_below(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in fs::read_dir(directory)? {
        for file in fs::read_dir(folder?.path())? {
            files.push(file?.path());
        }
    }
    anyhow::ensure!(!files.is_empty(), "{} holds no files", directory.display());
    files.sort();
    Ok(files)
}

fn remove(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    Ok(())
}

/// Recordings of what the server sent, and files of streams; not the kernel's and the model's side.
const STREAM_FILES: &str = r"(agui\.jsonl|\.sse|goldens/.*\.jsonl|samples/.*\.jsonl)(\.gz)?$";
