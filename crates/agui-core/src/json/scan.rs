//! One pass over JSON text: limits before parsing, the normal form of passed-through JSON after it.

/// Deepest nesting of arrays and objects that is read; deeper input is refused.
///
/// Recursive readers behind this one (most languages have one) overflow somewhere above a thousand
/// levels, and `serde_json` stops at the same number.
///
/// Source: AG-UI 1.0 names no limit; the cap is ours.
pub const MAX_JSON_DEPTH: usize = 128;

/// Longest number that is read, in bytes of its text.
///
/// Numbers are passed through as text, but peers turn them into integers: Python refuses more than
/// 4,300 digits, and the work grows with the square of the length.
///
/// Source: AG-UI 1.0 names no limit; the cap is ours.
pub const MAX_NUMBER_BYTES: usize = 1_024;

/// Whether `json` stays within [`MAX_JSON_DEPTH`] and [`MAX_NUMBER_BYTES`].
///
/// Says nothing about whether it is JSON; strings are skipped by the rules of JSON.
pub(crate) fn within_limits(json: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut number_bytes = 0_usize;
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'0'..=b'9' | b'.' | b'+' | b'-' | b'e' | b'E' => {
                number_bytes += 1;
                if number_bytes > MAX_NUMBER_BYTES {
                    return false;
                }
                continue;
            }
            b'"' => skip_string(&mut bytes),
            b'[' | b'{' => {
                depth += 1;
                if depth > MAX_JSON_DEPTH {
                    return false;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        number_bytes = 0;
    }
    true
}

/// Consumes up to the closing quote of a string whose opening quote is already consumed.
fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

/// The one-line form of valid JSON without lone surrogate escapes; `None` if `json` is in it already.
pub(crate) fn normalized(json: &str) -> Option<String> {
    let whole = if json.contains("\\u") { replace_lone_surrogates(json) } else { None };
    let text = whole.as_deref().unwrap_or(json);
    // A raw line break is never part of a string, so each one is insignificant.
    if text.contains(['\n', '\r']) { Some(minified(text)) } else { whole }
}

/// Takes out the whitespace between tokens.
fn minified(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut in_string = false;
    let mut escaped = false;
    for ch in json.chars() {
        if in_string {
            in_string = escaped || ch != '"';
            escaped = !escaped && ch == '\\';
        } else if matches!(ch, ' ' | '\t' | '\n' | '\r') {
            continue;
        } else {
            in_string = ch == '"';
        }
        out.push(ch);
    }
    out
}

/// Writes `\ufffd` for each `\u` escape that is half of a surrogate pair; `None` if there is none.
pub(crate) fn replace_lone_surrogates(json: &str) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = json[at..].find('\\') {
        let start = at + found;
        match escaped_unit(json, start) {
            Some(0xD800..=0xDBFF) if matches!(escaped_unit(json, start + 6), Some(0xDC00..=0xDFFF)) => {
                at = start + 12;
            }
            Some(0xD800..=0xDFFF) => {
                out.push_str(&json[copied..start]);
                out.push_str("\\ufffd");
                at = start + 6;
                copied = at;
            }
            Some(_) => at = start + 6,
            None => at = next_char_boundary(json, start + 2),
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&json[copied..]);
    Some(out)
}

/// The UTF-16 unit of a `\uXXXX` escape at `start`, if one is there.
fn escaped_unit(json: &str, start: usize) -> Option<u16> {
    let digits = json.get(start..start + 6)?.strip_prefix("\\u")?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

fn next_char_boundary(json: &str, from: usize) -> usize {
    (from.min(json.len())..=json.len()).find(|&i| json.is_char_boundary(i)).unwrap_or(json.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c69_depth_and_number_length_are_capped() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let digits = |count: usize| format!("{{\"n\":{}}}", "9".repeat(count));
        let cases = [
            (nested(MAX_JSON_DEPTH), true),
            (nested(MAX_JSON_DEPTH + 1), false),
            (nested(20_000), false),
            (digits(MAX_NUMBER_BYTES), true),
            (digits(MAX_NUMBER_BYTES + 1), false),
            (format!("\"{}\"", "[".repeat(500)), true),
            (format!("\"{}\"", "1".repeat(5_000)), true),
            (format!("\"\\\"{}\"", "[".repeat(500)), true),
            (format!("[{}]", "[],".repeat(400)), true),
        ];
        for (json, expected) in cases {
            assert_eq!(within_limits(json.as_bytes()), expected, "{}", &json[..json.len().min(40)]);
        }
    }

    #[test]
    fn normal_form_is_one_line_and_has_no_lone_surrogates() {
        let cases = [
            (r#"{"a": 1}"#, None),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud83d""#, None),
            (r#""\u00e9""#, None),
            ("{\n  \"a\" : \"x y\\n\\\" {\"\r\n}", Some(r#"{"a":"x y\n\" {"}"#)),
            (r#""\ud83d done""#, Some(r#""\ufffd done""#)),
            (r#""\ude00\ud83d""#, Some(r#""\ufffd\ufffd""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\\\ud83d""#, Some(r#""\\\ufffd""#)),
            ("[\n\"\\ud83d\"]", Some(r#"["\ufffd"]"#)),
        ];
        for (json, expected) in cases {
            assert_eq!(normalized(json).as_deref(), expected, "{json}");
        }
    }
}
