//! The table of public error codes.

use crate::message_key::MessageKey as Key;

/// One row of the public error table.
///
/// ```
/// use agui_iac_code::ErrorCode;
///
/// let spec = ErrorCode::ThreadBusy.spec();
/// assert_eq!((spec.code, spec.status, spec.retryable), ("THREAD_BUSY", 409, true));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorSpec {
    /// Stable machine code; never reused, never renamed.
    pub code: &'static str,
    /// HTTP status while the response head is still unsent.
    pub status: u16,
    /// Message when nothing more exact is known; it takes no arguments.
    pub key: Key,
    /// Whether the same request can succeed later.
    pub retryable: bool,
}

/// Declares the codes, each with its row.
macro_rules! error_codes {
    ($($(#[$meta:meta])* $variant:ident = $code:literal, $status:literal, $key:ident, $retryable:literal;)+) => {
        /// A public error code.
        ///
        /// Source: S1.4 to S1.8, S9.2, S10; errors of `iac-code agui` 0.16.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$meta])* $variant,)+
        }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code's row in the error table.
            #[must_use]
            pub const fn spec(self) -> ErrorSpec {
                match self {
                    $(Self::$variant => ErrorSpec {
                        code: $code,
                        status: $status,
                        key: Key::$key,
                        retryable: $retryable,
                    },)+
                }
            }

            /// The code for a wire name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($code => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

error_codes! {
    /// Envelope, extension, message or workspace is not valid.
    InvalidInput = "INVALID_INPUT", 400, InvalidInput, false;
    /// The same request came before with this run id.
    DuplicateRunId = "DUPLICATE_RUN_ID", 409, RunIdUsed, false;
    /// Another request came before with this run id.
    RunIdConflict = "RUN_ID_CONFLICT", 409, RunIdUsed, false;
    /// The thread runs another request.
    ThreadBusy = "THREAD_BUSY", 409, ThreadBusy, true;
    /// Workspace or requester differ from those the thread is bound to.
    ThreadBindingConflict = "THREAD_BINDING_CONFLICT", 409, ThreadBinding, false;
    /// The thread waits for answers to interrupts.
    ResumeRequired = "RESUME_REQUIRED", 409, ResumeRequired, false;
    /// Interrupts are missing or named twice.
    IncompleteResume = "INCOMPLETE_RESUME", 409, ResumeIncomplete, false;
    /// The answer names an interrupt that is not pending.
    UnknownInterrupt = "UNKNOWN_INTERRUPT", 409, UnknownInterrupt, false;
    /// The payload is missing or does not fit its schema.
    ResumePayloadInvalid = "RESUME_PAYLOAD_INVALID", 409, PayloadInvalid, false;
    /// The answer was applied before, or another one was.
    ResumeAlreadyApplied = "RESUME_ALREADY_APPLIED", 409, AlreadyApplied, false;
    /// The interrupt expired.
    ExecutionExpired = "EXECUTION_EXPIRED", 409, ExecutionExpired, false;
    /// Adapter, A2A task or iac-code session cannot be restored.
    ExecutionLost = "EXECUTION_LOST", 409, ExecutionGone, false;
    /// A state that a resume needs could not be stored.
    StatePersistenceFailed = "STATE_PERSISTENCE_FAILED", 503, PersistExecution, true;
    /// The stored state cannot be read or written.
    StateUnavailable = "STATE_UNAVAILABLE", 503, StateUnavailable, true;
    /// The A2A service does not answer.
    A2aUnavailable = "A2A_UNAVAILABLE", 503, A2aUnavailable, true;
    /// Task, context or session differ from the association.
    A2aProtocolError = "A2A_PROTOCOL_ERROR", 502, A2aUnreadable, false;
    /// The A2A task failed.
    A2aExecutionFailed = "A2A_EXECUTION_FAILED", 502, ExecutionFailed, false;
    /// The execution was cancelled.
    Cancelled = "CANCELLED", 409, Cancelled, false;
    /// The kernel still stores the session.
    SessionBackupNotReady = "SESSION_BACKUP_NOT_READY", 503, BackupBlocked, true;

    /// No valid bearer token.
    Unauthorized = "UNAUTHORIZED", 401, Unauthorized, false;
    /// The caller may not do this.
    AccessDenied = "ACCESS_DENIED", 403, AccessDenied, false;
    /// The browser page's origin is not allowed.
    ForbiddenOrigin = "FORBIDDEN_ORIGIN", 403, ForbiddenOrigin, false;
    /// The request names a host this server does not answer for.
    ForbiddenHost = "FORBIDDEN_HOST", 403, ForbiddenHost, false;
    /// There is nothing at this path.
    NotFound = "NOT_FOUND", 404, NotFound, false;
    /// There is no such execution, or it is somebody else's.
    ExecutionNotFound = "EXECUTION_NOT_FOUND", 404, ExecutionNotFound, false;
    /// There is no such run to read again, or it ended too long ago.
    RunNotFound = "RUN_NOT_FOUND", 404, RunNotFound, false;
    /// Events of a run that a reader needs are not kept any more; the run itself is not affected.
    EventsLost = "EVENTS_LOST", 410, EventsLost, false;
    /// The path does not take this method.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405, MethodNotAllowed, false;
    /// The caller accepts no form that this server can answer with.
    NotAcceptable = "NOT_ACCEPTABLE", 406, NotAcceptable, false;
    /// The request did not arrive in time.
    RequestTimeout = "REQUEST_TIMEOUT", 408, RequestTimeout, true;
    /// The request is too large.
    RequestTooLarge = "REQUEST_TOO_LARGE", 413, RunBodyTooLarge, false;
    /// The body is not announced as JSON.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", 415, ContentType, false;
    /// The path takes WebSocket connections only.
    UpgradeRequired = "UPGRADE_REQUIRED", 426, UpgradeRequired, false;
    /// The body is not JSON.
    InvalidJson = "INVALID_JSON", 400, RunBodyNotJson, false;
    /// The input does not fit the agent.
    ValidationError = "VALIDATION_ERROR", 400, InvalidInput, false;
    /// The caller sends too many requests.
    RateLimitExceeded = "RATE_LIMIT_EXCEEDED", 429, RateLimited, true;
    /// The session runs another request.
    SessionBusy = "SESSION_BUSY", 409, SessionBusy, true;
    /// The server has no place for another request.
    ServerBusy = "SERVER_BUSY", 503, ServerBusy, true;
    /// The server is stopping.
    ShuttingDown = "SHUTTING_DOWN", 503, ShuttingDown, true;
    /// The agent failed; in a stream this ends the run, before one it is a server error.
    AgentError = "AGENT_ERROR", 500, AgentFailed, false;
    /// The server failed.
    InternalError = "INTERNAL_ERROR", 500, InternalError, false;
}

impl ErrorCode {
    /// The wire name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.spec().code
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_code_is_unique_and_read_back() {
        let names: HashSet<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();

        assert_eq!(names.len(), ErrorCode::ALL.len());
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_name(code.as_str()), Some(*code));
        }
        assert_eq!(ErrorCode::from_name("invalid_input"), None);
    }

    #[test]
    fn the_message_of_a_code_takes_no_arguments() {
        for code in ErrorCode::ALL {
            assert_eq!(code.spec().key.args(), [""; 0], "{code}");
        }
    }

    #[test]
    fn s1_8_and_s9_2_admission_is_409_bad_input_400_and_a_store_that_is_down_503() {
        let of_status = |status: u16| -> Vec<&str> {
            let with_status = ErrorCode::ALL.iter().filter(|code| code.spec().status == status);
            with_status.map(|code| code.as_str()).collect()
        };

        assert_eq!(
            of_status(409),
            [
                "DUPLICATE_RUN_ID",
                "RUN_ID_CONFLICT",
                "THREAD_BUSY",
                "THREAD_BINDING_CONFLICT",
                "RESUME_REQUIRED",
                "INCOMPLETE_RESUME",
                "UNKNOWN_INTERRUPT",
                "RESUME_PAYLOAD_INVALID",
                "RESUME_ALREADY_APPLIED",
                "EXECUTION_EXPIRED",
                "EXECUTION_LOST",
                "CANCELLED",
                "SESSION_BUSY",
            ]
        );
        assert_eq!(of_status(400), ["INVALID_INPUT", "INVALID_JSON", "VALIDATION_ERROR"]);
        for code in [ErrorCode::StateUnavailable, ErrorCode::StatePersistenceFailed] {
            assert_eq!(code.spec().status, 503, "{code}");
        }
    }
}
