//! Events that wait to be taken, stamped as they are queued.

use std::collections::VecDeque;

use agui_core::{Event, UnixMillis};

/// A queue that its owner drains before it waits for more, so it holds the events of what came at once.
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

    /// Queues an event before those that wait, but behind the one that begins the stream.
    pub(super) fn push_ahead(&mut self, event: impl Into<Event>) {
        let mut event = event.into();
        event.set_timestamp(self.now);
        let at = usize::from(matches!(self.queue.front(), Some(Event::RunStarted(_))));
        if let Some(next) = self.queue.get(at) {
            event.base_mut().timestamp = next.base().timestamp;
        }
        self.queue.insert(at, event);
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.queue.pop_front()
    }
}
