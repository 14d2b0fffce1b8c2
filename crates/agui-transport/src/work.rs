//! What is done once a request has passed every check, and the wording of the outcome.

use std::future::Future;
use std::sync::Arc;

use http::Response;
use hyper::upgrade::OnUpgrade;
use tracing::{Instrument as _, Span};

use crate::answer::{self, AnswerBody};
use crate::error_form::ErrorEvent;
use crate::event_body::{EventBody, Source};
use crate::gate::{Gate, Passed, Visit};
use crate::refusal::Refusal;
use crate::route::RouteReply;
use crate::upgrade::{self, Upgrade, UpgradeStop};

impl Gate {
    /// Does what was asked and words the outcome.
    pub(crate) async fn carry_out(
        &self,
        passed: Passed,
        handed_over: Option<OnUpgrade>,
        mut visit: Visit,
    ) -> Response<AnswerBody> {
        let numbered = self.numbered_events && matches!(passed, Passed::Run(_));
        let reply = match passed {
            Passed::Probe(probe) => {
                visit.log.hush();
                let health = probe.look();
                return answer::json(health.status, health.body, visit.log);
            }
            Passed::Preflight(headers) => return answer::preflight(headers, visit.log),
            Passed::Run(request) => {
                let agent = Arc::clone(&self.agent);
                let run = self.to_the_end(async move { agent.run(*request).await }).await;
                run.map(|started| started.map_or_else(RouteReply::Problem, RouteReply::Run))
            }
            Passed::Extension(route, request) => {
                // The handler is called there too: it may work before it gives its future.
                self.to_the_end(async move { route.handler.handle(*request).await }).await
            }
        };
        let source = match reply {
            Ok(RouteReply::Json { status, body }) => return answer::json(status, body, visit.log),
            Ok(RouteReply::Problem(problem)) => return self.refuse(&Refusal::Problem(problem), visit),
            Ok(RouteReply::Run(stream)) if numbered => Source::numbered_run(stream),
            Ok(RouteReply::Run(stream)) => Source::run(stream),
            Ok(RouteReply::Records(records)) => Source::Records(records),
            Ok(RouteReply::Upgrade(upgrade)) => return self.switch(upgrade, handed_over, visit),
            Err(refusal) => return self.refuse(&refusal, visit),
        };
        let counted = self.activity.enter_stream();
        let Visit { wire, language, encoding, log, .. } = visit;
        let body = EventBody::new(source, self.timeouts.heartbeat, wire, language, counted, log);
        answer::events(body.encoded_as(encoding))
    }

    /// Words a refusal in the form that this server uses.
    pub(crate) fn refuse(&self, refusal: &Refusal, visit: Visit) -> Response<AnswerBody> {
        let Visit { language, ids, streams, log, .. } = visit;
        let Some(mode) = self.errors else { return answer::refuse(refusal, language, log) };
        let event = ErrorEvent::new(refusal, mode, streams, language, || ids.correlation());
        answer::error_event(event, refusal.headers(), log)
    }

    /// Ends HTTP on the connection and starts what follows.
    fn switch(
        &self,
        upgrade: Upgrade,
        handed_over: Option<OnUpgrade>,
        mut visit: Visit,
    ) -> Response<AnswerBody> {
        let Some(handed_over) = handed_over else {
            tracing::error!("a route that was not made for it wants to change the protocol");
            return self.refuse(&Refusal::Internal, visit);
        };
        visit.log.switched();
        let (headers, start) = upgrade.into_parts();
        let work = upgrade::carry_on(handed_over, start, UpgradeStop::new(&self.stop), visit.log);
        let held = (self.activity.enter_stream(), visit.wire);
        let task = async move {
            work.await;
            drop(held);
        };
        self.tasks.spawn(task.instrument(Span::current()));
        answer::switch(headers)
    }

    /// Lets `work` finish even when the client leaves meanwhile and this future is dropped: work
    /// that was begun is never cut at whatever await it has reached.
    async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Refusal> {
        let now = self.stop.now.clone();
        let work = async move { now.run_until_cancelled(work).await }.instrument(Span::current());
        let task = match &self.workers {
            Some(workers) => self.tasks.spawn_on(work, workers),
            None => self.tasks.spawn(work),
        };
        match task.await {
            Ok(Some(output)) => Ok(output),
            Ok(None) => Err(Refusal::ShuttingDown),
            Err(error) => {
                tracing::error!(panicked = error.is_panic(), "the work of a request broke off");
                Err(Refusal::WorkBroke)
            }
        }
    }
}
