//! Agents that do what a test needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agui_core::{
    Agent, BoxFuture, MessageId, Problem, RunFinished, RunLimits, RunRequest, RunSink, RunStarted, RunStream,
    TextMessageContent, TextMessageEnd, TextMessageStart, run_channel,
};

/// An agent made of a function.
pub(crate) struct Scripted<F>(pub(crate) F);

impl<F, Fut> Agent for Scripted<F>
where
    F: Fn(RunRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<RunStream, Problem>> + Send + 'static,
{
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin((self.0)(request))
    }
}

/// Opens a run for a request and announces it.
pub(crate) fn begin(request: &RunRequest) -> (RunSink, RunStream) {
    begin_within(request, RunLimits::default())
}

pub(crate) fn begin_within(request: &RunRequest, limits: RunLimits) -> (RunSink, RunStream) {
    let (thread_id, run_id) = (request.input.thread_id.clone(), request.input.run_id.clone());
    let (mut sink, stream) = run_channel(thread_id.clone(), run_id.clone(), limits);
    sink.send(RunStarted::new(thread_id, run_id));
    (sink, stream)
}

/// Ends the run of a request.
pub(crate) fn finish(request: &RunRequest, mut sink: RunSink) {
    sink.send(RunFinished::new(request.input.thread_id.clone(), request.input.run_id.clone()));
}

/// Sends one message in as many deltas as there are texts.
pub(crate) fn say(sink: &mut RunSink, id: &str, texts: &[&str]) {
    let id = MessageId::new(id);
    sink.send(TextMessageStart::new(id.clone()));
    for text in texts {
        sink.send(TextMessageContent::new(id.clone(), *text));
    }
    sink.send(TextMessageEnd::new(id));
}

/// Says `hi` and is done.
pub(crate) fn parrot() -> impl Agent {
    Scripted(|request: RunRequest| async move {
        let (mut sink, stream) = begin(&request);
        say(&mut sink, "m1", &["hi"]);
        finish(&request, sink);
        Ok(stream)
    })
}

/// What a parrot's stream looks like on the wire.
pub(crate) const PARROT: &str = concat!(
    "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n",
    "data: {\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m1\"}\n\n",
    "data: {\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m1\",\"delta\":\"hi\"}\n\n",
    "data: {\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m1\"}\n\n",
    "data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n",
);

/// The first record of every run of `INPUT`.
pub(crate) const STARTED: &str = "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n";

/// Counts runs as they begin and as their readers leave.
#[derive(Debug, Clone, Default)]
pub(crate) struct Census {
    begun: Arc<AtomicUsize>,
    left: Arc<AtomicUsize>,
}

impl Census {
    pub(crate) fn begun(&self) -> usize {
        self.begun.load(Ordering::Acquire)
    }

    /// Counts a run that begins.
    pub(crate) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts a run whose reader has gone.
    pub(crate) fn leave(&self) {
        self.left.fetch_add(1, Ordering::AcqRel);
    }

    /// Runs whose reader has gone.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Acquire)
    }
}

/// Announces its run and then says nothing until the reader has gone.
pub(crate) fn silent(census: &Census) -> impl Agent + use<> {
    let census = census.clone();
    Scripted(move |request: RunRequest| {
        let census = census.clone();
        async move {
            census.begin();
            let (sink, stream) = begin(&request);
            tokio::spawn(async move {
                sink.closed().await;
                census.leave();
            });
            Ok(stream)
        }
    })
}
