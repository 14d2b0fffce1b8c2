//! Secrets in running text.

use std::borrow::Cow;
use std::ops::Range;

use super::REDACTED;
use super::names::is_telling;

/// Beginnings of keys, and how many characters follow at least.
const KEY_SHAPES: &[(&str, usize)] = &[
    ("sk-", 16),
    ("AKIA", 12),
    ("ASIA", 12),
    ("LTAI", 8),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 12),
    ("xoxb-", 12),
    ("xoxp-", 12),
    ("xoxa-", 12),
    ("AIza", 30),
    ("ya29.", 16),
];

/// Words before a credential, and how many characters it has at least.
const SCHEMES: &[&str] = &["bearer ", "basic "];
const MIN_CREDENTIAL_BYTES: usize = 8;

const PEM_BEGIN: &str = "-----BEGIN ";
const PEM_END: &str = "-----END ";

/// A secret and its surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) range: Range<usize>,
    /// It stood unquoted behind a quoted name: in JSON, text needs quotes.
    needs_quotes: bool,
}

impl Span {
    pub(super) fn replacement(&self) -> Cow<'static, str> {
        if self.needs_quotes { Cow::Owned(format!("\"{REDACTED}\"")) } else { Cow::Borrowed(REDACTED) }
    }
}

/// The places of secrets, in order and without overlap.
pub(super) fn spans(text: &str, literals: &[String]) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    for literal in literals {
        found.extend(text.match_indices(literal.as_str()).map(|(at, _)| plain(at..at + literal.len())));
    }
    found.extend(pairs(text));
    found.extend(credentials(text));
    found.extend(shapes(text));
    found.extend(pem(text));
    found.extend(passwords_in_addresses(text));
    found.retain(|span| !span.range.is_empty() && &text[span.range.clone()] != REDACTED);
    found.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
    let mut merged: Vec<Span> = Vec::new();
    for span in found {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
            }
            _ => merged.push(span),
        }
    }
    merged
}

const fn plain(range: Range<usize>) -> Span {
    Span { range, needs_quotes: false }
}

const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

const fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '/' | '=' | '~')
}

/// Values behind a telling name and `:` or `=`, in JSON, in shells, in queries and in prose.
fn pairs(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(begin) = text[from..].find(is_word).map(|at| from + at) {
        let end = text[begin..].find(|c| !is_word(c)).map_or(text.len(), |at| begin + at);
        from = end;
        if is_telling(&text[begin..end])
            && let Some(span) = value_behind(text, end)
        {
            from = span.range.end.max(end);
            found.push(span);
        }
    }
    found
}

fn value_behind(text: &str, end: usize) -> Option<Span> {
    let rest = &text[end..];
    // A quoted name may be inside a quoted text.
    let name_quote = rest.trim_start_matches('\\');
    let name_is_quoted = name_quote.starts_with(['"', '\'']);
    let rest = name_quote.strip_prefix(['"', '\'']).unwrap_or(name_quote).trim_start();
    let rest = rest.strip_prefix([':', '='])?.trim_start();
    let unescaped = rest.trim_start_matches('\\');
    if let Some(quote) = unescaped.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let value = &unescaped[1..];
        let begin = text.len() - value.len();
        let is_escaped = unescaped.len() < rest.len();
        return Some(plain(begin..begin + quoted_length(value, quote, is_escaped)));
    }
    let begin = text.len() - rest.len();
    let length =
        rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '&' | '}' | ']' | ')' | '"' | '\\'));
    let length = length.unwrap_or(rest.len());
    // `token: Bearer abc` is found by its scheme.
    let value = &rest[..length];
    let is_value = !value.is_empty()
        && !matches!(value, "null" | "true" | "false" | "{" | "[")
        && !value.starts_with(['{', '[']);
    is_value.then(|| Span { range: begin..begin + length, needs_quotes: name_is_quoted })
}

/// Bytes up to the closing quote; all of it if there is none, for the rest has been cut off.
fn quoted_length(value: &str, quote: char, is_escaped: bool) -> usize {
    if is_escaped {
        return value.find('\\').unwrap_or(value.len());
    }
    let mut escaped = false;
    for (at, c) in value.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at;
        }
    }
    value.len()
}

/// What follows `Bearer` and `Basic`.
fn credentials(text: &str) -> Vec<Span> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for scheme in SCHEMES {
        for (at, _) in lower.match_indices(scheme) {
            let begin = at + scheme.len();
            let length = text[begin..].find(|c| !is_token(c)).unwrap_or(text.len() - begin);
            if length >= MIN_CREDENTIAL_BYTES {
                found.push(plain(begin..begin + length));
            }
        }
    }
    found
}

/// Words that have the shape of a key, and signed tokens.
fn shapes(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(begin) = text[from..].find(is_token).map(|at| from + at) {
        let end = text[begin..].find(|c| !is_token(c)).map_or(text.len(), |at| begin + at);
        from = end;
        let word = &text[begin..end];
        // A key may stand behind a path or a name.
        for (at, _) in word.match_indices(|c: char| c.is_ascii_alphanumeric()) {
            let starts_word = at == 0 || !word.as_bytes()[at - 1].is_ascii_alphanumeric();
            if starts_word && has_key_shape(&word[at..]) {
                found.push(plain(begin + at..end));
                break;
            }
        }
    }
    found
}

fn has_key_shape(word: &str) -> bool {
    let key = KEY_SHAPES.iter().any(|(prefix, least)| {
        word.strip_prefix(prefix)
            .is_some_and(|rest| rest.chars().take_while(|c| is_word(*c)).count() >= *least)
    });
    // Header and claims of a signed token are JSON objects in base64.
    let parts: Vec<&str> = word.split('.').collect();
    key || (parts.len() >= 3 && parts[0].starts_with("eyJ") && parts[1].starts_with("eyJ"))
}

/// Private keys; certificates are no secret.
fn pem(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    for (begin, _) in text.match_indices(PEM_BEGIN) {
        let label = &text[begin + PEM_BEGIN.len()..];
        if !label.split("-----").next().unwrap_or_default().ends_with("PRIVATE KEY") {
            continue;
        }
        let end = text[begin..].find(PEM_END).map_or(text.len(), |at| {
            let label = begin + at + PEM_END.len();
            text[label..].find("-----").map_or(text.len(), |dashes| label + dashes + 5)
        });
        found.push(plain(begin..end));
    }
    found
}

/// The password of `scheme://user:password@host`.
fn passwords_in_addresses(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("://") {
        let begin = at + 3;
        let end =
            text[begin..].find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '?' | '#' | '\\'));
        let authority = &text[begin..end.map_or(text.len(), |end| begin + end)];
        if let Some((user, _)) = authority.rsplit_once('@')
            && let Some((name, _)) = user.split_once(':')
        {
            found.push(plain(begin + name.len() + 1..begin + user.len()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(text: &str) -> String {
        let mut out = text.to_owned();
        for span in spans(text, &["s3cr3t-literal".to_owned()]).iter().rev() {
            out.replace_range(span.range.clone(), &span.replacement());
        }
        out
    }

    #[test]
    fn secrets_in_text_are_found_and_nothing_else() {
        let cases = [
            ("password: hunter2, user: bob", "password: [redacted], user: bob"),
            (r#"{"password":"hun\"ter2","user":"bob"}"#, r#"{"password":"[redacted]","user":"bob"}"#),
            (r#"{"apiKey": 12345, "n": 1}"#, r#"{"apiKey": "[redacted]", "n": 1}"#),
            (r#"say \"token\": \"abc def\" twice"#, r#"say \"token\": \"[redacted]\" twice"#),
            ("export DB_PASSWORD='a b'", "export DB_PASSWORD='[redacted]'"),
            ("GET /x?token=abc&n=1", "GET /x?token=[redacted]&n=1"),
            ("Authorization: Bearer abcdefghij", "Authorization: [redacted] [redacted]"),
            ("curl -H 'X: Bearer abcdefghij'", "curl -H 'X: Bearer [redacted]'"),
            ("the bearer of news", "the bearer of news"),
            ("key sk-abcdefghijklmnop.", "key [redacted]"),
            ("AKIAIOSFODNN7EXAMPLE and LTAI5tExampleKey", "[redacted] and [redacted]"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "[redacted]"),
            ("postgres://bob:pa:ss@db/x", "postgres://bob:[redacted]@db/x"),
            ("http://bob@host/ http://host:80/a@b", "http://bob@host/ http://host:80/a@b"),
            ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nx", "[redacted]\nx"),
            ("-----BEGIN CERTIFICATE-----\nabc", "-----BEGIN CERTIFICATE-----\nabc"),
            ("xs3cr3t-literaly", "x[redacted]y"),
            ("inputTokens: 5, the password is safe", "inputTokens: 5, the password is safe"),
            (r#"{"secret":null,"token":{"a":1}}"#, r#"{"secret":null,"token":{"a":1}}"#),
            (r#"{"password":"cut of"#, r#"{"password":"[redacted]"#),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(redacted(text), expected, "{text}");
            assert_eq!(redacted(expected), expected, "again: {text}");
        }
    }
}
