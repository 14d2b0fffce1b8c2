use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http_exchange::Exchange;
use serde_json::Value;
use sse_frame::Decoder;
use tokio::time::timeout;

use crate::ClientError;

/// How much of a refusal is read, 64 KiB: it is a short JSON object or of no use.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// Most of what a refusal says that is kept, in characters.
const MAX_MESSAGE_CHARS: usize = 2_000;

/// Members that say what went wrong, the best first.
const MESSAGES: [&str; 4] = ["message", "detail", "error", "title"];

/// How long the body of a refusal may take, 10 s: the status alone says enough.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads the answer to a request that was refused.
pub(crate) async fn read(exchange: Exchange) -> ClientError {
    let Exchange { head, body, .. } = exchange;
    let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after_s = retry_after.and_then(|text| text.trim().parse().ok());
    let body = timeout(BODY_TIMEOUT, body.beginning(MAX_BODY_BYTES)).await.unwrap_or_default();
    let media_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let (code, message) = said(&body, media_type.unwrap_or_default());
    ClientError::Refused { status: head.status.as_u16(), code, message, retry_after_s }
}

/// Code and message of `{"error":{"code","message"}}`, and of the other forms that servers use: flat ones, one word
/// for an error, `detail` and `title` of problem documents, and plain text.
fn said(body: &[u8], media_type: &str) -> (Option<Box<str>>, Option<Box<str>>) {
    // Some servers answer every error as a stream that holds one event.
    let record = body.starts_with(b"data:").then(|| first_record(body)).flatten();
    let document: Value = serde_json::from_slice(record.as_deref().unwrap_or(body)).unwrap_or_default();
    let inner = document.get("error").filter(|error| error.is_object()).unwrap_or(&document);
    let code = inner.get("code").and_then(|code| match code {
        Value::String(code) => Some(code.as_str().into()),
        Value::Number(code) => Some(code.to_string().into()),
        _ => None,
    });
    let message = MESSAGES.iter().find_map(|key| text(inner.get(*key)?.as_str()?));
    let is_text = media_type.trim_start().to_ascii_lowercase().starts_with("text/plain");
    let plain = (is_text && document.is_null()).then(|| text(&String::from_utf8_lossy(body))).flatten();
    (code, message.or(plain))
}

/// A message, unless it is empty.
fn text(said: &str) -> Option<Box<str>> {
    let said = said.trim();
    (!said.is_empty()).then(|| said.chars().take(MAX_MESSAGE_CHARS).collect())
}

fn first_record(body: &[u8]) -> Option<Bytes> {
    let mut decoder = Decoder::new(MAX_BODY_BYTES);
    decoder.push(Bytes::copy_from_slice(body));
    let record = decoder.next_frame().ok().flatten().or_else(|| decoder.finish().ok().flatten());
    record.map(|record| record.data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_message_are_found_or_left_out() {
        let json = "application/json";
        let cases: [(&str, &str, Option<&str>, Option<&str>); 13] = [
            (json, r#"{"error":{"code":"BUSY","message":"later"}}"#, Some("BUSY"), Some("later")),
            (json, r#"{"code":"BUSY","message":"later"}"#, Some("BUSY"), Some("later")),
            (json, r#"{"error":{"code":"BUSY"}}"#, Some("BUSY"), None),
            (json, r#"{"error":{"code":404,"message":"no such agent"}}"#, Some("404"), Some("no such agent")),
            (json, r#"{"error":"rate limited"}"#, None, Some("rate limited")),
            (json, r#"{"detail":"Not authenticated"}"#, None, Some("Not authenticated")),
            (json, r#"{"title":"Conflict","status":409}"#, None, Some("Conflict")),
            (json, r#"{"detail":[{"msg":"field required"}]}"#, None, None),
            (json, r#"{"message":"  "}"#, None, None),
            ("text/html", "<html>", None, None),
            ("text/plain; charset=utf-8", "upstream is down\n", None, Some("upstream is down")),
            ("text/plain", r#"{"message":"json all the same"}"#, None, Some("json all the same")),
            (
                "text/event-stream",
                "data: {\"type\":\"RUN_ERROR\",\"code\":\"BUSY\",\"message\":\"later\"}\n\n",
                Some("BUSY"),
                Some("later"),
            ),
        ];
        for (media_type, body, code, message) in cases {
            let found = said(body.as_bytes(), media_type);
            assert_eq!((found.0.as_deref(), found.1.as_deref()), (code, message), "{body}");
        }
    }
}
