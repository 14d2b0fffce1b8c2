//! Digests of JSON by meaning: key order, white space, escapes and repeated keys do not matter.
//!
//! The canonical text is what `json.dumps(value, ensure_ascii=False, sort_keys=True,
//! separators=(",", ":"))` of the Python adapter writes for the parsed value; only numbers that are no
//! integer literals need a decision, [`Numbers`].

mod number;
mod string;

use agui_core::Json;

use crate::digest::Digest;

pub(crate) use number::Numbers;

/// Nesting that is followed; more than any request the decoder lets through.
const MAX_DEPTH: usize = 256;

/// Digest that tells a repeated request from another one with the same run id (S9.2).
///
/// Two bodies have the same digest if they mean the same: `1.0`, `1e0` and `1` are one number, while
/// no digit of a large or long number is lost. Equal to the Python adapter's digest for bodies whose
/// numbers are all integer literals. A body that is not JSON is digested as it is.
///
/// ```
/// use agui_store::request_digest;
///
/// assert_eq!(request_digest(br#"{"a":1.0,"b":[]}"#), request_digest(br#"{ "b": [], "a": 1 }"#));
/// assert_ne!(request_digest(br#"{"a":1}"#), request_digest(br#"{"a":"1"}"#));
/// ```
#[must_use]
pub fn request_digest(body: &[u8]) -> Digest {
    digest(body, Numbers::Exact)
}

/// The digest that the Python adapter records for this body, to recognise its runs.
///
/// Numbers with a fraction or an exponent are read as doubles and spelled as Python does. Python has
/// no digest for what it refuses: integers of more than 4300 digits and lone surrogates.
///
/// Source: iac-code 0.16, `runDigests` of its state file.
#[must_use]
pub fn python_digest(body: &[u8]) -> Digest {
    digest(body, Numbers::Python)
}

/// Digest of an answer to an interrupt, as the Python adapter computes it; an absent payload is `null`.
///
/// `status` is the wire name, `resolved` or `cancelled`.
///
/// Source: iac-code 0.16, `appliedResumeDigests` of its state file.
#[must_use]
pub fn answer_digest(status: &str, payload: Option<&Json>) -> Digest {
    let mut text = b"{\"payload\":".to_vec();
    match payload.map(|payload| payload.get().as_bytes()) {
        // The text of a `Json` is JSON, so it is only taken as it is when it is nested absurdly deep.
        Some(payload) => match canonical(payload, Numbers::Python) {
            Some(canonical) => text.extend_from_slice(&canonical),
            None => text.extend_from_slice(payload),
        },
        None => text.extend_from_slice(b"null"),
    }
    text.extend_from_slice(b",\"status\":");
    string::write(status.as_bytes(), &mut text);
    text.push(b'}');
    Digest::of(&text)
}

fn digest(body: &[u8], numbers: Numbers) -> Digest {
    canonical(body, numbers).map_or_else(|| Digest::of(body), |text| Digest::of(&text))
}

/// The canonical text, `None` if `body` is not one JSON value or nested too deep.
fn canonical(body: &[u8], numbers: Numbers) -> Option<Vec<u8>> {
    std::str::from_utf8(body).ok()?;
    let mut scanner = Scanner { text: body, at: 0, numbers, out: Vec::with_capacity(body.len()) };
    scanner.value(0)?;
    scanner.skip_space();
    (scanner.at == body.len()).then_some(scanner.out)
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    numbers: Numbers,
    out: Vec<u8>,
}

/// A member of an object: its key, and where `"key":value` stands in the output.
struct Member {
    key: Vec<u8>,
    start: usize,
    end: usize,
}

impl<'a> Scanner<'a> {
    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip_space();
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => {
                let raw = self.raw_string()?;
                string::write_raw(raw, &mut self.out)
            }
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            _ => self.number(),
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        self.out.push(b'[');
        if !self.take(b']') {
            loop {
                self.value(depth + 1)?;
                if self.take(b']') {
                    break;
                }
                self.take(b',').then_some(())?;
                self.out.push(b',');
            }
        }
        self.out.push(b']');
        Some(())
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        self.out.push(b'{');
        let body = self.out.len();
        let mut members = Vec::new();
        if !self.take(b'}') {
            loop {
                members.push(self.member(depth)?);
                if self.take(b'}') {
                    break;
                }
                self.take(b',').then_some(())?;
                self.out.push(b',');
            }
        }
        self.sort(body, members);
        self.out.push(b'}');
        Some(())
    }

    fn member(&mut self, depth: usize) -> Option<Member> {
        self.skip_space();
        let raw = self.raw_string()?;
        let key = string::decode(raw)?;
        let start = self.out.len();
        string::write(&key, &mut self.out);
        self.take(b':').then_some(())?;
        self.out.push(b':');
        self.value(depth + 1)?;
        Some(Member { key, start, end: self.out.len() })
    }

    /// Puts the members that were written from `body` on into order; of equal keys the last one stays.
    fn sort(&mut self, body: usize, mut members: Vec<Member>) {
        if members.is_sorted_by(|before, after| before.key < after.key) {
            return;
        }
        members.sort_by(|one, other| (&one.key, other.start).cmp(&(&other.key, one.start)));
        members.dedup_by(|later, kept| later.key == kept.key);
        let mut sorted = Vec::with_capacity(self.out.len() - body);
        for member in &members {
            if !sorted.is_empty() {
                sorted.push(b',');
            }
            sorted.extend_from_slice(self.out.get(member.start..member.end).unwrap_or_default());
        }
        self.out.truncate(body);
        self.out.append(&mut sorted);
    }

    /// The text between the quotes, escapes untouched.
    fn raw_string(&mut self) -> Option<&'a [u8]> {
        let rest = self.text.get(self.at..)?.strip_prefix(b"\"")?;
        let mut end = 0;
        loop {
            match rest.get(end)? {
                b'"' => break,
                b'\\' => end += 2,
                0x00..=0x1f => return None,
                _ => end += 1,
            }
        }
        self.at += end + 2;
        rest.get(..end)
    }

    fn literal(&mut self, word: &[u8]) -> Option<()> {
        self.text.get(self.at..)?.starts_with(word).then_some(())?;
        self.at += word.len();
        self.out.extend_from_slice(word);
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        let length = rest
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'))
            .count();
        let literal = std::str::from_utf8(rest.get(..length)?).ok()?;
        number::write(literal, self.numbers, &mut self.out)?;
        self.at += length;
        Some(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips space, then `byte` if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests;
