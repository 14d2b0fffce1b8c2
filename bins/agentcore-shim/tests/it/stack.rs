//! The shim as a process, and what talks to it.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agui_core::{Reading, Verifier, decode_event_with};
use agui_testkit::client::{Received, Recording, StreamEnd, TestClient, TestResponse};
use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

/// Longest wait of any test for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// Header with the session's id.
pub(crate) const SESSION: &str = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id";

/// The process and what belongs to it.
pub(crate) struct Shim {
    pub(crate) dir: TempDir,
    pub(crate) client: TestClient,
    pub(crate) port: u16,
    process: Option<Child>,
}

impl Shim {
    /// In front of the built-in kernel.
    pub(crate) async fn demo() -> Self {
        Self::start(&["--demo"], &[]).await
    }

    /// In front of an agent at `url`.
    pub(crate) async fn in_front_of(url: &str, flags: &[&str]) -> Self {
        Self::start(&[&["--upstream", url], flags].concat(), &[]).await
    }

    /// With these flags and variables, on a port of its own.
    pub(crate) async fn start(flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        // A port that was free a moment ago can be gone: somebody else's test takes ports, too.
        for _ in 0..8 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            if let Some(process) = listening(dir.path(), port, flags, variables).await {
                let client = TestClient::new(&format!("http://127.0.0.1:{port}/")).unwrap();
                return Self { dir, client, port, process: Some(process) };
            }
        }
        panic!("the shim does not start: {}", log_of(dir.path()));
    }

    pub(crate) fn log(&self) -> String {
        log_of(self.dir.path())
    }

    /// The lines of the log as JSON.
    pub(crate) fn log_lines(&self) -> Vec<Value> {
        self.log().lines().map(|line| serde_json::from_str(line).unwrap_or(Value::Null)).collect()
    }

    /// Waits for a log line for which `holds`.
    pub(crate) async fn wait_for_log(&self, holds: impl Fn(&Value) -> bool) -> Value {
        let found = async {
            loop {
                if let Some(line) = self.log_lines().into_iter().find(&holds) {
                    return line;
                }
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, found).await.unwrap_or_else(|_| panic!("no such line: {}", self.log()))
    }

    /// The client in a session.
    pub(crate) fn in_session(&self, id: &str) -> TestClient {
        self.client.clone().with_header(SESSION, id)
    }

    /// A run to its end; the stream has to be valid.
    pub(crate) async fn run(&self, body: &Value) -> Recording {
        run_with(&self.client, body).await
    }

    /// `/ping`: status and document.
    pub(crate) async fn ping(&self) -> (u16, Value) {
        let response = self.client.get("/ping").await.unwrap();
        (response.status, response.json().await.unwrap())
    }

    /// Waits until `/ping` says `status`; gives its time.
    pub(crate) async fn pings(&self, status: &str) -> u64 {
        let said = async {
            loop {
                let (_, document) = self.ping().await;
                if document["status"] == status {
                    return document["time_of_last_update"].as_u64().unwrap();
                }
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, said).await.unwrap_or_else(|_| panic!("never {status}"))
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process.as_ref().unwrap().id()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let process = self.process.as_ref().unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_child(process), signal).unwrap();
    }

    /// Waits until the process has ended; its exit code.
    pub(crate) async fn exit_code(&mut self) -> Option<i32> {
        let mut process = self.process.take().unwrap();
        let ended = async {
            loop {
                match process.try_wait().unwrap() {
                    Some(status) => return status.code(),
                    None => sleep(Duration::from_millis(5)).await,
                }
            }
        };
        timeout(PATIENCE, ended).await.expect("the shim ends")
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Starts the process; `None` if it ended instead of listening on `port`.
async fn listening(dir: &Path, port: u16, flags: &[&str], variables: &[(&str, &str)]) -> Option<Child> {
    let log = std::fs::File::options().create(true).append(true).open(dir.join("log")).unwrap();
    let logged = log_of(dir).len();
    let (state, workspaces) = (dir.join("state"), dir.join("ws"));
    let (own, command) = match flags.iter().position(|flag| *flag == "--") {
        Some(at) => flags.split_at(at),
        None => (flags, &[][..]),
    };
    let mut process = Command::new(env!("CARGO_BIN_EXE_agentcore-shim"))
        .args(own)
        .args(command)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("PORT", port.to_string())
        .env("AGENTCORE_SHIM_HOST", "127.0.0.1")
        .env("IAC_CODE_AGUI_STATE_DIR", state)
        .env("AGENTCORE_SHIM_WORKSPACE_ROOT", workspaces)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    let address = format!("127.0.0.1:{port}");
    let is_ready = |line: &str| line.contains(&address) && line.contains("\"ready\"");
    let ready = async {
        loop {
            if log_of(dir)[logged..].lines().any(is_ready) {
                return true;
            }
            if process.try_wait().unwrap().is_some() {
                return false;
            }
            sleep(Duration::from_millis(2)).await;
        }
    };
    let ready = timeout(PATIENCE, ready).await.expect("the shim starts");
    ready.then_some(process)
}

fn log_of(dir: &Path) -> String {
    std::fs::read_to_string(dir.join("log")).unwrap_or_default()
}

/// Output of a start that fails: exit code and what it says.
pub(crate) fn failing_start(flags: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_agentcore-shim"))
        .args(flags)
        .env_clear()
        .env("AGENTCORE_SHIM_HOST", "127.0.0.1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A run input of three members, with a prompt.
pub(crate) fn say(thread: &str, run: &str, prompt: &str) -> Value {
    json!({
        "threadId": thread,
        "runId": run,
        "messages": [{"id": format!("m-{run}"), "role": "user", "content": prompt}],
    })
}

/// A run to its end; the stream has to be valid.
pub(crate) async fn run_with(client: &TestClient, body: &Value) -> Recording {
    let response = client.post("/invocations", body).await.unwrap();
    assert!(response.is_stream(), "{response:?}");
    let recording = timeout(PATIENCE, response.events().collect()).await.expect("the run ends");
    verify(&recording);
    recording
}

/// A `POST` of these bytes with this content type.
pub(crate) async fn post_as(shim: &Shim, content_type: &str, body: impl Into<Bytes>) -> TestResponse {
    let client = shim.client.clone().with_header("content-type", content_type);
    client.send(Method::POST, "/invocations", Some(body.into())).await.unwrap()
}

/// Status and the one `RUN_ERROR` of a refusal.
pub(crate) async fn refusal(response: TestResponse) -> (u16, Value) {
    let status = response.status;
    assert!(response.is_stream(), "{response:?}");
    let body = response.bytes().await.unwrap();
    let text = std::str::from_utf8(&body).unwrap();
    let json = text.strip_prefix("data: ").and_then(|rest| rest.strip_suffix("\n\n")).expect("one record");
    let event: Value = serde_json::from_str(json).unwrap();
    assert_eq!(event["type"], "RUN_ERROR", "{event}");
    (status, event)
}

/// Every event decodes strictly, and the stream is what the protocol allows.
pub(crate) fn verify(recording: &Recording) {
    assert_eq!(recording.end, StreamEnd::Complete);
    let texts: Vec<&str> = recording.events.iter().map(data).collect();
    verify_texts(&texts);
}

/// The same for events that came in another way.
pub(crate) fn verify_texts(texts: &[&str]) {
    let mut verifier = Verifier::new();
    for text in texts {
        let (decoded, skipped) = decode_event_with(text.as_bytes(), Reading::Exact)
            .unwrap_or_else(|error| panic!("{error}: {text}"));
        assert!(skipped.is_empty());
        let agui_core::Decoded::Known(event) = decoded else { panic!("unknown event: {text}") };
        verifier.check(&event).unwrap_or_else(|violation| panic!("{violation}: {texts:?}"));
    }
    verifier.finish().expect("one terminal event");
}

/// The JSON text of one record, which has one `data` line.
pub(crate) fn data(received: &Received) -> &str {
    received.raw.trim_end().strip_prefix("data: ").expect("one data line")
}

/// The last event.
pub(crate) fn last(recording: &Recording) -> &Value {
    &recording.events.last().expect("events").json
}

/// How a run without an error ended: `success`, `interrupt` or `cancelled`.
pub(crate) fn outcome(recording: &Recording) -> &str {
    let last = last(recording);
    assert_eq!(last["type"], "RUN_FINISHED", "{last}");
    last["outcome"]["type"].as_str().unwrap_or("success")
}

/// Code of the error that ended the run.
pub(crate) fn error_code(recording: &Recording) -> &str {
    let last = last(recording);
    assert_eq!(last["type"], "RUN_ERROR", "{last}");
    last["code"].as_str().unwrap_or_default()
}

/// The session event's value.
pub(crate) fn session_event(recording: &Recording) -> &Value {
    let custom = recording.find("CUSTOM").expect("a session event");
    assert_eq!(custom["name"], "iac-code.session.v1");
    &custom["value"]
}

/// Ids of the children of a process.
#[cfg(target_os = "linux")]
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let of_task = |task: std::path::PathBuf| std::fs::read_to_string(task.join("children")).ok();
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).unwrap();
    let children: String = tasks.filter_map(|task| of_task(task.ok()?.path())).collect();
    children.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}
