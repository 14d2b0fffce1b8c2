//! The kernel's own endpoints beside JSON-RPC.

use http::{StatusCode, Uri};
use serde::{Deserialize, Serialize};

use crate::{Client, ClientError, Datum};

const HEALTH_PATH: &str = "/health";
const RESTORE_PATH: &str = "/iac-code/session/ensure-restored";
const PIPELINE_STATE_PATH: &str = "/iac-code/pipeline/state";
const RECOVERY_PATH: &str = "/iac-code/session/recovery";

/// What the kernel says about itself.
///
/// Source: iac-code 0.16, `GET /health`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct Health {
    /// `healthy` if it is.
    pub status: String,
    /// The kernel's version.
    pub version: String,
    /// Run mode that is used when a request names none.
    pub mode: String,
}

/// Which session to make ready, and where.
///
/// Source: iac-code 0.16, `POST /iac-code/session/ensure-restored`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct RestoreRequest<'a> {
    /// Workspace, an absolute path.
    pub cwd: &'a str,
    /// Session of the kernel.
    pub session_id: &'a str,
    /// Task that must belong to the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<&'a str>,
}

impl<'a> RestoreRequest<'a> {
    /// A session without a task.
    #[must_use]
    pub const fn new(cwd: &'a str, session_id: &'a str) -> Self {
        Self { cwd, session_id, task_id: None }
    }

    /// Sets the task that must belong to the session.
    #[must_use]
    pub const fn with_task_id(mut self, task_id: &'a str) -> Self {
        self.task_id = Some(task_id);
        self
    }
}

/// How a session came to be ready.
///
/// Source: iac-code 0.16, `status` of `POST /iac-code/session/ensure-restored`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Restored {
    /// It was there.
    Current,
    /// It was brought back.
    Restored,
    /// There is no such session.
    NotFound,
    /// It is ready in a way this crate does not know.
    Other,
}

/// Which pipeline's state to read, and how much of it. One of the ids is needed.
///
/// Source: iac-code 0.16, query of `GET /iac-code/pipeline/state`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PipelineStateQuery<'a> {
    /// Task of the pipeline.
    pub task_id: Option<&'a str>,
    /// Conversation of the pipeline.
    pub context_id: Option<&'a str>,
    /// Brings the events with a larger sequence number; `None` = those after the snapshot.
    pub after_sequence: Option<u64>,
    /// Leaves the snapshot out; needs `after_sequence`.
    pub events_only: bool,
    /// Leaves the tools' results out of the snapshot.
    pub lean: bool,
}

impl<'a> PipelineStateQuery<'a> {
    /// The pipeline of a task.
    #[must_use]
    pub const fn of_task(task_id: &'a str) -> Self {
        Self {
            task_id: Some(task_id),
            context_id: None,
            after_sequence: None,
            events_only: false,
            lean: false,
        }
    }

    /// The pipeline of a conversation.
    #[must_use]
    pub const fn of_context(context_id: &'a str) -> Self {
        Self {
            task_id: None,
            context_id: Some(context_id),
            after_sequence: None,
            events_only: false,
            lean: false,
        }
    }

    /// Names the conversation that the task must belong to.
    #[must_use]
    pub const fn with_context_id(mut self, context_id: &'a str) -> Self {
        self.context_id = Some(context_id);
        self
    }

    /// Brings the events with a larger sequence number.
    #[must_use]
    pub const fn with_after_sequence(mut self, sequence: u64) -> Self {
        self.after_sequence = Some(sequence);
        self
    }

    /// Leaves the snapshot out.
    #[must_use]
    pub const fn with_events_only(mut self) -> Self {
        self.events_only = true;
        self
    }

    /// Leaves the tools' results out of the snapshot.
    #[must_use]
    pub const fn with_lean(mut self) -> Self {
        self.lean = true;
        self
    }

    fn uri(&self) -> Result<Uri, ClientError> {
        let after_sequence = self.after_sequence.map(|sequence| sequence.to_string());
        uri(
            PIPELINE_STATE_PATH,
            &[
                ("taskId", self.task_id),
                ("contextId", self.context_id),
                ("afterSequence", after_sequence.as_deref()),
                ("includeSnapshot", self.events_only.then_some("false")),
                ("lean", self.lean.then_some("true")),
            ],
        )
    }
}

impl Client {
    /// Asks whether the kernel is there.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn health(&self) -> Result<Health, ClientError> {
        let answer = self.get(Uri::from_static(HEALTH_PATH)).await?;
        Ok(answer.into_document()?.parse()?)
    }

    /// Makes a session ready before a task of it is resumed.
    ///
    /// # Errors
    /// [`ClientError::Http`] with status 409 and `retryable` while a backup is being written, else
    /// [`ClientError`].
    pub async fn ensure_restored(&self, request: RestoreRequest<'_>) -> Result<Restored, ClientError> {
        #[derive(Deserialize)]
        struct Body {
            status: String,
        }

        let uri = Uri::from_static(RESTORE_PATH);
        let answer = self.post_json(uri, serde_json::to_vec(&request)).await?;
        if answer.status == StatusCode::NOT_FOUND {
            // A server without this endpoint answers 404 too; only this body is about the session.
            return match serde_json::from_slice(&answer.body) {
                Ok(Body { status }) if status == "not_found" => Ok(Restored::NotFound),
                _ => Err(answer.into_failure()),
            };
        }
        let body: Body = answer.into_document()?.parse()?;
        Ok(match body.status.as_str() {
            "current" => Restored::Current,
            "restored" => Restored::Restored,
            _ => Restored::Other,
        })
    }

    /// Reads a pipeline's snapshot and journal as a document for
    /// [`agui_iac_code::PipelineState`]; `None` if there is no pipeline.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn pipeline_state(&self, query: PipelineStateQuery<'_>) -> Result<Option<Datum>, ClientError> {
        self.document(query.uri()?).await
    }

    /// Reads an execution's transcript as a document for [`agui_iac_code::SessionRecovery`]; `None` if it
    /// is unknown. `execution_id` is the kernel's own (`exec-…`).
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn session_recovery(
        &self,
        context_id: &str,
        execution_id: &str,
    ) -> Result<Option<Datum>, ClientError> {
        let query = [("contextId", Some(context_id)), ("executionId", Some(execution_id))];
        self.document(uri(RECOVERY_PATH, &query)?).await
    }

    async fn document(&self, uri: Uri) -> Result<Option<Datum>, ClientError> {
        let answer = self.get(uri).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        answer.into_document().map(Some)
    }
}

fn uri(path: &str, query: &[(&str, Option<&str>)]) -> Result<Uri, ClientError> {
    let mut text = path.to_owned();
    let mut separator = '?';
    for (name, value) in query {
        if let Some(value) = value {
            text.push(separator);
            text.push_str(name);
            text.push('=');
            push_escaped(&mut text, value);
            separator = '&';
        }
    }
    text.parse().map_err(|_| ClientError::InvalidUrl)
}

/// Source: RFC 3986, section 2.3: unreserved characters stand for themselves.
fn push_escaped(text: &mut String, value: &str) {
    const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            text.push(char::from(byte));
        } else {
            text.extend(['%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_name_only_what_is_asked_for() {
        let cases = [
            (PipelineStateQuery::of_task("T1"), "?taskId=T1"),
            (PipelineStateQuery::of_task("T1").with_after_sequence(0), "?taskId=T1&afterSequence=0"),
            (
                PipelineStateQuery::of_context("c:1").with_after_sequence(7).with_events_only().with_lean(),
                "?contextId=c%3A1&afterSequence=7&includeSnapshot=false&lean=true",
            ),
            (
                PipelineStateQuery::of_task("a&b=c d/\u{4f60}").with_context_id("C"),
                "?taskId=a%26b%3Dc%20d%2F%E4%BD%A0&contextId=C",
            ),
        ];
        for (query, expected) in cases {
            assert_eq!(query.uri().unwrap().to_string(), format!("{PIPELINE_STATE_PATH}{expected}"));
        }
    }

    #[test]
    fn restore_request_leaves_an_absent_task_out() {
        let request = RestoreRequest::new("/ws", "S1");
        assert_eq!(serde_json::to_string(&request).unwrap(), r#"{"cwd":"/ws","sessionId":"S1"}"#);
        assert_eq!(
            serde_json::to_string(&request.with_task_id("T1")).unwrap(),
            r#"{"cwd":"/ws","sessionId":"S1","taskId":"T1"}"#
        );
    }
}
