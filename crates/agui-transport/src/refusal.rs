//! Every way in which a request is refused before an event stream starts.

use std::borrow::Cow;

use agui_auth::{Denied, RetryAfter};
use agui_core::{DecodeError, DecodeErrorKind, Expected, Problem};
use agui_i18n::Language;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey, PropsErrorKind};
use http::header::{ALLOW, CONNECTION, RETRY_AFTER, UPGRADE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::{upgrade, words};

/// Seconds after which a client may try again when the server is full or about to end.
const RETRY_AFTER_S: u32 = 1;

/// A refused request. Becomes an answer at one place, [`answer::refuse`](crate::answer::refuse).
#[derive(Debug)]
pub(crate) enum Refusal {
    HostNotAllowed,
    OriginNotAllowed,
    NotFound,
    MethodNotAllowed {
        allow: HeaderValue,
    },
    Busy,
    ShuttingDown,
    Denied(Denied),
    /// The session has used up its allowance.
    TooOften(RetryAfter),
    /// The body is not announced as JSON in UTF-8, or it is compressed.
    NotJson,
    NotAcceptable,
    /// The route speaks WebSocket only.
    UpgradeRequired,
    /// The body is over its cap; the text depends on the route.
    TooLarge(MessageKey),
    BodyTimeout,
    /// The connection or the chunked framing broke inside the body.
    BodyCut,
    /// A run input that cannot be taken, and the language to say so in.
    Input(DecodeError, Language),
    /// Worded by the agent or a handler.
    Problem(Problem),
    /// The agent or a handler panicked or was torn down.
    WorkBroke,
    /// A fault of the server.
    Internal,
}

impl Refusal {
    pub(crate) fn status(&self) -> StatusCode {
        let status = match self {
            Self::Denied(denied) => return denied.status(),
            Self::Problem(problem) => problem.status,
            _ => self.error_code().spec().status,
        };
        let status = StatusCode::from_u16(status).ok();
        let error = status.filter(|status| status.is_client_error() || status.is_server_error());
        error.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(crate) fn code(&self) -> Cow<'static, str> {
        match self {
            Self::Problem(problem) => problem.code.clone(),
            _ => self.error_code().as_str().into(),
        }
    }

    /// The text for the user, in `language` unless the body had a say in it.
    pub(crate) fn message(&self, language: Language) -> String {
        match self {
            Self::Problem(problem) => problem.message.clone(),
            Self::Input(_, language) => words::render(*language, &self.notice()),
            _ => words::render(language, &self.notice()),
        }
    }

    /// The same as an agent would refuse it.
    pub(crate) fn problem(&self, language: Language) -> Problem {
        let mut problem = Problem::new(self.status().as_u16(), self.code(), self.message(language));
        problem.retry_after_s = self.retry_after_s();
        problem
    }

    /// After how many seconds the caller may try again.
    fn retry_after_s(&self) -> Option<u32> {
        match self {
            Self::TooOften(until) => Some(until.seconds()),
            Self::Busy | Self::ShuttingDown => Some(RETRY_AFTER_S),
            Self::Problem(problem) => problem.retry_after_s,
            _ => None,
        }
    }

    /// The headers that belong to this refusal.
    pub(crate) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        match self {
            Self::MethodNotAllowed { allow } => {
                headers.insert(ALLOW, allow.clone());
            }
            Self::Denied(denied) => {
                headers.extend(denied.challenge().map(|challenge| (WWW_AUTHENTICATE, challenge.clone())));
            }
            _ => {}
        }
        headers.extend(self.retry_after_s().map(|seconds| (RETRY_AFTER, HeaderValue::from(seconds))));
        if self.status() == StatusCode::UPGRADE_REQUIRED {
            headers.insert(UPGRADE, upgrade::WEBSOCKET);
            headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
            headers.extend([upgrade::WEBSOCKET_VERSION]);
        }
        headers
    }

    fn error_code(&self) -> ErrorCode {
        match self {
            Self::HostNotAllowed => ErrorCode::ForbiddenHost,
            Self::OriginNotAllowed => ErrorCode::ForbiddenOrigin,
            Self::NotFound => ErrorCode::NotFound,
            Self::MethodNotAllowed { .. } => ErrorCode::MethodNotAllowed,
            Self::Busy => ErrorCode::ServerBusy,
            Self::ShuttingDown => ErrorCode::ShuttingDown,
            Self::Denied(denied) => denied.code(),
            Self::TooOften(until) => until.code(),
            Self::NotJson => ErrorCode::UnsupportedMediaType,
            Self::NotAcceptable => ErrorCode::NotAcceptable,
            Self::TooLarge(_) => ErrorCode::RequestTooLarge,
            Self::BodyTimeout => ErrorCode::RequestTimeout,
            Self::Input(error, _) if error.kind != DecodeErrorKind::Syntax => ErrorCode::InvalidInput,
            Self::BodyCut | Self::Input(..) => ErrorCode::InvalidJson,
            Self::UpgradeRequired => ErrorCode::UpgradeRequired,
            Self::Problem(_) | Self::WorkBroke | Self::Internal => ErrorCode::InternalError,
        }
    }

    fn notice(&self) -> ErrorNotice {
        let notice = ErrorNotice::new(self.error_code());
        match self {
            Self::MethodNotAllowed { allow } => match allow.to_str() {
                Ok(methods) => notice
                    .with_key(MessageKey::MethodNotAllowedExcept)
                    .with_text("methods", methods.to_owned()),
                Err(_) => notice,
            },
            Self::TooLarge(key) => notice.with_key(*key),
            Self::TooOften(until) => {
                notice.with_key(MessageKey::RateLimitedFor).with_number("seconds", until.seconds().into())
            }
            Self::Input(error, _) if error.kind != DecodeErrorKind::Syntax => input_notice(error),
            _ => notice,
        }
    }
}

/// Says where the run input is wrong and how, never what stands there (S2.12).
fn input_notice(error: &DecodeError) -> ErrorNotice {
    let kind = match error.kind {
        DecodeErrorKind::WrongType(Expected::Object) if error.pointer.is_empty() => {
            return ErrorNotice::new(ErrorCode::InvalidInput).with_key(MessageKey::RunBodyNotObject);
        }
        DecodeErrorKind::Missing => PropsErrorKind::Missing,
        DecodeErrorKind::WrongType(_) | DecodeErrorKind::Null => PropsErrorKind::WrongType,
        DecodeErrorKind::DuplicateKey => PropsErrorKind::DuplicateKey,
        DecodeErrorKind::Syntax => PropsErrorKind::Syntax,
        _ => PropsErrorKind::OutOfRange,
    };
    ErrorNotice::field(MessageKey::InputEnvelope, error.pointer.clone(), kind.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_cannot_pass_for_anything_but_an_error() {
        for (status, expected) in [(409, 409), (599, 599), (200, 500), (101, 500), (304, 500), (7, 500)] {
            let refusal = Refusal::Problem(Problem::new(status, "X", "x"));
            assert_eq!(refusal.status().as_u16(), expected, "{status}");
        }
    }
}
