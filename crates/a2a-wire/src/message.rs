use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use serde_json::value::RawValue;

use crate::Part;
use crate::tolerant::{optional_text, or_default, text};

/// A message of a conversation.
///
/// Source: A2A `Message`.
#[derive(Clone, Default, Deserialize)]
#[non_exhaustive]
#[serde(default, rename_all = "camelCase")]
pub struct Message<'a> {
    /// Id that its writer gave it; empty if absent.
    #[serde(borrow, alias = "message_id", deserialize_with = "text")]
    pub message_id: Cow<'a, str>,
    /// Who speaks.
    pub role: Role,
    /// What is said.
    #[serde(borrow, deserialize_with = "or_default")]
    pub parts: Vec<Part<'a>>,
    /// Conversation.
    #[serde(borrow, alias = "context_id", deserialize_with = "optional_text")]
    pub context_id: Option<Cow<'a, str>>,
    /// Task that it belongs to.
    #[serde(borrow, alias = "task_id", deserialize_with = "optional_text")]
    pub task_id: Option<Cow<'a, str>>,
    /// Free-form object, as received.
    #[serde(borrow)]
    pub metadata: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    /// The text parts, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> + use<'_, 'a> {
        self.parts.iter().filter_map(Part::text)
    }
}

/// Who wrote a message.
///
/// Source: A2A 1.0 `Message.role` (`ROLE_USER`, `ROLE_AGENT`), A2A 0.3 `Message.role` (`user`, `agent`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Absent or `ROLE_UNSPECIFIED`.
    #[default]
    Unspecified,
    /// The client's side.
    User,
    /// The agent's side.
    Agent,
    /// A role this crate does not know, as it was spelled.
    Other(Box<str>),
}

impl Role {
    /// Reads a role in any spelling of 1.0 (`ROLE_AGENT`) and 0.3 (`agent`).
    #[must_use]
    pub fn parse(name: &str) -> Self {
        let bare = match name.get(..5) {
            Some(prefix) if prefix.eq_ignore_ascii_case("role_") => &name[5..],
            _ => name,
        };
        let is = |role: &str| bare.eq_ignore_ascii_case(role);
        match () {
            () if is("agent") => Self::Agent,
            () if is("user") => Self::User,
            () if is("unspecified") || bare.is_empty() => Self::Unspecified,
            () => Self::Other(name.into()),
        }
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RoleVisitor)
    }
}

struct RoleVisitor;

impl Visitor<'_> for RoleVisitor {
    type Value = Role;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a role")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Role, E> {
        Ok(Role::parse(name))
    }

    /// ProtoJSON readers accept an enum's number too.
    fn visit_u64<E: Error>(self, number: u64) -> Result<Role, E> {
        Ok(match number {
            0 => Role::Unspecified,
            1 => Role::User,
            2 => Role::Agent,
            _ => Role::Other(number.to_string().into()),
        })
    }

    fn visit_unit<E: Error>(self) -> Result<Role, E> {
        Ok(Role::Unspecified)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_of_both_versions_are_read() {
        let cases = [
            (r#""ROLE_USER""#, Role::User),
            (r#""user""#, Role::User),
            (r#""ROLE_AGENT""#, Role::Agent),
            (r#""agent""#, Role::Agent),
            (r#""ROLE_UNSPECIFIED""#, Role::Unspecified),
            ("null", Role::Unspecified),
            ("2", Role::Agent),
            (r#""ROLE_SYSTEM""#, Role::Other("ROLE_SYSTEM".into())),
            ("\"\u{4f60}\u{597d}\"", Role::Other("\u{4f60}\u{597d}".into())),
        ];
        for (json, role) in cases {
            assert_eq!(serde_json::from_str::<Role>(json).unwrap(), role, "{json}");
        }
    }

    #[test]
    fn null_and_absent_members_are_defaults() {
        for json in [
            "{}",
            r#"{"messageId":null,"role":null,"parts":null,"contextId":null,"taskId":"","metadata":null}"#,
        ] {
            let message: Message<'_> = serde_json::from_str(json).unwrap();
            assert_eq!(
                (&*message.message_id, &message.role, message.parts.len()),
                ("", &Role::Unspecified, 0)
            );
            assert!(message.context_id.is_none() && message.task_id.is_none() && message.metadata.is_none());
        }
    }
}
