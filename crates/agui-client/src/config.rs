use std::fmt;
#[cfg(feature = "tls")]
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "tls")]
use http_exchange::rustls::ClientConfig;

use crate::{Accept, Dialect};

/// How an agent is reached.
///
/// `Debug` shows names of headers only: their values are secrets.
///
/// ```
/// use std::time::Duration;
///
/// use agui_client::{Accept, AgentConfig, Dialect, HttpAgent};
///
/// let config = AgentConfig::new("http://127.0.0.1:8000/")
///     .with_bearer("s3cret-token")
///     .with_accept(Accept::Binary)
///     .with_dialect(Dialect::Legacy)
///     .with_idle_timeout(Duration::from_secs(60));
/// assert!(HttpAgent::new(config).is_ok());
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct AgentConfig {
    /// URL of the endpoint: `https` with the feature `tls`, else plain `http`, which is not encrypted.
    pub url: String,
    /// Headers of every request beside those that the protocol fixes.
    pub headers: Vec<(String, String)>,
    /// Which protocol the requests declare.
    pub dialect: Dialect,
    /// Which encoding of events is asked for.
    pub accept: Accept,
    /// How long connecting may take; default 10 s.
    pub connect_timeout: Duration,
    /// How long the agent may be silent, before and in its answer; default 5 min. Agents are asked to send
    /// a comment about every 15 s.
    pub idle_timeout: Duration,
    /// Largest record of a stream, in bytes; default 10 MiB, as released clients have it.
    pub max_event_bytes: usize,
    /// Whom to trust behind an `https` URL; `None` is what [`agui_tls::client_config`] gives.
    #[cfg(feature = "tls")]
    pub tls: Option<Arc<ClientConfig>>,
}

impl AgentConfig {
    /// The defaults for an address.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            headers: Vec::new(),
            dialect: Dialect::Current,
            accept: Accept::Text,
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(300),
            max_event_bytes: 10 * 1024 * 1024,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends `token` as `Authorization: Bearer`.
    #[must_use]
    pub fn with_bearer(self, token: &str) -> Self {
        self.with_header("authorization", format!("Bearer {token}"))
    }

    /// Sets `dialect`.
    #[must_use]
    pub const fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Sets `accept`.
    #[must_use]
    pub const fn with_accept(mut self, accept: Accept) -> Self {
        self.accept = accept;
        self
    }

    /// Sets `connect_timeout`.
    #[must_use]
    pub const fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
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

    /// Sets `tls`. Whatever protocols it offers, HTTP/1.1 is what is spoken.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn with_tls(mut self, tls: Arc<ClientConfig>) -> Self {
        self.tls = Some(tls);
        self
    }
}

impl fmt::Debug for AgentConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("AgentConfig")
            .field("headers", &names)
            .field("dialect", &self.dialect)
            .field("accept", &self.accept)
            .field("connect_timeout", &self.connect_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("max_event_bytes", &self.max_event_bytes)
            .finish_non_exhaustive()
    }
}
