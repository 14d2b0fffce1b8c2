//! Finding threads that wait, a page at a time.

use std::collections::BTreeSet;

use super::directory::Directory;
use super::key;
use crate::document;
use crate::error::{Entry, Step, StoreError};
use crate::store::{ParkedCursor, ParkedPage, ParkedThread};

/// Reads at most `limit` documents, in the order of their names, which no writer changes.
pub(super) fn page(
    threads: &Directory,
    after: Option<&ParkedCursor>,
    limit: usize,
) -> Result<ParkedPage, StoreError> {
    let (stems, more) = stems(threads, ".json", after.map(ParkedCursor::as_str), limit)?;
    let mut page = ParkedPage::default();
    for stem in &stems {
        match read(threads, stem) {
            Ok(thread) => page.threads.extend(thread),
            Err(_) => page.unreadable += 1,
        }
    }
    page.next = next(&stems, more);
    Ok(page)
}

/// The first `limit` keys behind `after` of files that end in `suffix`; the flag tells whether there are
/// more.
pub(super) fn stems(
    directory: &Directory,
    suffix: &str,
    after: Option<&str>,
    limit: usize,
) -> Result<(BTreeSet<String>, bool), StoreError> {
    let mut stems = BTreeSet::new();
    let mut more = false;
    let list = directory.dir.entries().map_err(StoreError::io(Step::ListDirectory))?;
    for entry in list {
        let name = entry.map_err(StoreError::io(Step::ListDirectory))?.file_name();
        // Names that are not Unicode are nobody's threads.
        let Some(stem) = name.to_str().and_then(|name| name.strip_suffix(suffix)) else { continue };
        if after.is_none_or(|after| stem > after) {
            stems.insert(stem.to_owned());
        }
        if stems.len() > limit {
            stems.pop_last();
            more = true;
        }
    }
    Ok((stems, more))
}

/// Where the page behind these keys begins.
pub(super) fn next(stems: &BTreeSet<String>, more: bool) -> Option<ParkedCursor> {
    stems.last().filter(|_| more).map(|stem| ParkedCursor::new(stem.as_str()))
}

/// The thread in a file, `None` if it does not wait or the file is gone meanwhile.
pub(super) fn read(threads: &Directory, stem: &str) -> Result<Option<ParkedThread>, StoreError> {
    let Some(content) = threads.read(&format!("{stem}.json"), Entry::Document)? else { return Ok(None) };
    let corrupt = |corruption| StoreError::Corrupt { entry: Entry::Document, corruption };
    let record = document::decode_any(&content).map_err(corrupt)?;
    let thread = &record.thread_id;
    if key::stem(thread)? == stem || key::legacy_stem(thread) == Some(stem) {
        Ok(ParkedThread::of(&record, ParkedCursor::new(stem)))
    } else {
        Err(corrupt(crate::Corruption::OtherThread))
    }
}
