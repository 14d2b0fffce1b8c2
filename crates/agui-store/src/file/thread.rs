//! The files of one thread.

use agui_core::ThreadId;

use super::directory::{Directory, Missing};
use super::failpoint::Point;
use super::history::{self, Found, Lookup};
use super::key;
use crate::error::{Entry, Step, StoreError};
use crate::record::RetiredHistory;

/// Where a thread is kept.
pub(super) struct ThreadFiles<'a> {
    threads: &'a Directory,
    stem: String,
}

impl<'a> ThreadFiles<'a> {
    /// Finds the thread under the name it has or would get.
    ///
    /// A document under the name that only iac-code uses comes first: had it been there when this store
    /// first saved the thread, that name would be in use, so it is the younger of the two.
    pub(super) fn locate(threads: &'a Directory, thread: &ThreadId) -> Result<Self, StoreError> {
        let mut stem = key::stem(thread)?;
        if let Some(legacy) = key::legacy_stem(thread)
            && threads.metadata(&document_name(legacy)).map_err(StoreError::io(Step::Read))?.is_some()
        {
            stem = legacy.to_owned();
        }
        Ok(Self { threads, stem })
    }

    /// The key of the thread's files.
    pub(super) fn stem(&self) -> &str {
        &self.stem
    }

    pub(super) fn read_document(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.threads.read(&document_name(&self.stem), Entry::Document)
    }

    pub(super) fn replace_document(&self, content: &[u8]) -> Result<(), StoreError> {
        let name = document_name(&self.stem);
        self.threads.replace(&name, &format!(".{name}.tmp"), content)
    }

    /// Looks an entry up in the history.
    pub(super) fn find(&self, thread: &ThreadId, lookup: &Lookup) -> Result<Option<Found>, StoreError> {
        let name = self.history_name();
        let Some((directory, _)) = self.threads.child(&name, Entry::HistoryDirectory, Missing::Tell)? else {
            return Ok(None);
        };
        let Some(content) = directory.read(&lookup.file(), Entry::HistoryFile)? else { return Ok(None) };
        lookup
            .find(thread, &content)
            .map_err(|corruption| StoreError::Corrupt { entry: Entry::HistoryFile, corruption })
    }

    /// Moves retired entries to the history; they are durable when this returns.
    pub(super) fn append(&self, thread: &ThreadId, retired: &RetiredHistory) -> Result<(), StoreError> {
        if retired.is_empty() {
            return Ok(());
        }
        let name = self.history_name();
        let child = self.threads.child(&name, Entry::HistoryDirectory, Missing::Create)?;
        let (directory, new_directory) = child.ok_or(StoreError::WrongKind(Entry::HistoryDirectory))?;
        let mut new_file = false;
        for (file, lines) in history::lines(thread, retired) {
            new_file |= directory.append(&file, lines.as_bytes())?;
        }
        let finish = || {
            if new_file {
                directory.sync()?;
            }
            if new_directory {
                self.threads.sync()?;
            }
            self.threads.hit(Point::AfterHistory)
        };
        finish().map_err(StoreError::io(Step::AppendHistory))
    }

    fn history_name(&self) -> String {
        format!("{}.runs", self.stem)
    }
}

fn document_name(stem: &str) -> String {
    format!("{stem}.json")
}
