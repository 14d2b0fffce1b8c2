//! How the records of an answer are cut out of its body.

use agui_proto::Received;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::ClientError;

/// Which encoding of events is asked for. What an answer says it is, is what it is read as.
///
/// Example: see [`AgentConfig`](crate::AgentConfig).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Accept {
    /// Server-sent events, which every agent has.
    #[default]
    Text,
    /// Binary frames if the agent has them, else server-sent events. Smaller and quicker to read, but numbers
    /// of opaque JSON become doubles, and an agent cannot show that it is alive while it says nothing.
    Binary,
}

impl Accept {
    pub(crate) const fn header(self) -> &'static str {
        match self {
            Self::Text => "text/event-stream",
            Self::Binary => "application/vnd.ag-ui.event+proto, text/event-stream;q=0.9",
        }
    }
}

/// The decoder for an answer.
pub(crate) enum Framing {
    Text(sse_frame::Decoder),
    Binary(agui_proto::Decoder),
}

/// What stands between two boundaries.
pub(crate) enum Record {
    /// The JSON text of an event.
    Event(Bytes),
    /// An event of a later version, of which the encoding tells a number only.
    Later {
        /// Number of its field.
        field: u32,
    },
}

/// Most of a type that is repeated in an error, in characters.
const MAX_TYPE_CHARS: usize = 100;

/// What an answer says it is.
pub(crate) fn declared(headers: &HeaderMap) -> Box<str> {
    let declared = headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
    declared.unwrap_or_default().chars().take(MAX_TYPE_CHARS).collect()
}

impl Framing {
    /// The one that an answer declares. An answer without a type is taken for text; `None` is no events.
    pub(crate) fn of(headers: &HeaderMap, max_event_bytes: usize) -> Option<Self> {
        let declared = headers.get(CONTENT_TYPE).map_or("text/event-stream", |value| {
            let media_type = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
            media_type.trim()
        });
        if declared.eq_ignore_ascii_case("text/event-stream") {
            Some(Self::Text(sse_frame::Decoder::new(max_event_bytes)))
        } else if declared.eq_ignore_ascii_case(agui_proto::CONTENT_TYPE) {
            Some(Self::Binary(agui_proto::Decoder::new(max_event_bytes)))
        } else {
            None
        }
    }

    pub(crate) fn push(&mut self, chunk: Bytes) {
        match self {
            Self::Text(decoder) => decoder.push(chunk),
            Self::Binary(decoder) => decoder.push(&chunk),
        }
    }

    /// The next record that is complete.
    pub(crate) fn next(&mut self) -> Result<Option<Record>, ClientError> {
        match self {
            Self::Text(decoder) => Ok(decoder.next_frame()?.map(|frame| Record::Event(frame.data))),
            Self::Binary(decoder) => Ok(decoder.next_record()?.map(|record| match record {
                Received::Later { field } => Record::Later { field },
                Received::Known(json) => Record::Event(json.into()),
                // Nothing else is received.
                _ => Record::Later { field: 0 },
            })),
        }
    }

    /// The record that ends with the body, if there is one.
    pub(crate) fn finish(&mut self) -> Result<Option<Record>, ClientError> {
        match self {
            Self::Text(decoder) => Ok(decoder.finish()?.map(|frame| Record::Event(frame.data))),
            Self::Binary(decoder) => match decoder.finish() {
                Ok(()) => Ok(None),
                Err(error) => Err(error.into()),
            },
        }
    }
}
