//! The signature that a request carries, in its header or its address.

use std::borrow::Cow;

use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderName};

use super::canonical::{self, Pairs};
use crate::DeniedReason;

/// The one algorithm; `AWS4-ECDSA-P256-SHA256` has other credentials.
pub(super) const ALGORITHM: &str = "AWS4-HMAC-SHA256";

const DATE: &str = "x-amz-date";
const SECURITY_TOKEN: &str = "x-amz-security-token";
const HOST: &str = "host";

/// Most headers that one signature may name; more is nothing that a client does.
const MAX_SIGNED_HEADERS: usize = 64;

/// Where the signature stands, and what follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// In `Authorization`.
    Header,
    /// In the query of the address, with a life of its own in seconds.
    Query { expires_s: u32 },
}

/// A signature and what it says about itself. Nothing of it has been checked but its form.
pub(super) struct Presented<'a> {
    pub(super) form: Form,
    pub(super) access_key_id: Cow<'a, str>,
    pub(super) day: Cow<'a, str>,
    pub(super) region: Cow<'a, str>,
    pub(super) service: Cow<'a, str>,
    /// Lower case, sorted, each once.
    pub(super) signed_headers: Vec<HeaderName>,
    pub(super) signature: [u8; 32],
    /// `20150830T123600Z`.
    pub(super) time: Cow<'a, str>,
    pub(super) session_token: Option<Cow<'a, [u8]>>,
    /// The query of the address without the signature.
    pub(super) query: Pairs,
}

impl<'a> Presented<'a> {
    /// Looks for the one signature.
    pub(super) fn find(head: &'a Parts) -> Result<Self, DeniedReason> {
        let query = Pairs::decode(head.uri.query().unwrap_or_default()).ok_or(DeniedReason::Malformed)?;
        let in_header = head.headers.contains_key(AUTHORIZATION);
        match (in_header, query.contains("X-Amz-Signature")) {
            (false, false) => Err(DeniedReason::Missing),
            (true, true) => Err(DeniedReason::Repeated),
            (true, false) => Self::in_header(&head.headers, query),
            (false, true) => Self::in_query(query),
        }
    }

    fn in_header(headers: &'a HeaderMap, query: Pairs) -> Result<Self, DeniedReason> {
        let text = only(headers, AUTHORIZATION.as_str())?.ok_or(DeniedReason::Missing)?;
        let text = std::str::from_utf8(text).map_err(|_| DeniedReason::OtherScheme)?;
        let fields = text.strip_prefix(ALGORITHM).and_then(|rest| rest.strip_prefix(' '));
        let fields = fields.ok_or(DeniedReason::OtherScheme)?;

        let (mut credential, mut signed, mut signature) = (None, None, None);
        for field in fields.split(',') {
            let (name, value) = field.trim().split_once('=').ok_or(DeniedReason::Malformed)?;
            let place = match name {
                "Credential" => &mut credential,
                "SignedHeaders" => &mut signed,
                "Signature" => &mut signature,
                _ => return Err(DeniedReason::Malformed),
            };
            if place.replace(value).is_some() {
                return Err(DeniedReason::Repeated);
            }
        }
        let (Some(credential), Some(signed), Some(signature)) = (credential, signed, signature) else {
            return Err(DeniedReason::Malformed);
        };
        let time = only(headers, DATE)?.ok_or(DeniedReason::UnsignedHeader)?;
        let time = std::str::from_utf8(time).map_err(|_| DeniedReason::Malformed)?;
        let session_token = only(headers, SECURITY_TOKEN)?;
        let signed_headers = signed_headers(signed)?;
        let covered = |name: &str| signed_headers.iter().any(|header| header.as_str() == name);
        if !covered(HOST) || !covered(DATE) || (session_token.is_some() && !covered(SECURITY_TOKEN)) {
            return Err(DeniedReason::UnsignedHeader);
        }
        let [access_key_id, day, region, service] = credential_parts(credential)?;
        Ok(Self {
            form: Form::Header,
            access_key_id: access_key_id.into(),
            day: day.into(),
            region: region.into(),
            service: service.into(),
            signed_headers,
            signature: canonical::unhex(signature.as_bytes()).ok_or(DeniedReason::Malformed)?,
            time: time.into(),
            session_token: session_token.map(Cow::Borrowed),
            query,
        })
    }

    fn in_query(mut query: Pairs) -> Result<Self, DeniedReason> {
        let signature = query.take("X-Amz-Signature")?.ok_or(DeniedReason::Malformed)?;
        let required = |name| query.only(name)?.ok_or(DeniedReason::Malformed);
        if required("X-Amz-Algorithm")? != ALGORITHM {
            return Err(DeniedReason::OtherScheme);
        }
        let signed_headers = signed_headers(required("X-Amz-SignedHeaders")?)?;
        if !signed_headers.iter().any(|header| header == HOST) {
            return Err(DeniedReason::UnsignedHeader);
        }
        let expires = required("X-Amz-Expires")?;
        let plain = !expires.is_empty() && expires.bytes().all(|byte| byte.is_ascii_digit());
        let expires_s = expires.parse().ok().filter(|_| plain).ok_or(DeniedReason::Malformed)?;
        let [access_key_id, day, region, service] = credential_parts(required("X-Amz-Credential")?)?;
        let owned = |text: &str| Cow::Owned(text.to_owned());
        Ok(Self {
            form: Form::Query { expires_s },
            access_key_id: owned(access_key_id),
            day: owned(day),
            region: owned(region),
            service: owned(service),
            signed_headers,
            signature: canonical::unhex(signature.as_bytes()).ok_or(DeniedReason::Malformed)?,
            time: owned(required("X-Amz-Date")?),
            session_token: query
                .only("X-Amz-Security-Token")?
                .map(|token| Cow::Owned(token.as_bytes().to_vec())),
            query,
        })
    }
}

/// The value of a header that may come once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a [u8]>, DeniedReason> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().map(http::HeaderValue::as_bytes);
    if values.next().is_some() { Err(DeniedReason::Repeated) } else { Ok(value) }
}

/// `<key id>/<day>/<region>/<service>/aws4_request`.
fn credential_parts(text: &str) -> Result<[&str; 4], DeniedReason> {
    let mut parts = text.split('/');
    let mut part = || parts.next().ok_or(DeniedReason::Malformed);
    let found = [part()?, part()?, part()?, part()?];
    match (parts.next(), parts.next()) {
        (Some("aws4_request"), None) => Ok(found),
        _ => Err(DeniedReason::Malformed),
    }
}

/// Names separated by semicolons, as the signer wrote them: lower case, sorted, each once.
fn signed_headers(text: &str) -> Result<Vec<HeaderName>, DeniedReason> {
    let names: Vec<&str> = text.split(';').take(MAX_SIGNED_HEADERS + 1).collect();
    let ordered = names.windows(2).all(|pair| pair[0] < pair[1]);
    if names.len() > MAX_SIGNED_HEADERS || !ordered {
        return Err(DeniedReason::Malformed);
    }
    let lower = |name: &str| HeaderName::from_lowercase(name.as_bytes()).map_err(|_| DeniedReason::Malformed);
    names.into_iter().map(lower).collect()
}
