//! What leaves a record so that it does not grow with the thread's age.

use super::{AppliedAnswer, RecordedRun, ThreadRecord};
use crate::id::ExecutionId;

/// How many run ids a record carries. A new run adds one and moves one aside, so an old thread's
/// document stays below twice the size of a fresh one's.
const RECENT_RUNS: usize = 4;

/// Bytes of run ids a record carries at most, the newest one not counted: callers choose the ids.
const RECENT_RUN_ID_BYTES: usize = 512;

/// How many ended executions a record carries.
const RECENT_EXECUTIONS: usize = 4;

/// How many accepted answers of the newest execution a record carries; none of executions before it.
const RECENT_ANSWERS: usize = 64;

/// What [`ThreadRecord::retire_history`] took out, oldest first.
///
/// Example: see [`ThreadRecord`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetiredHistory {
    /// Run ids.
    pub runs: Vec<RecordedRun>,
    /// Answers.
    pub answers: Vec<AppliedAnswer>,
    /// Ended executions, never the newest execution of the thread.
    pub executions: Vec<ExecutionId>,
}

impl RetiredHistory {
    /// Whether nothing was taken out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.answers.is_empty() && self.executions.is_empty()
    }
}

impl ThreadRecord {
    /// Takes out the history that a record need not carry.
    ///
    /// For stores: keep what is returned, then write the record without it, in this order or at once.
    #[must_use = "history that is dropped is forgotten"]
    pub fn retire_history(&mut self) -> RetiredHistory {
        RetiredHistory {
            runs: retire_runs(&mut self.runs),
            answers: self.retire_answers(),
            executions: self.retire_executions(),
        }
    }

    fn retire_answers(&mut self) -> Vec<AppliedAnswer> {
        let newest = &self.execution.id;
        let current = self.applied_answers.iter().filter(|entry| entry.execution_id == *newest).count();
        let mut surplus = current.saturating_sub(RECENT_ANSWERS);
        let mut retired = Vec::new();
        self.applied_answers.retain(|entry| {
            let keep = entry.execution_id == *newest && surplus == 0;
            if !keep {
                surplus -= usize::from(entry.execution_id == *newest);
                retired.push(entry.clone());
            }
            keep
        });
        retired
    }

    fn retire_executions(&mut self) -> Vec<ExecutionId> {
        let newest = &self.execution.id;
        let mut surplus = self.terminal_executions.len().saturating_sub(RECENT_EXECUTIONS);
        let mut retired = Vec::new();
        self.terminal_executions.retain(|execution| {
            let keep = surplus == 0 || execution == newest;
            if !keep {
                surplus -= 1;
                retired.push(execution.clone());
            }
            keep
        });
        retired
    }
}

fn retire_runs(runs: &mut Vec<RecordedRun>) -> Vec<RecordedRun> {
    let mut bytes = 0;
    let kept = runs
        .iter()
        .rev()
        .take(RECENT_RUNS)
        .enumerate()
        .take_while(|(age, run)| {
            bytes += if *age == 0 { 0 } else { run.run_id.as_str().len() };
            bytes <= RECENT_RUN_ID_BYTES
        })
        .count();
    runs.drain(..runs.len() - kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::record::Execution;

    fn record() -> ThreadRecord {
        ThreadRecord::new("t".into(), "/ws", Execution::new("now".into(), "inv".into()))
    }

    fn run(id: String) -> RecordedRun {
        RecordedRun::new(id.into(), Digest::of(b"request"))
    }

    #[test]
    fn the_newest_runs_stay() {
        let all: Vec<_> = (0..10).map(|number| run(format!("r{number}"))).collect();
        let mut record = record();
        record.runs.clone_from(&all);

        let retired = record.retire_history();

        assert_eq!(retired.runs, all[..6]);
        assert_eq!(record.runs, all[6..]);
        assert!(record.retire_history().is_empty());
    }

    #[test]
    fn long_run_ids_make_fewer_stay_but_the_newest_always_does() {
        let cases = [(100, 4), (200, 3), (300, 2), (600, 1), (60_000, 1)];
        for (length, kept) in cases {
            let mut record = record();
            record.runs = (0..4).map(|number| run(format!("{number:0length$}"))).collect();
            assert_eq!(record.retire_history().runs.len(), 4 - kept, "{length}");
            assert_eq!(record.runs.len(), kept, "{length}");
        }
    }

    #[test]
    fn answers_of_earlier_executions_leave_and_of_the_newest_a_bounded_number_stays() {
        let answer = |execution: &str, number: usize| {
            AppliedAnswer::new(execution.into(), format!("i{number}").into(), Digest::of(b"a"))
        };
        let mut record = record();
        record.applied_answers = vec![answer("before", 0), answer("now", 0), answer("before", 1)];
        record.applied_answers.extend((1..=RECENT_ANSWERS).map(|number| answer("now", number)));

        let retired = record.retire_history();

        assert_eq!(retired.answers, [answer("before", 0), answer("now", 0), answer("before", 1)]);
        assert_eq!(record.applied_answers.len(), RECENT_ANSWERS);
        assert_eq!(record.applied_answers.first(), Some(&answer("now", 1)));
    }

    #[test]
    fn the_newest_execution_stays_among_the_ended_ones_wherever_it_is_listed() {
        let mut record = record();
        record.terminal_executions = ["now", "a", "b", "c", "d"].map(ExecutionId::from).to_vec();

        let retired = record.retire_history();

        assert_eq!(retired.executions, ["a"]);
        assert_eq!(record.terminal_executions, ["now", "b", "c", "d"]);
    }
}
