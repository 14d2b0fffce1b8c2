//! Everything the demo kernel remembers.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::DemoConfig;
use super::journal::Journal;
use super::task::{Activity, Task};
use crate::wire::Ids;

/// How many tasks are remembered (200). Beyond, the oldest ended one is forgotten, and with the last
/// task of a context the context.
const MAX_TASKS: usize = 200;

#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) config: DemoConfig,
    pub(super) tracker: TaskTracker,
    pub(super) token: CancellationToken,
    pub(super) instance: String,
    store: Mutex<Store>,
    executed: AtomicU64,
    released: watch::Sender<bool>,
}

#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) contexts: HashMap<String, Context>,
    pub(super) tasks: HashMap<String, Task>,
    order: VecDeque<String>,
}

/// One conversation.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) session_id: String,
    /// The workspace of the first message that was accepted.
    pub(super) cwd: Option<String>,
    /// The pipeline events of all its tasks.
    pub(super) journal: Journal,
    /// The pipeline task that a message without a task id goes to.
    pub(super) pipeline_task: Option<String>,
    /// Whether a pipeline has been completed and handed over.
    pub(super) handed_off: bool,
    /// How often the `retry` scenario has failed here.
    pub(super) retries: u32,
}

impl Kernel {
    pub(super) fn new(config: DemoConfig) -> Self {
        let (released, _) = watch::channel(false);
        Self {
            config,
            tracker: TaskTracker::new(),
            token: CancellationToken::new(),
            instance: format!("instance-{}", Uuid::new_v4().simple()),
            store: Mutex::default(),
            executed: AtomicU64::new(0),
            released,
        }
    }

    pub(super) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn executed_tools(&self) -> u64 {
        self.executed.load(Ordering::Relaxed)
    }

    pub(super) fn executions(&self, task_id: &str) -> Vec<String> {
        self.store().tasks.get(task_id).map(|task| task.executed.clone()).unwrap_or_default()
    }

    /// Counts one executed tool.
    pub(super) fn execute(&self, task_id: &str, tool_use_id: &str) {
        self.executed.fetch_add(1, Ordering::Relaxed);
        if let Some(task) = self.store().tasks.get_mut(task_id) {
            task.executed.push(tool_use_id.to_owned());
        }
    }

    pub(super) fn running_tasks(&self) -> usize {
        self.store().tasks.values().filter(|task| task.activity == Activity::Running).count()
    }

    pub(super) fn release_holds(&self) {
        self.released.send_replace(true);
    }

    /// Returns when the holds are released or the configured time is over.
    pub(super) async fn hold(&self) {
        let mut released = self.released.subscribe();
        let _ = tokio::time::timeout(self.config.hold, released.wait_for(|released| *released)).await;
    }

    pub(super) async fn stop(&self) {
        self.token.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }

    /// The `executionControl` object of a task; nothing here ever pauses it.
    pub(super) fn control(&self, task: &Task) -> Value {
        let running = task.activity == Activity::Running;
        let blockers = if running { json!([{"kind": "execution", "count": 1}]) } else { json!([]) };
        json!({
            "contextId": task.ids.context_id, "taskId": task.ids.task_id, "executionId": task.execution_id,
            "serverInstanceId": self.instance, "pauseId": null, "pauseReason": null, "connectionEpoch": -1,
            "revision": 0, "persistedRevision": 0, "phase": "running", "pauseComplete": false,
            "executionStatus": task.execution_status(), "streamAvailable": running, "blockers": blockers,
            "expiresAt": null, "terminationReason": null, "commitError": null,
            "backup": {"status": "not_requested"}, "externalOperations": [], "releaseReady": false,
        })
    }
}

impl Store {
    /// The context, made if it is new.
    pub(super) fn context(&mut self, context_id: &str) -> &mut Context {
        self.contexts.entry(context_id.to_owned()).or_insert_with(|| Context {
            session_id: Uuid::new_v4().to_string(),
            cwd: None,
            journal: Journal::default(),
            pipeline_task: None,
            handed_off: false,
            retries: 0,
        })
    }

    /// Adds a task and forgets the oldest ended ones beyond the limit.
    pub(super) fn add(&mut self, task: Task) {
        let id = task.ids.task_id.clone();
        self.order.push_back(id.clone());
        self.tasks.insert(id, task);
        while self.order.len() > MAX_TASKS {
            let ended = |id: &String| self.tasks.get(id).is_none_or(|task| task.activity == Activity::Ended);
            let Some(at) = self.order.iter().position(ended) else { return };
            if let Some(task) = self.order.remove(at).and_then(|id| self.tasks.remove(&id)) {
                let context_id = task.ids.context_id;
                if self.tasks.values().all(|other| other.ids.context_id != context_id) {
                    self.contexts.remove(&context_id);
                }
            }
        }
    }

    /// The task of a context that is running.
    pub(super) fn busy(&self, context_id: &str) -> Option<&Task> {
        let mut tasks = self.tasks.values();
        tasks.find(|task| task.ids.context_id == context_id && task.activity == Activity::Running)
    }

    /// Identities of a new task in a context.
    pub(super) fn new_ids(&mut self, context_id: &str) -> Ids {
        let session_id = self.context(context_id).session_id.clone();
        Ids::new(Uuid::new_v4().to_string(), context_id, session_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::task::Mode;

    fn task(store: &mut Store, number: usize, activity: Activity) -> String {
        let ids = store.new_ids(&format!("context-{}", number / 2));
        let id = ids.task_id.clone();
        let mut task = Task::new(ids, Mode::Normal, CancellationToken::new());
        if activity != Activity::Running {
            task.end_phase(activity);
        }
        store.add(task);
        id
    }

    #[test]
    fn the_oldest_ended_tasks_are_forgotten_with_their_contexts() {
        let mut store = Store::default();
        let parked = task(&mut store, 0, Activity::Parked);
        let ended = task(&mut store, 1, Activity::Ended);
        for number in 2..MAX_TASKS + 3 {
            task(&mut store, number, Activity::Ended);
        }
        assert_eq!((store.tasks.len(), store.order.len()), (MAX_TASKS, MAX_TASKS));
        assert!(store.tasks.contains_key(&parked) && !store.tasks.contains_key(&ended));
        // The first context still has its parked task; the second has lost both of its tasks.
        let known = ["context-0", "context-1", "context-2"].map(|id| store.contexts.contains_key(id));
        assert_eq!(known, [true, false, true]);
    }
}
