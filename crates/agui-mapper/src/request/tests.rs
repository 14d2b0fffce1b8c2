use super::*;

fn input(messages: &str) -> RunAgentInput {
    RunAgentInput::decode(format!(r#"{{"threadId":"t","runId":"r","messages":{messages}}}"#).as_bytes())
        .unwrap()
}

fn user(content: &str) -> RunAgentInput {
    input(&format!(
        r#"[{{"id":"m0","role":"user","content":"old"}},{{"id":"m1","role":"user","content":{content}}},{{"id":"a","role":"assistant"}}]"#
    ))
}

/// The parts in short, or the error.
fn parts(input: &RunAgentInput) -> Result<Vec<String>, MapError> {
    let parts = message(input)?.parts.into_iter().map(|part| match part {
        UserPart::Text(text) => text.to_owned(),
        UserPart::Image(image) => {
            format!("{} {} {} {}", image.base64, image.mime_type, image.filename, image.pointer)
        }
        UserPart::File(file) => panic!("no file was asked for: {file:?}"),
    });
    Ok(parts.collect())
}

fn image(source: &str, metadata: &str) -> String {
    format!(r#"[{{"type":"text","text":"look"}},{{"type":"image","source":{source},"metadata":{metadata}}}]"#)
}

#[test]
fn s2_5_the_newest_user_message_is_taken() {
    let given = user(r#""new""#);
    let taken = message(&given).unwrap();
    assert_eq!((taken.message_id, taken.parts), ("m1", vec![UserPart::Text("new")]));
    assert_eq!(message(&input(r#"[{"id":"a","role":"assistant"}]"#)), Err(MapError::NoUserMessage));
}

#[test]
fn s2_10_text_and_inline_images_are_taken() {
    let data = r#"{"type":"data","value":"AAAA","mimeType":"image/png"}"#;
    let upper = r#"{"type":"data","value":"AAAA","mimeType":"IMAGE/JPEG"}"#;
    let at = "/messages/1/content/1/source/value";
    let cases = [
        (image(data, r#"{"filename":"a.png"}"#), format!("AAAA image/png a.png {at}")),
        (image(data, r#"{"filename":"../a.png"}"#), format!("AAAA image/png agui-image-1 {at}")),
        (image(data, r#"{"filename":7}"#), format!("AAAA image/png agui-image-1 {at}")),
        (image(upper, "null"), format!("AAAA image/jpeg agui-image-1 {at}")),
    ];
    for (content, expected) in cases {
        assert_eq!(parts(&user(&content)).unwrap(), ["look".to_owned(), expected]);
    }
}

#[test]
fn s2_10_everything_else_is_refused_with_its_place() {
    let cases = [
        (image(r#"{"type":"url","value":"https://x/a.png"}"#, "{}"), "/messages/1/content/1/source"),
        (image(r#"{"type":"file","value":"f1"}"#, "{}"), "/messages/1/content/1/source"),
        (
            image(r#"{"type":"data","value":"AA","mimeType":"image/svg+xml"}"#, "{}"),
            "/messages/1/content/1/source/mimeType",
        ),
        (
            r#"[{"type":"audio","source":{"type":"data","value":"AA","mimeType":"audio/wav"}}]"#.to_owned(),
            "/messages/1/content/0",
        ),
        (
            r#"[{"type":"document","source":{"type":"data","value":"AA","mimeType":"application/pdf"}}]"#
                .to_owned(),
            "/messages/1/content/0",
        ),
        (
            r#"[{"type":"binary","mimeType":"application/pdf","data":"AA"}]"#.to_owned(),
            "/messages/1/content/0",
        ),
        (r#"[{"type":"binary","mimeType":"image/png","data":"AAAA"}]"#.to_owned(), "/messages/1/content/0"),
        (r#""  ""#.to_owned(), "/messages/1/content"),
        ("[]".to_owned(), "/messages/1/content"),
    ];
    for (content, pointer) in cases {
        let error = parts(&user(&content)).unwrap_err();
        assert_eq!(error.pointer(), Some(pointer), "{content}");
        assert!(!error.to_string().contains("https"));
    }
}

#[test]
fn c54_parts_nobody_knows_are_left_out_and_places_stay_right() {
    let given = input(
        r#"[{"id":"x","role":"narrator","content":"?"},{"id":"m","role":"user","content":[
        {"type":"hologram"},{"type":"text","text":"hi"},{"type":"audio","source":{"type":"url","value":"u"}}]}]"#,
    );
    assert_eq!(parts(&given).unwrap_err().pointer(), Some("/messages/1/content/2"));
}

#[test]
fn image_bytes_stay_out_of_debug_output() {
    let content = image(r#"{"type":"data","value":"QUJDREVGRw==","mimeType":"image/png"}"#, "{}");
    let given = user(&content);
    let text = format!("{:?}", message(&given).unwrap());
    assert!(!text.contains("QUJD"), "{text}");
}

fn files(content: &str) -> Result<Vec<String>, MapError> {
    let given = user(content);
    let parts = any_message(&given)?.parts.into_iter().map(|part| match part {
        UserPart::Text(text) => text.to_owned(),
        UserPart::File(file) => {
            let content = match file.content {
                FileContent::Base64(base64) => format!("bytes {base64}"),
                FileContent::Url(url) => format!("at {url}"),
            };
            let (media_type, name) = (file.media_type.unwrap_or("-"), file.filename.unwrap_or_default());
            format!("{content} {media_type} {name} {}", file.pointer)
        }
        UserPart::Image(image) => panic!("an image for the kernel: {image:?}"),
    });
    Ok(parts.collect())
}

#[test]
fn agents_of_any_make_get_files_of_every_sort() {
    let of = |kind: &str, source: &str| {
        format!(r#"[{{"type":"{kind}","source":{source},"metadata":{{"filename":"a.bin"}}}}]"#)
    };
    let data = r#"{"type":"data","value":"AAAA","mimeType":"application/pdf"}"#;
    let url = r#"{"type":"url","value":"HTTPS://example/a"}"#;
    for kind in ["image", "audio", "video", "document"] {
        let at = "/messages/1/content/0/source/value";
        assert_eq!(files(&of(kind, data)).unwrap(), [format!("bytes AAAA application/pdf a.bin {at}")]);
        assert_eq!(files(&of(kind, url)).unwrap(), [format!("at HTTPS://example/a - a.bin {at}")]);
    }
    let old = r#"[{"type":"text","text":"see"},{"type":"binary","mimeType":"text/csv","data":"AAAA","filename":"../x"}]"#;
    assert_eq!(files(old).unwrap(), ["see", "bytes AAAA text/csv  /messages/1/content/1/data"]);
}

#[test]
fn a_file_without_bytes_and_without_an_address_of_the_web_is_refused() {
    let at = "/messages/1/content/0";
    let cases = [
        (
            r#"[{"type":"document","source":{"type":"url","value":"file:///etc/passwd"}}]"#,
            MapError::RemoteMedia { pointer: format!("{at}/source/value") },
        ),
        (
            r#"[{"type":"image","source":{"type":"file","value":"file-1","provider":"p"}}]"#,
            MapError::UnsupportedPart { pointer: format!("{at}/source") },
        ),
        (
            r#"[{"type":"binary","mimeType":"image/png","id":"x"}]"#,
            MapError::UnsupportedPart { pointer: at.to_owned() },
        ),
    ];
    for (content, error) in cases {
        assert_eq!(files(content), Err(error));
    }
}
