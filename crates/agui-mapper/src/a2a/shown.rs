//! The text that this run has shown in its normal turn.

use std::borrow::Cow;
use std::collections::HashSet;

use super::digest;
use super::source::{Kept, Source};
use crate::position::ShownText;

/// Most bytes of shown text that are remembered for comparing; a longer text is no longer compared.
const MAX_REMEMBERED_BYTES: usize = 1 << 20;

/// Most messages of a run whose digests are kept: a Task repeats about as many, 100, in its history.
const MAX_MESSAGES: usize = 128;

/// Most stretches of text that are remembered: each look at a Task goes through them.
const MAX_STRANDS: usize = 1 << 14;

/// What is missing of a text that repeats what was shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Missing<'t> {
    Nothing,
    /// The end, which goes on where the shown text stopped.
    Rest(&'t str),
    /// It is another text.
    All,
}

#[derive(Debug, Default)]
pub(super) struct Shown {
    text: String,
    strands: Vec<Strand>,
    /// Where the text after the last tool call begins.
    segment: usize,
    /// Where the text before that tool call begins.
    previous: usize,
    forgotten: bool,
    /// What text was shown of; filled once the text is forgotten.
    seen: HashSet<Kept>,
}

/// A stretch of `text` that belongs to one message or artifact.
#[derive(Debug)]
struct Strand {
    source: Kept,
    start: usize,
}

impl Shown {
    pub(super) fn record(&mut self, source: Source<'_>, text: &str) {
        let is_new = self.last() != Some(source);
        let strands = self.strands.len() + usize::from(is_new);
        if self.text.len() + text.len() > MAX_REMEMBERED_BYTES || strands > MAX_STRANDS {
            let seen = self.strands.drain(..).map(|strand| strand.source).collect();
            *self = Self { forgotten: true, seen, ..Self::default() };
        }
        if self.forgotten {
            if self.seen.len() < MAX_STRANDS {
                self.seen.insert(Kept::new(source));
            }
            return;
        }
        if is_new {
            self.strands.push(Strand { source: Kept::new(source), start: self.text.len() });
        }
        self.text.push_str(text);
    }

    /// Something else was shown: the text that follows is a new piece.
    pub(super) const fn break_segment(&mut self) {
        if self.segment < self.text.len() {
            self.previous = self.segment;
            self.segment = self.text.len();
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether `text` is the latest piece, as a whole.
    pub(super) fn is_latest_piece(&self, text: &str) -> bool {
        let start = if self.segment < self.text.len() { self.segment } else { self.previous };
        self.text[start..].trim() == text.trim()
    }

    /// Whether the text was too long to be compared with.
    pub(super) const fn is_forgotten(&self) -> bool {
        self.forgotten
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.text.is_empty() && !self.forgotten
    }

    /// What text was last shown of.
    pub(super) fn last(&self) -> Option<Source<'_>> {
        self.strands.last().map(|strand| strand.source.get())
    }

    /// Whether anything was shown of a message or artifact.
    pub(super) fn has(&self, source: Source<'_>) -> bool {
        match self.forgotten {
            true => self.seen.contains(&Kept::new(source)),
            false => self.strands.iter().any(|strand| strand.source.get() == source),
        }
    }

    /// The text of one message or artifact; nothing once it is forgotten.
    pub(super) fn of(&self, source: Source<'_>) -> Cow<'_, str> {
        let mut parts = self.parts().filter(|(of, _)| *of == source).map(|(_, text)| text);
        match (parts.next(), parts.next()) {
            (None, _) => Cow::Borrowed(""),
            (Some(only), None) => Cow::Borrowed(only),
            (Some(first), Some(second)) => Cow::Owned([first, second].into_iter().chain(parts).collect()),
        }
    }

    /// What a whole text adds to what was shown.
    ///
    /// The whole text is that of the last message, or that of the turn. A kernel may trim it, although it
    /// passed the deltas on as they came.
    pub(super) fn missing<'t>(&self, whole: &'t str) -> Missing<'t> {
        if self.forgotten {
            return Missing::Nothing;
        }
        let segment = &self.text[self.segment..];
        for shown in [segment, self.text.as_str()] {
            match whole.strip_prefix(shown) {
                Some("") => return Missing::Nothing,
                Some(rest) if !shown.is_empty() => return Missing::Rest(rest),
                _ => {}
            }
        }
        // Right after a tool call only a whole piece is recognised: its end may be equal by chance.
        let ends_like = !segment.is_empty() && self.text.trim_end().ends_with(whole.trim());
        if ends_like || self.is_latest_piece(whole) { Missing::Nothing } else { Missing::All }
    }

    /// As [`missing`](Self::missing), of an agent that does not end a message with pieces of another one: a text
    /// is a repetition only if it begins where a message began.
    ///
    /// So an answer as short as "no" is not lost because something else ended with it.
    pub(super) fn missing_of_messages<'t>(&self, whole: &'t str) -> Missing<'t> {
        let missing = self.missing(whole);
        if missing != Missing::Nothing || self.forgotten {
            return missing;
        }
        let whole = whole.trim();
        let mut messages = self.strands.iter().map(|strand| self.text[strand.start..].trim());
        if messages.any(|shown| shown == whole) { Missing::Nothing } else { Missing::All }
    }

    /// The digests of the text of the latest messages, the oldest first; those of artifacts are kept elsewhere.
    pub(super) fn digests(&self) -> Vec<ShownText> {
        let mut messages: Vec<Source<'_>> = Vec::new();
        for source in self.strands.iter().rev().map(|strand| strand.source.get()) {
            if messages.len() == MAX_MESSAGES {
                break;
            }
            if source.version.is_none() && !messages.contains(&source) {
                messages.push(source);
            }
        }
        messages.into_iter().rev().map(|source| digest::shown(source.id, &self.of(source))).collect()
    }

    fn parts(&self) -> impl Iterator<Item = (Source<'_>, &str)> {
        let ends = self.strands.iter().skip(1).map(|strand| strand.start).chain([self.text.len()]);
        self.strands
            .iter()
            .zip(ends)
            .map(|(strand, end)| (strand.source.get(), &self.text[strand.start..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(parts: &[(&str, &str)]) -> Shown {
        let mut it = Shown::default();
        for (kernel, text) in parts {
            if kernel.is_empty() {
                it.break_segment();
            } else {
                it.record(Source::message(kernel), text);
            }
        }
        it
    }

    #[test]
    fn only_the_missing_rest_of_a_whole_text_is_told() {
        let tool = ("", "");
        let cases = [
            (vec![], "all new", Missing::All),
            (vec![("m", "half an "), ("m", "answer")], "half an answer", Missing::Nothing),
            (vec![("m", "half")], "half an answer", Missing::Rest(" an answer")),
            (vec![("m", "I will."), tool, ("m", "After")], "After the tool.", Missing::Rest(" the tool.")),
            (vec![("m", "I will."), tool, ("m", "After")], "I will.After it", Missing::Rest(" it")),
            (vec![("m", "I will."), tool], "After the tool.", Missing::All),
            (vec![("m", "half an half an answer")], "half an answer", Missing::Nothing),
            (vec![("m", " padded \n")], "padded", Missing::Nothing),
            (vec![("m", "something")], "else", Missing::All),
            (vec![("m", "It is OK"), tool], "OK", Missing::All),
            (vec![("m", "It is OK"), tool], "It is OK", Missing::Nothing),
            (vec![("m", "It is OK"), tool, tool], "It is OK", Missing::Nothing),
            (vec![("m", "One. "), tool, ("m", "Two.")], "One. Two.", Missing::Nothing),
        ];
        for (parts, whole, missing) in cases {
            assert_eq!(shown(&parts).missing(whole), missing, "{parts:?} {whole}");
        }
    }

    #[test]
    fn an_answer_is_no_repetition_because_another_message_ends_like_it() {
        let cases = [
            (vec![("m", "Is it yes or no")], "no", Missing::All),
            (vec![("m", "Is it yes or no"), ("n", "no")], "no", Missing::Nothing),
            (vec![("m", "look"), ("n", " a "), ("n", "b\n")], "a b", Missing::Nothing),
            (vec![("m", "look"), ("n", "a"), ("o", "b")], "ab", Missing::Nothing),
            (vec![("m", "half")], "half an answer", Missing::Rest(" an answer")),
            (vec![], "all new", Missing::All),
        ];
        for (parts, whole, missing) in cases {
            assert_eq!(shown(&parts).missing_of_messages(whole), missing, "{parts:?} {whole}");
        }
    }

    #[test]
    fn text_is_kept_by_message() {
        let it = shown(&[("a", "1"), ("a", "2"), ("b", "3"), ("a", "4")]);
        let of = |id| it.of(Source::message(id));
        assert_eq!((of("a"), of("b"), of("c")), ("124".into(), "3".into(), "".into()));
        let messages: Vec<_> =
            it.digests().into_iter().map(|entry| (entry.message_id, entry.bytes)).collect();
        assert_eq!(messages, [("b".to_owned(), 1), ("a".to_owned(), 3)]);
    }

    #[test]
    fn a_very_long_text_is_forgotten_and_never_repeated() {
        let mut it = Shown::default();
        it.record(Source::message("m"), &"x".repeat(MAX_REMEMBERED_BYTES));
        it.record(Source::message("m"), "y");
        assert!(!it.is_empty());
        assert_eq!(it.missing("y"), Missing::Nothing);
        assert_eq!(it.digests(), []);
    }
}
