//! Which steps answer which request.

use super::Step;
use crate::wire::{State, status, task};

/// Rules, tried in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub struct Script {
    rules: Vec<Rule>,
    resets: u64,
}

#[derive(Debug, Clone)]
struct Rule {
    kind: String,
    left: usize,
    steps: Vec<Step>,
}

impl Script {
    /// A script without rules: every request is answered with an error and counted as unmatched.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers one request of a kind: a JSON-RPC method, `GET /path`, or `*` for any.
    #[must_use]
    pub fn on(self, kind: &str, steps: impl Into<Vec<Step>>) -> Self {
        self.times(1, kind, steps)
    }

    /// Answers any number of requests of a kind.
    #[must_use]
    pub fn always(self, kind: &str, steps: impl Into<Vec<Step>>) -> Self {
        self.times(usize::MAX, kind, steps)
    }

    /// Answers that many requests of a kind.
    #[must_use]
    pub fn times(mut self, times: usize, kind: &str, steps: impl Into<Vec<Step>>) -> Self {
        self.rules.push(Rule { kind: kind.to_owned(), left: times, steps: steps.into() });
        self
    }

    /// Answers every `CancelTask` with the task, canceled.
    #[must_use]
    pub fn with_cancel(self) -> Self {
        let task = task(&super::ids(), State::Canceled, None)["task"].clone();
        self.always("CancelTask", [Step::Reply(task)])
    }

    /// Resets that many connections at once, before anything is read.
    #[must_use]
    pub const fn with_resets_on_accept(mut self, connections: u64) -> Self {
        self.resets = connections;
        self
    }

    pub(super) const fn resets(&self) -> u64 {
        self.resets
    }

    /// Uses up the first rule that fits.
    pub(super) fn pick(&mut self, kind: &str) -> Option<Vec<Step>> {
        let rule =
            self.rules.iter_mut().find(|rule| rule.left > 0 && (rule.kind == kind || rule.kind == "*"))?;
        rule.left = rule.left.saturating_sub(usize::from(rule.left != usize::MAX));
        Some(rule.steps.clone())
    }
}

/// The head of an event stream, the first two updates of a new turn, then `steps`.
///
/// Source: the order that iac-code 0.16 keeps (`a_plain_text` of the recorded traces).
pub(super) fn turn(steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
    let ids = super::ids();
    let session = crate::wire::iac(&ids, crate::wire::empty());
    let mut all = vec![
        Step::sse(),
        Step::Result(task(&ids, State::Submitted, None)),
        Step::Result(status(&ids, State::Working, session)),
    ];
    all.extend(steps);
    all
}
