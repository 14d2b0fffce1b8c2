//! `Debug` without content: what peers send holds user text, and echoes of requests hold secrets.

use std::fmt::{Debug, Formatter, Result};

use crate::{
    Artifact, ArtifactUpdate, Message, Part, PartContent, Reply, RpcError, StatusUpdate, StreamItem, Task,
    TaskList,
};

impl Debug for Message<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Message")
            .field("message_id", &self.message_id)
            .field("role", &self.role)
            .field("parts", &self.parts)
            .finish_non_exhaustive()
    }
}

impl Debug for Part<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (name, bytes) = match &self.content {
            PartContent::Text(text) => ("text", text.len()),
            PartContent::Raw(base64) => ("raw", base64.len()),
            PartContent::Url(url) => ("url", url.len()),
            PartContent::Data(data) => ("data", data.get().len()),
            PartContent::Unknown { .. } => ("unknown", 0),
        };
        write!(f, "Part({name}, {bytes} bytes)")
    }
}

impl Debug for TaskList<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_list().entries(&self.tasks).finish()
    }
}

impl Debug for Task<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Task")
            .field("id", &self.id)
            .field("context_id", &self.context_id)
            .field("status", &self.status)
            .field("artifacts", &self.artifacts.len())
            .field("history", &self.history.len())
            .finish_non_exhaustive()
    }
}

impl Debug for StatusUpdate<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("StatusUpdate")
            .field("task_id", &self.task_id)
            .field("context_id", &self.context_id)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl Debug for ArtifactUpdate<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("ArtifactUpdate")
            .field("task_id", &self.task_id)
            .field("context_id", &self.context_id)
            .field("artifact", &self.artifact)
            .field("append", &self.append)
            .field("last_chunk", &self.last_chunk)
            .finish_non_exhaustive()
    }
}

impl Debug for Artifact<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Artifact")
            .field("artifact_id", &self.artifact_id)
            .field("parts", &self.parts)
            .finish_non_exhaustive()
    }
}

impl Debug for StreamItem<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Task(task) => task.fmt(f),
            Self::Message(message) => message.fmt(f),
            Self::StatusUpdate(update) => update.fmt(f),
            Self::ArtifactUpdate(update) => update.fmt(f),
            Self::Unknown { kind, raw } => write!(f, "Unknown({kind:?}, {} bytes)", raw.get().len()),
        }
    }
}

impl Debug for Reply<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Result(raw) => write!(f, "Result({} bytes)", raw.get().len()),
            Self::Error(error) => error.fmt(f),
        }
    }
}

impl Debug for RpcError {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("RpcError").field("code", &self.code).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::{StreamItem, decode_reply};

    #[test]
    fn nothing_that_was_said_is_shown() {
        let message = r#"{"messageId":"m","role":"ROLE_USER","parts":[{"text":"sk-1"},{"data":{"a":"sk-2"}},{"raw":"sk-3"},{"url":"sk-4"}],"metadata":{"iac_code":{"iac_code_api_key":"sk-5"}}}"#;
        let artifact = r#"{"artifactId":"A","name":"sk-6","parts":[{"text":"sk-7"}]}"#;
        let status = format!(r#"{{"state":"TASK_STATE_WORKING","message":{message}}}"#);
        let items = [
            format!(
                r#"{{"task":{{"id":"T","status":{status},"history":[{message}],"artifacts":[{artifact}],"metadata":{{"k":"sk-8"}}}}}}"#
            ),
            format!(r#"{{"message":{message}}}"#),
            format!(r#"{{"statusUpdate":{{"taskId":"T","status":{status},"metadata":{{"k":"sk-8"}}}}}}"#),
            format!(
                r#"{{"artifactUpdate":{{"taskId":"T","artifact":{artifact},"metadata":{{"k":"sk-8"}}}}}}"#
            ),
            r#"{"other":"sk-9"}"#.to_owned(),
        ];
        for item in items {
            let json = format!(r#"{{"result":{item}}}"#);
            let shown = format!(
                "{:?} {:?}",
                StreamItem::decode(json.as_bytes()).unwrap(),
                decode_reply(json.as_bytes()).unwrap()
            );
            assert!(!shown.contains("sk-"), "{shown}");
        }
    }

    #[test]
    fn ids_and_sizes_are_shown() {
        let json =
            br#"{"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"abc"},{}]}}}"#;
        assert_eq!(
            format!("{:?}", StreamItem::decode(json).unwrap()),
            r#"Message { message_id: "m", role: Agent, parts: [Part(text, 3 bytes), Part(unknown, 0 bytes)], .. }"#
        );
    }
}
