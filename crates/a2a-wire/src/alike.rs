use std::borrow::Cow;
use std::fmt;

use crate::tolerant::Text;

/// A JSON text to recognise others by that differ from it in one string only.
///
/// An agent that streams its answer repeats the same members around every piece of text. Comparing them costs
/// a small part of reading them again.
///
/// ```
/// use a2a_wire::Alike;
///
/// let first = r#"{"state":"working","text":"Hel"}"#;
/// let text = &first[27..30];
/// assert_eq!(text, "Hel");
/// let alike = Alike::new(first.as_bytes(), text).expect("it is a whole string of the text");
/// assert_eq!(alike.text(br#"{"state":"working","text":"lo"}"#).as_deref(), Some("lo"));
/// assert_eq!(alike.text(br#"{"state":"failed","text":"lo"}"#), None);
/// ```
#[derive(Clone)]
pub struct Alike {
    /// Up to and with the opening quote.
    before: Box<[u8]>,
    /// From the closing quote on.
    after: Box<[u8]>,
}

impl Alike {
    /// Takes `json`, which was read without an error, and the string in it that may differ.
    ///
    /// `None` if `text` is not borrowed from `json`: then it stood there with escapes, or somewhere else.
    #[must_use]
    pub fn new(json: &[u8], text: &str) -> Option<Self> {
        let start = text.as_ptr().addr().checked_sub(json.as_ptr().addr())?;
        let (before, rest) = json.split_at_checked(start)?;
        let after = rest.strip_prefix(text.as_bytes())?;
        let is_whole = before.ends_with(b"\"") && after.starts_with(b"\"");
        is_whole.then(|| Self { before: before.into(), after: after.into() })
    }

    /// The string that `json` has in that place, if everything else is the same, byte for byte.
    #[must_use]
    pub fn text<'a>(&self, json: &'a [u8]) -> Option<Cow<'a, str>> {
        let end = json.len().checked_sub(self.after.len())?;
        let is_alike =
            end >= self.before.len() && json.starts_with(&self.before) && json.ends_with(&self.after);
        let string = if is_alike { json.get(self.before.len() - 1..=end)? } else { return None };
        serde_json::from_slice(string).ok().map(|Text(text)| text)
    }
}

impl fmt::Debug for Alike {
    /// The content is left out; it may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alike").field("bytes", &(self.before.len() + self.after.len())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_string_may_differ_and_nothing_else() {
        let json = r#"{"a":"x","text":"first","b":1}"#;
        let alike = Alike::new(json.as_bytes(), &json[17..22]).unwrap();
        let cases: [(&[u8], Option<&str>); 12] = [
            (br#"{"a":"x","text":"first","b":1}"#, Some("first")),
            (br#"{"a":"x","text":"","b":1}"#, Some("")),
            (r#"{"a":"x","text":"你好","b":1}"#.as_bytes(), Some("你好")),
            (br#"{"a":"x","text":"a\n\"\u00e9","b":1}"#, Some("a\n\"é")),
            (br#"{"a":"y","text":"first","b":1}"#, None),
            (br#"{"a":"x","text":"first","b":2}"#, None),
            (br#"{"a":"x","text":"a","text":"b","b":1}"#, None),
            (br#"{"a":"x","text":"a\","b":1}"#, None),
            (br#"{"a":"x","text":"\ud83d","b":1}"#, None),
            (b"{\"a\":\"x\",\"text\":\"\xff\",\"b\":1}", None),
            (b"{\"a\":\"x\",\"text\":\"\n\",\"b\":1}", None),
            (br#"{"a":"x","text":","b":1}"#, None),
        ];
        for (json, text) in cases {
            assert_eq!(alike.text(json).as_deref(), text, "{}", String::from_utf8_lossy(json));
        }
    }

    #[test]
    fn only_a_whole_string_of_the_text_is_taken() {
        let json = r#"{"text":"first"}"#;
        assert!(Alike::new(json.as_bytes(), &json[9..14]).is_some());
        for text in [&json[9..13], &json[10..14], "first", ""] {
            assert!(Alike::new(json.as_bytes(), text).is_none(), "{text}");
        }
    }

    #[test]
    fn debug_output_holds_no_content() {
        let json = r#"{"text":"sk-1"}"#;
        assert_eq!(
            format!("{:?}", Alike::new(json.as_bytes(), &json[9..13]).unwrap()),
            "Alike { bytes: 11 }"
        );
    }
}
