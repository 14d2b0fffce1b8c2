//! How often a session may begin something.

use agui_auth::RateLimit;
use http::{HeaderMap, HeaderName};

use crate::refusal::Refusal;

/// The allowance of each session, and the header by which sessions are told apart.
#[derive(Debug)]
pub(crate) struct Sessions {
    limit: RateLimit,
    header: HeaderName,
}

impl Sessions {
    pub(crate) const fn new(limit: RateLimit, header: HeaderName) -> Self {
        Self { limit, header }
    }

    /// Takes one call off the allowance; callers that name no session share one.
    ///
    /// # Errors
    /// [`Refusal::TooOften`].
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let session = headers.get(&self.header).and_then(|value| value.to_str().ok());
        self.limit.check(session.unwrap_or_default()).map_err(Refusal::TooOften)
    }
}
