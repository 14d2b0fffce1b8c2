//! The rules that streams are judged by.

use std::fmt;

use agui_core::Rule as StreamRule;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// Worth knowing.
    Info,
    /// Released clients get along with it, and should not have to.
    Warning,
    /// A conforming client ends the run, or shows something wrong.
    Error,
}

impl Severity {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $what:literal $fix:literal)+) => {
        /// A rule of the protocol or of its transport.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Rule {
            $($name,)+
        }

        impl Rule {
            /// Every rule.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Stable name, for filters and reports.
            pub(crate) const fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            pub(crate) const fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)+ }
            }

            /// What holds in a good stream.
            pub(crate) const fn what(self) -> &'static str {
                match self { $(Self::$name => $what,)+ }
            }

            /// What the sender has to change.
            pub(crate) const fn fix(self) -> &'static str {
                match self { $(Self::$name => $fix,)+ }
            }
        }
    };
}

rules! {
    // The answer.
    ContentType "content-type" Error
        "the answer is declared as text/event-stream"
        "send `Content-Type: text/event-stream`"
    CutConnection "cut-connection" Error
        "the body ends as HTTP says"
        "keep the connection until the terminal event is sent, then end the body"
    LeftOpen "left-open" Warning
        "the body is closed after the terminal event"
        "close the body once the terminal event is sent"
    NotEchoed "not-echoed" Error
        "RUN_STARTED carries the thread and run ids of the request"
        "copy threadId and runId from the request"
    NoVersion "no-version" Warning
        "RUN_STARTED answers a 1.0 request with the version of the agent"
        "send `protocolVersion: \"1.0\"` in RUN_STARTED"
    // The framing.
    Encoding "encoding" Error
        "a stream is UTF-8"
        "encode the stream as UTF-8"
    LineEnds "line-ends" Error
        "lines end with LF only"
        "end lines with \\n: the released clients look for \\n\\n and fail on \\r"
    SseLine "sse-line" Error
        "a line of an event stream is a field, a comment or blank"
        "put `data: ` before the line, or `: ` if it is a comment"
    CutRecord "cut-record" Error
        "a stream does not end inside a record"
        "end the body only after a whole record"
    NoBlankLine "no-blank-line" Warning
        "every record ends with a blank line"
        "write \\n\\n behind the last record too: event stream readers throw away what has no end"
    // The records.
    NotJson "not-json" Error
        "a record is one JSON document"
        "send one JSON object a record, without [DONE] or other marks"
    NotObject "not-object" Error
        "an event is a JSON object"
        "send each event in a record of its own"
    NoType "no-type" Error
        "an event has a type"
        "give the event a type of AG-UI 1.0"
    UnknownEvent "unknown-event" Warning
        "only types of AG-UI 1.0 are sent"
        "send it as CUSTOM with a name of your own; clients leave out types they do not know"
    RetiredEvent "retired-event" Warning
        "types of 0.x are not sent any more"
        "send the REASONING_* event of the same meaning, with a messageId"
    RetiredPart "retired-part" Warning
        "content parts of 0.x are not sent any more"
        "send an image, audio, video or document part instead of a binary one"
    MissingMember "missing-member" Error
        "every required member is there"
        "add the member"
    NullMember "null-member" Error
        "an optional member without a value is left out"
        "leave the member out instead of sending null"
    NullTolerated "null-tolerated" Warning
        "an optional member without a value is left out"
        "leave the member out: released clients still take this null as absent, and will not for ever"
    WrongType "wrong-type" Error
        "a member has the JSON type of the schema"
        "send the member with its type"
    DuplicateMember "duplicate-member" Error
        "a member occurs once in its object"
        "send the member once"
    UnknownMember "unknown-member" Warning
        "only members of the schema are sent"
        "move it to metadata, rawEvent or a CUSTOM event; clients leave it out"
    UnknownKind "unknown-kind" Warning
        "only roles, parts, outcomes and operations of AG-UI 1.0 are sent"
        "use a kind of AG-UI 1.0; clients leave out others"
    NotAllowed "not-allowed" Error
        "a value of a closed set is one of the set"
        "use one of the values of the schema"
    OutOfRange "out-of-range" Error
        "numbers are integers within ±(2^53-1), counts not negative"
        "round the number, or leave it out"
    EmptyList "empty-list" Error
        "a list that needs an element has one"
        "add an element, or leave the list out"
    LoneSurrogate "lone-surrogate" Error
        "identifiers are valid Unicode"
        "do not cut text inside a surrogate pair"
    BadPointer "bad-pointer" Error
        "paths of patches are JSON pointers"
        "begin the path with `/` and write `~` and `/` inside a name as `~0` and `~1`"
    TooNew "too-new" Error
        "a client that declares no version gets nothing that 0.x does not know"
        "leave it out, or say it in a form of 0.x"
    // The order.
    FirstEvent "first-event" Error
        "the first event is RUN_STARTED or RUN_ERROR"
        "send RUN_STARTED before anything else"
    RunStillActive "run-still-active" Error
        "a run ends before the next one starts"
        "send RUN_FINISHED or RUN_ERROR before the next RUN_STARTED"
    AfterRunFinished "after-run-finished" Error
        "nothing but a new run or a late RUN_ERROR follows RUN_FINISHED"
        "send it before RUN_FINISHED"
    AfterRunError "after-run-error" Error
        "nothing but a new run follows RUN_ERROR"
        "send nothing after RUN_ERROR, not even RUN_FINISHED"
    Unterminated "unterminated" Error
        "a stream ends after RUN_FINISHED or RUN_ERROR"
        "send RUN_FINISHED, or RUN_ERROR if the run has failed, on every path out of the agent"
    AlreadyOpen "already-open" Error
        "an item is opened once at a time"
        "end the item before it is opened again, or use a new id"
    TooManyOpen "too-many-open" Warning
        "no more is open at a time than readers keep"
        "end the items that are done; 4,096 may be open"
    NotOpen "not-open" Error
        "only what is open is continued or closed"
        "send the start event first, and nothing for the item after its end event"
    StillOpen "still-open" Error
        "everything is closed before RUN_FINISHED"
        "send the end event of the item before RUN_FINISHED, also before an interrupt"
    StepOwner "step-owner" Error
        "a step is finished by the agent that started it"
        "send STEP_FINISHED with the subagentRunId of its STEP_STARTED"
    OwnerMismatch "owner-mismatch" Error
        "what continues an item names its owner or nobody"
        "send the subagentRunId of the event that opened the item, or none"
    ParentOwnerMismatch "parent-owner-mismatch" Error
        "a tool call has the owner of the message that carries it"
        "give the call a parent message of its own subagent, or none"
    SubagentReused "subagent-reused" Error
        "an id of a subagent invocation is used once in a run"
        "make a new subagentRunId for every invocation"
    UnknownParentSubagent "unknown-parent-subagent" Error
        "the parent of a subagent invocation was started in the same run"
        "send SUBAGENT_STARTED of the parent first, or leave the parent out"
    ChunkIncomplete "chunk-incomplete" Error
        "the first chunk of an item has its id, and of a tool call its name"
        "send messageId, or toolCallId and toolCallName, in the first chunk and after every other event"
    ChunkConflict "chunk-conflict" Error
        "a chunk does not contradict the one that opened its item"
        "repeat the same value, or leave it out"
    ChunkAmbiguous "chunk-ambiguous" Error
        "a chunk without id and owner continues the only item there is"
        "send the id with the chunk"
    RunIds "run-ids" Error
        "RUN_FINISHED carries the ids of its RUN_STARTED"
        "copy threadId and runId from RUN_STARTED"
    ThreadChanged "thread-changed" Error
        "every run of a stream is on the same thread"
        "send runs of other threads in streams of their own"
    DuplicateInterrupt "duplicate-interrupt" Error
        "the interrupts of a run have distinct ids"
        "make an id for every interrupt"
    NoInterrupt "no-interrupt" Error
        "an interrupt outcome holds an interrupt"
        "end with success if nothing is asked"
    SecondRun "second-run" Error
        "one request is answered by one run"
        "end the stream after the run that was asked for"
    // The meaning.
    ArgumentsNotJson "arguments-not-json" Error
        "the arguments of a tool call are JSON when the call ends"
        "send the whole of the arguments as JSON text before TOOL_CALL_END"
    StatePatch "state-patch" Error
        "a patch of the state can be applied"
        "compute patches against the last state that was sent; `add` makes what `replace` needs to find"
    StateBase "state-base" Info
        "patches are against a state that is known"
        "begin the run with STATE_SNAPSHOT"
    ActivityPatch "activity-patch" Error
        "a patch of an activity can be applied"
        "compute patches against the last content of the activity"
    LostEvent "lost-event" Warning
        "what an event speaks of is there"
        "send deltas only for messages that exist and are of that kind"
    SharedId "shared-id" Warning
        "an answer and a thought have different ids"
        "use a new messageId: clients append the answer to the thought, where it is not seen"
}

impl Rule {
    /// The rule with this name.
    pub(crate) fn named(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.id() == id)
    }

    /// The rule of the stream's order that the verifier found broken.
    pub(crate) fn of_order(rule: StreamRule) -> Self {
        // Both sides have the same names; a rule that is new there is one of the order.
        Self::named(rule.as_str()).unwrap_or(Self::NotOpen)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_the_verifier_is_here_under_its_name() {
        for rule in StreamRule::ALL {
            assert_eq!(Rule::of_order(*rule).id(), rule.as_str());
        }
    }

    #[test]
    fn names_are_unique_and_can_be_found() {
        for rule in Rule::ALL {
            assert_eq!(Rule::named(rule.id()), Some(*rule));
            assert!(!rule.what().is_empty() && !rule.fix().is_empty());
        }
    }

    #[test]
    fn the_readme_names_every_rule() {
        let readme = include_str!("../../README.md");
        for rule in Rule::ALL {
            assert!(readme.contains(&format!("`{rule}`")), "{rule}");
        }
    }
}
