//! Whether a question that is asked again is still the same question.

use agui_iac_code::Raw;
use agui_iac_code::metadata::Input;
use serde_json::Value;

use super::OpenInputKind;

/// Whether two descriptions of a question with one id ask for the same thing.
///
/// Only what both of them say is compared: the places where a question shows up leave out different
/// members. What depends on the language of the request (title, purpose, labels of a permission) does not
/// count, what will happen does.
pub(crate) fn same_question(old: &Input<'_>, new: &Input<'_>) -> bool {
    let texts = [
        (&old.tool_use_id, &new.tool_use_id),
        (&old.tool_name, &new.tool_name),
        (&old.target, &new.target),
        (&old.safe_summary, &new.safe_summary),
        (&old.effect, &new.effect),
    ];
    let texts_agree = texts.iter().all(|pair| match pair {
        (Some(old), Some(new)) => old == new,
        _ => true,
    });
    let selector = |input: &Input<'_>| input.selector.as_ref().map(|selector| selector.raw.get().to_owned());
    texts_agree
        && same_json(old.display_parameters, new.display_parameters)
        && same_json(old.operation, new.operation)
        && same_json(old.deployment_summary, new.deployment_summary)
        && same_text(selector(old).as_deref(), selector(new).as_deref())
        && (OpenInputKind::of(new) == OpenInputKind::Permission || same_answers(old, new))
}

/// Whether two questions offer the same answers; without any to offer, the question itself counts.
fn same_answers(old: &Input<'_>, new: &Input<'_>) -> bool {
    if old.options.is_empty() && new.options.is_empty() {
        return match (&old.prompt, &new.prompt) {
            (Some(old), Some(new)) => old == new,
            _ => true,
        };
    }
    let answers = |input: &Input<'_>| -> Vec<(String, String)> {
        input.choices().into_iter().map(|choice| (choice.id, choice.answer)).collect()
    };
    old.options.is_empty() || new.options.is_empty() || answers(old) == answers(new)
}

fn same_json(old: Option<Raw<'_>>, new: Option<Raw<'_>>) -> bool {
    same_text(old.as_ref().map(|raw| raw.get()), new.as_ref().map(|raw| raw.get()))
}

fn same_text(old: Option<&str>, new: Option<&str>) -> bool {
    let (Some(old), Some(new)) = (old, new) else { return true };
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    old == new
        || match (parse(old), parse(new)) {
            (Some(old), Some(new)) => same_value(&old, &new),
            _ => false,
        }
}

/// Equality whatever the order of members and the spelling of numbers: one place says `1`, another `1.0`.
fn same_value(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Number(old), Value::Number(new)) => {
            old == new || (old.is_f64() != new.is_f64() && old.as_f64() == new.as_f64())
        }
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| same_value(old, new))
        }
        (Value::Object(old), Value::Object(new)) => {
            old.len() == new.len()
                && old.iter().all(|(name, old)| new.get(name).is_some_and(|new| same_value(old, new)))
        }
        _ => old == new,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use crate::interrupt::read;

    fn same(old: &str, new: &str) -> bool {
        let old: &RawValue = serde_json::from_str(old).unwrap();
        let new: &RawValue = serde_json::from_str(new).unwrap();
        same_question(&read(old).unwrap(), &read(new).unwrap())
    }

    #[test]
    fn c77_changed_arguments_make_another_question() {
        let base = r#"{"kind":"permission","safeSummary":"delete d-1","target":"d-1","displayParameters":{"format":"json","value":{"n":1.0,"ids":["d-1"]}}}"#;
        let cases = [
            (base, true),
            (r#"{"kind":"permission","title":"Autre titre","safeSummary":"delete d-1"}"#, true),
            (
                r#"{"kind":"permission","displayParameters":{"value":{"ids":["d-1"],"n":1},"format":"json"}}"#,
                true,
            ),
            (
                r#"{"kind":"permission","displayParameters":{"format":"json","value":{"n":1,"ids":["d-1","d-2"]}}}"#,
                false,
            ),
            (r#"{"kind":"permission","safeSummary":"delete d-1 d-2"}"#, false),
            (r#"{"kind":"permission","target":"d-2"}"#, false),
            (r#"{"kind":"permission"}"#, true),
        ];
        for (other, expected) in cases {
            assert_eq!(same(base, other), expected, "{other}");
        }
    }

    #[test]
    fn c77_questions_are_compared_by_their_answers_or_else_their_words() {
        let cases = [
            (
                r#"{"prompt":"Which?","options":[{"id":"a"}]}"#,
                r#"{"prompt":"Lequel ?","options":[{"id":"a"}]}"#,
                true,
            ),
            (
                r#"{"prompt":"Which?","options":[{"id":"a"}]}"#,
                r#"{"prompt":"Which?","options":[{"id":"b"}]}"#,
                false,
            ),
            (r#"{"prompt":"Which?"}"#, r#"{"prompt":"When?"}"#, false),
            (r#"{"prompt":"Which?"}"#, r#"{"prompt":"Which?"}"#, true),
        ];
        for (old, new, expected) in cases {
            assert_eq!(same(old, new), expected, "{old} {new}");
        }
    }
}
