//! The tree that the checks look at: its root, its packages, its files.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

/// Root directory of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    root: PathBuf,
}

/// One package of the workspace as `cargo metadata` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Directory of its manifest, relative to the root.
    pub(crate) dir: PathBuf,
    /// Names of its normal (neither dev nor build) dependencies, optional ones too.
    pub(crate) dependencies: Vec<String>,
    /// Names of its features.
    pub(crate) features: Vec<String>,
    /// Other projects may build with it.
    pub(crate) is_published: bool,
}

/// A text file of the tree.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    /// Path relative to the root, with `/` between its parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl SourceFile {
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

impl Workspace {
    /// Finds the workspace that this program belongs to.
    pub(crate) fn locate() -> Result<Self> {
        let start = match env::var_os("CARGO_MANIFEST_DIR") {
            Some(dir) => PathBuf::from(dir),
            None => env::current_dir()?,
        };
        let root = start
            .ancestors()
            .find(|dir| dir.join("Cargo.lock").is_file() && dir.join("xtask").is_dir())
            .with_context(|| format!("no workspace around {}", start.display()))?;
        Ok(Self { root: root.to_path_buf() })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// Where the output of a step named `name` is kept.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.target_dir().join("xtask").join(format!("{name}.log"))
    }

    /// Directory of build products.
    pub(crate) fn target_dir(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.path("target"), PathBuf::from)
    }

    /// A `cargo` command that runs in the root and does not paint.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
        command.current_dir(&self.root).env("CARGO_TERM_COLOR", "never");
        command
    }

    /// The version of the workspace's packages.
    pub(crate) fn version(&self) -> Result<String> {
        let manifest = fs::read_to_string(self.path("Cargo.toml"))?;
        let version = manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
        Ok(version.context("Cargo.toml without a version")?.to_owned())
    }

    /// The packages of the workspace, sorted by name.
    pub(crate) fn packages(&self) -> Result<Vec<Package>> {
        let mut command = self.cargo();
        command.args(["metadata", "--format-version", "1", "--no-deps"]);
        let metadata: Value = serde_json::from_slice(&process::stdout_of(&mut command)?)?;
        let packages = metadata["packages"].as_array().context("cargo metadata without packages")?;
        let mut packages = packages.iter().map(|value| self.package(value)).collect::<Result<Vec<_>>>()?;
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(packages)
    }

    fn package(&self, value: &Value) -> Result<Package> {
        let text = |value: &Value| value.as_str().map(str::to_owned).context("cargo metadata: not a string");
        let manifest = PathBuf::from(text(&value["manifest_path"])?);
        let dir = manifest.parent().context("manifest without a directory")?;
        let mut dependencies = value["dependencies"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|dependency| dependency["kind"].is_null())
            .map(|dependency| text(&dependency["name"]))
            .collect::<Result<Vec<_>>>()?;
        dependencies.sort();
        dependencies.dedup();
        let features =
            value["features"].as_object().into_iter().flat_map(|map| map.keys().cloned()).collect();
        let dir = dir.strip_prefix(&self.root).unwrap_or(dir).to_path_buf();
        let is_published = value["publish"].as_array().is_none_or(|registries| !registries.is_empty());
        Ok(Package { name: text(&value["name"])?, dir, dependencies, features, is_published })
    }

    /// Every text file that is tracked, or would be if it were added now.
    pub(crate) fn source_files(&self) -> Result<Vec<SourceFile>> {
        let mut command = Command::new("git");
        command.current_dir(&self.root);
        command.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let listed =
            String::from_utf8(process::stdout_of(&mut command)?).context("a file name is not UTF-8")?;
        let mut paths: Vec<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
        paths.sort_unstable();
        paths.dedup();
        Ok(paths.into_iter().filter_map(|path| self.source_file(path)).collect())
    }

    /// `None` for directories, deleted files and files that are not text.
    fn source_file(&self, path: &str) -> Option<SourceFile> {
        let text = String::from_utf8(fs::read(self.root.join(path)).ok()?).ok()?;
        Some(SourceFile { path: path.to_owned(), text })
    }
}
