//! Strings: from JSON escapes to text and back.
//!
//! Text is UTF-8 in which a lone surrogate is three bytes as if it were a character, so that byte order
//! is the order of code points, which is the order Python sorts keys in.

/// Writes the canonical form of the raw inside of a JSON string, quotes added.
pub(super) fn write_raw(raw: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if raw.contains(&b'\\') {
        write(&decode(raw)?, out);
    } else {
        // Without escapes there is nothing to choose: what must be escaped is not in it.
        out.push(b'"');
        out.extend_from_slice(raw);
        out.push(b'"');
    }
    Some(())
}

/// The text of the raw inside of a JSON string, `None` for an escape that JSON does not have.
pub(super) fn decode(raw: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'\\' {
            text.push(byte);
            continue;
        }
        let (&escape, tail) = rest.split_first()?;
        rest = tail;
        match escape {
            b'"' | b'\\' | b'/' => text.push(escape),
            b'b' => text.push(0x08),
            b'f' => text.push(0x0c),
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'u' => {
                let (code, tail) = code_point(rest)?;
                rest = tail;
                push_code_point(code, &mut text);
            }
            _ => return None,
        }
    }
    Some(text)
}

/// Writes text as a JSON string; escapes only what JSON demands.
pub(super) fn write(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match (byte, rest) {
            (b'"' | b'\\', _) => out.extend_from_slice(&[b'\\', byte]),
            (0x08, _) => out.extend_from_slice(b"\\b"),
            (0x0c, _) => out.extend_from_slice(b"\\f"),
            (b'\n', _) => out.extend_from_slice(b"\\n"),
            (b'\r', _) => out.extend_from_slice(b"\\r"),
            (b'\t', _) => out.extend_from_slice(b"\\t"),
            (0x00..=0x1f, _) => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            (0xed, [second @ 0xa0..=0xbf, third, tail @ ..]) => {
                let code = 0xd000 | (u32::from(second & 0x3f) << 6) | u32::from(third & 0x3f);
                out.extend_from_slice(format!("\\u{code:04x}").as_bytes());
                rest = tail;
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// One `\u` escape, or two that are a surrogate pair; `raw` begins behind the first `u`.
fn code_point(raw: &[u8]) -> Option<(u32, &[u8])> {
    let (first, tail) = hex4(raw)?;
    if (0xd800..0xdc00).contains(&first)
        && let Some(next) = tail.strip_prefix(b"\\u")
        && let Some((second @ 0xdc00..0xe000, tail)) = hex4(next)
    {
        return Some((0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), tail));
    }
    Some((first, tail))
}

fn hex4(raw: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, tail) = raw.split_at_checked(4)?;
    let code =
        digits.iter().try_fold(0, |code, digit| Some((code << 4) | char::from(*digit).to_digit(16)?))?;
    Some((code, tail))
}

fn push_code_point(code: u32, text: &mut Vec<u8>) {
    if let Some(character) = char::from_u32(code) {
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    } else {
        let low_six = |bits: u32| 0x80 | u8::try_from(bits & 0x3f).unwrap_or_default();
        text.extend_from_slice(&[0xed, low_six(code >> 6), low_six(code)]);
    }
}
