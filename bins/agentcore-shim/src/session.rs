//! The session that a request belongs to, and its request id.

use agui_auth::Authenticator;
use agui_core::{Problem, RunRequest};
use agui_i18n::Language;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use agui_transport::CALLER;
use http::HeaderMap;

/// Header with the session's id.
pub(crate) const SESSION_HEADER: &str = "x-amzn-bedrock-agentcore-runtime-session-id";

/// Headers with the request's id, best first.
pub(crate) const REQUEST_ID_HEADERS: [&str; 2] =
    ["x-amzn-bedrock-agentcore-runtime-request-id", "x-amzn-requestid"];

/// Headers that say whose a request is, those of them that the agent gets to see: a run is shown again to the
/// same requester only, and ended by nobody else.
///
/// Where callers prove here who they are, that counts and not what they prove it with: a token that was refreshed is
/// the same caller, and a signature is new with each request. Where they do not, nobody here knows who an
/// `Authorization` is, so it counts as the text that it is.
pub(crate) fn requester_headers(authenticator: &Authenticator) -> [&'static str; 4] {
    let caller = if authenticator.is_required() { CALLER } else { "authorization" };
    [SESSION_HEADER, "x-amzn-bedrock-agentcore-runtime-user-id", "x-api-key", caller]
}

/// Longest session id, in characters; the API takes 33 to 256.
const MAX_SESSION_CHARS: usize = 256;

/// The session that a request names; `None` if it names none.
///
/// # Errors
/// 400 `VALIDATION_ERROR` for an id that is no single segment of a path.
pub(crate) fn session_of(request: &RunRequest) -> Result<Option<&str>, Problem> {
    match request.header(SESSION_HEADER) {
        None | Some("") => Ok(None),
        Some(id) if is_segment(id) => Ok(Some(id)),
        Some(_) => Err(refusal(request)),
    }
}

/// The same for a request that has only headers.
pub(crate) fn session_in(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_HEADER)?.to_str().ok().filter(|id| is_segment(id))
}

/// Whether an id is one segment of a path that leads nowhere else: letters, digits, `-`, `_` and `.`, the
/// first one a letter or a digit.
pub(crate) fn is_segment(id: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    id.len() <= MAX_SESSION_CHARS
        && id.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && id.bytes().all(allowed)
}

fn refusal(request: &RunRequest) -> Problem {
    let language = language_of(request);
    let pointer = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id";
    let notice = ErrorNotice::new(ErrorCode::ValidationError).with_key(MessageKey::FieldProblem);
    problem(language, &notice.with_text("pointer", pointer).with_text("kind", "wrong-type"))
}

/// The language that the caller of a request reads.
pub(crate) fn language_of(request: &RunRequest) -> Language {
    agui_i18n::choose(None, request.accept_language.as_deref())
}

/// A refusal with its text.
pub(crate) fn problem(language: Language, notice: &ErrorNotice) -> Problem {
    let text = agui_i18n::notice(language, notice).into_owned();
    Problem::new(notice.code.spec().status, notice.code.as_str(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_is_one_segment_of_a_path() {
        let long = "a".repeat(256);
        for id in ["a", "0-_.", "0f8b6c5e-7b5e-4a8e-9d5b-2f0c8d6e4a11", &long] {
            assert!(is_segment(id), "{id}");
        }
        let longer = "a".repeat(257);
        for id in ["", ".", "..", "../x", "a/b", "a\\b", "-a", "_a", "a b", "a\0", "ä", "a%2f", &longer] {
            assert!(!is_segment(id), "{id}");
        }
    }
}
