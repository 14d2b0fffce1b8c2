//! Pages in a browser: those that may call, and those that must not.

use agui_auth::Authenticator;

use crate::agents::{Census, PARROT, parrot, silent};
use crate::rig::{INPUT, Rig, envelope, request};

const JSON: &str = "Content-Type: application/json";
const FORBIDDEN_HOST: &str = "Requests for this host name are not allowed.";
const FORBIDDEN_ORIGIN: &str = "Requests from this origin are not allowed.";

fn run_from(host: Option<&str>, headers: &[&str]) -> String {
    let host = host.map(|host| format!("Host: {host}\r\n")).unwrap_or_default();
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!("POST / HTTP/1.1\r\n{host}{headers}Content-Length: {}\r\n\r\n{INPUT}", INPUT.len())
}

#[tokio::test]
async fn a_page_whose_name_was_bound_to_loopback_is_refused() {
    let census = Census::default();
    let rig = Rig::start(silent(&census)).await;
    for host in [Some("evil.example:8000"), Some("127.0.0.1.evil.example"), None] {
        let answer = rig.exchange(run_from(host, &[JSON])).await;
        assert_eq!(
            (answer.head.status, answer.body),
            (403, envelope("FORBIDDEN_HOST", FORBIDDEN_HOST)),
            "{host:?}"
        );
    }
    // Whatever the page asks for, health included.
    let answer = rig.exchange("GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n").await;
    assert_eq!(answer.head.status, 403);
    let absolute = "GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_eq!(rig.exchange(absolute).await.head.status, 403);
    assert_eq!(census.begun(), 0);
}

#[tokio::test]
async fn a_page_of_an_unknown_origin_starts_nothing() {
    let census = Census::default();
    let rig = Rig::start(silent(&census)).await;
    for headers in [
        &["Content-Type: text/plain", "Origin: https://evil.example"][..],
        &[JSON, "Origin: https://evil.example"],
        &[JSON, "Origin: null"],
    ] {
        let answer = rig.exchange(run_from(Some("localhost"), headers)).await;
        assert_eq!(
            (answer.head.status, answer.head.header("access-control-allow-origin"), answer.body),
            (403, None, envelope("FORBIDDEN_ORIGIN", FORBIDDEN_ORIGIN)),
            "{headers:?}"
        );
    }
    let preflight = request(
        "OPTIONS / HTTP/1.1",
        &["Origin: https://evil.example", "Access-Control-Request-Method: POST"],
        "",
    );
    assert_eq!(rig.exchange(preflight).await.head.status, 403);
    assert_eq!(census.begun(), 0);
}

#[tokio::test]
async fn a_host_that_was_named_is_answered() {
    let rig = Rig::with(parrot(), |server| server.allow_host("agent.example")).await;
    let answer = rig.exchange(run_from(Some("Agent.Example:8443"), &[JSON])).await;
    assert_eq!(answer.body, PARROT);
}

#[tokio::test]
async fn a_preflight_of_an_allowed_origin_is_answered_without_a_token() {
    let rig = Rig::with(parrot(), |server| {
        let token = Authenticator::bearer("tok-1").unwrap();
        server.authenticator(token).allow_origin("https://app.example")
    })
    .await;
    let mut client = rig.connect().await;
    let preflight = request(
        "OPTIONS / HTTP/1.1",
        &[
            "Origin: https://app.example",
            "Access-Control-Request-Method: POST",
            "Access-Control-Request-Headers: authorization,content-type",
        ],
        "",
    );
    let answer = client.exchange(preflight).await;
    let header = |name| answer.head.header(name);
    assert_eq!((answer.head.status, answer.body.as_str()), (204, ""));
    assert_eq!(header("access-control-allow-origin").as_deref(), Some("https://app.example"));
    assert_eq!(header("access-control-allow-methods").as_deref(), Some("POST"));
    assert_eq!(header("access-control-allow-headers").as_deref(), Some("authorization,content-type"));
    assert_eq!(header("vary").as_deref(), Some("Access-Control-Request-Headers, Origin"));

    // The same connection goes on; refusals and streams are readable for the page too.
    let refused = client.exchange(run_from(Some("localhost"), &[JSON, "Origin: https://app.example"])).await;
    let headers = [JSON, "Origin: https://app.example", "Authorization: Bearer tok-1"];
    let taken = client.exchange(run_from(Some("localhost"), &headers)).await;
    assert_eq!((refused.head.status, taken.head.status), (401, 200));
    for head in [refused.head, taken.head] {
        assert_eq!(head.header("access-control-allow-origin").as_deref(), Some("https://app.example"));
        assert_eq!(head.header("access-control-expose-headers").as_deref(), Some("*"));
        assert_eq!(head.header("vary").as_deref(), Some("Origin"));
    }
}

#[tokio::test]
async fn a_program_that_names_no_origin_is_not_marked() {
    let rig = Rig::with(parrot(), |server| server.allow_origin("https://app.example")).await;
    let answer = rig.exchange(run_from(Some("localhost"), &[JSON])).await;
    assert_eq!(answer.head.header("access-control-allow-origin"), None);
    assert_eq!(answer.head.header("vary").as_deref(), Some("Origin"));
    assert_eq!(answer.body, PARROT);
}
