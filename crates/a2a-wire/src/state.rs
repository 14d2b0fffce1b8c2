use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

/// State of a task.
///
/// Source: A2A 1.0 `TaskState` (`TASK_STATE_*`), A2A 0.3 `TaskState` (lower case with hyphens).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskState {
    /// Absent, `TASK_STATE_UNSPECIFIED`, or 0.3 `unknown`.
    #[default]
    Unspecified,
    /// Accepted, not started.
    Submitted,
    /// Being worked on.
    Working,
    /// Ended with success.
    Completed,
    /// Ended with an error.
    Failed,
    /// Ended by a cancel request.
    Canceled,
    /// Waits for the user.
    InputRequired,
    /// Not accepted.
    Rejected,
    /// Waits for credentials.
    AuthRequired,
    /// A state this crate does not know, as it was spelled.
    Other(Box<str>),
}

impl TaskState {
    /// Every state that has a name, in protobuf order.
    pub const NAMED: [Self; 9] = [
        Self::Unspecified,
        Self::Submitted,
        Self::Working,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::InputRequired,
        Self::Rejected,
        Self::AuthRequired,
    ];

    /// Whether the task has ended and will not change again.
    #[must_use]
    pub const fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }

    /// Whether the task waits for somebody.
    #[must_use]
    pub const fn is_interrupted(&self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// The name in 1.0 spelling; an unknown state as it was received.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Unspecified => "TASK_STATE_UNSPECIFIED",
            Self::Submitted => "TASK_STATE_SUBMITTED",
            Self::Working => "TASK_STATE_WORKING",
            Self::Completed => "TASK_STATE_COMPLETED",
            Self::Failed => "TASK_STATE_FAILED",
            Self::Canceled => "TASK_STATE_CANCELED",
            Self::InputRequired => "TASK_STATE_INPUT_REQUIRED",
            Self::Rejected => "TASK_STATE_REJECTED",
            Self::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
            Self::Other(name) => name,
        }
    }

    /// Reads a state in any spelling: 1.0, 0.3, any letter case, `_`, `-` or space between words.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        match name {
            "TASK_STATE_WORKING" => return Self::Working,
            "TASK_STATE_INPUT_REQUIRED" => return Self::InputRequired,
            _ => {}
        }
        let plain: String = name
            .chars()
            .filter(|letter| !matches!(letter, '_' | '-' | ' '))
            .map(|letter| letter.to_ascii_lowercase())
            .collect();
        match plain.strip_prefix("taskstate").unwrap_or(&plain) {
            "" | "unspecified" | "unknown" => Self::Unspecified,
            "submitted" => Self::Submitted,
            "working" => Self::Working,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "canceled" | "cancelled" => Self::Canceled,
            "inputrequired" => Self::InputRequired,
            "rejected" => Self::Rejected,
            "authrequired" => Self::AuthRequired,
            _ => Self::Other(name.into()),
        }
    }
}

impl std::fmt::Display for TaskState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for TaskState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StateVisitor)
    }
}

struct StateVisitor;

impl Visitor<'_> for StateVisitor {
    type Value = TaskState;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a task state")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<TaskState, E> {
        Ok(TaskState::parse(name))
    }

    /// ProtoJSON readers accept an enum's number too.
    fn visit_u64<E: Error>(self, number: u64) -> Result<TaskState, E> {
        let named = usize::try_from(number).ok().and_then(|index| TaskState::NAMED.get(index).cloned());
        Ok(named.unwrap_or_else(|| TaskState::Other(number.to_string().into())))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<TaskState, E> {
        match crate::tolerant::integral(number).and_then(|number| u64::try_from(number).ok()) {
            Some(number) => self.visit_u64(number),
            None => Err(E::invalid_value(Unexpected::Float(number), &self)),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<TaskState, E> {
        Ok(TaskState::Unspecified)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_both_versions_is_read() {
        let cases = [
            (TaskState::Unspecified, ["TASK_STATE_UNSPECIFIED", "unknown", ""]),
            (TaskState::Submitted, ["TASK_STATE_SUBMITTED", "submitted", "Submitted"]),
            (TaskState::Working, ["TASK_STATE_WORKING", "working", "task_state_working"]),
            (TaskState::Completed, ["TASK_STATE_COMPLETED", "completed", "COMPLETED"]),
            (TaskState::Failed, ["TASK_STATE_FAILED", "failed", "TaskStateFailed"]),
            (TaskState::Canceled, ["TASK_STATE_CANCELED", "canceled", "cancelled"]),
            (TaskState::InputRequired, ["TASK_STATE_INPUT_REQUIRED", "input-required", "inputRequired"]),
            (TaskState::Rejected, ["TASK_STATE_REJECTED", "rejected", "task-state-rejected"]),
            (TaskState::AuthRequired, ["TASK_STATE_AUTH_REQUIRED", "auth-required", "auth_required"]),
        ];
        for (state, names) in cases {
            for name in names {
                assert_eq!(TaskState::parse(name), state, "{name}");
            }
        }
    }

    #[test]
    fn unknown_state_keeps_its_spelling_and_ends_nothing() {
        let state = TaskState::parse("TASK_STATE_PAUSED");
        assert_eq!(state, TaskState::Other("TASK_STATE_PAUSED".into()));
        assert_eq!(
            (state.as_str(), state.is_terminal(), state.is_interrupted()),
            ("TASK_STATE_PAUSED", false, false)
        );
    }

    #[test]
    fn states_are_sorted_into_ended_and_waiting() {
        let ended: Vec<_> = TaskState::NAMED.into_iter().filter(TaskState::is_terminal).collect();
        let waiting: Vec<_> = TaskState::NAMED.into_iter().filter(TaskState::is_interrupted).collect();
        assert_eq!(
            ended,
            [TaskState::Completed, TaskState::Failed, TaskState::Canceled, TaskState::Rejected]
        );
        assert_eq!(waiting, [TaskState::InputRequired, TaskState::AuthRequired]);
    }

    #[test]
    fn numbers_and_null_are_states_too() {
        let cases = [
            ("6", TaskState::InputRequired),
            ("6.0", TaskState::InputRequired),
            ("0", TaskState::Unspecified),
            ("9", TaskState::Other("9".into())),
            ("null", TaskState::Unspecified),
        ];
        for (json, state) in cases {
            assert_eq!(serde_json::from_str::<TaskState>(json).unwrap(), state, "{json}");
        }
        for json in ["2.5", "true", "[]"] {
            assert!(serde_json::from_str::<TaskState>(json).is_err(), "{json}");
        }
    }
}
