//! The form of a request that is signed.

use http::request::Parts;
use http::{HeaderName, header};
use sha2::{Digest as _, Sha256};

use super::UNSIGNED_PAYLOAD;
use super::presented::Presented;
use crate::DeniedReason;

/// What a signature says about the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PayloadHash {
    /// Its SHA-256, in lower-case hexadecimal.
    Sha256(String),
    /// Nothing.
    Unsigned,
}

impl PayloadHash {
    pub(super) fn of(body: &[u8]) -> Self {
        Self::Sha256(hex(&Sha256::digest(body)))
    }

    /// Reads an announced hash.
    pub(super) fn from_hex(text: &[u8]) -> Option<Self> {
        unhex(text).map(|hash| Self::Sha256(hex(&hash)))
    }

    /// Whether this is what the signature of `body` says.
    pub(super) fn covers(&self, body: &[u8]) -> bool {
        match self {
            Self::Sha256(_) => *self == Self::of(body),
            Self::Unsigned => true,
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Sha256(hash) => hash,
            Self::Unsigned => UNSIGNED_PAYLOAD,
        }
    }
}

/// The names and values of a query, decoded, in the order they came.
pub(super) struct Pairs(Vec<(String, String)>);

impl Pairs {
    /// Takes a query apart. A plus stays a plus: signers write a blank as `%20`. `None` if an escape is broken
    /// or the bytes are not UTF-8.
    pub(super) fn decode(query: &str) -> Option<Self> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((percent_decode(name)?, percent_decode(value)?))
        });
        pairs.collect::<Option<Vec<_>>>().map(Self)
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// The value of a name that may come once.
    pub(super) fn only(&self, name: &str) -> Result<Option<&str>, DeniedReason> {
        let mut values = self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let value = values.next();
        if values.next().is_some() { Err(DeniedReason::Repeated) } else { Ok(value) }
    }

    /// The same, and the pair is gone.
    pub(super) fn take(&mut self, name: &str) -> Result<Option<String>, DeniedReason> {
        let value = self.only(name)?.map(str::to_owned);
        self.0.retain(|(known, _)| known != name);
        Ok(value)
    }

    /// Sorted by encoded name, then by encoded value.
    fn canonical(&self) -> String {
        let encode = |text: &str| percent_encode(text.as_bytes(), b"-._~");
        let mut pairs: Vec<_> = self.0.iter().map(|(name, value)| (encode(name), encode(value))).collect();
        pairs.sort();
        let pairs: Vec<String> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join("&")
    }
}

/// The canonical request, whose hash is signed.
pub(super) fn request(
    head: &Parts,
    presented: &Presented<'_>,
    payload: &PayloadHash,
) -> Result<Vec<u8>, DeniedReason> {
    let mut out = Vec::with_capacity(512);
    let mut line = |text: &[u8]| {
        out.extend_from_slice(text);
        out.push(b'\n');
    };
    line(head.method.as_str().as_bytes());
    line(path(head.uri.path()).as_bytes());
    line(presented.query.canonical().as_bytes());
    for name in &presented.signed_headers {
        line(&header_line(head, name).ok_or(DeniedReason::UnsignedHeader)?);
    }
    line(b"");
    let names: Vec<&str> = presented.signed_headers.iter().map(HeaderName::as_str).collect();
    line(names.join(";").as_bytes());
    out.extend_from_slice(payload.as_str().as_bytes());
    Ok(out)
}

/// Whether a request has a header that its signature names. Over HTTP/2 the host stands in the target.
pub(super) fn has_header(head: &Parts, name: &HeaderName) -> bool {
    head.headers.contains_key(name) || (*name == header::HOST && head.uri.authority().is_some())
}

/// `name:value`; several values joined by commas, blanks at the ends gone and runs of them made one.
fn header_line(head: &Parts, name: &HeaderName) -> Option<Vec<u8>> {
    let mut line = format!("{name}:").into_bytes();
    let start = line.len();
    for (n, value) in head.headers.get_all(name).iter().enumerate() {
        if n > 0 {
            line.push(b',');
        }
        let words = value.as_bytes().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        for (n, word) in words.enumerate() {
            if n > 0 {
                line.push(b' ');
            }
            line.extend_from_slice(word);
        }
    }
    if !head.headers.contains_key(name) {
        // Over HTTP/2 the host stands in the target.
        let authority = head.uri.authority().filter(|_| *name == header::HOST)?;
        line.truncate(start);
        line.extend_from_slice(authority.as_str().as_bytes());
    }
    Some(line)
}

/// The path without empty and dotted segments, each byte of it encoded once more, as all services but S3 have it.
fn path(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    let closing = if path.ends_with('/') && !segments.is_empty() { "/" } else { "" };
    let joined = format!("/{}{closing}", segments.join("/"));
    percent_encode(joined.as_bytes(), b"-._~/")
}

fn percent_encode(bytes: &[u8], plain: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || plain.contains(byte) {
            out.push(char::from(*byte));
        } else {
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)].to_ascii_uppercase()));
            out.push(char::from(DIGITS[usize::from(byte & 15)].to_ascii_uppercase()));
        }
    }
    out
}

fn percent_decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            out.push(digit(digits[0])? << 4 | digit(digits[1])?);
            rest = after;
        } else {
            out.push(*byte);
        }
    }
    String::from_utf8(out).ok()
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// 32 bytes of lower-case hexadecimal.
pub(super) fn unhex(text: &[u8]) -> Option<[u8; 32]> {
    if text.len() != 64 || text.iter().any(u8::is_ascii_uppercase) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
