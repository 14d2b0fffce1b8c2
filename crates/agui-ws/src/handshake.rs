//! The opening handshake: which upgrade requests are accepted, with which headers, and the bearer token
//! that browsers can only send as a subprotocol.

use agui_core::Problem;
use agui_i18n::Language;
use agui_iac_code::{ErrorCode, ErrorNotice};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
    UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// The subprotocol that stands for a bearer token in another subprotocol.
///
/// Source: Amazon Bedrock AgentCore, "WebSocket".
pub const BEARER_PROTOCOL: &str = "base64UrlBearerAuthorization";

/// Longest token that is read from a subprotocol, in characters of its base64url form (4,096).
///
/// Source: Amazon Bedrock AgentCore, "WebSocket".
pub const MAX_BEARER_CHARS: usize = 4096;

/// The one version of the protocol.
///
/// Source: RFC 6455 section 4.4.
const VERSION: &str = "13";

/// Why an upgrade request is not accepted.
///
/// Source: RFC 6455 section 4.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The request does not ask for WebSocket.
    #[error("not a request for a websocket")]
    NotAsked,
    /// No version, or another one than 13.
    #[error("not version 13 of the websocket protocol")]
    Version,
    /// No key, several, or not 16 bytes of base64.
    #[error("no valid websocket key")]
    Key,
}

impl Refused {
    /// The status of the answer.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::NotAsked | Self::Version => StatusCode::UPGRADE_REQUIRED,
            Self::Key => StatusCode::BAD_REQUEST,
        }
    }

    /// The headers that belong to the answer.
    ///
    /// Source: RFC 6455 section 4.4; RFC 9110 section 15.5.22.
    #[must_use]
    pub fn headers(self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.status() == StatusCode::UPGRADE_REQUIRED {
            headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
            headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
            headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
        }
        headers
    }

    /// The body of the answer.
    #[must_use]
    pub fn problem(self, language: Language) -> Problem {
        let notice = ErrorNotice::new(ErrorCode::ValidationError);
        let text = agui_i18n::notice(language, &notice).into_owned();
        Problem::new(self.status().as_u16(), notice.code.as_str(), text)
    }
}

/// Checks an upgrade request and gives the headers of the answer `101 Switching Protocols`.
///
/// No extension is ever agreed on. Of the subprotocols only [`BEARER_PROTOCOL`] is chosen, if offered.
///
/// # Errors
/// [`Refused`], which knows the status and headers of the answer.
///
/// Source: RFC 6455 section 4.2.
pub fn accept(headers: &HeaderMap) -> Result<HeaderMap, Refused> {
    if !lists(headers, &UPGRADE, |token| token.eq_ignore_ascii_case("websocket"))
        || !lists(headers, &CONNECTION, |token| token.eq_ignore_ascii_case("upgrade"))
    {
        return Err(Refused::NotAsked);
    }
    if sole(headers, &SEC_WEBSOCKET_VERSION) != Some(VERSION) {
        return Err(Refused::Version);
    }
    let key = sole(headers, &SEC_WEBSOCKET_KEY).ok_or(Refused::Key)?;
    if STANDARD.decode(key).map(|bytes| bytes.len()) != Ok(16) {
        return Err(Refused::Key);
    }
    let accept = HeaderValue::try_from(derive_accept_key(key.as_bytes())).map_err(|_| Refused::Key)?;
    let mut answer = HeaderMap::new();
    answer.insert(UPGRADE, HeaderValue::from_static("websocket"));
    answer.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    answer.insert(SEC_WEBSOCKET_ACCEPT, accept);
    if lists(headers, &SEC_WEBSOCKET_PROTOCOL, |token| token == BEARER_PROTOCOL) {
        answer.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(BEARER_PROTOCOL));
    }
    Ok(answer)
}

/// The value of an `Authorization` header that stands for the token in the subprotocols, marked as
/// sensitive; put it in before the caller is authenticated.
///
/// The token is what follows `base64UrlBearerAuthorization.`, in base64url without padding. `None` if
/// there is no such subprotocol, there are several, or it is too long or decodes to something that no
/// header can carry.
///
/// ```
/// use agui_ws::authorization;
/// use http::{HeaderMap, HeaderValue};
///
/// let mut headers = HeaderMap::new();
/// let offered = "base64UrlBearerAuthorization, base64UrlBearerAuthorization.czNjcmV0";
/// headers.insert("sec-websocket-protocol", HeaderValue::from_static(offered));
/// assert_eq!(authorization(&headers).unwrap(), "Bearer s3cret");
/// ```
#[must_use]
pub fn authorization(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut tokens = elements(headers, &SEC_WEBSOCKET_PROTOCOL)
        .filter_map(|protocol| protocol.strip_prefix(BEARER_PROTOCOL)?.strip_prefix('.'));
    let (Some(token), None) = (tokens.next(), tokens.next()) else { return None };
    if token.is_empty() || token.len() > MAX_BEARER_CHARS {
        return None;
    }
    let token = URL_SAFE_NO_PAD.decode(token).ok()?;
    if !token.iter().all(u8::is_ascii_graphic) {
        return None;
    }
    let mut value = HeaderValue::from_bytes(&[b"Bearer ", &*token].concat()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn elements<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

fn lists(headers: &HeaderMap, name: &HeaderName, wanted: impl Fn(&str) -> bool) -> bool {
    elements(headers, name).any(wanted)
}

/// The value of a header that must be there once.
fn sole<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value.trim())
}

#[cfg(test)]
mod tests;
