//! The part of regular expressions that scripts use: literals, `.*` and `|`.

use crate::error::TestkitError;

/// A pattern; it may match anywhere in the text, and `.*` crosses lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Alternatives, each the literals between its `.*`.
    alternatives: Vec<Vec<String>>,
}

impl Pattern {
    pub(super) fn parse(text: &str) -> Result<Self, TestkitError> {
        let mut alternatives = Vec::new();
        for alternative in text.split('|') {
            let literals: Vec<String> = alternative.split(".*").map(str::to_owned).collect();
            let special = |c: &char| r".^$*+?{}[]\()".contains(*c);
            if let Some(found) = literals.iter().flat_map(|literal| literal.chars()).find(special) {
                return Err(TestkitError::Pattern(found));
            }
            alternatives.push(literals);
        }
        Ok(Self { alternatives })
    }

    /// Whether some part of the text matches.
    pub(super) fn found_in(&self, text: &str) -> bool {
        self.alternatives.iter().any(|literals| {
            let mut rest = text;
            literals.iter().all(|literal| match rest.find(literal.as_str()) {
                Some(at) => {
                    rest = &rest[at + literal.len()..];
                    true
                }
                None => false,
            })
        })
    }

    /// Whether the whole text matches.
    pub(super) fn is_whole(&self, text: &str) -> bool {
        self.alternatives.iter().any(|literals| match literals.as_slice() {
            [only] => only == text,
            [first, middle @ .., last] => {
                let Some(inner) =
                    text.strip_prefix(first.as_str()).and_then(|t| t.strip_suffix(last.as_str()))
                else {
                    return false;
                };
                Self { alternatives: vec![middle.to_vec()] }.found_in(inner)
            }
            [] => text.is_empty(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_as_the_regular_expression_would() {
        for (pattern, text, found, whole) in [
            ("hold", "please hold on", true, false),
            ("hold", "hold", true, true),
            ("hold", "told", false, false),
            ("生成.*ha-ecs", "生成 x\nha-ecs。", true, false),
            ("生成.*ha-ecs", "ha-ecs 生成", false, false),
            ("执行.*部署|部署", "部署", true, true),
            ("a.*b.*c", "a1b2c", true, true),
            ("a.*b.*c", "ac b", false, false),
            ("aa.*aa", "aaa", false, false),
            ("", "anything", true, false),
        ] {
            let parsed = Pattern::parse(pattern).unwrap();
            assert_eq!(
                (parsed.found_in(text), parsed.is_whole(text)),
                (found, whole),
                "{pattern:?} in {text:?}"
            );
        }
    }

    #[test]
    fn what_the_matcher_does_not_know_is_refused() {
        for (pattern, found) in [("a+", '+'), ("^a", '^'), ("a.b", '.'), (r"\d", '\\'), ("(a)", '(')] {
            assert!(
                matches!(Pattern::parse(pattern), Err(TestkitError::Pattern(c)) if c == found),
                "{pattern}"
            );
        }
    }
}
