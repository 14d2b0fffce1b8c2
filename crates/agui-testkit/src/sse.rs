//! A small, lenient reader of server-sent events that keeps the raw text of every record.
//!
//! It shares no code with the parser of the product: a test that uses it is a second opinion.

/// What a stream consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseItem {
    /// A record with at least one `data` line.
    Record {
        /// The value of its `event` line.
        event: Option<String>,
        /// The value of its `id` line.
        id: Option<String>,
        /// The values of its `data` lines, joined with line feeds.
        data: String,
        /// The record as it came, with the blank line that ends it.
        raw: String,
    },
    /// A comment line, without the colon and the space after it.
    Comment(String),
}

/// Splits the bytes of a stream into [`SseItem`]s; CR, LF and CRLF end a line.
#[derive(Debug, Default)]
pub struct SseReader {
    buffer: Vec<u8>,
    record: Record,
}

#[derive(Debug, Default)]
struct Record {
    event: Option<String>,
    id: Option<String>,
    data: Option<String>,
    raw: Vec<u8>,
}

impl SseReader {
    /// Takes the next bytes and gives the items that are complete now.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<SseItem> {
        self.buffer.extend_from_slice(bytes);
        let mut items = Vec::new();
        let mut from = 0;
        while let Some((text_end, line_end)) = find_line(&self.buffer[from..]) {
            let line = self.buffer[from..from + text_end].to_vec();
            let raw = self.buffer[from..from + line_end].to_vec();
            from += line_end;
            items.extend(self.record.line(&line, &raw));
        }
        self.buffer.drain(..from);
        items
    }

    /// At the end of the stream: the text after the last complete record, if there is any.
    #[must_use]
    pub fn rest(&self) -> Option<String> {
        let mut rest = self.record.raw.clone();
        rest.extend_from_slice(&self.buffer);
        let text = String::from_utf8_lossy(&rest).into_owned();
        (!text.trim_matches(['\r', '\n']).is_empty()).then_some(text)
    }
}

impl Record {
    fn line(&mut self, line: &[u8], raw: &[u8]) -> Option<SseItem> {
        let text = String::from_utf8_lossy(line);
        if let Some(comment) = text.strip_prefix(':') {
            return Some(SseItem::Comment(comment.strip_prefix(' ').unwrap_or(comment).to_owned()));
        }
        self.raw.extend_from_slice(raw);
        if text.is_empty() {
            let done = std::mem::take(self);
            let raw = String::from_utf8_lossy(&done.raw).into_owned();
            return done.data.map(|data| SseItem::Record { event: done.event, id: done.id, data, raw });
        }
        let (name, value) = text.split_once(':').unwrap_or((&*text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => self.event = Some(value.to_owned()),
            "id" => self.id = Some(value.to_owned()),
            _ => {}
        }
        None
    }
}

/// Ends of the first complete line: without and with its line ending.
fn find_line(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'))?;
    match (bytes[end], bytes.get(end + 1)) {
        (b'\n', _) => Some((end, end + 1)),
        (_, Some(b'\n')) => Some((end, end + 2)),
        (_, Some(_)) => Some((end, end + 1)),
        // A CR at the end of what came: its LF may be on the way. A blank line is complete without it.
        (_, None) if end == 0 => Some((0, 1)),
        (_, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(data: &str, raw: &str) -> SseItem {
        SseItem::Record { event: None, id: None, data: data.into(), raw: raw.into() }
    }

    #[test]
    fn every_line_ending_and_every_split_gives_the_same_items() {
        for eol in ["\n", "\r\n", "\r"] {
            let text =
                format!(": hi{eol}{eol}data: a{eol}data:b{eol}{eol}event: error{eol}data: c{eol}{eol}");
            let expected = vec![
                SseItem::Comment("hi".into()),
                record("a\nb", &format!("data: a{eol}data:b{eol}{eol}")),
                SseItem::Record {
                    event: Some("error".into()),
                    id: None,
                    data: "c".into(),
                    raw: format!("event: error{eol}data: c{eol}{eol}"),
                },
            ];
            for cut in 0..=text.len() {
                let mut reader = SseReader::default();
                let mut items = reader.push(&text.as_bytes()[..cut]);
                items.extend(reader.push(&text.as_bytes()[cut..]));
                let without_raw = |items: Vec<SseItem>| {
                    items.into_iter().map(|item| match item {
                        SseItem::Record { event, id, data, .. } => (event, id, data),
                        SseItem::Comment(text) => (None, None, text),
                    })
                };
                assert!(
                    without_raw(items.clone()).eq(without_raw(expected.clone())),
                    "{eol:?} cut at {cut}: {items:?}"
                );
                if eol != "\r\n" {
                    assert!(items.iter().filter(|i| matches!(i, SseItem::Record { .. })).eq(&expected[1..]));
                }
                assert_eq!(reader.rest(), None);
            }
        }
    }

    #[test]
    fn what_follows_the_last_record_is_the_rest() {
        let mut reader = SseReader::default();
        assert_eq!(reader.push(b"data: a\n\ndata: {\"x\""), [record("a", "data: a\n\n")]);
        assert_eq!(reader.rest().as_deref(), Some("data: {\"x\""));
    }
}
