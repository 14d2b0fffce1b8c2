//! Percent-decoding of path segments and query parts.

use std::borrow::Cow;

/// Decodes `%XX` in a path segment; `None` if an escape is malformed or the result is no UTF-8.
pub(crate) fn decode_segment(text: &str) -> Option<Cow<'_, str>> {
    decode(text, false)
}

/// As [`decode_segment`], and `+` is a space, as HTML forms write it.
pub(crate) fn decode_query(text: &str) -> Option<Cow<'_, str>> {
    decode(text, true)
}

fn decode(text: &str, plus_is_space: bool) -> Option<Cow<'_, str>> {
    if !text.bytes().any(|byte| byte == b'%' || (plus_is_space && byte == b'+')) {
        return Some(Cow::Borrowed(text));
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => hex(bytes.next()?)? << 4 | hex(bytes.next()?)?,
            b'+' if plus_is_space => b' ',
            other => other,
        });
    }
    String::from_utf8(out).ok().map(Cow::Owned)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_and_malformed_ones_refused() {
        let table = [
            ("exec-1", Some("exec-1")),
            ("a%2Fb", Some("a/b")),
            ("%e4%bd%a0", Some("你")),
            ("a+b", Some("a+b")),
            ("%", None),
            ("%4", None),
            ("%zz", None),
            ("%ff", None),
            ("%+1", None),
        ];
        for (text, expected) in table {
            assert_eq!(decode_segment(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_plus_in_a_query_is_a_space() {
        assert_eq!(decode_query("a+b%2B").as_deref(), Some("a b+"));
    }

    proptest::proptest! {
        #[test]
        fn what_was_escaped_comes_back(text in ".*") {
            let escaped: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let decoded = decode_query(&escaped);
            proptest::prop_assert_eq!(decoded.as_deref(), Some(&*text));
        }

        #[test]
        fn no_text_is_too_strange(text in "[%+0-9a-fé\\x00]*") {
            let decoded = decode_segment(&text).map(|decoded| decoded.len() <= text.len());
            proptest::prop_assert_ne!(decoded, Some(false));
        }
    }
}
