use std::fmt;

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// A rule that a stream can break.
        ///
        /// Source: behaviour of the released 1.0 client; AG-UI 1.0, "Events" and "Lifecycle".
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Stable name, for logs and metrics.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

rules! {
    /// The first event is `RUN_STARTED` or `RUN_ERROR`.
    FirstEvent = "first-event",
    /// A run ends before the next one starts.
    RunStillActive = "run-still-active",
    /// Nothing but a new run or a late `RUN_ERROR` follows `RUN_FINISHED`.
    AfterRunFinished = "after-run-finished",
    /// Nothing but a new run follows `RUN_ERROR`.
    AfterRunError = "after-run-error",
    /// A span is opened once at a time.
    AlreadyOpen = "already-open",
    /// Not more spans are open than a verifier keeps; a limit of this crate, not of the protocol.
    TooManyOpen = "too-many-open",
    /// Only an open span is continued or closed.
    NotOpen = "not-open",
    /// A step is closed by the agent that opened it.
    StepOwner = "step-owner",
    /// Every span is closed before `RUN_FINISHED`.
    StillOpen = "still-open",
    /// An id of a subagent invocation is used once in a run.
    SubagentReused = "subagent-reused",
    /// The parent of a subagent invocation was started in the same run.
    UnknownParentSubagent = "unknown-parent-subagent",
    /// A continuation names the owner of what it continues, or none.
    OwnerMismatch = "owner-mismatch",
    /// A tool call has the owner of the message that carries it.
    ParentOwnerMismatch = "parent-owner-mismatch",
    /// The first chunk of an item has an id, and of a tool call a name.
    ChunkIncomplete = "chunk-incomplete",
    /// A chunk does not contradict the chunk that opened its item.
    ChunkConflict = "chunk-conflict",
    /// A chunk without id and owner continues the only item there is.
    ChunkAmbiguous = "chunk-ambiguous",
    /// `RUN_STARTED` echoes the ids of the request, `RUN_FINISHED` those of `RUN_STARTED`.
    RunIds = "run-ids",
    /// Every run of a stream is on the same thread.
    ThreadChanged = "thread-changed",
    /// The interrupts of a run have distinct ids.
    DuplicateInterrupt = "duplicate-interrupt",
    /// An interrupt outcome holds an interrupt.
    NoInterrupt = "no-interrupt",
    /// One request is answered by one run.
    SecondRun = "second-run",
    /// A stream ends after a terminal event.
    Unterminated = "unterminated",
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
