//! How a run ends: one decision over what was observed. Reads like the table it is.

use a2a_wire::TaskState;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use agui_mapper::{Dialect, Observed};

/// What the observations mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Questions wait for a person.
    Interrupt,
    /// The turn is complete.
    Success,
    /// The kernel's task was cancelled.
    Cancelled,
    /// The run failed.
    Failed(ErrorNotice),
    /// The task goes on, or nobody knows: ask the kernel.
    Unsettled,
}

/// The verdict on what was observed so far.
pub(crate) fn verdict(observed: &Observed) -> Verdict {
    if let Some(notice) = identity_change(observed) {
        return Verdict::Failed(notice);
    }
    if observed.direct_message {
        return Verdict::Success;
    }
    let state = observed.last_state.as_ref();
    if state.is_some_and(TaskState::is_terminal) {
        return ended(observed);
    }
    // An answer that was not taken leaves its question open: the mapper lists it among the open ones.
    if waits_for_a_person(observed) {
        return Verdict::Interrupt;
    }
    if let Some(notice) = trouble(observed) {
        return Verdict::Failed(notice);
    }
    match state {
        // What it waits for has its answer, or was not told yet.
        _ if observed.dialect == Dialect::Plain => Verdict::Unsettled,
        Some(TaskState::InputRequired) => Verdict::Success,
        Some(TaskState::AuthRequired) => {
            failed(ErrorCode::A2aExecutionFailed, Some(MessageKey::SignInNeeded))
        }
        _ => Verdict::Unsettled,
    }
}

/// A task that waits as a whole, or one of its branches that asks beside the stream.
fn waits_for_a_person(observed: &Observed) -> bool {
    let stopped = observed.last_state.as_ref().is_some_and(TaskState::is_interrupted);
    observed.open_inputs.iter().any(|input| stopped || input.sideband)
}

fn ended(observed: &Observed) -> Verdict {
    match observed.last_state {
        Some(TaskState::Completed) => Verdict::Success,
        Some(TaskState::Canceled) => Verdict::Cancelled,
        Some(TaskState::Rejected) if observed.dialect == Dialect::Plain => {
            failed(ErrorCode::A2aExecutionFailed, Some(MessageKey::RequestRefused))
        }
        _ => Verdict::Failed(trouble(observed).unwrap_or_else(|| ErrorCode::A2aExecutionFailed.into())),
    }
}

/// What went wrong although the task may still be open.
fn trouble(observed: &Observed) -> Option<ErrorNotice> {
    if let Some(failure) = &observed.failure {
        let notice = ErrorNotice::new(ErrorCode::A2aExecutionFailed);
        return Some(match &failure.error_id {
            _ if failure.retryable == Some(true) => notice.with_key(MessageKey::ExecutionFailedForNow),
            Some(id) => {
                notice.with_key(MessageKey::ExecutionFailedWithId).with_text("errorId", id.to_string())
            }
            None => notice,
        });
    }
    if observed.identity_error.is_some() {
        return Some(ErrorNotice::new(ErrorCode::A2aUnavailable).with_key(MessageKey::PermissionNotAccepted));
    }
    if observed.backup_blocked.is_some() {
        return Some(ErrorNotice::new(ErrorCode::SessionBackupNotReady).with_key(MessageKey::BackupBlocked));
    }
    if observed.permission_wait.is_some() {
        let notice = ErrorNotice::new(ErrorCode::A2aExecutionFailed);
        return Some(notice.with_key(MessageKey::PermissionSuspended));
    }
    None
}

fn identity_change(observed: &Observed) -> Option<ErrorNotice> {
    let key = if observed.context_id.changed() {
        MessageKey::ContextChanged
    } else if observed.task_id.changed() {
        MessageKey::TaskChanged
    } else if observed.session_id.changed() {
        MessageKey::SessionChanged
    } else {
        return None;
    };
    Some(ErrorNotice::new(ErrorCode::A2aProtocolError).with_key(key))
}

fn failed(code: ErrorCode, key: Option<MessageKey>) -> Verdict {
    let notice = ErrorNotice::new(code);
    Verdict::Failed(match key {
        Some(key) => notice.with_key(key),
        None => notice,
    })
}

#[cfg(test)]
mod tests;
