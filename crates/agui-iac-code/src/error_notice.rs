//! An error as a user may see it.

use std::borrow::Cow;

use crate::error_code::ErrorCode;
use crate::message_key::MessageKey;
use crate::props::PropsError;

/// Code, text and arguments of an error that a user may see.
///
/// It holds no text itself, so it can be made where the error happens and be told in the language
/// of the reader. Arguments must be safe to show: places and numbers, never values of a request or
/// texts of a kernel (case C71).
///
/// ```
/// use agui_iac_code::{ErrorCode, ErrorNotice, MessageArg, MessageKey};
///
/// let notice = ErrorNotice::new(ErrorCode::SessionBackupNotReady)
///     .with_key(MessageKey::BackupSyncing)
///     .with_number("seconds", 3);
/// assert_eq!(notice.args, [("seconds", MessageArg::Number(3))]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorNotice {
    /// The public code.
    pub code: ErrorCode,
    /// The text.
    pub key: MessageKey,
    /// Arguments of the text; those it does not take are ignored.
    pub args: Vec<(&'static str, MessageArg)>,
}

/// An argument of a text.
///
/// Example: see [`ErrorNotice`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageArg {
    /// Text that is put in as it is.
    Text(Cow<'static, str>),
    /// A number that plural forms may depend on.
    Number(u64),
}

impl ErrorNotice {
    /// The code with its general text.
    #[must_use]
    pub const fn new(code: ErrorCode) -> Self {
        Self { code, key: code.spec().key, args: Vec::new() }
    }

    /// Replaces the text.
    #[must_use]
    pub const fn with_key(mut self, key: MessageKey) -> Self {
        self.key = key;
        self
    }

    /// Adds a text argument.
    #[must_use]
    pub fn with_text(mut self, name: &'static str, text: impl Into<Cow<'static, str>>) -> Self {
        self.args.push((name, MessageArg::Text(text.into())));
        self
    }

    /// Adds a number argument.
    #[must_use]
    pub fn with_number(mut self, name: &'static str, number: u64) -> Self {
        self.args.push((name, MessageArg::Number(number)));
        self
    }

    /// `INVALID_INPUT` about one field: what is wrong (`kind`) and where (`pointer`, a JSON pointer).
    ///
    /// The empty pointer, the whole document, is shown as `#`.
    #[must_use]
    pub fn field(key: MessageKey, pointer: impl Into<Cow<'static, str>>, kind: &'static str) -> Self {
        let pointer =
            Some(pointer.into()).filter(|pointer| !pointer.is_empty()).unwrap_or(Cow::Borrowed("#"));
        Self::new(ErrorCode::InvalidInput).with_key(key).with_text("pointer", pointer).with_text("kind", kind)
    }
}

impl From<ErrorCode> for ErrorNotice {
    fn from(code: ErrorCode) -> Self {
        Self::new(code)
    }
}

impl From<&PropsError> for ErrorNotice {
    fn from(error: &PropsError) -> Self {
        Self::field(MessageKey::InputExtension, error.pointer.clone(), error.kind.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::props::IacCodeProps;

    #[test]
    fn the_whole_document_is_shown_as_a_number_sign() {
        let notice = ErrorNotice::field(MessageKey::InputEnvelope, "", "syntax");

        assert_eq!(notice.args[0], ("pointer", MessageArg::Text("#".into())));
    }

    #[test]
    fn s2_12_a_wrong_property_is_named_by_its_pointer_and_not_by_its_value() {
        let text = r#"{"iacCode":{"schemaVersion":1,"rosInvocationId":"i","cwd":"/w","thinking":{"budget":"s3cret"}}}"#;
        let error = IacCodeProps::decode(Some(text)).unwrap_err();

        let notice = ErrorNotice::from(&error);

        assert_eq!(
            notice,
            ErrorNotice {
                code: ErrorCode::InvalidInput,
                key: MessageKey::InputExtension,
                args: vec![
                    ("pointer", MessageArg::Text("/forwardedProps/iacCode/thinking/budget".into())),
                    ("kind", MessageArg::Text("wrong-type".into())),
                ],
            }
        );
    }
}
