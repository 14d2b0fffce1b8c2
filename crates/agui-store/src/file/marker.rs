//! `<state-dir>/parked/<key>`: an empty file for each thread that waits for answers.
//!
//! It is there before the document that parks the thread, and goes after the one that does not. So what a
//! crash or the other adapter can leave behind is a marker too many, which whoever lists them drops, and
//! start-up finds the threads that wait without reading any other. Threads that the other adapter parked
//! have no marker until they are saved here.

use std::io;
use std::time::Duration;

use super::directory::{Directories, Directory};
use super::failpoint::Point;
use super::{lock, parked};
use crate::error::{Entry, Step, StoreError};
use crate::store::{ParkedCursor, ParkedPage, ParkedThread};

/// Notes that a thread waits; durable when this returns. Costs a look if that is noted already.
pub(super) fn put(parked: &Directory, stem: &str) -> Result<(), StoreError> {
    match parked.metadata(stem).map_err(StoreError::io(Step::Mark))? {
        Some(metadata) if metadata.is_file() => return Ok(()),
        Some(_) => return Err(StoreError::WrongKind(Entry::Marker)),
        None => {}
    }
    let create = || {
        parked.hit(Point::BeforeMarker)?;
        parked.create_new(stem)?;
        parked.sync()?;
        parked.hit(Point::AfterMarker)
    };
    create().map_err(|source| {
        // One that is not durable must not pass for one that is.
        parked.dir.remove_file(stem).ok();
        StoreError::Io { step: Step::Mark, source }
    })
}

/// Notes that a thread does not wait any more. A marker that cannot be removed does no harm.
pub(super) fn remove(parked: &Directory, stem: &str) {
    let remove = || -> io::Result<()> {
        parked.hit(Point::BeforeUnmark)?;
        parked.dir.remove_file(stem)
    };
    remove().ok();
}

/// The threads behind at most `limit` markers; markers without a waiting thread are dropped.
pub(super) fn page(
    directories: &Directories,
    after: Option<&ParkedCursor>,
    limit: usize,
) -> Result<ParkedPage, StoreError> {
    let after = after.map(ParkedCursor::as_str);
    let (stems, more) = parked::stems(&directories.parked, "", after, limit)?;
    let mut page = ParkedPage::default();
    for stem in &stems {
        match parked::read(&directories.threads, stem) {
            Ok(Some(thread)) => page.threads.push(thread),
            Ok(None) => drop_stale(directories, stem),
            Err(_) => page.unreadable += 1,
        }
    }
    page.next = parked::next(&stems, more);
    Ok(page)
}

/// Removes a marker unless its thread is parked at this moment.
fn drop_stale(Directories { threads, parked }: &Directories, stem: &str) {
    // Under the lock of the thread, for a save marks first and replaces the document then. Whoever holds
    // it now is a save; the next look decides.
    let Ok(_lock) = lock::lock_file(threads, stem, Duration::ZERO) else { return };
    let waits: Result<Option<ParkedThread>, StoreError> = parked::read(threads, stem);
    if matches!(waits, Ok(None)) {
        remove(parked, stem);
    }
}
