//! Reading a request body within its bounds, and getting past one that is not wanted.

use std::time::Duration;

use agui_iac_code::MessageKey;
use bytes::{Buf, BufMut as _, Bytes, BytesMut};
use http::HeaderMap;
use http::header::EXPECT;
use http_body_util::BodyExt as _;
use hyper::body::Body;
use tokio::time::timeout;

use crate::refusal::Refusal;

/// Bytes of an unwanted body that are read so that its connection can be used again (64 KiB). A
/// larger one costs more than a new connection.
const SKIP_BYTES: usize = 64 * 1024;

/// How long such a body may take (1 s).
const SKIP_TIMEOUT: Duration = Duration::from_secs(1);

/// Some clients start UTF-8 with it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How much of a body is taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyCap {
    pub(crate) bytes: usize,
    /// The text for whoever sends more.
    pub(crate) message: MessageKey,
}

/// The text behind a byte order mark, or all of it.
pub(crate) fn without_mark(bytes: Bytes) -> Bytes {
    match bytes.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => bytes.slice_ref(rest),
        None => bytes,
    }
}

/// The body of a request.
pub(crate) struct Intake<B> {
    body: B,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Untouched,
    /// Some of it was read; the rest is not worth it.
    GivenUp,
    Finished,
}

impl<B: Body + Unpin> Intake<B> {
    pub(crate) const fn new(body: B) -> Self {
        Self { body, state: State::Untouched }
    }

    /// Reads the whole body, which keeps to `cap` and arrives within `patience`.
    ///
    /// A declared length is believed only if it is too large; memory is taken as bytes arrive.
    ///
    /// # Errors
    /// [`Refusal::TooLarge`], [`Refusal::BodyTimeout`], [`Refusal::BodyCut`].
    pub(crate) async fn read(&mut self, cap: BodyCap, patience: Duration) -> Result<Bytes, Refusal> {
        let declared = usize::try_from(self.body.size_hint().lower()).unwrap_or(usize::MAX);
        if declared > cap.bytes {
            return Err(Refusal::TooLarge(cap.message));
        }
        self.state = State::GivenUp;
        let bytes = timeout(patience, self.collect(cap)).await.map_err(|_| Refusal::BodyTimeout)??;
        self.state = State::Finished;
        Ok(bytes)
    }

    async fn collect(&mut self, cap: BodyCap) -> Result<Bytes, Refusal> {
        // Most bodies come in one piece, which is used as it is.
        let mut first = Bytes::new();
        let mut joined = BytesMut::new();
        while let Some(frame) = self.body.frame().await {
            let Ok(mut data) = frame.map_err(|_| Refusal::BodyCut)?.into_data() else { continue };
            if first.len() + joined.len() + data.remaining() > cap.bytes {
                return Err(Refusal::TooLarge(cap.message));
            }
            if first.is_empty() && joined.is_empty() {
                first = data.copy_to_bytes(data.remaining());
            } else {
                joined.extend_from_slice(&std::mem::take(&mut first));
                joined.put(data);
            }
        }
        Ok(if joined.is_empty() { first } else { joined.freeze() })
    }

    /// Gets past what was not read. Returns whether the connection can be used again; if not, it
    /// has to be closed after the answer.
    pub(crate) async fn skip(&mut self, headers: &HeaderMap) -> bool {
        match self.state {
            State::Finished => return true,
            State::GivenUp => return false,
            State::Untouched if self.body.is_end_stream() => return true,
            State::Untouched => {}
        }
        // A client that waits for "100 Continue" would be told to send what is not wanted.
        if self.body.size_hint().lower() > SKIP_BYTES as u64 || headers.contains_key(EXPECT) {
            return false;
        }
        self.state = State::GivenUp;
        let skipped = timeout(SKIP_TIMEOUT, self.drain(SKIP_BYTES)).await == Ok(Some(()));
        if skipped {
            self.state = State::Finished;
        }
        skipped
    }

    /// Reads to the end; `None` if it is further than `left` bytes or never comes.
    async fn drain(&mut self, mut left: usize) -> Option<()> {
        while let Some(frame) = self.body.frame().await {
            left = left.checked_sub(frame.ok()?.data_ref().map_or(0, Buf::remaining))?;
        }
        Some(())
    }
}
