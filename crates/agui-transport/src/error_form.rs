//! Refusals in the form that readers of event streams know: a `RUN_ERROR`.

use std::borrow::Cow;

use agui_core::Problem;
use agui_i18n::Language;
use agui_iac_code::{ErrorCode, ErrorNotice};
use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;

use crate::refusal::Refusal;
use crate::words;

/// What status a refusal has when it is sent as an event stream with one `RUN_ERROR`.
///
/// Source: R30 to R32.
///
/// Example: see [`ServerBuilder`](crate::ServerBuilder).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorMode {
    /// The one that belongs to the error, except that `AGENT_ERROR` on a route that answers with events
    /// has 200: it is the outcome of a run.
    Status,
    /// 200 on every route that answers with events, so that the reason survives a proxy that replaces
    /// the body of a failure. Two kinds keep their status all the same: who has to prove who they are
    /// (401, 403) finds out how by it, and what asks for no events (another path or method, a
    /// connection that was to change its protocol) is no stream.
    Stream,
}

/// A refusal in that form.
pub(crate) struct ErrorEvent {
    pub(crate) status: StatusCode,
    pub(crate) code: Cow<'static, str>,
    pub(crate) body: Bytes,
}

impl ErrorEvent {
    /// Words `refusal`. `streams` tells whether its route answers with events; `correlation` gives the
    /// id under which details are logged that the caller does not get.
    pub(crate) fn new(
        refusal: &Refusal,
        mode: ErrorMode,
        streams: bool,
        language: Language,
        correlation: impl FnOnce() -> String,
    ) -> Self {
        let failed = is_agent_failure(refusal);
        let (code, message) = if failed {
            let id = correlation();
            log_details(refusal, &id);
            let text = words::render(language, &ErrorNotice::new(ErrorCode::AgentError));
            (Cow::Borrowed(ErrorCode::AgentError.as_str()), format!("{text} ({id})"))
        } else {
            (contract_code(refusal), refusal.message(language))
        };
        let is_outcome = failed || (mode == ErrorMode::Stream && !is_about_caller(refusal));
        let status = if streams && is_outcome { StatusCode::OK } else { refusal.status() };
        let body = record(&code, &message);
        Self { status, code, body }
    }
}

/// Whether the agent failed in a way that it had no word for, so that what is known of it may be
/// anything.
fn is_agent_failure(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::WorkBroke => true,
        Refusal::Problem(problem) => match ErrorCode::from_name(&problem.code) {
            Some(ErrorCode::AgentError | ErrorCode::InternalError) => true,
            Some(_) => false,
            None => refusal.status().is_server_error(),
        },
        _ => false,
    }
}

fn is_about_caller(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Denied(_) | Refusal::HostNotAllowed | Refusal::OriginNotAllowed)
}

fn log_details(refusal: &Refusal, correlation_id: &str) {
    if let Refusal::Problem(Problem { status, code, message, .. }) = refusal {
        tracing::error!(correlation_id, status, code = %code, detail = %message, "the agent failed");
    } else {
        tracing::error!(correlation_id, "the agent failed");
    }
}

/// The few codes that AgentCore's callers know; what the agent or this server says more exactly stays.
///
/// Source: R31.
fn contract_code(refusal: &Refusal) -> Cow<'static, str> {
    let code = match refusal {
        Refusal::HostNotAllowed | Refusal::OriginNotAllowed => ErrorCode::AccessDenied,
        Refusal::NotFound
        | Refusal::MethodNotAllowed { .. }
        | Refusal::NotJson
        | Refusal::NotAcceptable
        | Refusal::UpgradeRequired
        | Refusal::TooLarge(_)
        | Refusal::BodyTimeout
        | Refusal::BodyCut
        | Refusal::Input(..) => ErrorCode::ValidationError,
        Refusal::Busy
        | Refusal::ShuttingDown
        | Refusal::Denied(_)
        | Refusal::TooOften(_)
        | Refusal::Problem(_)
        | Refusal::WorkBroke
        | Refusal::Internal => return refusal.code(),
    };
    code.as_str().into()
}

/// One server-sent event. The code stands before the text, as the contract shows it.
fn record(code: &str, message: &str) -> Bytes {
    #[derive(Serialize)]
    struct RunError<'a> {
        r#type: &'static str,
        code: &'a str,
        message: &'a str,
    }

    let event = RunError { r#type: "RUN_ERROR", code, message };
    let json = serde_json::to_vec(&event).unwrap_or_default();
    let mut body = Vec::with_capacity(json.len() + 8);
    sse_frame::encode_data(&mut body, &json);
    body.into()
}

#[cfg(test)]
mod tests {
    use agui_iac_code::MessageKey;
    use http::HeaderValue;

    use super::*;

    fn told(refusal: &Refusal, mode: ErrorMode, streams: bool) -> (u16, String) {
        let event = ErrorEvent::new(refusal, mode, streams, Language::En, || "id-7".to_owned());
        let body = String::from_utf8(event.body.to_vec()).unwrap();
        let json = body.strip_prefix("data: ").and_then(|rest| rest.strip_suffix("\n\n")).unwrap();
        let event_json: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(event_json["type"], "RUN_ERROR");
        assert_eq!(event_json["code"], *event.code);
        (event.status.as_u16(), format!("{} {}", event.code, event_json["message"].as_str().unwrap()))
    }

    #[test]
    fn codes_and_statuses_are_those_of_the_contract() {
        let problem = |status, code: &'static str| Refusal::Problem(Problem::new(status, code, "text"));
        let failed = "AGENT_ERROR Agent execution failed. (id-7)";
        // (refusal, status by mode Status, by mode Stream, what is told)
        let table = [
            (Refusal::HostNotAllowed, 403, 403, "ACCESS_DENIED"),
            (Refusal::OriginNotAllowed, 403, 403, "ACCESS_DENIED"),
            (Refusal::Busy, 503, 200, "SERVER_BUSY"),
            (Refusal::ShuttingDown, 503, 200, "SHUTTING_DOWN"),
            (Refusal::NotJson, 415, 200, "VALIDATION_ERROR"),
            (Refusal::NotAcceptable, 406, 200, "VALIDATION_ERROR"),
            (Refusal::TooLarge(MessageKey::RunBodyTooLarge), 413, 200, "VALIDATION_ERROR"),
            (Refusal::BodyTimeout, 408, 200, "VALIDATION_ERROR"),
            (Refusal::BodyCut, 400, 200, "VALIDATION_ERROR"),
            (Refusal::Internal, 500, 200, "INTERNAL_ERROR"),
            (problem(409, "THREAD_BUSY"), 409, 200, "THREAD_BUSY text"),
            (problem(409, "SESSION_BUSY"), 409, 200, "SESSION_BUSY text"),
            (problem(503, "A2A_UNAVAILABLE"), 503, 200, "A2A_UNAVAILABLE text"),
            (problem(422, "MINE"), 422, 200, "MINE text"),
            (problem(502, "MINE"), 200, 200, failed),
            (problem(500, "INTERNAL_ERROR"), 200, 200, failed),
            (problem(500, "AGENT_ERROR"), 200, 200, failed),
            (Refusal::WorkBroke, 200, 200, failed),
        ];
        for (refusal, by_status, by_stream, expected) in table {
            let (status, text) = told(&refusal, ErrorMode::Status, true);
            assert_eq!(status, by_status, "{refusal:?}");
            assert!(text.starts_with(expected), "{refusal:?}: {text}");
            assert_eq!(told(&refusal, ErrorMode::Stream, true), (by_stream, text), "{refusal:?}");
        }
    }

    #[test]
    fn what_asks_for_no_events_keeps_its_status() {
        let allow = HeaderValue::from_static("GET");
        for (refusal, status) in [
            (Refusal::NotFound, 404),
            (Refusal::MethodNotAllowed { allow }, 405),
            (Refusal::UpgradeRequired, 426),
            (Refusal::WorkBroke, 500),
        ] {
            assert_eq!(told(&refusal, ErrorMode::Stream, false).0, status, "{refusal:?}");
        }
    }
}
