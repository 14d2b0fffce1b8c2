//! Digests of texts that were shown.

use sha2::{Digest as _, Sha256};

use crate::position::ShownText;

/// Length of the first head of [`ShownText::heads`] in bytes; each further one is twice as long.
pub(super) const FIRST_HEAD_BYTES: usize = 4;

/// Length of the part that [`ShownText::tail`] covers, in bytes.
pub(super) const TAIL_BYTES: usize = 64;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// SHA-256 of `bytes` in lower-case hexadecimal.
pub(super) fn whole(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The first 8 bytes of the SHA-256 of `bytes` in lower-case hexadecimal.
pub(super) fn short(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..8])
}

/// `bytes` in lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(HEX[usize::from(byte >> 4)]));
        text.push(char::from(HEX[usize::from(byte & 15)]));
    }
    text
}

/// The digests of one text.
pub(super) fn shown(message_id: &str, text: &str) -> ShownText {
    let bytes = text.as_bytes();
    let mut entry = ShownText::new(message_id, bytes.len() as u64, whole(bytes));
    entry.tail = short(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]);
    let lengths = std::iter::successors(Some(FIRST_HEAD_BYTES), |length| length.checked_mul(2));
    entry.heads =
        lengths.take_while(|length| *length < bytes.len()).map(|length| short(&bytes[..length])).collect();
    entry
}

/// Whether `text` ends with the end of the text that `entry` describes.
pub(super) fn ends_like(entry: &ShownText, text: &[u8]) -> bool {
    let window = usize::try_from(entry.bytes).unwrap_or(usize::MAX).min(TAIL_BYTES);
    window > 0 && text.len() >= window && short(&text[text.len() - window..]) == entry.tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_is_sha_256_in_hexadecimal() {
        assert_eq!(whole(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(short(b"abc"), "ba7816bf8f01cfea");
    }

    #[test]
    fn heads_stop_before_the_end_of_the_text() {
        let counts = [("", 0), ("1234", 0), ("12345", 1), ("123456789", 2), ("12345678901234567", 3)];
        for (text, heads) in counts {
            assert_eq!(shown("m", text).heads.len(), heads, "{text}");
        }
    }

    #[test]
    fn tail_of_a_short_text_is_all_of_it() {
        let entry = shown("m", "done.");
        assert!(ends_like(&entry, b"well done."));
        assert!(!ends_like(&entry, b"one."));
        assert!(!ends_like(&shown("m", ""), b"anything"));
    }
}
