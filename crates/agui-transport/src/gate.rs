//! What every request passes, in this order.

use std::sync::Arc;

use agui_auth::Authenticator;
use agui_core::{Agent, DecodeError, RunAgentInput, RunRequest};
use agui_i18n::Language;
use agui_iac_code::MessageKey;
use bytes::Bytes;
use http::header::{ACCEPT_LANGUAGE, AUTHORIZATION, CONNECTION, COOKIE, PROXY_AUTHORIZATION, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, Version};
use hyper::body::Body;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::activity::Activity;
use crate::answer::AnswerBody;
use crate::echo::Ids;
use crate::health::Probe;
use crate::intake::{self, Intake};
use crate::media::Encoding;
use crate::refusal::Refusal;
use crate::request_log::RequestLog;
use crate::route::{Route, RouteRequest};
use crate::route_table::{RouteTable, Target};
use crate::sessions::Sessions;
use crate::site::{self, Site};
use crate::socket::Wire;
use crate::{CALLER, EchoHeaders, ErrorMode, Limits, Timeouts};
use crate::{media, upgrade};

/// Body size from which decoding leaves the event loop, in bytes (256 KiB, about 1 ms of parsing):
/// a large request must not delay the streams and probes of others.
const DECODE_ELSEWHERE_BYTES: usize = 256 * 1024;

/// Completes the head of a request.
pub(crate) type PrepareHead = Box<dyn Fn(&mut Parts) + Send + Sync>;

/// Everything that the requests of a server share.
pub(crate) struct Gate {
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) authenticator: Authenticator,
    pub(crate) sessions: Option<Sessions>,
    pub(crate) site: Site,
    pub(crate) routes: RouteTable,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    /// Whether the events of the run route get `id` lines.
    pub(crate) numbered_events: bool,
    /// Whether the agent gets to see `Authorization`.
    pub(crate) shows_authorization: bool,
    /// Whether a body is taken as JSON although it is not announced so.
    pub(crate) any_json: bool,
    /// How refusals are sent as events; `None` is the JSON envelope.
    pub(crate) errors: Option<ErrorMode>,
    pub(crate) echo: Option<EchoHeaders>,
    /// Where the agent and the handlers work, if not here.
    pub(crate) workers: Option<Handle>,
    pub(crate) prepare: Option<PrepareHead>,
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
pub(crate) enum Passed {
    Probe(Probe),
    Preflight(HeaderMap),
    Run(Box<RunRequest>),
    Extension(Arc<Route>, Box<RouteRequest>),
}

/// What is known of a request while it is answered.
pub(crate) struct Visit {
    pub(crate) language: Language,
    pub(crate) wire: Arc<Wire>,
    pub(crate) ids: Ids,
    /// Whether its route answers with events.
    pub(crate) streams: bool,
    /// How the events of its run are written.
    pub(crate) encoding: Encoding,
    pub(crate) log: RequestLog,
}

impl Gate {
    /// Answers a request, whatever it is.
    pub(crate) async fn answer<B: Body + Unpin>(
        self: Arc<Self>,
        request: Request<B>,
        seat: Seat,
        wire: Arc<Wire>,
    ) -> Response<AnswerBody> {
        let (mut head, body) = request.into_parts();
        if let Some(prepare) = &self.prepare {
            prepare(&mut head);
        }
        let ids = self.echo.as_ref().map_or_else(Ids::default, |echo| echo.read(&mut head.headers));
        let visit = Visit {
            language: agui_i18n::choose(None, accept_language(&head.headers)),
            wire,
            ids: ids.clone(),
            streams: false,
            encoding: Encoding::Text,
            log: RequestLog::new(head.method.clone(), ids.clone()),
        };
        let span = ids.span();
        let mut response = self.attend(&mut head, Intake::new(body), seat, visit).instrument(span).await;
        if head.version >= Version::HTTP_2 {
            // One connection carries many requests there, and its headers say nothing about it (RFC 9113, 8.2.2).
            response.headers_mut().remove(CONNECTION);
            response.headers_mut().remove(UPGRADE);
        }
        self.site.mark(&head.headers, response.headers_mut());
        if let Some(echo) = &self.echo {
            echo.mark(&ids, response.headers_mut());
        }
        response
    }

    async fn attend<B: Body + Unpin>(
        &self,
        head: &mut Parts,
        mut intake: Intake<B>,
        seat: Seat,
        mut visit: Visit,
    ) -> Response<AnswerBody> {
        let wire = Arc::clone(&visit.wire);
        let mut response = match self.pass(head, &mut intake, seat, &mut visit).await {
            Ok(passed) => self.carry_out(passed, head.extensions.remove(), visit).await,
            Err(refusal) => self.refuse(&refusal, visit),
        };
        if !intake.skip(&head.headers).await {
            wire.leave_body_unread();
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// All checks, from those that a stranger must not get past to those that cost most.
    async fn pass<B: Body + Unpin>(
        &self,
        head: &Parts,
        intake: &mut Intake<B>,
        seat: Seat,
        visit: &mut Visit,
    ) -> Result<Passed, Refusal> {
        self.site.check_host(head)?;
        self.site.check_origin(&head.headers)?;

        let found = self.routes.find(head.uri.path())?;
        visit.log.routed(&found.path.pattern);
        if self.site.is_preflight(head) {
            return Ok(Passed::Preflight(site::preflight_headers(&head.headers, found.path.allow())));
        }
        let target = found.path.target(&head.method)?;
        if let Target::Probe(probe) = target {
            return Ok(Passed::Probe(probe));
        }

        visit.streams = target.streams();
        if seat == Seat::Standing {
            return Err(Refusal::Busy);
        }
        self.check_running()?;
        let caller = if target.needs_auth() {
            self.authenticator.check(head).await.map_err(Refusal::Denied)?
        } else {
            None
        };
        // Nobody uses up the allowance of a session who has not proved who it is, which may take the body.
        let is_proved_by_body = self.authenticator.needs_body();
        if !is_proved_by_body {
            self.take_allowance(head, &target)?;
        }
        let body = self.take_body(head, intake, &target).await?;
        if is_proved_by_body {
            self.take_allowance(head, &target)?;
        }
        // The body may have taken a while.
        self.check_running()?;

        if let Target::Extension(route) = target {
            let request = RouteRequest {
                params: found.params,
                query: head.uri.query().map(Into::into),
                headers: head.headers.clone(),
                caller,
                body,
                language: visit.language,
            };
            return Ok(Passed::Extension(route, Box::new(request)));
        }
        let accept_language = accept_language(&head.headers);
        let (input, body) = self.decode(body).await.map_err(|fault| fault.refusal(accept_language))?;
        visit.log.names(&input.thread_id, &input.run_id);
        visit.encoding = media::encoding(&head.headers);
        let mut request = with_headers(RunRequest::new(input, body), &head.headers, self.shows_authorization);
        if let Some(caller) = caller {
            request = request.with_header(CALLER, caller.as_str());
        }
        Ok(Passed::Run(Box::new(request)))
    }

    /// Takes one call off the allowance of the session, if the request begins something.
    fn take_allowance(&self, head: &Parts, target: &Target) -> Result<(), Refusal> {
        match &self.sessions {
            Some(sessions) if target.starts_work() => sessions.check(&head.headers),
            _ => Ok(()),
        }
    }

    /// Checks what the request carries and wants to read, and reads what it carries.
    async fn take_body<B: Body + Unpin>(
        &self,
        head: &Parts,
        intake: &mut Intake<B>,
        target: &Target,
    ) -> Result<Bytes, Refusal> {
        let cap = target.body_cap(&self.limits);
        if cap.is_some() {
            let check = if self.any_json { media::check_may_be_json } else { media::check_json };
            check(&head.headers)?;
        }
        match target {
            Target::Run if media::encoding(&head.headers) == Encoding::Binary => {}
            _ if target.streams() => media::check_accepts_events(&head.headers)?,
            _ => {}
        }
        if target.upgrades() {
            upgrade::check_asked(head)?;
            if !intake.skip(&head.headers).await {
                return Err(Refusal::TooLarge(MessageKey::RunBodyTooLarge));
            }
        }
        let body = match cap {
            Some(cap) => intake.read(cap, self.timeouts.body).await?,
            None => Bytes::new(),
        };
        if target.needs_auth() && self.authenticator.needs_body() {
            self.authenticator.check_body(head, &body).map_err(Refusal::Denied)?;
        }
        Ok(intake::without_mark(body))
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
        Err(error) => Err(Undecodable::Input(error, agui_iac_code::preferred_language(&body))),
    }
}

fn accept_language(headers: &HeaderMap) -> Option<&str> {
    headers.get(ACCEPT_LANGUAGE)?.to_str().ok()
}

/// Adds the headers that an agent gets to see: all that are text and prove nothing about the caller, unless it
/// is to see `Authorization`.
fn with_headers(mut request: RunRequest, headers: &HeaderMap, shows_authorization: bool) -> RunRequest {
    const CREDENTIALS: [HeaderName; 3] = [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE];
    request.accept_language = accept_language(headers).map(Into::into);
    let shown = headers
        .iter()
        .filter(|(name, _)| !CREDENTIALS.contains(name) || (shows_authorization && **name == AUTHORIZATION));
    request
        .headers
        .extend(shown.filter_map(|(name, value)| Some((name.as_str().into(), value.to_str().ok()?.into()))));
    request
}
