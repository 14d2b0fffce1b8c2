//! Errors as the two protocols want them: a `Problem` before the stream, a `RUN_ERROR` in it.

use agui_core::Problem;
use agui_core::RunError;
use agui_i18n::Language;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageArg, MessageKey};
use agui_store::StoreError;

/// Seconds after which an answer that met a running backup is worth another try.
const BACKUP_RETRY_S: u32 = 3;

/// The HTTP form.
pub(crate) fn problem(language: Language, notice: &ErrorNotice) -> Problem {
    let spec = notice.code.spec();
    let problem = Problem::new(spec.status, spec.code, agui_i18n::notice(language, notice));
    let seconds = notice.args.iter().find_map(|(name, arg)| match arg {
        MessageArg::Number(seconds) if *name == "seconds" => u32::try_from(*seconds).ok(),
        _ => None,
    });
    match seconds {
        Some(seconds) => problem.with_retry_after_s(seconds),
        None => problem,
    }
}

/// The form inside a stream.
pub(crate) fn run_error(language: Language, notice: &ErrorNotice) -> RunError {
    RunError::new(agui_i18n::notice(language, notice).into_owned()).with_code(notice.code.as_str())
}

/// The stored state cannot be read or written, before a run began.
pub(crate) fn state_unavailable(error: &StoreError) -> ErrorNotice {
    tracing::warn!(%error, source = error_source(error), "thread state unavailable");
    ErrorNotice::new(ErrorCode::StateUnavailable)
}

/// A state that a resume would need could not be stored.
pub(crate) fn not_persisted(error: &StoreError, what: MessageKey) -> ErrorNotice {
    tracing::warn!(%error, source = error_source(error), "thread state not saved");
    ErrorNotice::new(ErrorCode::StatePersistenceFailed).with_key(what)
}

/// The session is being backed up; the same answer works a little later.
pub(crate) fn backup_not_ready() -> ErrorNotice {
    ErrorNotice::new(ErrorCode::SessionBackupNotReady)
        .with_key(MessageKey::BackupSyncing)
        .with_number("seconds", BACKUP_RETRY_S.into())
}

fn error_source(error: &StoreError) -> Option<String> {
    std::error::Error::source(error).map(ToString::to_string)
}
