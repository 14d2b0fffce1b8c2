//! The four custom events and the activity that carries a pipeline snapshot.
//!
//! Each value serialises to the `value` of its event; what comes from the kernel is copied as text,
//! so that digits and order stay as they are.

use std::collections::HashMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::each_member;
use crate::metadata::PipelineEnvelope;

/// Name of [`SessionV1`].
///
/// Source: S6.1.
pub const SESSION_V1: &str = "iac-code.session.v1";
/// Name of [`ArtifactV1`].
///
/// Source: S6.2.
pub const ARTIFACT_V1: &str = "iac-code.artifact.v1";
/// Name of [`ToolProgressV1`].
///
/// Source: S6.3.
pub const TOOL_PROGRESS_V1: &str = "iac-code.tool-progress.v1";
/// Name of [`PipelineV1`], and type of the activity [`PipelineActivityV1`].
///
/// Source: S6.4.
pub const PIPELINE_V1: &str = "iac-code.pipeline.v1";

/// Names of the four custom events.
///
/// Source: S6.1 to S6.4.
pub const NAMES: [&str; 4] = [SESSION_V1, ARTIFACT_V1, TOOL_PROGRESS_V1, PIPELINE_V1];

/// Version that the values carry.
const SCHEMA_VERSION: u8 = 1;

/// Value of `iac-code.session.v1`: which kernel ids belong to the run.
///
/// An id that is not known is null.
///
/// ```
/// use agui_iac_code::custom::SessionV1;
///
/// let value = SessionV1::new("t1", "r1", "e1", "C1", "inv-1").with_task_id("T1");
/// assert_eq!(
///     serde_json::to_string(&value)?,
///     concat!(
///         r#"{"schemaVersion":1,"threadId":"t1","aguiRunId":"r1","executionId":"e1","contextId":"C1","#,
///         r#""taskId":"T1","rosInvocationId":"inv-1","sessionId":null}"#,
///     ),
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Source: S6.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionV1<'a> {
    schema_version: u8,
    /// Thread of the run.
    pub thread_id: &'a str,
    /// The run.
    pub agui_run_id: &'a str,
    /// Execution; the cancel extension takes it.
    pub execution_id: &'a str,
    /// A2A context.
    pub context_id: &'a str,
    /// A2A task.
    pub task_id: Option<&'a str>,
    /// Identity of the requester for the execution.
    pub ros_invocation_id: &'a str,
    /// The iac-code session.
    pub session_id: Option<&'a str>,
}

impl<'a> SessionV1<'a> {
    /// The ids that are known before the kernel answers.
    #[must_use]
    pub const fn new(
        thread_id: &'a str,
        agui_run_id: &'a str,
        execution_id: &'a str,
        context_id: &'a str,
        ros_invocation_id: &'a str,
    ) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            thread_id,
            agui_run_id,
            execution_id,
            context_id,
            task_id: None,
            ros_invocation_id,
            session_id: None,
        }
    }

    /// Adds the A2A task.
    #[must_use]
    pub const fn with_task_id(mut self, task_id: &'a str) -> Self {
        self.task_id = Some(task_id);
        self
    }

    /// Adds the iac-code session.
    #[must_use]
    pub const fn with_session_id(mut self, session_id: &'a str) -> Self {
        self.session_id = Some(session_id);
        self
    }
}

/// Value of `iac-code.artifact.v1`: an A2A artifact, and how it continues an earlier one.
///
/// Source: S6.2.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ArtifactV1<'a> {
    artifact: &'a RawValue,
    /// Whether its parts are added to those sent before; absent when the kernel did not say.
    pub append: Option<bool>,
    /// Whether it is the last piece; absent when the kernel did not say.
    pub last_chunk: Option<bool>,
}

impl<'a> ArtifactV1<'a> {
    /// The artifact object of an update or of a Task. A value that is no object is left out.
    #[must_use]
    pub const fn new(artifact: &'a RawValue) -> Self {
        Self { artifact, append: None, last_chunk: None }
    }

    /// Adds whether its parts are added to those sent before.
    #[must_use]
    pub const fn with_append(mut self, append: bool) -> Self {
        self.append = Some(append);
        self
    }

    /// Adds whether it is the last piece.
    #[must_use]
    pub const fn with_last_chunk(mut self, last_chunk: bool) -> Self {
        self.last_chunk = Some(last_chunk);
        self
    }
}

impl Serialize for ArtifactV1<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let flags = [("append", self.append), ("lastChunk", self.last_chunk)];
        serialize_versioned(serializer, self.artifact, &flags)
    }
}

/// Value of `iac-code.tool-progress.v1`: the kernel's `tool` object.
///
/// Source: S6.3.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ToolProgressV1<'a> {
    tool: &'a RawValue,
}

impl<'a> ToolProgressV1<'a> {
    /// The tool object of an update. A value that is no object is left out.
    #[must_use]
    pub const fn new(tool: &'a RawValue) -> Self {
        Self { tool }
    }
}

impl Serialize for ToolProgressV1<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_versioned(serializer, self.tool, &[])
    }
}

/// Value of `iac-code.pipeline.v1`: the pipeline event, unchanged.
///
/// `eventId` and `sequence` are what clients dedupe replayed events by.
///
/// Source: S6.4, S6.6.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PipelineV1<'a> {
    envelope: &'a RawValue,
}

impl<'a> PipelineV1<'a> {
    /// The value for an event; `None` for a type that clients do not get.
    #[must_use]
    pub fn new(envelope: &PipelineEnvelope<'a>) -> Option<Self> {
        envelope.event_type.is_forwarded().then_some(Self { envelope: envelope.raw.value() })
    }
}

impl Serialize for PipelineV1<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.envelope.serialize(serializer)
    }
}

/// Content of the `ACTIVITY_SNAPSHOT` of type [`PIPELINE_V1`]: a recovered pipeline.
///
/// Source: S5; iac-code 0.16, resume of `iac-code agui`.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PipelineActivityV1<'a> {
    schema_version: u8,
    /// Id of the pipeline run.
    pub pipeline_run_id: &'a str,
    snapshot: &'a RawValue,
}

impl<'a> PipelineActivityV1<'a> {
    /// The snapshot of a pipeline run.
    #[must_use]
    pub const fn new(pipeline_run_id: &'a str, snapshot: &'a RawValue) -> Self {
        Self { schema_version: SCHEMA_VERSION, pipeline_run_id, snapshot }
    }

    /// Id of the activity message, the same for every snapshot of the run.
    #[must_use]
    pub fn message_id(&self) -> String {
        format!("pipeline:{}", self.pipeline_run_id)
    }
}

/// Writes `schemaVersion`, the members of `object`, then the flags that are given.
///
/// A member of the object that has one of these names gives way, so that no name stands twice.
fn serialize_versioned<S: Serializer>(
    serializer: S,
    object: &RawValue,
    flags: &[(&'static str, Option<bool>)],
) -> Result<S::Ok, S::Error> {
    let mut members: Vec<(String, &RawValue)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    each_member(object, |member, value| {
        let given = flags.iter().any(|(name, flag)| *name == member && flag.is_some());
        if member == "schemaVersion" || given {
            return;
        }
        match places.get(member) {
            Some(place) => members[*place].1 = value,
            None => {
                places.insert(member.to_owned(), members.len());
                members.push((member.to_owned(), value));
            }
        }
    });
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("schemaVersion", &SCHEMA_VERSION)?;
    for (name, value) in &members {
        map.serialize_entry(name, value)?;
    }
    for (name, flag) in flags {
        if let Some(flag) = flag {
            map.serialize_entry(name, flag)?;
        }
    }
    map.end()
}

#[cfg(test)]
mod tests;
