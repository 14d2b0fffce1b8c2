//! The cancel envelope: `forwardedProps.iacCode.cancel` in a run request.
//!
//! The platform passes on requests to the invocation path only, so this is how a client behind it reaches
//! the cancel extension. The request is no run of its own: it takes no place in its thread, and it is
//! answered although that thread is busy.

use std::borrow::Cow;
use std::sync::Arc;

use agui_core::{
    Agent, BoxFuture, Custom, Json, Problem, RunError, RunFinished, RunLimits, RunRequest, RunSink,
    RunStarted, RunStream, ThreadId, run_channel,
};
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::Handle;

use crate::cancel::{Canceller, Target};
use crate::fill::IAC_CODE;
use crate::members::Members;
use crate::session::{language_of, session_of};

/// Name of the event that tells what became of the execution.
pub(crate) const CANCEL_EVENT: &str = "iac-code.cancel.v1";

/// An agent in front of which cancel envelopes are taken out.
pub(crate) struct Envelopes {
    agent: Arc<dyn Agent>,
    canceller: Canceller,
    agents: Handle,
    /// The session of requests that name none.
    session: Box<str>,
}

impl Envelopes {
    pub(crate) fn new(
        agent: Arc<dyn Agent>,
        canceller: Canceller,
        agents: Handle,
        session: Box<str>,
    ) -> Self {
        Self { agent, canceller, agents, session }
    }

    /// Answers an envelope with a run that says what became of it.
    fn answer(&self, request: &RunRequest, target: Target) -> RunStream {
        let (thread, run) = (request.input.thread_id.clone(), request.input.run_id.clone());
        let (mut sink, stream) = run_channel(thread.clone(), run.clone(), RunLimits::default());
        sink.send(RunStarted::new(thread.clone(), run.clone()));
        let (canceller, language) = (self.canceller.asked_by(&request.headers), language_of(request));
        // In a task: what it takes to end an execution can take a while, and the client hears heartbeats.
        self.agents.spawn(async move {
            let execution = target.execution_id.clone();
            match canceller.cancel(target, language).await {
                Ok(cancelled) => {
                    announce(&mut sink, cancelled.as_str(), execution.as_deref());
                    sink.send(RunFinished::new(thread, run));
                }
                Err(problem) => {
                    sink.send(RunError::new(problem.message).with_code(problem.code));
                }
            }
        });
        stream
    }
}

fn announce(sink: &mut RunSink, result: &str, execution: Option<&str>) {
    let mut value = json!({ "result": result });
    if let Some(execution) = execution {
        value["executionId"] = execution.into();
    }
    if let Ok(value) = Json::from_serialize(&value) {
        sink.send(Custom::new(CANCEL_EVENT, value));
    }
}

/// The target in a request; `None` if it has no envelope. Ids that are left out are those of the request
/// and of its session.
fn envelope(request: &RunRequest, session: &str) -> Result<Option<Target>, Problem> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Envelope<'a> {
        #[serde(borrow, default)]
        execution_id: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        run_id: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        thread_id: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        ros_invocation_id: Option<Cow<'a, str>>,
    }

    let props = request.input.forwarded_props.as_ref().and_then(|props| Members::read(props.get()));
    let Some(extension) = props.as_ref().and_then(|props| props.given(IAC_CODE)) else { return Ok(None) };
    let Some(extension) = Members::read(extension.get()) else { return Ok(None) };
    let Some(envelope) = extension.given("cancel") else { return Ok(None) };
    // What is no envelope names nothing, and is refused for that.
    let read: Option<Envelope<'_>> = serde_json::from_str(envelope.get()).ok();
    let Some(read) = read else { return Ok(Some(Target::default())) };
    let session = session_of(request)?.unwrap_or(session);
    let thread = read.thread_id.map_or_else(|| request.input.thread_id.clone(), |id| ThreadId::new(&*id));
    Ok(Some(Target {
        thread_id: Some(thread),
        run_id: read.run_id.map(|id| id.as_ref().into()),
        execution_id: read.execution_id.map(|id| id.as_ref().into()),
        ros_invocation_id: Some(
            read.ros_invocation_id.map_or_else(|| session.into(), |id| id.as_ref().into()),
        ),
    }))
}

impl Agent for Envelopes {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async move {
            match envelope(&request, &self.session)? {
                Some(target) => Ok(self.answer(&request, target)),
                None => self.agent.run(request).await,
            }
        })
    }
}
