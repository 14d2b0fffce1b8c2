//! Connections that go on as something else than HTTP.

use std::time::Duration;

use agui_auth::Authenticator;
use agui_core::Problem;
use agui_transport::{
    Limits, Route, RouteReply, RouteRequest, ServerBuilder, Stopped, Timeouts, Upgrade, UpgradeStop, Upgraded,
};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::agents::parrot;
use crate::client::Client;
use crate::rig::{Rig, envelope, eventually, run_request};

/// A request for the change, without the empty line at its end.
const ASK: &str =
    "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n";
const GREETED: &str = "HTTP/1.1 101 Switching Protocols\r\nsec-websocket-accept: x\r\nupgrade: websocket\r\nconnection: Upgrade\r\n";
const BUSY: &str = "The server is busy. Try again later.";

/// Adds a route whose connections are served by `work`.
fn upgraded<F, Fut>(server: ServerBuilder, work: F) -> ServerBuilder
where
    F: Fn(Upgraded, UpgradeStop) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    server.route(Route::upgrade("/ws", move |_: RouteRequest| {
        let work = work.clone();
        async move {
            let mut headers = HeaderMap::new();
            headers.insert("sec-websocket-accept", HeaderValue::from_static("x"));
            RouteReply::Upgrade(Upgrade::new(headers, work))
        }
    }))
}

/// Sends back what comes, until the client closes or the server wants to stop.
async fn echo(mut io: Upgraded, stop: UpgradeStop) {
    let mut space = [0; 64];
    loop {
        let size = tokio::select! {
            size = io.read(&mut space) => size.unwrap_or(0),
            () = stop.asked.cancelled() => {
                io.write_all(b"bye").await.unwrap();
                0
            }
        };
        if size == 0 {
            break;
        }
        io.write_all(&space[..size]).await.unwrap();
    }
    io.shutdown().await.unwrap();
}

async fn change(rig: &Rig) -> Client {
    let mut client = rig.connect().await;
    client.send(format!("{ASK}\r\n")).await;
    assert!(client.until("\r\n\r\n").await.starts_with(GREETED));
    client
}

#[tokio::test]
async fn a_connection_goes_on_with_what_follows_its_request() {
    let rig = Rig::with(parrot(), |server| upgraded(server, echo)).await;
    let mut client = rig.connect().await;
    client.send(format!("{ASK}\r\nearly")).await;
    let head = client.until("\r\n\r\n").await;
    assert!(head.starts_with(GREETED), "{head}");
    client.until("early").await;
    client.send("late").await;
    client.until("late").await;
    assert_eq!((rig.activity.connections(), rig.activity.streams()), (1, 1));
    client.socket.shutdown().await.unwrap();
    assert_eq!(client.rest().await, b"");
    rig.deserted().await;
}

#[tokio::test]
async fn an_upgraded_connection_keeps_its_place() {
    let limits = Limits::new().with_max_connections(1);
    let rig = Rig::with(parrot(), |server| upgraded(server, echo).limits(limits)).await;
    let client = change(&rig).await;
    for request in [format!("{ASK}\r\n"), run_request()] {
        let answer = rig.exchange(request).await;
        assert_eq!((answer.head.status, answer.body), (503, envelope("SERVER_BUSY", BUSY)));
    }
    drop(client);
    rig.deserted().await;
    change(&rig).await;
}

#[tokio::test]
async fn the_times_of_http_do_not_end_it() {
    let moment = Duration::from_millis(500);
    let timeouts = Timeouts::new().with_head(moment).with_body(moment).with_write(moment);
    let rig = Rig::with(parrot(), |server| upgraded(server, echo).timeouts(timeouts)).await;
    let mut client = change(&rig).await;
    // A connection that came later and says nothing is closed when its time is over.
    rig.connect().await.closed().await;
    client.send("still here").await;
    client.until("still here").await;
}

#[tokio::test]
async fn whoever_may_not_is_told_so_in_http() {
    let rig = Rig::with(parrot(), |server| {
        upgraded(server, echo)
            .allow_origin("https://app.example")
            .authenticator(Authenticator::bearer("s3cret").unwrap())
    })
    .await;
    let token = "Authorization: Bearer s3cret\r\n";
    let cases = [
        (format!("{ASK}\r\n"), 401, "UNAUTHORIZED"),
        (format!("{ASK}{token}Origin: https://evil.example\r\n\r\n"), 403, "FORBIDDEN_ORIGIN"),
        (format!("{ASK}{token}\r\n").replace("localhost", "evil.example"), 403, "FORBIDDEN_HOST"),
        (format!("{ASK}{token}\r\n").replace("GET", "POST"), 405, "METHOD_NOT_ALLOWED"),
        (format!("{ASK}{token}Content-Length: 99999\r\n\r\n"), 413, "REQUEST_TOO_LARGE"),
    ];
    for (request, status, code) in cases {
        let answer = rig.exchange(&request).await;
        assert_eq!(answer.head.status, status, "{request}");
        assert!(answer.body.contains(&format!("\"code\":\"{code}\"")), "{request}: {}", answer.body);
    }
    let mut client = rig.connect().await;
    client.send(format!("{ASK}{token}Origin: https://app.example\r\n\r\n")).await;
    assert_eq!(client.head().await.status, 101);
}

#[tokio::test]
async fn a_request_that_does_not_ask_for_it_is_told_to() {
    let rig = Rig::with(parrot(), |server| upgraded(server, echo)).await;
    let plain = "GET /ws HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned();
    let cases = [
        plain.clone(),
        format!("{ASK}\r\n").replace("keep-alive, Upgrade", "keep-alive"),
        format!("{ASK}\r\n").replace("WebSocket", "h2c"),
    ];
    let body = envelope("UPGRADE_REQUIRED", "This path accepts only WebSocket connections.");
    let mut client = rig.connect().await;
    for request in cases {
        let answer = client.exchange(&request).await;
        assert_eq!((answer.head.status, answer.body.as_str()), (426, body.as_str()), "{request}");
        let told = ["upgrade", "connection", "sec-websocket-version"].map(|name| answer.head.header(name));
        assert_eq!(told.map(Option::unwrap), ["websocket", "Upgrade", "13"], "{request}");
    }
    let old = format!("{ASK}\r\n").replace("HTTP/1.1", "HTTP/1.0");
    assert_eq!(client.exchange(old).await.head.status, 426);
}

#[tokio::test]
async fn a_handler_may_refuse_and_the_connection_stays_http() {
    let rig = Rig::with(parrot(), |server| {
        server.route(Route::upgrade("/ws", |_: RouteRequest| async {
            RouteReply::Problem(Problem::new(409, "SESSION_BUSY", "no"))
        }))
    })
    .await;
    let mut client = rig.connect().await;
    for _ in 0..2 {
        let answer = client.exchange(format!("{ASK}\r\n")).await;
        assert_eq!((answer.head.status, answer.body), (409, envelope("SESSION_BUSY", "no")));
    }
}

#[tokio::test]
async fn a_route_that_was_not_made_for_it_cannot_change_the_protocol() {
    let rig = Rig::with(parrot(), |server| {
        server.route(Route::get("/ws", |_: RouteRequest| async {
            RouteReply::Upgrade(Upgrade::new(HeaderMap::new(), echo))
        }))
    })
    .await;
    let answer = rig.exchange("GET /ws HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(answer.head.status, 500);
}

#[tokio::test]
async fn a_shutdown_waits_for_the_last_word() {
    let rig = Rig::with(parrot(), |server| upgraded(server, echo)).await;
    let mut client = change(&rig).await;
    rig.shutdown.cancel();
    assert_eq!(client.rest().await, b"bye");
    assert_eq!(rig.stopped().await, Stopped::Clean);
}

#[tokio::test]
async fn who_does_not_stop_is_called_and_then_dropped() {
    let timeouts = Timeouts::new().with_shutdown(Duration::from_millis(50));
    let rig = Rig::with(parrot(), |server| {
        upgraded(server, |mut io: Upgraded, stop: UpgradeStop| async move {
            stop.last_call.cancelled().await;
            assert!(stop.asked.is_cancelled());
            io.write_all(b"one more thing").await.unwrap();
            std::future::pending::<()>().await;
        })
        .timeouts(timeouts)
    })
    .await;
    let mut client = change(&rig).await;
    rig.shutdown.cancel();
    client.until("one more thing").await;
    let activity = rig.activity.clone();
    assert_eq!(rig.stopped().await, Stopped::Forced);
    client.closed().await;
    eventually(|| activity.connections() == 0 && activity.streams() == 0).await;
}

#[tokio::test]
async fn a_server_that_is_dropped_takes_it_along() {
    let rig = Rig::with(parrot(), |server| upgraded(server, echo)).await;
    let mut client = change(&rig).await;
    let activity = rig.activity.clone();
    drop(rig);
    client.closed().await;
    eventually(|| activity.connections() == 0 && activity.streams() == 0).await;
}

#[tokio::test]
async fn work_that_panics_costs_its_connection_and_nothing_else() {
    let rig = Rig::with(parrot(), |server| {
        upgraded(server, |_: Upgraded, _: UpgradeStop| async { unreachable!("for the test") })
    })
    .await;
    change(&rig).await.closed().await;
    rig.deserted().await;
    assert_eq!(rig.exchange(run_request()).await.head.status, 200);
}

#[tokio::test]
async fn a_token_may_come_where_a_browser_can_put_it() {
    let rig = Rig::with(parrot(), |server| {
        upgraded(server, echo).authenticator(Authenticator::bearer("s3cret").unwrap()).prepare_head(|head| {
            let token = head.headers.get("sec-websocket-protocol").cloned();
            head.headers.extend(token.map(|token| (AUTHORIZATION, token)));
        })
    })
    .await;
    for (token, status) in [("Bearer s3cret", 101), ("Bearer other", 401)] {
        let mut client = rig.connect().await;
        client.send(format!("{ASK}Sec-WebSocket-Protocol: {token}\r\n\r\n")).await;
        assert_eq!(client.head().await.status, status, "{token}");
    }
}

#[test]
fn debug_output_keeps_header_values_to_itself() {
    let mut headers = HeaderMap::new();
    headers.insert("x-token", HeaderValue::from_static("hush"));
    let reply = RouteReply::Upgrade(Upgrade::new(headers, echo));
    assert_eq!(format!("{reply:?}"), r#"Upgrade(Upgrade { headers: ["x-token"], .. })"#);
}
