//! The task of one run: reads the upstream as fast as the reader takes it.

use std::time::Duration;

use agui_client::{ClientError, Records};
use agui_core::{RunFinished, RunId, RunSink, ThreadId};
use agui_i18n::Language;
use agui_iac_code::ErrorCode;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::config::ErrorText;
use super::reader::Reader;
use crate::text::{self, ErrorId, shown};

/// Events that are handed over at once at most: a burst wakes the reader once, and what is beyond the limits
/// of the channel stays far below what would end the run.
const BATCH_EVENTS: usize = 256;
/// How long an upstream may keep its connection after the terminal event, 5 s. It is read for so long because
/// some agents clean up there, and would be stopped in that by a closed connection.
const AFTER_END: Duration = Duration::from_secs(5);

pub(super) struct Pump {
    records: Records,
    sink: RunSink,
    reader: Reader,
    thread_id: ThreadId,
    run_id: RunId,
    language: Language,
}

/// Why reading ended before the terminal event.
enum Left {
    /// The upstream closed the stream in good order.
    Closed,
    Broken(ClientError),
    /// The reader has gone.
    Abandoned,
    ShuttingDown,
}

impl Pump {
    pub(super) const fn new(
        records: Records,
        sink: RunSink,
        thread_id: ThreadId,
        run_id: RunId,
        language: Language,
        error_text: ErrorText,
    ) -> Self {
        Self { records, sink, reader: Reader::new(language, error_text), thread_id, run_id, language }
    }

    /// Relays the run to its end; ends at once when the reader has gone or at a shutdown.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        match self.relay(&stop).await {
            None => self.linger(&stop).await,
            Some(left) => self.end_for(&left),
        }
        let Reader { events, repairs, skipped, .. } = self.reader;
        let (thread_id, run_id) = (shown(self.thread_id.as_str()), shown(self.run_id.as_str()));
        info!(thread_id, run_id, events, repairs, skipped, "relayed run ended");
    }

    /// Passes records on; `None` once the terminal event was passed on.
    async fn relay(&mut self, stop: &CancellationToken) -> Option<Left> {
        let mut staged = 0;
        loop {
            let record = if staged > 0 {
                // More is here already.
                self.records.next().await
            } else {
                tokio::select! {
                    // All are cancel-safe. The two that end the run come first: a busy upstream must not hide
                    // them.
                    biased;
                    () = self.sink.closed() => return Some(Left::Abandoned),
                    () = stop.cancelled() => return Some(Left::ShuttingDown),
                    record = self.records.next() => record,
                }
            };
            match record {
                Some(Ok(record)) => self.reader.take(&record, &mut self.sink),
                Some(Err(error)) => return Some(Left::Broken(error)),
                None => return Some(Left::Closed),
            }
            staged += 1;
            if self.sink.has_ended() {
                self.sink.flush();
                return None;
            }
            if self.records.waiting() == 0 || staged >= BATCH_EVENTS {
                staged = 0;
                self.sink.flush();
                // The upstream waits while the reader is behind.
                stop.run_until_cancelled(self.sink.ready()).await;
            }
        }
    }

    /// Ends a run that the upstream did not end.
    fn end_for(&mut self, left: &Left) {
        let (thread_id, run_id) = (shown(self.thread_id.as_str()), shown(self.run_id.as_str()));
        match left {
            Left::Closed if self.reader.events > 0 => {
                info!(thread_id, run_id, "the upstream closed its stream without a terminal event");
                self.sink.send(RunFinished::new(self.thread_id.clone(), self.run_id.clone()));
            }
            Left::Closed => {
                let id = ErrorId::new();
                warn!(error_id = %id, thread_id, run_id, "the upstream sent no event");
                self.sink.send(id.run_error(self.language));
            }
            Left::Broken(error) => {
                let id = ErrorId::new();
                let cause = std::error::Error::source(error).map(ToString::to_string);
                warn!(error_id = %id, thread_id, run_id, %error, cause, "the stream of the upstream broke");
                self.sink.send(id.run_error(self.language));
            }
            Left::Abandoned => debug!(thread_id, run_id, "nobody reads the run any more"),
            Left::ShuttingDown => {
                self.sink.send(text::run_error(self.language, ErrorCode::ShuttingDown));
            }
        }
    }

    /// Reads what comes after the end, to tell of it and not to pass it on.
    async fn linger(&mut self, stop: &CancellationToken) {
        let mut late = 0_u64;
        let rest = async {
            while let Some(Ok(_)) = self.records.next().await {
                late += 1;
            }
        };
        // Whichever comes first; the connection is closed then.
        let _ = timeout(AFTER_END, stop.run_until_cancelled(rest)).await;
        if late > 0 {
            let (thread_id, run_id) = (shown(self.thread_id.as_str()), shown(self.run_id.as_str()));
            info!(thread_id, run_id, late, "records after the terminal event left out");
        }
    }
}
