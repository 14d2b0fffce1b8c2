//! From the log to one reader.

use agui_core::RunSink;
use agui_i18n::Language;
use agui_iac_code::ErrorCode;

use super::log::{Follower, Next};
use crate::text;

/// Shows a run to a reader until one of them ends.
pub(super) async fn show(mut follower: Follower, mut sink: RunSink, language: Language) {
    let mut batch = Vec::new();
    loop {
        let next = tokio::select! {
            // Both are cancel-safe.
            biased;
            () = sink.closed() => return,
            next = follower.next(&mut batch) => next,
        };
        match next {
            Next::Events => {
                for event in batch.drain(..) {
                    sink.stage(event);
                }
                sink.flush();
                sink.ready().await;
            }
            Next::Gap => {
                // What it has not read is gone; the run itself goes on.
                sink.send(text::run_error(language, ErrorCode::SessionBusy));
                return;
            }
            Next::End => return,
        }
    }
}
