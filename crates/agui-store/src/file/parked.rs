//! Finding threads that wait, a page at a time.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use super::directory::Directory;
use super::key;
use crate::document;
use crate::error::{Entry, Step, StoreError};
use crate::record::ThreadRecord;
use crate::store::{ParkedCursor, ParkedPage, ParkedThread};

/// Reads at most `limit` documents, in the order of their names, which no writer changes.
pub(super) fn page(
    threads: &Directory,
    after: Option<&ParkedCursor>,
    limit: NonZeroUsize,
) -> Result<ParkedPage, StoreError> {
    let mut stems = stems(threads, after.map(ParkedCursor::as_str), limit.get())?;
    let more = stems.len() > limit.get();
    if more {
        stems.pop_last();
    }
    let mut page = ParkedPage::default();
    for stem in &stems {
        match read(threads, stem) {
            Ok(record) => page.threads.extend(record.as_ref().and_then(ParkedThread::of)),
            Err(_) => page.unreadable += 1,
        }
    }
    if more {
        page.next = stems.pop_last().map(ParkedCursor::new);
    }
    Ok(page)
}

/// The first `limit` keys behind `after`, and one more if there is one.
fn stems(threads: &Directory, after: Option<&str>, limit: usize) -> Result<BTreeSet<String>, StoreError> {
    let mut stems = BTreeSet::new();
    let list = threads.dir.entries().map_err(StoreError::io(Step::ListDirectory))?;
    for entry in list {
        let name = entry.map_err(StoreError::io(Step::ListDirectory))?.file_name();
        // Names that are not Unicode are nobody's threads.
        let Some(stem) = name.to_str().and_then(|name| name.strip_suffix(".json")) else { continue };
        if after.is_none_or(|after| stem > after) {
            stems.insert(stem.to_owned());
        }
        if stems.len() > limit.saturating_add(1) {
            stems.pop_last();
        }
    }
    Ok(stems)
}

/// The record in a file, `None` if the file is gone meanwhile.
fn read(threads: &Directory, stem: &str) -> Result<Option<ThreadRecord>, StoreError> {
    let Some(content) = threads.read(&format!("{stem}.json"), Entry::Document)? else { return Ok(None) };
    let corrupt = |corruption| StoreError::Corrupt { entry: Entry::Document, corruption };
    let record = document::decode_any(&content).map_err(corrupt)?;
    let thread = &record.thread_id;
    if key::stem(thread)? == stem || key::legacy_stem(thread) == Some(stem) {
        Ok(Some(record))
    } else {
        Err(corrupt(crate::Corruption::OtherThread))
    }
}
