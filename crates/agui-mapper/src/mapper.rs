//! The machine: updates in, events out.

use a2a_wire::{Alike, StatusUpdate, StreamItem, Task, TaskState};
use agui_core::{
    Custom, Event, Interrupt, Json, Outcome, PROTOCOL_VERSION, RunError, RunFinished, RunStarted, TokenUsage,
    UnixMillis,
};
use agui_iac_code::custom::{SESSION_V1, SessionV1};
use agui_iac_code::{ErrorCode, PipelineState};

use crate::a2a::Turn;
use crate::config::{Dialect, MapperConfig};
use crate::custom::{TASK_V1, TaskV1};
use crate::iac::Iac;
use crate::observed::Observed;
use crate::position::ResumePoint;

/// Maps what an A2A agent sends in one run to AG-UI events.
///
/// Feed it with `handle_*` and drain [`poll_event`](Self::poll_event) to `None` before you wait for more. What
/// comes out is a valid AG-UI stream whatever comes in: it begins with `RUN_STARTED`, every span is closed,
/// and [`finish`](Self::finish) gives the one terminal event. How a run ends is the caller's decision, with
/// the help of [`observed`](Self::observed).
///
/// ```
/// use a2a_wire::StreamItem;
/// use agui_core::{EventType, UnixMillis};
/// use agui_mapper::{Ending, EventMapper, MapperConfig};
///
/// let asked = br#"{"result":{"statusUpdate":{"taskId":"T1","contextId":"C1",
///     "status":{"state":"TASK_STATE_INPUT_REQUIRED"},
///     "metadata":{"iac_code":{"input":{"kind":"permission","requestTaskId":"T1","contextId":"C1",
///         "inputId":"permission-0a","toolUseId":"call_1","toolName":"bash","required":true}}}}}}"#;
///
/// let mut mapper = EventMapper::new(MapperConfig::new("thread", "run", "execution", "invocation", "C1"));
/// let now = UnixMillis::new(1);
/// mapper.start(now);
/// mapper.handle_item(now, &StreamItem::decode(asked)?);
/// assert_eq!(mapper.observed().task_id.get(), Some("T1"));
///
/// let questions: Vec<_> = mapper.observed().open_inputs.iter().map(|open| open.interrupt.clone()).collect();
/// assert_eq!(questions[0].id.as_str(), "permission-0a");
/// mapper.finish(now, Ending::Interrupt(questions));
/// let types: Vec<_> =
///     std::iter::from_fn(|| mapper.poll_event()).map(|event| event.event_type()).collect();
/// assert_eq!(types.last(), Some(&EventType::RunFinished));
/// # Ok::<(), a2a_wire::DecodeError>(())
/// ```
#[derive(Debug)]
pub struct EventMapper {
    config: MapperConfig,
    phase: Phase,
    announced: bool,
    /// The rules of A2A …
    turn: Turn,
    /// … and those of the iac-code kernel over them, if it is one.
    layer: Option<Iac>,
    /// Whether the last update did nothing but add text to a message.
    added_text: bool,
    repeated: Option<Repeated>,
}

/// The last update, if it did nothing but add text to a message.
#[derive(Debug)]
struct Repeated {
    update: Alike,
    message: Box<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fresh,
    Running,
    Ended,
}

/// How a run ends.
///
/// Example: see [`EventMapper`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Ending {
    /// The work is done.
    Success,
    /// The user is asked; at least one interrupt, each with an id of its own.
    Interrupt(Vec<Interrupt>),
    /// Something failed.
    Error {
        /// Public code.
        code: String,
        /// Text for the user.
        message: String,
    },
    /// The run was cancelled; the contract tells this by `RUN_ERROR` with the code `CANCELLED`.
    Cancelled {
        /// Text for the user.
        message: String,
    },
    /// The client gave up what it was asked. Only for clients that speak AG-UI 1.0: earlier ones do not
    /// know the outcome.
    GivenUp,
}

impl EventMapper {
    /// A mapper for one run.
    #[must_use]
    pub fn new(config: MapperConfig) -> Self {
        let mut turn = Turn::new(&config);
        let layer = match config.dialect {
            Dialect::IacCode => Some(Iac::new(&config, &mut turn)),
            Dialect::Plain => None,
        };
        Self { config, phase: Phase::Fresh, announced: false, turn, layer, added_text: false, repeated: None }
    }

    /// Begins the stream: `RUN_STARTED`, then the steps that the execution left running.
    ///
    /// Every other input begins the stream too if that was not done.
    pub fn start(&mut self, now: UnixMillis) {
        self.enter(now);
    }

    /// Takes the time and begins the stream if needed; `false` if the run has ended.
    fn enter(&mut self, now: UnixMillis) -> bool {
        self.turn.spans.set_now(now);
        match self.phase {
            Phase::Ended => return false,
            Phase::Running => return true,
            Phase::Fresh => self.phase = Phase::Running,
        }
        let config = &self.config;
        let mut started = RunStarted::new(config.thread_id.clone(), config.run_id.clone())
            .with_protocol_version(PROTOCOL_VERSION);
        started.parent_run_id = config.parent_run_id.clone();
        self.turn.spans.emit(started);
        if let Some(iac) = &mut self.layer {
            iac.start(&mut self.turn);
        }
        true
    }

    /// Notes that a new upstream stream was opened: pipeline events may be missing before its first one.
    ///
    /// The first stream of a resumed run and a stream that begins with a Task are recognised by themselves.
    pub fn stream_opened(&mut self) {
        if let Some(iac) = &mut self.layer {
            iac.stream_opened();
        }
    }

    /// Maps one datum of the kernel: of a stream, or the result of a unary call.
    ///
    /// A datum of another task or context than that of the run is not mapped;
    /// [`Observed::identity_changed`] tells of it. After [`finish`](Self::finish) nothing is mapped.
    pub fn handle_item(&mut self, now: UnixMillis, item: &StreamItem<'_>) {
        self.added_text = false;
        self.repeated = None;
        if !self.enter(now) {
            return;
        }
        match item {
            StreamItem::StatusUpdate(update) => self.status_update(update),
            StreamItem::Task(task) => self.task(task),
            StreamItem::ArtifactUpdate(update) => {
                if self.turn.admit(&update.task_id, &update.context_id) {
                    match &self.layer {
                        Some(_) => Iac::artifact_update(&mut self.turn, update),
                        None => self.turn.artifact_update(update),
                    }
                }
            }
            StreamItem::Message(message) => {
                let task = message.task_id.as_deref().unwrap_or_default();
                if self.turn.admit(task, message.context_id.as_deref().unwrap_or_default()) {
                    match &mut self.layer {
                        Some(iac) => iac.message(&mut self.turn, message),
                        None => self.turn.message(message),
                    }
                }
            }
            _ => self.turn.observed.skipped_members += 1,
        }
    }

    fn status_update(&mut self, update: &StatusUpdate<'_>) {
        if !self.turn.admit(&update.task_id, &update.context_id) {
            return;
        }
        self.turn.enter(&update.status.state);
        self.turn.text.set_live();
        match &mut self.layer {
            Some(iac) => {
                iac.status_update(&mut self.turn, update);
                self.added_text = iac.only_adds_text(update);
            }
            None => self.turn.status_update(update),
        }
    }

    /// Remembers the JSON of the item that was handled just now, so that the next one need not be read if
    /// it is the same but for its text; see [`handle_repeated`](Self::handle_repeated).
    pub fn remember(&mut self, json: &[u8], item: &StreamItem<'_>) {
        let StreamItem::StatusUpdate(update) = item else { return };
        let Some(message) = update.status.message.as_ref().filter(|_| self.added_text) else { return };
        let update = message.texts().next().and_then(|text| Alike::new(json, text));
        self.repeated = update.map(|update| Repeated { update, message: message.message_id.as_ref().into() });
    }

    /// Maps an update that is the remembered one but for its text; `false` if it is another one, and nothing
    /// was done.
    pub fn handle_repeated(&mut self, now: UnixMillis, json: &[u8]) -> bool {
        let Some(repeated) = self.repeated.take() else { return false };
        let text = repeated.update.text(json);
        if let Some(text) = &text
            && self.enter(now)
        {
            self.turn.enter(&TaskState::Working);
            self.turn.text.set_live();
            self.turn.text.delta(&mut self.turn.spans, &repeated.message, text);
        }
        let is_repeated = text.is_some();
        self.repeated = Some(repeated);
        is_repeated
    }

    fn task(&mut self, task: &Task<'_>) {
        if !self.turn.admit(&task.id, task.context_id.as_deref().unwrap_or_default()) {
            return;
        }
        self.turn.enter(&task.status.state);
        match &mut self.layer {
            Some(iac) => iac.task(&mut self.turn, task),
            None => self.turn.task(task),
        }
    }

    /// Maps the pipeline state: `ACTIVITY_SNAPSHOT`, then the events that were missed.
    ///
    /// On a resume hand it in after [`start`](Self::start) and before the first update. When
    /// [`Observed::pipeline_gap`] says so, read the state after that sequence and hand it in before the
    /// next update, so that what was missed keeps its place.
    pub fn handle_recovery(&mut self, now: UnixMillis, state: &PipelineState<'_>) {
        if self.enter(now)
            && let Some(iac) = &mut self.layer
        {
            iac.recovery(&mut self.turn, state);
        }
    }

    /// Announces the ids of the run, once, with what is known of task and session.
    ///
    /// Call it when they are stored, before the events of the update that told them are taken: the
    /// announcement comes ahead of whatever waits.
    pub fn announce_session(&mut self, now: UnixMillis) {
        if !self.enter(now) || std::mem::replace(&mut self.announced, true) {
            return;
        }
        let ids = match self.layer {
            Some(_) => self.session(),
            None => self.task_ids(),
        };
        if let Some(ids) = ids {
            self.turn.spans.emit_ahead(ids);
        }
    }

    fn session(&self) -> Option<Custom> {
        let (config, observed) = (&self.config, &self.turn.observed);
        let mut value = SessionV1::new(
            config.thread_id.as_str(),
            config.run_id.as_str(),
            &config.execution_id,
            &config.context_id,
            &config.ros_invocation_id,
        );
        if let Some(task) = observed.task_id.get() {
            value = value.with_task_id(task);
        }
        if let Some(session) = observed.session_id.get() {
            value = value.with_session_id(session);
        }
        Some(Custom::new(SESSION_V1, Json::from_serialize(&value).ok()?))
    }

    fn task_ids(&self) -> Option<Custom> {
        let (config, observed) = (&self.config, &self.turn.observed);
        let (thread, run) = (config.thread_id.as_str(), config.run_id.as_str());
        let mut value = TaskV1::new(thread, run, &config.execution_id, observed.task_id.get()?);
        if let Some(context) = observed.context_id.get() {
            value = value.with_context_id(context);
        }
        Some(Custom::new(TASK_V1, Json::from_serialize(&value).ok()?))
    }

    /// Notes that the kernel took the answer to a question, by the id of the interrupt or the kernel's own.
    ///
    /// The question is not raised again, unless the kernel says that the answer was not applied.
    pub fn answered(&mut self, id: &str) {
        self.turn.answered(id);
    }

    /// Ends the run: closes what is open, the last opened first, and emits the one terminal event.
    pub fn finish(&mut self, now: UnixMillis, ending: Ending) {
        if !self.enter(now) {
            return;
        }
        self.turn.text.release(&mut self.turn.spans);
        self.turn.spans.close_all();
        let event = self.terminal(ending);
        self.turn.spans.emit(event);
        self.phase = Phase::Ended;
    }

    fn terminal(&mut self, ending: Ending) -> Event {
        let outcome = match ending {
            Ending::Success => Outcome::success(),
            Ending::GivenUp => Outcome::Cancelled,
            Ending::Interrupt(interrupts) if !interrupts.is_empty() => {
                Outcome::interrupt(distinct(interrupts))
            }
            Ending::Interrupt(_) => {
                debug_assert!(false, "an interrupted run has at least one interrupt");
                return self.run_error(String::new(), ErrorCode::A2aProtocolError.spec().code);
            }
            Ending::Error { code, message } => return self.run_error(message, &code),
            Ending::Cancelled { message } => {
                return self.run_error(message, ErrorCode::Cancelled.spec().code);
            }
        };
        let mut finished =
            RunFinished::new(self.config.thread_id.clone(), self.config.run_id.clone()).with_outcome(outcome);
        finished.usage = self.usage();
        finished.into()
    }

    /// The message of an error is never empty: clients show it.
    fn run_error(&mut self, message: String, code: &str) -> Event {
        let message = if message.trim().is_empty() { code.to_owned() } else { message };
        let mut error = RunError::new(message).with_code(code);
        error.usage = self.usage();
        error.into()
    }

    /// What the run has cost, as far as the layer was told: A2A itself does not tell.
    fn usage(&mut self) -> Vec<TokenUsage> {
        self.layer.as_mut().map(|iac| iac.usage.take()).unwrap_or_default()
    }

    /// Next event to send, in protocol order.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.turn.spans.poll()
    }

    /// What the kernel has told so far.
    #[must_use]
    pub const fn observed(&self) -> &Observed {
        &self.turn.observed
    }

    /// Where the execution stands; store it when the run is interrupted.
    #[must_use]
    pub fn position(&self) -> ResumePoint {
        let mut position = ResumePoint::new();
        self.turn.text.save(&mut position);
        self.turn.artifacts.save(&mut position);
        if let Some(iac) = &self.layer {
            iac.save(&mut position);
        }
        position
    }

    /// Highest sequence of a pipeline event so far; 0 while no pipeline has told anything.
    #[must_use]
    pub fn pipeline_sequence(&self) -> u64 {
        self.layer.as_ref().map_or(0, Iac::pipeline_sequence)
    }

    /// Whether the terminal event was emitted.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended)
    }
}

/// The interrupts with the first of each id.
fn distinct(interrupts: Vec<Interrupt>) -> Vec<Interrupt> {
    let mut kept: Vec<Interrupt> = Vec::with_capacity(interrupts.len());
    for interrupt in interrupts {
        if kept.iter().all(|other| other.id != interrupt.id) {
            kept.push(interrupt);
        }
    }
    kept
}
