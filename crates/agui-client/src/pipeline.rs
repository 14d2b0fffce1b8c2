//! From records to events that may be trusted. Pure: no IO, no clock.

use std::fmt;

use agui_core::{ChunkExpander, Decoded, Event, PROTOCOL_VERSION, Verifier};

use crate::ClientError;
use crate::legacy::Modernizer;

/// Something that was left out or is worth a line in a log; the stream goes on.
///
/// Example: see [`Pipeline`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// An event of a type that this version does not know was dropped.
    UnknownEvent {
        /// The type.
        event_type: Box<str>,
    },
    /// A piece of an event was left out.
    Skipped {
        /// JSON pointer into the event.
        pointer: String,
    },
    /// An event of a type that 1.0 has no more was read as its successor.
    RetiredEvent {
        /// The type on the wire.
        event_type: Box<str>,
    },
    /// A media part of 0.x was read as one of 1.0.
    BinaryPart {
        /// JSON pointer into the event.
        pointer: String,
    },
    /// A required member that an agent of 0.x has left out was read as `null`.
    AbsentMember {
        /// JSON pointer into the event.
        pointer: String,
    },
    /// The agent speaks another version of the protocol.
    OtherVersion {
        /// What it declares.
        declared: String,
    },
    /// More notes than are kept until they are taken.
    More {
        /// How many.
        count: u64,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownEvent { event_type } => write!(f, "unknown event {event_type:?} left out"),
            Self::Skipped { pointer } => write!(f, "unknown piece left out at {pointer}"),
            Self::RetiredEvent { event_type } => write!(f, "retired event {event_type:?} translated"),
            Self::BinaryPart { pointer } => write!(f, "part of 0.x translated at {pointer}"),
            Self::AbsentMember { pointer } => write!(f, "absent {pointer} read as null"),
            Self::OtherVersion { declared } => write!(f, "agent speaks version {declared:?}"),
            Self::More { count } => write!(f, "{count} more"),
        }
    }
}

/// Reads the records of one stream: decodes, expands chunks, checks every rule.
///
/// Streams of 0.x are read as such of 1.0: `THINKING_*` events, `binary` parts, and nulls that are there or
/// not where 1.0 has it otherwise. Each translation is noted.
///
/// Several runs in a row and a late `RUN_ERROR` are accepted. Whose ids the runs carry is not compared
/// with a request, because agents exist that make their own; the runs of one stream have to agree.
///
/// ```
/// use agui_client::{Note, Pipeline};
///
/// let (mut events, mut notes) = (Vec::new(), Vec::new());
/// let mut pipeline = Pipeline::new();
/// pipeline.push(br#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#, &mut events, &mut notes)?;
/// pipeline.push(br#"{"type":"LATER"}"#, &mut events, &mut notes)?;
/// pipeline.push(br#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#, &mut events, &mut notes)?;
/// pipeline.finish()?;
///
/// assert_eq!(events.len(), 2);
/// assert_eq!(notes, [Note::UnknownEvent { event_type: "LATER".into() }]);
/// # Ok::<(), agui_client::ClientError>(())
/// ```
///
/// Source: AG-UI 1.0, "Processing"; behaviour of the released 1.0 client.
#[derive(Debug, Default)]
pub struct Pipeline {
    modernizer: Modernizer,
    expander: ChunkExpander,
    verifier: Verifier,
    whole: Vec<Event>,
}

impl Pipeline {
    /// A pipeline for a stream that begins.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            modernizer: Modernizer::new(),
            expander: ChunkExpander::new(),
            verifier: Verifier::new(),
            whole: Vec::new(),
        }
    }

    /// Takes the data of the next record, and appends its events to `out` and what was left out to `notes`.
    ///
    /// # Errors
    /// [`ClientError::Decode`] and [`ClientError::Violation`]: the stream is lost. Events that came before
    /// the fault are in `out`.
    pub fn push(
        &mut self,
        record: &[u8],
        out: &mut Vec<Event>,
        notes: &mut Vec<Note>,
    ) -> Result<(), ClientError> {
        let event = match self.modernizer.decode(record, notes)? {
            Decoded::Known(event) => event,
            Decoded::Unknown(unknown) => {
                notes.push(Note::UnknownEvent { event_type: unknown.event_type });
                return Ok(());
            }
            _ => return Ok(()),
        };
        if let Some(declared) = other_version(&event) {
            notes.push(Note::OtherVersion { declared: declared.to_owned() });
        }
        self.expander.push(event, &mut self.whole)?;
        for event in self.whole.drain(..) {
            self.verifier.check(&event)?;
            out.push(event);
        }
        Ok(())
    }

    /// Checks that the stream may end here.
    ///
    /// # Errors
    /// [`ClientError::Unterminated`] if no run has ended, or one is still open.
    pub fn finish(&self) -> Result<(), ClientError> {
        self.verifier.finish().map_err(ClientError::from)
    }

    /// Whether a run has ended and none is open.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.verifier.finish().is_ok()
    }
}

/// What an agent of a later version, or of none that can be read, declares.
fn other_version(event: &Event) -> Option<&str> {
    let Event::RunStarted(started) = event else { return None };
    let declared = started.protocol_version.as_deref()?;
    match (parts(declared), parts(PROTOCOL_VERSION)) {
        (Some(theirs), Some(ours)) if theirs <= ours => None,
        _ => Some(declared),
    }
}

fn parts(version: &str) -> Option<(u64, u64)> {
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_is_newer_or_cannot_be_read_is_noted() {
        let cases = [("0.9", 0), ("1.0", 0), ("1.1", 1), ("1.10", 1), ("2.0", 1), ("one", 1), ("1", 1)];
        for (declared, expected) in cases {
            let record = format!(
                r#"{{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"{declared}"}}"#
            );
            let (mut events, mut notes) = (Vec::new(), Vec::new());
            Pipeline::new().push(record.as_bytes(), &mut events, &mut notes).unwrap();
            assert_eq!((events.len(), notes.len()), (1, expected), "{declared}");
        }
    }

    #[test]
    fn events_before_a_fault_in_one_record_are_given() {
        let mut pipeline = Pipeline::new();
        let (mut events, mut notes) = (Vec::new(), Vec::new());
        for record in [
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
            r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}"#,
        ] {
            pipeline.push(record.as_bytes(), &mut events, &mut notes).unwrap();
        }
        // The end of the open item is legal; the end of the call is not.
        let fault = pipeline.push(br#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#, &mut events, &mut notes);
        assert!(matches!(fault, Err(ClientError::Violation(_))));
        let types: Vec<&str> = events.iter().map(|event| event.event_type().as_str()).collect();
        let expected = ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];
        assert_eq!(types, expected);
        assert!(!pipeline.is_complete());
    }
}
