use memchr::memmem;

const REPLACEMENT_ESCAPE: &[u8] = b"\\ufffd";
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();
/// Bytes of one `\uXXXX` escape.
const ESCAPE_BYTES: usize = 6;
/// Bytes of the longest character in UTF-8.
const MAX_CHARACTER_BYTES: usize = 4;
/// What a JavaScript or Python encoder writes for numbers that JSON does not have.
const NON_NUMBERS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

/// Whether `json` has an escape in the surrogate range, paired or not. Cheap: one search.
///
/// The JSON library skips escapes inside free-form values, so a lone surrogate can pass it and break the
/// next reader; when this is true, ask [`sanitize`].
///
/// Example: see [`sanitize`].
#[must_use]
pub fn has_surrogate_escape(json: &[u8]) -> bool {
    memmem::find_iter(json, b"\\u").any(|at| is_surrogate(&json[at..]))
}

/// Repairs JSON text that strict readers refuse; `None` if there is nothing to repair.
///
/// Outside strings `NaN`, `Infinity` and `-Infinity` become `null`; inside strings lone surrogate
/// escapes become `\ufffd`; bytes that are no UTF-8 become U+FFFD. Everything else is left alone, other
/// faults included. One pass without recursion.
///
/// ```
/// use a2a_wire::{has_surrogate_escape, sanitize};
///
/// let json = br#"{"share":NaN,"text":"cut \ud83d"}"#;
/// assert!(has_surrogate_escape(json));
/// assert_eq!(sanitize(json).as_deref(), Some(&br#"{"share":null,"text":"cut \ufffd"}"#[..]));
/// assert_eq!(sanitize(br#"{"text":"\ud83d\ude00"}"#), None);
/// ```
#[must_use]
pub fn sanitize(json: &[u8]) -> Option<Vec<u8>> {
    let mut repair = Repair { json, out: Vec::new(), copied: 0 };
    let mut at = 0;
    let mut in_string = false;
    while let Some(&byte) = json.get(at) {
        at = match byte {
            b'"' => {
                in_string = !in_string;
                at + 1
            }
            b'\\' if in_string => repair.escape(at),
            b'N' | b'I' | b'-' if !in_string => repair.number(at),
            0x80.. => repair.character(at),
            _ => at + 1,
        };
    }
    repair.finish()
}

struct Repair<'a> {
    json: &'a [u8],
    out: Vec<u8>,
    /// Where the input begins that is not in `out` yet.
    copied: usize,
}

impl Repair<'_> {
    /// Handles the backslash at `at`; returns where to go on.
    fn escape(&mut self, at: usize) -> usize {
        let rest = &self.json[at..];
        if !is_surrogate(rest) {
            // What follows is skipped too, unless it is no escape at all and needs a look of its own.
            return if rest.get(1).is_some_and(u8::is_ascii) { at + 2 } else { at + 1 };
        }
        let is_pair = is_high(rest) && rest.get(ESCAPE_BYTES..).is_some_and(is_low);
        if is_pair {
            return at + 2 * ESCAPE_BYTES;
        }
        self.replace(at, ESCAPE_BYTES, REPLACEMENT_ESCAPE)
    }

    fn number(&mut self, at: usize) -> usize {
        match NON_NUMBERS.iter().find(|name| self.json[at..].starts_with(name)) {
            Some(name) => self.replace(at, name.len(), b"null"),
            None => at + 1,
        }
    }

    /// Handles the non-ASCII character at `at`.
    fn character(&mut self, at: usize) -> usize {
        let window = &self.json[at..self.json.len().min(at + MAX_CHARACTER_BYTES)];
        let Some(chunk) = window.utf8_chunks().next() else { return at + 1 };
        match chunk.valid().chars().next() {
            Some(character) => at + character.len_utf8(),
            None => self.replace(at, chunk.invalid().len(), REPLACEMENT),
        }
    }

    fn replace(&mut self, at: usize, length: usize, by: &[u8]) -> usize {
        self.out.extend_from_slice(&self.json[self.copied..at]);
        self.out.extend_from_slice(by);
        self.copied = at + length;
        self.copied
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        if self.copied == 0 {
            return None;
        }
        self.out.extend_from_slice(&self.json[self.copied..]);
        Some(self.out)
    }
}

fn is_surrogate(bytes: &[u8]) -> bool {
    is_high(bytes) || is_low(bytes)
}

fn is_high(bytes: &[u8]) -> bool {
    has_escape(bytes, b"89abAB")
}

fn is_low(bytes: &[u8]) -> bool {
    has_escape(bytes, b"cdefCDEF")
}

fn has_escape(bytes: &[u8], second_digit: &[u8]) -> bool {
    matches!(bytes, [b'\\', b'u', b'd' | b'D', second, third, fourth, ..]
        if second_digit.contains(second) && third.is_ascii_hexdigit() && fourth.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_strict_readers_refuse_is_changed() {
        let cases: &[(&[u8], Option<&str>)] = &[
            (br#"{"a":"plan \ud83d done"}"#, Some(r#"{"a":"plan \ufffd done"}"#)),
            (br#"{"a":"\udc4d"}"#, Some(r#"{"a":"\ufffd"}"#)),
            (br#"{"a":"\uD83D\uD83D\uDC4D"}"#, Some(r#"{"a":"\ufffd\uD83D\uDC4D"}"#)),
            (br#"{"a":"\ud83d\\udc4d"}"#, Some(r#"{"a":"\ufffd\\udc4d"}"#)),
            (br#"{"a":"\\ud83d","b":"\ud83d\udc4d"}"#, None),
            (br#"{"cpu":NaN,"x":[Infinity,-Infinity,-1]}"#, Some(r#"{"cpu":null,"x":[null,null,-1]}"#)),
            (br#"{"a":"NaN -Infinity \" NaN","n":-0}"#, None),
            (b"{\"a\":\"\xff\xe4\xbd\xa0\"}", Some("{\"a\":\"\u{fffd}\u{4f60}\"}")),
            (b"{\"a\":\"\xe4\xbd\"}", Some("{\"a\":\"\u{fffd}\"}")),
            (b"\"\xe4", Some("\"\u{fffd}")),
            (b"\"\\\xe4", Some("\"\\\u{fffd}")),
            ("{\"a\":\"\u{2028}\u{1f44d}\"}".as_bytes(), None),
            (br#"{"n":1234567890123456789,"e":1E400}"#, None),
            (br#"{"a":"\u"#, None),
            (b"\"\\", None),
            (b"", None),
        ];
        for (json, expected) in cases {
            let repaired = sanitize(json).map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(repaired.as_deref(), *expected, "{}", String::from_utf8_lossy(json));
        }
    }

    #[test]
    fn surrogate_escapes_are_noticed() {
        let cases = [
            (r#""\ud83d""#, true),
            (r#""\uDC4d""#, true),
            (r#""\u4f60\ud83d\udc4d""#, true),
            (r#""\u4f60\n""#, false),
            (r#""\ud7ff""#, false),
            (r#""\ud83""#, false),
        ];
        for (json, expected) in cases {
            assert_eq!(has_surrogate_escape(json.as_bytes()), expected, "{json}");
        }
    }

    #[test]
    fn deep_nesting_is_no_recursion() {
        let mut json = "[".repeat(100_000);
        json.push_str("NaN");
        json.push_str(&"]".repeat(100_000));
        assert_eq!(sanitize(json.as_bytes()).map(|bytes| bytes.len()), Some(200_004));
    }
}
