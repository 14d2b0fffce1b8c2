//! Every bound of the server, with its default.

use std::time::Duration;

/// Sizes and counts that a client cannot exceed.
///
/// ```
/// use agui_transport::Limits;
///
/// let limits = Limits::new().with_max_connections(64);
/// assert_eq!(limits.max_run_body_bytes, Limits::MAX_RUN_BODY_BYTES);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Connections served at a time (default 1024), upgraded ones included. One more gets 503
    /// `SERVER_BUSY`; the health route and other probes still answer it.
    pub max_connections: usize,
    /// Body of a run request in bytes (default 12 MiB, S1.7).
    pub max_run_body_bytes: usize,
    /// Request line and headers together in bytes (default 64 KiB); more gets 431. Browsers and
    /// proxies stay below 16 KiB, gateways that forward a caller's identity need up to 64 KiB.
    pub max_head_bytes: usize,
}

impl Limits {
    /// Default of [`max_connections`](Self::max_connections).
    pub const MAX_CONNECTIONS: usize = 1024;
    /// Default of [`max_run_body_bytes`](Self::max_run_body_bytes).
    pub const MAX_RUN_BODY_BYTES: usize = 12 * 1024 * 1024;
    /// Default of [`max_head_bytes`](Self::max_head_bytes).
    pub const MAX_HEAD_BYTES: usize = 64 * 1024;

    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            max_connections: Self::MAX_CONNECTIONS,
            max_run_body_bytes: Self::MAX_RUN_BODY_BYTES,
            max_head_bytes: Self::MAX_HEAD_BYTES,
        }
    }

    /// Sets [`max_connections`](Self::max_connections).
    #[must_use]
    pub const fn with_max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections;
        self
    }

    /// Sets [`max_run_body_bytes`](Self::max_run_body_bytes).
    #[must_use]
    pub const fn with_max_run_body_bytes(mut self, bytes: usize) -> Self {
        self.max_run_body_bytes = bytes;
        self
    }

    /// Sets [`max_head_bytes`](Self::max_head_bytes).
    #[must_use]
    pub const fn with_max_head_bytes(mut self, bytes: usize) -> Self {
        self.max_head_bytes = bytes;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// How long the server waits for whom.
///
/// Example: see [`ServerBuilder`](crate::ServerBuilder).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// From the first wait for a request until its head is complete (default 30 s). It also ends
    /// idle keep-alive connections, unless [`idle`](Self::idle) is set.
    pub head: Duration,
    /// How long a connection may rest between two requests (default: as long as `head`). Then `head`
    /// counts from the first byte of the next request.
    ///
    /// A proxy that keeps connections for later needs more here than it waits itself: else it sends a
    /// request into a connection that is just being closed.
    pub idle: Option<Duration>,
    /// From the end of the head until the body is complete (default 60 s); then 408.
    pub body: Duration,
    /// Silence on an event stream until a heartbeat comment (default 15 s, S4.2). Also how late a
    /// peer that vanished without a word can be noticed at the earliest.
    pub heartbeat: Duration,
    /// How long a client may accept not one byte of what waits for it (default 60 s); then its
    /// connection is closed and its run sees a disconnect.
    ///
    /// On Linux the system counts too, from the first byte that is not acknowledged. So a peer that
    /// vanished without a word is noticed that long after the next heartbeat, and not only when the
    /// system has given up sending again, a quarter of an hour later.
    pub write: Duration,
    /// From the shutdown signal until what is still open is cut off (default 20 s). Agents end
    /// their runs within it; platforms commonly kill after 30 s.
    pub shutdown: Duration,
}

impl Timeouts {
    /// Default of [`head`](Self::head).
    pub const HEAD: Duration = Duration::from_secs(30);
    /// Default of [`body`](Self::body).
    pub const BODY: Duration = Duration::from_secs(60);
    /// Default of [`heartbeat`](Self::heartbeat).
    pub const HEARTBEAT: Duration = Duration::from_secs(15);
    /// Default of [`write`](Self::write).
    pub const WRITE: Duration = Duration::from_secs(60);
    /// Default of [`shutdown`](Self::shutdown).
    pub const SHUTDOWN: Duration = Duration::from_secs(20);

    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            head: Self::HEAD,
            idle: None,
            body: Self::BODY,
            heartbeat: Self::HEARTBEAT,
            write: Self::WRITE,
            shutdown: Self::SHUTDOWN,
        }
    }

    /// The same within what a timer can hold and a server can bear, so that no value that a file
    /// or a flag gives makes the clock overflow or a heartbeat spin.
    pub(crate) fn bounded(self) -> Self {
        const SHORTEST: Duration = Duration::from_millis(1);
        const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
        let bound = |duration: Duration| duration.clamp(SHORTEST, LONGEST);
        Self {
            head: bound(self.head),
            idle: self.idle.map(bound),
            body: bound(self.body),
            heartbeat: bound(self.heartbeat),
            write: bound(self.write),
            shutdown: bound(self.shutdown),
        }
    }

    /// Sets [`head`](Self::head).
    #[must_use]
    pub const fn with_head(mut self, timeout: Duration) -> Self {
        self.head = timeout;
        self
    }

    /// Sets [`idle`](Self::idle).
    #[must_use]
    pub const fn with_idle(mut self, timeout: Duration) -> Self {
        self.idle = Some(timeout);
        self
    }

    /// Sets [`body`](Self::body).
    #[must_use]
    pub const fn with_body(mut self, timeout: Duration) -> Self {
        self.body = timeout;
        self
    }

    /// Sets [`heartbeat`](Self::heartbeat).
    #[must_use]
    pub const fn with_heartbeat(mut self, interval: Duration) -> Self {
        self.heartbeat = interval;
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
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::new()
    }
}
