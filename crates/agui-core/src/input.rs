//! The request of a run.

use std::fmt;

use serde::ser::SerializeMap;

use crate::decode::{self, DecodeError, Fields, Reader, Reading, Skipped};
use crate::record::Inline;
use crate::{Context, Json, Message, ResumeEntry, RunId, ThreadId, Tool, UserMessage};

record_without_debug! {
    /// The body of a run request.
    ///
    /// `Debug` shows ids and counts only: the body carries what users say, and secrets.
    ///
    /// Source: AG-UI 1.0, "Run input".
    pub struct RunAgentInput {
        required {
            /// The conversation.
            thread_id: ThreadId = "threadId",
            /// The run; unique within the thread.
            run_id: RunId = "runId",
            /// The whole history.
            messages: Vec<Message> = "messages",
        }
        optional {
            /// Protocol version of the sender; absent before 1.0.
            protocol_version: String = "protocolVersion", with_protocol_version, plain;
            /// The run that spawned this one.
            parent_run_id: RunId = "parentRunId", with_parent_run_id, plain;
            /// Shared state; absent means `{}`.
            state: Json = "state", with_state, nullable;
            /// Tools that the application offers.
            tools: Tool = "tools", with_tools, array;
            /// Context for the model.
            context: Context = "context", with_context, array;
            /// Anything but `null`; for extensions.
            forwarded_props: Json = "forwardedProps", with_forwarded_props, compat;
            /// Answers to interrupts of an earlier run.
            resume: ResumeEntry = "resume", with_resume, list;
        }
        inline {
            /// What was left out on reading because this version does not know it. Not on the wire.
            skipped: Vec<Skipped> = []
        }
    }
}

impl RunAgentInput {
    /// Reads the body of a request, with the tolerance that the clients in use need.
    ///
    /// Unknown roles, parts and sources are left out and listed in [`skipped`](Self::skipped).
    ///
    /// ```
    /// use agui_core::RunAgentInput;
    ///
    /// let body = br#"{"threadId":"t1","runId":"r1","messages":[
    ///     {"role":"narrator","id":"n1","content":"It was night."},
    ///     {"role":"user","id":"u1","content":"Hello"}
    /// ]}"#;
    /// let input = RunAgentInput::decode(body)?;
    /// assert_eq!(input.last_user_message().map(|message| message.id.as_str()), Some("u1"));
    /// assert_eq!(input.skipped[0].pointer, "/messages/0");
    /// # Ok::<(), agui_core::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// With the place and the kind of the first fault; never with a value.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(Reading::Request);
        let mut input: Self = decode::document(body, &mut reader)?;
        input.skipped = reader.into_skipped();
        Ok(input)
    }

    /// The last thing that the user has said; it need not be the last message.
    #[must_use]
    pub fn last_user_message(&self) -> Option<&UserMessage> {
        self.messages.iter().rev().find_map(|message| match message {
            Message::User(message) => Some(message),
            Message::Developer(_)
            | Message::System(_)
            | Message::Assistant(_)
            | Message::Tool(_)
            | Message::Activity(_)
            | Message::Reasoning(_) => None,
        })
    }
}

impl fmt::Debug for RunAgentInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunAgentInput")
            .field("thread_id", &self.thread_id)
            .field("run_id", &self.run_id)
            .field("protocol_version", &self.protocol_version)
            .field("parent_run_id", &self.parent_run_id)
            .field("messages", &self.messages.len())
            .field("tools", &self.tools.len())
            .field("context", &self.context.len())
            .field("resume", &self.resume.len())
            .field("skipped", &self.skipped)
            .finish_non_exhaustive()
    }
}

impl Inline for Vec<Skipped> {
    fn write<M: SerializeMap>(&self, _: &mut M) -> Result<(), M::Error> {
        Ok(())
    }

    fn read(_: &Fields<'_>, _: &mut Reader) -> Result<Self, DecodeError> {
        Ok(Self::new())
    }

    #[cfg(feature = "schema")]
    fn describe(_: &mut crate::schema::Members, _: &mut schemars::SchemaGenerator) {}
}
