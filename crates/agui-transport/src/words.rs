//! The language of a text, and the text.

use std::borrow::Cow;

use agui_core::Problem;
use agui_i18n::Language;
use agui_iac_code::{ErrorCode, ErrorNotice};
use serde::Deserialize;

/// The text of a notice.
pub(crate) fn render(language: Language, notice: &ErrorNotice) -> String {
    agui_i18n::notice(language, notice).into_owned()
}

/// The refusal for a fault of the server.
pub(crate) fn internal_problem(language: Language) -> Problem {
    let notice = ErrorNotice::new(ErrorCode::InternalError);
    Problem::new(notice.code.spec().status, notice.code.as_str(), render(language, &notice))
}

/// The language that the body of a run asks for (S1.6), as far as it can be read.
///
/// Asked only when the body was refused, so that the refusal is told in the right language.
pub(crate) fn preferred_language(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Input<'a> {
        #[serde(borrow, rename = "forwardedProps")]
        forwarded_props: Props<'a>,
    }

    #[derive(Deserialize)]
    struct Props<'a> {
        #[serde(borrow, rename = "iacCode")]
        iac_code: Extension<'a>,
    }

    #[derive(Deserialize)]
    struct Extension<'a> {
        #[serde(borrow, rename = "preferredLanguage")]
        preferred_language: Cow<'a, str>,
    }

    let input: Input<'_> = serde_json::from_slice(body).ok()?;
    Some(input.forwarded_props.iac_code.preferred_language.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_language_is_found_in_a_body_that_is_wrong_elsewhere() {
        let body = br#"{"threadId":7,"forwardedProps":{"x":1,"iacCode":{"preferredLanguage":"fr"}}}"#;
        assert_eq!(preferred_language(body).as_deref(), Some("fr"));
        for body in ["", "[]", "{}", r#"{"forwardedProps":{"iacCode":{"preferredLanguage":7}}}"#] {
            assert_eq!(preferred_language(body.as_bytes()), None, "{body}");
        }
    }
}
