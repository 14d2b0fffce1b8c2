//! Writing: replace a document, append to a history file.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::time::{Duration, Instant};

use cap_std::fs::{File, OpenOptions};

use super::directory::Directory;
use super::failpoint::Point;
use crate::error::{Entry, Step, StoreError};

/// How long a rename is tried again while another program holds the target open (Windows).
const RENAME_PATIENCE: Duration = Duration::from_secs(3);

/// Pause between two tries of a rename.
const RENAME_PAUSE: Duration = Duration::from_millis(20);

impl Directory {
    /// Puts `content` under `name` so that a reader sees the old file or the new one, whole.
    pub(super) fn replace(&self, name: &str, temp: &str, content: &[u8]) -> Result<(), StoreError> {
        let written = self.write_temp(temp, content).and_then(|()| self.rename(temp, name));
        if let Err(error) = written {
            // A leftover would do no harm either: the next save replaces it.
            self.dir.remove_file(temp).ok();
            return Err(error);
        }
        self.context.counters.add_document();
        let sync = || self.hit(Point::BeforeDirectorySync).and_then(|()| self.sync());
        sync().map_err(StoreError::io(Step::SyncDirectory))?;
        self.hit(Point::Done).map_err(StoreError::io(Step::SyncDirectory))
    }

    fn write_temp(&self, temp: &str, content: &[u8]) -> Result<(), StoreError> {
        let create = || -> io::Result<File> {
            self.hit(Point::BeforeTemp)?;
            match self.create_new(temp) {
                // Only the holder of the thread's lock writes here, so this is the leftover of a crash,
                // or a link somebody put there: what is removed is the name, not what it leads to.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.dir.remove_file(temp)?;
                    self.create_new(temp)
                }
                other => other,
            }
        };
        let mut file = create().map_err(StoreError::io(Step::CreateTemp))?;
        self.write(&mut file, content, Point::DuringTemp).map_err(StoreError::io(Step::WriteTemp))?;
        let sync = || self.hit(Point::BeforeTempSync).and_then(|()| self.sync_file(&file));
        sync().map_err(StoreError::io(Step::SyncTemp))
    }

    fn rename(&self, temp: &str, name: &str) -> Result<(), StoreError> {
        let deadline = Instant::now() + RENAME_PATIENCE;
        loop {
            let rename = || {
                self.hit(Point::BeforeRename)?;
                self.dir.rename(temp, &self.dir, name)
            };
            match rename() {
                Ok(()) => return Ok(()),
                Err(error) if is_transient(&error) && Instant::now() < deadline => {
                    std::thread::sleep(RENAME_PAUSE);
                }
                Err(source) => return Err(StoreError::Io { step: Step::Rename, source }),
            }
        }
    }

    /// Appends whole lines to a file of lines and makes them durable; the flag tells whether it is new.
    pub(super) fn append(&self, name: &str, lines: &[u8]) -> Result<bool, StoreError> {
        let existing =
            self.open_existing(name, OpenOptions::new().read(true).write(true), Entry::HistoryFile)?;
        let created = existing.is_none();
        let append = || -> io::Result<()> {
            self.hit(Point::BeforeHistory)?;
            let mut file = match existing {
                Some(file) => file,
                None => self.create_new(name)?,
            };
            cut_torn_line(&mut file)?;
            self.write(&mut file, lines, Point::DuringHistory)?;
            self.sync_file(&file)
        };
        append().map_err(StoreError::io(Step::AppendHistory))?;
        Ok(created)
    }

    fn write(&self, file: &mut File, content: &[u8], during: Point) -> io::Result<()> {
        let counters = &self.context.counters;
        counters.add_bytes(content.len());
        let rest = if self.context.failpoints.is_set(during) {
            let (first, rest) = content.split_at(content.len() / 2);
            file.write_all(first)?;
            self.hit(during)?;
            rest
        } else {
            content
        };
        file.write_all(rest)
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        self.context.counters.add_sync();
        file.sync_all()
    }
}

/// Leaves the position at the end of the last whole line, and nothing behind it: half a line is the trace
/// of a crash, and its entry is still in the document.
fn cut_torn_line(file: &mut File) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    if length == 0 {
        return Ok(());
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    if last == *b"\n" {
        return Ok(());
    }
    let mut content = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut content)?;
    let whole = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let whole = u64::try_from(whole).unwrap_or_default();
    file.set_len(whole)?;
    file.seek(SeekFrom::Start(whole)).map(drop)
}

/// Whether a rename may succeed a moment later: on Windows while a reader, an indexer or a virus scanner
/// holds the target open, which shows as "access denied" as often as "sharing violation".
fn is_transient(error: &io::Error) -> bool {
    const ACCESS_DENIED: i32 = 5;
    const SHARING_VIOLATION: i32 = 32;
    const LOCK_VIOLATION: i32 = 33;
    let windows = [ACCESS_DENIED, SHARING_VIOLATION, LOCK_VIOLATION];
    matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::Interrupted)
        || (cfg!(windows) && error.raw_os_error().is_some_and(|code| windows.contains(&code)))
}
