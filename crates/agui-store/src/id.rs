//! Ids that the store keeps and the AG-UI protocol does not know.

use std::fmt;
use std::sync::Arc;

use agui_core::ThreadId;

use crate::digest::Digest;

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
    };
}

id! {
    /// The A2A context of a thread; one for the thread's whole life.
    ContextId
}
id! {
    /// The A2A task that works for an execution.
    TaskId
}
id! {
    /// The iac-code session of a thread; learned from the kernel, then kept for the thread's life.
    SessionId
}
id! {
    /// One execution: a message of the user and everything until its business end, over all resumes.
    ExecutionId
}
id! {
    /// Who asked: `rosInvocationId` of the request that began an execution.
    InvocationId
}

impl ContextId {
    /// The context id that every adapter derives from a thread id: `agui-` and the first 40
    /// hexadecimal digits of its SHA-256.
    #[must_use]
    pub fn for_thread(thread: &ThreadId) -> Self {
        let digest = Digest::of(thread.as_str().as_bytes()).to_string();
        Self::from(format!("agui-{}", digest.get(..40).unwrap_or(&digest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_id_is_the_one_of_recorded_threads() {
        let cases = [
            ("thread-a", "agui-8b983fb92d2eb12751695722fdb4e498211e50d7"),
            ("thread-o5", "agui-0fcd412f33a7869197d68477189d324aeeb4f17c"),
        ];
        for (thread, context) in cases {
            assert_eq!(ContextId::for_thread(&ThreadId::from(thread)), context);
        }
    }
}
