//! One run: from the request that was admitted to its terminal event, in a task of its own.

mod conclude;
mod follow;
mod fresh;
mod guidance;
mod outgoing;
mod resume;
mod say;
mod settle;
mod stop;
mod transcript;

use std::sync::Arc;

use a2a_client::{Client, Datum};
use agui_core::{Event, RunSink, UnixMillis};
use agui_iac_code::custom::PIPELINE_V1;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use agui_mapper::{Dialect, EventMapper, MapperConfig, ResumePoint};
use agui_store::{ContextId, ExecutionId, SessionId, TaskId, ThreadRecord};

use crate::active::StopReason;
use crate::adapter::Shared;
use crate::answers::{self, Answers};
use crate::clock;
use crate::config::Profile;
use crate::notice::not_persisted;
use crate::pending;
use crate::request::Request;
use crate::tasks::{self, Told};
use crate::threads::{ActiveGuard, Slot};
use crate::verdict::Verdict;

/// What a run has to do.
pub(crate) enum Work {
    /// Send the user's message as a new task.
    Fresh,
    /// Send answers to open questions.
    Resume(Answers),
    /// Send the user's message into the task that runs.
    Guidance,
}

/// How the work of a run came to its end.
#[derive(Debug)]
pub(crate) enum Ending {
    /// What was observed says how.
    Verdict(Verdict),
    /// Somebody stopped it; whether the kernel knows.
    Stopped(StopReason, Told),
    /// It broke, and the kernel may still be working: it is told to stop.
    Broken(ErrorNotice),
    /// Nothing was sent, or what was sent was refused: the questions stay open as they were.
    Unchanged(ErrorNotice),
    /// The execution cannot be found any more: its record is cleared.
    Lost(ErrorNotice),
    /// The client gave the questions up.
    GivenUp,
    /// Guidance was delivered; it has no execution of its own to end.
    Delivered,
}

/// A run under way.
pub(crate) struct Run {
    shared: Arc<Shared>,
    slot: Arc<Slot>,
    /// Holds the thread; `None` for guidance, and once the run is over.
    guard: Option<ActiveGuard>,
    request: Request,
    context_id: ContextId,
    execution_id: ExecutionId,
    task_id: Option<TaskId>,
    /// Whether the kernel may have begun a task that it has not named yet.
    may_have_begun: bool,
    /// Id of the message that such a task would show.
    begun_by: Option<String>,
    session_id: Option<SessionId>,
    mapper: EventMapper,
    sink: RunSink,
    last_gap: Option<u64>,
    /// Kernel's ids of the questions that were allowed in this run and may come back as denied.
    allowed: Vec<Box<str>>,
}

impl Run {
    pub(crate) fn new(
        shared: Arc<Shared>,
        slot: Arc<Slot>,
        guard: Option<ActiveGuard>,
        request: Request,
        record: ThreadRecord,
        sink: RunSink,
    ) -> Self {
        let mapper = EventMapper::new(mapper_config(shared.config.profile, &request, &record));
        if let Some(guard) = &guard
            && record.execution.pipeline_sequence > 0
        {
            guard.active().mark_pipeline();
        }
        Self {
            shared,
            slot,
            guard,
            begun_by: tasks::begun_by(&record.execution),
            context_id: record.context_id,
            execution_id: record.execution.id,
            task_id: record.execution.task_id,
            may_have_begun: false,
            session_id: record.session_id,
            request,
            mapper,
            sink,
            last_gap: None,
            allowed: Vec::new(),
        }
    }

    /// Does the work and ends the run. Nothing that can be dropped from outside holds this future.
    pub(crate) async fn carry_out(mut self, work: Work) {
        self.mapper.start(clock::now());
        self.flush();
        let ending = match work {
            // On the heap, and gone afterwards: a run that waits for its kernel is as small as that.
            Work::Fresh => Box::pin(self.fresh()).await,
            Work::Resume(answers) => Box::pin(self.resume(answers)).await,
            Work::Guidance => Box::pin(self.guidance()).await,
        };
        Box::pin(self.conclude(ending)).await;
    }

    /// Whether nothing is known of the agent but that it speaks A2A.
    fn is_generic(&self) -> bool {
        self.shared.config.profile == Profile::Generic
    }

    /// The client for this run's calls, with the headers that go on to the kernel.
    fn client(&self) -> Result<Client, ErrorNotice> {
        let mut client = self.shared.kernel.client()?;
        for (name, value) in &self.request.headers {
            // A header that cannot be sent was not for the kernel.
            if let Ok(with_header) = client.with_header(name, value) {
                client = with_header;
            }
        }
        Ok(client)
    }

    /// Takes one datum of the kernel.
    async fn take(&mut self, datum: &Datum) -> Result<(), ErrorNotice> {
        self.map(clock::now(), datum);
        self.show().await
    }

    /// Maps one datum; what it makes waits in the mapper.
    fn map(&mut self, now: UnixMillis, datum: &Datum) {
        let json = datum.bytes();
        if self.mapper.handle_repeated(now, json) {
            return;
        }
        match datum.item() {
            Ok(item) => {
                self.mapper.handle_item(now, &item);
                self.mapper.remember(json, &item);
            }
            Err(error) => tracing::warn!(%error, run = %self.request.run_id, "datum skipped"),
        }
    }

    /// Hands over what was mapped, after what it told about identity was saved.
    async fn show(&mut self) -> Result<(), ErrorNotice> {
        self.announce().await?;
        self.fill_gap().await;
        self.flush();
        Ok(())
    }

    /// The sequence behind which pipeline events are missing, if they were not asked for yet.
    fn gap(&self) -> Option<u64> {
        self.mapper.observed().pipeline_gap.filter(|after| self.last_gap != Some(*after))
    }

    /// Reads what a pipeline did while nobody read its stream, so that it keeps its place.
    async fn fill_gap(&mut self) {
        let Some(after) = self.gap() else { return };
        self.last_gap = Some(after);
        let Ok(client) = self.client() else { return };
        Box::pin(self.try_to_catch_up(&client, after)).await;
    }

    /// Saves new ids, then tells the client about them (S11.6).
    async fn announce(&mut self) -> Result<(), ErrorNotice> {
        self.save_ids().await?;
        let known = self.task_id.is_some() && (self.session_id.is_some() || self.is_generic());
        if known && !self.mapper.observed().identity_changed() {
            self.mapper.announce_session(clock::now());
        }
        Ok(())
    }

    /// Saves the ids as they were told first: also when others came with them, the task has to be found.
    async fn save_ids(&mut self) -> Result<(), ErrorNotice> {
        let observed = self.mapper.observed();
        let task = self.task_id.is_none().then(|| observed.task_id.get().map(TaskId::from)).flatten();
        let session =
            self.session_id.is_none().then(|| observed.session_id.get().map(SessionId::from)).flatten();
        let context = observed.context_id.get().filter(|context| self.is_new_context(context));
        let context = context.map(ContextId::from);
        if task.is_none() && session.is_none() && context.is_none() {
            return Ok(());
        }
        if let Some(context) = context {
            self.context_id = context;
        }
        let what = if task.is_some() { MessageKey::PersistExecution } else { MessageKey::PersistSession };
        self.task_id = task.or_else(|| self.task_id.take());
        self.session_id = session.or_else(|| self.session_id.take());
        let (task, session) = (self.task_id.clone(), self.session_id.clone());
        let context = self.context_id.clone();
        Box::pin(self.commit(what, move |record| {
            record.context_id = context;
            record.execution.task_id = task;
            record.session_id = session;
        }))
        .await
    }

    /// Whether the agent names a conversation that it has not named before: those of any make choose the
    /// name themselves.
    fn is_new_context(&self, context: &str) -> bool {
        self.is_generic() && self.context_id != *context
    }

    /// The conversation as the agent knows it; `None` before an agent of any make has named it.
    fn known_context(&self) -> Option<&ContextId> {
        let is_ours = self.is_generic() && self.context_id == ContextId::for_thread(&self.request.thread_id);
        (!is_ours).then_some(&self.context_id)
    }

    /// Changes the record of this run's execution, and of no other (weakness 5).
    async fn commit(
        &self,
        what: MessageKey,
        change: impl FnOnce(&mut ThreadRecord),
    ) -> Result<(), ErrorNotice> {
        let mut open = self.slot.open().await.map_err(|error| not_persisted(&error, what))?;
        if open.record().is_none_or(|record| record.execution.id != self.execution_id) {
            tracing::error!(run = %self.request.run_id, "the thread has gone on to another execution");
            return Err(ErrorNotice::new(ErrorCode::StatePersistenceFailed).with_key(what));
        }
        open.commit(change).await.map_err(|error| not_persisted(&error, what))
    }

    /// Hands over what the mapper has made.
    fn flush(&mut self) {
        while let Some(event) = self.mapper.poll_event() {
            self.stage(event);
        }
        self.sink.flush();
    }

    fn send(&mut self, event: Event) {
        self.stage(event);
        self.sink.flush();
    }

    fn stage(&mut self, event: Event) {
        if tells_of_a_pipeline(&event)
            && let Some(guard) = &self.guard
        {
            guard.active().mark_pipeline();
        }
        let repaired = self.sink.stage(event);
        if !repaired.is_clean() {
            tracing::warn!(run = %self.request.run_id, repairs = ?repaired.repairs, "event repaired");
        }
    }

    /// Whether a pipeline works for this run, as far as was told.
    fn is_pipeline(&self) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.active().is_pipeline())
    }
}

fn tells_of_a_pipeline(event: &Event) -> bool {
    match event {
        Event::StepStarted(_) => true,
        Event::Custom(custom) => custom.name == PIPELINE_V1,
        _ => false,
    }
}

fn mapper_config(profile: Profile, request: &Request, record: &ThreadRecord) -> MapperConfig {
    let execution = &record.execution;
    let texts = answers::texts(request.language);
    let mut config = MapperConfig::new(
        request.thread_id.clone(),
        request.run_id.clone(),
        execution.id.as_str(),
        execution.invocation_id.as_str(),
        record.context_id.as_str(),
    )
    .with_pending(pending::questions(record, &texts))
    .with_answered(execution.answered.iter().map(agui_core::InterruptId::as_str))
    .with_history(&request.messages)
    .with_texts(texts);
    if profile == Profile::Generic {
        config.dialect = Dialect::Plain;
        let is_ours = record.context_id == ContextId::for_thread(&record.thread_id);
        if is_ours || record.execution.task_id.is_none() {
            // The agent has yet to name the conversation, and may go on in another than it was asked to.
            config.context_id = Box::default();
        }
    }
    config.parent_run_id.clone_from(&request.parent_run_id);
    config.task_id = execution.task_id.as_ref().map(|id| id.as_str().into());
    config.session_id = record.session_id.as_ref().map(|id| id.as_str().into());
    if !request.resume.is_empty() {
        config.resume = Some(position(record));
    }
    config
}

/// Where the execution stopped, from its record.
fn position(record: &ThreadRecord) -> ResumePoint {
    let execution = &record.execution;
    let stored = execution.position.as_ref().and_then(|stored| stored.parse::<ResumePoint>().ok());
    let mut position = stored.unwrap_or_default();
    position.pipeline_sequence = execution.pipeline_sequence;
    position.pipeline_open_steps = execution.open_steps.iter().map(ToString::to_string).collect();
    position.text_snapshot_digests = execution.text_digests.iter().map(ToString::to_string).collect();
    position
}
