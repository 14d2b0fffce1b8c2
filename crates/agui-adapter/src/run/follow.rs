//! Reading a stream of the kernel to its end, or to the moment when the run has to stop.

use std::future::Future as _;
use std::pin::pin;
use std::task::Poll;

use a2a_client::{Client, ClientError, Datum, UpdateStream};
use tokio::time::{Instant, timeout_at};

use super::{Ending, Run};
use crate::active::StopReason;
use crate::config::{CANCEL_DRAIN, OnDisconnect, SIDEBAND_PATIENCE, SIDEBAND_QUIET};
use crate::failure;
use crate::tasks::{self, Told};
use crate::verdict::{Verdict, verdict};

/// Data that are mapped before the run looks up from the stream: enough to fill a write, few enough to
/// notice a stop.
const BATCH: usize = 256;

/// What happened while the run waited.
enum Wake {
    Datum(Datum),
    StreamEnded,
    StreamFailed(ClientError),
    Stop(StopReason),
}

impl Run {
    /// Follows `stream` until what was observed settles the run.
    pub(super) async fn follow(&mut self, client: &Client, mut stream: UpdateStream) -> Ending {
        match self.read(client, &mut stream).await {
            Read::Ending(ending) => ending,
            Read::Over(failure) => {
                drop(stream);
                self.settle(client, failure).await
            }
        }
    }

    /// Reads on until the stream is over or the run has its ending.
    pub(super) async fn read(&mut self, client: &Client, stream: &mut UpdateStream) -> Read {
        let mut stop: Option<Stopping> = None;
        let mut asking: Option<Asking> = None;
        loop {
            let wake = match (&stop, &asking) {
                (None, None) => self.wait(stream).await,
                (None, Some(asking)) => match timeout_at(asking.until(), self.wait(stream)).await {
                    Ok(wake) => wake,
                    Err(_) => return Read::Ending(Ending::Verdict(Verdict::Interrupt)),
                },
                (Some(stopping), _) => match timeout_at(stopping.deadline, next(stream)).await {
                    Ok(wake) => wake,
                    Err(_) => return Read::Ending(Ending::Stopped(stopping.reason, stopping.told)),
                },
            };
            match wake {
                Wake::Datum(datum) => {
                    if let Err(notice) = self.take_batch(datum, stream).await {
                        return Read::Ending(Ending::Broken(notice));
                    }
                    match verdict(self.mapper.observed()) {
                        Verdict::Unsettled => {}
                        Verdict::Interrupt if stop.is_none() && self.works_on() => {
                            asking = Some(Asking::go_on(asking));
                        }
                        verdict => return Read::Ending(self.stopped_or(stop.as_ref(), verdict)),
                    }
                }
                Wake::StreamEnded if asking.is_some() && stop.is_none() => {
                    return Read::Ending(Ending::Verdict(Verdict::Interrupt));
                }
                Wake::StreamEnded => return self.over(stop.as_ref(), None),
                Wake::StreamFailed(error) => {
                    tracing::warn!(%error, run = %self.request.run_id, "stream of the kernel failed");
                    return self.over(stop.as_ref(), Some(error));
                }
                Wake::Stop(reason) => stop = Some(Stopping::new(self, reason)),
            }
            // As soon as the task is known it can be told; not earlier (weakness 4).
            if let Some(stopping) = &mut stop
                && !stopping.asked
                && let Some(task) = self.task_id.clone()
            {
                stopping.asked = true;
                stopping.told = tasks::cancel(&self.shared, client, task.as_str()).await;
                match stopping.told {
                    // The end that the task had before the cancel is still in the stream.
                    Told::TooLate => stopping.deadline = Instant::now() + CANCEL_DRAIN,
                    told => return Read::Ending(Ending::Stopped(stopping.reason, told)),
                }
            }
        }
    }

    /// Whether the task as a whole goes on although one of its branches asks.
    fn works_on(&self) -> bool {
        let state = self.mapper.observed().last_state.as_ref();
        !state.is_some_and(|state| state.is_interrupted() || state.is_terminal())
    }

    fn over(&self, stop: Option<&Stopping>, failure: Option<ClientError>) -> Read {
        match stop {
            Some(stopping) => Read::Ending(Ending::Stopped(stopping.reason, stopping.told)),
            None => Read::Over(failure),
        }
    }

    /// A task that was cancelled because of us ends as stopped; one that was faster keeps its own end.
    fn stopped_or(&self, stop: Option<&Stopping>, verdict: Verdict) -> Ending {
        match (stop, verdict) {
            (Some(stopping), Verdict::Cancelled) => Ending::Stopped(stopping.reason, Told::Cancelled),
            // A question that nobody will answer: the task must not wait for it.
            (Some(stopping), Verdict::Interrupt) => Ending::Stopped(stopping.reason, stopping.told),
            (_, verdict) => Ending::Verdict(verdict),
        }
    }

    /// Maps a datum and those behind it that have arrived already.
    async fn take_batch(
        &mut self,
        datum: Datum,
        stream: &mut UpdateStream,
    ) -> Result<(), agui_iac_code::ErrorNotice> {
        self.take(&datum).await?;
        for _ in 1..BATCH {
            if !self.works_on() || !has_room(self) {
                break;
            }
            match stream.next_buffered() {
                Some(Ok(datum)) => self.take(&datum).await?,
                // The error is kept by the stream as its end; the wait after this batch meets it.
                Some(Err(error)) => return Err(failure::notice(&error)),
                None => break,
            }
        }
        Ok(())
    }

    /// Waits for the next datum, while watching who wants the run to stop and whether the reader keeps up.
    async fn wait(&mut self, stream: &mut UpdateStream) -> Wake {
        let Some(guard) = &self.guard else { return next(stream).await };
        let stopping = guard.active().stopping();
        let detached = self.shared.config.on_disconnect == OnDisconnect::Detach;
        let sink = &self.sink;
        tokio::select! {
            // Cancel-safe, all of them: a datum that was read is returned, the others hold nothing.
            biased;
            reason = stopping => Wake::Stop(reason),
            () = sink.closed(), if !detached => {
                guard.active().request_stop(StopReason::Disconnect);
                Wake::Stop(StopReason::Disconnect)
            }
            wake = async {
                // The kernel waits while the reader does not keep up: its socket is not read.
                sink.ready().await;
                next(stream).await
            } => wake,
        }
    }
}

/// What reading came to.
pub(super) enum Read {
    Ending(Ending),
    /// The stream is over and the run is not.
    Over(Option<ClientError>),
}

/// A question was asked beside the stream, and others may follow.
struct Asking {
    since: Instant,
    last: Instant,
}

impl Asking {
    fn go_on(before: Option<Self>) -> Self {
        let last = Instant::now();
        Self { since: before.map_or(last, |asking| asking.since), last }
    }

    fn until(&self) -> Instant {
        (self.last + SIDEBAND_QUIET).min(self.since + SIDEBAND_PATIENCE)
    }
}

struct Stopping {
    reason: StopReason,
    asked: bool,
    told: Told,
    deadline: Instant,
}

impl Stopping {
    fn new(run: &Run, reason: StopReason) -> Self {
        let deadline = Instant::now() + run.shared.config.task_id_timeout;
        // Without a task id nobody was told.
        Self { reason, asked: false, told: Told::Unreachable, deadline }
    }
}

async fn next(stream: &mut UpdateStream) -> Wake {
    match stream.next().await {
        Some(Ok(datum)) => Wake::Datum(datum),
        Some(Err(error)) => Wake::StreamFailed(error),
        None => Wake::StreamEnded,
    }
}

fn has_room(run: &Run) -> bool {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    matches!(pin!(run.sink.ready()).poll(&mut context), Poll::Ready(()))
}
