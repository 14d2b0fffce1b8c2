use std::fmt;
use std::time::Duration;

use agui_core::RunLimits;

/// What becomes of the text of a failure that the upstream reports in its stream.
///
/// Example: see [`UpstreamConfig`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorText {
    /// A fixed text with an error id takes its place, and the log has both: many agents put the text of an
    /// exception there, with paths and secrets. So does `AGENT_ERROR` take the place of the code
    /// `INTERNAL_ERROR`, which belongs to the platform; other codes are passed on.
    #[default]
    Fixed,
    /// It is passed on, code and all, because the upstream is known to write for its users.
    Trusted,
}

/// How the upstream of an [`Upstream`](super::Upstream) is called.
///
/// `Debug` shows neither the address nor values of headers.
///
/// ```
/// use agui_relay::{ErrorText, Upstream, UpstreamConfig};
///
/// let config = UpstreamConfig::new("http://127.0.0.1:9000/invocations")
///     .with_header("authorization", "Bearer s3cret-token")
///     .with_forward("x-tenant")
///     .with_error_text(ErrorText::Trusted);
/// assert!(Upstream::new(config).is_ok());
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct UpstreamConfig {
    /// Where runs are posted.
    pub url: String,
    /// Headers of every request, such as the relay's own `authorization`.
    pub headers: Vec<(String, String)>,
    /// Headers of the caller that are passed on beside [`FORWARDED_HEADERS`](super::FORWARDED_HEADERS):
    /// names, or beginnings of names that end with `*`. Headers that carry credentials are passed on only if
    /// they are named in full.
    pub forward: Vec<String>,
    /// How long connecting may take; default 10 s.
    pub connect_timeout: Duration,
    /// How long a run waits for the head of the upstream's answer before it begins; default 2 s. An answer
    /// that comes in time decides about the status that the caller gets. The run goes on to wait after that,
    /// but its reader can leave, and a failure ends it like one of the agent.
    pub head_patience: Duration,
    /// How long the upstream may be silent, before and in its answer; default 1 h, which is as long as the
    /// platform keeps a stream. Many agents send nothing while they work; one that is gone is noticed by its
    /// connection. Comments count.
    pub idle_timeout: Duration,
    /// Largest record of a stream, in bytes; default 10 MiB, the platform's limit for one chunk.
    pub max_event_bytes: usize,
    /// How much may wait for the reader before the upstream is not read any more.
    pub limits: RunLimits,
    /// What becomes of the text of the upstream's failures.
    pub error_text: ErrorText,
}

impl UpstreamConfig {
    /// The defaults for an address.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            headers: Vec::new(),
            forward: Vec::new(),
            connect_timeout: Duration::from_secs(10),
            head_patience: Duration::from_secs(2),
            idle_timeout: Duration::from_secs(3_600),
            max_event_bytes: 10 * 1024 * 1024,
            limits: RunLimits::default(),
            error_text: ErrorText::Fixed,
        }
    }

    /// Adds a header of every request.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds a name to `forward`.
    #[must_use]
    pub fn with_forward(mut self, name: impl Into<String>) -> Self {
        self.forward.push(name.into());
        self
    }

    /// Sets `connect_timeout`.
    #[must_use]
    pub const fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets `head_patience`.
    #[must_use]
    pub const fn with_head_patience(mut self, patience: Duration) -> Self {
        self.head_patience = patience;
        self
    }

    /// Sets `idle_timeout`.
    #[must_use]
    pub const fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets `max_event_bytes`.
    #[must_use]
    pub const fn with_max_event_bytes(mut self, bytes: usize) -> Self {
        self.max_event_bytes = bytes;
        self
    }

    /// Sets `limits`.
    #[must_use]
    pub const fn with_limits(mut self, limits: RunLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets `error_text`.
    #[must_use]
    pub const fn with_error_text(mut self, text: ErrorText) -> Self {
        self.error_text = text;
        self
    }
}

impl fmt::Debug for UpstreamConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("UpstreamConfig")
            .field("headers", &names)
            .field("forward", &self.forward)
            .field("connect_timeout", &self.connect_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("max_event_bytes", &self.max_event_bytes)
            .field("limits", &self.limits)
            .field("error_text", &self.error_text)
            .finish_non_exhaustive()
    }
}
