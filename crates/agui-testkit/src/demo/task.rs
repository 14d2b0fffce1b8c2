//! One task: what is stored of it, what it waits for, and the events of its current phase.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::wire::{Ids, State, empty, merged, object};

/// What a task is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    Running,
    /// Waits for an answer; nothing runs.
    Parked,
    /// Ended, or a normal turn that is over.
    Ended,
}

/// The two ways in which the kernel works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Normal,
    Pipeline,
}

/// An open question.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) kind: Kind,
    pub(super) input_id: String,
    pub(super) tool_use_id: String,
    /// The `input` object, as `pendingPermissions` shows it.
    pub(super) input: Value,
    pub(super) answer: oneshot::Sender<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A permission for which the task is parked.
    Permission,
    /// A permission inside a candidate: the pipeline goes on meanwhile.
    Sideband,
    /// A question that is answered with text.
    Prompt,
}

#[derive(Debug)]
pub(super) struct Task {
    pub(super) ids: Ids,
    pub(super) execution_id: String,
    pub(super) mode: Mode,
    pub(super) activity: Activity,
    pub(super) cancel: CancellationToken,
    pub(super) questions: Vec<Question>,
    /// Accepted decisions by input id, and the kind of the question.
    pub(super) decisions: HashMap<String, (String, Kind)>,
    pub(super) executed: Vec<String>,
    /// Every text delta, also those that a stale store lacks.
    pub(super) output_text: Vec<String>,
    /// The conversation as `/iac-code/session/recovery` gives it.
    pub(super) transcript: Vec<Value>,
    /// Whether the stored task no longer follows what is sent.
    pub(super) frozen: bool,
    pub(super) phase: Arc<Phase>,
    state: State,
    status: Value,
    history: Vec<Value>,
    artifacts: Vec<Value>,
    metadata: Value,
    ended: watch::Sender<bool>,
}

impl Task {
    pub(super) fn new(ids: Ids, mode: Mode, cancel: CancellationToken) -> Self {
        let (ended, _) = watch::channel(false);
        Self {
            ids,
            execution_id: format!("exec-{}", Uuid::new_v4().simple()),
            mode,
            activity: Activity::Running,
            cancel,
            questions: Vec::new(),
            decisions: HashMap::new(),
            executed: Vec::new(),
            output_text: Vec::new(),
            transcript: Vec::new(),
            frozen: false,
            phase: Arc::default(),
            state: State::Submitted,
            status: json!({"state": State::Submitted.as_str()}),
            history: Vec::new(),
            artifacts: Vec::new(),
            metadata: empty(),
            ended,
        }
    }

    pub(super) const fn state(&self) -> State {
        self.state
    }

    /// The words of execution control for the state.
    pub(super) const fn execution_status(&self) -> &'static str {
        match self.state {
            State::InputRequired | State::AuthRequired => "input-required",
            State::Completed => "completed",
            State::Failed | State::Rejected => "failed",
            State::Canceled => "canceled",
            State::Submitted | State::Working => "working",
        }
    }

    /// Sends an update to the streams of this phase and stores what it says.
    pub(super) fn publish(&mut self, result: &Value) {
        if let Some(text) = delta_of(result) {
            self.output_text.push(text.to_owned());
        }
        if !self.frozen {
            self.store(result);
        }
        self.phase.push(result);
    }

    /// Stores what an update says, as the SDK's task store does.
    fn store(&mut self, result: &Value) {
        if let Some(artifact) = result.pointer("/artifactUpdate/artifact") {
            self.artifacts.push(artifact.clone());
        }
        let Some(update) = result.get("statusUpdate") else { return };
        let status = update["status"].clone();
        self.state = status["state"].as_str().and_then(State::parse).unwrap_or(self.state);
        if let Some(message) = std::mem::replace(&mut self.status, status).get_mut("message") {
            self.history.push(message.take());
        }
        self.metadata = update["metadata"]["iac_code"].clone();
    }

    /// Starts the next phase; its streams see only what is sent from now on.
    pub(super) fn begin_phase(&mut self) -> Arc<Phase> {
        self.activity = Activity::Running;
        self.ended.send_replace(false);
        self.phase = Arc::default();
        Arc::clone(&self.phase)
    }

    /// Ends the phase: every stream that shows it closes.
    pub(super) fn end_phase(&mut self, activity: Activity) {
        self.activity = activity;
        if activity == Activity::Ended {
            self.questions.clear();
            self.ended.send_replace(true);
        }
        self.phase.close();
    }

    pub(super) fn watch_end(&self) -> watch::Receiver<bool> {
        self.ended.subscribe()
    }

    /// Sets a terminal status without sending it.
    pub(super) fn set_status(&mut self, state: State, status: Value) {
        self.state = state;
        self.status = status;
    }

    /// The task object of `GetTask`; `control` is its execution control.
    pub(super) fn to_json(&self, control: Value, history_length: Option<usize>) -> Value {
        let mut task =
            json!({"id": self.ids.task_id, "contextId": self.ids.context_id, "status": self.status});
        if !self.artifacts.is_empty() {
            task["artifacts"] = json!(self.artifacts);
        }
        let from = history_length.map_or(0, |length| self.history.len().saturating_sub(length));
        if from < self.history.len() {
            task["history"] = json!(self.history[from..]);
        }
        let mut iac_code = merged(self.metadata.clone(), json!({"iacCodeSessionId": self.ids.session_id}));
        if let Some(iac_code) = iac_code.as_object_mut() {
            if self.state != State::InputRequired {
                iac_code.remove("input");
            }
            let sideband: Vec<Value> = self.sideband().map(|question| question.input.clone()).collect();
            if !sideband.is_empty() {
                iac_code.insert("pendingPermissions".to_owned(), sideband.into());
            }
            iac_code.insert("executionControl".to_owned(), control);
        }
        let mut metadata = object([("iac_code", iac_code)]);
        crate::wire::doubles(&mut metadata);
        task["metadata"] = metadata;
        task
    }

    fn sideband(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|question| question.kind == Kind::Sideband)
    }
}

/// The text of a live delta; whole messages have another id.
fn delta_of(result: &Value) -> Option<&str> {
    let message = result.pointer("/statusUpdate/status/message")?;
    message["messageId"].as_str()?.ends_with("-message").then_some(())?;
    message["parts"][0]["text"].as_str()
}

/// What was sent between a message (or an answer) and the moment the executor returned.
#[derive(Debug)]
pub(super) struct Phase {
    inner: Mutex<Inner>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Inner {
    results: Vec<Arc<str>>,
    closed: bool,
}

impl Default for Phase {
    fn default() -> Self {
        let (changed, _) = watch::channel(());
        Self { inner: Mutex::default(), changed }
    }
}

impl Phase {
    /// A phase that is over: a stream that shows it brings these results and closes.
    pub(super) fn of(results: &[Value]) -> Arc<Self> {
        let phase = Self::default();
        results.iter().for_each(|result| phase.push(result));
        phase.close();
        Arc::new(phase)
    }

    pub(super) fn push(&self, result: &Value) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if !inner.closed {
            inner.results.push(result.to_string().into());
            self.changed.send_replace(());
        }
    }

    fn close(&self) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.changed.send_replace(());
    }

    /// What was sent after the first `seen` results, and whether that is all.
    pub(super) fn after(&self, seen: usize) -> (Vec<Arc<str>>, bool) {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        (inner.results.get(seen..).unwrap_or_default().to_vec(), inner.closed)
    }

    pub(super) fn len(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).results.len()
    }

    pub(super) fn watch(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Returns when nothing more will be sent.
    pub(super) async fn finished(&self) {
        let mut changed = self.watch();
        while !self.after(usize::MAX).1 {
            if changed.changed().await.is_err() {
                return;
            }
        }
    }
}
