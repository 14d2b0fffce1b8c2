//! Verification of AWS Signature Version 4.

mod canonical;
mod credentials;
mod presented;
#[cfg(test)]
mod tests;
mod timestamp;

use std::time::Duration;

use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, Method};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::{Caller, Clock, ConfigError, Denied, DeniedReason};
use canonical::PayloadHash;
pub use credentials::AwsCredentials;
use presented::{Form, Presented};

/// The header in which a client may announce the hash of its body.
const CONTENT_SHA256: &str = "x-amz-content-sha256";
/// The announcement of a body that nothing covers.
const UNSIGNED_PAYLOAD: &str = "UNSIGNED-PAYLOAD";

/// How far the clocks of the caller and this machine may differ (15 minutes), as on AWS.
const SKEW: Duration = Duration::from_secs(15 * 60);

/// Longest life of a signed address, in seconds (5 minutes), as the platform has it for `/ws`.
const MAX_EXPIRES_S: u32 = 300;

/// Whether a signature has to cover the body.
///
/// Example: see [`SigV4Verifier`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PayloadRule {
    /// Always.
    #[default]
    Signed,
    /// Unless the caller says `UNSIGNED-PAYLOAD`, which AWS clients do over TLS only.
    MayBeUnsigned,
}

/// Checks that requests are signed with one set of AWS credentials, by a header or in the address.
///
/// For emulating the platform on one's own machine, where the caller's credentials are known. It knows no
/// other identities, no policies, and not the variants of S3 (chunked signatures, paths that are encoded once).
///
/// ```
/// use agui_auth::{Authenticator, AwsCredentials, SigV4Verifier};
///
/// let credentials = AwsCredentials::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")?;
/// let auth = Authenticator::SigV4(SigV4Verifier::new(credentials, "us-west-2")?);
/// assert!(auth.needs_body());
/// # Ok::<(), agui_auth::ConfigError>(())
/// ```
///
/// Source: R28, R35; the "Signature Version 4 for API requests" pages of the IAM guide.
#[derive(Debug, Clone)]
pub struct SigV4Verifier {
    credentials: AwsCredentials,
    region: Box<str>,
    service: Box<str>,
    payload: PayloadRule,
    clock: Clock,
}

impl SigV4Verifier {
    /// The service that clients sign for when they call an agent runtime.
    pub const DEFAULT_SERVICE: &'static str = "bedrock-agentcore";

    /// A verifier for one caller and region, and for [`DEFAULT_SERVICE`](Self::DEFAULT_SERVICE).
    ///
    /// # Errors
    /// [`ConfigError::Credentials`] if no signature could name this region.
    pub fn new(credentials: AwsCredentials, region: impl Into<String>) -> Result<Self, ConfigError> {
        Ok(Self {
            credentials,
            region: credentials::scope_part("region", region.into())?,
            service: Self::DEFAULT_SERVICE.into(),
            payload: PayloadRule::default(),
            clock: Clock::system(),
        })
    }

    /// Expects signatures for another service.
    ///
    /// # Errors
    /// [`ConfigError::Credentials`] if no signature could name this service.
    pub fn with_service(mut self, service: impl Into<String>) -> Result<Self, ConfigError> {
        self.service = credentials::scope_part("service", service.into())?;
        Ok(self)
    }

    /// Sets whether a signature has to cover the body; it has to, by default.
    #[must_use]
    pub const fn with_payload_rule(mut self, rule: PayloadRule) -> Self {
        self.payload = rule;
        self
    }

    /// Tells the time by another clock than the system's.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Whoever signs with these credentials.
    pub(crate) fn caller(&self) -> Caller {
        Caller::new(format!("sigv4 {}", self.credentials.access_key_id()))
    }

    /// Checks all that the head tells. A request that announces a body without its hash passes when the rest
    /// is right: its signature can only be checked by [`check_body`](Self::check_body).
    ///
    /// # Errors
    /// [`Denied`] with status 403, code `ACCESS_DENIED` and no challenge.
    pub fn check(&self, head: &Parts) -> Result<(), Denied> {
        let verdict = self.presented(head).and_then(|presented| {
            let payload = match self.announced_payload(&head.headers)? {
                Some(announced) => announced,
                None if may_have_body(head) => return Ok(()),
                None => PayloadHash::of(b""),
            };
            self.check_signature(head, &presented, &payload)
        });
        verdict.map_err(|reason| Denied::forbidden(reason, None))
    }

    /// Checks the whole request; `body` is empty where there is none.
    ///
    /// # Errors
    /// As for [`check`](Self::check).
    pub fn check_body(&self, head: &Parts, body: &[u8]) -> Result<(), Denied> {
        let verdict = self.presented(head).and_then(|presented| {
            let payload = match self.announced_payload(&head.headers)? {
                Some(announced) if announced.covers(body) => announced,
                Some(_) => return Err(DeniedReason::Payload),
                None => PayloadHash::of(body),
            };
            self.check_signature(head, &presented, &payload)
        });
        verdict.map_err(|reason| Denied::forbidden(reason, None))
    }

    /// The signature of the request, once everything around it is right.
    fn presented<'a>(&self, head: &'a Parts) -> Result<Presented<'a>, DeniedReason> {
        let presented = Presented::find(head)?;
        if presented.access_key_id != self.credentials.access_key_id() {
            return Err(DeniedReason::Unknown);
        }
        let day = presented.time.get(..8).unwrap_or_default();
        if presented.day != day || presented.region != *self.region || presented.service != *self.service {
            return Err(DeniedReason::CredentialScope);
        }
        self.check_time(&presented)?;
        self.check_session_token(&presented)?;
        // Found missing when the signature is computed, too; but that may take the body.
        if presented.signed_headers.iter().all(|name| canonical::has_header(head, name)) {
            Ok(presented)
        } else {
            Err(DeniedReason::UnsignedHeader)
        }
    }

    fn check_time(&self, presented: &Presented<'_>) -> Result<(), DeniedReason> {
        let signed = timestamp::since_epoch(&presented.time).ok_or(DeniedReason::Malformed)?;
        let now = self.clock.now();
        if signed > now.saturating_add(SKEW) {
            return Err(DeniedReason::NotYetValid);
        }
        let life = match presented.form {
            Form::Header => SKEW,
            Form::Query { expires_s } if (1..=MAX_EXPIRES_S).contains(&expires_s) => {
                Duration::from_secs(expires_s.into())
            }
            Form::Query { .. } => return Err(DeniedReason::Malformed),
        };
        if signed.saturating_add(life) < now { Err(DeniedReason::Expired) } else { Ok(()) }
    }

    fn check_session_token(&self, presented: &Presented<'_>) -> Result<(), DeniedReason> {
        let fits = match (self.credentials.session_token(), presented.session_token.as_deref()) {
            (None, None) => true,
            (Some(ours), Some(theirs)) => bool::from(ours.as_bytes().ct_eq(theirs)),
            _ => false,
        };
        if fits { Ok(()) } else { Err(DeniedReason::SessionToken) }
    }

    /// What the caller says about its body, in the header for that.
    fn announced_payload(&self, headers: &HeaderMap) -> Result<Option<PayloadHash>, DeniedReason> {
        let mut values = headers.get_all(CONTENT_SHA256).iter();
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(DeniedReason::Repeated);
        }
        if value == UNSIGNED_PAYLOAD {
            return match self.payload {
                PayloadRule::Signed => Err(DeniedReason::Payload),
                PayloadRule::MayBeUnsigned => Ok(Some(PayloadHash::Unsigned)),
            };
        }
        PayloadHash::from_hex(value.as_bytes()).map(Some).ok_or(DeniedReason::Payload)
    }

    fn check_signature(
        &self,
        head: &Parts,
        presented: &Presented<'_>,
        payload: &PayloadHash,
    ) -> Result<(), DeniedReason> {
        let request = canonical::request(head, presented, payload)?;
        let scope = format!("{}/{}/{}/aws4_request", presented.day, presented.region, presented.service);
        let digest = canonical::hex(&Sha256::digest(&request));
        let to_sign = format!("{}\n{}\n{scope}\n{digest}", presented::ALGORITHM, presented.time);
        let expected = self
            .credentials
            .sign(
                [presented.day.as_bytes(), self.region.as_bytes(), self.service.as_bytes()],
                to_sign.as_bytes(),
            )
            .ok_or(DeniedReason::Signature)?;
        let fits = bool::from(expected.as_slice().ct_eq(&presented.signature));
        if fits { Ok(()) } else { Err(DeniedReason::Signature) }
    }
}

/// Whether bytes may follow this head. `GET` and `HEAD` count as having none: nothing here reads one.
fn may_have_body(head: &Parts) -> bool {
    if head.method == Method::GET || head.method == Method::HEAD {
        return false;
    }
    // Over HTTP/2 a body need not be announced.
    head.version >= http::Version::HTTP_2
        || head.headers.contains_key(TRANSFER_ENCODING)
        || head.headers.get(CONTENT_LENGTH).is_some_and(|length| length != "0")
}
