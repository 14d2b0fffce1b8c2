use std::fmt;

use a2a_wire::{RpcError, code};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Delivery;

/// Longest token that is taken over from the peer, in bytes.
const MAX_TOKEN_BYTES: usize = 64;
/// Entries of an error's `data` that are looked at.
const MAX_DETAILS: usize = 16;
/// The kernel has done nothing yet: it waits for a backup of the session.
const BACKUP_NOT_READY: &str = "SESSION_BACKUP_NOT_READY";

/// How the kernel's refusals end, and a name for each: its own typed details say no more than
/// `INVALID_PARAMS`.
///
/// Source: refusals of messages and permission answers by iac-code 0.16.
const KNOWN_ENDINGS: [(&str, &str); 10] = [
    ("Unsupported run mode.", "UNSUPPORTED_RUN_MODE"),
    ("Unsupported pipeline name.", "UNSUPPORTED_PIPELINE_NAME"),
    ("Unsupported Alibaba Cloud region ID.", "UNSUPPORTED_REGION_ID"),
    ("Invalid A2A workspace metadata.", "INVALID_WORKSPACE"),
    ("A2A server received empty input.", "EMPTY_INPUT"),
    (" does not support image input.", "UNSUPPORTED_IMAGE_INPUT"),
    ("ecision must be allow_once or deny.", "PERMISSION_DECISION_INVALID"),
    ("payload fields do not match schemaVersion 1.", "PERMISSION_FIELDS_INVALID"),
    ("taskId does not match requestTaskId.", "PERMISSION_TASK_MISMATCH"),
    (" is not active", "TASK_NOT_ACTIVE"),
];

/// A JSON-RPC error, reduced to what is safe to show and log.
///
/// Source: JSON-RPC 2.0, section 5.1; A2A 1.0, "Error code mappings".
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RpcFailure {
    /// JSON-RPC error code; see [`a2a_wire::code`].
    pub code: i64,
    /// `code` of an error's `data` object, for example `SESSION_BACKUP_NOT_READY`.
    pub data_code: Option<Box<str>>,
    /// Whether `data` says that trying again helps.
    pub retryable: bool,
    /// Why, as a token: a name for a known text (`UNSUPPORTED_PIPELINE_NAME`), the token that the message
    /// begins with (`permission_resume_invalid`), or the `reason` of a typed detail (`TASK_NOT_FOUND`).
    pub reason: Option<Box<str>>,
    /// Whether it came inside a stream, that is, after the peer had begun to work.
    pub mid_stream: bool,
}

impl RpcFailure {
    /// Takes over what is safe of `error`.
    #[must_use]
    pub fn new(error: &RpcError) -> Self {
        let mut failure = Self {
            code: error.code,
            data_code: None,
            retryable: false,
            reason: reason_of_message(&error.message),
            mid_stream: false,
        };
        for detail in error.data.as_deref().map(details).unwrap_or_default() {
            failure.retryable |= detail.retryable;
            failure.data_code = failure.data_code.or(detail.code);
            failure.reason = failure.reason.or(detail.reason);
        }
        failure.reason = failure.reason.or_else(|| name_of(failure.code).map(Into::into));
        failure
    }

    pub(crate) fn inside_stream(error: &RpcError) -> Self {
        Self { mid_stream: true, ..Self::new(error) }
    }

    /// Whether the peer could have acted on the request.
    #[must_use]
    pub fn delivery(&self) -> Delivery {
        let refusals = [
            code::PARSE,
            code::INVALID_REQUEST,
            code::METHOD_NOT_FOUND,
            code::INVALID_PARAMS,
            code::TASK_NOT_FOUND,
            code::TASK_NOT_CANCELABLE,
            code::PUSH_NOTIFICATION_NOT_SUPPORTED,
            code::UNSUPPORTED_OPERATION,
            code::CONTENT_TYPE_NOT_SUPPORTED,
            code::EXTENSION_SUPPORT_REQUIRED,
            code::VERSION_NOT_SUPPORTED,
        ];
        let is_refusal = refusals.contains(&self.code) || self.data_code.as_deref() == Some(BACKUP_NOT_READY);
        if is_refusal && !self.mid_stream { Delivery::Refused } else { Delivery::Unknown }
    }
}

impl fmt::Display for RpcFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JSON-RPC error {}", self.code)?;
        match self.data_code.as_ref().or(self.reason.as_ref()) {
            Some(token) => write!(f, " ({token})"),
            None => Ok(()),
        }
    }
}

/// The members of an error detail that are looked at; their types are not trusted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Detail {
    pub(crate) code: Option<Box<str>>,
    pub(crate) reason: Option<Box<str>>,
    pub(crate) retryable: bool,
}

impl Detail {
    /// Reads one detail; anything but an object is an empty one.
    pub(crate) fn read(raw: &RawValue) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Members<'a> {
            #[serde(borrow)]
            code: Option<&'a RawValue>,
            #[serde(borrow)]
            reason: Option<&'a RawValue>,
            #[serde(borrow)]
            retryable: Option<&'a RawValue>,
        }

        let members: Members<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
        Self {
            code: members.code.and_then(token),
            reason: members.reason.and_then(token),
            retryable: members.retryable.is_some_and(|raw| raw.get() == "true"),
        }
    }
}

/// An error's `data` is an object or an array of objects.
fn details(data: &RawValue) -> Vec<Detail> {
    match serde_json::from_str::<Vec<&RawValue>>(data.get()) {
        Ok(entries) => entries.into_iter().take(MAX_DETAILS).map(Detail::read).collect(),
        Err(_) => vec![Detail::read(data)],
    }
}

fn token(raw: &RawValue) -> Option<Box<str>> {
    let text: String = serde_json::from_str(raw.get()).ok()?;
    is_token(&text).then(|| text.into())
}

/// The name of a code that says by itself why; agents of 0.3 give no typed details.
///
/// Source: A2A 1.0, "Error code mappings".
const fn name_of(code: i64) -> Option<&'static str> {
    match code {
        code::CONTENT_TYPE_NOT_SUPPORTED => Some("CONTENT_TYPE_NOT_SUPPORTED"),
        code::EXTENSION_SUPPORT_REQUIRED => Some("EXTENSION_SUPPORT_REQUIRED"),
        code::VERSION_NOT_SUPPORTED => Some("VERSION_NOT_SUPPORTED"),
        _ => None,
    }
}

fn reason_of_message(message: &str) -> Option<Box<str>> {
    let known = KNOWN_ENDINGS.iter().find(|(ending, _)| message.ends_with(ending));
    if let Some((_, name)) = known {
        return Some((*name).into());
    }
    let (head, _) = message.split_once(':')?;
    is_token(head).then(|| head.into())
}

/// Words of ASCII letters of one case, at least two, joined by `_`.
///
/// Keys and tokens that people paste into the wrong field have digits or no underscore.
fn is_token(text: &str) -> bool {
    let of_one_case =
        |is_letter: fn(&u8) -> bool| text.bytes().all(|letter| letter == b'_' || is_letter(&letter));
    text.len() <= MAX_TOKEN_BYTES
        && text.contains('_')
        && text.split('_').all(|word| !word.is_empty())
        && (of_one_case(u8::is_ascii_uppercase) || of_one_case(u8::is_ascii_lowercase))
}

#[cfg(test)]
mod tests {
    use a2a_wire::{Reply, decode_reply};

    use super::*;

    fn failure(error: &str) -> RpcFailure {
        let json = format!(r#"{{"error":{error},"id":"a1","jsonrpc":"2.0"}}"#);
        let Ok(Reply::Error(error)) = decode_reply(json.as_bytes()) else { panic!("an error") };
        RpcFailure::new(&error)
    }

    #[test]
    fn safe_tokens_are_taken_over_and_text_is_not() {
        let cases = [
            (
                r#"{"code":-32001,"message":"Task not found","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org","metadata":{}}]}"#,
                "JSON-RPC error -32001 (TASK_NOT_FOUND)",
            ),
            (
                r#"{"code":-32602,"message":"sk-1","data":{"code":"SESSION_BACKUP_NOT_READY","retryable":true}}"#,
                "JSON-RPC error -32602 (SESSION_BACKUP_NOT_READY)",
            ),
            (
                r#"{"code":-32602,"message":"Unsupported pipeline name.","data":[{"reason":"INVALID_PARAMS"}]}"#,
                "JSON-RPC error -32602 (UNSUPPORTED_PIPELINE_NAME)",
            ),
            (
                r#"{"code":-32602,"message":"Current model sk-1 does not support image input."}"#,
                "JSON-RPC error -32602 (UNSUPPORTED_IMAGE_INPUT)",
            ),
            (
                r#"{"code":-32001,"message":"Task T1 is not active","data":[{"reason":"TASK_NOT_FOUND"}]}"#,
                "JSON-RPC error -32001 (TASK_NOT_ACTIVE)",
            ),
            (
                r#"{"code":-32602,"message":"permission_resume_invalid: task of bob"}"#,
                "JSON-RPC error -32602 (permission_resume_invalid)",
            ),
            (r#"{"code":-32005,"message":"sk-1"}"#, "JSON-RPC error -32005 (CONTENT_TYPE_NOT_SUPPORTED)"),
            (r#"{"code":-32603,"message":"LTAI5tSecret: no","data":"sk-2"}"#, "JSON-RPC error -32603"),
            (
                r#"{"code":-32603,"data":[{"reason":"AKIAIOSFODNN7EXAMPLE"},{"reason":7},{"code":"/home/bob"},[],null]}"#,
                "JSON-RPC error -32603",
            ),
            (r#"{"code":-32603,"data":{"reason":"A__B"}}"#, "JSON-RPC error -32603"),
            (r#"{"code":-32603,"data":{"reason":"Api_Key"}}"#, "JSON-RPC error -32603"),
        ];
        for (error, shown) in cases {
            assert_eq!(failure(error).to_string(), shown, "{error}");
        }
    }

    #[test]
    fn token_of_any_length_is_not_taken_over() {
        let long = format!("A_{}", "B".repeat(MAX_TOKEN_BYTES));
        assert_eq!(failure(&format!(r#"{{"code":1,"data":{{"reason":"{long}"}}}}"#)).reason, None);
    }

    #[test]
    fn refusal_is_known_only_before_the_stream() {
        let cases = [
            (r#"{"code":-32602}"#, Delivery::Refused),
            (r#"{"code":-32001}"#, Delivery::Refused),
            (r#"{"code":-32603}"#, Delivery::Unknown),
            (r#"{"code":-32603,"data":{"retryable":true}}"#, Delivery::Unknown),
            (r#"{"code":-32603,"data":{"code":"SESSION_BACKUP_NOT_READY"}}"#, Delivery::Refused),
            (r#"{"code":-32006}"#, Delivery::Unknown),
            (r#"{}"#, Delivery::Unknown),
        ];
        for (error, delivery) in cases {
            let failure = failure(error);
            assert_eq!(failure.delivery(), delivery, "{error}");
            let inside = RpcFailure { mid_stream: true, ..failure };
            assert_eq!(inside.delivery(), Delivery::Unknown, "{error}");
        }
    }
}
