//! The language that a request asks for (S1.6), as far as it can be read from one that is wrong elsewhere.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input<'a> {
    #[serde(borrow)]
    forwarded_props: Props<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Props<'a> {
    #[serde(borrow)]
    iac_code: Extension<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extension<'a> {
    #[serde(borrow)]
    preferred_language: Cow<'a, str>,
}

/// `forwardedProps.iacCode.preferredLanguage` of a `RunAgentInput` in JSON, whatever else is in it. For the
/// refusal of an input that cannot be read; what can be has it in [`IacCodeProps`](crate::IacCodeProps).
///
/// ```
/// let input = br#"{"threadId":7,"forwardedProps":{"iacCode":{"preferredLanguage":"fr"}}}"#;
/// assert_eq!(agui_iac_code::preferred_language(input).as_deref(), Some("fr"));
/// ```
///
/// Source: S1.6.
#[must_use]
pub fn preferred_language(input: &[u8]) -> Option<String> {
    serde_json::from_slice::<Input<'_>>(input).ok().map(|input| wish(input.forwarded_props))
}

/// The same of the `forwardedProps` alone.
///
/// Example: see [`preferred_language`].
///
/// Source: S1.6.
#[must_use]
pub fn preferred_language_of_props(props: &[u8]) -> Option<String> {
    serde_json::from_slice(props).ok().map(wish)
}

fn wish(props: Props<'_>) -> String {
    props.iac_code.preferred_language.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_language_is_found_in_a_body_that_is_wrong_elsewhere() {
        let body = br#"{"threadId":7,"forwardedProps":{"x":1,"iacCode":{"preferredLanguage":"fr"}}}"#;
        assert_eq!(preferred_language(body).as_deref(), Some("fr"));
        let props = br#"{"x":1,"iacCode":{"preferredLanguage":"fr"}}"#;
        assert_eq!(preferred_language_of_props(props).as_deref(), Some("fr"));
        for body in ["", "[]", "{}", r#"{"forwardedProps":{"iacCode":{"preferredLanguage":7}}}"#] {
            assert_eq!(preferred_language(body.as_bytes()), None, "{body}");
        }
    }
}
