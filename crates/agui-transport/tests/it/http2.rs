//! An agent inside a server that speaks HTTP/2.

use std::convert::Infallible;
use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agui_core::{Agent, RunRequest, RunSink};
use agui_transport::{
    AguiService, CancellationToken, Limits, Route, RouteReply, RouteRequest, Server, Stopped, Timeouts,
};
use bytes::Bytes;
use futures_util::stream;
use http::header::{CONNECTION, CONTENT_TYPE, UPGRADE};
use http::{Request, Response, StatusCode, Version};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tower_service::Service as _;

use crate::agents::{Census, PARROT, STARTED, Scripted, begin, finish, parrot, say, silent};
use crate::client::soon;
use crate::rig::{INPUT, Rig, envelope, eventually};
use crate::stream::torrent;

type Body = BoxBody<Bytes, Infallible>;

/// A server of HTTP/2 on a free loopback port; dropped, it is gone. Told to stop, it lets streams end.
struct App {
    addr: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

impl App {
    async fn start(service: AguiService) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let asked = stop.clone();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, service.clone(), asked.clone()));
            }
        });
        Self { addr, stop, serving }
    }

    /// A client that knows that the server speaks HTTP/2, and its connection.
    async fn connect(&self) -> (SendRequest<Body>, Line) {
        let stream = std::net::TcpStream::connect(self.addr).unwrap();
        stream.set_nonblocking(true).unwrap();
        let socket = stream.try_clone().unwrap();
        let stream = TcpStream::from_std(stream).unwrap();
        let connected = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
        let (client, connection) = soon(connected).await.unwrap();
        // What becomes of the connection shows in the answers.
        let task = tokio::spawn(async move { drop(connection.await) });
        (client, Line { task, socket })
    }
}

/// The connection of a client.
struct Line {
    task: JoinHandle<()>,
    socket: std::net::TcpStream,
}

impl Line {
    /// Breaks it, whatever goes on.
    fn cut(&self) {
        self.socket.shutdown(Shutdown::Both).unwrap();
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.serving.abort();
        self.stop.cancel();
    }
}

async fn serve(stream: TcpStream, service: AguiService, stop: CancellationToken) {
    let http = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service)));
    tokio::select! {
        _ = connection.as_mut() => return,
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

fn whole(body: impl Into<Bytes>) -> Body {
    Full::new(body.into()).boxed()
}

/// A body of this many bytes that does not say how long it is, in pieces that fill the frames of the protocol.
fn unannounced(bytes: usize) -> Body {
    let whole = vec![b'x'; bytes];
    let pieces: Vec<Bytes> = whole.chunks(16 * 1024).map(Bytes::copy_from_slice).collect();
    StreamBody::new(stream::iter(pieces.into_iter().map(|piece| Ok(Frame::data(piece))))).boxed()
}

fn run_of(body: Body) -> Request<Body> {
    Request::post("http://localhost/").header(CONTENT_TYPE, "application/json").body(body).unwrap()
}

async fn ask(client: &mut SendRequest<Body>, request: Request<Body>) -> Response<Incoming> {
    soon(client.ready()).await.unwrap();
    soon(client.send_request(request)).await.unwrap()
}

/// Reads until `text` has come, and gives everything up to there.
async fn until(body: &mut Incoming, text: &str) -> String {
    let mut read = String::new();
    while !read.contains(text) {
        let frame = soon(body.frame()).await.expect("the stream goes on").unwrap();
        read.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
    read
}

async fn rest(body: Incoming) -> String {
    String::from_utf8(soon(body.collect()).await.unwrap().to_bytes().to_vec()).unwrap()
}

/// Gives every run to the test.
fn handed_over(to: mpsc::UnboundedSender<(RunRequest, RunSink)>) -> impl Agent {
    Scripted(move |request: RunRequest| {
        let (sink, stream) = begin(&request);
        to.send((request, sink)).unwrap();
        async { Ok(stream) }
    })
}

#[tokio::test]
async fn runs_stream_side_by_side_on_one_connection() {
    let (to, mut runs) = mpsc::unbounded_channel();
    let timeouts = Timeouts::new().with_heartbeat(Duration::from_millis(5));
    let service = Server::builder(Arc::new(handed_over(to))).timeouts(timeouts).into_service().unwrap();
    let app = App::start(service.clone()).await;
    let (mut client, _line) = app.connect().await;

    let first = ask(&mut client, run_of(whole(INPUT))).await;
    assert_eq!((first.status(), first.version()), (StatusCode::OK, Version::HTTP_2));
    assert_eq!(first.headers()[CONTENT_TYPE], "text/event-stream");
    let mut first = first.into_body();
    until(&mut first, STARTED).await;
    let mut second = ask(&mut client, run_of(whole(INPUT))).await.into_body();
    assert_eq!(service.activity().streams(), 2);
    let (request, first_sink) = runs.recv().await.unwrap();
    let (_, mut second_sink) = runs.recv().await.unwrap();

    // The second one comes to its end while the first one is silent.
    until(&mut first, ": heartbeat\n\n").await;
    say(&mut second_sink, "m1", &["hi"]);
    until(&mut second, "\"delta\":\"hi\"").await;
    finish(&request, second_sink);
    assert!(
        rest(second).await.ends_with("\"type\":\"RUN_FINISHED\",\"threadId\":\"t1\",\"runId\":\"r1\"}\n\n")
    );
    finish(&request, first_sink);
    assert!(rest(first).await.contains("RUN_FINISHED"));
    eventually(|| service.activity().streams() == 0).await;
}

#[tokio::test]
async fn limits_hold_and_a_refusal_leaves_the_connection_to_others() {
    let limits = Limits::new().with_max_run_body_bytes(1_000);
    let service = Server::builder(Arc::new(parrot()))
        .limits(limits)
        .allow_host("localhost")
        .route(Route::upgrade("/ws", |_: RouteRequest| async { RouteReply::json(StatusCode::OK, &1) }))
        .into_service()
        .unwrap();
    let app = App::start(service).await;
    let (mut client, _line) = app.connect().await;
    let too_large = envelope("REQUEST_TOO_LARGE", "The AG-UI request body is too large.");
    let elsewhere = Request::post("http://evil.example/").body(whole("{}")).unwrap();
    let socket = Request::get("http://localhost/ws").body(whole("")).unwrap();
    for (request, status, expected) in [
        (run_of(whole(vec![b'x'; 1_001])), 413, Some(too_large.as_str())),
        // Far more than fits into the windows of the protocol, so it is refused while it still comes.
        (run_of(unannounced(1_000_000)), 413, Some(&too_large)),
        (elsewhere, 403, None),
        (socket, 426, None),
        (run_of(whole(INPUT)), 200, Some(PARROT)),
    ] {
        let answer = ask(&mut client, request).await;
        assert_eq!(answer.status(), status);
        let body = rest(answer.into_body()).await;
        assert!(expected.is_none_or(|expected| body == expected), "{status}: {body}");
    }
}

#[tokio::test]
async fn answers_say_nothing_about_the_connection() {
    let limits = Limits::new().with_max_run_body_bytes(10);
    let socket = Route::upgrade("/ws", |_: RouteRequest| async { RouteReply::json(StatusCode::OK, &1) });
    let mut service =
        Server::builder(Arc::new(parrot())).limits(limits).route(socket).into_service().unwrap();
    for (version, told) in [(Version::HTTP_11, true), (Version::HTTP_2, false)] {
        for (request, status) in [
            // Longer than anybody reads on.
            (run_of(unannounced(1_000)), StatusCode::PAYLOAD_TOO_LARGE),
            (Request::get("/ws").body(whole("")).unwrap(), StatusCode::UPGRADE_REQUIRED),
        ] {
            let (mut head, body) = request.into_parts();
            head.version = version;
            let answer = service.call(Request::from_parts(head, body)).await.unwrap();
            assert_eq!(answer.status(), status);
            assert_eq!(answer.headers().contains_key(CONNECTION), told, "{version:?} {status}");
            let upgrades = told && status == StatusCode::UPGRADE_REQUIRED;
            assert_eq!(answer.headers().contains_key(UPGRADE), upgrades, "{version:?} {status}");
        }
    }
}

#[tokio::test]
async fn a_client_that_leaves_a_stream_leaves_that_one_and_with_the_connection_all() {
    let census = Census::default();
    let service = Server::builder(Arc::new(silent(&census))).into_service().unwrap();
    let app = App::start(service.clone()).await;
    let (mut client, line) = app.connect().await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut body = ask(&mut client, run_of(whole(INPUT))).await.into_body();
        until(&mut body, STARTED).await;
        streams.push(body);
    }
    streams.pop();
    eventually(|| census.left() == 1 && service.activity().streams() == 2).await;
    line.cut();
    eventually(|| census.left() == 3 && service.activity().streams() == 0).await;
    drop(streams);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_takes_nothing_holds_its_agent_back_and_no_other_stream() {
    const DELTAS: usize = 5_000;
    const DELTA_BYTES: usize = 4096;
    /// What may be on its way: the windows of the protocol, and little of ours.
    const IN_FLIGHT_BYTES: usize = 8 * 1024 * 1024;
    let sent = Arc::new(AtomicUsize::new(0));
    let service = Server::builder(Arc::new(torrent(&sent, DELTAS, DELTA_BYTES))).into_service().unwrap();
    let app = App::start(service).await;
    let (mut client, _line) = app.connect().await;
    let mut body = ask(&mut client, run_of(whole(INPUT))).await.into_body();
    let begun = until(&mut body, STARTED).await;
    let health = Request::get("http://localhost/health").body(whole("")).unwrap();
    assert_eq!(ask(&mut client, health).await.status(), StatusCode::OK);
    let (mut lines, mut read) = (begun.matches('\n').count(), begun.len());
    while let Some(frame) = soon(body.frame()).await {
        let data = frame.unwrap().into_data().unwrap();
        read += data.len();
        let ahead = (sent.load(Ordering::Acquire) * DELTA_BYTES).saturating_sub(read);
        assert!(ahead < IN_FLIGHT_BYTES, "{ahead} bytes were taken from the agent and not read");
        lines += data.iter().filter(|byte| **byte == b'\n').count();
    }
    // Two line ends an event: the deltas, and the beginnings and ends of their message and the run.
    assert_eq!(lines, 2 * (DELTAS + 4));
}

#[tokio::test]
async fn a_stop_ends_open_streams_with_an_event_and_refuses_new_ones() {
    let timeouts = Timeouts::new().with_shutdown(Duration::from_millis(50));
    let service =
        Server::builder(Arc::new(silent(&Census::default()))).timeouts(timeouts).into_service().unwrap();
    let app = App::start(service.clone()).await;
    let (mut client, line) = app.connect().await;
    let mut open = ask(&mut client, run_of(whole(INPUT))).await.into_body();
    until(&mut open, STARTED).await;
    let stopping = tokio::spawn({
        let service = service.clone();
        async move { service.stop().await }
    });
    let last = until(&mut open, "SHUTTING_DOWN").await;
    assert!(last.ends_with("\"code\":\"SHUTTING_DOWN\"}\n\n"), "{last}");
    assert_eq!(rest(open).await, "");
    assert_eq!(stopping.await.unwrap(), Stopped::Forced);
    assert_eq!(ask(&mut client, run_of(whole(INPUT))).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    let health = Request::get("http://localhost/health").body(whole("")).unwrap();
    assert_eq!(ask(&mut client, health).await.status(), StatusCode::OK);
    app.stop.cancel();
    soon(line.task).await.unwrap();
}

#[tokio::test]
async fn a_server_of_http_1_ends_a_connection_that_speaks_http_2() {
    let rig = Rig::start(parrot()).await;
    let mut client = rig.connect().await;
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    client.closed().await;
    rig.deserted().await;
}
