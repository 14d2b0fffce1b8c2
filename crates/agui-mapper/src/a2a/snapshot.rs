//! Where the unseen part of a message in a Task begins.
//!
//! A Task repeats the text of a message as one history entry per delta, possibly without its beginning.

use super::digest;
use crate::position::ShownText;

/// Shortest piece of shown text in bytes that a position is found by.
const MIN_ANCHOR_BYTES: usize = 8;

/// The offset of the first unseen byte of `entries` joined, or `None` if they can't be aligned with what
/// was shown: `prior` by earlier runs and `shown` by this one.
pub(super) fn first_unseen(prior: &[&ShownText], shown: &str, entries: &[&str]) -> Option<usize> {
    let text = entries.concat();
    let earlier: u64 = prior.iter().map(|entry| entry.bytes).fold(0, u64::saturating_add);
    let expected = usize::try_from(earlier).unwrap_or(usize::MAX).saturating_add(shown.len());
    let anchored = |end: usize| {
        let seen = &text[..end];
        if shown.is_empty() {
            prior.last().is_some_and(|entry| digest::ends_like(entry, seen.as_bytes()))
        } else {
            seen.ends_with(shown) || (seen.len() >= MIN_ANCHOR_BYTES && shown.ends_with(seen))
        }
    };
    if expected == 0 || (text.is_char_boundary(expected) && anchored(expected)) {
        return Some(expected);
    }
    if !shown.is_empty() && text.starts_with(shown) {
        return Some(shown.len());
    }
    // What the first of the earlier runs have shown may lie before the user's answer, and so not be in the text.
    if (0..=prior.len()).any(|first| is_behind(&prior[first..], shown, &text)) {
        return Some(text.len());
    }
    if expected < MIN_ANCHOR_BYTES {
        return None;
    }
    let mut ends: Vec<usize> = Vec::with_capacity(entries.len());
    for entry in entries {
        ends.push(ends.last().copied().unwrap_or(0) + entry.len());
    }
    ends.into_iter().rev().find(|end| anchored(*end))
}

/// Whether a text of a Task ends before what was shown does: the Task is behind what was streamed, or as an
/// earlier run has left it.
pub(super) fn is_behind(prior: &[&ShownText], shown: &str, text: &str) -> bool {
    let mut rest = text;
    for entry in prior {
        let seen = usize::try_from(entry.bytes).ok().and_then(|bytes| rest.split_at_checked(bytes));
        match seen {
            Some((seen, behind)) if digest::whole(seen.as_bytes()) == entry.digest => rest = behind,
            _ => return false,
        }
        if rest.is_empty() {
            return true;
        }
    }
    shown.starts_with(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unseen(prior: &[&str], shown: &str, entries: &[&str]) -> Option<String> {
        let prior: Vec<ShownText> = prior.iter().map(|text| digest::shown("m", text)).collect();
        let prior: Vec<&ShownText> = prior.iter().collect();
        first_unseen(&prior, shown, entries).map(|at| entries.concat()[at..].to_owned())
    }

    #[test]
    fn unseen_text_of_a_task_is_found() {
        let long = "I have looked at the zones of the region and at the prices of all of them.";
        /// Shown by earlier runs, shown by this run, entries of the Task, unseen text.
        type Case<'a> = (&'a [&'a str], &'a str, &'a [&'a str], Option<&'a str>);
        let cases: [Case<'_>; 14] = [
            (&[], "", &["new ", "text"], Some("new text")),
            (&[], "new ", &["new ", "text"], Some("text")),
            (&[], "new text", &["new ", "text"], Some("")),
            (&[], "new text", &["new "], Some("")),
            (&["I will ", "do it."], "After", &["I will "], Some("")),
            (&["I will do it."], "After that", &["After"], Some("")),
            (&["I will do it."], "After that", &["I will ", "do it.", "After"], Some("")),
            (&["I will do it."], "", &["I will ", "do it."], Some("")),
            (&["I will do it."], "", &["I will ", "do it.", " After"], Some(" After")),
            (&["I will do it."], "After", &["I will ", "do it.", "After", " that"], Some(" that")),
            (&["I will do it."], "OK", &["OK", " then"], Some(" then")),
            (&[long], "", &["prices of all ", "of them.", " More"], None),
            (&[long], "", &["zones of the region and at the ", "prices of all of them.", " More"], None),
            (&["something else"], "", &["I will ", "do it."], None),
        ];
        for (prior, shown, entries, rest) in cases {
            assert_eq!(unseen(prior, shown, entries).as_deref(), rest, "{prior:?} {shown} {entries:?}");
        }
    }

    #[test]
    fn the_position_is_found_without_the_beginning() {
        let head = "x".repeat(500);
        let tail = "this end is long enough to be recognised, it has more than 64 bytes";
        let whole = format!("{head}{tail}");
        assert_eq!(unseen(&[&whole], "", &["xxx", tail, " and more"]).as_deref(), Some(" and more"));
        assert_eq!(unseen(&[], &whole, &["xxx", tail, " and more"]).as_deref(), Some(" and more"));
    }
}
