//! Every bound of a socket, with its default.

use std::time::Duration;

/// How events lie in text frames.
///
/// Example: see [`WsConfig`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WsFraming {
    /// One event as bare JSON.
    #[default]
    Json,
    /// One event as a server-sent event, `data: {…}` and a blank line, as older servers sent it.
    Sse,
}

/// In what form a message is refused while a run streams.
///
/// Example: see [`WsConfig`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RefusalForm {
    /// A `RUN_ERROR` that is no part of the stream: it has `metadata.refusal`, and the ids of the
    /// refused input.
    #[default]
    RunError,
    /// A `CUSTOM` event named [`REFUSED`](crate::REFUSED), for clients that put every frame through
    /// one stream verifier.
    Custom,
}

/// The bounds of one socket.
///
/// The sizes and rates are those that the WebSocket edge of AgentCore allows, with a margin.
///
/// ```
/// use std::time::Duration;
///
/// use agui_ws::{RefusalForm, WsConfig, WsFraming, WsTimeouts};
///
/// let config = WsConfig::new()
///     .with_framing(WsFraming::Sse)
///     .with_refusals(RefusalForm::Custom)
///     .with_timeouts(WsTimeouts::new().with_idle(Duration::from_secs(60)));
/// assert_eq!(config.max_frame_bytes, WsConfig::MAX_FRAME_BYTES);
/// ```
///
/// Source: Amazon Bedrock AgentCore, limits of WebSocket connections (frames of 32 KB, 250 frames a second).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WsConfig {
    /// How events lie in text frames.
    pub framing: WsFraming,
    /// In what form a message is refused while a run streams.
    pub refusals: RefusalForm,
    /// Largest payload of a frame that is sent, in bytes (default 32,000; at least 256).
    pub max_frame_bytes: usize,
    /// Frames sent in any second (default 200; at least 2). Frames that continue a message count, and
    /// pings; answers to the pings of the client do not.
    pub max_frames_per_second: u32,
    /// Largest message that is taken, in bytes (default 12 MiB, as for a request body).
    pub max_message_bytes: usize,
    /// How many messages in a row may be unreadable; then the socket is closed (default 5).
    pub max_unreadable: u32,
    /// How long whom is waited for.
    pub timeouts: WsTimeouts,
}

impl WsConfig {
    /// Default of [`max_frame_bytes`](Self::max_frame_bytes).
    pub const MAX_FRAME_BYTES: usize = 32_000;
    /// Default of [`max_frames_per_second`](Self::max_frames_per_second).
    pub const MAX_FRAMES_PER_SECOND: u32 = 200;
    /// Default of [`max_message_bytes`](Self::max_message_bytes).
    pub const MAX_MESSAGE_BYTES: usize = 12 * 1024 * 1024;
    /// Default of [`max_unreadable`](Self::max_unreadable).
    pub const MAX_UNREADABLE: u32 = 5;

    /// Smallest value of [`max_frame_bytes`](Self::max_frame_bytes): a delta with its ids fits.
    const LEAST_FRAME_BYTES: usize = 256;
    /// Smallest value of [`max_frames_per_second`](Self::max_frames_per_second).
    const LEAST_FRAMES_PER_SECOND: u32 = 2;

    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            framing: WsFraming::Json,
            refusals: RefusalForm::RunError,
            max_frame_bytes: Self::MAX_FRAME_BYTES,
            max_frames_per_second: Self::MAX_FRAMES_PER_SECOND,
            max_message_bytes: Self::MAX_MESSAGE_BYTES,
            max_unreadable: Self::MAX_UNREADABLE,
            timeouts: WsTimeouts::new(),
        }
    }

    /// The same with every value inside its range.
    pub(crate) fn bounded(self) -> Self {
        Self {
            max_frame_bytes: self.max_frame_bytes.max(Self::LEAST_FRAME_BYTES),
            max_frames_per_second: self.max_frames_per_second.max(Self::LEAST_FRAMES_PER_SECOND),
            max_message_bytes: self.max_message_bytes.max(1),
            max_unreadable: self.max_unreadable.max(1),
            timeouts: self.timeouts.bounded(),
            ..self
        }
    }

    /// Sets [`framing`](Self::framing).
    #[must_use]
    pub const fn with_framing(mut self, framing: WsFraming) -> Self {
        self.framing = framing;
        self
    }

    /// Sets [`refusals`](Self::refusals).
    #[must_use]
    pub const fn with_refusals(mut self, form: RefusalForm) -> Self {
        self.refusals = form;
        self
    }

    /// Sets [`max_frame_bytes`](Self::max_frame_bytes).
    #[must_use]
    pub const fn with_max_frame_bytes(mut self, bytes: usize) -> Self {
        self.max_frame_bytes = bytes;
        self
    }

    /// Sets [`max_frames_per_second`](Self::max_frames_per_second).
    #[must_use]
    pub const fn with_max_frames_per_second(mut self, frames: u32) -> Self {
        self.max_frames_per_second = frames;
        self
    }

    /// Sets [`max_message_bytes`](Self::max_message_bytes).
    #[must_use]
    pub const fn with_max_message_bytes(mut self, bytes: usize) -> Self {
        self.max_message_bytes = bytes;
        self
    }

    /// Sets [`max_unreadable`](Self::max_unreadable).
    #[must_use]
    pub const fn with_max_unreadable(mut self, messages: u32) -> Self {
        self.max_unreadable = messages;
        self
    }

    /// Sets [`timeouts`](Self::timeouts).
    #[must_use]
    pub const fn with_timeouts(mut self, timeouts: WsTimeouts) -> Self {
        self.timeouts = timeouts;
        self
    }
}

impl Default for WsConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// How long a socket waits for whom.
///
/// Example: see [`WsConfig`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WsTimeouts {
    /// From the handshake until the first message (default 30 s); then 1008.
    pub first_message: Duration,
    /// From the end of the last run or the last message until the socket is closed with 1000
    /// (default 10 min). Nothing is sent meanwhile, so that a waiting socket keeps no session alive.
    pub idle: Duration,
    /// Between two pings while a run is active (default 20 s).
    pub ping: Duration,
    /// How long a ping may stay without any sign of life (default 30 s); then the peer has vanished.
    pub pong: Duration,
    /// How long a client may accept not one byte of what waits for it (default 60 s).
    pub write: Duration,
    /// From the wish to stop until a run that has not ended is ended here (default 20 s).
    pub shutdown: Duration,
    /// How long the other side may take to confirm a close (default 5 s).
    pub close: Duration,
}

impl WsTimeouts {
    /// Default of [`first_message`](Self::first_message).
    pub const FIRST_MESSAGE: Duration = Duration::from_secs(30);
    /// Default of [`idle`](Self::idle).
    pub const IDLE: Duration = Duration::from_secs(600);
    /// Default of [`ping`](Self::ping).
    pub const PING: Duration = Duration::from_secs(20);
    /// Default of [`pong`](Self::pong).
    pub const PONG: Duration = Duration::from_secs(30);
    /// Default of [`write`](Self::write).
    pub const WRITE: Duration = Duration::from_secs(60);
    /// Default of [`shutdown`](Self::shutdown).
    pub const SHUTDOWN: Duration = Duration::from_secs(20);
    /// Default of [`close`](Self::close).
    pub const CLOSE: Duration = Duration::from_secs(5);

    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            first_message: Self::FIRST_MESSAGE,
            idle: Self::IDLE,
            ping: Self::PING,
            pong: Self::PONG,
            write: Self::WRITE,
            shutdown: Self::SHUTDOWN,
            close: Self::CLOSE,
        }
    }

    /// The same within what a timer can hold.
    fn bounded(self) -> Self {
        const SHORTEST: Duration = Duration::from_millis(1);
        const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
        let bound = |duration: Duration| duration.clamp(SHORTEST, LONGEST);
        Self {
            first_message: bound(self.first_message),
            idle: bound(self.idle),
            ping: bound(self.ping),
            pong: bound(self.pong),
            write: bound(self.write),
            shutdown: bound(self.shutdown),
            close: bound(self.close),
        }
    }

    /// Sets [`first_message`](Self::first_message).
    #[must_use]
    pub const fn with_first_message(mut self, timeout: Duration) -> Self {
        self.first_message = timeout;
        self
    }

    /// Sets [`idle`](Self::idle).
    #[must_use]
    pub const fn with_idle(mut self, timeout: Duration) -> Self {
        self.idle = timeout;
        self
    }

    /// Sets [`ping`](Self::ping).
    #[must_use]
    pub const fn with_ping(mut self, interval: Duration) -> Self {
        self.ping = interval;
        self
    }

    /// Sets [`pong`](Self::pong).
    #[must_use]
    pub const fn with_pong(mut self, timeout: Duration) -> Self {
        self.pong = timeout;
        self
    }

    /// Sets [`write`](Self::write).
    #[must_use]
    pub const fn with_write(mut self, timeout: Duration) -> Self {
        self.write = timeout;
        self
    }

    /// Sets [`shutdown`](Self::shutdown).
    #[must_use]
    pub const fn with_shutdown(mut self, timeout: Duration) -> Self {
        self.shutdown = timeout;
        self
    }

    /// Sets [`close`](Self::close).
    #[must_use]
    pub const fn with_close(mut self, timeout: Duration) -> Self {
        self.close = timeout;
        self
    }
}

impl Default for WsTimeouts {
    fn default() -> Self {
        Self::new()
    }
}
