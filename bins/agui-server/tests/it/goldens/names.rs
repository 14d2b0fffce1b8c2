//! Stable names in place of ids and times that differ from run to run.

use std::collections::BTreeMap;

use serde_json::Value;

/// Members whose values get a name of their kind.
const KINDS: [(&str, &str); 10] = [
    ("executionId", "exec"),
    ("taskId", "task"),
    ("requestTaskId", "task"),
    ("deliveryTaskId", "task"),
    ("contextId", "ctx"),
    ("pipelineRunId", "ctx"),
    ("deliveryContextId", "ctx"),
    ("sessionId", "session"),
    ("iacCodeSessionId", "session"),
    ("artifactId", "artifact"),
];

/// Gives names in the order in which it meets ids.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: BTreeMap<String, String>,
    counts: BTreeMap<String, usize>,
    literal: Vec<(String, String)>,
}

impl Names {
    /// Puts a text in place of another one, before anything else.
    pub(super) fn replace(&mut self, text: &str, by: &str) {
        self.literal.push((text.to_owned(), by.to_owned()));
    }

    /// Learns what the ids of a value are called.
    pub(super) fn learn(&mut self, value: &Value) {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    let kind = KINDS.iter().find(|(name, _)| name == key);
                    if let (Some((_, kind)), Some(id)) = (kind, value.as_str()) {
                        self.name(id, kind);
                    }
                    self.learn(value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            _ => {}
        }
    }

    fn name(&mut self, id: &str, kind: &str) -> String {
        if let Some(name) = self.names.get(id) {
            return name.clone();
        }
        let count = self.counts.entry(kind.to_owned()).or_default();
        *count += 1;
        let name = format!("{kind}-{count}");
        self.names.insert(id.to_owned(), name.clone());
        name
    }

    /// A text without anything that differs from run to run.
    pub(super) fn redact(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (from, to) in &self.literal {
            text = text.replace(from, to);
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((before, token, after)) = next_token(rest) {
            out.push_str(before);
            match token {
                Token::Time => out.push_str("<time>"),
                Token::Digest => out.push_str("<sha256>"),
                Token::Id(id) => {
                    let word = word_before(&out).to_owned();
                    let whole = format!("{word}{id}");
                    let known = self.names.get(&whole).or_else(|| self.names.get(id)).cloned();
                    let kind = if word.is_empty() { "id" } else { word.trim_end_matches('-') };
                    let name = known.unwrap_or_else(|| self.name(&whole, kind));
                    out.truncate(out.len() - word.len());
                    out.push_str(&name);
                }
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

enum Token<'a> {
    Id(&'a str),
    Time,
    Digest,
}

/// Text before the next id or time, it, and the text after it.
fn next_token(text: &str) -> Option<(&str, Token<'_>, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let fresh = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        if fresh && text.is_char_boundary(at) {
            let rest = &bytes[at..];
            if let Some(length) = id_length(rest) {
                return Some((&text[..at], Token::Id(&text[at..at + length]), &text[at + length..]));
            }
            if hex_length(rest) == 64 {
                return Some((&text[..at], Token::Digest, &text[at + 64..]));
            }
            if let Some(length) = time_length(rest) {
                return Some((&text[..at], Token::Time, &text[at + length..]));
            }
        }
        at += 1;
    }
    None
}

fn hex_length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f')).count()
}

/// A UUID, or 32 or 40 hexadecimal digits.
fn id_length(bytes: &[u8]) -> Option<usize> {
    let groups = [8, 4, 4, 4, 12];
    let mut at = 0;
    let uuid = groups.iter().all(|length| {
        let fits = hex_length(&bytes[at..]) == *length;
        at = (at + length + 1).min(bytes.len());
        fits && (*length == 12 || bytes.get(at - 1) == Some(&b'-'))
    });
    if uuid {
        return Some(36);
    }
    Some(hex_length(bytes)).filter(|length| matches!(length, 32 | 40))
}

/// `2026-11-30T15:18:38.123Z`.
fn time_length(bytes: &[u8]) -> Option<usize> {
    let digits = |range: std::ops::Range<usize>| {
        bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let date = digits(0..4) && bytes.get(4) == Some(&b'-') && digits(5..7) && digits(8..10);
    if !date || bytes.get(10) != Some(&b'T') || !digits(11..13) || !digits(14..16) {
        return None;
    }
    let end = |byte: &u8| !byte.is_ascii_digit() && !matches!(byte, b':' | b'.');
    let length = 11 + bytes[11..].iter().position(end).unwrap_or(bytes.len() - 11);
    Some(length + usize::from(bytes.get(length) == Some(&b'Z')))
}

/// The words that stand before an id and tell its kind, `input-evt-`.
fn word_before(text: &str) -> &str {
    if !text.ends_with('-') {
        return "";
    }
    let other = |letter: char| !letter.is_ascii_lowercase() && letter != '-';
    let start = text.char_indices().rfind(|(_, letter)| other(*letter));
    start.map_or(text, |(at, letter)| &text[at + letter.len_utf8()..])
}
