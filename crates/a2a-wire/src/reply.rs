use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::value::RawValue;

use crate::DecodeError;
use crate::tolerant::{Integer, or_default};

/// Codes of JSON-RPC and A2A errors.
///
/// Source: JSON-RPC 2.0, section 5.1; A2A 1.0, "Error code mappings".
pub mod code {
    /// The request is not JSON.
    pub const PARSE: i64 = -32700;
    /// The request is no JSON-RPC request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters are refused.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The server failed.
    pub const INTERNAL: i64 = -32603;
    /// No such task, or it is not running.
    pub const TASK_NOT_FOUND: i64 = -32001;
    /// The task has ended, or there is nothing to cancel.
    pub const TASK_NOT_CANCELABLE: i64 = -32002;
    /// The server sends no push notifications.
    pub const PUSH_NOTIFICATION_NOT_SUPPORTED: i64 = -32003;
    /// The operation does not fit the task's state.
    pub const UNSUPPORTED_OPERATION: i64 = -32004;
    /// A media type is refused.
    pub const CONTENT_TYPE_NOT_SUPPORTED: i64 = -32005;
    /// The agent's answer broke the protocol.
    pub const INVALID_AGENT_RESPONSE: i64 = -32006;
    /// There is no extended card.
    pub const EXTENDED_AGENT_CARD_NOT_CONFIGURED: i64 = -32007;
    /// A required extension was not named.
    pub const EXTENSION_SUPPORT_REQUIRED: i64 = -32008;
    /// The protocol version is refused.
    pub const VERSION_NOT_SUPPORTED: i64 = -32009;
}

/// A JSON-RPC reply.
///
/// Example: see [`decode_reply`].
#[derive(Clone)]
#[non_exhaustive]
pub enum Reply<'a> {
    /// The call's result, as received.
    Result(&'a RawValue),
    /// The call was refused or failed.
    Error(RpcError),
}

/// A JSON-RPC error object.
///
/// `message` and `data` are the peer's text and may hold anything, secrets included; `Debug` leaves them
/// out.
///
/// Source: JSON-RPC 2.0, section 5.1.
#[derive(Clone, Default, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct RpcError {
    /// JSON-RPC error code; 0 if absent.
    #[serde(deserialize_with = "error_code")]
    pub code: i64,
    /// What the peer says.
    #[serde(deserialize_with = "or_default")]
    pub message: Box<str>,
    /// Free-form detail: an object, an array of typed objects, or a string.
    pub data: Option<Box<RawValue>>,
}

fn error_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    Ok(or_default::<D, Integer>(deserializer)?.0)
}

/// Reads a JSON-RPC reply. An error wins over a result; the envelope's `id` is not looked at.
///
/// ```
/// use a2a_wire::{DecodeError, JsonFault, Reply, code, decode_reply};
///
/// let reply = br#"{"error":{"code":-32001,"message":"Task not found"},"id":"1","jsonrpc":"2.0"}"#;
/// let Reply::Error(error) = decode_reply(reply)? else { panic!("an error") };
/// assert_eq!(error.code, code::TASK_NOT_FOUND);
///
/// let cut = decode_reply(br#"{"result":{"#);
/// assert!(matches!(cut, Err(DecodeError::Json { fault: JsonFault::Truncated, .. })));
/// # Ok::<(), DecodeError>(())
/// ```
///
/// # Errors
/// [`DecodeError`] if `bytes` is no JSON object, or has neither `result` nor `error`.
pub fn decode_reply(bytes: &[u8]) -> Result<Reply<'_>, DecodeError> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow, default, deserialize_with = "present")]
        result: Option<&'a RawValue>,
        #[serde(borrow, default)]
        error: Option<&'a RawValue>,
    }

    let envelope: Envelope<'_> = serde_json::from_str(as_text(bytes)?)?;
    match envelope {
        Envelope { error: Some(error), .. } => Ok(Reply::Error(read_error(error))),
        Envelope { result: Some(result), .. } => Ok(Reply::Result(result)),
        Envelope { .. } => Err(DecodeError::NotAReply),
    }
}

/// An error that is no error object is still an error.
fn read_error(raw: &RawValue) -> RpcError {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// Keeps null apart from absent: a null result is a result.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&'a RawValue>::deserialize(deserializer).map(Some)
}

pub(crate) fn as_text(bytes: &[u8]) -> Result<&str, DecodeError> {
    std::str::from_utf8(bytes).map_err(|_| DecodeError::Utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(json: &str) -> String {
        match decode_reply(json.as_bytes()) {
            Ok(Reply::Result(raw)) => format!("result {raw}"),
            Ok(Reply::Error(error)) => {
                format!(
                    "error {} {:?} {:?}",
                    error.code,
                    error.message,
                    error.data.map(|data| data.to_string())
                )
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn replies_are_told_apart_and_errors_come_first() {
        let cases = [
            (r#"{"result":{"id":"T1"},"id":"x","jsonrpc":"2.0"}"#, r#"result {"id":"T1"}"#),
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "result null"),
            (r#"{"result":{},"error":null}"#, "result {}"),
            (r#"{"error":{"code":-32001,"message":"m"},"result":{}}"#, r#"error -32001 "m" None"#),
            (r#"{"result":{},"error":{"code":-32001.0}}"#, r#"error -32001 "" None"#),
            (
                r#"{"error":{"code":-32602,"message":"m","data":{"retryable":true}},"id":null}"#,
                r#"error -32602 "m" Some("{\"retryable\":true}")"#,
            ),
            (r#"{"error":{"code":1,"message":null,"data":null}}"#, r#"error 1 "" None"#),
            (r#"{"error":"no task"}"#, r#"error 0 "" None"#),
            (r#"{"id":1}"#, "reply has neither result nor error"),
            (r#"{"result":"#, "truncated JSON at line 1, column 10"),
            ("<html>", "invalid JSON at line 1, column 1"),
            ("[]", "reply has neither result nor error"),
            ("7", "unexpected JSON shape at line 1, column 1"),
        ];
        for (json, expected) in cases {
            assert_eq!(summary(json), expected, "{json}");
        }
    }

    #[test]
    fn debug_output_and_decode_errors_hold_no_text_of_the_peer() {
        let json = br#"{"error":{"code":1,"message":"key sk-1","data":"sk-2"}}"#;
        assert_eq!(format!("{:?}", decode_reply(json).unwrap()), "RpcError { code: 1, .. }");
        let error = decode_reply(br#""sk-3""#).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("sk-3"));
    }
}
