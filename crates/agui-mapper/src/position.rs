//! Where a run stopped: what a later run of the same execution must know to repeat nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Resume positions of an execution.
///
/// [`EventMapper::position`](crate::EventMapper::position) gives it, a store keeps it, and
/// [`MapperConfig::with_resume`](crate::MapperConfig::with_resume) takes it back. It holds digests of
/// texts, never texts.
///
/// ```
/// use a2a_wire::StreamItem;
/// use agui_core::UnixMillis;
/// use agui_mapper::{Ending, EventMapper, MapperConfig, ResumePoint};
///
/// let said = br#"{"result":{"statusUpdate":{"taskId":"T1","contextId":"C1",
///     "status":{"state":"TASK_STATE_WORKING","message":{"messageId":"T1-message","role":"ROLE_AGENT",
///         "parts":[{"text":"Creating the VPC."}]}}}}}"#;
/// let mut mapper = EventMapper::new(MapperConfig::new("thread", "run-1", "execution", "invocation", "C1"));
/// mapper.handle_item(UnixMillis::new(1), &StreamItem::decode(said)?);
/// mapper.finish(UnixMillis::new(2), Ending::Success);
/// let position = mapper.position();
/// assert_eq!((position.texts[0].message_id.as_str(), position.texts[0].bytes), ("T1-message", 17));
///
/// let stored = serde_json::to_string(&position)?;
/// assert!(!stored.contains("VPC"));
/// let position: ResumePoint = serde_json::from_str(&stored)?;
/// let next = MapperConfig::new("thread", "run-2", "execution", "invocation", "C1").with_resume(position);
/// # drop(next);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ResumePoint {
    /// Highest sequence of a pipeline event that was mapped; 0 before the first.
    pub pipeline_sequence: u64,
    /// Keys of the steps that are still running: `step:<id>` or `candidate:<candidate>:<step>`, sorted.
    pub pipeline_open_steps: Vec<String>,
    /// The texts that were shown, oldest run first.
    pub texts: Vec<ShownText>,
    /// SHA-256 digests of whole texts in lower-case hexadecimal, as the Python adapter stores them.
    ///
    /// A digest alone says neither which message it belongs to nor how long the text was, so it only
    /// counts when a whole replayed text has it. [`texts`](Self::texts) is used where it has the message.
    pub text_snapshot_digests: Vec<String>,
    /// Ids of the artifacts that were announced.
    pub artifacts: Vec<String>,
    /// Digests of the contents that artifacts were announced with ([`Dialect::Plain`](crate::Dialect::Plain)
    /// only).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub artifact_digests: BTreeMap<String, String>,
    /// Id of the message that began the execution, for whoever looks for its task before that is known. A
    /// mapper neither reads nor keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun_by: Option<String>,
}

impl ResumePoint {
    /// Most entries of each list; the oldest go first.
    pub const MAX_ENTRIES: usize = 256;

    /// The position before the first event.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the sequence of the last pipeline event.
    #[must_use]
    pub const fn with_pipeline_sequence(mut self, sequence: u64) -> Self {
        self.pipeline_sequence = sequence;
        self
    }

    /// Sets the keys of the running steps.
    #[must_use]
    pub fn with_pipeline_open_steps(mut self, keys: Vec<String>) -> Self {
        self.pipeline_open_steps = keys;
        self
    }

    /// Sets the texts that were shown.
    #[must_use]
    pub fn with_texts(mut self, texts: Vec<ShownText>) -> Self {
        self.texts = texts;
        self
    }

    /// Sets the digests of whole texts.
    #[must_use]
    pub fn with_text_snapshot_digests(mut self, digests: Vec<String>) -> Self {
        self.text_snapshot_digests = digests;
        self
    }

    /// Sets the id of the message that began the execution.
    #[must_use]
    pub fn with_begun_by(mut self, message_id: impl Into<String>) -> Self {
        self.begun_by = Some(message_id.into());
        self
    }

    /// Sets the ids of the announced artifacts.
    #[must_use]
    pub fn with_artifacts(mut self, ids: Vec<String>) -> Self {
        self.artifacts = ids;
        self
    }
}

/// What one run showed of one message or artifact of the kernel, as digests.
///
/// Example: see [`ResumePoint`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ShownText {
    /// The kernel's id of the message, or the id of the artifact; a resumed turn goes on under the same id.
    pub message_id: String,
    /// Which text of an artifact it is, from 1 on; absent for a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_version: Option<u32>,
    /// Length of the text in bytes.
    pub bytes: u64,
    /// SHA-256 of the text, lower-case hexadecimal.
    pub digest: String,
    /// First 8 bytes of the SHA-256 of the last 64 bytes of the text, or of all of a shorter one.
    #[serde(default)]
    pub tail: String,
    /// First 8 bytes of the SHA-256 of the first 4, 8, 16, ... bytes, as far as the text is longer.
    ///
    /// With these a text that merely begins alike is told apart after at most twice the common part.
    #[serde(default)]
    pub heads: Vec<String>,
}

impl ShownText {
    /// Puts the parts of a stored entry together.
    #[must_use]
    pub fn new(message_id: impl Into<String>, bytes: u64, digest: impl Into<String>) -> Self {
        let (message_id, digest) = (message_id.into(), digest.into());
        Self { message_id, artifact_version: None, bytes, digest, tail: String::new(), heads: Vec::new() }
    }
}
