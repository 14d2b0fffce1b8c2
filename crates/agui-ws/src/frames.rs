//! Frames as they leave, and messages that take several of them.

use bytes::Bytes;

/// Longest reason of a close frame, in bytes.
///
/// Source: RFC 6455 section 5.5: 125 bytes of a control frame, two of which are the code.
const MAX_REASON_BYTES: usize = 123;

/// A frame to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Frame {
    /// The first part of a text message, or all of it.
    Text {
        payload: Bytes,
        last: bool,
    },
    /// A further part of the message that was begun.
    Continuation {
        payload: Bytes,
        last: bool,
    },
    Ping,
    Close(Close),
}

/// Why this side closes a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Close {
    pub(crate) code: u16,
    pub(crate) reason: Box<str>,
}

impl Close {
    /// The purpose was fulfilled; here: nothing happens any more.
    pub(crate) const NORMAL: u16 = 1000;
    /// The server goes away.
    pub(crate) const AWAY: u16 = 1001;
    /// The client broke a rule of the WebSocket protocol.
    pub(crate) const PROTOCOL: u16 = 1002;
    /// What the client sends cannot be read.
    pub(crate) const UNREADABLE: u16 = 1007;
    /// The client broke a rule of this server.
    pub(crate) const POLICY: u16 = 1008;
    /// A message is too large.
    pub(crate) const TOO_LARGE: u16 = 1009;

    /// Closes with as much of `reason` as a close frame holds.
    pub(crate) fn new(code: u16, reason: &str) -> Self {
        Self { code, reason: reason[..border_before(reason.as_bytes(), MAX_REASON_BYTES)].into() }
    }
}

/// A text message on its way out.
#[derive(Debug)]
pub(crate) struct Message {
    payload: Bytes,
    begun: bool,
}

impl Message {
    /// A message of UTF-8 text.
    pub(crate) const fn new(payload: Bytes) -> Self {
        Self { payload, begun: false }
    }

    /// The next frame, of at most `max_bytes` (4 at least), and whether more follow.
    ///
    /// Parts end at the border of a character. The protocol does not ask for that, but a peer that
    /// checks each frame by itself is not confused either.
    pub(crate) fn next_frame(&mut self, max_bytes: usize) -> (Frame, bool) {
        let payload = self.payload.split_to(border_before(&self.payload, max_bytes));
        let last = self.payload.is_empty();
        let begun = std::mem::replace(&mut self.begun, true);
        let frame = if begun { Frame::Continuation { payload, last } } else { Frame::Text { payload, last } };
        (frame, !last)
    }
}

/// The last border between characters of UTF-8 `text` within its first `max_bytes`.
fn border_before(text: &[u8], max_bytes: usize) -> usize {
    if text.len() <= max_bytes {
        return text.len();
    }
    let continues = |at: &usize| text[*at] & 0xc0 == 0x80;
    (0..=max_bytes).rev().find(|at| !continues(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_close_reason_is_cut_at_a_character() {
        let table = [
            (String::new(), 0),
            ("idle".to_owned(), 4),
            ("r".repeat(123), 123),
            ("r".repeat(124), 123),
            ("é".repeat(62), 122),
            ("語".repeat(42), 123),
            (format!("r{}", "😀".repeat(31)), 121),
        ];
        for (reason, bytes) in table {
            let close = Close::new(Close::POLICY, &reason);
            assert_eq!((close.code, &*close.reason), (1008, &reason[..bytes]));
        }
    }

    #[test]
    fn an_empty_message_is_one_frame() {
        let whole = Frame::Text { payload: Bytes::new(), last: true };
        assert_eq!(Message::new(Bytes::new()).next_frame(100), (whole, false));
    }

    proptest! {
        #[test]
        fn the_frames_of_a_message_are_whole_text_within_the_limit(text in ".{0,200}", max_bytes in 4_usize..64) {
            let mut message = Message::new(Bytes::from(text.clone()));
            let mut joined = String::new();
            for index in 0.. {
                let (frame, more) = message.next_frame(max_bytes);
                let (payload, last) = match frame {
                    Frame::Text { payload, last } if index == 0 => (payload, last),
                    Frame::Continuation { payload, last } if index > 0 => (payload, last),
                    other => return Err(TestCaseError::fail(format!("{other:?} at {index}"))),
                };
                prop_assert!(payload.len() <= max_bytes);
                prop_assert_eq!(last, !more);
                joined.push_str(std::str::from_utf8(&payload).unwrap());
                if last {
                    break;
                }
                prop_assert!(!payload.is_empty());
            }
            prop_assert_eq!(joined, text);
        }
    }
}
