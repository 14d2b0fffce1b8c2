//! What is shipped: binaries, checksums, a bill of materials, and a container image written without Docker.

mod elf;
mod image;
mod rootfs;
mod sbom;
mod target;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use clap::Args;

use self::{
    image::{Image, Platform},
    target::{Cpu, Target},
};
use crate::{process, verdict::Verdict, workspace::Workspace};

/// The programs that are shipped.
const BINARIES: [&str; 3] = ["agentcore-shim", "agui", "agui-server"];
/// The program that the image runs.
const IMAGE_BINARY: &str = "agentcore-shim";

/// For which machine, and how much of it.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Processor that the programs are for.
    #[arg(long, value_enum, default_value_t = Cpu::Aarch64)]
    target: Cpu,
    /// Only these programs, repeatable; the image needs agentcore-shim.
    #[arg(long = "bin", value_name = "NAME", value_parser = BINARIES)]
    bins: Vec<String>,
    /// Tag of the image [default: the version of the workspace].
    #[arg(long)]
    tag: Option<String>,
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<Verdict> {
    let Some(target) = Target::find(options.target)? else {
        return Ok(Verdict::Skipped(format!("type: rustup target add {}", options.target.musl())));
    };
    let bins: Vec<&str> = if options.bins.is_empty() {
        BINARIES.to_vec()
    } else {
        options.bins.iter().map(String::as_str).collect()
    };
    println!("{}", target.describe());
    anyhow::ensure!(
        process::inherit(&mut target.build(workspace, &bins))?,
        "cargo build for {} failed",
        target.triple()
    );
    let out = workspace.target_dir().join("dist").join(target.triple());
    let made = Dist { workspace, options, target: &target, out: &out }.write(&bins)?;
    Ok(Verdict::Clean(made.join("\n")))
}

/// Everything that one call puts into its directory.
struct Dist<'a> {
    workspace: &'a Workspace,
    options: &'a Options,
    target: &'a Target,
    out: &'a Path,
}

impl Dist<'_> {
    /// Writes all files; a line for each.
    fn write(&self, bins: &[&str]) -> Result<Vec<String>> {
        if self.out.exists() {
            fs::remove_dir_all(self.out).with_context(|| format!("emptying {}", self.out.display()))?;
        }
        fs::create_dir_all(self.out)?;
        let version = self.workspace.version()?;
        let mut files = Vec::new();
        for bin in bins {
            let built = self.target.built(self.workspace, bin);
            let program = fs::read(&built).with_context(|| format!("reading {}", built.display()))?;
            elf::check(&program, self.options.target, self.target.is_static())
                .with_context(|| format!("{bin} is not what was asked for"))?;
            let path = self.out.join(bin);
            fs::copy(&built, &path)?;
            files.push(path);
            files.push(
                self.save(&format!("{bin}.cdx.json"), &sbom::document(self.workspace, self.target, bin)?)?,
            );
            if *bin == IMAGE_BINARY {
                files.push(self.image(&program, &version)?);
            }
        }
        let mut sums = String::new();
        let mut lines = Vec::new();
        for path in &files {
            let content = fs::read(path)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            sums.push_str(&format!("{}  {name}\n", image::sha256_hex(&content)));
            lines.push(format!("{:>10}  {}", content.len(), path.display()));
        }
        self.save("SHA256SUMS", sums.as_bytes())?;
        Ok(lines)
    }

    fn image(&self, program: &[u8], version: &str) -> Result<PathBuf> {
        let tag = self.options.tag.as_deref().unwrap_or(version);
        let platform = Platform::of(self.options.target);
        if !self.target.is_static() {
            println!(
                "the image holds nothing but the program: one that is linked dynamically does not start in it"
            );
        }
        let image = Image::new(IMAGE_BINARY, version, tag, platform, rootfs::files(IMAGE_BINARY, program));
        self.save(&format!("{IMAGE_BINARY}-{tag}-linux-{}.tar", platform.architecture), &image.archive()?)
    }

    fn save(&self, name: &str, content: &[u8]) -> Result<PathBuf> {
        let path = self.out.join(name);
        fs::write(&path, content).with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    }
}
