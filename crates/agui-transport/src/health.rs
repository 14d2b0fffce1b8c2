//! The answer of the health route.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;

/// What the health route or another probe answers: a status and a JSON document.
///
/// ```
/// use agui_transport::Health;
/// use http::StatusCode;
/// use serde_json::json;
///
/// let busy = Health::ok(&json!({"status": "HealthyBusy"}));
/// let ill = Health::ok(&json!({"status": "Unhealthy"})).with_status(StatusCode::SERVICE_UNAVAILABLE);
/// assert_ne!(busy, ill);
/// ```
///
/// Source: S1.1; R19, R20.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Health {
    /// A healthy server that tells `document` about itself (S1.1).
    ///
    /// A document that cannot be serialised gives `{}`.
    #[must_use]
    pub fn ok(document: &impl Serialize) -> Self {
        let body = serde_json::to_vec(document).map_or(Bytes::from_static(b"{}"), Bytes::from);
        Self { status: StatusCode::OK, body }
    }

    /// Answers with another status than 200.
    #[must_use]
    pub const fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }
}

/// Where the document of a probe comes from.
#[derive(Clone)]
pub(crate) struct Probe(Arc<dyn Fn() -> Health + Send + Sync>);

impl Probe {
    pub(crate) fn new(document: impl Fn() -> Health + Send + Sync + 'static) -> Self {
        Self(Arc::new(document))
    }

    pub(crate) fn look(&self) -> Health {
        (self.0)()
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Probe(..)")
    }
}
