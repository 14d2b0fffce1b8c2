//! A resume: the session is made ready, the task looked at, and each answer sent to its own question (S8).

use std::future::ready;

use a2a_client::{
    Client, ClientError, Datum, Delivery, PipelineStateQuery, RestoreRequest, Restored, UpdateStream,
};
use a2a_wire::StreamItem;
use agui_iac_code::{ErrorCode, ErrorNotice, MessageKey, PermissionDecision, PipelineState};
use agui_mapper::Notice;
use agui_mapper::answers::Answer;

use super::follow::Read;
use super::settle::{HISTORY, gone, settled};
use super::{Ending, Run};
use crate::active::StopReason;
use crate::answers::{Answers, CheckedAnswer};
use crate::clock;
use crate::failure;
use crate::pending;
use crate::tasks::Told;
use crate::verdict::{Verdict, verdict};

/// Status with which the kernel refuses a session that it cannot restore for this task; also when it has
/// forgotten the task.
const NOT_THAT_SESSION: u16 = 400;

/// The stream that an answer was taken in.
struct Answered {
    stream: UpdateStream,
    /// Whether its first datum told how the task stands since.
    tells_state: bool,
}

impl Run {
    pub(super) async fn resume(&mut self, answers: Answers) -> Ending {
        match self.answer_all(answers).await {
            Ok(ending) | Err(ending) => ending,
        }
    }

    async fn answer_all(&mut self, answers: Answers) -> Result<Ending, Ending> {
        if answers.list.is_empty() {
            return Ok(Ending::GivenUp);
        }
        let client = self.client().map_err(Ending::Unchanged)?;
        if answers.give_up_the_task() {
            // Nothing is allowed any more for a task that is about to go.
            return Ok(self.abandon(&client).await);
        }
        self.prepare(&client).await?;
        self.unsent(&client, ready(())).await?;
        let mut rest = answers.list.into_iter().peekable();
        while let Some(answer) = rest.next() {
            self.check_question(&answer)?;
            if self.is_decided(&answer) {
                self.check_decision(&answer)?;
                self.accept(&answer).await.map_err(Ending::Broken)?;
                continue;
            }
            let Some(mut stream) = self.send_answer(&client, &answer).await? else { continue };
            let more = rest.peek().is_some();
            match self.read_answered(&client, &mut stream).await {
                // The kernel asks what has an answer already, or has said all it has to say to this one.
                Read::Ending(Ending::Verdict(Verdict::Interrupt)) | Read::Over(_) if more => {}
                Read::Ending(ending) => return Ok(ending),
                Read::Over(failure) => {
                    drop(stream);
                    return Ok(self.settle(&client, failure).await);
                }
            }
        }
        Ok(self.settle(&client, None).await)
    }

    /// Makes the session ready and catches up with the task.
    async fn prepare(&mut self, client: &Client) -> Result<(), Ending> {
        self.restore_session(client).await?;
        let Some(task) = self.task_id.clone() else { return Ok(()) };
        let looked = self.unsent(client, client.get_task(task.as_str(), Some(HISTORY))).await?;
        let datum = looked.map_err(|error| unprepared(&error))?;
        match datum.item() {
            Ok(item) => self.mapper.handle_item(clock::now(), &item),
            Err(error) => {
                tracing::warn!(%error, "task not readable");
                let notice = ErrorNotice::new(ErrorCode::A2aUnavailable).with_key(MessageKey::A2aUnreadable);
                return Err(Ending::Unchanged(notice));
            }
        }
        let observed = self.mapper.observed();
        if observed.identity_changed()
            && let Verdict::Failed(notice) = verdict(observed)
        {
            return Err(Ending::Unchanged(notice));
        }
        self.announce().await.map_err(Ending::Broken)?;
        let after = self.mapper.position().pipeline_sequence;
        let caught_up = self.catch_up(client, after).await;
        caught_up.map_err(|error| Ending::Unchanged(failure::notice(&error)))?;
        self.flush();
        Ok(())
    }

    async fn restore_session(&mut self, client: &Client) -> Result<(), Ending> {
        let Some(session) = self.session_id.clone() else { return Ok(()) };
        let mut request = RestoreRequest::new(self.request.terms.cwd(), session.as_str());
        request.task_id = self.task_id.as_ref().map(agui_store::TaskId::as_str);
        match self.unsent(client, client.ensure_restored(request)).await? {
            Ok(Restored::NotFound) => {
                // The thread goes on with a new session.
                self.session_id = None;
                let notice = ErrorNotice::new(ErrorCode::ExecutionLost).with_key(MessageKey::SessionGone);
                Err(Ending::Lost(notice))
            }
            Ok(_) => Ok(()),
            Err(ClientError::Http(failure)) if failure.status == NOT_THAT_SESSION => {
                // It may be gone as well. The task tells: if it is there, it names its session again.
                tracing::warn!(run = %self.request.run_id, "session not restored");
                self.session_id = None;
                Ok(())
            }
            Err(error) => Err(unprepared(&error)),
        }
    }

    /// Waits for a call that is made before any answer was sent. A run that is stopped then keeps its
    /// questions, unless the stop means the execution (S12.3).
    fn unsent<'a, T: Send + 'a>(
        &'a self,
        client: &'a Client,
        call: impl Future<Output = T> + Send + 'a,
    ) -> impl Future<Output = Result<T, Ending>> + Send + 'a {
        let call = Box::pin(call);
        async move {
            let reason = match self.unless_stopped(call).await {
                Ok(done) => return Ok(done),
                Err(reason) => reason,
            };
            Err(match reason {
                StopReason::Cancel => Ending::Stopped(reason, self.tell(client).await),
                StopReason::Disconnect => Ending::Unchanged(ErrorCode::Cancelled.into()),
                StopReason::Shutdown => Ending::Unchanged(ErrorCode::ShuttingDown.into()),
            })
        }
    }

    /// Reads what a pipeline did after the event with the sequence `after`.
    async fn catch_up(&mut self, client: &Client, after: u64) -> Result<(), ClientError> {
        let Some(task) = self.task_id.clone().filter(|_| !self.is_generic()) else { return Ok(()) };
        let query = PipelineStateQuery::of_task(task.as_str()).with_after_sequence(after);
        let Some(document) = Box::pin(client.pipeline_state(query)).await? else { return Ok(()) };
        match document.raw_result() {
            Ok(raw) => self.mapper.handle_recovery(clock::now(), &PipelineState::read(raw)),
            Err(error) => tracing::warn!(%error, "pipeline state not readable"),
        }
        Ok(())
    }

    /// The same where the run goes on without it.
    pub(super) async fn try_to_catch_up(&mut self, client: &Client, after: u64) {
        if let Err(error) = self.catch_up(client, after).await {
            tracing::warn!(%error, run = %self.request.run_id, "pipeline events are missing");
        }
    }

    /// What the kernel shows now against what was answered: a question that is gone, or not the same any
    /// more, must not get the answer (case C77).
    fn check_question(&self, answer: &CheckedAnswer) -> Result<(), Ending> {
        let observed = self.mapper.observed();
        if observed.replaced.iter().any(|replaced| replaced.old == answer.question.interrupt.id) {
            return Err(Ending::Verdict(Verdict::Interrupt));
        }
        if observed.last_state.as_ref().is_some_and(a2a_wire::TaskState::is_terminal)
            && let Some(ending) = settled(observed)
        {
            return Err(ending);
        }
        Ok(())
    }

    /// Whether the kernel has told meanwhile that the question is decided: there is nothing to send.
    ///
    /// It does not always name the question: what it received was the answer to the only one of its kind.
    fn is_decided(&self, answer: &CheckedAnswer) -> bool {
        let observed = self.mapper.observed();
        if self.is_generic() && observed.last_state.as_ref().is_some_and(|state| !state.is_interrupted()) {
            // It goes on by itself: the user has signed in where the agent notices.
            return true;
        }
        !observed.open_inputs.iter().any(|open| open.input_id == answer.question.input_id)
    }

    /// What is decided otherwise cannot be answered any more. Who allowed what counts as denied is told
    /// (weakness 34); who denies what was allowed must not believe that nothing happens.
    fn check_decision(&self, answer: &CheckedAnswer) -> Result<(), Ending> {
        let Answer::Permission { decision: PermissionDecision::Deny, .. } = answer.answer else {
            return Ok(());
        };
        let receipt = self.mapper.observed().receipt(&answer.question.input_id);
        match receipt.and_then(|receipt| receipt.decision) {
            Some(PermissionDecision::AllowOnce) => {
                Err(Ending::Unchanged(ErrorCode::ResumeAlreadyApplied.into()))
            }
            _ => Ok(()),
        }
    }

    /// Sends one answer; gives the stream of what follows, if the answer continues one.
    async fn send_answer(
        &mut self,
        client: &Client,
        answer: &CheckedAnswer,
    ) -> Result<Option<Answered>, Ending> {
        let message = self.answer_message(answer).map_err(Ending::Unchanged)?;
        if answer.question.sideband && answer.is_permission() {
            let reply = self.stoppable(client, client.send(&message)).await?;
            let reply = reply.map_err(|error| refused(&error, answer))?;
            self.take_reply(&reply, answer).await?;
            return Ok(None);
        }
        let opened = self.stoppable(client, client.send_streaming(&message)).await?;
        let mut stream = opened.map_err(|error| refused(&error, answer))?;
        self.mapper.stream_opened();
        // The first datum tells whether the answer was taken (S8.4).
        let first = self.stoppable(client, stream.next()).await?;
        let first = first.ok_or_else(|| Ending::Unchanged(not_accepted(answer)))?;
        let first = first.map_err(|error| refused(&error, answer))?;
        self.take_reply(&first, answer).await?;
        let tells_state = matches!(first.item(), Ok(StreamItem::StatusUpdate(_) | StreamItem::Task(_)));
        Ok(Some(Answered { stream, tells_state }))
    }

    /// Reads on behind the first datum, unless that one has said how the run ends.
    async fn read_answered(&mut self, client: &Client, answered: &mut Answered) -> Read {
        match settled(self.mapper.observed()) {
            Some(ending) if answered.tells_state && !self.works_on() => Read::Ending(ending),
            _ => self.read(client, &mut answered.stream).await,
        }
    }

    /// Maps the kernel's reply to an answer; an answer that was not taken leaves its question open
    /// (weakness 30).
    async fn take_reply(&mut self, reply: &Datum, answer: &CheckedAnswer) -> Result<(), Ending> {
        match reply.item() {
            Ok(item) => {
                if self.is_generic() {
                    // Whatever it replies, it has the answer: what it asks from here on is another question.
                    self.mapper.answered(&answer.question.input_id);
                }
                self.mapper.handle_item(clock::now(), &item);
            }
            Err(_) => return Err(Ending::Unchanged(not_accepted(answer))),
        }
        let observed = self.mapper.observed();
        if observed.identity_changed()
            && let Some(ending) = settled(observed)
        {
            return Err(ending);
        }
        let receipt = observed.receipt(&answer.question.input_id);
        if observed.identity_error.is_some()
            || receipt.is_some_and(|receipt| receipt.notice == Notice::Refused)
        {
            return Err(Ending::Verdict(Verdict::Interrupt));
        }
        self.accept(answer).await.map_err(Ending::Broken)
    }

    /// Remembers that the answer was taken, before anything that it caused is shown.
    async fn accept(&mut self, answer: &CheckedAnswer) -> Result<(), ErrorNotice> {
        self.mapper.answered(&answer.question.input_id);
        let (question, digest) = (&answer.question, answer.digest);
        self.commit(MessageKey::PersistAnswer, |record| pending::settle(record, question, digest)).await?;
        self.note_allowed(answer);
        self.announce().await?;
        self.fill_gap().await;
        self.flush();
        self.tell_downgrades();
        Ok(())
    }

    /// A question that can only be given up together with its task.
    async fn abandon(&mut self, client: &Client) -> Ending {
        match self.tell(client).await {
            Told::Unreachable => Ending::Unchanged(ErrorCode::A2aUnavailable.into()),
            Told::Cancelled | Told::TooLate | Told::Refused => Ending::GivenUp,
        }
    }
}

/// A call before any answer was sent has failed: what is gone is gone, everything else stays answerable.
fn unprepared(error: &ClientError) -> Ending {
    tracing::warn!(%error, "resume not prepared");
    gone(error).unwrap_or_else(|| Ending::Unchanged(failure::notice(error)))
}

/// Sending an answer has failed. The question stays open: the kernel recognises an answer that it has
/// taken after all, and does not act twice (S8.6).
fn refused(error: &ClientError, answer: &CheckedAnswer) -> Ending {
    tracing::warn!(%error, interrupt = %answer.question.interrupt.id, "answer not accepted");
    if let Some(ending) = gone(error) {
        return ending;
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
    let key = if answer.is_permission() {
        MessageKey::PermissionNotAccepted
    } else {
        MessageKey::AnswerNotAccepted
    };
    ErrorNotice::new(ErrorCode::A2aUnavailable).with_key(key)
}
