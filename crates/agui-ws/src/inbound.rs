//! What a message of the client says.

use std::borrow::Cow;

use agui_core::{DecodeErrorKind, Expected, RunAgentInput};
use agui_i18n::Language;
use agui_iac_code::{preferred_language, preferred_language_of_props};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use crate::words::Fault;
use crate::{CancelMessage, OpenRun};

/// Longest message that can be a control message, in bytes (16 KiB). It holds a few ids.
const CONTROL_BYTES: usize = 16 * 1024;

/// Longest id that is repeated to the client, in bytes (1 KiB).
const ID_BYTES: usize = 1024;

/// Some clients start UTF-8 with it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A message of the client.
#[derive(Debug)]
pub(crate) enum Inbound {
    /// The wish for a run.
    Run(Box<Wanted>),
    /// The wish to end one.
    Cancel(CancelMessage, Language),
    /// Neither.
    Unreadable(Fault, Named),
}

/// A run that the client asks for.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) input: RunAgentInput,
    /// The message as it came.
    pub(crate) body: Bytes,
    pub(crate) language: Language,
}

/// The run that a message is about, as far as it can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) thread_id: Option<Box<str>>,
    pub(crate) run_id: Option<Box<str>>,
}

impl Inbound {
    /// Reads a message. Texts about it are in the language that it asks for, or else in one that
    /// `accept_language` admits.
    pub(crate) fn read(body: &Bytes, accept_language: Option<&str>) -> Self {
        let body = match body.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => body.slice_ref(rest),
            None => body.clone(),
        };
        let kind = control_kind(&body);
        if let Some((kind, value)) = &kind
            && kind == "cancel"
        {
            let language = agui_i18n::choose(None, accept_language);
            return match cancel(value) {
                Ok(message) => Self::Cancel(message, language),
                Err(pointer) => {
                    let wrong = DecodeErrorKind::WrongType(Expected::String);
                    Self::Unreadable(Fault::invalid(pointer, wrong, language), Named::default())
                }
            };
        }
        let (pointer, wrong) = match RunAgentInput::decode(&body) {
            Ok(input) => match empty_id(&input) {
                None => {
                    let props = input.forwarded_props.as_ref().map(|props| props.get().as_bytes());
                    let preferred = props.and_then(preferred_language_of_props);
                    let language = agui_i18n::choose(preferred.as_deref(), accept_language);
                    return Self::Run(Box::new(Wanted { input, body, language }));
                }
                Some(pointer) => (Cow::Borrowed(pointer), DecodeErrorKind::Empty),
            },
            // Something with a type wants to be a control message.
            Err(_) if kind.is_some() => (Cow::Borrowed("/type"), DecodeErrorKind::NotAllowed),
            Err(error) => (Cow::Owned(error.pointer), error.kind),
        };
        let preferred = preferred_language(&body);
        let language = agui_i18n::choose(preferred.as_deref(), accept_language);
        Self::Unreadable(Fault::invalid(&pointer, wrong, language), Named::read(&body))
    }
}

impl Named {
    pub(crate) fn new(thread_id: Option<&str>, run_id: Option<&str>) -> Self {
        let kept = |id: Option<&str>| id.filter(|id| id.len() <= ID_BYTES).map(Into::into);
        Self { thread_id: kept(thread_id), run_id: kept(run_id) }
    }

    pub(crate) fn of(run: &OpenRun) -> Self {
        Self::new(Some(run.thread_id.as_str()), Some(run.run_id.as_str()))
    }

    /// What can be read of a message that is wrong somewhere.
    fn read(body: &[u8]) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Ids {
            thread_id: Value,
            run_id: Value,
        }

        let ids: Ids = serde_json::from_slice(body).unwrap_or_default();
        Self::new(ids.thread_id.as_str(), ids.run_id.as_str())
    }
}

/// The type of a message that has one, as only control messages do, and the message.
fn control_kind(body: &[u8]) -> Option<(String, Value)> {
    if body.len() > CONTROL_BYTES {
        return None;
    }
    let value: Value = serde_json::from_slice(body).ok()?;
    Some((value.get("type")?.as_str()?.to_owned(), value))
}

/// Reads a cancel message, or tells which member is wrong.
fn cancel(value: &Value) -> Result<CancelMessage, &'static str> {
    let id = |pointer: &'static str| match value.pointer(pointer) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) if !id.is_empty() => Ok(Some(id.as_str())),
        Some(_) => Err(pointer),
    };
    Ok(CancelMessage {
        run_id: id("/runId")?.map(Into::into),
        thread_id: id("/threadId")?.map(Into::into),
        execution_id: id("/executionId")?.map(Into::into),
        ros_invocation_id: id("/rosInvocationId")?.map(Into::into),
        open_run: None,
    })
}

/// An empty id names nothing.
fn empty_id(input: &RunAgentInput) -> Option<&'static str> {
    let ids = [("/threadId", input.thread_id.as_str()), ("/runId", input.run_id.as_str())];
    ids.into_iter().find(|(_, id)| id.is_empty()).map(|(pointer, _)| pointer)
}

#[cfg(test)]
mod tests;
