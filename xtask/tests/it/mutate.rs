//! Small random changes, the same ones in every run.

/// Pieces that the formats under test care about.
const DICTIONARY: &[&[u8]] = &[
    b"\n",
    b"\r",
    b"\r\n\r\n",
    b"data:",
    b"data: ",
    b"id: ",
    b"event: ",
    b":",
    b"\xef\xbb\xbf",
    b"\0",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"\"\"",
    b"-0",
    b"1e999",
    b"NaN",
    b"1.0",
    b"9007199254740993",
    b"\\ud800",
    b"\\u0000",
    b"{\"",
    b"\":",
    b",",
    b"]",
    b"}",
    b"\"kind\"",
    b"\"type\"",
    b"\"taskId\":\"other\"",
    b"\"messageId\":\"\"",
    b"\xff",
    b"\xe2\x82",
];

/// A small generator (xorshift64*); good enough to pick places.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Below `limit`, or 0 when that is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % limit).unwrap_or(0)
    }
}

/// `seed` with one to four changes; `other` is spliced in at times.
pub(crate) fn mutate(random: &mut Random, seed: &[u8], other: &[u8]) -> Vec<u8> {
    let mut data = seed.to_vec();
    for _ in 0..=random.below(4) {
        change(random, &mut data, other);
    }
    data
}

fn change(random: &mut Random, data: &mut Vec<u8>, other: &[u8]) {
    let at = random.below(data.len());
    let length = random.below(64).min(data.len() - at);
    match random.below(8) {
        0 if !data.is_empty() => data[at] ^= 1 << random.below(8),
        1 if !data.is_empty() => data[at] = u8::try_from(random.below(256)).unwrap_or(0),
        2 => drop(data.drain(at..at + length)),
        3 => {
            let piece = data[at..at + length].to_vec();
            insert(data, at, &piece);
        }
        4 => data.truncate(at),
        5 => insert(data, at, &other[random.below(other.len()).min(other.len())..]),
        6 => move_line(random, data),
        _ => insert(data, at, DICTIONARY[random.below(DICTIONARY.len())]),
    }
}

fn insert(data: &mut Vec<u8>, at: usize, piece: &[u8]) {
    data.splice(at..at, piece.iter().copied());
}

/// Repeats, drops or reorders whole lines: what a stream suffers rather than a byte.
fn move_line(random: &mut Random, data: &mut Vec<u8>) {
    let mut lines: Vec<&[u8]> = data.split(|&byte| byte == b'\n').collect();
    let (from, to) = (random.below(lines.len()), random.below(lines.len()));
    let line = lines[from];
    match random.below(3) {
        0 => lines.insert(to, line),
        1 => drop(lines.remove(from)),
        _ => lines.swap(from, to),
    }
    *data = lines.join(&b'\n');
}
