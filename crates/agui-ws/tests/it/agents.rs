//! Agents that are one closure.

use std::sync::Arc;

use agui_core::{
    Agent, BoxFuture, Problem, RunFinished, RunLimits, RunRequest, RunSink, RunStarted, RunStream,
    TextMessageContent, TextMessageEnd, TextMessageStart, run_channel,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

struct FnAgent<F>(F);

impl<F, Fut> Agent for FnAgent<F>
where
    F: Fn(RunRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<RunStream, Problem>> + Send + 'static,
{
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(self.0(request))
    }
}

/// An agent that answers each request as `run` does.
pub(crate) fn agent<F, Fut>(run: F) -> Arc<dyn Agent>
where
    F: Fn(RunRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<RunStream, Problem>> + Send + 'static,
{
    Arc::new(FnAgent(run))
}

/// The ends of a run for a request.
pub(crate) fn channel(request: &RunRequest) -> (RunSink, RunStream) {
    run_channel(request.input.thread_id.clone(), request.input.run_id.clone(), RunLimits::default())
}

/// A whole run that says each of `deltas`.
pub(crate) fn say(request: &RunRequest, deltas: &[&str]) -> RunStream {
    let (mut sink, stream) = channel(request);
    let (thread, run) = (request.input.thread_id.clone(), request.input.run_id.clone());
    sink.stage(RunStarted::new(thread.clone(), run.clone()));
    sink.stage(TextMessageStart::new("m"));
    for delta in deltas {
        sink.stage(TextMessageContent::new("m", *delta));
    }
    sink.stage(TextMessageEnd::new("m"));
    sink.send(RunFinished::new(thread, run));
    stream
}

/// An agent that hands the sink of each run to the test, with `RUN_STARTED` sent.
pub(crate) fn handing_out() -> (Arc<dyn Agent>, UnboundedReceiver<RunSink>) {
    let (give, sinks): (UnboundedSender<RunSink>, _) = unbounded_channel();
    let agent = agent(move |request| {
        let (mut sink, stream) = channel(&request);
        sink.send(RunStarted::new(request.input.thread_id.clone(), request.input.run_id.clone()));
        give.send(sink).unwrap();
        async move { Ok(stream) }
    });
    (agent, sinks)
}
