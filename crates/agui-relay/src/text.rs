//! Errors as callers see them: a `Problem` before the stream, a `RUN_ERROR` in it. The texts are fixed;
//! what really happened is in the log, under an error id that both carry.

use agui_core::{AGENT_ERROR, Problem, RunError, RunRequest};
use agui_i18n::Language;
use agui_iac_code::ErrorCode;
use uuid::Uuid;

/// Characters of what others have written that a log line holds: ids may be as long as a body.
const LOGGED_CHARACTERS: usize = 1_024;

/// As much of a foreign text as is written down.
pub(crate) fn shown(text: &str) -> &str {
    text.char_indices().nth(LOGGED_CHARACTERS).map_or(text, |(end, _)| &text[..end])
}

/// The language that the caller of a request reads.
pub(crate) fn language_of(request: &RunRequest) -> Language {
    agui_i18n::choose(None, request.accept_language.as_deref())
}

/// The HTTP form.
pub(crate) fn problem(language: Language, code: ErrorCode) -> Problem {
    let spec = code.spec();
    Problem::new(spec.status, spec.code, agui_i18n::text(language, spec.key))
}

/// The form inside a stream.
pub(crate) fn run_error(language: Language, code: ErrorCode) -> RunError {
    RunError::new(agui_i18n::text(language, code.spec().key).into_owned()).with_code(code.as_str())
}

/// Links what a caller is told with what the log says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorId(Uuid);

impl ErrorId {
    pub(crate) fn new() -> Self {
        Self(Uuid::new_v4())
    }

    /// "The agent failed", with this id.
    pub(crate) fn agent_failed(self, language: Language) -> String {
        format!("{} [{self}]", agui_i18n::text(language, ErrorCode::AgentError.spec().key))
    }

    /// A failure of the agent inside a stream.
    pub(crate) fn run_error(self, language: Language) -> RunError {
        RunError::new(self.agent_failed(language)).with_code(AGENT_ERROR)
    }

    /// A failure of the agent before a stream.
    pub(crate) fn problem(self, language: Language) -> Problem {
        let spec = ErrorCode::AgentError.spec();
        Problem::new(spec.status, spec.code, self.agent_failed(language))
    }
}

impl std::fmt::Display for ErrorId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.simple())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_has_a_bound() {
        assert_eq!(shown("é"), "é");
        assert_eq!(shown(&"é".repeat(LOGGED_CHARACTERS)), "é".repeat(LOGGED_CHARACTERS));
        assert_eq!(shown(&"é".repeat(LOGGED_CHARACTERS + 1)), "é".repeat(LOGGED_CHARACTERS));
    }
}
