//! Which headers of a caller the upstream gets to see.

use agui_core::RunRequest;
use http::HeaderMap;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE,
    EXPECT, HOST, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

use super::RelayError;

/// Headers of a caller that an upstream always gets: those that trace a request and name its session.
/// `*` stands for any rest of the name.
///
/// Source: the headers that the platform adds or lets pass, without those that prove who calls.
pub const FORWARDED_HEADERS: &[&str] = &[
    "baggage",
    "traceparent",
    "tracestate",
    "x-amzn-trace-id",
    "x-amzn-requestid",
    "x-amzn-bedrock-agentcore-runtime-request-id",
    "x-amzn-bedrock-agentcore-runtime-session-id",
    "x-amzn-bedrock-agentcore-runtime-user-id",
    "x-amzn-bedrock-agentcore-runtime-custom-*",
];

/// Headers that carry credentials; a beginning of a name does not stand for them.
const CREDENTIALS: &[&str] = &[
    "authorization",
    "cookie",
    "proxy-authorization",
    "workloadaccesstoken",
    "x-amz-bedrock-agentcore-identity-wat",
    "x-amz-security-token",
    "x-amzn-bedrock-agentcore-runtime-workload-accesstoken",
    "x-api-key",
];

/// Headers of the caller's connection and body, which the relay's own request has anew.
const FIXED: [HeaderName; 12] = [
    ACCEPT,
    ACCEPT_ENCODING,
    CONNECTION,
    CONTENT_ENCODING,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    EXPECT,
    HOST,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The rule, read once.
#[derive(Debug)]
pub(super) struct Forward {
    /// In lower case.
    names: Vec<Box<str>>,
    /// Beginnings of names, in lower case.
    beginnings: Vec<Box<str>>,
}

impl Forward {
    pub(super) fn new(configured: &[String]) -> Result<Self, RelayError> {
        let mut rule = Self { names: Vec::new(), beginnings: Vec::new() };
        let always = FORWARDED_HEADERS.iter().copied();
        for given in always.chain(configured.iter().map(String::as_str)) {
            let invalid = || RelayError::InvalidForward { name: given.into() };
            let lower = given.trim().to_ascii_lowercase();
            match lower.strip_suffix('*') {
                Some(beginning) if HeaderName::try_from(beginning).is_ok() => {
                    rule.beginnings.push(beginning.into());
                }
                Some(_) => return Err(invalid()),
                None => {
                    let name = HeaderName::try_from(&*lower).map_err(|_| invalid())?;
                    if FIXED.contains(&name) {
                        return Err(invalid());
                    }
                    rule.names.push(name.as_str().into());
                }
            }
        }
        Ok(rule)
    }

    /// Whether the upstream sees a header of this name.
    pub(super) fn passes(&self, name: &str) -> bool {
        if self.names.iter().any(|known| **known == *name) {
            return true;
        }
        self.beginnings.iter().any(|beginning| name.starts_with(&**beginning))
            && !CREDENTIALS.contains(&name)
            && !FIXED.iter().any(|fixed| fixed.as_str() == name)
    }

    /// The headers of the upstream's request, beside those that every request has.
    pub(super) fn headers(&self, request: &RunRequest) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut add = |name: &str, value: &str| {
            // A value that came in a header can be sent in one; a wrapper may have added others.
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.append(name, value);
            }
        };
        if let Some(languages) = &request.accept_language {
            add(ACCEPT_LANGUAGE.as_str(), languages);
        }
        for (name, value) in &request.headers {
            if **name != *ACCEPT_LANGUAGE.as_str() && self.passes(name) {
                add(name, value);
            }
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(configured: &[&str]) -> Forward {
        let configured: Vec<String> = configured.iter().map(|name| (*name).to_owned()).collect();
        Forward::new(&configured).unwrap()
    }

    #[test]
    fn credentials_pass_only_if_they_are_named_in_full() {
        let by_default = rule(&[]);
        for name in ["traceparent", "x-amzn-bedrock-agentcore-runtime-custom-tenant"] {
            assert!(by_default.passes(name), "{name}");
        }
        let wide = rule(&["X-*", "au*", "w*", "c*"]);
        for name in CREDENTIALS {
            assert!(!by_default.passes(name) && !wide.passes(name), "{name}");
            assert!(rule(&[name]).passes(name), "{name}");
        }
        for name in FIXED {
            assert!(!wide.passes(name.as_str()), "{name}");
        }
        assert!(wide.passes("x-tenant") && !by_default.passes("x-tenant"));
    }

    #[test]
    fn names_that_cannot_be_forwarded_are_refused() {
        for name in ["", "*", "a b", "Host", "content-length"] {
            let refused = Forward::new(&[name.to_owned()]);
            assert!(matches!(refused, Err(RelayError::InvalidForward { .. })), "{name}");
        }
    }
}
