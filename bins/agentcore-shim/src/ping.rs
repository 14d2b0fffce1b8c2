//! The answer of `GET /ping`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agui_transport::Health;
use http::StatusCode;
use serde::Serialize;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::pulse::{Pulse, now_unix_s};

/// How often a busy process looks whether it still is. The platform asks about every 2 s.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What `/ping` says of the process.
///
/// A state that has not changed keeps its time: a time that moves with each answer reads as endless change,
/// and the session is never idle.
///
/// Source: R18 to R25.
#[derive(Debug)]
pub(crate) struct Ping {
    pulse: Pulse,
    began: Notify,
    failing: AtomicBool,
}

#[derive(Serialize)]
struct Document {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    time_of_last_update: u64,
}

impl Ping {
    /// Idle since now.
    pub(crate) fn new() -> Self {
        Self { pulse: Pulse::new(now_unix_s()), began: Notify::new(), failing: AtomicBool::new(false) }
    }

    /// Something begins that keeps the session alive.
    pub(crate) fn begin(&self) {
        self.pulse.beat(now_unix_s());
        self.began.notify_one();
    }

    /// Whether the agent can never work as it is.
    pub(crate) fn set_failing(&self, failing: bool) {
        self.failing.store(failing, Ordering::Release);
    }

    /// The answer; takes no lock.
    pub(crate) fn answer(&self) -> Health {
        let look = self.pulse.look();
        let failing = self.failing.load(Ordering::Acquire);
        let document = Document {
            status: match (failing, look.is_busy()) {
                (true, _) => "Unhealthy",
                (false, true) => "HealthyBusy",
                (false, false) => "Healthy",
            },
            reason: failing.then_some("the agent does not start"),
            time_of_last_update: look.since_unix_s(),
        };
        let health = Health::ok(&document);
        if failing { health.with_status(StatusCode::SERVICE_UNAVAILABLE) } else { health }
    }

    /// Says for ever when what began is over, as far as `works` can tell.
    pub(crate) async fn watch(&self, works: impl Fn() -> bool) {
        loop {
            self.began.notified().await;
            loop {
                sleep(LOOK_AGAIN).await;
                let look = self.pulse.look();
                if !works() {
                    self.pulse.rest(look, now_unix_s());
                }
                if !self.pulse.look().is_busy() {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn r21_it_is_busy_from_the_beginning_of_work_until_all_of_it_is_done() {
        let (ping, work) = (Arc::new(Ping::new()), Arc::new(AtomicUsize::new(0)));
        let watch = {
            let (ping, work) = (Arc::clone(&ping), Arc::clone(&work));
            tokio::spawn(async move { ping.watch(|| work.load(Ordering::Acquire) > 0).await })
        };
        for _ in 0..2 {
            work.store(1, Ordering::Release);
            ping.begin();
            assert!(ping.pulse.look().is_busy());
            sleep(LOOK_AGAIN * 5).await;
            assert!(ping.pulse.look().is_busy(), "the work goes on");
            work.store(0, Ordering::Release);
            sleep(LOOK_AGAIN * 2).await;
            assert!(!ping.pulse.look().is_busy());
        }
        watch.abort();
    }
}
