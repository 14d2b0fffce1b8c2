//! The ids that a platform gives requests and sessions.

use http::{HeaderMap, HeaderName, HeaderValue};
use tracing::Span;
use uuid::Uuid;

/// Longest id that is believed, in bytes (256, the longest session id of AgentCore).
const MAX_ID_BYTES: usize = 256;

/// The headers by which a request and its session are known, in the log and in the answer.
///
/// Every answer carries the request id: the client's, if one of the known headers has it, else a fresh
/// UUID. The agent and the handlers see the same id under the same name. The session id is passed back
/// if it came. Ids that are longer than 256 bytes or no visible ASCII count as absent.
///
/// ```
/// use agui_transport::EchoHeaders;
/// use http::HeaderName;
///
/// let echo = EchoHeaders::new(HeaderName::from_static("x-amzn-requestid"))
///     .prefer(HeaderName::from_static("x-amzn-bedrock-agentcore-runtime-request-id"))
///     .with_session(HeaderName::from_static("x-amzn-bedrock-agentcore-runtime-session-id"));
/// # let _ = echo;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EchoHeaders {
    request: HeaderName,
    preferred: Vec<HeaderName>,
    session: Option<HeaderName>,
}

impl EchoHeaders {
    /// Knows requests by the header `request`, which is also the header of the answer.
    #[must_use]
    pub const fn new(request: HeaderName) -> Self {
        Self { request, preferred: Vec::new(), session: None }
    }

    /// Adds a header that is looked at before the one of the answer; the first added comes first.
    #[must_use]
    pub fn prefer(mut self, name: HeaderName) -> Self {
        self.preferred.push(name);
        self
    }

    /// Knows sessions by this header.
    #[must_use]
    pub fn with_session(mut self, name: HeaderName) -> Self {
        self.session = Some(name);
        self
    }

    /// The ids of a request; the request id is there in `headers` afterwards.
    pub(crate) fn read(&self, headers: &mut HeaderMap) -> Ids {
        let named = self.preferred.iter().chain([&self.request]).find_map(|name| id(headers, name));
        let request = named.cloned().unwrap_or_else(fresh);
        let session = self.session.as_ref().and_then(|name| id(headers, name)).cloned();
        headers.insert(&self.request, request.clone());
        Ids { request: Some(request), session }
    }

    /// Puts the ids on an answer.
    pub(crate) fn mark(&self, ids: &Ids, answer: &mut HeaderMap) {
        if let Some(id) = &ids.request {
            answer.insert(&self.request, id.clone());
        }
        if let (Some(name), Some(id)) = (&self.session, &ids.session) {
            answer.insert(name, id.clone());
        }
    }
}

/// How a request and its session are called.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ids {
    request: Option<HeaderValue>,
    session: Option<HeaderValue>,
}

impl Ids {
    pub(crate) fn request(&self) -> Option<&str> {
        self.request.as_ref()?.to_str().ok()
    }

    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_ref()?.to_str().ok()
    }

    /// Around all that is done for the request; disabled if nothing is known of it.
    pub(crate) fn span(&self) -> Span {
        match self.request() {
            Some(id) => tracing::info_span!("request", requestId = id, sessionId = self.session()),
            None => Span::none(),
        }
    }

    /// What a caller can quote when it asks what happened: the request id, or a fresh one.
    pub(crate) fn correlation(&self) -> String {
        self.request().map_or_else(|| Uuid::new_v4().to_string(), str::to_owned)
    }
}

fn id<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let value = headers.get(name)?;
    let usable = !value.is_empty() && value.len() <= MAX_ID_BYTES && value.to_str().is_ok();
    usable.then_some(value)
}

fn fresh() -> HeaderValue {
    let id = Uuid::new_v4().to_string();
    HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("unknown"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: HeaderName = HeaderName::from_static("x-request");
    const EDGE: HeaderName = HeaderName::from_static("x-edge-request");
    const SESSION: HeaderName = HeaderName::from_static("x-session");

    type Fields<'a> = &'a [(&'a HeaderName, &'a [u8])];

    fn headers(fields: Fields<'_>) -> HeaderMap {
        fields
            .iter()
            .map(|(name, value)| ((*name).clone(), HeaderValue::from_bytes(value).unwrap()))
            .collect()
    }

    #[test]
    fn the_preferred_header_names_the_request() {
        let echo = EchoHeaders::new(REQUEST).prefer(EDGE).with_session(SESSION);
        let long = [b'a'; MAX_ID_BYTES + 1];
        let table: &[(Fields<'_>, Option<&str>, Option<&str>)] = &[
            (&[(&EDGE, b"e"), (&REQUEST, b"r"), (&SESSION, b"s")], Some("e"), Some("s")),
            (&[(&REQUEST, b"r")], Some("r"), None),
            (&[(&EDGE, b""), (&REQUEST, b"r")], Some("r"), None),
            (&[(&EDGE, &long), (&REQUEST, b"r"), (&SESSION, &long)], Some("r"), None),
            (&[(&REQUEST, b"\xff"), (&SESSION, b"\xff")], None, None),
            (&[], None, None),
        ];
        for (fields, request, session) in table {
            let mut seen = headers(fields);
            let ids = echo.read(&mut seen);
            match request {
                Some(request) => assert_eq!(ids.request(), Some(*request), "{fields:?}"),
                None => assert!(Uuid::try_parse(ids.request().unwrap()).is_ok(), "{fields:?}"),
            }
            assert_eq!(ids.session(), *session, "{fields:?}");
            assert_eq!(seen.get(REQUEST).map(|id| id.to_str().unwrap()), ids.request(), "{fields:?}");
            let mut answer = HeaderMap::new();
            echo.mark(&ids, &mut answer);
            assert_eq!(answer.get(REQUEST).map(|id| id.to_str().unwrap()), ids.request(), "{fields:?}");
            assert_eq!(answer.get(SESSION).map(|id| id.to_str().unwrap()), *session, "{fields:?}");
        }
    }

    #[test]
    fn fresh_ids_differ() {
        let echo = EchoHeaders::new(REQUEST);
        let id = || echo.read(&mut HeaderMap::new()).correlation();
        assert_ne!(id(), id());
        assert_ne!(Ids::default().correlation(), Ids::default().correlation());
    }
}
