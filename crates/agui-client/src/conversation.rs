//! What a client knows of a thread, built from events. Pure: no IO, no clock.

use std::fmt;

use agui_core::{
    Content, Context, Event, Interrupt, InterruptId, Json, Message, MessageId, Outcome, ResumeEntry,
    ResumeStatus, RunAgentInput, RunFinished, RunId, ThreadId, Tool, ToolCall, ToolCallId, ToolMessage,
    UnixMillis, UserMessage,
};

use crate::{ClientError, RunEnd};

mod interrupts;
mod messages;
mod metadata;
mod patch;
mod state;

pub use patch::{MAX_STATE_BYTES, PatchFailure};

use messages::Messages;
use state::State;

/// Something in a stream that has no effect although it reads like one; the stream goes on.
///
/// Example: see [`Conversation`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The message of a delta is not there, for example because a snapshot has removed it.
    UnknownMessage {
        /// Id of the message.
        message_id: MessageId,
    },
    /// The tool call of an event is not there.
    UnknownToolCall {
        /// Id of the call.
        tool_call_id: ToolCallId,
    },
    /// Text is sent under the id of an activity.
    ActivityInTheWay {
        /// The id.
        message_id: MessageId,
    },
    /// An activity is changed under the id of another kind of message.
    NotAnActivity {
        /// The id.
        message_id: MessageId,
    },
    /// A patch of the state cannot be applied; the state is as before.
    StatePatch(PatchFailure),
    /// A patch of an activity cannot be applied; its content is as before.
    ActivityPatch {
        /// Id of the activity message.
        message_id: MessageId,
        /// Why.
        failure: PatchFailure,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownMessage { message_id } => write!(f, "there is no message {message_id:?}"),
            Self::UnknownToolCall { tool_call_id } => write!(f, "there is no tool call {tool_call_id:?}"),
            Self::ActivityInTheWay { message_id } => write!(f, "text for activity {message_id:?}"),
            Self::NotAnActivity { message_id } => write!(f, "message {message_id:?} is no activity"),
            Self::StatePatch(failure) => write!(f, "state was not changed: {failure}"),
            Self::ActivityPatch { message_id, failure } => {
                write!(f, "activity {message_id:?} was not changed: {failure}")
            }
        }
    }
}

/// A thread as its client sees it: messages, state, open questions, and the next request.
///
/// Feed it the events of a [`Run`](crate::Run), or of a [`Pipeline`](crate::Pipeline): it takes for granted
/// that chunks are expanded and the rules of the protocol hold, and never fails if they do not.
///
/// `Debug` shows ids and counts only: messages, state and properties may carry secrets.
///
/// ```
/// use agui_client::{Conversation, PatchFailure, Warning};
/// use agui_core::{Decoded, UnixMillis, decode_event};
///
/// let mut thread = Conversation::new("thread-1");
/// thread.say("user-1", "Hello");
/// let request = thread.request("run-1", UnixMillis::new(0))?;
/// assert_eq!(request.messages.len(), 1);
///
/// // What has no effect is told.
/// let event = br#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/nowhere"}]}"#;
/// if let Decoded::Known(event) = decode_event(event)? {
///     assert_eq!(thread.apply(&event), Some(Warning::StatePatch(PatchFailure::NotApplicable)));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Source: AG-UI 1.0, "Processing"; behaviour of the released 1.0 client.
#[derive(Clone)]
pub struct Conversation {
    thread_id: ThreadId,
    messages: Messages,
    state: State,
    tools: Vec<Tool>,
    context: Vec<Context>,
    forwarded_props: Option<Json>,
    interrupts: Vec<Interrupt>,
    answers: Vec<ResumeEntry>,
    /// The interrupts that the request under way answers.
    answered: Vec<InterruptId>,
    /// Calls of the run under way without a result.
    open_calls: Vec<ToolCallId>,
    /// Calls that the last run left without a result.
    pending_calls: Vec<ToolCallId>,
    end: Option<RunEnd>,
}

impl Conversation {
    /// An empty thread.
    #[must_use]
    pub fn new(thread_id: impl Into<ThreadId>) -> Self {
        Self {
            thread_id: thread_id.into(),
            messages: Messages::default(),
            state: State::default(),
            tools: Vec::new(),
            context: Vec::new(),
            forwarded_props: None,
            interrupts: Vec::new(),
            answers: Vec::new(),
            answered: Vec::new(),
            open_calls: Vec::new(),
            pending_calls: Vec::new(),
            end: None,
        }
    }

    /// Sets the messages that are there already.
    #[must_use]
    pub fn with_messages(mut self, messages: impl Into<Vec<Message>>) -> Self {
        self.messages = messages.into().into();
        self
    }

    /// Sets the state to begin with.
    #[must_use]
    pub fn with_state(mut self, state: impl Into<Json>) -> Self {
        self.state = State::from(state.into());
        self
    }

    /// Sets the tools that the application carries out itself.
    #[must_use]
    pub fn with_tools(mut self, tools: impl Into<Vec<Tool>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Sets the context for the model.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<Vec<Context>>) -> Self {
        self.context = context.into();
        self
    }

    /// Sets the properties that are passed to the agent as they are.
    #[must_use]
    pub fn with_forwarded_props(mut self, props: impl Into<Json>) -> Self {
        self.forwarded_props = Some(props.into());
        self
    }

    /// The thread.
    #[must_use]
    pub const fn thread_id(&self) -> &ThreadId {
        &self.thread_id
    }

    /// The messages, in the order in which they are shown.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.messages.as_slice()
    }

    /// The shared state; `{}` before anybody has set one. It is written anew at each call once a patch has
    /// changed it.
    #[must_use]
    pub fn state(&self) -> Json {
        self.state.to_json()
    }

    /// The tools that the application carries out itself.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The questions that wait for answers.
    #[must_use]
    pub fn interrupts(&self) -> &[Interrupt] {
        &self.interrupts
    }

    /// The calls that the last successful run left without a result, in the order of the calls.
    #[must_use]
    pub fn pending_tool_calls(&self) -> &[ToolCallId] {
        &self.pending_calls
    }

    /// How the last run has ended; `None` while one is open.
    #[must_use]
    pub const fn end(&self) -> Option<&RunEnd> {
        self.end.as_ref()
    }

    /// A call in the messages: what is called, and with which arguments.
    ///
    /// ```
    /// # fn answer(thread: &mut agui_client::Conversation) -> Result<(), agui_client::ClientError> {
    /// for id in thread.pending_tool_calls().to_vec() {
    ///     let Some(call) = thread.tool_call(&id) else { continue };
    ///     let result = format!("{} of {}", call.function.name, call.function.arguments);
    ///     thread.answer_call(&id, format!("result-{id}"), result)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn tool_call(&self, id: &ToolCallId) -> Option<&ToolCall> {
        self.messages.find_call(id)
    }

    /// Adds what the user says, under an id that is new on the thread.
    pub fn say(&mut self, message_id: impl Into<MessageId>, content: impl Into<Content>) {
        self.push(UserMessage::new(message_id, content));
    }

    /// Adds a message of any kind.
    pub fn push(&mut self, message: impl Into<Message>) {
        self.messages.push(message.into());
    }

    /// Answers a call of a tool that the application carries out; the message gets an id that is new on the
    /// thread.
    ///
    /// # Errors
    /// [`ClientError::UnknownToolCall`] if the call does not wait for a result.
    pub fn answer_call(
        &mut self,
        tool_call_id: &ToolCallId,
        message_id: impl Into<MessageId>,
        content: impl Into<Content>,
    ) -> Result<(), ClientError> {
        let Some(index) = self.pending_calls.iter().position(|pending| pending == tool_call_id) else {
            return Err(ClientError::UnknownToolCall { tool_call_id: tool_call_id.clone() });
        };
        self.pending_calls.remove(index);
        self.messages.insert_result(ToolMessage::new(message_id, tool_call_id, content));
        Ok(())
    }

    /// Answers a question.
    ///
    /// # Errors
    /// [`ClientError::UnknownInterrupt`] if it is not open.
    pub fn resolve(&mut self, interrupt_id: &InterruptId, payload: Option<Json>) -> Result<(), ClientError> {
        let mut entry = ResumeEntry::new(interrupt_id, ResumeStatus::Resolved);
        entry.payload = payload;
        self.resume_with(entry)
    }

    /// Leaves a question for good.
    ///
    /// # Errors
    /// [`ClientError::UnknownInterrupt`] if it is not open.
    pub fn abandon(&mut self, interrupt_id: &InterruptId) -> Result<(), ClientError> {
        self.resume_with(ResumeEntry::new(interrupt_id, ResumeStatus::Cancelled))
    }

    /// Answers a question with an entry of the caller; an earlier answer is replaced.
    ///
    /// # Errors
    /// [`ClientError::UnknownInterrupt`] if it is not open.
    pub fn resume_with(&mut self, entry: ResumeEntry) -> Result<(), ClientError> {
        if !self.interrupts.iter().any(|interrupt| interrupt.id == entry.interrupt_id) {
            return Err(ClientError::UnknownInterrupt { interrupt_id: entry.interrupt_id });
        }
        self.answers.retain(|answer| answer.interrupt_id != entry.interrupt_id);
        self.answers.push(entry);
        Ok(())
    }

    /// The request of the next run, with everything that is in the conversation, under an id that is new on
    /// the thread;
    /// [`outgoing`](crate::outgoing) takes out what does not belong on the wire.
    ///
    /// `now` is the time of the caller's clock, for questions that lapse: `SystemTime::now().into()`.
    /// Answers to interrupts stay until a run has finished: after a failure the same answers go out again.
    ///
    /// # Errors
    /// [`ClientError::Unanswered`], [`ClientError::Expired`], [`ClientError::UnansweredCalls`]: the agent
    /// would have to refuse the request.
    pub fn request(
        &mut self,
        run_id: impl Into<RunId>,
        now: UnixMillis,
    ) -> Result<RunAgentInput, ClientError> {
        interrupts::check_answers(&self.interrupts, &self.answers, now)?;
        let tool_calls = self.unanswered_calls();
        if !tool_calls.is_empty() {
            return Err(ClientError::UnansweredCalls { tool_calls });
        }
        self.answered = self.answers.iter().map(|answer| answer.interrupt_id.clone()).collect();
        let mut input = RunAgentInput::new(&self.thread_id, run_id, self.messages())
            .with_state(self.state.to_json())
            .with_tools(self.tools.clone())
            .with_context(self.context.clone())
            .with_resume(self.answers.clone());
        input.forwarded_props.clone_from(&self.forwarded_props);
        Ok(input)
    }

    /// Takes the next event of a run.
    pub fn apply(&mut self, event: &Event) -> Option<Warning> {
        match event {
            Event::RunStarted(started) => {
                self.end = None;
                self.open_calls.clear();
                let input = started.input.as_ref();
                self.messages.add_unknown(input.map_or(&[][..], |input| &input.messages));
            }
            Event::RunFinished(finished) => self.run_finished(finished),
            Event::RunError(_) => self.end = RunEnd::of(event),
            Event::StateSnapshot(snapshot) => self.state = State::from(snapshot.snapshot.clone()),
            Event::StateDelta(delta) => return self.state.patch(&delta.delta).err().map(Warning::StatePatch),
            Event::MessagesSnapshot(snapshot) => messages::reconcile(&mut self.messages, &snapshot.messages),
            event => {
                match event {
                    Event::ToolCallStart(start) if !self.open_calls.contains(&start.tool_call_id) => {
                        self.open_calls.push(start.tool_call_id.clone());
                    }
                    Event::ToolCallResult(result) => {
                        self.open_calls.retain(|open| *open != result.tool_call_id);
                    }
                    _ => {}
                }
                return messages::apply(&mut self.messages, event).err();
            }
        }
        None
    }

    fn run_finished(&mut self, finished: &RunFinished) {
        // Only what was answered is done; a question of an earlier run on the same stream stays open.
        let answered = std::mem::take(&mut self.answered);
        self.interrupts.retain(|interrupt| !answered.contains(&interrupt.id));
        self.answers.retain(|answer| !answered.contains(&answer.interrupt_id));
        self.pending_calls.clear();
        match &finished.outcome {
            Some(Outcome::Interrupt { interrupts }) => interrupts::add(&mut self.interrupts, interrupts),
            Some(Outcome::Cancelled) => {}
            Some(Outcome::Success { pending_tool_call_ids: Some(named) }) => {
                self.pending_calls.clone_from(named);
            }
            _ => self.pending_calls.append(&mut self.open_calls),
        }
        self.open_calls.clear();
        self.end = RunEnd::of(&Event::from(finished.clone()));
    }

    /// Pending calls of tools that nobody but the application can carry out.
    fn unanswered_calls(&self) -> Vec<ToolCallId> {
        let is_ours = |id: &&ToolCallId| {
            let call = self.tool_call(id);
            call.is_some_and(|call| self.tools.iter().any(|tool| tool.name == call.function.name))
        };
        self.pending_calls.iter().filter(is_ours).cloned().collect()
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("thread_id", &self.thread_id)
            .field("messages", &self.messages().len())
            .field("tools", &self.tools.len())
            .field("interrupts", &self.interrupts.len())
            .field("answers", &self.answers.len())
            .field("pending_calls", &self.pending_calls)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
