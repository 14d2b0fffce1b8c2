//! Where a request may work: the check of `cwd` against the allowed roots (S3.3).

use std::io;
use std::path::{Component, Path, PathBuf};

/// Longest `cwd` that is looked at, in bytes; Linux's `PATH_MAX`.
///
/// Source: Linux, `PATH_MAX`.
pub const MAX_CWD_BYTES: usize = 4096;

/// A `cwd` that passed the check. The directory may not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Workspace {
    resolved: PathBuf,
}

/// Why a `cwd` is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WorkspaceError {
    #[error("the workspace is not an absolute path")]
    NotAbsolute,
    #[error("the workspace is not a usable path")]
    Invalid,
    #[error("the workspace is outside the allowed roots")]
    Outside,
    #[error("the workspace is not a directory")]
    NotADirectory,
    #[error("the workspace cannot be created")]
    CannotCreate,
}

impl Workspace {
    /// Resolves symbolic links and compares with `roots`; reads the file system, changes nothing.
    ///
    /// Variables and `~` are never expanded: they are just characters of a name (weakness 58).
    pub(crate) fn check(cwd: &str, roots: &[PathBuf]) -> Result<Self, WorkspaceError> {
        let path = Path::new(cwd);
        if cwd.is_empty() || cwd.len() > MAX_CWD_BYTES || cwd.contains('\0') {
            return Err(WorkspaceError::Invalid);
        }
        if !path.is_absolute() {
            return Err(WorkspaceError::NotAbsolute);
        }
        let resolved = resolve(path)?;
        // The name is stored and sent as text: a path that is not UTF-8 would come back as another one.
        if resolved.to_str().is_none() {
            return Err(WorkspaceError::Invalid);
        }
        if !roots.iter().any(|root| inside(&resolved, root)) {
            return Err(WorkspaceError::Outside);
        }
        match resolved.metadata() {
            Ok(metadata) if !metadata.is_dir() => Err(WorkspaceError::NotADirectory),
            Ok(_) => Ok(Self { resolved }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self { resolved }),
            Err(_) => Err(WorkspaceError::Invalid),
        }
    }

    /// Creates the directory where it is missing, and makes sure that what is there now is what was checked.
    pub(crate) fn create(&self) -> Result<(), WorkspaceError> {
        std::fs::create_dir_all(&self.resolved).map_err(|_| WorkspaceError::CannotCreate)?;
        // A link that appeared since the check would lead elsewhere.
        let now = self.resolved.canonicalize().map_err(|_| WorkspaceError::CannotCreate)?;
        if now == self.resolved { Ok(()) } else { Err(WorkspaceError::Outside) }
    }

    /// The path with every symbolic link resolved.
    pub(crate) fn as_str(&self) -> &str {
        // `check` refused paths that are not UTF-8.
        self.resolved.to_str().unwrap_or_default()
    }
}

fn inside(path: &Path, root: &Path) -> bool {
    root.canonicalize().is_ok_and(|root| path.starts_with(root))
}

/// Resolves the part of `path` that exists and appends the rest, which may not climb.
fn resolve(path: &Path) -> Result<PathBuf, WorkspaceError> {
    let mut existing = path;
    let mut missing = Vec::new();
    loop {
        match existing.canonicalize() {
            Ok(resolved) => {
                return Ok(missing.iter().rev().fold(resolved, |path, name| path.join(name)));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A dangling link is not a missing directory: creating it would follow the link.
                if existing.symlink_metadata().is_ok() {
                    return Err(WorkspaceError::Invalid);
                }
                match existing.components().next_back() {
                    Some(Component::Normal(name)) => missing.push(name.to_owned()),
                    _ => return Err(WorkspaceError::Invalid),
                }
                existing = existing.parent().ok_or(WorkspaceError::Invalid)?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(WorkspaceError::NotADirectory);
            }
            Err(_) => return Err(WorkspaceError::Invalid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tree {
        dir: tempfile::TempDir,
        roots: Vec<PathBuf>,
    }

    fn tree() -> Tree {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(root.join("a")).unwrap();
        std::fs::create_dir_all(dir.path().join("root-beside")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        std::os::unix::fs::symlink(dir.path(), root.join("out")).unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", root.join("dangling")).unwrap();
        std::os::unix::fs::symlink(root.join("a"), root.join("in")).unwrap();
        let roots = vec![root.canonicalize().unwrap()];
        Tree { dir, roots }
    }

    #[test]
    fn s3_3_cwd_is_resolved_and_held_inside_the_roots() {
        let tree = tree();
        let root = &tree.roots[0];
        let check = |tail: &str| {
            Workspace::check(&format!("{}{tail}", root.display()), &tree.roots).map(|w| {
                let path = w.as_str().to_owned();
                path.strip_prefix(root.to_str().unwrap()).unwrap().to_owned()
            })
        };
        assert_eq!(check(""), Ok(String::new()));
        assert_eq!(check("/a"), Ok("/a".into()));
        assert_eq!(check("/a/../a/"), Ok("/a".into()));
        assert_eq!(check("/in"), Ok("/a".into()));
        assert_eq!(check("/new/deep"), Ok("/new/deep".into()));
        assert_eq!(check("/$HOME/~"), Ok("/$HOME/~".into()));
        assert_eq!(check("/out"), Err(WorkspaceError::Outside));
        assert_eq!(check("/out/new"), Err(WorkspaceError::Outside));
        assert_eq!(check("/new/../../x"), Err(WorkspaceError::Invalid));
        assert_eq!(check("/.."), Err(WorkspaceError::Outside));
        assert_eq!(check("-beside"), Err(WorkspaceError::Outside));
        assert_eq!(check("/dangling"), Err(WorkspaceError::Invalid));
        assert_eq!(check("/file"), Err(WorkspaceError::NotADirectory));
        assert_eq!(check("/file/below"), Err(WorkspaceError::NotADirectory));
        assert_eq!(check("/nul\0byte"), Err(WorkspaceError::Invalid));
    }

    #[test]
    fn s3_3_relative_paths_are_refused_even_when_a_shell_would_expand_them() {
        let tree = tree();
        for cwd in ["a", "./a", "~", "~/a", "$HOME", "${TMPDIR}/a"] {
            assert_eq!(Workspace::check(cwd, &tree.roots), Err(WorkspaceError::NotAbsolute), "{cwd}");
        }
        assert_eq!(Workspace::check("", &tree.roots), Err(WorkspaceError::Invalid));
        let long = format!("/{}", "x".repeat(MAX_CWD_BYTES));
        assert_eq!(Workspace::check(&long, &tree.roots), Err(WorkspaceError::Invalid));
    }

    #[test]
    fn s3_3_a_missing_directory_is_created_only_when_asked() {
        let tree = tree();
        let cwd = tree.roots[0].join("x/y");
        let workspace = Workspace::check(cwd.to_str().unwrap(), &tree.roots).unwrap();
        assert!(!tree.roots[0].join("x").exists());
        workspace.create().unwrap();
        assert!(cwd.is_dir());
    }

    #[test]
    fn s3_3_a_link_that_appears_after_the_check_is_not_followed() {
        let tree = tree();
        let cwd = tree.roots[0].join("late/y");
        let workspace = Workspace::check(cwd.to_str().unwrap(), &tree.roots).unwrap();
        std::os::unix::fs::symlink(tree.dir.path(), tree.roots[0].join("late")).unwrap();
        assert_eq!(workspace.create(), Err(WorkspaceError::Outside));
    }
}
