//! Images on their way to the kernel (S2.10, S2.11).

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use serde_json::{Value, json};

use crate::stack::{Stack, demo, outcome};

/// A grey PNG of this size whose pixels compress well, or not at all.
fn png(width: u32, height: u32, noisy: bool) -> Vec<u8> {
    let mut noise = 0x2545_f491_u32;
    let mut byte = || {
        noise ^= noise << 13;
        noise ^= noise >> 17;
        noise ^= noise << 5;
        if noisy { noise.to_le_bytes()[0] } else { 128 }
    };
    // Each line begins with the number of its filter: none.
    let lines = (0..height).flat_map(|_| {
        std::iter::once(0)
            .chain(std::iter::repeat_n((), width as usize).map(|()| byte()))
            .collect::<Vec<u8>>()
    });
    let raw: Vec<u8> = lines.collect();
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&raw).unwrap();
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    header.extend([8, 0, 0, 0, 0]);
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [(b"IHDR", header), (b"IDAT", encoder.finish().unwrap()), (b"IEND", Vec::new())] {
        let mut crc = Crc::new();
        crc.update(kind);
        crc.update(&data);
        out.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        out.extend(kind);
        out.extend(data);
        out.extend(crc.sum().to_be_bytes());
    }
    out
}

fn part(mime: &str, bytes: &[u8]) -> Value {
    json!({"type": "image", "source": {"type": "data", "value": STANDARD.encode(bytes), "mimeType": mime}})
}

/// The bytes and the media type of a part that the kernel got.
fn image(part: &Value) -> (Vec<u8>, String) {
    let base64 = part["data"]["bytes"].as_str().or_else(|| part["raw"].as_str()).unwrap();
    (STANDARD.decode(base64).unwrap(), part["mediaType"].as_str().unwrap().to_owned())
}

/// Width and height from the header of a PNG.
fn size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[tokio::test]
async fn s2_10_text_and_images_reach_the_kernel_in_their_order_and_a_fitting_image_unchanged() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let small = png(20, 10, false);
    let content = json!([
        {"type": "text", "text": "chat about"}, part("image/png", &small), {"type": "text", "text": "please"},
    ]);
    let run =
        stack.run(&stack.input("t", "r1").with_message(json!({"role": "user", "content": content}))).await;
    assert_eq!(outcome(&run), "success");
    let sent = kernel.requests().of("SendStreamingMessage");
    let parts = &sent[0].message()["parts"];
    assert_eq!((&parts[0]["text"], &parts[2]["text"]), (&json!("chat about"), &json!("please")));
    assert_eq!(image(&parts[1]), (small, "image/png".to_owned()));
}

#[tokio::test]
async fn s2_11_an_image_that_the_kernel_would_refuse_is_made_to_fit() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let content = json!([part("image/png", &png(2400, 30, false)), {"type": "text", "text": "chat"}]);
    stack.run(&stack.input("t", "r1").with_message(json!({"role": "user", "content": content}))).await;
    let sent = kernel.requests().of("SendStreamingMessage");
    let (bytes, mime) = image(&sent[0].message()["parts"][0]);
    assert_eq!((size(&bytes), mime.as_str()), ((2000, 25), "image/png"));
}

#[tokio::test]
async fn s2_11_an_image_above_its_limit_is_refused_and_one_at_the_limit_is_looked_at() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let mut file = png(4, 4, false);
    file.resize(8 * 1024 * 1024, 0);
    let input = |file: &[u8]| {
        let content = json!([part("image/png", file), {"type": "text", "text": "chat"}]);
        stack.input("t", "r1").with_message(json!({"role": "user", "content": content}))
    };
    file.push(0);
    let (status, code, message) = stack.refused(&input(&file)).await;
    assert_eq!((status, code.as_str()), (400, "INVALID_INPUT"), "{message}");
    assert!(message.contains("maximum size") && message.contains("/messages/0/content/0"), "{message}");
    assert_eq!(kernel.requests().kinds(), [""; 0]);
    assert!(!stack.has_state("t"));

    // What follows the end of an image is not part of it: this one is fine, and made to fit.
    file.pop();
    assert_eq!(outcome(&stack.run(&input(&file)).await), "success");
    let sent = kernel.requests().of("SendStreamingMessage");
    assert!(image(&sent[0].message()["parts"][0]).0.len() <= 3_932_160);
}
