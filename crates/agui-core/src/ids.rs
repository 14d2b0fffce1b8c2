//! Identifiers: opaque strings that are compared, printed and stored, never parsed.
//!
//! They share their text (`Arc<str>`), because one message id is repeated on every delta of its message.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes the text as it is.
            #[must_use]
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The text as it appears on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::new(text)
            }
        }

        impl From<&String> for $name {
            fn from(text: &String) -> Self {
                Self::new(text.as_str())
            }
        }

        impl From<Box<str>> for $name {
            fn from(text: Box<str>) -> Self {
                Self::new(text)
            }
        }

        impl From<Cow<'_, str>> for $name {
            fn from(text: Cow<'_, str>) -> Self {
                Self::new(text)
            }
        }

        impl From<Arc<str>> for $name {
            fn from(text: Arc<str>) -> Self {
                Self(text)
            }
        }

        impl From<&$name> for $name {
            fn from(id: &$name) -> Self {
                id.clone()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

id! {
    /// A conversation.
    ///
    /// Source: AG-UI 1.0, `threadId`.
    ThreadId
}
id! {
    /// One run on a thread; unique within the thread.
    ///
    /// Source: AG-UI 1.0, `runId`.
    RunId
}
id! {
    /// A message of any kind; unique within the thread across text, reasoning, tool and activity messages.
    ///
    /// Source: AG-UI 1.0, `messageId`.
    MessageId
}
id! {
    /// One tool call.
    ///
    /// Source: AG-UI 1.0, `toolCallId`.
    ToolCallId
}
id! {
    /// One open question of a run; a [`ResumeEntry`](crate::ResumeEntry) answers it by this id.
    ///
    /// Source: AG-UI 1.0, `interruptId`.
    InterruptId
}
id! {
    /// One invocation of a subagent within a run.
    ///
    /// Source: AG-UI 1.0, `subagentRunId`.
    SubagentRunId
}
