//! What a scenario can do: send updates, ask, run tools.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::journal::Draft;
use super::kernel::{Kernel, Store};
use super::message::Message;
use super::scenario::{self, Scenario};
use super::task::{Activity, Kind, Mode, Question, Task};
use crate::wire::{self, Ids, State, iac};

/// One execution of a task, from its message to its end, over all its questions.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) kernel: Arc<Kernel>,
    pub(super) ids: Ids,
    pub(super) message: Message,
    cancel: CancellationToken,
}

/// How a scenario ends.
#[derive(Debug)]
pub(super) enum End {
    /// A normal turn, with its last text.
    Answered(String),
    /// A normal turn whose end carries more metadata.
    AnsweredWith(String, Value),
    /// The task fails.
    Failed(String),
    /// The turn is given up; the same message may work later.
    TryAgain(String),
    /// The pipeline has sent its last event.
    PipelineOver,
}

/// A question to the user.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) kind: Kind,
    pub(super) input_id: String,
    pub(super) tool_use_id: String,
    pub(super) input: Value,
}

impl Turn {
    pub(super) fn spawn(
        kernel: &Arc<Kernel>,
        ids: Ids,
        cancel: CancellationToken,
        message: Message,
        scenario: Scenario,
    ) {
        let turn = Self { kernel: Arc::clone(kernel), ids, message, cancel };
        kernel.tracker.spawn(async move {
            let end = tokio::select! {
                biased;
                () = turn.cancel.cancelled() => None,
                end = scenario::play(scenario, &turn) => Some(end),
            };
            match end {
                Some(end) => turn.end(end),
                None => turn.canceled(),
            }
        });
    }

    /// Changes the stored task.
    fn with_task(&self, change: impl FnOnce(&mut Task)) {
        if let Some(task) = self.kernel.store().tasks.get_mut(&self.ids.task_id) {
            change(task);
        }
    }

    pub(super) fn send(&self, result: &Value) {
        self.with_task(|task| task.publish(result));
    }

    /// A status update with the session id and more.
    pub(super) fn status(&self, state: State, more: Value) {
        self.send(&wire::status(&self.ids, state, iac(&self.ids, more)));
    }

    /// Waits as long as the configuration says; never less than one turn of the runtime.
    pub(super) async fn pause(&self) {
        match self.kernel.config.delta_delay {
            delay if delay.is_zero() => tokio::task::yield_now().await,
            delay => tokio::time::sleep(delay).await,
        }
    }

    /// The two updates with which the kernel begins a normal turn.
    pub(super) fn begin(&self) {
        for state in [State::Submitted, State::Working] {
            self.send(&wire::timed_status(&self.ids, state, iac(&self.ids, wire::empty())));
        }
    }

    /// Streams reasoning, unless the request has switched it off.
    pub(super) async fn think(&self, text: &str) {
        if !self.message.thinking {
            return;
        }
        for piece in pieces(text) {
            self.pause().await;
            self.send(&wire::thinking(&self.ids, piece));
        }
    }

    /// Streams text.
    pub(super) async fn say(&self, text: &str) {
        for piece in pieces(text) {
            self.pause().await;
            self.send(&wire::text_delta(&self.ids, piece));
        }
    }

    pub(super) fn usage(&self, read: &str, written: &str) {
        let usage = wire::usage(u64::from(tokens(read)) + 20, tokens(written).into(), 0);
        self.status(State::Working, json!({"usage": usage}));
    }

    pub(super) fn tool(&self, tool: &Value) {
        self.send(&wire::tool(&self.ids, tool));
    }

    /// Streams a tool call up to its complete input.
    pub(super) async fn call_tool(&self, id: &str, name: &str, input: &Value) {
        self.tool(&json!({"status": "started", "toolUseId": id, "name": name}));
        let mut left = input.to_string().chars().count();
        while left > 0 {
            self.pause().await;
            let length = left.min(16);
            left -= length;
            self.tool(&json!({"status": "input_delta", "toolUseId": id, "partialJsonLength": length}));
        }
        let members = input.as_object().into_iter().flatten();
        let kinds = members.map(|(key, value)| (key.clone(), json!({"type": python_type(value)})));
        let fields: serde_json::Map<String, Value> = kinds.collect();
        self.tool(&json!({
            "status": "input_complete", "toolUseId": id, "name": name, "toolInput": input,
            "inputSummary": {"tool_name": name, "fields": fields},
        }));
    }

    /// Asks and waits for the answer. A question for which the task parks ends the phase.
    pub(super) async fn ask(&self, update: &Value, ask: Ask) -> String {
        let (answer, answered) = oneshot::channel();
        self.with_task(|task| {
            task.publish(update);
            Self::open(task, ask, answer);
        });
        Self::wait(answered).await
    }

    /// The same for a question that a pipeline event shows; `more` stands beside the event.
    pub(super) async fn ask_in_pipeline(&self, draft: Draft, more: Value, ask: Ask) -> String {
        let (answer, answered) = oneshot::channel();
        {
            let mut store = self.kernel.store();
            store.pipeline_event(&self.ids, draft, more);
            if let Some(task) = store.tasks.get_mut(&self.ids.task_id) {
                Self::open(task, ask, answer);
            }
        }
        Self::wait(answered).await
    }

    fn open(task: &mut Task, ask: Ask, answer: oneshot::Sender<String>) {
        let Ask { kind, input_id, tool_use_id, input } = ask;
        task.decisions.remove(&input_id);
        task.questions.push(Question { kind, input_id, tool_use_id, input, answer });
        if kind != Kind::Sideband {
            task.end_phase(Activity::Parked);
        }
    }

    async fn wait(answered: oneshot::Receiver<String>) -> String {
        match answered.await {
            Ok(answer) => answer,
            // The question is gone, so the task is ending: the cancel branch takes over.
            Err(_) => std::future::pending().await,
        }
    }

    pub(super) fn event(&self, draft: Draft) {
        self.kernel.store().pipeline_event(&self.ids, draft, wire::empty());
    }

    fn end(&self, end: End) {
        let ids = &self.ids;
        let store = &mut *self.kernel.store();
        let Some(task) = store.tasks.get_mut(&ids.task_id) else { return };
        match end {
            End::Answered(text) => Self::answered(task, ids, &text, wire::empty()),
            End::AnsweredWith(text, more) => Self::answered(task, ids, &text, more),
            End::Failed(text) => {
                let error = json!({"error": {"retryable": false, "errorId": error_id(ids)}});
                task.publish(&Self::broken(ids, State::Failed, &text, error));
            }
            End::TryAgain(text) => {
                let error = json!({"error": {"retryable": true, "errorId": error_id(ids)}});
                task.publish(&Self::broken(ids, State::InputRequired, &text, error));
            }
            End::PipelineOver => {}
        }
        task.end_phase(Activity::Ended);
    }

    fn answered(task: &mut Task, ids: &Ids, text: &str, more: Value) {
        task.transcript.push(json!({"role": "assistant", "content": text}));
        let last = wire::merged(json!({"assistantFinal": {"complete": true}}), more.clone());
        let last = if text.is_empty() {
            wire::timed_status(ids, State::Working, iac(ids, last))
        } else {
            wire::whole_message(ids, State::Working, text, iac(ids, last))
        };
        task.publish(&last);
        task.publish(&wire::timed_status(ids, State::InputRequired, iac(ids, more)));
    }

    fn broken(ids: &Ids, state: State, text: &str, error: Value) -> Value {
        let mut update = wire::status(ids, state, iac(ids, error));
        let message = wire::agent_message(ids, &format!("{}-message", ids.task_id), text);
        update["statusUpdate"]["status"]["message"] = message;
        update
    }

    fn canceled(&self) {
        let ids = &self.ids;
        let store: &mut Store = &mut self.kernel.store();
        let Some(task) = store.tasks.get_mut(&ids.task_id) else { return };
        task.frozen = false;
        let (mode, was) = (task.mode, task.activity);
        let update = wire::whole_message(ids, State::Canceled, "Task canceled.", iac(ids, wire::empty()));
        if mode == Mode::Pipeline {
            let data = json!({"reason": "Task canceled.", "source": "executor"});
            let draft = Draft::new("pipeline", "pipeline_canceled", data).with_status("canceled");
            store.pipeline_end(ids, draft);
        } else if was == Activity::Running {
            task.publish(&update);
        }
        if let Some(task) = store.tasks.get_mut(&ids.task_id) {
            // Whoever asks for the task reads the words, also where no stream has told them.
            task.set_status(State::Canceled, update["statusUpdate"]["status"].clone());
            task.end_phase(Activity::Ended);
        }
    }
}

/// Words with the space that follows them.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// About as many tokens as a model would count.
pub(super) fn tokens(text: &str) -> u32 {
    text.split_whitespace().count().try_into().unwrap_or(u32::MAX)
}

fn error_id(ids: &Ids) -> String {
    ids.task_id.chars().filter(char::is_ascii_hexdigit).take(12).collect()
}

/// The kernel names types as Python does.
fn python_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}
