//! From flags to a request.

use std::env;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use agui_client::{AgentConfig, Conversation, Dialect};
use agui_core::{
    AudioPart, Content, ContentPart, DataSource, DocumentPart, ImagePart, Json, Source, TextPart, Tool,
    UnixMillis, VideoPart,
};
use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::flags::{ConnectFlags, RequestFlags};

/// Largest attachment, in bytes of the file (20 MiB): agents refuse more, and it travels as text.
const MAX_ATTACHMENT_BYTES: u64 = 20 * 1024 * 1024;

/// Media types by the ends of file names, for what does not show it in its first bytes.
const TYPES: &[(&str, &str)] = &[
    ("pdf", "application/pdf"),
    ("json", "application/json"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("svg", "image/svg+xml"),
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("ogg", "audio/ogg"),
    ("mp4", "video/mp4"),
    ("webm", "video/webm"),
];

/// First bytes of files.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
];

/// How the agent is reached, and what must not be shown of it.
pub(crate) struct Connection {
    pub(crate) config: AgentConfig,
    /// Values of headers.
    pub(crate) secrets: Vec<String>,
}

impl Connection {
    pub(crate) fn new(url: &str, flags: &ConnectFlags) -> Result<Self> {
        let mut config = AgentConfig::new(url).with_idle_timeout(Duration::from_secs(flags.timeout));
        let mut secrets = Vec::new();
        for header in &flags.headers {
            let (name, value) = header.split_once(':').context("a header is written as `Name: value`")?;
            let value = value.trim();
            secrets.push(value.to_owned());
            // Behind the scheme stands what an agent may repeat alone.
            secrets.extend(value.split_once(' ').map(|(_, credentials)| credentials.trim().to_owned()));
            config = config.with_header(name.trim(), value);
        }
        if let Some(name) = &flags.bearer_env {
            let token = env::var(name).with_context(|| format!("reading the variable {name}"))?;
            config = config.with_bearer(&token);
            secrets.push(token);
        }
        if flags.legacy {
            config = config.with_dialect(Dialect::Legacy);
        }
        Ok(Self { config, secrets })
    }
}

/// The thread with everything that the flags say.
pub(crate) fn conversation(flags: &RequestFlags, prompt: Option<&str>) -> Result<Conversation> {
    let mut thread = Conversation::new(flags.thread.clone().unwrap_or_else(new_id));
    if let Some(state) = &flags.state {
        thread = thread.with_state(json(state).context("--state")?);
    }
    if let Some(props) = &flags.props {
        thread = thread.with_forwarded_props(json(props).context("--props")?);
    }
    if let Some(tools) = &flags.tools {
        let tools: Vec<Tool> = json(tools)?.parse().context("--tools is an array of tools")?;
        thread = thread.with_tools(tools);
    }
    let prompt = match prompt {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("reading standard input")?;
            Some(text)
        }
        prompt => prompt.map(str::to_owned),
    };
    if prompt.is_some() || !flags.attachments.is_empty() {
        let content = content(prompt.unwrap_or_default(), &flags.attachments)?;
        thread.say(new_id(), content);
    }
    Ok(thread)
}

/// A fresh id for a thread, a run or a message.
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// The time of the clock.
pub(crate) fn now() -> UnixMillis {
    SystemTime::now().into()
}

/// JSON text, or the content of a file for `@FILE`.
pub(crate) fn json(value: &str) -> Result<Json> {
    let text = match value.strip_prefix('@') {
        Some(path) => fs::read_to_string(path).with_context(|| format!("reading {path}"))?,
        None => value.to_owned(),
    };
    Json::from_string(text).context("not JSON")
}

fn content(prompt: String, attachments: &[impl AsRef<Path>]) -> Result<Content> {
    if attachments.is_empty() {
        return Ok(prompt.into());
    }
    let mut parts = Vec::new();
    if !prompt.is_empty() {
        parts.push(ContentPart::from(TextPart::new(prompt)));
    }
    for path in attachments {
        let path = path.as_ref();
        parts.push(attachment(path).with_context(|| format!("attaching {}", path.display()))?);
    }
    Ok(parts.into())
}

fn attachment(path: &Path) -> Result<ContentPart> {
    if fs::metadata(path)?.len() > MAX_ATTACHMENT_BYTES {
        bail!("larger than {MAX_ATTACHMENT_BYTES} bytes");
    }
    let bytes = fs::read(path)?;
    let media_type = media_type(&bytes, path).context("the media type of this file is not known")?;
    let source = Source::from(DataSource::new(STANDARD.encode(bytes), media_type));
    Ok(match media_type.split('/').next() {
        Some("image") => ImagePart::new(source).into(),
        Some("audio") => AudioPart::new(source).into(),
        Some("video") => VideoPart::new(source).into(),
        _ => DocumentPart::new(source).into(),
    })
}

fn media_type(bytes: &[u8], path: &Path) -> Option<&'static str> {
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    if let Some((_, media_type)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some(media_type);
    }
    let end = path.extension()?.to_str()?.to_ascii_lowercase();
    TYPES.iter().find(|(known, _)| *known == end).map(|(_, media_type)| *media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes_and_else_by_their_names() {
        let cases: [(&[u8], &str, Option<&str>); 6] = [
            (b"\x89PNG\r\n\x1a\nrest", "photo.txt", Some("image/png")),
            (b"RIFF\0\0\0\0WEBPVP8", "x", Some("image/webp")),
            (b"RIFF\0\0\0\0WAVEfmt", "x.WAV", Some("audio/wav")),
            (b"a,b", "table.csv", Some("text/csv")),
            (b"?", "x.unknown", None),
            (b"?", "x", None),
        ];
        for (bytes, name, expected) in cases {
            assert_eq!(media_type(bytes, Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn headers_have_a_name_and_a_value() {
        let flags =
            ConnectFlags { headers: vec!["x-key:  abc ".to_owned()], timeout: 1, ..Default::default() };
        let connection = Connection::new("http://127.0.0.1/", &flags).unwrap();
        assert_eq!(connection.config.headers, [("x-key".to_owned(), "abc".to_owned())]);
        assert_eq!(connection.secrets, ["abc"]);
        let flags = ConnectFlags {
            headers: vec!["Authorization: Bearer  abcd".to_owned()],
            timeout: 1,
            ..Default::default()
        };
        let connection = Connection::new("http://127.0.0.1/", &flags).unwrap();
        assert_eq!(
            connection.secrets,
            ["Bearer  abcd", "abcd"],
            "the token is a secret without its scheme too"
        );
        let flags = ConnectFlags { headers: vec!["no colon".to_owned()], timeout: 1, ..Default::default() };
        assert!(Connection::new("http://127.0.0.1/", &flags).is_err());
    }
}
