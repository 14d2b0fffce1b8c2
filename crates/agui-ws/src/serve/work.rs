//! What is done for a socket in tasks of its own: it goes on to its end when the client leaves.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agui_core::{Agent, Json, Problem, RunRequest, RunStream};
use bytes::Bytes;
use tokio::task::JoinHandle;

use crate::activity::ActiveRun;
use crate::inbound::{Inbound, Wanted};
use crate::session::{CancelOrder, RunReport};
use crate::{CancelMessage, Control, WsContext};

/// Message size from which reading leaves the event loop, in bytes (256 KiB, about 1 ms of parsing): a
/// large message must not delay what else is served.
const READ_ELSEWHERE_BYTES: usize = 256 * 1024;

/// Characters of an id that a log line holds (1,024).
const LOGGED_CHARACTERS: usize = 1_024;

/// The work of one socket.
pub(super) struct Work {
    agent: Arc<dyn Agent>,
    context: WsContext,
    reading: Option<JoinHandle<Inbound>>,
    run: Option<(Progress, ActiveRun)>,
    cancels: Vec<Cancelling>,
}

/// How far a run is.
enum Progress {
    Starting(JoinHandle<Result<RunStream, Problem>>),
    Streaming(RunStream),
}

/// A cancel that is carried out.
struct Cancelling {
    order: CancelOrder,
    work: JoinHandle<Result<Json, Problem>>,
}

impl Work {
    pub(super) fn new(agent: Arc<dyn Agent>, context: WsContext) -> Self {
        Self { agent, context, reading: None, run: None, cancels: Vec::new() }
    }

    /// Whether a message is being read.
    pub(super) const fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// Reads a message now if it is small; a large one comes out of [`poll_read`](Self::poll_read).
    pub(super) fn read(&mut self, body: Bytes) -> Option<Inbound> {
        let language = self.context.accept_language.clone();
        if body.len() < READ_ELSEWHERE_BYTES {
            return Some(Inbound::read(&body, language.as_deref()));
        }
        let read = move || Inbound::read(&body, language.as_deref());
        self.reading = Some(self.context.tasks.spawn_blocking(read));
        None
    }

    /// The message that was large. `None` if its reading broke off.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Option<Inbound>> {
        let Some(reading) = &mut self.reading else { return Poll::Pending };
        let message = Pin::new(reading).poll(cx).map(told);
        if message.is_ready() {
            self.reading = None;
        }
        message
    }

    /// Asks the agent for a run.
    pub(super) fn start(&mut self, wanted: Wanted) {
        let mut request = RunRequest::new(wanted.input, wanted.body);
        request.accept_language.clone_from(&self.context.accept_language);
        request.headers.clone_from(&self.context.headers);
        let agent = Arc::clone(&self.agent);
        let started = self.context.tasks.spawn(async move { agent.run(request).await });
        self.run = Some((Progress::Starting(started), self.context.activity.enter()));
    }

    /// Whether the agent accepted the run, or its problem; `None` if it broke off.
    pub(super) fn poll_started(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Option<Problem>>> {
        let Some((progress, _)) = &mut self.run else { return Poll::Pending };
        let Progress::Starting(starting) = progress else { return Poll::Pending };
        let Poll::Ready(outcome) = Pin::new(starting).poll(cx) else { return Poll::Pending };
        Poll::Ready(match told(outcome) {
            Some(Ok(stream)) => {
                *progress = Progress::Streaming(stream);
                Ok(())
            }
            Some(Err(problem)) => Err(Some(problem)),
            None => Err(None),
        })
    }

    /// The stream of the run.
    pub(super) const fn stream(&mut self) -> Option<&mut RunStream> {
        match &mut self.run {
            Some((Progress::Streaming(stream), _)) => Some(stream),
            Some((Progress::Starting(_), _)) | None => None,
        }
    }

    /// Drops the run: its agent hears that nobody reads any more.
    pub(super) fn stop(&mut self, report: &RunReport) {
        self.run = None;
        tracing::info!(
            thread_id = shown(report.run.thread_id.as_str()),
            run_id = shown(report.run.run_id.as_str()),
            events = report.events,
            ended = report.ended.as_str(),
            "run on a websocket finished"
        );
    }

    /// Whether the control carries out a cancel message.
    pub(super) fn controls(&self, message: &CancelMessage) -> bool {
        self.context.control.as_ref().is_some_and(|control| control.takes(message))
    }

    /// Has something cancelled.
    pub(super) fn cancel(&mut self, order: CancelOrder) {
        let Some(control) = self.context.control.clone() else { return };
        let (message, language) = (order.message.clone(), order.language);
        let cancel = async move { Control::cancel(&*control, message, language).await };
        self.cancels.push(Cancelling { order, work: self.context.tasks.spawn(cancel) });
    }

    /// A cancel that was carried out, or not; no problem is told if its work broke off.
    pub(super) fn poll_cancelled(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<(CancelOrder, Result<Json, Option<Problem>>)> {
        let ready = self.cancels.iter_mut().enumerate().find_map(|(index, cancelling)| {
            match Pin::new(&mut cancelling.work).poll(cx) {
                Poll::Ready(outcome) => Some((index, outcome)),
                Poll::Pending => None,
            }
        });
        let Some((index, outcome)) = ready else { return Poll::Pending };
        let order = self.cancels.swap_remove(index).order;
        Poll::Ready((order, told(outcome).map_or(Err(None), |outcome| outcome.map_err(Some))))
    }
}

/// As much of an id as is written down: a client may send one as long as a message.
fn shown(id: &str) -> &str {
    id.char_indices().nth(LOGGED_CHARACTERS).map_or(id, |(end, _)| &id[..end])
}

/// The outcome of a task; one that broke off is logged.
fn told<T>(outcome: Result<T, tokio::task::JoinError>) -> Option<T> {
    outcome
        .inspect_err(|error| tracing::error!(panicked = error.is_panic(), "the work of a socket broke off"))
        .ok()
}
