use std::fmt;
#[cfg(feature = "tls")]
use std::sync::Arc;
use std::time::Duration;

use a2a_wire::ProtocolVersion;
use agui_iac_code::Secret;
#[cfg(feature = "tls")]
use http_exchange::rustls::ClientConfig as TlsConfig;

/// Time to get a TCP connection, 5 s: the peer is on this machine or near.
///
/// Example: see [`ClientConfig`].
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time for a whole control call (reading or canceling a task, extension endpoints), 30 s: they do no
/// model work, but a restore may copy files.
///
/// Example: see [`ClientConfig`].
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for a whole unary `SendMessage`, 120 s: the peer may work before it answers.
///
/// Example: see [`ClientConfig`].
pub const SEND_TIMEOUT: Duration = Duration::from_secs(120);
/// Time from the request to the head of a stream, 60 s: servers produce the first update before it.
///
/// Example: see [`ClientConfig`].
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest silence on a stream, 60 s: four of the 15 s pings. Any byte counts, pings too.
///
/// Example: see [`ClientConfig`].
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Largest datum of a stream, 64 MiB: pipeline batches reach 1 MiB, tasks with a long history more.
///
/// Example: see [`ClientConfig`].
pub const MAX_DATUM_BYTES: usize = 64 * 1024 * 1024;
/// Largest body of a unary answer, 64 MiB: a task with its history has no other bound.
///
/// Example: see [`ClientConfig`].
pub const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// Time for each of these with an agent that nobody knows, 10 min: a whole unary answer, the first update of
/// a stream, and silence on it. Agents think for long without a word, and not every library sends pings.
///
/// Example: see [`ClientConfig`].
pub const UNKNOWN_AGENT_TIMEOUT: Duration = Duration::from_secs(600);
/// First pause between two looks at a task of an agent that cannot stream, 250 ms …
///
/// Example: see [`UpdateStream`](crate::UpdateStream).
pub const POLL_FIRST: Duration = Duration::from_millis(250);
/// … which grows up to 2 s while nothing changes.
///
/// Example: see [`UpdateStream`](crate::UpdateStream).
pub const POLL_LONGEST: Duration = Duration::from_secs(2);

/// Where a [`Client`](crate::Client) connects to, as whom, and how long it waits.
///
/// `Debug` shows neither the address, which may hold credentials, nor the token.
///
/// ```
/// use std::time::Duration;
///
/// use a2a_client::{Client, ClientConfig, ClientError, UNKNOWN_AGENT_TIMEOUT};
///
/// let config = ClientConfig::new("http://127.0.0.1:41242/").with_idle_timeout(Duration::from_secs(30));
/// assert!(Client::new(config).is_ok());
///
/// // An agent that may think for long, on another machine: that has to be said.
/// let config = ClientConfig::of_unknown_agent("http://192.0.2.1/");
/// assert_eq!(config.send_timeout, UNKNOWN_AGENT_TIMEOUT);
/// assert!(matches!(Client::new(config.clone()), Err(ClientError::RemoteRefused)));
/// assert!(Client::new(config.with_remote_allowed()).is_ok());
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ClientConfig {
    /// Address of the JSON-RPC endpoint, `http://host:port/path`, with the feature `tls` also `https`. The extension endpoints are looked for
    /// at the root of the same origin.
    pub url: String,
    /// Bearer token; default none.
    pub token: Option<Secret>,
    /// Protocol version of requests; default 1.0. Answers of both versions are understood.
    pub version: ProtocolVersion,
    /// Tenant that every request names (1.0 only); default none.
    pub tenant: Option<String>,
    /// Whether the agent can stream; default yes. Else streams are made of one unary call and of looks at
    /// its task.
    pub streaming: bool,
    /// Whether hosts other than this machine are connected to; default no, because the token and the
    /// user's data would travel unencrypted.
    pub allow_remote: bool,
    /// TLS configuration for `https` addresses; default [`agui_tls::client_config`].
    #[cfg(feature = "tls")]
    pub tls: Option<Arc<TlsConfig>>,
    /// Default [`CONNECT_TIMEOUT`].
    pub connect_timeout: Duration,
    /// Default [`CALL_TIMEOUT`].
    pub call_timeout: Duration,
    /// Default [`SEND_TIMEOUT`].
    pub send_timeout: Duration,
    /// Default [`FIRST_BYTE_TIMEOUT`].
    pub first_byte_timeout: Duration,
    /// Default [`IDLE_TIMEOUT`].
    pub idle_timeout: Duration,
    /// Default [`MAX_DATUM_BYTES`].
    pub max_datum_bytes: usize,
    /// Default [`MAX_BODY_BYTES`].
    pub max_body_bytes: usize,
}

impl ClientConfig {
    /// Connects to `url` without a token, with every limit at its default.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            token: None,
            version: ProtocolVersion::V1_0,
            tenant: None,
            streaming: true,
            allow_remote: false,
            #[cfg(feature = "tls")]
            tls: None,
            connect_timeout: CONNECT_TIMEOUT,
            call_timeout: CALL_TIMEOUT,
            send_timeout: SEND_TIMEOUT,
            first_byte_timeout: FIRST_BYTE_TIMEOUT,
            idle_timeout: IDLE_TIMEOUT,
            max_datum_bytes: MAX_DATUM_BYTES,
            max_body_bytes: MAX_BODY_BYTES,
        }
    }

    /// Connects to an agent of unknown make: as [`new`](Self::new), but waits up to
    /// [`UNKNOWN_AGENT_TIMEOUT`] for what an agent may have to think about.
    #[must_use]
    pub fn of_unknown_agent(url: impl Into<String>) -> Self {
        Self {
            send_timeout: UNKNOWN_AGENT_TIMEOUT,
            first_byte_timeout: UNKNOWN_AGENT_TIMEOUT,
            idle_timeout: UNKNOWN_AGENT_TIMEOUT,
            ..Self::new(url)
        }
    }

    /// Sets the bearer token.
    #[must_use]
    pub fn with_token(mut self, token: Secret) -> Self {
        self.token = Some(token);
        self
    }

    /// Sets the protocol version of requests.
    #[must_use]
    pub const fn with_version(mut self, version: ProtocolVersion) -> Self {
        self.version = version;
        self
    }

    /// Sets the tenant that every request names.
    #[must_use]
    pub fn with_tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Says that the agent cannot stream.
    #[must_use]
    pub const fn without_streaming(mut self) -> Self {
        self.streaming = false;
        self
    }

    /// Allows hosts other than this machine, for `http` addresses over unencrypted HTTP.
    #[must_use]
    pub const fn with_remote_allowed(mut self) -> Self {
        self.allow_remote = true;
        self
    }

    /// Sets the TLS configuration for `https` addresses.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn with_tls(mut self, tls: Arc<TlsConfig>) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Sets the time to get a TCP connection.
    #[must_use]
    pub const fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the time for a whole control call.
    #[must_use]
    pub const fn with_call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = timeout;
        self
    }

    /// Sets the time for a whole unary `SendMessage`.
    #[must_use]
    pub const fn with_send_timeout(mut self, timeout: Duration) -> Self {
        self.send_timeout = timeout;
        self
    }

    /// Sets the time from the request to the head of a stream.
    #[must_use]
    pub const fn with_first_byte_timeout(mut self, timeout: Duration) -> Self {
        self.first_byte_timeout = timeout;
        self
    }

    /// Sets the longest silence on a stream.
    #[must_use]
    pub const fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets the size of the largest datum, in bytes.
    #[must_use]
    pub const fn with_max_datum_bytes(mut self, bytes: usize) -> Self {
        self.max_datum_bytes = bytes;
        self
    }

    /// Sets the size of the largest unary body, in bytes.
    #[must_use]
    pub const fn with_max_body_bytes(mut self, bytes: usize) -> Self {
        self.max_body_bytes = bytes;
        self
    }
}

impl fmt::Debug for ClientConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientConfig")
            .field("version", &self.version)
            .field("streaming", &self.streaming)
            .field("allow_remote", &self.allow_remote)
            .finish_non_exhaustive()
    }
}
