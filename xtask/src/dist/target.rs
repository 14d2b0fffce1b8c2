//! Which target triple it becomes, and how cargo is called for it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;
use clap::ValueEnum;

use crate::{process, workspace::Workspace};

/// Processors that are shipped for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Cpu {
    /// 64-bit ARM, as Amazon Bedrock AgentCore wants it.
    Aarch64,
    /// 64-bit x86.
    #[value(name = "x86_64")]
    X86_64,
}

impl Cpu {
    /// The triple whose programs need nothing of the system.
    pub(super) const fn musl(self) -> &'static str {
        match self {
            Self::Aarch64 => "aarch64-unknown-linux-musl",
            Self::X86_64 => "x86_64-unknown-linux-musl",
        }
    }

    const fn gnu(self) -> &'static str {
        match self {
            Self::Aarch64 => "aarch64-unknown-linux-gnu",
            Self::X86_64 => "x86_64-unknown-linux-gnu",
        }
    }
}

/// How a program is linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Linkage {
    /// With musl, by the linker that comes with Rust: no other tool is needed.
    Musl,
    /// With a static glibc, by the system's C compiler.
    StaticGnu,
    /// With the system's glibc, by a C compiler for the target.
    DynamicGnu,
}

/// A target whose standard library is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    triple: &'static str,
    linkage: Linkage,
}

impl Target {
    /// The best that is installed for `cpu`.
    pub(super) fn find(cpu: Cpu) -> Result<Option<Self>> {
        if has_std(&libdir(cpu.musl())?) {
            return Ok(Some(Self { triple: cpu.musl(), linkage: Linkage::Musl }));
        }
        if !has_std(&libdir(cpu.gnu())?) {
            return Ok(None);
        }
        // A static glibc is at hand where the program is built for the machine that builds it.
        let native =
            cfg!(target_os = "linux") && env::consts::ARCH == cpu.gnu().split('-').next().unwrap_or_default();
        let linkage = if native { Linkage::StaticGnu } else { Linkage::DynamicGnu };
        Ok(Some(Self { triple: cpu.gnu(), linkage }))
    }

    pub(super) const fn triple(&self) -> &'static str {
        self.triple
    }

    pub(super) fn is_static(&self) -> bool {
        self.linkage != Linkage::DynamicGnu
    }

    /// What will come of it, for a person.
    pub(super) fn describe(&self) -> String {
        let how = match self.linkage {
            Linkage::Musl => "static, with musl",
            Linkage::StaticGnu => {
                "static, with glibc, because the standard library for musl is not installed (rustup target add)"
            }
            Linkage::DynamicGnu => {
                "dynamic, with glibc, because the standard library for musl is not installed (rustup target add)"
            }
        };
        format!("{}: {how}", self.triple)
    }

    /// The build of the programs. Paths of this machine stay out of them. A program that can be loaded anywhere has
    /// tens of thousands of addresses to adjust: packed, their list is a fortieth (musl 1.2.4, glibc 2.36 read it).
    pub(super) fn build(&self, workspace: &Workspace, bins: &[&str]) -> Command {
        let mut command = workspace.cargo();
        command.args(["build", "--locked", "--profile", "dist", "--target", self.triple]);
        for bin in bins {
            command.args(["--package", bin]);
        }
        let mut flags = env::var("RUSTFLAGS").unwrap_or_default();
        let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(home()?.join(".cargo")));
        let places = [(Some(workspace.root().to_path_buf()), "/source"), (home, "/cargo")];
        for (place, name) in places.into_iter().filter_map(|(place, name)| Some((place?, name))) {
            flags.push_str(&format!(" --remap-path-prefix={}={name}", place.display()));
        }
        match self.linkage {
            Linkage::Musl => {
                let linker = format!("CARGO_TARGET_{}_LINKER", self.triple.to_uppercase().replace('-', "_"));
                if env::var_os(&linker).is_none() {
                    command.env(linker, "rust-lld");
                    flags.push_str(" -C link-arg=--pack-dyn-relocs=relr");
                }
            }
            Linkage::StaticGnu => {
                flags.push_str(" -C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs");
            }
            Linkage::DynamicGnu => {}
        }
        command.env("RUSTFLAGS", flags.trim());
        command
    }

    /// Where cargo puts a program.
    pub(super) fn built(&self, workspace: &Workspace, bin: &str) -> PathBuf {
        workspace.target_dir().join(self.triple).join("dist").join(bin)
    }
}

fn home() -> Option<PathBuf> {
    env::var_os("HOME").map(PathBuf::from)
}

fn libdir(triple: &str) -> Result<PathBuf> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--print", "target-libdir", "--target", triple]);
    Ok(PathBuf::from(String::from_utf8_lossy(&process::stdout_of(&mut command)?).trim()))
}

fn has_std(libdir: &Path) -> bool {
    let Ok(entries) = fs::read_dir(libdir) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    })
}
