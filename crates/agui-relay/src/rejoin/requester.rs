//! Whose a request is.

use agui_store::Digest;

/// Tells requesters apart. A run is nobody else's to read or to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Requester(Digest);

impl Requester {
    /// The requester that `headers` tell of, by those of these lower-case names. An empty one tells nothing.
    pub(super) fn of(names: &[Box<str>], headers: &[(Box<str>, Box<str>)]) -> Self {
        let mut told = Vec::new();
        for name in names {
            for (_, value) in headers.iter().filter(|(known, value)| known == name && !value.is_empty()) {
                for text in [name, value] {
                    told.extend(text.len().to_be_bytes());
                    told.extend(text.as_bytes());
                }
            }
        }
        Self(Digest::of(&told))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Headers<'a> = &'a [(&'a str, &'a str)];

    fn of(headers: Headers<'_>) -> Requester {
        let headers: Vec<(Box<str>, Box<str>)> =
            headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Requester::of(&["a".into(), "b".into()], &headers)
    }

    #[test]
    fn values_and_names_count_and_what_is_empty_or_not_asked_for_does_not() {
        let same: [(Headers<'_>, Headers<'_>); 3] = [
            (&[("a", "1"), ("b", "2")], &[("b", "2"), ("c", "3"), ("a", "1")]),
            (&[("a", "1")], &[("a", "1"), ("b", "")]),
            (&[], &[("c", "3")]),
        ];
        for (one, other) in same {
            assert_eq!(of(one), of(other), "{one:?} {other:?}");
        }
        let different: [(Headers<'_>, Headers<'_>); 5] = [
            (&[], &[("a", "1")]),
            (&[("a", "1")], &[("b", "1")]),
            (&[("a", "1")], &[("a", "2")]),
            (&[("a", "1")], &[("a", "1"), ("a", "1")]),
            (&[("a", "1b"), ("b", "2")], &[("a", "1"), ("b", "b2")]),
        ];
        for (one, other) in different {
            assert_ne!(of(one), of(other), "{one:?} {other:?}");
        }
    }
}
