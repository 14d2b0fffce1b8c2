//! Keeping one event short: long deltas are split, long results are cut.

/// Longest JSON text of one delta in bytes.
///
/// Some readers of event streams refuse lines above 64 KiB; the rest of the line is ids.
pub(crate) const MAX_DELTA_BYTES: usize = 60_000;

/// Longest JSON form of one byte of text: `\u001f`.
const MAX_ESCAPE_BYTES: usize = 6;

/// The pieces of a delta, each short enough for one event and split between characters.
#[derive(Debug, Clone)]
pub(crate) struct Pieces<'a>(&'a str);

/// Splits `text`; an empty text has no pieces.
pub(crate) const fn pieces(text: &str) -> Pieces<'_> {
    Pieces(text)
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.0.is_empty() {
            return None;
        }
        let (piece, rest) = self.0.split_at(fitting(self.0, MAX_DELTA_BYTES));
        self.0 = rest;
        Some(piece)
    }
}

/// The length of the longest beginning of `text` whose JSON form has at most `max` bytes.
///
/// It is at least one character long, so that splitting makes progress whatever `max` is.
pub(crate) fn fitting(text: &str, max: usize) -> usize {
    if text.len() <= max / MAX_ESCAPE_BYTES {
        return text.len();
    }
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += escaped_bytes(character);
        if used > max && at > 0 {
            return at;
        }
    }
    text.len()
}

const fn escaped_bytes(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => MAX_ESCAPE_BYTES,
        other => other.len_utf8(),
    }
}

/// `text`, or its beginning and a note of what is left out when its JSON form is longer than `max` bytes.
pub(crate) fn cut(text: &str, max: usize) -> String {
    let kept = fitting(text, max);
    if kept == text.len() {
        return text.to_owned();
    }
    format!("{}\n[... {} bytes left out]", &text[..kept], text.len() - kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json_bytes(text: &str) -> usize {
        serde_json::to_string(text).unwrap().len() - 2
    }

    #[test]
    fn c65_long_deltas_are_split_between_characters() {
        for text in ["x".repeat(200_000), "\u{1f600}".repeat(40_000), "\u{1}\n\"".repeat(30_000)] {
            let pieces: Vec<&str> = pieces(&text).collect();
            assert_eq!(pieces.concat(), text);
            assert!(pieces.len() > 1);
            assert!(pieces.iter().all(|piece| json_bytes(piece) <= MAX_DELTA_BYTES));
        }
    }

    #[test]
    fn short_and_empty_texts_are_left_alone() {
        assert_eq!(pieces("").count(), 0);
        assert_eq!(pieces("one").collect::<Vec<_>>(), ["one"]);
    }

    #[test]
    fn c65_long_results_are_cut_with_a_note() {
        assert_eq!(cut("short", 100), "short");
        let cut = cut(&"y".repeat(70_000), MAX_DELTA_BYTES);
        assert_eq!(&cut[MAX_DELTA_BYTES - 1..], "y\n[... 10000 bytes left out]");
    }
}
