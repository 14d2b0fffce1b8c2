use a2a_wire::Reply;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, StatusCode, response};
use http_exchange::Exchange;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::Detail;
use crate::{ClientError, Datum, HttpFailure, RpcFailure};

/// Largest body of a refusal that is looked at, 64 KiB: it is a short JSON object or of no use.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

/// What an answer's body claims to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    EventStream,
    Json,
    Other,
}

/// Refuses the answers that no call can use; the rest is a success, or a failure with a status to look at.
pub(crate) fn check_head(head: &response::Parts) -> Result<Content, ClientError> {
    match head.status {
        StatusCode::UNAUTHORIZED => return Err(ClientError::Unauthorized),
        StatusCode::FORBIDDEN => return Err(ClientError::Forbidden),
        StatusCode::TOO_MANY_REQUESTS => {
            return Err(ClientError::RateLimited { retry_after_s: retry_after_s(&head.headers) });
        }
        status if status.is_redirection() => {
            return Err(ClientError::Redirect { status: status.as_u16() });
        }
        _ => {}
    }
    let encoding = head.headers.get(CONTENT_ENCODING).map_or(&b"identity"[..], |value| value.as_bytes());
    if head.status.is_success() && !encoding.eq_ignore_ascii_case(b"identity") {
        return Err(ClientError::Compressed);
    }
    Ok(content(&head.headers))
}

fn content(headers: &HeaderMap) -> Content {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match media_type.as_str() {
        "text/event-stream" => Content::EventStream,
        "application/json" => Content::Json,
        other if other.starts_with("application/") && other.ends_with("+json") => Content::Json,
        _ => Content::Other,
    }
}

fn retry_after_s(headers: &HeaderMap) -> Option<u32> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

/// The answer to a unary call, read to its end.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) content: Content,
    pub(crate) body: Bytes,
    retry_after_s: Option<u32>,
}

impl Answer {
    pub(crate) async fn read(exchange: Exchange, limit_bytes: usize) -> Result<Self, ClientError> {
        let content = check_head(&exchange.head)?;
        let status = exchange.head.status;
        let retry_after_s = retry_after_s(&exchange.head.headers);
        let body = if status.is_success() {
            exchange.body.collect(limit_bytes).await?
        } else {
            // The status says enough; the detail is a gain if it can be had.
            exchange.body.collect(MAX_REFUSAL_BYTES).await.unwrap_or_default()
        };
        Ok(Self { status, content, body, retry_after_s })
    }

    /// The JSON-RPC reply in it.
    pub(crate) fn into_reply(self) -> Result<Datum, ClientError> {
        let datum = Datum::reply(self.into_json()?);
        match datum.envelope()? {
            Reply::Error(error) => Err(ClientError::Rpc(RpcFailure::new(&error))),
            _ => Ok(datum),
        }
    }

    /// The JSON document in it.
    pub(crate) fn into_document(self) -> Result<Datum, ClientError> {
        let datum = Datum::document(self.into_json()?);
        datum.raw_result()?;
        Ok(datum)
    }

    /// The JSON text of a success, whatever is in it.
    pub(crate) fn into_json(self) -> Result<Bytes, ClientError> {
        if !self.status.is_success() {
            return Err(self.into_failure());
        }
        match self.content {
            Content::Json if !self.body.is_empty() => Ok(self.body),
            _ => Err(ClientError::UnexpectedContent { status: self.status.as_u16() }),
        }
    }

    /// What a status that is no success means.
    pub(crate) fn into_failure(self) -> ClientError {
        let detail = if self.content == Content::Json { Refusal::read(&self.body) } else { Refusal::None };
        let (data_code, retryable) = match detail {
            Refusal::Rpc(failure) => return ClientError::Rpc(failure),
            Refusal::Detail(detail) => (detail.code, detail.retryable),
            Refusal::None => (None, false),
        };
        ClientError::Http(HttpFailure {
            status: self.status.as_u16(),
            retry_after_s: self.retry_after_s,
            data_code,
            retryable,
        })
    }
}

/// The JSON body of a refusal: a JSON-RPC error, `{"error":{"code":"…","retryable":true}}`, or
/// `{"error":"text"}`, whose text is not taken over.
enum Refusal {
    Rpc(RpcFailure),
    Detail(Detail),
    None,
}

impl Refusal {
    fn read(body: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Body<'a> {
            #[serde(borrow)]
            error: Option<&'a RawValue>,
        }

        let datum = Datum::reply(Bytes::copy_from_slice(body));
        match datum.envelope() {
            Ok(Reply::Error(error)) if error.code != 0 => return Self::Rpc(RpcFailure::new(&error)),
            _ => {}
        }
        match serde_json::from_slice(datum.bytes()) {
            Ok(Body { error: Some(error) }) => Self::Detail(Detail::read(error)),
            _ => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use http::Response;

    use super::*;

    fn head(status: u16, headers: &[(&str, &str)]) -> response::Parts {
        let mut builder = Response::builder().status(status);
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        builder.body(()).unwrap().into_parts().0
    }

    #[test]
    fn content_is_told_by_its_media_type() {
        let cases = [
            ("text/event-stream; charset=utf-8", Content::EventStream),
            ("Text/Event-Stream", Content::EventStream),
            ("application/json", Content::Json),
            ("application/problem+json;charset=utf-8", Content::Json),
            ("text/html", Content::Other),
            ("", Content::Other),
        ];
        for (media_type, content) in cases {
            assert_eq!(
                check_head(&head(200, &[("content-type", media_type)])).unwrap(),
                content,
                "{media_type}"
            );
        }
        assert_eq!(check_head(&head(204, &[])).unwrap(), Content::Other);
    }

    #[test]
    fn answers_that_no_call_can_use_are_told_apart() {
        let cases = [
            (head(401, &[]), "Unauthorized"),
            (head(403, &[]), "Forbidden"),
            (head(429, &[("retry-after", "7")]), "RateLimited { retry_after_s: Some(7) }"),
            (
                head(429, &[("retry-after", "Mon, 30 Nov 2026 15:10:26 GMT")]),
                "RateLimited { retry_after_s: None }",
            ),
            (head(302, &[("location", "http://elsewhere/")]), "Redirect { status: 302 }"),
            (head(200, &[("content-encoding", "gzip")]), "Compressed"),
        ];
        for (head, expected) in cases {
            assert_eq!(format!("{:?}", check_head(&head).unwrap_err()), expected);
        }
    }

    #[test]
    fn refusals_keep_status_and_code_and_lose_their_text() {
        let cases = [
            (
                409,
                r#"{"error":{"code":"SESSION_BACKUP_NOT_READY","message":"sk-1","retryable":true}}"#,
                r#"Http(HttpFailure { status: 409, retry_after_s: None, data_code: Some("SESSION_BACKUP_NOT_READY"), retryable: true })"#,
            ),
            (
                400,
                r#"{"error":"Invalid session restore request."}"#,
                "Http(HttpFailure { status: 400, retry_after_s: None, data_code: None, retryable: false })",
            ),
            (
                400,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"sk-1"}}"#,
                "Rpc(RpcFailure { code: -32600, data_code: None, retryable: false, reason: None, mid_stream: false })",
            ),
            (
                500,
                "not json",
                "Http(HttpFailure { status: 500, retry_after_s: None, data_code: None, retryable: false })",
            ),
        ];
        for (status, body, expected) in cases {
            let answer = Answer {
                status: StatusCode::from_u16(status).unwrap(),
                content: Content::Json,
                body: Bytes::copy_from_slice(body.as_bytes()),
                retry_after_s: None,
            };
            assert_eq!(format!("{:?}", answer.into_failure()), expected);
        }
    }
}
