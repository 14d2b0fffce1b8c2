//! Files in the user's message.

use agui_testkit::faulty::Script;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Plain, done, input};
use crate::stack::outcome;

const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

fn message(part: &Value) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": "look"}, part]})
}

fn data(kind: &str, bytes: &str, media_type: &str) -> Value {
    json!({"type": kind, "source": {"type": "data", "value": bytes, "mimeType": media_type}})
}

#[tokio::test]
async fn files_of_every_sort_reach_the_agent_unchanged() {
    let mut named = data("image", DOT, "image/png");
    named["metadata"] = json!({"filename": "dot.png"});
    let url = json!({"type": "video", "source": {"type": "url", "value": "https://files.example/v", "mimeType": "video/mp4"}});
    let old = json!({"type": "binary", "mimeType": "text/csv", "data": "YSxi"});
    let cases = [
        (named, json!({"raw": DOT, "mediaType": "image/png", "filename": "dot.png"})),
        (
            data("document", "JVBERg==", "application/pdf"),
            json!({"raw": "JVBERg==", "mediaType": "application/pdf"}),
        ),
        (data("audio", "AAAA", "audio/wav"), json!({"raw": "AAAA", "mediaType": "audio/wav"})),
        (url, json!({"url": "https://files.example/v", "mediaType": "video/mp4"})),
        (old, json!({"raw": "YSxi", "mediaType": "text/csv"})),
    ];
    let plain = Plain::start(Script::new().always("SendStreamingMessage", done())).await;
    for (number, (part, expected)) in cases.into_iter().enumerate() {
        let input = input("t", &format!("r{number}")).with_message(message(&part));
        assert_eq!(outcome(&plain.stack.run(&input).await), "success");
        assert_eq!(plain.messages()[number]["parts"], json!([{"text": "look"}, expected]));
    }
}

#[tokio::test]
async fn files_that_cannot_be_right_are_refused_before_the_agent_hears_of_them() {
    let file_url = json!({"type": "document", "source": {"type": "url", "value": "file:///etc/passwd"}});
    let handle = json!({"type": "image", "source": {"type": "file", "value": "file-1"}});
    let bomb = png_header(60_000, 60_000);
    let large = STANDARD.encode(vec![0; 8 * 1024 * 1024 + 1]);
    let cases = [
        (file_url, "/messages/0/content/1/source/value"),
        (handle, "/messages/0/content/1/source"),
        (data("document", "***", "text/csv"), "/messages/0/content/1/source/value"),
        (data("image", DOT, "image/jpeg"), "/messages/0/content/1/source/value"),
        (data("image", &bomb, "image/png"), "/messages/0/content/1/source/value"),
        (data("document", &large, "text/csv"), "/messages/0/content/1/source/value"),
    ];
    let plain = Plain::start(Script::new()).await;
    for (number, (part, pointer)) in cases.into_iter().enumerate() {
        let input = input("t", &format!("r{number}")).with_message(message(&part));
        let (status, code, said) = plain.stack.refused(&input).await;
        assert_eq!((status, code.as_str()), (400, "INVALID_INPUT"), "{said}");
        assert!(said.contains(pointer), "{said}");
    }
    assert!(plain.messages().is_empty() && !plain.stack.has_state("t"));
}

/// A small file that promises very many pixels.
fn png_header(width: u32, height: u32) -> String {
    let mut png = STANDARD.decode(DOT).unwrap();
    png[16..20].copy_from_slice(&width.to_be_bytes());
    png[20..24].copy_from_slice(&height.to_be_bytes());
    let crc = crc32(&png[12..29]);
    png[29..33].copy_from_slice(&crc.to_be_bytes());
    STANDARD.encode(png)
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
    })
}
