//! Agents inside servers that somebody else runs.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use agui_auth::Authenticator;
use agui_core::RunRequest;
use agui_transport::{
    AguiService, Limits, Route, RouteReply, RouteRequest, Server, ServerError, Stopped, Timeouts, Upgrade,
    router,
};
use axum::Router;
use axum::routing::get;
use bytes::{Buf, Bytes};
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Frame};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tower_service::Service as _;

use crate::agents::{Census, PARROT, STARTED, Scripted, begin, parrot, silent};
use crate::client::{Answer, Client};
use crate::rig::{INPUT, envelope, eventually, post, request, run_request};

/// An axum application on a free loopback port; dropped, it is gone.
struct App {
    addr: SocketAddr,
    serving: JoinHandle<()>,
}

impl App {
    async fn start(app: Router) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { addr, serving }
    }

    async fn connect(&self) -> Client {
        Client::connect(self.addr).await
    }

    async fn exchange(&self, request: impl AsRef<[u8]>) -> Answer {
        self.connect().await.exchange(request).await
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn service(agent: impl agui_core::Agent) -> AguiService {
    Server::builder(Arc::new(agent)).into_service().unwrap()
}

#[tokio::test]
async fn an_agent_lives_beside_the_routes_of_an_application() {
    let app = Router::new().route("/", get(|| async { "front page" })).nest("/agent", router(parrot()));
    let app = App::start(app).await;
    let look = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(app.exchange(look("/")).await.body, "front page");
    let run = app.exchange(post("/agent", INPUT)).await;
    assert_eq!((run.head.status, run.body.as_str()), (200, PARROT));
    assert_eq!(run.head.header("content-type").as_deref(), Some("text/event-stream"));
    assert_eq!(app.exchange(look("/agent/health")).await.body, r#"{"status":"ok","protocol":"ag-ui"}"#);
    let refused = app.exchange(post("/agent", "{")).await;
    assert_eq!(
        (refused.head.status, refused.body),
        (400, envelope("INVALID_JSON", "The request body is not valid JSON."))
    );
    let method = app.exchange(look("/agent")).await;
    assert_eq!((method.head.status, method.head.header("allow").as_deref()), (405, Some("POST")));
    assert_eq!(app.exchange(look("/agent/nope")).await.body, "");
}

#[tokio::test]
async fn what_a_server_checks_is_checked_in_an_application_too() {
    let agent = Server::builder(Arc::new(parrot()))
        .run_path("/runs")
        .authenticator(Authenticator::bearer("s3cret").unwrap())
        .allow_origin("https://app.example")
        .limits(Limits::new().with_max_run_body_bytes(100))
        .into_router()
        .unwrap();
    let app = App::start(agent).await;
    let token = "Authorization: Bearer s3cret";
    let json = "Content-Type: application/json";
    let large = " ".repeat(101);
    for (headers, body, status) in [
        (&[json, token][..], INPUT, 200),
        (&[json], INPUT, 401),
        (&[json, token, "Origin: https://evil.example"], INPUT, 403),
        (&[json, token, "Origin: https://app.example"], INPUT, 200),
        (&[json, token], &large, 413),
        (&["Content-Type: text/plain", token], INPUT, 415),
        (&[json, token, "Accept: text/html"], INPUT, 406),
    ] {
        let answer = app.exchange(request("POST /runs HTTP/1.1", headers, body)).await;
        assert_eq!(answer.head.status, status, "{headers:?}");
    }
}

#[tokio::test]
async fn a_stream_in_an_application_lives_as_long_as_its_reader() {
    let census = Census::default();
    let timeouts = Timeouts::new().with_heartbeat(Duration::from_millis(5));
    let service = Server::builder(Arc::new(silent(&census))).timeouts(timeouts).into_service().unwrap();
    let app = App::start(Router::new().route_service("/", service.clone())).await;
    let mut client = app.connect().await;
    client.send(run_request()).await;
    client.until(STARTED).await;
    client.until(": heartbeat\n\n").await;
    assert_eq!(service.activity().streams(), 1);
    drop(client);
    eventually(|| census.left() == 1 && service.activity().streams() == 0).await;
}

#[tokio::test]
async fn a_route_of_an_application_can_leave_http() {
    let agent = Server::builder(Arc::new(parrot())).route(Route::upgrade("/ws", |_: RouteRequest| async {
        RouteReply::Upgrade(Upgrade::new(http::HeaderMap::new(), |mut io, _| async move {
            let mut word = [0; 5];
            io.read_exact(&mut word).await.unwrap();
            io.write_all(&word).await.unwrap();
            io.shutdown().await.unwrap();
        }))
    }));
    let app = App::start(agent.into_router().unwrap()).await;
    let mut client = app.connect().await;
    client
        .send("GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello")
        .await;
    assert_eq!(client.head().await.status, 101);
    assert_eq!(client.rest().await, b"hello");
}

#[tokio::test]
async fn a_stop_refuses_what_is_new_and_ends_what_is_open() {
    let timeouts = Timeouts::new().with_shutdown(Duration::from_millis(50));
    let service =
        Server::builder(Arc::new(silent(&Census::default()))).timeouts(timeouts).into_service().unwrap();
    let app = App::start(Router::new().route_service("/", service.clone())).await;
    let mut client = app.connect().await;
    client.send(run_request()).await;
    client.until(STARTED).await;
    let stopping = tokio::spawn({
        let service = service.clone();
        async move { service.stop().await }
    });
    let last = "\"code\":\"SHUTTING_DOWN\"}\n\n\r\n0\r\n\r\n";
    client.until(last).await;
    assert_eq!(stopping.await.unwrap(), Stopped::Forced);
    assert_eq!(app.exchange(run_request()).await.head.status, 503);
    assert_eq!(service.stop().await, Stopped::Clean);
}

#[tokio::test]
async fn a_stream_that_does_not_end_is_cut_visibly() {
    let chatter = Scripted(|request: RunRequest| async move {
        let (mut sink, stream) = begin(&request);
        tokio::spawn(async move {
            for number in 0_u64.. {
                sink.ready().await;
                sink.send(agui_core::StepStarted::new(format!("s{number}")));
                sink.send(agui_core::StepFinished::new(format!("s{number}")));
            }
        });
        Ok(stream)
    });
    let timeouts = Timeouts::new().with_shutdown(Duration::from_millis(1));
    let mut service = Server::builder(Arc::new(chatter)).timeouts(timeouts).into_service().unwrap();
    let body = service.call(json_request(Full::<Bytes>::from(INPUT))).await.unwrap().into_body();
    let mut body = std::pin::pin!(body);
    assert!(body.frame().await.unwrap().is_ok());
    // Held, but not read: so it cannot hear the last call in time.
    let stopped = service.stop().await;
    assert_eq!(stopped, Stopped::Forced);
    let error = body.frame().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionAborted);
    assert!(body.frame().await.is_none());
}

fn json_request<B>(body: B) -> Request<B> {
    Request::post("/").header("content-type", "application/json").body(body).unwrap()
}

/// A body in pieces that are no `Bytes`.
struct Pieces(VecDeque<&'static [u8]>);

impl Body for Pieces {
    type Data = &'static [u8];
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<&'static [u8]>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }
}

#[tokio::test]
async fn a_service_takes_any_body() {
    let mut service = service(parrot());
    let pieces = Pieces(INPUT.as_bytes().chunks(5).collect());
    let answer = service.call(json_request(pieces)).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), PARROT);
    let answer =
        service.call(json_request(Full::new(Buf::chain(INPUT.as_bytes(), &b"]"[..])))).await.unwrap();
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    let health = Request::get("/health").body(Full::<Bytes>::default()).unwrap();
    let answer = service.call(health).await.unwrap();
    assert_eq!(answer.body().size_hint().exact(), Some(34));
    assert!(format!("{service:?} {:?}", answer.body()).starts_with("AguiService {"));
}

#[tokio::test]
async fn a_client_that_leaves_a_service_costs_its_run_the_reader() {
    let census = Census::default();
    let mut service = service(silent(&census));
    let answer = service.call(json_request(Full::<Bytes>::from(INPUT))).await.unwrap();
    assert_eq!((census.left(), service.activity().streams()), (0, 1));
    drop(answer);
    eventually(|| census.left() == 1).await;
    assert_eq!(service.stop().await, Stopped::Clean);
}

#[test]
fn a_pattern_that_axum_does_not_know_is_an_error() {
    let route = Route::get("/{name}.json", |_: RouteRequest| async { RouteReply::json(StatusCode::OK, &1) });
    let error = Server::builder(Arc::new(parrot())).route(route).into_router().unwrap_err();
    assert!(matches!(error, ServerError::Route { path, .. } if &*path == "/{name}.json"));
}
