//! From the records of an upstream into the sink of a run.

use std::borrow::Cow;

use agui_client::{Modernizer, Note};
use agui_core::{
    AGENT_ERROR, DecodeError, DecodeErrorKind, Decoded, Event, Reading, RunError, RunSink, decode_event_with,
};
use agui_i18n::Language;
use tracing::{debug, warn};

use super::config::ErrorText;
use super::lenient;
use crate::text::{ErrorId, shown};

/// Longest code of an error that is passed on, in bytes.
///
/// Example: see [`Upstream`](crate::Upstream).
pub const MAX_CODE_BYTES: usize = 64;
/// Code that the platform keeps for itself, and that its own kit gives to every exception of an agent.
const PLATFORM_FAILURE: &str = "INTERNAL_ERROR";

/// Reads records and counts what was wrong with them.
#[derive(Debug)]
pub(super) struct Reader {
    modernizer: Modernizer,
    notes: Vec<Note>,
    language: Language,
    error_text: ErrorText,
    /// Events that were passed on.
    pub(super) events: u64,
    /// Repairs that those needed.
    pub(super) repairs: u64,
    /// Records that were left out.
    pub(super) skipped: u64,
}

impl Reader {
    pub(super) const fn new(language: Language, error_text: ErrorText) -> Self {
        Self {
            modernizer: Modernizer::new(),
            notes: Vec::new(),
            language,
            error_text,
            events: 0,
            repairs: 0,
            skipped: 0,
        }
    }

    /// Takes one record; what it means waits in the sink for the next flush.
    pub(super) fn take(&mut self, record: &[u8], sink: &mut RunSink) {
        let decoded = self.decode(record);
        for note in self.notes.drain(..) {
            debug!(%note, "record of the upstream");
        }
        match decoded {
            Ok(Decoded::Known(event)) => {
                self.events += 1;
                let event = self.presentable(event);
                for repair in sink.stage(event).repairs {
                    self.repairs += 1;
                    debug!(%repair, "event of the upstream repaired");
                }
            }
            Ok(Decoded::Unknown(unknown)) => {
                self.skipped += 1;
                debug!(event_type = %unknown.event_type, "event of unknown type left out");
            }
            Ok(_) => self.skipped += 1,
            Err(error) => {
                self.skipped += 1;
                debug!(%error, "record that is no event left out");
            }
        }
    }

    fn decode(&mut self, record: &[u8]) -> Result<Decoded, DecodeError> {
        self.modernizer.decode(record, &mut self.notes).or_else(|error| {
            let mended = match error.kind {
                DecodeErrorKind::Syntax => Cow::Owned(lenient::mended(record)),
                _ => Cow::Borrowed(record),
            };
            // Some encoders write `null` for every member that is absent.
            let (decoded, skipped) = decode_event_with(&mended, Reading::Request)?;
            self.notes.extend(skipped.into_iter().map(|piece| Note::Skipped { pointer: piece.pointer }));
            Ok(decoded)
        })
    }

    /// The event as a caller may see it.
    fn presentable(&self, event: Event) -> Event {
        if self.error_text == ErrorText::Trusted {
            return event;
        }
        match event {
            Event::RunError(error) => self.hide(error).into(),
            Event::SubagentError(mut error) => {
                let id = logged(error.code.as_deref(), &error.message);
                error.message = id.agent_failed(self.language);
                error.code = error.code.map(passed);
                (error.base.raw_event, error.base.metadata) = (None, None);
                error.into()
            }
            event => event,
        }
    }

    fn hide(&self, error: RunError) -> RunError {
        let id = logged(error.code.as_deref(), &error.message);
        let code = error.code.map_or_else(|| AGENT_ERROR.to_owned(), passed);
        let mut hidden = RunError::new(id.agent_failed(self.language)).with_code(code);
        (hidden.usage, hidden.base.timestamp) = (error.usage, error.base.timestamp);
        hidden
    }
}

/// Writes what is hidden from the caller into the log.
fn logged(code: Option<&str>, message: &str) -> ErrorId {
    let id = ErrorId::new();
    let (code, message) = (code.map(shown), shown(message));
    warn!(error_id = %id, code, message, "the upstream reports a failure");
    id
}

/// The code that takes the place of an upstream's: its own if it is one.
fn passed(code: String) -> String {
    if code != PLATFORM_FAILURE && is_code(&code) { code } else { AGENT_ERROR.to_owned() }
}

/// Whether a text has the form of a code: `UPPER_SNAKE`. Anything else may be a message.
pub(super) fn is_code(text: &str) -> bool {
    text.len() <= MAX_CODE_BYTES
        && text.bytes().next().is_some_and(|byte| byte.is_ascii_uppercase())
        && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_upper_snake_words_are_codes() {
        let cases = [("VALIDATION_ERROR", true), ("E2", true), ("", false), ("_X", false), ("Boom", false)];
        for (text, expected) in cases {
            assert_eq!(is_code(text), expected, "{text}");
        }
        assert!(is_code(&"X".repeat(MAX_CODE_BYTES)) && !is_code(&"X".repeat(MAX_CODE_BYTES + 1)));
        assert_eq!(passed("RATE_LIMITED".to_owned()), "RATE_LIMITED");
        assert_eq!(passed(PLATFORM_FAILURE.to_owned()), AGENT_ERROR);
    }

    #[test]
    fn numbers_that_json_does_not_have_do_not_cost_the_event() {
        let record = br#"{"type":"STATE_SNAPSHOT","snapshot":{"loss":NaN}}"#;
        let mut reader = Reader::new(Language::En, ErrorText::Fixed);
        let Ok(Decoded::Known(event)) = reader.decode(record) else { panic!("not read") };
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(text, r#"{"type":"STATE_SNAPSHOT","snapshot":{"loss":null}}"#);
    }
}
