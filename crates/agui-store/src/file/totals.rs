//! Counters of what is written.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a store has written since it was opened.
///
/// Example: see [`FileStore`](crate::FileStore).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteTotals {
    /// Bytes handed to the operating system.
    pub bytes: u64,
    /// Requests to make files or directories durable.
    pub syncs: u64,
    /// Documents replaced.
    pub documents: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    bytes: AtomicU64,
    syncs: AtomicU64,
    documents: AtomicU64,
}

impl Counters {
    pub(super) fn add_bytes(&self, count: usize) {
        self.bytes.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(super) fn add_sync(&self) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_document(&self) {
        self.documents.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn totals(&self) -> WriteTotals {
        WriteTotals {
            bytes: self.bytes.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
            documents: self.documents.load(Ordering::Relaxed),
        }
    }
}
