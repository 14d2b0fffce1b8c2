//! The documented differences between what this server answers and what the recorded adapter answered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::canon::Side;
use super::changes;
use super::explain::{Case, explain};

/// Where each kind of difference is explained.
const DOCUMENT: &str = "../../docs/differences.md";

/// Defines [`Note`] with the names of the kinds in the document.
macro_rules! notes {
    ($($name:ident $text:literal)*) => {
        /// A kind of difference.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Note {
            $($name,)*
        }

        impl Note {
            pub(super) const ALL: &[Self] = &[$(Self::$name),*];

            /// Its name in the document.
            pub(super) const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

notes! {
    AlreadyApplied "already-applied"
    AppliedAtOnce "applied-at-once"
    ArgumentText "argument-text"
    ArtifactChunks "artifact-chunks"
    BeyondTheRecord "beyond-the-record"
    CaughtUpInPlace "caught-up-in-place"
    CheckedFirst "checked-first"
    ClosedBeforeErrors "closed-before-errors"
    ClosingOrder "closing-order"
    DefaultsOmitted "defaults-omitted"
    DisconnectCancels "disconnect-cancels"
    ErrorDocuments "error-documents"
    ErrorTexts "error-texts"
    ExpiresAt "expires-at"
    FailedTools "failed-tools"
    ImageBytes "image-bytes"
    LostSessions "lost-sessions"
    MessageSpans "message-spans"
    NoIdsNoSession "no-ids-no-session"
    ProtocolVersion "protocol-version"
    RefusedBeforeSteps "refused-before-steps"
    RunErrorIds "run-error-ids"
    ServerIdentity "server-identity"
    SessionFirst "session-first"
    Snapshots "snapshots"
    StatusTexts "status-texts"
    StepFailures "step-failures"
    ToolParents "tool-parents"
    Usage "usage"
}

/// The kinds of difference between two answers, and what none of them explains.
pub(super) fn compare(trace: &str, recorded: &Side, ours: &Side) -> (BTreeSet<Note>, Vec<String>) {
    let mut notes: BTreeSet<Note> = recorded.notes.symmetric_difference(&ours.notes).copied().collect();
    if recorded.spans != ours.spans {
        notes.insert(Note::MessageSpans);
    }
    if recorded.arguments != ours.arguments {
        notes.insert(Note::ArgumentText);
    }
    let changes = changes::between(&recorded.items, &ours.items);
    let mut case = Case { trace, recorded, ours, changes, notes };
    explain(&mut case);
    (case.notes, case.changes.iter().map(ToString::to_string).collect())
}

/// Kind to the traces that show it, as the document says.
pub(super) fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(DOCUMENT);
    let text = std::fs::read_to_string(path).unwrap();
    let mut kinds = BTreeMap::new();
    for section in text.split("\n## ").skip(1) {
        let name = section.split('`').nth(1).expect("a kind in the heading");
        let traces = section.split_once("\nTraces: ").expect("a list of traces").1;
        let traces = traces.split("\n\n").next().unwrap();
        let traces = traces.split([',', '\n']).map(str::trim).filter(|trace| !trace.is_empty());
        let before = kinds.insert(name.to_owned(), traces.map(str::to_owned).collect());
        assert!(before.is_none(), "{name} is explained twice");
    }
    kinds
}
