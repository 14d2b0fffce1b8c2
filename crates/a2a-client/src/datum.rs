use std::fmt;
use std::sync::OnceLock;

use a2a_wire::{DecodeError, Reply, StreamItem, decode_reply, has_surrogate_escape, sanitize};
use bytes::Bytes;
use serde_json::value::RawValue;

/// What nearly every datum begins with.
const RESULT_FIRST: &[u8] = b"{\"result\":";

/// One JSON text that the peer sent: a JSON-RPC reply, or the document of an extension endpoint.
///
/// Text that strict readers refuse (`NaN`, lone surrogate escapes, broken UTF-8) is repaired when it is
/// met. `Debug` leaves the content out, because it may hold secrets.
///
/// ```
/// use a2a_client::Datum;
/// use a2a_wire::StreamItem;
///
/// let task = r#"{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}"#;
/// let datum = Datum::reply(format!(r#"{{"result":{{"task":{task}}}}}"#).into());
/// assert!(matches!(datum.item()?, StreamItem::Task(task) if task.id == "t-1"));
/// # Ok::<(), a2a_wire::DecodeError>(())
/// ```
#[derive(Clone)]
pub struct Datum {
    bytes: Bytes,
    form: Form,
    repaired: OnceLock<Bytes>,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Reply,
    Document,
}

impl Datum {
    /// A JSON-RPC envelope.
    #[must_use]
    pub fn reply(bytes: Bytes) -> Self {
        Self::new(bytes, Form::Reply)
    }

    /// A JSON document without an envelope.
    #[must_use]
    pub fn document(bytes: Bytes) -> Self {
        Self::new(bytes, Form::Document)
    }

    fn new(bytes: Bytes, form: Form) -> Self {
        let repaired = if has_surrogate_escape(&bytes) { sanitize(&bytes) } else { None };
        Self { bytes: repaired.map_or(bytes, Bytes::from), form, repaired: OnceLock::new() }
    }

    /// The text, without repairs that only a strict reader has asked for.
    #[must_use]
    pub const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The update in it, borrowed from the datum.
    ///
    /// # Errors
    /// [`DecodeError`] if it is no JSON, no reply, or a known item of another shape;
    /// [`DecodeError::ErrorReply`] if it is an error that began like a result.
    pub fn item(&self) -> Result<StreamItem<'_>, DecodeError> {
        match self.form {
            Form::Reply => self.read(StreamItem::decode),
            Form::Document => StreamItem::from_result(self.raw_result()?),
        }
    }

    /// The reply's `result`, or the whole document, as received.
    ///
    /// # Errors
    /// As [`item`](Self::item).
    pub fn raw_result(&self) -> Result<&RawValue, DecodeError> {
        match self.form {
            Form::Reply => match self.envelope()? {
                Reply::Result(raw) => Ok(raw),
                Reply::Error(error) => Err(DecodeError::ErrorReply { code: error.code }),
                _ => Err(DecodeError::NotAReply),
            },
            Form::Document => self.read(|bytes| {
                let text = std::str::from_utf8(bytes).map_err(|_| DecodeError::Utf8)?;
                Ok(serde_json::from_str(text)?)
            }),
        }
    }

    /// The document, read into a type that owns its members.
    pub(crate) fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, DecodeError> {
        Ok(serde_json::from_str(self.raw_result()?.get())?)
    }

    /// The reply with its error, if it is one.
    pub(crate) fn envelope(&self) -> Result<Reply<'_>, DecodeError> {
        self.read(decode_reply)
    }

    /// Whether it is a result for all that its first bytes tell.
    pub(crate) fn begins_with_result(&self) -> bool {
        self.bytes.starts_with(RESULT_FIRST)
    }

    fn read<'a, T>(&'a self, decode: impl Fn(&'a [u8]) -> Result<T, DecodeError>) -> Result<T, DecodeError> {
        if let Some(repaired) = self.repaired.get() {
            return decode(repaired);
        }
        let failed = match decode(&self.bytes) {
            Err(error @ (DecodeError::Json { .. } | DecodeError::Utf8)) => error,
            result => return result,
        };
        match sanitize(&self.bytes) {
            Some(repaired) => decode(self.repaired.get_or_init(|| repaired.into())),
            None => Err(failed),
        }
    }
}

impl fmt::Debug for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Datum").field("form", &self.form).field("bytes", &self.bytes.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(datum: &Datum) -> String {
        match datum.item() {
            Ok(StreamItem::StatusUpdate(update)) => {
                let message = update.status.message.unwrap_or_default();
                let metadata = update.metadata.map_or("", RawValue::get);
                format!("{} {metadata}", message.texts().collect::<String>())
            }
            other => format!("{other:?}"),
        }
    }

    fn status(text: &str, metadata: &str) -> Vec<u8> {
        format!(
            r#"{{"result":{{"statusUpdate":{{"taskId":"T","status":{{"message":{{"parts":[{{"text":"{text}"}}]}}}},"metadata":{metadata}}}}}}}"#
        )
        .into_bytes()
    }

    #[test]
    fn text_that_strict_readers_refuse_is_repaired() {
        let cases = [
            (status(r"plan \ud83d done", "{}"), "plan \u{fffd} done {}"),
            (status("ok", r#"{"a":"\udc4d"}"#), r#"ok {"a":"\ufffd"}"#),
            (status("ok", r#"{"cpu":NaN}"#), r#"ok {"cpu":null}"#),
            (status(r"a \ud83d", r#"{"cpu":NaN}"#), "a \u{fffd} {\"cpu\":null}"),
            (status(r"\ud83d\udc4d", "{}"), "\u{1f44d} {}"),
        ];
        for (json, expected) in cases {
            let datum = Datum::reply(json.into());
            assert_eq!(text(&datum), expected);
            assert_eq!(text(&datum), expected, "read again");
            assert_eq!(text(&datum.clone()), expected, "of a copy");
        }
        let mut broken = status("a?b", "{}");
        let at = broken.iter().position(|byte| *byte == b'?').unwrap();
        broken[at] = 0xff;
        assert_eq!(text(&Datum::reply(broken.into())), "a\u{fffd}b {}");
    }

    #[test]
    fn documents_have_no_envelope() {
        let datum = Datum::document(Bytes::from_static(br#"{"snapshot":{"n":NaN},"events":[]}"#));
        assert_eq!(datum.raw_result().unwrap().get(), r#"{"snapshot":{"n":null},"events":[]}"#);
        assert!(matches!(datum.item(), Ok(StreamItem::Unknown { .. })));
    }

    #[test]
    fn broken_text_stays_an_error() {
        let datum = Datum::reply(Bytes::from_static(b"{\"result\":{"));
        assert_eq!(datum.item().unwrap_err().to_string(), "truncated JSON at line 1, column 11");
        assert_eq!(datum.raw_result().unwrap_err().to_string(), "truncated JSON at line 1, column 11");
        let error = Datum::reply(Bytes::from_static(br#"{"result":{},"error":{"code":-32603}}"#));
        assert_eq!(error.raw_result().unwrap_err(), DecodeError::ErrorReply { code: -32603 });
    }

    #[test]
    fn debug_output_holds_no_content() {
        assert_eq!(
            format!("{:?}", Datum::reply(Bytes::from_static(b"sk-1"))),
            "Datum { form: Reply, bytes: 4 }"
        );
    }
}
