//! The clock of a connection between requests: one time for a head that has begun, another for a
//! client that has nothing to ask.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt;
use hyper_util::rt::TokioTimer;

use crate::socket::Wire;

/// A timer for hyper's header timeout, which hyper starts when it begins to wait for a request.
///
/// While no byte of the request has come, `idle` counts; from the first byte on, `head`. The first
/// request of a connection gets `head` alone: whoever connects wants something.
pub(crate) struct HeadTimer {
    wire: Arc<Wire>,
    head: Duration,
    idle: Duration,
    first: AtomicBool,
}

impl HeadTimer {
    pub(crate) const fn new(wire: Arc<Wire>, head: Duration, idle: Duration) -> Self {
        Self { wire, head, idle, first: AtomicBool::new(true) }
    }
}

impl rt::Timer for HeadTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn rt::Sleep>> {
        TokioTimer::new().sleep(duration)
    }

    /// Only the header timeout is measured here, so `deadline` is `head` from now.
    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn rt::Sleep>> {
        if self.first.swap(false, Ordering::Relaxed) {
            return TokioTimer::new().sleep_until(deadline);
        }
        self.wire.expect_silence();
        let until = Box::pin(tokio::time::sleep(self.idle));
        Box::pin(Patience { until, wire: Arc::clone(&self.wire), head: Some(self.head) })
    }
}

/// The wait for the next request of a connection.
struct Patience {
    until: Pin<Box<tokio::time::Sleep>>,
    wire: Arc<Wire>,
    /// What counts from the first byte on; `None` once it counts.
    head: Option<Duration>,
}

impl rt::Sleep for Patience {}

impl Future for Patience {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Whoever has read a byte polls this afterwards, so no wake-up is needed for it.
        if self.wire.has_spoken()
            && let Some(head) = self.head.take()
        {
            self.until.as_mut().reset(tokio::time::Instant::now() + head);
        }
        self.until.as_mut().poll(cx)
    }
}
