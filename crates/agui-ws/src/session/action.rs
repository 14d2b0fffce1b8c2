//! What a session asks of its caller, and what it is told with.

use agui_i18n::Language;

use crate::inbound::Wanted;
use crate::{CancelMessage, OpenRun};

/// What the caller has to do.
#[derive(Debug)]
pub(crate) enum Action {
    /// Ask the agent for a run.
    Start(Box<Wanted>),
    /// Drop the run, or the wish for it.
    Stop(RunReport),
    /// Have something cancelled.
    Cancel(Box<CancelOrder>),
}

/// A cancel message on its way.
#[derive(Debug)]
pub(crate) struct CancelOrder {
    pub(crate) message: CancelMessage,
    pub(crate) language: Language,
    /// Given back with the outcome.
    pub(crate) of_run: Option<u64>,
}

/// What there is to say of a run when it is over on this socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunReport {
    pub(crate) run: OpenRun,
    pub(crate) events: u64,
    pub(crate) ended: RunEnded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnded {
    /// The agent ended it.
    Complete,
    /// The agent did not start it.
    Refused,
    /// A cancel message ended it here.
    Cancelled,
    /// The server stops.
    Shutdown,
    /// The socket ended.
    ClientGone,
}

impl RunEnded {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
            Self::Shutdown => "shutdown",
            Self::ClientGone => "client_gone",
        }
    }
}

/// Who carries out a cancel message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CancelBy {
    /// The control of the server.
    Control,
    /// The socket, by dropping its run.
    Socket,
}

/// What is wrong with what came in, below the level of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    TooLarge,
    NotText,
    Protocol,
}
