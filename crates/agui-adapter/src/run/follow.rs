//! Reading a stream of the kernel to its end, or to the moment when the run has to stop.

use std::task::Poll;

use a2a_client::{Client, ClientError, Datum, UpdateStream};
use agui_iac_code::ErrorNotice;
use tokio::time::{Instant, timeout_at};

use super::{Ending, Run};
use crate::active::StopReason;
use crate::clock;
use crate::config::{SIDEBAND_PATIENCE, SIDEBAND_QUIET};
use crate::verdict::{Verdict, verdict};

/// Data that are mapped before the reader is told and the run looks up from the stream: enough to fill a
/// write, few enough to notice a stop.
const BATCH: usize = 256;
/// The same in bytes, for large data: 64 KiB.
const BATCH_BYTES: usize = 64 * 1024;

/// What happened while the run waited.
pub(super) enum Wake {
    Datum(Datum),
    /// The stream is over; how it failed, if it did.
    Over(Option<ClientError>),
    Stop(StopReason),
}

/// What reading came to.
pub(super) enum Read {
    Ending(Ending),
    /// The stream is over and the run is not.
    Over(Option<ClientError>),
}

impl Run {
    /// Follows `stream` until what was observed settles the run.
    pub(super) async fn follow(&mut self, client: &Client, mut stream: UpdateStream) -> Ending {
        match self.read(client, &mut stream).await {
            Read::Ending(ending) => ending,
            Read::Over(failure) => {
                drop(stream);
                Box::pin(self.settle(client, failure)).await
            }
        }
    }

    /// Reads on until the stream is over or the run has its ending.
    pub(super) async fn read(&mut self, client: &Client, stream: &mut UpdateStream) -> Read {
        let asked = || Read::Ending(Ending::Verdict(Verdict::Interrupt));
        let mut asking: Option<Asking> = None;
        loop {
            let wake = match &asking {
                None => self.wait(stream).await,
                Some(asking) => match timeout_at(asking.until(), self.wait(stream)).await {
                    Ok(wake) => wake,
                    Err(_) => return asked(),
                },
            };
            let failure = match wake {
                Wake::Stop(reason) => return Read::Ending(Box::pin(self.stop(client, stream, reason)).await),
                Wake::Over(_) if asking.is_some() => return asked(),
                Wake::Over(failure) => return self.over(failure),
                Wake::Datum(datum) => match self.take_batch(datum, stream).await {
                    Ok(failure) => failure,
                    Err(notice) => return Read::Ending(Ending::Broken(notice)),
                },
            };
            match verdict(self.mapper.observed()) {
                Verdict::Unsettled if failure.is_some() => return self.over(failure),
                Verdict::Unsettled => {}
                Verdict::Interrupt if self.works_on() => asking = Some(Asking::go_on(asking)),
                verdict => return Read::Ending(Ending::Verdict(verdict)),
            }
        }
    }

    fn over(&self, failure: Option<ClientError>) -> Read {
        if let Some(error) = &failure {
            tracing::warn!(%error, run = %self.request.run_id, "stream of the kernel failed");
        }
        Read::Over(failure)
    }

    /// Whether the task as a whole goes on although one of its branches asks.
    pub(super) fn works_on(&self) -> bool {
        let state = self.mapper.observed().last_state.as_ref();
        !state.is_some_and(|state| state.is_interrupted() || state.is_terminal())
    }

    /// Takes a datum and those behind it that have arrived already; gives the error that ends the stream
    /// when it came with them. Ids that come with them are saved at once, and the reader is woken once.
    async fn take_batch(
        &mut self,
        mut datum: Datum,
        stream: &mut UpdateStream,
    ) -> Result<Option<ClientError>, ErrorNotice> {
        let now = clock::now();
        let mut failure = None;
        let mut bytes = 0;
        for _ in 0..BATCH {
            bytes += datum.bytes().len();
            self.map(now, &datum);
            if bytes >= BATCH_BYTES || !self.works_on() || self.gap().is_some() {
                break;
            }
            match stream.next_arrived().await {
                Poll::Ready(Some(Ok(next))) => datum = next,
                Poll::Ready(Some(Err(error))) => {
                    failure = Some(error);
                    break;
                }
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        self.show().await?;
        Ok(failure)
    }

    /// Waits for the next datum, while watching who wants the run to stop and whether the reader keeps up.
    async fn wait(&self, stream: &mut UpdateStream) -> Wake {
        let datum = async {
            // The kernel waits while the reader does not keep up: its socket is not read.
            self.sink.ready().await;
            next(stream).await
        };
        // A datum that was read is returned: both waits are cancel-safe.
        self.unless_stopped(datum).await.unwrap_or_else(Wake::Stop)
    }
}

pub(super) async fn next(stream: &mut UpdateStream) -> Wake {
    match stream.next().await {
        Some(Ok(datum)) => Wake::Datum(datum),
        Some(Err(error)) => Wake::Over(Some(error)),
        None => Wake::Over(None),
    }
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
