//! A kernel, the server in front of it, and a client.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agui_core::{Reading, Verifier, decode_event_with};
use agui_testkit::client::input::RunInput;
use agui_testkit::client::{Received, Recording, StreamEnd, TestClient, TestResponse};
use agui_testkit::demo::{DemoConfig, DemoKernel};
use agui_testkit::faulty::{FaultyServer, Script};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

/// Longest wait of any test for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The server process and what belongs to it.
pub(crate) struct Stack {
    pub(crate) dir: TempDir,
    pub(crate) client: TestClient,
    pub(crate) url: String,
    flags: Vec<String>,
    variables: Vec<(String, String)>,
    process: Option<Child>,
}

impl Stack {
    /// The server in front of the kernel at `kernel_url`.
    pub(crate) async fn start(kernel_url: &str) -> Self {
        Self::start_with(kernel_url, &[], &[]).await
    }

    /// The same with more flags and variables.
    pub(crate) async fn start_with(kernel_url: &str, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("ws")).unwrap();
        let mut all = vec!["--a2a-url".to_owned(), kernel_url.to_owned()];
        all.extend(flags.iter().map(|flag| (*flag).to_owned()));
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let variables = variables.iter().map(own).collect();
        let url = "http://127.0.0.1:1/".to_owned();
        let client = TestClient::new(&url).unwrap();
        let mut stack = Self { dir, client, url, flags: all, variables, process: None };
        stack.launch().await;
        stack
    }

    /// Changes the flags and variables of the next launch.
    pub(crate) fn reconfigure(&mut self, flags: &[&str], variables: &[(&str, &str)]) {
        self.flags.truncate(2);
        self.flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        self.variables = variables.iter().map(own).collect();
    }

    /// Starts the process (again) on the same state, on a port of its own.
    pub(crate) async fn launch(&mut self) {
        assert!(self.process.is_none(), "the server runs already");
        // A port that was free a moment ago can be gone: somebody else's test takes ports, too.
        for _ in 0..8 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            if self.listens(port).await {
                self.url = format!("http://127.0.0.1:{port}/");
                self.client = TestClient::new(&self.url).unwrap();
                return;
            }
        }
        panic!("the server does not start: {}", self.log());
    }

    /// Starts the process; `false` if it ended instead of listening on `port`.
    async fn listens(&mut self, port: u16) -> bool {
        let root = self.dir.path();
        let log = std::fs::File::options().create(true).append(true).open(root.join("log")).unwrap();
        let logged = self.log().len();
        let mut command = Command::new(env!("CARGO_BIN_EXE_agui-server"));
        command
            .args(["--port", &port.to_string()])
            .args(&self.flags)
            .env_clear()
            .env("HOME", root)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("IAC_CODE_AGUI_STATE_DIR", root.join("state"))
            .env("IAC_CODE_AGUI_ALLOWED_CWDS", root.join("ws"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stderr(log);
        let mut process = command.spawn().unwrap();
        let address = format!("127.0.0.1:{port}");
        // An address that is taken is "already in use".
        let says_ready =
            |line: &str| line.contains(&address) && line.replace("already", "").contains("ready");
        let ready = async {
            loop {
                if self.log()[logged..].lines().any(&says_ready) {
                    return true;
                }
                if process.try_wait().unwrap().is_some() {
                    return false;
                }
                sleep(Duration::from_millis(2)).await;
            }
        };
        let ready = timeout(PATIENCE, ready).await.expect("the server starts");
        self.process = ready.then_some(process);
        ready
    }

    /// Ends the process at once, as a crash does.
    pub(crate) fn kill(&mut self) {
        let mut process = self.process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process.as_ref().unwrap().id()
    }

    /// What the server has logged so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    pub(crate) fn workspace(&self) -> String {
        self.dir.path().join("ws").canonicalize().unwrap().to_str().unwrap().to_owned()
    }

    pub(crate) fn state_file(&self, thread: &str) -> Value {
        let path = self.dir.path().join("state/threads").join(format!("{thread}.json"));
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    pub(crate) fn has_state(&self, thread: &str) -> bool {
        self.dir.path().join("state/threads").join(format!("{thread}.json")).exists()
    }

    pub(crate) fn state_dir(&self) -> &Path {
        self.dir.path()
    }

    /// A run input of this stack's workspace.
    pub(crate) fn input(&self, thread: &str, run: &str) -> RunInput {
        RunInput::new(thread, run, &self.workspace())
    }

    pub(crate) async fn post(&self, input: &RunInput) -> TestResponse {
        self.client.post("/", &input.to_json()).await.unwrap()
    }

    /// A run to its end. Whatever the kernel does, the stream has to be valid.
    pub(crate) async fn run(&self, input: &RunInput) -> Recording {
        let response = self.post(input).await;
        assert!(response.is_stream(), "status {}: {}", response.status, self.log());
        let recording = timeout(PATIENCE, response.events().collect()).await.expect("the run ends");
        verify(&recording);
        recording
    }

    /// A run with a prompt.
    pub(crate) async fn say(&self, thread: &str, run: &str, prompt: &str) -> Recording {
        self.run(&self.input(thread, run).with_user(prompt)).await
    }

    /// A request that is refused before any stream: status, code, message.
    pub(crate) async fn refused(&self, input: &RunInput) -> (u16, String, String) {
        refusal(self.post(input).await).await
    }

    pub(crate) async fn cancel(&self, execution: &str, thread: &str, invocation: &str) -> (u16, Value) {
        let path = format!("/extensions/iac-code/v1/executions/{execution}/cancel");
        let body = json!({ "threadId": thread, "rosInvocationId": invocation });
        let response = self.client.post(&path, &body).await.unwrap();
        (response.status, response.json().await.unwrap())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Status, code and message of an error envelope.
pub(crate) async fn refusal(response: TestResponse) -> (u16, String, String) {
    let status = response.status;
    let body = response.json().await.unwrap();
    let member = |name: &str| body["error"][name].as_str().unwrap_or_default().to_owned();
    (status, member("code"), member("message"))
}

/// Every event decodes strictly, and the stream is what the protocol allows.
pub(crate) fn verify(recording: &Recording) {
    assert_eq!(recording.end, StreamEnd::Complete);
    let mut verifier = Verifier::new();
    for received in &recording.events {
        let (decoded, skipped) = decode_event_with(data(received).as_bytes(), Reading::Exact)
            .unwrap_or_else(|error| panic!("{error}: {}", data(received)));
        assert!(skipped.is_empty());
        let agui_core::Decoded::Known(event) = decoded else { panic!("unknown event: {}", data(received)) };
        verifier.check(&event).unwrap_or_else(|violation| panic!("{violation}: {}", data(received)));
    }
    verifier.finish().expect("one terminal event");
}

/// The JSON text of one record, which has one `data` line.
fn data(received: &Received) -> &str {
    received.raw.trim_end().strip_prefix("data: ").expect("one data line")
}

/// The demo kernel, without its pauses.
pub(crate) async fn demo() -> DemoKernel {
    DemoKernel::start(DemoConfig::instant()).await.unwrap()
}

/// A kernel that misbehaves as told.
pub(crate) async fn faulty(script: Script) -> FaultyServer {
    FaultyServer::start(script).await.unwrap()
}

/// The last event.
pub(crate) fn last(recording: &Recording) -> &Value {
    &recording.events.last().expect("events").json
}

/// Code of the error that ended the run.
pub(crate) fn error_code(recording: &Recording) -> &str {
    let last = last(recording);
    assert_eq!(last["type"], "RUN_ERROR", "{last}");
    last["code"].as_str().unwrap_or_default()
}

/// How a run without an error ended: `success`, `interrupt` or `cancelled`.
pub(crate) fn outcome(recording: &Recording) -> &str {
    let last = last(recording);
    assert_eq!(last["type"], "RUN_FINISHED", "{last}");
    last["outcome"]["type"].as_str().unwrap_or_default()
}

/// The questions that ended the run.
pub(crate) fn interrupts(recording: &Recording) -> Vec<Value> {
    assert_eq!(outcome(recording), "interrupt");
    last(recording)["outcome"]["interrupts"].as_array().unwrap().clone()
}

/// Id of the one question that ended the run.
pub(crate) fn interrupt_id(recording: &Recording) -> String {
    let interrupts = interrupts(recording);
    assert_eq!(interrupts.len(), 1, "{interrupts:?}");
    interrupts[0]["id"].as_str().unwrap().to_owned()
}

/// The execution that the run announced.
pub(crate) fn execution_id(recording: &Recording) -> String {
    let custom = recording.find("CUSTOM").expect("a session event");
    assert_eq!(custom["name"], "iac-code.session.v1");
    custom["value"]["executionId"].as_str().unwrap().to_owned()
}

impl Stack {
    /// Ends the process by the signal that asks for it, and waits until its clean-up is done.
    pub(crate) async fn stop(&mut self) {
        let process = self.process.as_ref().unwrap();
        let signal = rustix::process::Signal::TERM;
        rustix::process::kill_process(rustix::process::Pid::from_child(process), signal).unwrap();
        self.ended().await;
    }

    /// Waits until the process has ended by itself, without an error.
    pub(crate) async fn ended(&mut self) {
        let mut process = self.process.take().unwrap();
        let ended = async {
            loop {
                match process.try_wait().unwrap() {
                    Some(status) => return status,
                    None => sleep(Duration::from_millis(5)).await,
                }
            }
        };
        let status = timeout(PATIENCE, ended).await.expect("the server ends");
        assert!(status.success(), "{status}: {}", self.log());
    }

    /// Waits for a log line with all of these words.
    pub(crate) async fn wait_for_log(&self, words: &[&str]) {
        let logged = async {
            while !self.log().lines().any(|line| words.iter().all(|word| line.contains(word))) {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let logged = timeout(PATIENCE, logged).await;
        assert!(logged.is_ok(), "no log line with {words:?}: {}", self.log());
    }

    /// Path below the state directory and text of every file there.
    pub(crate) fn state_files(&self) -> std::collections::BTreeMap<String, String> {
        let root = self.dir.path().join("state");
        let mut files = std::collections::BTreeMap::new();
        let mut directories = vec![root.clone()];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                    continue;
                }
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                files.insert(name, std::fs::read_to_string(path).unwrap());
            }
        }
        files
    }
}
