//! What a failed call to the kernel is called in front of a user.

use a2a_client::{ClientError, RpcFailure};
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};

use crate::notice::backup_not_ready;

/// Code of a refusal that passes: the kernel is still storing the session.
const BACKUP_NOT_READY: &str = "SESSION_BACKUP_NOT_READY";

/// The public form of a failed call. Texts of the kernel never get here (case C71).
pub(crate) fn notice(error: &ClientError) -> ErrorNotice {
    let unavailable = |key| ErrorNotice::new(ErrorCode::A2aUnavailable).with_key(key);
    match error {
        ClientError::Rpc(failure) => rpc(failure),
        ClientError::Http(failure) if failure.data_code.as_deref() == Some(BACKUP_NOT_READY) => {
            backup_not_ready()
        }
        ClientError::RateLimited { retry_after_s: Some(seconds) } => {
            ErrorNotice::new(ErrorCode::RateLimitExceeded)
                .with_key(MessageKey::RateLimitedFor)
                .with_number("seconds", u64::from(*seconds))
        }
        ClientError::RateLimited { .. } => ErrorNotice::new(ErrorCode::RateLimitExceeded),
        ClientError::Cut(_) => unavailable(MessageKey::A2aCut),
        ClientError::Idle { .. } | ClientError::Timeout { .. } => unavailable(MessageKey::A2aSilent),
        ClientError::NotHttp(_)
        | ClientError::UnexpectedContent { .. }
        | ClientError::Compressed
        | ClientError::Decode(_)
        | ClientError::TooLarge { .. } => unavailable(MessageKey::A2aUnreadable),
        _ => unavailable(MessageKey::A2aUnavailable),
    }
}

fn rpc(failure: &RpcFailure) -> ErrorNotice {
    if failure.data_code.as_deref() == Some(BACKUP_NOT_READY) {
        return backup_not_ready();
    }
    let notice = ErrorNotice::new(ErrorCode::A2aExecutionFailed);
    match &failure.reason {
        _ if failure.mid_stream => notice,
        // A token of a safe alphabet, never a text (case C71).
        Some(reason) => {
            notice.with_key(MessageKey::RequestRefusedFor).with_text("reason", reason.to_string())
        }
        None => notice.with_key(MessageKey::RequestRefused),
    }
}
