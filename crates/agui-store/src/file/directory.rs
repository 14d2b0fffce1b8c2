//! A directory of the store: nothing in it is reached through a symbolic link.

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::{Dir, DirBuilder, File, Metadata, OpenOptions};
#[cfg(unix)]
use cap_std::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, Permissions, PermissionsExt as _,
};

use super::failpoint::{Failpoints, Point};
use super::totals::{Counters, WriteTotals};
use crate::error::{Entry, Step, StoreError};

/// Largest file that is read, in bytes: a document of iac-code, which never trims, reaches it after
/// some 700,000 runs. Bounds what a damaged or foreign file can cost.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// How often a file is opened again that was replaced while it was opened; a writer needs longer for one
/// replacement than a reader for one try.
const MAX_OPEN_TRIES: usize = 100;

/// What to do if a directory is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Create,
    Tell,
}

/// The directories of a store.
#[derive(Debug)]
pub(super) struct Directories {
    /// The documents, their locks and their history.
    pub(super) threads: Directory,
    /// The markers of the threads that wait.
    pub(super) parked: Directory,
}

/// A directory handle with the rules of the store.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) dir: Dir,
    pub(super) context: Arc<Context>,
}

/// What all directories of a store share.
#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) counters: Counters,
    pub(super) failpoints: Failpoints,
}

impl Directories {
    /// Opens the directories in `state_dir`, creating what is missing.
    pub(super) fn open(state_dir: &Path, failpoints: Failpoints) -> Result<Self, StoreError> {
        let dir = open_state_dir(state_dir).map_err(StoreError::io(Step::OpenDirectory))?;
        let context = Arc::new(Context { counters: Counters::default(), failpoints });
        let state = Directory { dir, context };
        let open =
            |name, entry| state.child(name, entry, Missing::Create)?.ok_or(StoreError::WrongKind(entry));
        let (threads, new_threads) = open("threads", Entry::ThreadsDirectory)?;
        let (parked, new_parked) = open("parked", Entry::ParkedDirectory)?;
        if new_threads || new_parked {
            state.sync().map_err(StoreError::io(Step::OpenDirectory))?;
        }
        Ok(Self { threads, parked })
    }
}

impl Directory {
    pub(super) fn totals(&self) -> WriteTotals {
        self.context.counters.totals()
    }

    pub(super) fn hit(&self, point: Point) -> io::Result<()> {
        self.context.failpoints.hit(point)
    }

    /// Opens a directory in this one; the flag tells whether it is new.
    pub(super) fn child(
        &self,
        name: &str,
        entry: Entry,
        missing: Missing,
    ) -> Result<Option<(Self, bool)>, StoreError> {
        let failed = StoreError::io(Step::OpenDirectory);
        let created = match (self.metadata(name), missing) {
            (Ok(None), Missing::Tell) => return Ok(None),
            (Ok(None), Missing::Create) => {
                self.create_child(name).map_err(StoreError::io(Step::OpenDirectory))?
            }
            (Ok(Some(_)), _) => false,
            (Err(error), _) => return Err(failed(error)),
        };
        let open = || -> io::Result<Option<Dir>> {
            // A link is refused before it is followed, and one put in place meanwhile after.
            if !self.metadata(name)?.is_some_and(|metadata| metadata.is_dir()) {
                return Ok(None);
            }
            let dir = self.dir.open_dir(name)?;
            let same = self.metadata(name)?.is_some_and(|named| {
                named.is_dir() && dir.dir_metadata().is_ok_and(|opened| is_same(&named, &opened))
            });
            Ok(same.then_some(dir))
        };
        let dir = open().map_err(failed)?.ok_or(StoreError::WrongKind(entry))?;
        self.make_private(name);
        Ok(Some((Self { dir, context: Arc::clone(&self.context) }, created)))
    }

    fn create_child(&self, name: &str) -> io::Result<bool> {
        match self.dir.create_dir_with(name, &private_directory()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The whole file, `None` if it is not there.
    pub(super) fn read(&self, name: &str, entry: Entry) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(file) = self.open_existing(name, OpenOptions::new().read(true), entry)? else {
            return Ok(None);
        };
        let mut content = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut content).map_err(StoreError::io(Step::Read))?;
        if u64::try_from(content.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
            return Err(StoreError::TooLarge { entry, limit_bytes: MAX_FILE_BYTES });
        }
        Ok(Some(content))
    }

    /// Opens a regular file that is there under this very name, `None` if nothing is.
    pub(super) fn open_existing(
        &self,
        name: &str,
        options: &OpenOptions,
        entry: Entry,
    ) -> Result<Option<File>, StoreError> {
        for _ in 0..MAX_OPEN_TRIES {
            let failed = StoreError::io(Step::Read);
            // Asked before opening too: opening a named pipe would wait for its other end.
            match self.metadata(name).map_err(failed)? {
                None => return Ok(None),
                Some(metadata) if !metadata.is_file() => return Err(StoreError::WrongKind(entry)),
                Some(_) => {}
            }
            let file = match self.dir.open_with(name, options) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => return Err(StoreError::Io { step: Step::Read, source }),
            };
            let opened = file.metadata().map_err(StoreError::io(Step::Read))?;
            let named = self.metadata(name).map_err(StoreError::io(Step::Read))?;
            if named.is_some_and(|named| named.is_file() && is_same(&named, &opened)) {
                keep_private(&file, &opened);
                return Ok(Some(file));
            }
        }
        Err(StoreError::Io { step: Step::Read, source: io::ErrorKind::ResourceBusy.into() })
    }

    /// Creates a file that is not there yet; an existing name, link or not, is an error.
    pub(super) fn create_new(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        options.mode(0o600);
        self.dir.open_with(name, &options)
    }

    /// What stands under a name, a link being a link.
    pub(super) fn metadata(&self, name: &str) -> io::Result<Option<Metadata>> {
        match self.dir.symlink_metadata(name) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes created and renamed names durable. Where directories cannot be synced there is nothing to do.
    pub(super) fn sync(&self) -> io::Result<()> {
        if cfg!(unix) {
            self.context.counters.add_sync();
            match self.dir.open(".")?.sync_all() {
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {}
                other => other?,
            }
        }
        Ok(())
    }

    /// Takes a directory's permissions from everybody else. Best effort, as files in it are private too.
    fn make_private(&self, name: &str) {
        #[cfg(unix)]
        {
            let shared = |metadata: &Metadata| metadata.permissions().mode() & 0o077 != 0;
            if self.metadata(name).is_ok_and(|metadata| metadata.as_ref().is_some_and(shared)) {
                self.dir.set_permissions(name, Permissions::from_mode(0o700)).ok();
            }
        }
        #[cfg(not(unix))]
        let _ = name;
    }
}

fn private_directory() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes to set"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    builder.mode(0o700);
    builder
}

/// Opens the state directory, creating it if need be, private in any case if it can be made so.
fn open_state_dir(path: &Path) -> io::Result<Dir> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if std::fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).ok();
        }
    }
    Dir::open_ambient_dir(path, cap_std::ambient_authority())
}

/// Takes a file's permissions from everybody else, for files that another program or a backup left open.
fn keep_private(file: &File, metadata: &Metadata) {
    #[cfg(unix)]
    if metadata.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600)).ok();
    }
    #[cfg(not(unix))]
    let _ = (file, metadata);
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Windows tells no identity here; both have been found not to be links.
#[cfg(not(unix))]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.file_type() == other.file_type()
}
