//! What a caller is told when no run came about.

use agui_client::ClientError;
use agui_core::{Problem, RunId, ThreadId};
use agui_i18n::Language;
use agui_iac_code::ErrorCode;
use http::StatusCode;
use tracing::warn;

use super::forward::Forward;
use super::reader::is_code;
use crate::text::{self, ErrorId};

/// The problem that stands for `error`. Its text is ours; the upstream's own is logged.
pub(super) fn problem(
    error: &ClientError,
    language: Language,
    thread_id: &ThreadId,
    run_id: &RunId,
    forward: &Forward,
) -> Problem {
    let id = ErrorId::new();
    let cause = std::error::Error::source(error).map(ToString::to_string);
    let (thread, run) = (text::shown(thread_id.as_str()), text::shown(run_id.as_str()));
    warn!(error_id = %id, thread_id = thread, run_id = run, %error, cause, "the upstream took no run");
    let ClientError::Refused { status, code, retry_after_s, .. } = error else {
        return id.problem(language);
    };
    let mut problem = match refusal(*status, code.as_deref(), forward) {
        Some((known, code)) => {
            let mut problem = text::problem(language, known);
            if let Some(code) = code {
                (problem.status, problem.code) = (*status, code.to_owned().into());
            }
            problem
        }
        None => id.problem(language),
    };
    problem.retry_after_s = *retry_after_s;
    problem
}

/// The error whose text is told, and the upstream's own code if there is one; `None` if the agent is at fault.
fn refusal<'a>(
    status: u16,
    code: Option<&'a str>,
    forward: &Forward,
) -> Option<(ErrorCode, Option<&'a str>)> {
    let known = match StatusCode::from_u16(status).ok()? {
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => ErrorCode::ValidationError,
        StatusCode::CONFLICT => ErrorCode::SessionBusy,
        StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::RequestTooLarge,
        StatusCode::TOO_MANY_REQUESTS => ErrorCode::RateLimitExceeded,
        // It speaks of the relay's own credentials, unless it has seen the caller's.
        StatusCode::UNAUTHORIZED if forward.passes("authorization") => ErrorCode::Unauthorized,
        StatusCode::FORBIDDEN if forward.passes("authorization") => ErrorCode::AccessDenied,
        status if status.is_client_error() => {
            // Without a code of its own, such as for a path that is not there, it is the relay that is wrong.
            let code = code.and_then(ErrorCode::from_name)?;
            if matches!(code, ErrorCode::Unauthorized | ErrorCode::AccessDenied | ErrorCode::NotFound) {
                return None;
            }
            code
        }
        _ => return None,
    };
    let code = code.filter(|code| is_code(code));
    let known = code.and_then(ErrorCode::from_name).unwrap_or(known);
    Some((known, code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, code: Option<&str>, forward: &[&str]) -> (u16, String, String) {
        let forward =
            Forward::new(&forward.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap();
        let error = ClientError::Refused {
            status,
            code: code.map(Into::into),
            message: Some("secret=/etc/passwd".into()),
            retry_after_s: Some(7),
        };
        let problem = problem(&error, Language::En, &"t".into(), &"r".into(), &forward);
        assert_eq!(problem.retry_after_s, Some(7));
        assert!(!problem.message.contains("secret"), "{}", problem.message);
        let text = problem.message.split(" [").next().unwrap_or_default().to_owned();
        (problem.status, problem.code.into_owned(), text)
    }

    /// Status, code and forwarded headers of a refusal, then what the caller gets.
    type Case<'a> = (u16, Option<&'a str>, &'a [&'a str], u16, &'a str, &'a str);

    #[test]
    fn refusals_keep_status_and_code_and_get_a_text_of_ours() {
        let failed = "Agent execution failed.";
        let cases: [Case<'_>; 14] = [
            (400, None, &[], 400, "VALIDATION_ERROR", "The request is not valid."),
            (422, None, &[], 400, "VALIDATION_ERROR", "The request is not valid."),
            (422, Some("BAD_TOOL"), &[], 422, "BAD_TOOL", "The request is not valid."),
            (400, Some("not a code"), &[], 400, "VALIDATION_ERROR", "The request is not valid."),
            (
                409,
                Some("THREAD_BUSY"),
                &[],
                409,
                "THREAD_BUSY",
                "The AG-UI thread already has an active run.",
            ),
            (409, None, &[], 409, "SESSION_BUSY", "The session is already processing a request."),
            (413, None, &[], 413, "REQUEST_TOO_LARGE", "The AG-UI request body is too large."),
            (429, None, &[], 429, "RATE_LIMIT_EXCEEDED", "Too many requests. Try again later."),
            (401, None, &[], 500, "AGENT_ERROR", failed),
            (401, None, &["authorization"], 401, "UNAUTHORIZED", "A valid bearer token is required."),
            (404, None, &[], 500, "AGENT_ERROR", failed),
            (
                404,
                Some("EXECUTION_NOT_FOUND"),
                &[],
                404,
                "EXECUTION_NOT_FOUND",
                "The execution was not found.",
            ),
            (503, Some("SERVER_BUSY"), &[], 500, "AGENT_ERROR", failed),
            (302, None, &[], 500, "AGENT_ERROR", failed),
        ];
        for (status, code, forward, expected_status, expected_code, text) in cases {
            let expected = (expected_status, expected_code.to_owned(), text.to_owned());
            assert_eq!(refused(status, code, forward), expected, "{status} {code:?}");
        }
    }
}
