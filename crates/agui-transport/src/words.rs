//! The text of a notice.

use agui_core::Problem;
use agui_i18n::Language;
use agui_iac_code::{ErrorCode, ErrorNotice};

/// The text of a notice.
pub(crate) fn render(language: Language, notice: &ErrorNotice) -> String {
    agui_i18n::notice(language, notice).into_owned()
}

/// The refusal for a fault of the server.
pub(crate) fn internal_problem(language: Language) -> Problem {
    let notice = ErrorNotice::new(ErrorCode::InternalError);
    Problem::new(notice.code.spec().status, notice.code.as_str(), render(language, &notice))
}
