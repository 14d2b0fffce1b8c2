//! What goes on right now.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Live counters of a server, for idle checks and tests. Clones show the same server.
///
/// Example: see [`Server`](crate::Server).
#[derive(Debug, Clone, Default)]
pub struct Activity {
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    connections: AtomicUsize,
    streams: AtomicUsize,
}

impl Activity {
    /// Open connections, idle ones included.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::Acquire)
    }

    /// Event streams that somebody is reading, and upgraded connections.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.counts.streams.load(Ordering::Acquire)
    }

    pub(crate) fn enter_connection(&self) -> Counted {
        Counted::enter(self, |counts| &counts.connections)
    }

    pub(crate) fn enter_stream(&self) -> Counted {
        Counted::enter(self, |counts| &counts.streams)
    }
}

/// Counts until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted {
    counts: Arc<Counts>,
    which: fn(&Counts) -> &AtomicUsize,
}

impl Counted {
    fn enter(activity: &Activity, which: fn(&Counts) -> &AtomicUsize) -> Self {
        which(&activity.counts).fetch_add(1, Ordering::AcqRel);
        Self { counts: Arc::clone(&activity.counts), which }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.which)(&self.counts).fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_counts_exactly_while_it_lives() {
        let activity = Activity::default();
        let first = activity.enter_connection();
        let second = activity.enter_connection();
        let stream = activity.enter_stream();
        assert_eq!((activity.connections(), activity.streams()), (2, 1));
        drop(first);
        drop(stream);
        assert_eq!((activity.connections(), activity.streams()), (1, 0));
        drop(second);
        assert_eq!((activity.connections(), activity.streams()), (0, 0));
    }
}
