//! The cancel extension (S10).

use std::time::Duration;

use agui_core::Problem;
use agui_core::ThreadId;
use agui_i18n::Language;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use agui_store::{ExecutionId, InvocationId, ThreadRecord};
use serde::Serialize;

use crate::active::{StopOutcome, StopReason};
use crate::adapter::Adapter;
use crate::config::{CANCEL_DRAIN, Profile};
use crate::notice::{problem, state_unavailable};
use crate::tasks::{self, Leftover, Told};
use crate::threads::Open;

/// Who asks for the end of which execution.
///
/// ```
/// use agui_adapter::CancelRequest;
/// use agui_i18n::Language;
///
/// let body = br#"{"threadId":"thread-1","rosInvocationId":"caller-1"}"#;
/// let request = CancelRequest::decode("execution-1", body, Language::En).unwrap();
/// assert_eq!(request.thread_id.as_str(), "thread-1");
///
/// assert_eq!(CancelRequest::decode("execution-1", b"[]", Language::En).unwrap_err().status, 400);
/// ```
///
/// Source: S10.1.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CancelRequest {
    /// The execution.
    pub execution_id: Box<str>,
    /// Its thread.
    pub thread_id: ThreadId,
    /// The identity that the execution was started with; agents other than the iac-code kernel have none.
    pub ros_invocation_id: Option<Box<str>>,
}

/// What a cancel came to.
///
/// Source: S10.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CancelReply {
    /// The execution, as it was asked for.
    pub execution_id: Box<str>,
    /// What became of it.
    pub status: CancelStatus,
}

/// What became of an execution.
///
/// Source: S10.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CancelStatus {
    /// It is cancelled now.
    Cancelled,
    /// It had ended before.
    AlreadyTerminal,
}

impl CancelRequest {
    /// Reads the body of a cancel request.
    ///
    /// # Errors
    ///
    /// 400 with a text in `language` if it is not a JSON object with the id of the thread.
    pub fn decode(execution_id: &str, body: &[u8], language: Language) -> Result<Self, Problem> {
        let refuse = |code, key| Err(problem(language, &ErrorNotice::new(code).with_key(key)));
        let value: serde_json::Value = match serde_json::from_slice(body) {
            Ok(value) => value,
            Err(_) => return refuse(ErrorCode::InvalidJson, MessageKey::CancelBodyNotJson),
        };
        let Some(body) = value.as_object() else {
            return refuse(ErrorCode::InvalidInput, MessageKey::CancelBodyNotObject);
        };
        let id = |name| body.get(name).and_then(serde_json::Value::as_str).filter(|id| !id.is_empty());
        match (id("threadId"), id("rosInvocationId")) {
            (Some(thread), invocation) => Ok(Self {
                execution_id: execution_id.into(),
                thread_id: thread.into(),
                ros_invocation_id: invocation.map(Into::into),
            }),
            (None, _) => refuse(ErrorCode::InvalidInput, MessageKey::CancelIds),
        }
    }
}

impl Adapter {
    /// Ends an execution, running or parked.
    ///
    /// # Errors
    ///
    /// 404 `EXECUTION_NOT_FOUND` for wrong ids of any kind; 503 if the kernel cannot be told or the state
    /// cannot be read or written.
    pub async fn cancel(&self, request: CancelRequest, language: Language) -> Result<CancelReply, Problem> {
        let adapter = self.clone();
        let execution_id = request.execution_id.clone();
        // In a task of its own: what was begun is finished although the caller goes away.
        let work = self.shared.tasks.spawn(async move { adapter.cancel_execution(&request).await });
        match work.await.unwrap_or_else(|_| Err(crate::request::internal())) {
            Ok(status) => Ok(CancelReply { execution_id, status }),
            Err(notice) => Err(problem(language, &notice)),
        }
    }

    async fn cancel_execution(&self, request: &CancelRequest) -> Result<CancelStatus, ErrorNotice> {
        let invocation = match (self.shared.config.profile, &request.ros_invocation_id) {
            (Profile::IacCode, None) => {
                return Err(ErrorNotice::new(ErrorCode::InvalidInput).with_key(MessageKey::CancelIds));
            }
            (Profile::IacCode, Some(given)) => Some(&**given),
            (Profile::Generic, _) => None,
        };
        let is_foreign = |id: &InvocationId| invocation.is_some_and(|given| id != given);
        let slot = self.shared.threads.slot(&request.thread_id);
        loop {
            let mut open = slot.open().await.map_err(|error| state_unavailable(&error))?;
            let active = slot.active().filter(|run| *run.execution_id.as_str() == *request.execution_id);
            let Some(active) = active else {
                return self.cancel_stored(&mut open, request, is_foreign).await;
            };
            if is_foreign(&active.invocation_id) {
                return Err(ErrorCode::ExecutionNotFound.into());
            }
            // The run needs the thread's lock to end.
            drop(open);
            match active.stop(StopReason::Cancel, self.longest_stop()).await {
                Some(StopOutcome::Cancelled) => return Ok(CancelStatus::Cancelled),
                Some(StopOutcome::Refused) => return Err(refused()),
                Some(StopOutcome::KernelUnavailable) | None => return Err(ErrorCode::A2aUnavailable.into()),
                // It ended by itself, or waits for a person now: the record tells.
                Some(StopOutcome::AlreadyTerminal) => {}
            }
        }
    }

    /// Longest time that a run takes to stop.
    fn longest_stop(&self) -> Duration {
        let config = &self.shared.config;
        // For the head of the stream, for the task's id in it, for the call, for what the stream still says.
        config.task_id_timeout * 2 + config.cancel_timeout + CANCEL_DRAIN * 2
    }

    async fn cancel_stored(
        &self,
        open: &mut Open,
        request: &CancelRequest,
        is_foreign: impl Fn(&InvocationId) -> bool,
    ) -> Result<CancelStatus, ErrorNotice> {
        let execution = ExecutionId::new(&*request.execution_id);
        let is_newest = |open: &Open| open.record().is_some_and(|record| record.execution.id == execution);
        let claimed = if is_newest(open) { open.claim().await } else { Ok(false) };
        let Some(record) = open.record() else { return Err(ErrorCode::ExecutionNotFound.into()) };
        if record.execution.id != execution {
            let store = self.shared.threads.store();
            let known = store.is_terminal(&request.thread_id, &execution).await;
            return match known.map_err(|error| state_unavailable(&error))? {
                true => Ok(CancelStatus::AlreadyTerminal),
                false => Err(ErrorCode::ExecutionNotFound.into()),
            };
        }
        if is_foreign(&record.execution.invocation_id) {
            return Err(ErrorCode::ExecutionNotFound.into());
        }
        let leftover = Leftover::of(self.shared.config.profile, record);
        if leftover == Leftover::Nothing && record.is_terminal(&execution) {
            return Ok(CancelStatus::AlreadyTerminal);
        }
        match claimed {
            Ok(true) => {}
            Ok(false) => return self.cancel_elsewhere(&leftover).await,
            Err(error) => {
                // What cannot be written down can be stopped all the same.
                let stopped = self.cancel_elsewhere(&leftover).await;
                tracing::warn!(?stopped, "cancelled, and not saved");
                return Err(state_unavailable(&error));
            }
        }
        let status = match tasks::cancel_leftover(&self.shared, &leftover).await? {
            Told::Unreachable => return Err(ErrorCode::A2aUnavailable.into()),
            Told::TooLate if matches!(leftover, Leftover::Task(_)) => CancelStatus::AlreadyTerminal,
            // Nothing runs: without its question the task is as good as cancelled.
            Told::TooLate | Told::Cancelled | Told::Refused => CancelStatus::Cancelled,
        };
        open.commit(ThreadRecord::mark_terminal).await.map_err(|error| state_unavailable(&error))?;
        self.shared.expiry.forget(&request.thread_id);
        Ok(status)
    }

    /// Ends an execution that another server runs at this moment: the kernel tells that one, which saves it.
    async fn cancel_elsewhere(&self, leftover: &Leftover) -> Result<CancelStatus, ErrorNotice> {
        if !matches!(leftover, Leftover::Task(_)) {
            // It has no task yet, and only that server can hold the message back.
            return Err(ErrorCode::ThreadBusy.into());
        }
        match tasks::cancel_leftover(&self.shared, leftover).await? {
            Told::Cancelled => Ok(CancelStatus::Cancelled),
            Told::TooLate => Ok(CancelStatus::AlreadyTerminal),
            Told::Unreachable => Err(ErrorCode::A2aUnavailable.into()),
            Told::Refused => Err(refused()),
        }
    }
}

/// The run is over and the agent's task may go on.
fn refused() -> ErrorNotice {
    ErrorNotice::new(ErrorCode::A2aExecutionFailed).with_key(MessageKey::RequestRefused)
}
