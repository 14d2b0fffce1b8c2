//! `forwardedProps.iacCode`: what a client may ask of iac-code in one request.

use std::collections::BTreeMap;

use crate::secret::Secret;

mod decode;
mod error;

pub use error::{PropsError, PropsErrorKind};

/// Longest `rosInvocationId`, in characters.
///
/// Source: S3.
pub const MAX_ROS_INVOCATION_ID_CHARS: usize = 256;

/// The extension object of one request, decoded strictly by [`decode`](Self::decode).
///
/// Every optional member is `None` when it was not given, or was null; nothing is filled in.
///
/// ```
/// use agui_iac_code::{IacCodeProps, PropsErrorKind};
///
/// let props = IacCodeProps::decode(Some(
///     r#"{"iacCode":{"schemaVersion":1,"rosInvocationId":"inv-1","cwd":"/workspace","runMode":"pipeline"}}"#,
/// ))?;
/// assert_eq!(props.cwd, "/workspace");
///
/// let error = IacCodeProps::decode(Some(
///     r#"{"iacCode":{"schemaVersion":1,"rosInvocationId":"inv-1","cwd":"/workspace","verbose":true}}"#,
/// ));
/// let error = error.unwrap_err();
/// assert_eq!(error.pointer, "/forwardedProps/iacCode/verbose");
/// assert_eq!(error.kind, PropsErrorKind::UnknownKey);
/// # Ok::<(), agui_iac_code::PropsError>(())
/// ```
///
/// Source: S3.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct IacCodeProps {
    /// Identity of the requester for the current execution, 1 to 256 characters.
    pub ros_invocation_id: String,
    /// Workspace path as given; whether it is absolute and allowed is checked where files are.
    pub cwd: String,
    /// Model for this request.
    pub model: Option<String>,
    /// Key of the model provider for this request.
    pub llm_api_key: Option<Secret>,
    /// Reasoning output.
    pub thinking: Option<ThinkingProps>,
    /// Telemetry and requester-binding identity.
    pub user_id: Option<String>,
    /// Caller channel.
    pub channel: Option<String>,
    /// Display language of this request.
    pub preferred_language: Option<String>,
    /// How pipeline candidates are presented.
    pub candidate_presentation: Option<CandidatePresentation>,
    /// Execution mode.
    pub run_mode: Option<RunMode>,
    /// Pipeline to run.
    pub pipeline_name: Option<String>,
    /// Ask only for the clean-up of a pipeline.
    pub cleanup_only: Option<bool>,
    /// Cloud credentials and region for this request.
    pub alibaba_cloud: Option<AlibabaCloudProps>,
    /// Headers for the model provider; an empty map clears those of earlier requests.
    pub llm_headers: Option<BTreeMap<String, Secret>>,
    /// The message steers the pipeline that runs already.
    pub active_guidance: Option<bool>,
}

/// What is asked of the model's reasoning.
///
/// Source: S3, `thinking`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThinkingProps {
    /// Whether reasoning output is wanted.
    pub enabled: Option<bool>,
    /// Effort in the provider's own words.
    pub effort: Option<String>,
    /// Budget in the provider's own unit, 1 to 2⁵³−1: the kernel's numbers are doubles.
    pub budget: Option<u64>,
}

/// Cloud credentials and default region of one request.
///
/// Source: S3, `alibabaCloud`.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AlibabaCloudProps {
    /// AccessKey id; the kernel uses it only together with the secret.
    pub access_key_id: Option<Secret>,
    /// AccessKey secret.
    pub access_key_secret: Option<Secret>,
    /// STS token.
    pub security_token: Option<Secret>,
    /// Default region.
    pub region_id: Option<String>,
}

/// How pipeline candidates are presented.
///
/// Source: S3, `candidatePresentation`; S3.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CandidatePresentation {
    /// Plain.
    Standard,
    /// With diagrams and details.
    Rich,
}

impl CandidatePresentation {
    /// The word that the kernel knows: `rich` is `rich-v1` there.
    ///
    /// Source: S3.0.
    #[must_use]
    pub const fn kernel_name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Rich => "rich-v1",
        }
    }
}

/// Execution mode.
///
/// Source: S3, `runMode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunMode {
    /// A conversation with tools.
    Normal,
    /// A pipeline of steps.
    Pipeline,
}

impl RunMode {
    /// The wire name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Pipeline => "pipeline",
        }
    }
}

impl IacCodeProps {
    /// The two members every request has; the rest is not given.
    #[must_use]
    pub fn new(ros_invocation_id: impl Into<String>, cwd: impl Into<String>) -> Self {
        Self {
            ros_invocation_id: ros_invocation_id.into(),
            cwd: cwd.into(),
            model: None,
            llm_api_key: None,
            thinking: None,
            user_id: None,
            channel: None,
            preferred_language: None,
            candidate_presentation: None,
            run_mode: None,
            pipeline_name: None,
            cleanup_only: None,
            alibaba_cloud: None,
            llm_headers: None,
            active_guidance: None,
        }
    }

    /// Decodes the JSON text of `forwardedProps`, `None` when the request has none.
    ///
    /// Keys beside `iacCode` belong to others and are not looked at. Inside, every key must be
    /// known, spelled exactly and given once. A null for an optional key counts as not given; an
    /// integral float counts as an integer, so `1.0` is the schema version 1, while `true` and
    /// `"1"` are not.
    ///
    /// # Errors
    /// [`PropsError`] with the JSON pointer of the first member that is wrong; it never holds a
    /// value.
    ///
    /// Source: S2.8, S3, S3.0.
    pub fn decode(forwarded_props: Option<&str>) -> Result<Self, PropsError> {
        decode::forwarded_props(forwarded_props)
    }

    /// Whether the message steers a running pipeline.
    #[must_use]
    pub fn is_guidance(&self) -> bool {
        self.active_guidance == Some(true)
    }
}

#[cfg(test)]
mod tests;
