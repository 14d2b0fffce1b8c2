//! What every request passes, in this order.

use std::future::Future;
use std::sync::Arc;

use agui_auth::Authenticator;
use agui_core::{Agent, DecodeError, RunAgentInput, RunRequest};
use agui_i18n::Language;
use bytes::Bytes;
use http::header::{ACCEPT_LANGUAGE, AUTHORIZATION, CONNECTION, COOKIE, PROXY_AUTHORIZATION};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use hyper::body::Incoming;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::activity::Activity;
use crate::answer::{self, AnswerBody};
use crate::event_body::{EventBody, Source};
use crate::health::Health;
use crate::intake::Intake;
use crate::media;
use crate::refusal::Refusal;
use crate::request_log::RequestLog;
use crate::route::{Route, RouteReply, RouteRequest};
use crate::route_table::{RouteTable, Target};
use crate::site::{self, Site};
use crate::socket::Wire;
use crate::words;
use crate::{Limits, Timeouts};

/// Body size from which decoding leaves the event loop, in bytes (256 KiB, about 1 ms of parsing):
/// a large request must not delay the streams and probes of others.
const DECODE_ELSEWHERE_BYTES: usize = 256 * 1024;

/// Everything that the requests of a server share.
pub(crate) struct Gate {
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) authenticator: Authenticator,
    pub(crate) site: Site,
    pub(crate) routes: RouteTable,
    pub(crate) health: Box<dyn Fn() -> Health + Send + Sync>,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    /// Whether the events of the run route get `id` lines.
    pub(crate) numbered_events: bool,
    pub(crate) activity: Activity,
    pub(crate) stop: Stop,
    pub(crate) tasks: TaskTracker,
}

/// The steps of a shutdown; each is cancelled after the one before it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    /// Nothing new is begun.
    pub(crate) asked: CancellationToken,
    /// Streams that are still open end now.
    pub(crate) last_call: CancellationToken,
    /// Whatever is left is dropped.
    pub(crate) now: CancellationToken,
}

impl Stop {
    /// The same steps, for one of many that wait for them.
    pub(crate) fn child(&self) -> Self {
        Self {
            asked: self.asked.child_token(),
            last_call: self.last_call.child_token(),
            now: self.now.child_token(),
        }
    }
}

/// Whether a connection is within the cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seat {
    /// Served in full.
    Regular,
    /// Over the cap: only the health route answers.
    Standing,
}

/// A request that passed every check.
enum Passed {
    Health,
    Preflight(HeaderMap),
    Run(Box<RunRequest>),
    Extension(Arc<Route>, Box<RouteRequest>),
}

impl Gate {
    /// Answers a request, whatever it is.
    pub(crate) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        seat: Seat,
        wire: Arc<Wire>,
    ) -> Response<AnswerBody> {
        let (head, body) = request.into_parts();
        let mut intake = Intake::new(body);
        let mut log = RequestLog::new(head.method.clone());
        let language = agui_i18n::choose(None, accept_language(&head.headers));
        let mut response = match self.pass(&head, &mut intake, seat, language, &mut log).await {
            Ok(passed) => self.carry_out(passed, language, &wire, log).await,
            Err(refusal) => answer::refuse(&refusal, language, log),
        };
        if !intake.skip(&head.headers).await {
            wire.leave_body_unread();
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        self.site.mark(&head.headers, response.headers_mut());
        response
    }

    /// All checks, from those that a stranger must not get past to those that cost most.
    async fn pass(
        &self,
        head: &Parts,
        intake: &mut Intake,
        seat: Seat,
        language: Language,
        log: &mut RequestLog,
    ) -> Result<Passed, Refusal> {
        self.site.check_host(head)?;
        self.site.check_origin(&head.headers)?;

        let found = self.routes.find(head.uri.path())?;
        log.routed(&found.path.pattern);
        if self.site.is_preflight(head) {
            return Ok(Passed::Preflight(site::preflight_headers(&head.headers, found.path.allow())));
        }
        let target = found.path.target(&head.method)?;
        if matches!(target, Target::Health) {
            return Ok(Passed::Health);
        }

        if seat == Seat::Standing {
            return Err(Refusal::Busy);
        }
        self.check_running()?;
        self.authenticator.check(head).map_err(Refusal::Denied)?;

        let body_cap = target.body_cap(&self.limits);
        if body_cap.is_some() {
            media::check_json(&head.headers)?;
        }
        if target.streams() {
            media::check_accepts_events(&head.headers)?;
        }
        let body = match body_cap {
            Some(cap) => intake.read(cap, self.timeouts.body).await?,
            None => Bytes::new(),
        };
        // The body may have taken a while.
        self.check_running()?;

        match target {
            Target::Extension(route) => {
                let request = RouteRequest {
                    params: found.params,
                    query: head.uri.query().map(Into::into),
                    headers: head.headers.clone(),
                    body,
                    language,
                };
                Ok(Passed::Extension(route, Box::new(request)))
            }
            Target::Run | Target::Health => {
                let accept_language = accept_language(&head.headers);
                let (input, body) =
                    self.decode(body).await.map_err(|fault| fault.refusal(accept_language))?;
                log.names(&input.thread_id, &input.run_id);
                let request = with_headers(RunRequest::new(input, body), &head.headers);
                Ok(Passed::Run(Box::new(request)))
            }
        }
    }

    /// Does what was asked and words the outcome.
    async fn carry_out(
        &self,
        passed: Passed,
        language: Language,
        wire: &Arc<Wire>,
        mut log: RequestLog,
    ) -> Response<AnswerBody> {
        let numbered = self.numbered_events && matches!(passed, Passed::Run(_));
        let reply = match passed {
            Passed::Health => {
                log.hush();
                let health = (self.health)();
                return answer::json(health.status, health.body, log);
            }
            Passed::Preflight(headers) => return answer::preflight(headers, log),
            Passed::Run(request) => {
                let agent = Arc::clone(&self.agent);
                let run = self.to_the_end(async move { agent.run(*request).await }).await;
                run.map(|started| started.map_or_else(RouteReply::Problem, RouteReply::Run))
            }
            Passed::Extension(route, request) => self.to_the_end(route.handler.handle(*request)).await,
        };
        let source = match reply {
            Ok(RouteReply::Json { status, body }) => return answer::json(status, body, log),
            Ok(RouteReply::Problem(problem)) => {
                return answer::refuse(&Refusal::Problem(problem), language, log);
            }
            Ok(RouteReply::Run(stream)) if numbered => Source::numbered_run(stream),
            Ok(RouteReply::Run(stream)) => Source::run(stream),
            Ok(RouteReply::Records(records)) => Source::Records(records),
            Err(refusal) => return answer::refuse(&refusal, language, log),
        };
        let counted = self.activity.enter_stream();
        let heartbeat = self.timeouts.heartbeat;
        answer::events(EventBody::new(source, heartbeat, Arc::clone(wire), language, counted, log))
    }

    /// Lets `work` finish even when the client leaves meanwhile and this future is dropped: work
    /// that was begun is never cut at whatever await it has reached.
    async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Refusal> {
        let now = self.stop.now.clone();
        let task = self.tasks.spawn(async move { now.run_until_cancelled(work).await });
        match task.await {
            Ok(Some(output)) => Ok(output),
            Ok(None) => Err(Refusal::ShuttingDown),
            Err(error) => {
                tracing::error!(panicked = error.is_panic(), "the work of a request broke off");
                Err(Refusal::Internal)
            }
        }
    }

    async fn decode(&self, body: Bytes) -> Result<(RunAgentInput, Bytes), Undecodable> {
        if body.len() < DECODE_ELSEWHERE_BYTES {
            return decode(body);
        }
        self.tasks.spawn_blocking(|| decode(body)).await.unwrap_or(Err(Undecodable::Broken))
    }

    fn check_running(&self) -> Result<(), Refusal> {
        if self.stop.asked.is_cancelled() { Err(Refusal::ShuttingDown) } else { Ok(()) }
    }
}

/// Why there is no run input.
enum Undecodable {
    /// It is not one. With the language it asks for, if that could be read.
    Input(DecodeError, Option<String>),
    /// The decoder broke off.
    Broken,
}

impl Undecodable {
    fn refusal(self, accept_language: Option<&str>) -> Refusal {
        match self {
            Self::Input(error, preferred) => {
                Refusal::Input(error, agui_i18n::choose(preferred.as_deref(), accept_language))
            }
            Self::Broken => Refusal::Internal,
        }
    }
}

fn decode(body: Bytes) -> Result<(RunAgentInput, Bytes), Undecodable> {
    match RunAgentInput::decode(&body) {
        Ok(input) => Ok((input, body)),
        Err(error) => Err(Undecodable::Input(error, words::preferred_language(&body))),
    }
}

fn accept_language(headers: &HeaderMap) -> Option<&str> {
    headers.get(ACCEPT_LANGUAGE)?.to_str().ok()
}

/// Adds the headers that an agent gets to see: all that are text and prove nothing about the caller.
fn with_headers(mut request: RunRequest, headers: &HeaderMap) -> RunRequest {
    const CREDENTIALS: [HeaderName; 3] = [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE];
    request.accept_language = accept_language(headers).map(Into::into);
    let shown = headers.iter().filter(|(name, _)| !CREDENTIALS.contains(name));
    request
        .headers
        .extend(shown.filter_map(|(name, value)| Some((name.as_str().into(), value.to_str().ok()?.into()))));
    request
}
