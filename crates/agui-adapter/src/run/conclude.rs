//! The end of a run: first what is stored, then what is said.

use agui_core::{Interrupt, JsonObject};
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use agui_mapper::{Ending as LastWord, OpenInput};
use agui_store::{Digest, PendingInterrupt, ThreadRecord};

use super::{Ending, Run};
use crate::active::{StopOutcome, StopReason};
use crate::clock;
use crate::notice::run_error;
use crate::tasks::Told;
use crate::verdict::Verdict;

impl Run {
    pub(super) async fn conclude(mut self, ending: Ending) {
        let run = self.request.run_id.clone();
        let last_word = match ending {
            Ending::Verdict(Verdict::Interrupt) => self.park().await,
            Ending::Verdict(Verdict::Success) => {
                self.finish_execution().await;
                LastWord::Success
            }
            Ending::Verdict(Verdict::Cancelled) => {
                self.finish_execution().await;
                self.error(&ErrorCode::Cancelled.into())
            }
            Ending::Verdict(Verdict::Failed(notice)) | Ending::Broken(notice) => self.abort(&notice).await,
            Ending::Verdict(Verdict::Unsettled) => self.abort(&ErrorCode::A2aUnavailable.into()).await,
            Ending::Stopped(reason, told) => self.stopped(reason, told).await,
            Ending::Unchanged(notice) => {
                self.keep_position().await;
                self.error(&notice)
            }
            Ending::Lost(notice) => {
                self.finish_execution().await;
                self.error(&notice)
            }
            Ending::GivenUp => {
                self.finish_execution().await;
                self.given_up()
            }
            Ending::Delivered => LastWord::Success,
        };
        // The thread is free before the client can know that the run is over.
        drop(self.guard.take());
        if self.task_id.is_some() && !matches!(last_word, LastWord::Error { .. }) {
            self.mapper.announce_session(clock::now());
        }
        self.mapper.finish(clock::now(), last_word);
        self.flush();
        tracing::info!(thread = %self.request.thread_id, %run, execution = %self.execution_id, "run ended");
    }

    /// Saves the open questions, then says them (S11.6).
    async fn park(&mut self) -> LastWord {
        let now = clock::now();
        let expires_at = clock::after(now, self.shared.config.interrupt_ttl);
        let open: Vec<OpenInput> = self.mapper.observed().open_inputs.clone();
        let position = self.mapper.position();
        let (mut interrupts, mut deadline) = (Vec::new(), expires_at);
        let saved = self
            .commit(MessageKey::PersistInterrupt, |record| {
                let before = std::mem::take(&mut record.execution.pending);
                for input in &open {
                    let id = input.interrupt.id.clone();
                    // A question that was open before keeps its own deadline.
                    let expires_at = before.get(&id).and_then(|known| known.expires_at).unwrap_or(expires_at);
                    let Some((interrupt, pending)) = announced(input, expires_at, now) else { continue };
                    deadline = deadline.min(expires_at);
                    record.execution.pending.insert(id, pending);
                    interrupts.push(interrupt);
                }
                store_position(record, &position);
            })
            .await;
        match saved {
            Ok(()) if !interrupts.is_empty() => {
                self.shared.expiry.schedule(&self.shared, self.slot.thread().clone(), deadline);
                LastWord::Interrupt(interrupts)
            }
            Ok(()) => self.abort(&ErrorCode::A2aProtocolError.into()).await,
            Err(notice) => self.abort(&notice).await,
        }
    }

    /// The run failed while the task may go on: the task is cancelled, then the execution is over
    /// (weakness 9). While nobody could be told, the task's id is kept, and the next run tells.
    async fn abort(&mut self, notice: &ErrorNotice) -> LastWord {
        let over = self.mapper.observed().last_state.as_ref().is_some_and(a2a_wire::TaskState::is_terminal);
        let told = match (&self.task_id, self.client()) {
            (Some(_), Ok(client)) if !over => self.tell(&client).await,
            (Some(_), Err(_)) if !over => Told::Unreachable,
            _ => Told::TooLate,
        };
        if told == Told::Unreachable {
            tracing::warn!(run = %self.request.run_id, "the task may go on; the thread's next run cancels it");
        } else {
            self.finish_execution().await;
        }
        self.error(notice)
    }

    async fn stopped(&mut self, reason: StopReason, told: Told) -> LastWord {
        let outcome = match told {
            Told::Cancelled => StopOutcome::Cancelled,
            Told::TooLate => StopOutcome::AlreadyTerminal,
            Told::Unreachable => StopOutcome::KernelUnavailable,
        };
        if told != Told::Unreachable {
            self.finish_execution().await;
        }
        if let Some(guard) = &self.guard {
            guard.active().settle(outcome);
        }
        let code = match reason {
            StopReason::Cancel | StopReason::Disconnect => ErrorCode::Cancelled,
            StopReason::Shutdown => ErrorCode::ShuttingDown,
        };
        self.error(&code.into())
    }

    /// The client's own way out of its questions. Before 1.0 there was no outcome for it (S8.3).
    fn given_up(&self) -> LastWord {
        if self.request.speaks_1_0 {
            LastWord::GivenUp
        } else {
            self.error(&ErrorNotice::new(ErrorCode::Cancelled).with_key(MessageKey::CancelledByAnswer))
        }
    }

    /// Best effort: a record that still names the task makes the next run cancel it, which is harmless.
    async fn finish_execution(&mut self) {
        if self.guard.is_none() {
            return;
        }
        let saved = self.commit(MessageKey::PersistExecution, ThreadRecord::mark_terminal).await;
        if let Err(notice) = saved {
            tracing::warn!(code = %notice.code, "the end of the execution was not saved");
        }
    }

    /// What was shown in a resume that changed nothing is not shown again by the next.
    async fn keep_position(&mut self) {
        if self.guard.is_none() {
            return;
        }
        let position = self.mapper.position();
        let expires_at = clock::after(clock::now(), self.shared.config.interrupt_ttl);
        let mut deadline = None;
        let saved = self
            .commit(MessageKey::PersistExecution, |record| {
                store_position(record, &position);
                // Questions that another program parked have no deadline yet.
                for pending in record.execution.pending.values_mut() {
                    pending.expires_at.get_or_insert(expires_at);
                }
                deadline = record.execution.deadline();
            })
            .await;
        if let Err(notice) = saved {
            tracing::warn!(code = %notice.code, "the position was not saved");
        }
        if let Some(deadline) = deadline {
            self.shared.expiry.schedule(&self.shared, self.slot.thread().clone(), deadline);
        }
    }

    fn error(&self, notice: &ErrorNotice) -> LastWord {
        let error = run_error(self.request.language, notice);
        LastWord::Error { code: notice.code.as_str().into(), message: error.message }
    }
}

/// A question as it is told and as it is stored; `None` if it cannot be written.
fn announced(
    input: &OpenInput,
    expires_at: agui_core::UnixMillis,
    now: agui_core::UnixMillis,
) -> Option<(Interrupt, PendingInterrupt)> {
    let mut interrupt = input.interrupt.clone();
    interrupt.expires_at = clock::rfc3339(expires_at);
    let document = JsonObject::from_serialize(&interrupt).ok()?;
    let value = JsonObject::from_string(input.value.get().to_owned()).ok()?;
    let mut pending = PendingInterrupt::new(value).with_expires_at(expires_at).with_announced(document, now);
    pending.sideband = input.sideband;
    Some((interrupt, pending))
}

fn store_position(record: &mut ThreadRecord, position: &agui_mapper::ResumePoint) {
    let execution = &mut record.execution;
    execution.pipeline_sequence = position.pipeline_sequence;
    execution.open_steps = position.pipeline_open_steps.iter().map(|key| key.as_str().into()).collect();
    execution.text_digests =
        position.text_snapshot_digests.iter().filter_map(|digest| digest.parse::<Digest>().ok()).collect();
    execution.position = JsonObject::from_serialize(position).ok();
}
