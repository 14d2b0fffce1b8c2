use std::time::Duration;

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http_exchange::Exchange;
use serde::Deserialize;
use sse_frame::Decoder;
use tokio::time::timeout;

use crate::ClientError;

/// How much of a refusal is read, 64 KiB: it is a short JSON object or of no use.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// How long the body of a refusal may take, 10 s: the status alone says enough.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// `{"error":{"code","message"}}`, and the flat form that other servers use.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Envelope {
    error: Option<Inner>,
    code: Option<Box<str>>,
    message: Option<Box<str>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Inner {
    code: Option<Box<str>>,
    message: Option<Box<str>>,
}

/// Reads the answer to a request that was refused.
pub(crate) async fn read(exchange: Exchange) -> ClientError {
    let Exchange { head, body, .. } = exchange;
    let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after_s = retry_after.and_then(|text| text.trim().parse().ok());
    let body = timeout(BODY_TIMEOUT, body.beginning(MAX_BODY_BYTES)).await.unwrap_or_default();
    let (code, message) = said(&body);
    ClientError::Refused { status: head.status.as_u16(), code, message, retry_after_s }
}

fn said(body: &[u8]) -> (Option<Box<str>>, Option<Box<str>>) {
    // Some servers answer every error as a stream that holds one event.
    let record = body.starts_with(b"data:").then(|| first_record(body)).flatten();
    let envelope: Envelope = serde_json::from_slice(record.as_deref().unwrap_or(body)).unwrap_or_default();
    match envelope.error {
        Some(inner) => (inner.code, inner.message),
        None => (envelope.code, envelope.message),
    }
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
        let cases: [(&str, Option<&str>, Option<&str>); 6] = [
            (r#"{"error":{"code":"BUSY","message":"later"}}"#, Some("BUSY"), Some("later")),
            (r#"{"code":"BUSY","message":"later"}"#, Some("BUSY"), Some("later")),
            (r#"{"error":{"code":"BUSY"}}"#, Some("BUSY"), None),
            (r#"{"detail":[{"msg":"field required"}]}"#, None, None),
            ("<html>", None, None),
            (
                "data: {\"type\":\"RUN_ERROR\",\"code\":\"BUSY\",\"message\":\"later\"}\n\n",
                Some("BUSY"),
                Some("later"),
            ),
        ];
        for (body, code, message) in cases {
            let found = said(body.as_bytes());
            assert_eq!((found.0.as_deref(), found.1.as_deref()), (code, message), "{body}");
        }
    }
}
