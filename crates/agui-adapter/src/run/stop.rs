//! A run that has to stop: who says so, and how its task is told.

use std::future::Future;

use a2a_client::{Client, UpdateStream};
use tokio::time::{Instant, timeout, timeout_at};

use super::follow::{Wake, next};
use super::{Ending, Run};
use crate::active::StopReason;
use crate::config::CANCEL_DRAIN;
use crate::tasks::{self, Told, Unseen};
use crate::verdict::{Verdict, verdict};

impl Run {
    /// Resolves when the run has to stop, and again for whoever asks later. Cancel-safe. What reads the
    /// run goes away only if the policy has it so (S12.2).
    ///
    /// Guidance has nothing to stop; it is given up when the server goes down.
    pub(super) async fn stop_signal(&self) -> StopReason {
        let Some(guard) = &self.guard else {
            self.shared.shutdown.cancelled().await;
            return StopReason::Shutdown;
        };
        tokio::select! {
            // Cancel-safe, both: neither holds anything.
            biased;
            reason = guard.active().stopping() => reason,
            () = self.sink.closed() => {
                guard.active().request_stop(StopReason::Disconnect);
                StopReason::Disconnect
            }
        }
    }

    /// The reason to stop, if there is one at this moment.
    pub(super) fn stop_requested(&self) -> Option<StopReason> {
        let guard = self.guard.as_ref()?;
        if self.sink.is_closed() {
            guard.active().request_stop(StopReason::Disconnect);
        }
        guard.active().stop_requested()
    }

    /// Waits for something that may be given up at any time.
    pub(super) async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, StopReason> {
        tokio::select! {
            // What is dropped here was reading only, or belongs to a task that is cancelled now.
            biased;
            reason = self.stop_signal() => Err(reason),
            done = work => Ok(done),
        }
    }

    /// Waits for a call about a task whose id is known: a run that is stopped meanwhile cancels the task.
    ///
    /// Calls are boxed where they are made: a call is large, and it would be part of every future around it.
    pub(super) fn stoppable<'a, T: Send + 'a>(
        &'a self,
        client: &'a Client,
        call: impl Future<Output = T> + Send + 'a,
    ) -> impl Future<Output = Result<T, Ending>> + Send + 'a {
        let call = Box::pin(call);
        async move {
            match self.unless_stopped(call).await {
                Ok(done) => Ok(done),
                Err(reason) => Err(Ending::Stopped(reason, self.tell(client).await)),
            }
        }
    }

    /// Waits for a call that makes a task. A run that is stopped meanwhile waits on for a while: the kernel
    /// would work under an id that nobody knows (weakness 4).
    pub(super) fn learning_the_task<'a, T: Send + 'a>(
        &'a self,
        call: impl Future<Output = T> + Send + 'a,
    ) -> impl Future<Output = Result<T, StopReason>> + Send + 'a {
        let mut call = Box::pin(call);
        async move {
            match self.unless_stopped(call.as_mut()).await {
                Ok(done) => Ok(done),
                Err(reason) => timeout(self.shared.config.task_id_timeout, call).await.map_err(|_| reason),
            }
        }
    }

    /// Ends a run whose stream is open: the task is cancelled as soon as its id is known.
    pub(super) async fn stop(
        &mut self,
        client: &Client,
        stream: &mut UpdateStream,
        reason: StopReason,
    ) -> Ending {
        let known = Instant::now() + self.shared.config.task_id_timeout;
        if let Err(notice) = self.read_on(stream, known, |run| run.task_id.is_some()).await {
            return Ending::Broken(notice);
        }
        if let Some(verdict) = self.own_end() {
            return Ending::Verdict(verdict);
        }
        let told = self.tell(client).await;
        if told == Told::TooLate {
            // The end that the task had before the cancel is still in the stream.
            let drained = Instant::now() + CANCEL_DRAIN;
            if let Err(notice) = self.read_on(stream, drained, |_| false).await {
                return Ending::Broken(notice);
            }
            if let Some(verdict) = self.own_end() {
                return Ending::Verdict(verdict);
            }
        }
        Ending::Stopped(reason, told)
    }

    /// Reads until `enough`, until the run has an end of its own, or until `deadline`.
    async fn read_on(
        &mut self,
        stream: &mut UpdateStream,
        deadline: Instant,
        enough: impl Fn(&Self) -> bool + Send,
    ) -> Result<(), agui_iac_code::ErrorNotice> {
        while !enough(self) && self.own_end().is_none() {
            let Ok(Wake::Datum(datum)) = timeout_at(deadline, next(stream)).await else { break };
            self.take(&datum).await?;
        }
        Ok(())
    }

    /// How the run ended by itself. A question is no end here: nobody will answer it.
    fn own_end(&self) -> Option<Verdict> {
        match verdict(self.mapper.observed()) {
            Verdict::Unsettled | Verdict::Interrupt => None,
            verdict => Some(verdict),
        }
    }

    /// Cancels the run's task, if it has one or may have one.
    pub(super) async fn tell(&self, client: &Client) -> Told {
        match &self.task_id {
            Some(task) => tasks::cancel(&self.shared, client, task.as_str()).await,
            None if self.may_have_begun => {
                let unseen = Unseen::new(self.context_id.clone(), self.begun_by.clone());
                match tasks::cancel_unseen(&self.shared, client, &unseen).await {
                    // The message may still be on its way: the thread's next run looks again.
                    Told::TooLate => Told::Unreachable,
                    told => told,
                }
            }
            None => Told::Cancelled,
        }
    }
}
