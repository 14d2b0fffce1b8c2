//! Events that wait to be taken, stamped as they are queued.

use std::collections::VecDeque;

use agui_core::{Event, UnixMillis};

/// A queue that its owner drains before it is fed again, so it holds the events of one update at most.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    now: UnixMillis,
    queue: VecDeque<Event>,
}

impl Outbox {
    pub(super) fn set_now(&mut self, now: UnixMillis) {
        self.now = self.now.max(now);
    }

    pub(super) fn push(&mut self, event: impl Into<Event>) {
        let mut event = event.into();
        event.set_timestamp(self.now);
        self.queue.push_back(event);
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.queue.pop_front()
    }
}
