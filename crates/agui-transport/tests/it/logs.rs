//! What is written down about requests.

use std::io;
use std::sync::{Arc, Mutex};

use agui_core::RunRequest;
use agui_transport::EchoHeaders;
use http::HeaderName;
use tracing_subscriber::fmt::MakeWriter;

use crate::agents::{Census, PARROT, STARTED, Scripted, begin, finish, parrot, silent};
use crate::rig::{INPUT, Rig, post, request, run_request};

/// Log lines of the thread that a test runs on.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    fn finished(&self) -> Vec<serde_json::Value> {
        let all = self.0.lock().unwrap();
        let lines = all.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let values = lines.map(|line| serde_json::from_slice::<serde_json::Value>(line).unwrap());
        values
            .map(|line| line["fields"].clone())
            .filter(|fields| fields["message"] == "request finished")
            .collect()
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

fn listen() -> (Lines, tracing::subscriber::DefaultGuard) {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(lines.clone())
        .finish();
    (lines, tracing::subscriber::set_default(subscriber))
}

#[tokio::test]
async fn a_run_is_one_line_with_its_ids_and_without_its_content() {
    let (lines, _guard) = listen();
    let rig = Rig::start(parrot()).await;
    let body = r#"{"threadId":"t1","runId":"r1","messages":[],"forwardedProps":{"key":"hush-1"}}"#;
    let headers = ["Content-Type: application/json", "Authorization: Bearer hush-2", "Cookie: hush-3"];
    assert_eq!(rig.exchange(request("POST /?q=hush-4 HTTP/1.1", &headers, body)).await.body, PARROT);
    rig.deserted().await;

    let finished = lines.finished();
    let [line] = finished.as_slice() else { unreachable!("{finished:?}") };
    let told =
        ["method", "route", "status", "thread_id", "run_id", "events", "ended"].map(|name| &line[name]);
    assert_eq!(serde_json::json!(told).to_string(), r#"["POST","/",200,"t1","r1",5,"complete"]"#);
    assert!(!lines.text().contains("hush"), "{}", lines.text());
}

#[tokio::test]
async fn a_refusal_is_one_line_with_its_code_and_a_probe_is_none() {
    let (lines, _guard) = listen();
    let rig = Rig::start(parrot()).await;
    assert_eq!(rig.exchange("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.head.status, 200);
    assert_eq!(rig.exchange(post("/", "hush")).await.head.status, 400);
    assert_eq!(rig.exchange(post("/hush", "{}")).await.head.status, 404);
    rig.deserted().await;

    let told: Vec<String> = lines
        .finished()
        .iter()
        .map(|line| format!("{} {} {}", line["route"], line["status"], line["code"]))
        .collect();
    assert_eq!(told, [r#""/" 400 "INVALID_JSON""#, r#"null 404 "NOT_FOUND""#]);
    assert!(!lines.text().contains("hush"), "{}", lines.text());
}

#[tokio::test]
async fn ids_of_any_length_leave_a_short_line() {
    let (lines, _guard) = listen();
    let rig = Rig::start(parrot()).await;
    let long = "é".repeat(100_000);
    let body = format!(r#"{{"threadId":"{long}","runId":"{long}","messages":[]}}"#);
    assert_eq!(rig.exchange(post("/", &body)).await.head.status, 200);
    rig.deserted().await;
    let finished = lines.finished();
    let [line] = finished.as_slice() else { unreachable!("{} lines", finished.len()) };
    for name in ["thread_id", "run_id"] {
        assert_eq!(line[name], "é".repeat(1_024), "{name}");
    }
}

#[tokio::test]
async fn a_client_that_left_is_told_apart() {
    let (lines, _guard) = listen();
    let rig = Rig::start(silent(&Census::default())).await;
    let mut client = rig.connect().await;
    client.send(run_request()).await;
    client.until(STARTED).await;
    drop(client);
    rig.deserted().await;
    assert_eq!(
        lines.finished().iter().map(|line| line["ended"].clone()).collect::<Vec<_>>(),
        ["client_gone"]
    );
}

#[tokio::test]
async fn ids_that_a_platform_gives_are_in_every_line_of_the_request() {
    let (lines, _guard) = listen();
    let agent = Scripted(|request: RunRequest| async move {
        tracing::info!("at work");
        let (sink, stream) = begin(&request);
        finish(&request, sink);
        Ok(stream)
    });
    let echo = EchoHeaders::new(HeaderName::from_static("x-request"))
        .with_session(HeaderName::from_static("x-session"));
    let rig = Rig::with(agent, |server| server.echo_headers(echo)).await;
    let headers = ["Content-Type: application/json", "X-Request: r-1", "X-Session: s-1"];
    rig.exchange(request("POST / HTTP/1.1", &headers, INPUT)).await;
    rig.deserted().await;

    let text = lines.text();
    let ids = |line: &serde_json::Value| serde_json::json!([line["requestId"], line["sessionId"]]);
    let at_work = text.lines().find(|line| line.contains("at work")).unwrap();
    let at_work: serde_json::Value = serde_json::from_str(at_work).unwrap();
    assert_eq!(ids(&at_work["span"]).to_string(), r#"["r-1","s-1"]"#);
    assert_eq!(lines.finished().iter().map(ids).collect::<Vec<_>>(), [serde_json::json!(["r-1", "s-1"])]);
}
