use agui_core::{Event, Interrupt, Json, Outcome, RunError};

/// How a run has ended, as the agent says.
///
/// ```
/// use agui_client::RunEnd;
/// use agui_core::{Event, RunError};
///
/// let error = RunError::new("The model did not answer.");
/// assert_eq!(RunEnd::of(&Event::from(error.clone())), Some(RunEnd::Failed(error)));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RunEnd {
    /// The run did its work. Calls of the application's tools may wait for results, see
    /// [`Conversation::pending_tool_calls`](crate::Conversation::pending_tool_calls).
    Success {
        /// The result, if the agent gave one.
        result: Option<Json>,
    },
    /// The run waits for answers.
    Interrupted {
        /// The questions; at least one.
        interrupts: Vec<Interrupt>,
    },
    /// The run was stopped on purpose.
    Cancelled,
    /// The run has failed.
    Failed(RunError),
}

impl RunEnd {
    /// The end that an event tells; `None` for events that end no run.
    #[must_use]
    pub fn of(event: &Event) -> Option<Self> {
        match event {
            Event::RunError(error) => Some(Self::Failed(error.clone())),
            Event::RunFinished(finished) => Some(match &finished.outcome {
                Some(Outcome::Interrupt { interrupts }) => {
                    Self::Interrupted { interrupts: interrupts.clone() }
                }
                Some(Outcome::Cancelled) => Self::Cancelled,
                // A later kind of outcome has been left out by the decoder, so this is all there is.
                _ => Self::Success { result: finished.result.clone() },
            }),
            _ => None,
        }
    }
}
