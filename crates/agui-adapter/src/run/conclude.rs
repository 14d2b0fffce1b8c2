//! The end of a run: first what is stored, then what is said.

use agui_core::{Interrupt, JsonObject, UnixMillis};
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey};
use agui_mapper::{Ending as LastWord, OpenInput, ResumePoint};
use agui_store::{Digest, PendingInterrupt, ThreadRecord};

use super::{Ending, Run};
use crate::active::{StopOutcome, StopReason};
use crate::clock;
use crate::notice::run_error;
use crate::pending;
use crate::tasks::Told;
use crate::verdict::Verdict;

impl Run {
    pub(super) async fn conclude(mut self, ending: Ending) {
        let last_word = self.last_word(ending).await;
        let deadline = self.deadline().await;
        // Guidance has no execution of its own to announce (S12.4).
        let announces = self.guard.is_some() && self.task_id.is_some();
        // The thread is free before the client can know that the run is over …
        drop(self.guard.take());
        // … and before its timer may find the questions overdue (S11.5).
        if let Some(deadline) = deadline {
            self.shared.expiry.schedule(&self.shared, self.slot.thread(), deadline);
        }
        self.tell_downgrades();
        if announces && !matches!(last_word, LastWord::Error { .. }) {
            self.mapper.announce_session(clock::now());
        }
        self.mapper.finish(clock::now(), last_word);
        self.flush();
        let (thread, run) = (&self.request.thread_id, &self.request.run_id);
        tracing::info!(%thread, %run, execution = %self.execution_id, "run ended");
    }

    /// Saves what the ending means, and gives what is said of it.
    async fn last_word(&mut self, ending: Ending) -> LastWord {
        match ending {
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
        }
    }

    /// Saves the open questions, then says them (S11.6).
    async fn park(&mut self) -> LastWord {
        let now = clock::now();
        let expires_at = clock::after(now, self.shared.config.interrupt_ttl);
        let open = self.questions();
        let position = self.mapper.position();
        let mut interrupts = Vec::new();
        let saved = self
            .commit(MessageKey::PersistInterrupt, |record| {
                let before = std::mem::take(&mut record.execution.pending);
                for input in &open {
                    let key = agui_core::InterruptId::from(&*input.input_id);
                    // A question that was open before keeps its own deadline.
                    let expires_at =
                        before.get(&key).and_then(|known| known.expires_at).unwrap_or(expires_at);
                    let Some((interrupt, stored)) = announced(input, expires_at, now) else { continue };
                    pending::reopen(record, input);
                    record.execution.pending.insert(key, stored);
                    interrupts.push(interrupt);
                }
                store_position(record, &position);
            })
            .await;
        match saved {
            Ok(()) if !interrupts.is_empty() => LastWord::Interrupt(interrupts),
            Ok(()) => self.abort(&ErrorCode::A2aProtocolError.into()).await,
            Err(notice) => self.abort(&notice).await,
        }
    }

    /// The open questions; one whose answer did not count says so.
    fn questions(&self) -> Vec<OpenInput> {
        let observed = self.mapper.observed();
        let mut open = observed.open_inputs.clone();
        if let Some(error) = &observed.identity_error {
            let reason = agui_i18n::text(self.request.language, MessageKey::InterruptIdentity);
            let meant =
                |input: &&mut OpenInput| error.input_id.as_ref().is_none_or(|id| *id == input.input_id);
            for input in open.iter_mut().filter(meant) {
                let question = input.interrupt.message.take().unwrap_or_default();
                input.interrupt.message = Some(format!("{reason}\n{question}"));
            }
        }
        open
    }

    /// The run failed while the task may go on: the task is cancelled, then the execution is over
    /// (weakness 9). While nobody could be told, it stays as it is, and the next run tells.
    async fn abort(&mut self, notice: &ErrorNotice) -> LastWord {
        let over = self.mapper.observed().last_state.as_ref().is_some_and(a2a_wire::TaskState::is_terminal);
        let told = match self.client() {
            _ if over || (self.task_id.is_none() && !self.may_have_begun) => Told::TooLate,
            Ok(client) => self.tell(&client).await,
            Err(_) => Told::Unreachable,
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
            Told::Refused => StopOutcome::Refused,
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

    async fn finish_execution(&mut self) {
        let session = self.session_id.clone();
        self.try_to_save(|record| {
            record.mark_terminal();
            // A session that is gone is not asked for again.
            record.session_id = session;
        })
        .await;
    }

    /// What was shown in a resume that changed nothing is not shown again by the next.
    async fn keep_position(&mut self) {
        let position = self.mapper.position();
        let expires_at = clock::after(clock::now(), self.shared.config.interrupt_ttl);
        self.try_to_save(|record| {
            store_position(record, &position);
            // Questions that another program parked have no deadline yet.
            for pending in record.execution.pending.values_mut() {
                pending.expires_at.get_or_insert(expires_at);
            }
        })
        .await;
    }

    /// Best effort: a record that still names the task makes the next run cancel it, which is harmless.
    async fn try_to_save(&self, change: impl FnOnce(&mut ThreadRecord)) {
        if self.guard.is_none() {
            return;
        }
        if let Err(notice) = self.commit(MessageKey::PersistExecution, change).await {
            tracing::warn!(code = %notice.code, "the end of the run was not saved");
        }
    }

    /// When the questions that are left open expire.
    async fn deadline(&self) -> Option<UnixMillis> {
        self.guard.as_ref()?;
        self.slot.open().await.ok()?.record()?.execution.deadline()
    }

    fn error(&self, notice: &ErrorNotice) -> LastWord {
        let error = run_error(self.request.language, notice);
        LastWord::Error { code: notice.code.as_str().into(), message: error.message }
    }
}

/// A question as it is told and as it is stored; `None` if it cannot be written.
fn announced(
    input: &OpenInput,
    expires_at: UnixMillis,
    now: UnixMillis,
) -> Option<(Interrupt, PendingInterrupt)> {
    let mut interrupt = input.interrupt.clone();
    interrupt.expires_at = clock::rfc3339(expires_at);
    let mut told = interrupt.clone();
    told.metadata = told.metadata.and_then(pending::storable);
    let document = JsonObject::from_serialize(&told).ok()?;
    let value = pending::storable(JsonObject::from_string(input.value.get().to_owned()).ok()?)?;
    let mut stored = PendingInterrupt::new(value).with_expires_at(expires_at).with_announced(document, now);
    stored.sideband = input.sideband;
    Some((interrupt, stored))
}

fn store_position(record: &mut ThreadRecord, position: &ResumePoint) {
    let execution = &mut record.execution;
    execution.pipeline_sequence = position.pipeline_sequence;
    execution.open_steps = position.pipeline_open_steps.iter().map(|key| key.as_str().into()).collect();
    execution.text_digests =
        position.text_snapshot_digests.iter().filter_map(|digest| digest.parse::<Digest>().ok()).collect();
    execution.position = JsonObject::from_serialize(position).ok();
}
