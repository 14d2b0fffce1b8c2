//! A resume: the session is made ready, the task looked at, and each answer sent to its own question (S8).

use a2a_client::{Client, ClientError, Delivery, PipelineStateQuery, RestoreRequest, Restored, UpdateStream};
use a2a_wire::code;
use agui_core::InterruptId;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey, PipelineState};
use agui_store::SessionId;

use super::follow::Read;
use super::settle::{HISTORY, settled};
use super::{Ending, Run};
use crate::answers::{Answers, CheckedAnswer, is_permission};
use crate::clock;
use crate::failure;
use crate::tasks::{self, Told};
use crate::verdict::{Verdict, verdict};

/// What one answer came to.
enum Sent {
    /// The kernel took it, and the stream of what follows is open.
    Following(UpdateStream),
    /// The kernel took it beside the stream.
    Beside,
    /// The run ends here.
    Ending(Ending),
}

impl Run {
    pub(super) async fn resume(&mut self, answers: Answers) -> Ending {
        if answers.list.is_empty() {
            return Ending::GivenUp;
        }
        let client = match self.client() {
            Ok(client) => client,
            Err(notice) => return Ending::Unchanged(notice),
        };
        if let Some(ending) = self.prepare(&client).await {
            return ending;
        }
        if let Some(ending) = self.outdated(&answers) {
            return ending;
        }
        self.apply(&client, answers).await
    }

    /// Makes the session ready and catches up with the task; `None` if the answers can be sent.
    async fn prepare(&mut self, client: &Client) -> Option<Ending> {
        if let Some(ending) = self.restore_session(client).await {
            return Some(ending);
        }
        let task = self.task_id.clone()?;
        let datum = match client.get_task(task.as_str(), Some(HISTORY)).await {
            Ok(datum) => datum,
            Err(error) => return Some(unanswered(&error, MessageKey::TaskGone)),
        };
        match datum.item() {
            Ok(item) => self.mapper.handle_item(clock::now(), &item),
            Err(error) => {
                tracing::warn!(%error, "task not readable");
                let notice = ErrorNotice::new(ErrorCode::A2aUnavailable).with_key(MessageKey::A2aUnreadable);
                return Some(Ending::Unchanged(notice));
            }
        }
        if let Verdict::Failed(notice) = verdict(self.mapper.observed())
            && self.mapper.observed().identity_changed()
        {
            return Some(Ending::Unchanged(notice));
        }
        if let Err(notice) = self.announce().await {
            return Some(Ending::Broken(notice));
        }
        let after = self.mapper.position().pipeline_sequence;
        if let Err(error) = self.catch_up(client, after).await {
            return Some(Ending::Unchanged(failure::notice(&error)));
        }
        self.flush();
        None
    }

    async fn restore_session(&self, client: &Client) -> Option<Ending> {
        let session = self.session_id.as_ref().map(SessionId::as_str)?;
        let mut request = RestoreRequest::new(self.request.workspace.as_str(), session);
        request.task_id = self.task_id.as_ref().map(|task| task.as_str());
        match client.ensure_restored(request).await {
            Ok(Restored::NotFound) => {
                let notice = ErrorNotice::new(ErrorCode::ExecutionLost).with_key(MessageKey::SessionGone);
                Some(Ending::Lost(notice))
            }
            Ok(_) => None,
            Err(error) => Some(unanswered(&error, MessageKey::SessionGone)),
        }
    }

    /// Reads what a pipeline did after the event with the sequence `after`.
    pub(super) async fn catch_up(&mut self, client: &Client, after: u64) -> Result<(), ClientError> {
        let Some(task) = self.task_id.clone() else { return Ok(()) };
        let query = PipelineStateQuery::of_task(task.as_str()).with_after_sequence(after);
        let Some(document) = client.pipeline_state(query).await? else { return Ok(()) };
        match document.raw_result() {
            Ok(raw) => self.mapper.handle_recovery(clock::now(), &PipelineState::read(raw)),
            Err(error) => tracing::warn!(%error, "pipeline state not readable"),
        }
        Ok(())
    }

    /// What the kernel shows now against what was answered: a question that is gone, or not the same any
    /// more, must not get the answer (case C77).
    fn outdated(&self, answers: &Answers) -> Option<Ending> {
        let observed = self.mapper.observed();
        let void = |id: &InterruptId| observed.replaced.iter().any(|replaced| replaced.old == *id);
        if answers.list.iter().any(|answer| void(&answer.interrupt_id)) {
            return Some(Ending::Verdict(Verdict::Interrupt));
        }
        if observed.last_state.as_ref().is_some_and(a2a_wire::TaskState::is_terminal) {
            return settled(observed);
        }
        None
    }

    async fn apply(&mut self, client: &Client, answers: Answers) -> Ending {
        let mut beside = false;
        let mut rest = answers.list.into_iter().peekable();
        while let Some(answer) = rest.next() {
            if let Some(reason) = self.stop_requested() {
                let told = self.tell(client).await;
                return Ending::Stopped(reason, told);
            }
            match self.send_answer(client, &answer).await {
                Sent::Ending(ending) => return ending,
                Sent::Beside => beside = true,
                Sent::Following(mut stream) => {
                    let more = rest.peek().is_some();
                    match self.read(client, &mut stream).await {
                        // The kernel asks what has an answer already: go on with it.
                        Read::Ending(Ending::Verdict(Verdict::Interrupt)) if more => {}
                        Read::Ending(ending) => return ending,
                        Read::Over(_) if more => {}
                        Read::Over(failure) => {
                            drop(stream);
                            return self.settle(client, failure).await;
                        }
                    }
                }
            }
        }
        debug_assert!(beside, "an answer was sent");
        self.settle(client, None).await
    }

    async fn send_answer(&mut self, client: &Client, answer: &CheckedAnswer) -> Sent {
        let message = match self.answer_message(answer) {
            Ok(Some(message)) => message,
            Ok(None) => return Sent::Ending(self.abandon(client).await),
            Err(notice) => return Sent::Ending(Ending::Unchanged(notice)),
        };
        if answer.question.sideband && is_permission(answer) {
            return self.send_beside(client, answer, &message).await;
        }
        let mut stream = match client.send_streaming(&message).await {
            Ok(stream) => stream,
            Err(error) => return Sent::Ending(refused(&error, answer)),
        };
        self.mapper.stream_opened();
        // The first datum tells whether the answer was taken (S8.4).
        let first = match stream.next().await {
            Some(Ok(datum)) => datum,
            Some(Err(error)) => return Sent::Ending(refused(&error, answer)),
            None => return Sent::Ending(Ending::Unchanged(not_accepted(answer))),
        };
        match first.item() {
            Ok(item) => self.mapper.handle_item(clock::now(), &item),
            Err(_) => return Sent::Ending(Ending::Unchanged(not_accepted(answer))),
        }
        if let Some(ending) = self.rejected(answer) {
            return Sent::Ending(ending);
        }
        match self.accept(answer).await {
            Ok(()) => Sent::Following(stream),
            Err(notice) => Sent::Ending(Ending::Broken(notice)),
        }
    }

    async fn send_beside(
        &mut self,
        client: &Client,
        answer: &CheckedAnswer,
        message: &a2a_wire::SendMessage,
    ) -> Sent {
        let datum = match client.send(message).await {
            Ok(datum) => datum,
            Err(error) => return Sent::Ending(refused(&error, answer)),
        };
        match datum.item() {
            Ok(item) => self.mapper.handle_item(clock::now(), &item),
            Err(_) => return Sent::Ending(Ending::Unchanged(not_accepted(answer))),
        }
        if let Some(ending) = self.rejected(answer) {
            return Sent::Ending(ending);
        }
        match self.accept(answer).await {
            Ok(()) => Sent::Beside,
            Err(notice) => Sent::Ending(Ending::Broken(notice)),
        }
    }

    /// The kernel answered, and did not take it: the question stays open (weakness 30).
    fn rejected(&self, answer: &CheckedAnswer) -> Option<Ending> {
        let observed = self.mapper.observed();
        if observed.identity_changed() {
            return settled(observed);
        }
        let refused = observed.identity_error.is_some()
            || observed
                .receipt(&answer.question.input_id)
                .is_some_and(|receipt| receipt.notice == agui_mapper::Notice::Refused);
        refused.then_some(Ending::Verdict(Verdict::Interrupt))
    }

    /// Remembers that the answer was taken, before anything that it caused is shown.
    async fn accept(&mut self, answer: &CheckedAnswer) -> Result<(), ErrorNotice> {
        self.mapper.answered(answer.interrupt_id.as_str());
        let (interrupt, digest) = (answer.interrupt_id.clone(), answer.digest);
        self.commit(MessageKey::PersistAnswer, move |record| record.apply_answer(&interrupt, digest)).await?;
        self.announce().await?;
        self.flush();
        Ok(())
    }

    /// A question that can only be given up together with its task.
    async fn abandon(&mut self, client: &Client) -> Ending {
        match self.tell(client).await {
            Told::Unreachable => Ending::Unchanged(ErrorCode::A2aUnavailable.into()),
            Told::Cancelled | Told::TooLate => Ending::GivenUp,
        }
    }

    pub(super) async fn tell(&self, client: &Client) -> Told {
        match &self.task_id {
            Some(task) => tasks::cancel(&self.shared, client, task.as_str()).await,
            None => Told::Cancelled,
        }
    }
}

/// A call before any answer was sent has failed: what is gone is gone, everything else stays answerable.
fn unanswered(error: &ClientError, gone: MessageKey) -> Ending {
    tracing::warn!(%error, "resume not prepared");
    if error.rpc().is_some_and(|rpc| rpc.code == code::TASK_NOT_FOUND) {
        return Ending::Lost(ErrorNotice::new(ErrorCode::ExecutionLost).with_key(gone));
    }
    Ending::Unchanged(failure::notice(error))
}

/// Sending an answer has failed. The question stays open: the kernel recognises an answer that it has
/// taken after all, and does not act twice (S8.6).
fn refused(error: &ClientError, answer: &CheckedAnswer) -> Ending {
    tracing::warn!(%error, interrupt = %answer.interrupt_id, "answer not accepted");
    if error.rpc().is_some_and(|rpc| rpc.code == code::TASK_NOT_FOUND) {
        return Ending::Lost(ErrorNotice::new(ErrorCode::ExecutionLost).with_key(MessageKey::TaskGone));
    }
    let notice = match error.delivery() {
        Delivery::Refused if error.rpc().is_some_and(|rpc| rpc.data_code.is_none()) => {
            ErrorNotice::new(ErrorCode::A2aUnavailable).with_key(MessageKey::AnswerRejected)
        }
        _ => failure::notice(error),
    };
    Ending::Unchanged(notice)
}

fn not_accepted(answer: &CheckedAnswer) -> ErrorNotice {
    let key = if is_permission(answer) { MessageKey::PermissionNotAccepted } else { MessageKey::AnswerNotAccepted };
    ErrorNotice::new(ErrorCode::A2aUnavailable).with_key(key)
}
