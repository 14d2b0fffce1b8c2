use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// Measures how long nothing has come. The timer starts with the first wait, so a busy stream has none.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    timer: Option<Pin<Box<Sleep>>>,
    is_running: bool,
}

impl Silence {
    /// Something came.
    pub(crate) const fn end(&mut self) {
        self.is_running = false;
    }

    /// Ready once nothing has come for `limit`.
    pub(crate) fn poll_over(&mut self, limit: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        if !self.is_running {
            timer.as_mut().reset(Instant::now() + limit);
            self.is_running = true;
        }
        ready!(timer.as_mut().poll(cx));
        self.is_running = false;
        Poll::Ready(())
    }
}
