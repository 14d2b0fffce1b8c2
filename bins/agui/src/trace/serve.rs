//! A trace as an endpoint.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agui_core::{Agent, BoxFuture, Json, Problem, RunRequest, RunStream};
use agui_iac_code::MessageKey;
use agui_transport::{AguiService, Route, RouteReply, RouteRequest, Server, SseRecord};
use anyhow::{Context as _, Result};
use futures_util::{Stream, StreamExt as _, stream};
use http::StatusCode;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, sleep_until};

mod connection;

use super::lines::{Ending, Exchange, Payload};
use crate::exit::Exit;
use crate::flags::{Pace, ReplayFlags};

/// Largest request, 64 MiB: whole histories with images.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// Pause after a connection that could not be accepted, 50 ms.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Where the server has the route of runs, which a replay has no use for: records go out as they were
/// recorded, so past the repairs of that route.
const UNUSED_PATH: &str = "/.well-known/agui-replay";

/// Serves until Ctrl-C.
pub(super) async fn run(exchanges: Vec<Exchange>, flags: &ReplayFlags) -> Result<Exit> {
    let mut paths: BTreeSet<String> = exchanges.iter().map(|exchange| path_of(&exchange.path)).collect();
    paths.insert("/".to_owned());
    let tape =
        Arc::new(Tape { exchanges, next: AtomicUsize::new(0), pace: flags.pace, keep_ids: flags.keep_ids });
    let mut builder = Server::builder(Arc::new(Nobody)).run_path(UNUSED_PATH).allow_public_without_auth();
    for path in paths {
        let tape = Arc::clone(&tape);
        let route = Route::post(path, move |request: RouteRequest| {
            let tape = Arc::clone(&tape);
            async move { tape.answer(&request) }
        });
        builder = builder.route(
            route.with_max_body_bytes(MAX_BODY_BYTES, MessageKey::RunBodyTooLarge).with_event_stream(),
        );
    }
    // As a server on its own has it: a page whose name was bound to this machine is not let in.
    if flags.host.is_loopback() {
        builder = builder.allow_host("localhost");
    }
    let service = builder.into_service()?;
    let address = SocketAddr::new(flags.host, flags.port);
    let listener = TcpListener::bind(address).await.with_context(|| format!("listening on {address}"))?;
    let mut out = io::stdout();
    writeln!(out, "http://{}/", listener.local_addr()?)?;
    out.flush()?;
    tokio::select! {
        never = accept(&listener, &service) => match never {},
        signal = tokio::signal::ctrl_c() => {
            signal?;
            Ok(Exit::Success)
        }
    }
}

/// Serves whoever comes.
async fn accept(listener: &TcpListener, service: &AguiService) -> Infallible {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(connection::serve(stream, service.clone()))),
            // Most likely there are too many; some of them will end.
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// A path that can be a route; braces and stars have a meaning there.
fn path_of(target: &str) -> String {
    let path = target.split('?').next().unwrap_or_default();
    let is_plain = path.starts_with('/') && !path.contains(['{', '}', '*']);
    if is_plain { path.to_owned() } else { "/".to_owned() }
}

/// The exchanges, handed out in order and over again.
struct Tape {
    exchanges: Vec<Exchange>,
    next: AtomicUsize,
    pace: Pace,
    keep_ids: bool,
}

impl Tape {
    fn answer(&self, request: &RouteRequest) -> RouteReply {
        let index = self.next.fetch_add(1, Ordering::Relaxed) % self.exchanges.len().max(1);
        let Some(exchange) = self.exchanges.get(index) else {
            return RouteReply::Problem(Problem::new(404, "NOTHING_RECORDED", "The trace is empty."));
        };
        let status = StatusCode::from_u16(exchange.status).unwrap_or(StatusCode::OK);
        if !status.is_success() {
            return RouteReply::json(status, &exchange.body);
        }
        let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let ids = Ids::new(exchange, &asked);
        let record = |(at_ms, payload): &(f64, Payload)| {
            let data = match payload {
                Payload::Json(event) if self.keep_ids => event.get().to_owned(),
                Payload::Json(event) => ids.renamed(event),
                // A record is one line.
                Payload::Text(text) => text.replace(['\r', '\n'], " "),
            };
            (Duration::from_secs_f64(at_ms / 1e3), data)
        };
        let records: Vec<(Duration, String)> = exchange.records.iter().map(record).collect();
        RouteReply::records(played(records, exchange.ending, self.pace))
    }
}

/// Records at their times, then the end: that of a stream that was cut cuts its connection.
fn played(
    records: Vec<(Duration, String)>,
    ending: Option<Ending>,
    pace: Pace,
) -> impl Stream<Item = SseRecord> + Send + 'static {
    let begun = Instant::now();
    let due = move |at: Duration| async move {
        if pace == Pace::Original {
            sleep_until(begun + at).await;
        }
    };
    let records = stream::iter(records).then(move |(at, data)| async move {
        due(at).await;
        SseRecord::new(data)
    });
    let end = stream::once(async move {
        if let Some(ending) = ending {
            due(Duration::from_secs_f64(ending.at_ms / 1e3)).await;
            if ending.is_cut {
                connection::cut().await;
            }
        }
    });
    records.chain(end.filter_map(|()| async { None }))
}

/// The ids of the recording and those of the request.
struct Ids {
    pairs: Vec<(String, String)>,
}

impl Ids {
    fn new(exchange: &Exchange, asked: &Value) -> Self {
        let started = exchange.records.iter().find_map(|(_, payload)| match payload {
            Payload::Json(event) => {
                event.parse::<Value>().ok().filter(|event| event["type"] == "RUN_STARTED")
            }
            Payload::Text(_) => None,
        });
        let recorded = started.as_ref().unwrap_or(&exchange.request);
        let pair = |key: &str| {
            let id = |value: &Value| value.get(key).and_then(Value::as_str).map(str::to_owned);
            Some((id(recorded)?, id(asked)?))
        };
        Self { pairs: ["threadId", "runId"].into_iter().filter_map(pair).collect() }
    }

    /// The event with the ids of the request, wherever it names the thread or the run; others keep their text.
    fn renamed(&self, event: &Json) -> String {
        let Ok(given) = event.parse::<Value>() else { return event.get().to_owned() };
        let mut renamed = given.clone();
        for pointer in ["", "/input"] {
            let Some(Value::Object(members)) = renamed.pointer_mut(pointer) else { continue };
            for key in ["threadId", "runId"] {
                if let Some(Value::String(id)) = members.get_mut(key)
                    && let Some((_, asked)) = self.pairs.iter().find(|(recorded, _)| recorded == id)
                {
                    id.clone_from(asked);
                }
            }
        }
        if renamed == given { event.get().to_owned() } else { renamed.to_string() }
    }
}

/// Behind the route that has no use.
struct Nobody;

impl Agent for Nobody {
    fn run(&self, _: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async { Err(Problem::new(404, "NOT_FOUND", "A replay has its runs elsewhere.")) })
    }
}
