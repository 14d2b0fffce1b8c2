//! Text from elsewhere, made harmless for a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text without anything that a terminal would obey.
///
/// Line feeds and tabs stay. Control characters, which can move the cursor, colour, rename the window,
/// write to the clipboard or answer in the user's name, become their pictures (`␛`); so do those of C1, which
/// some terminals obey as well, and marks that turn the direction of writing become `�`.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // The line ends of other systems are line ends.
        if c == '\r' && rest.peek() == Some(&'\n') {
            continue;
        }
        out.push(if is_harmful(c) { picture(c) } else { c });
    }
    Cow::Owned(out)
}

/// As [`plain`], and on one line of at most `limit` characters.
pub(crate) fn line(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for (index, c) in text.trim().chars().enumerate() {
        if index == limit {
            out.push('…');
            break;
        }
        out.push(match c {
            '\n' | '\t' | '\r' => ' ',
            c if is_harmful(c) => picture(c),
            c => c,
        });
    }
    out
}

/// The text as one word of a shell, for commands that are shown to be copied: an id is an agent's choice.
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '=' | '/');
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", line(text, usize::MAX).replace('\'', r"'\''"))
}

/// JSON text in which whatever a terminal would obey is escaped; it means the same.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    // Other control characters cannot stand in JSON unescaped.
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_harmful(c) {
            // Writing to a string does not fail.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

const fn is_harmful(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{2028}' | '\u{2029}')
}

fn picture(c: char) -> char {
    match u32::from(c) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        let cases = [
            ("Grüße 👩‍👩‍👧 \tx\ny", "Grüße 👩‍👩‍👧 \tx\ny"),
            ("\u{1b}[31mred\u{1b}[0m", "␛[31mred␛[0m"),
            ("\u{1b}]52;c;cm0gLXJmIH4=\u{7}", "␛]52;c;cm0gLXJmIH4=␇"),
            ("a\r\nb\rc", "a\nb␍c"),
            ("\u{9b}2J\u{7f}\0", "�2J␡␀"),
            ("user\u{202e}nimda\u{2069}", "user�nimda�"),
        ];
        for (text, expected) in cases {
            assert_eq!(plain(text), expected, "{text:?}");
        }
        for code in 0..=0x9f {
            let c = char::from_u32(code).unwrap();
            let shown = plain(c.encode_utf8(&mut [0; 4])).into_owned();
            assert!(shown == "\n" || shown == "\t" || !shown.chars().any(char::is_control), "{code:#x}");
        }
    }

    #[test]
    fn one_line_stays_one_line_and_short() {
        assert_eq!(line(" a\nb\u{1b}c ", 10), "a b␛c");
        assert_eq!(line("äöüß", 2), "äö…");
        assert_eq!(line("äö", 2), "äö");
    }

    #[test]
    fn what_is_shown_to_be_copied_is_one_word() {
        let cases = [
            ("permission-1=JSON", "permission-1=JSON"),
            ("a b", "'a b'"),
            ("x'; rm -r ~; '", r"'x'\''; rm -r ~; '\'''"),
            ("$(id)\n`id`", "'$(id) `id`'"),
            ("", "''"),
        ];
        for (text, expected) in cases {
            assert_eq!(shell_word(text), expected, "{text:?}");
        }
    }

    #[test]
    fn json_means_the_same_and_is_harmless() {
        let text = "{\"a\":\"\u{9b}2J \u{7f} \u{202e}\"}";
        let safe = json(text);
        assert_eq!(safe, r#"{"a":"\u009b2J \u007f \u202e"}"#);
        let (before, after): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(text).unwrap(), serde_json::from_str(&safe).unwrap());
        assert_eq!(before, after);
    }
}
