//! Ending executions without a path of its own: by an envelope in a run request, and by a message on a
//! socket. Both reach what the cancel extension reaches.

use std::time::Duration;

use agui_adapter::{CancelRequest, CancelStatus};
use agui_core::{BoxFuture, Json, Problem, RunId, ThreadId};
use agui_i18n::Language;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use agui_relay::{CancelOutcome, LiveRuns};
use agui_ws::{CancelMessage, Control, OpenRun};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::backend::IacCode;
use crate::presence::Work;
use crate::session::problem;

/// How long a run that was asked for on a socket may take to become known: it is on its way from one task to
/// another.
const KNOWN_WITHIN: Duration = Duration::from_secs(5);

/// Which run is to end. With the id of an execution the adapter is asked, as the cancel extension does;
/// with the id of a run, whatever agent runs it is let go of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) thread_id: Option<ThreadId>,
    pub(crate) run_id: Option<RunId>,
    pub(crate) execution_id: Option<Box<str>>,
    pub(crate) ros_invocation_id: Option<Box<str>>,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cancelled {
    Now,
    AlreadyTerminal,
}

impl Cancelled {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Now => "cancelled",
            Self::AlreadyTerminal => "already_terminal",
        }
    }
}

/// Ends runs, however that is asked for. An execution is ended for whoever knows its ids and the invocation that it
/// belongs to, as by the cancel extension; a run, whose id is no secret, for its own requester.
#[derive(Clone)]
pub(crate) struct Canceller {
    /// Knows executions; `None` in front of an agent that has none.
    iac_code: Option<IacCode>,
    runs: LiveRuns,
    work: Work,
    agents: Handle,
}

impl Canceller {
    pub(crate) const fn new(iac_code: Option<IacCode>, runs: LiveRuns, work: Work, agents: Handle) -> Self {
        Self { iac_code, runs, work, agents }
    }

    /// The same for whoever sends these headers, whose own runs it ends and nobody else's.
    pub(crate) fn asked_by(&self, headers: &[(Box<str>, Box<str>)]) -> Self {
        Self { runs: self.runs.asked_for_by(headers), ..self.clone() }
    }

    /// Ends what `target` names. The work goes on to its end although the caller goes away, and keeps the session
    /// until then.
    ///
    /// # Errors
    ///
    /// 404 `EXECUTION_NOT_FOUND` for what is not known, 400 for a target that names nothing; what the
    /// adapter says.
    pub(crate) async fn cancel(&self, target: Target, language: Language) -> Result<Cancelled, Problem> {
        let (this, working) = (self.clone(), self.work.begin());
        let work = self.agents.spawn(async move {
            let ended = this.end(target, language).await;
            drop(working);
            ended
        });
        work.await.unwrap_or_else(|_| Err(problem(language, &ErrorCode::InternalError.into())))
    }

    /// Waits until a run that is open on a socket is known here, so that a cancel message right behind the
    /// message that asks for the run finds it.
    async fn become_known(&self, run: &OpenRun) {
        let mut live = self.runs.watch();
        let known =
            async { while !self.runs.knows(&run.thread_id, &run.run_id) && live.changed().await.is_ok() {} };
        // A run that was refused never is: then there is nothing to end.
        let _ = timeout(KNOWN_WITHIN, known).await;
    }

    async fn end(&self, target: Target, language: Language) -> Result<Cancelled, Problem> {
        let Some(thread) = target.thread_id else { return Err(incomplete(language)) };
        match (&self.iac_code, target.execution_id, target.run_id) {
            (Some(iac_code), Some(execution), _) => {
                let invocation = target.ros_invocation_id.as_deref();
                iac_code.cancel(&execution, &thread, invocation, language).await
            }
            (Some(iac_code), None, Some(run)) => {
                let invocation = target.ros_invocation_id.as_deref();
                self.end_execution_of(iac_code, &thread, &run, invocation, language).await
            }
            // An agent without executions knows its runs by their own ids only.
            (None, execution, run) => match run.or_else(|| execution.map(|id| RunId::new(&*id))) {
                Some(run) => self.let_go(&thread, &run, language),
                None => Err(incomplete(language)),
            },
            (Some(_), None, None) => Err(incomplete(language)),
        }
    }

    /// Ends the execution behind a run, so that the kernel is told first and the run ends in its own words.
    async fn end_execution_of(
        &self,
        iac_code: &IacCode,
        thread: &ThreadId,
        run: &RunId,
        invocation: Option<&str>,
        language: Language,
    ) -> Result<Cancelled, Problem> {
        let is_live = self.runs.list().iter().any(|live| live.thread_id == *thread && live.run_id == *run);
        // A thread has one run at a time, and its record is about that, once the adapter has taken the run: until
        // then it is about an execution before.
        if is_live
            && let Ok(Some(stored)) = iac_code.store.load(thread).await
            && stored.record.runs.iter().any(|known| known.run_id == *run)
        {
            let execution = &stored.record.execution;
            let invocation = invocation.or(Some(execution.invocation_id.as_str()));
            return iac_code.cancel(execution.id.as_str(), thread, invocation, language).await;
        }
        self.let_go(thread, run, language)
    }

    fn let_go(&self, thread: &ThreadId, run: &RunId, language: Language) -> Result<Cancelled, Problem> {
        match self.runs.cancel(thread, run) {
            CancelOutcome::Cancelled => Ok(Cancelled::Now),
            CancelOutcome::AlreadyEnded => Ok(Cancelled::AlreadyTerminal),
            _ => Err(problem(language, &ErrorCode::ExecutionNotFound.into())),
        }
    }
}

impl IacCode {
    /// What the cancel extension does.
    async fn cancel(
        &self,
        execution: &str,
        thread: &ThreadId,
        invocation: Option<&str>,
        language: Language,
    ) -> Result<Cancelled, Problem> {
        let body = json!({ "threadId": thread, "rosInvocationId": invocation });
        let request = CancelRequest::decode(execution, body.to_string().as_bytes(), language)?;
        match self.adapter.cancel(request, language).await?.status {
            CancelStatus::Cancelled => Ok(Cancelled::Now),
            _ => Ok(Cancelled::AlreadyTerminal),
        }
    }
}

fn incomplete(language: Language) -> Problem {
    let notice = ErrorNotice::new(ErrorCode::ValidationError).with_key(MessageKey::FieldProblem);
    problem(language, &notice.with_text("pointer", "/executionId").with_text("kind", "missing"))
}

impl Control for Canceller {
    fn cancel(&self, message: CancelMessage, language: Language) -> BoxFuture<'_, Result<Json, Problem>> {
        Box::pin(async move {
            if let Some(open) = message.open_run.as_ref().filter(|open| message.may_mean(open)) {
                self.become_known(open).await;
            }
            let open = message.open_run;
            // A message without ids means the run of its socket.
            let thread = message.thread_id.or_else(|| open.as_ref().map(|run| run.thread_id.clone()));
            let run = message.run_id.or_else(|| open.map(|run| run.run_id));
            let target = Target {
                thread_id: thread,
                run_id: run,
                execution_id: message.execution_id,
                ros_invocation_id: message.ros_invocation_id,
            };
            let cancelled = self.cancel(target, language).await?;
            Json::from_serialize(cancelled.as_str())
                .map_err(|_| problem(language, &ErrorCode::InternalError.into()))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agui_core::{Agent, RunRequest, RunStream};
    use agui_relay::{Rejoin, RejoinConfig};
    use tokio::runtime::{Builder, Runtime};
    use tokio::task::yield_now;

    use super::*;
    use crate::ping::Ping;

    struct Nobody;

    impl Agent for Nobody {
        fn run(&self, _: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
            Box::pin(async { Err(Problem::new(500, "X", "")) })
        }
    }

    fn runtime() -> Runtime {
        Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn r21_a_cancel_keeps_the_session_until_it_is_carried_out() {
        let (serving, agents) = (runtime(), runtime());
        let ping = Arc::new(Ping::new());
        let work = Work::new(Arc::clone(&ping));
        let rejoin = Rejoin::new(Nobody, RejoinConfig::default());
        let canceller = Canceller::new(None, rejoin.runs(), work.clone(), agents.handle().clone());
        let target = Target { thread_id: Some("t".into()), run_id: Some("r".into()), ..Target::default() };
        assert!(!work.any());

        // What carries it out does not run yet.
        let cancelling = serving.spawn(async move { canceller.cancel(target, Language::En).await });
        serving.block_on(yield_now());
        assert!(work.any());
        assert!(format!("{:?}", ping.answer()).contains("HealthyBusy"));

        agents.block_on(async {
            while work.any() {
                yield_now().await;
            }
        });
        let told = serving.block_on(cancelling).unwrap().unwrap_err();
        assert_eq!((told.status, &*told.code), (404, "EXECUTION_NOT_FOUND"));
    }
}
