//! Texts, in the language of whoever reads them.

use std::borrow::Cow;

use agui_core::{DecodeErrorKind, Expected, Problem};
use agui_i18n::Language;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey, PropsErrorKind};

/// What a client is told about something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: Cow<'static, str>,
    pub(crate) message: String,
    pub(crate) retry_after_s: Option<u32>,
}

impl Fault {
    /// The code with its general text.
    pub(crate) fn of(code: ErrorCode, language: Language) -> Self {
        Self::told(code, &ErrorNotice::new(code), language)
    }

    /// `VALIDATION_ERROR`: where a message is wrong, as a JSON pointer, and how; never what stands there.
    pub(crate) fn invalid(pointer: &str, kind: DecodeErrorKind, language: Language) -> Self {
        let whole = pointer.is_empty();
        let notice = match kind {
            DecodeErrorKind::Syntax if whole => ErrorNotice::new(ErrorCode::InvalidJson),
            DecodeErrorKind::WrongType(Expected::Object) if whole => {
                ErrorNotice::new(ErrorCode::InvalidInput).with_key(MessageKey::RunBodyNotObject)
            }
            _ => ErrorNotice::field(MessageKey::InputEnvelope, pointer.to_owned(), manner(kind).as_str()),
        };
        Self::told(ErrorCode::ValidationError, &notice, language)
    }

    fn told(code: ErrorCode, notice: &ErrorNotice, language: Language) -> Self {
        let message = agui_i18n::notice(language, notice).into_owned();
        Self { code: code.as_str().into(), message, retry_after_s: None }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self { code: problem.code, message: problem.message, retry_after_s: problem.retry_after_s }
    }
}

/// The word for a kind of error that the texts are chosen by.
const fn manner(kind: DecodeErrorKind) -> PropsErrorKind {
    match kind {
        DecodeErrorKind::Missing => PropsErrorKind::Missing,
        DecodeErrorKind::WrongType(_) | DecodeErrorKind::Null => PropsErrorKind::WrongType,
        DecodeErrorKind::DuplicateKey => PropsErrorKind::DuplicateKey,
        DecodeErrorKind::Syntax => PropsErrorKind::Syntax,
        _ => PropsErrorKind::OutOfRange,
    }
}
