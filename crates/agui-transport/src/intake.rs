//! Reading a request body within its bounds, and getting past one that is not wanted.

use std::time::Duration;

use agui_iac_code::MessageKey;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::EXPECT;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
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

/// The body of a request.
pub(crate) struct Intake {
    body: Incoming,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Untouched,
    /// Some of it was read; the rest is not worth it.
    GivenUp,
    Finished,
}

impl Intake {
    pub(crate) const fn new(body: Incoming) -> Self {
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
        Ok(match bytes.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => bytes.slice_ref(rest),
            None => bytes,
        })
    }

    async fn collect(&mut self, cap: BodyCap) -> Result<Bytes, Refusal> {
        // Most bodies come in one piece, which is used as it is.
        let mut first = Bytes::new();
        let mut joined = BytesMut::new();
        while let Some(frame) = self.body.frame().await {
            let Ok(data) = frame.map_err(|_| Refusal::BodyCut)?.into_data() else { continue };
            if first.len() + joined.len() + data.len() > cap.bytes {
                return Err(Refusal::TooLarge(cap.message));
            }
            if first.is_empty() && joined.is_empty() {
                first = data;
            } else {
                joined.extend_from_slice(&std::mem::take(&mut first));
                joined.extend_from_slice(&data);
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
        timeout(SKIP_TIMEOUT, self.drain(SKIP_BYTES)).await == Ok(Some(()))
    }

    /// Reads to the end; `None` if it is further than `left` bytes or never comes.
    async fn drain(&mut self, mut left: usize) -> Option<()> {
        while let Some(frame) = self.body.frame().await {
            left = left.checked_sub(frame.ok()?.data_ref().map_or(0, Bytes::len))?;
        }
        Some(())
    }
}
