//! The JSON document of a thread, as iac-code's own AG-UI adapter keeps it.
//!
//! Facts about that format, checked against iac-code 0.14, 0.15 and 0.16:
//!
//! - The writer is `json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True)` and a newline.
//! - The loader asks for the keys it knows and ignores others, in the document, in `execution` and in a
//!   pending entry; inside a pending entry's `value` it keeps a fixed list of keys. It writes back only
//!   what it knows, so [`OURS`] is gone after it wrote; all that is lost then has a safe default.
//! - `executionId`, `rosInvocationId`, `contextId`, `cwd`, `threadId` must be non-empty strings; `taskId`,
//!   `userId`, `iacCodeSessionId` strings or null; `pipelineSequence` an integer literal.
//! - A pending `value` must be an object whose `inputId` is its key. 0.16 itself can write an input
//!   without `inputId`, which it then refuses for ever; here such an entry is read, and written with it.
//! - 0.14 demands `expiresAt` in each pending entry, an RFC 3339 string with `Z`; 0.15 and 0.16 ignore
//!   it. It is written, so all of them read the document.
//! - `terminalExecutionIds` and `appliedResumeDigests` are sets there: their order is free, and here it
//!   is the order of time. `runDigests` is sorted; its order of time is in [`OURS`].

mod layout;
mod members;
mod read;
mod write;

pub(crate) use read::{decode, decode_any};
pub(crate) use write::encode;

/// The one key of a document that the other adapter does not know.
const OURS: &str = "aguiServer";

#[cfg(test)]
mod tests;
