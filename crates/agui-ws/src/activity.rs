//! Which runs go on right now.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the active runs of all sockets that share it; clones show the same count.
///
/// A run is active from the message that asks for it until its end, as this server sees it.
///
/// ```
/// use agui_ws::{Activity, WsContext};
///
/// let activity = Activity::observed(|runs| println!("{runs} active"));
/// let context = WsContext::new().with_activity(activity.clone());
/// assert_eq!(activity.runs(), 0);
/// # drop(context);
/// ```
#[derive(Clone, Default)]
pub struct Activity {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    runs: AtomicUsize,
    observer: Option<Box<dyn Fn(usize) + Send + Sync>>,
}

impl Activity {
    /// A counter that tells nobody.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A counter that calls `observer` after each change, with the number of active runs.
    ///
    /// The call is made where the change happens, so it must not wait.
    #[must_use]
    pub fn observed(observer: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self { shared: Arc::new(Shared { runs: AtomicUsize::new(0), observer: Some(Box::new(observer)) }) }
    }

    /// How many runs are active.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.shared.runs.load(Ordering::Acquire)
    }

    pub(crate) fn enter(&self) -> ActiveRun {
        let runs = self.shared.runs.fetch_add(1, Ordering::AcqRel) + 1;
        self.shared.tell(runs);
        ActiveRun(Arc::clone(&self.shared))
    }
}

impl fmt::Debug for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Activity").field("runs", &self.runs()).finish_non_exhaustive()
    }
}

impl Shared {
    fn tell(&self, runs: usize) {
        if let Some(observer) = &self.observer {
            observer(runs);
        }
    }
}

/// Counts one run until it is dropped.
pub(crate) struct ActiveRun(Arc<Shared>);

impl Drop for ActiveRun {
    fn drop(&mut self) {
        let runs = self.0.runs.fetch_sub(1, Ordering::AcqRel) - 1;
        self.0.tell(runs);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_run_counts_exactly_while_it_lives_and_every_change_is_told() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let activity = Activity::observed(move |runs| heard.lock().unwrap().push(runs));
        let (first, second) = (activity.enter(), activity.clone().enter());
        assert_eq!(activity.runs(), 2);
        drop(first);
        drop(second);
        assert_eq!(activity.runs(), 0);
        assert_eq!(*told.lock().unwrap(), [1, 2, 1, 0]);
    }
}
