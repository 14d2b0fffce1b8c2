//! Values that must never be printed, stored or traced.

use std::fmt;

use serde::{Serialize, Serializer};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A secret text, wiped from memory when it is dropped.
///
/// `Debug`, `Display` and `Serialize` give `[REDACTED]`; only [`expose`](Self::expose) gives the
/// text, and there is no comparison and no deserialisation, so nothing reads or writes it by
/// accident.
///
/// ```
/// use agui_iac_code::Secret;
///
/// let key = Secret::new("sk-1");
/// assert_eq!(format!("{key:?} {key}"), "[REDACTED] [REDACTED]");
/// assert_eq!(key.expose(), "sk-1");
/// ```
///
/// Source: S3.4.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Secret(String);

impl Secret {
    /// What every printed form of a secret shows.
    pub const REDACTED: &'static str = "[REDACTED]";

    /// Takes the text over.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that has to send it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::REDACTED)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::REDACTED)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Self::REDACTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s3_4_no_printed_form_shows_the_secret() {
        let secret = Secret::new("sk-very-secret");

        let printed = [format!("{secret:?}"), format!("{secret:#?}"), format!("{secret}")];
        let json = serde_json::to_string(&secret).unwrap();

        assert_eq!(printed, ["[REDACTED]"; 3]);
        assert_eq!(json, "\"[REDACTED]\"");
        assert_eq!(secret.expose(), "sk-very-secret");
    }

    #[test]
    fn s3_4_a_wiped_secret_is_empty() {
        let mut secret = Secret::new("sk-very-secret");

        secret.zeroize();

        assert_eq!(secret.expose(), "");
    }
}
