//! JSON that some encoders write although no reader has to take it.

/// Bytes of one `\uXXXX` escape.
const ESCAPE_BYTES: usize = 6;

/// The text with `null` for `NaN` and the infinities, and U+FFFD for lone surrogates and for bytes that are
/// no UTF-8. Other faults stay. One pass, no recursion.
pub(super) fn mended(json: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(json);
    let mut rest = text.as_bytes();
    let mut out = Vec::with_capacity(rest.len());
    let mut in_string = false;
    while let Some((&byte, tail)) = rest.split_first() {
        let (taken, written): (usize, Option<&[u8]>) = match byte {
            b'"' => {
                in_string = !in_string;
                (1, None)
            }
            b'\\' if in_string => escape(rest),
            b'N' if !in_string && tail.starts_with(b"aN") => (3, Some(b"null")),
            b'I' if !in_string && tail.starts_with(b"nfinity") => (8, Some(b"null")),
            b'-' if !in_string && tail.starts_with(b"Infinity") => (9, Some(b"null")),
            _ => (1, None),
        };
        let (piece, after) = rest.split_at(taken.min(rest.len()));
        out.extend_from_slice(written.unwrap_or(piece));
        rest = after;
    }
    out
}

/// Length of the escape that `rest` begins with, and what takes its place.
fn escape(rest: &[u8]) -> (usize, Option<&'static [u8]>) {
    match surrogate(rest) {
        None => (2, None),
        Some(Surrogate::High) if rest.get(ESCAPE_BYTES..).and_then(surrogate) == Some(Surrogate::Low) => {
            (2 * ESCAPE_BYTES, None)
        }
        Some(_) => (ESCAPE_BYTES, Some(b"\\ufffd")),
    }
}

#[derive(PartialEq, Eq)]
enum Surrogate {
    High,
    Low,
}

fn surrogate(bytes: &[u8]) -> Option<Surrogate> {
    let [b'\\', b'u', b'd' | b'D', second, third, fourth, ..] = bytes else { return None };
    if !third.is_ascii_hexdigit() || !fourth.is_ascii_hexdigit() {
        return None;
    }
    match second {
        b'8' | b'9' | b'a' | b'b' | b'A' | b'B' => Some(Surrogate::High),
        b'c'..=b'f' | b'C'..=b'F' => Some(Surrogate::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_no_json_changes() {
        let cases: [(&[u8], &str); 9] = [
            (br#"{"a":NaN,"b":[Infinity,-Infinity,-1]}"#, r#"{"a":null,"b":[null,null,-1]}"#),
            (br#"{"a":"NaN \" Infinity"}"#, r#"{"a":"NaN \" Infinity"}"#),
            (br#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (br#""\ud83d""#, r#""\ufffd""#),
            (br#""\ude00\uD83D\uD83D\uDE00x""#, r#""\ufffd\ufffd\uD83D\uDE00x""#),
            (br#""\\ud83d""#, r#""\\ud83d""#),
            (b"\"\xff\xe2\x82\xac\"", "\"\u{fffd}\u{20ac}\""),
            (br#""\"#, r#""\"#),
            (b"", ""),
        ];
        for (given, expected) in cases {
            assert_eq!(String::from_utf8(mended(given)).unwrap(), expected);
        }
    }
}
