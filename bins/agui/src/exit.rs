//! How the program ends.

use std::io::{self, Write as _};
use std::process::ExitCode;

use crate::plain::line;

/// Longest warning, in characters: it may repeat what a whole page says.
const WARNING_CHARS: usize = 4_000;

/// What the exit code tells. Documented in the README and in `--help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The run did its work; the stream is clean.
    Success,
    /// The run has failed; the stream has faults.
    Failure,
    /// Nothing could be done: wrong arguments, an unreadable file, an agent that was not reached.
    Trouble,
    /// The run waits for an answer that was not given.
    Waiting,
    /// The agent has cancelled the run.
    Cancelled,
    /// The user has stopped the run.
    Interrupted,
}

impl Exit {
    /// The code of the process.
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }

    /// The code of the process as a number.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Trouble => 2,
            Self::Waiting => 3,
            Self::Cancelled => 4,
            // 128 and the number of the signal, as shells have it.
            Self::Interrupted => 130,
        }
    }
}

/// Tells why nothing could be done, the whole chain of causes on one line.
///
/// A reader that has gone, as in `agui run … | head`, is no news.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    let pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    if !error.chain().any(pipe) {
        warn(&format!("{error:#}"));
    }
    Exit::Trouble.code()
}

/// One line on standard error, whatever line ends and control characters the text has: it may hold words of
/// an agent, and what looks like another warning must not be one.
pub(crate) fn warn(text: &str) {
    // There is nobody left to tell if this fails.
    let _ = writeln!(io::stderr(), "agui: {}", line(text, WARNING_CHARS));
}
