//! Plays a script against the real server over the recorded kernel.

use std::collections::BTreeMap;

use agui_core::{Decoded, Verifier, decode_event};
use agui_testkit::LoggedRequest;
use agui_testkit::client::{Recording, StreamEnd, TestClient};
use agui_testkit::replay::{LateState, Problem, ReplayConfig, ReplayServer, Trace};
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::script::{Progress, RECORDED_WORKSPACE, Recorded, Script, Step};
use crate::stack::{PATIENCE, Stack, verify};

/// What the server says to the kernel about itself.
pub(super) const KERNEL_TOKEN: &str = "token-of-the-kernel";

/// The kernel's address in the recording where it was down: a port that nothing listens on.
const NOBODY: &str = "http://127.0.0.1:9/";

/// What one request got.
#[derive(Debug)]
pub(super) enum Outcome {
    Stream(Recording),
    Answer { status: u16, body: Value },
}

/// What came of a script.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) script: Script,
    /// One a request of the script.
    pub(super) outcomes: Vec<Outcome>,
    /// What the kernel was asked.
    pub(super) requests: Vec<LoggedRequest>,
    pub(super) problems: Vec<Problem>,
    pub(super) unmatched: Vec<String>,
    /// Name and text of every file below the state directory.
    pub(super) files: BTreeMap<String, String>,
    /// The directory that stands for [`RECORDED_WORKSPACE`].
    pub(super) workspace: String,
    /// Recorded ids that the server chooses itself, to ours.
    pub(super) ids: BTreeMap<String, String>,
}

/// A stream that is being read.
struct Reading {
    seen: watch::Receiver<Seen>,
    leave: Option<oneshot::Sender<()>>,
    task: JoinHandle<Outcome>,
}

/// What a stream has brought so far.
#[derive(Debug, Default)]
struct Seen {
    progress: Progress,
    /// The execution that it announced.
    execution: Option<String>,
    ended: bool,
}

struct Player {
    stack: Stack,
    kernel: ReplayServer,
    trace: Trace,
    script: Script,
    reading: BTreeMap<usize, Reading>,
    outcomes: BTreeMap<usize, Outcome>,
    /// Recorded ids that the server chooses itself, to ours.
    ids: BTreeMap<String, String>,
}

/// Replays the trace of that name.
pub(super) async fn play(name: &str) -> Played {
    let trace = Trace::fixture(name).unwrap();
    let config = ReplayConfig::default().with_late_state(LateState::AsOfStreamStart);
    let kernel = ReplayServer::start(trace.clone(), config).await.unwrap();
    let kernel_url = if name == "m4_a2a_down" { NOBODY.to_owned() } else { kernel.url() };
    let stack = Stack::start_with(&kernel_url, &[], &[("IAC_CODE_AGUI_A2A_TOKEN", KERNEL_TOKEN)]).await;
    let script = Script::read(name);
    let (reading, outcomes, ids) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut player = Player { stack, kernel, trace, script, reading, outcomes, ids };
    for step in player.script.steps.clone() {
        player.step(step).await;
    }
    player.finish().await
}

impl Player {
    async fn step(&mut self, step: Step) {
        match step {
            Step::Run(at) => self.start(at),
            Step::Call(at) => {
                let outcome = self.call(at).await;
                self.outcomes.insert(at, outcome);
            }
            Step::Reach(at, progress) => self.reach(at, progress).await,
            Step::End(at) => self.end(at).await,
            Step::Leave(at) => self.leave(at).await,
            Step::Mark(name) => {
                self.kernel_was_asked(&name).await;
                self.kernel.mark(&name);
            }
            Step::Restart => {
                self.stack.stop().await;
                self.stack.launch().await;
            }
            Step::Crash => {
                self.stack.kill();
                self.stack.launch().await;
            }
            Step::Spoil(thread) => {
                self.stack.stop().await;
                let file = self.stack.state_dir().join("state/threads").join(format!("{thread}.json"));
                std::fs::write(file, "{broken").unwrap();
                self.stack.launch().await;
            }
        }
    }

    /// A recorded text with this stack's workspace and this server's ids.
    fn translated(&self, text: &str) -> String {
        let text = text.replace(RECORDED_WORKSPACE, &self.stack.workspace());
        self.ids.iter().fold(text, |text, (recorded, ours)| text.replace(recorded, ours))
    }

    fn request(&self, at: usize) -> (TestClient, http::Method, String, Option<String>) {
        let recorded = &self.script.recorded[at];
        let headers = recorded.headers.iter();
        let client =
            headers.fold(self.stack.client.clone(), |client, (name, value)| client.with_header(name, value));
        let body = recorded.body.as_deref().map(|body| self.translated(body));
        (client, recorded.method.parse().unwrap(), self.translated(&recorded.path), body)
    }

    async fn call(&self, at: usize) -> Outcome {
        let (client, method, path, body) = self.request(at);
        let response = client.send(method, &path, body.map(Into::into)).await.unwrap();
        Outcome::Answer { status: response.status, body: body_of(&response.bytes().await.unwrap()) }
    }

    fn start(&mut self, at: usize) {
        let (client, method, path, body) = self.request(at);
        let (tell, seen) = watch::channel(Seen::default());
        let (leave, left) = oneshot::channel();
        let task = tokio::spawn(async move {
            let response = client.send(method, &path, body.map(Into::into)).await.unwrap();
            if !response.is_stream() {
                let status = response.status;
                let body = body_of(&response.bytes().await.unwrap());
                tell.send_modify(|seen| seen.ended = true);
                return Outcome::Answer { status, body };
            }
            let mut events = response.events();
            let read = async {
                while let Some(event) = events.next().await {
                    tell.send_modify(|seen| {
                        seen.progress.add(&event.json);
                        seen.execution = seen.execution.take().or_else(|| execution(&event.json));
                    });
                }
            };
            tokio::select! {
                () = read => {}
                Ok(()) = left => {}
            }
            tell.send_modify(|seen| seen.ended = true);
            Outcome::Stream(events.abort())
        });
        self.reading.insert(at, Reading { seen, leave: Some(leave), task });
    }

    async fn reach(&mut self, at: usize, wanted: Progress) {
        let Some(reading) = self.reading.get_mut(&at) else { return };
        let there = reading.seen.wait_for(|seen| seen.ended || seen.progress.covers(wanted));
        timeout(PATIENCE, there).await.expect("the stream comes that far").unwrap();
        self.learn_execution(at);
    }

    async fn end(&mut self, at: usize) {
        let task = &mut self.reading.get_mut(&at).unwrap().task;
        let outcome = timeout(PATIENCE, task).await.expect("the stream ends").unwrap();
        self.learn_execution(at);
        self.reading.remove(&at);
        self.outcomes.insert(at, outcome);
    }

    async fn leave(&mut self, at: usize) {
        // Nobody listens when the stream has ended already.
        let _ = self.reading.get_mut(&at).unwrap().leave.take().unwrap().send(());
        self.end(at).await;
        let run = self.script.recorded[at].json()["runId"].as_str().unwrap().to_owned();
        self.stack.wait_for_log(&["run ended", &format!("run={run} ")]).await;
    }

    /// The server chooses the ids of executions itself: what the recording calls ours.
    fn learn_execution(&mut self, at: usize) {
        let recorded = self.script.recorded[at].events.iter().find_map(execution);
        let ours = self.reading[&at].seen.borrow().execution.clone();
        if let (Some(recorded), Some(ours)) = (recorded, ours) {
            self.ids.insert(recorded, ours);
        }
    }

    /// Before the recording came to that mark, the kernel had been asked this much.
    async fn kernel_was_asked(&self, mark: &str) {
        let (seq, ..) = self.trace.marks.iter().find(|(.., name)| name == mark).unwrap();
        let before = self.trace.exchanges.iter().filter(|exchange| exchange.seq < *seq);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for exchange in before {
            *counts.entry(exchange.kind()).or_default() += 1;
        }
        for (kind, count) in counts {
            self.kernel.requests().wait_for(&kind, count).await.unwrap();
        }
    }

    async fn finish(mut self) -> Played {
        self.stack.stop().await;
        let files = self.stack.state_files();
        let outcomes: Vec<Outcome> = std::mem::take(&mut self.outcomes).into_values().collect();
        assert_eq!(outcomes.len(), self.script.recorded.len());
        for (recorded, outcome) in self.script.recorded.iter().zip(&outcomes) {
            check(recorded, outcome);
        }
        Played {
            workspace: self.stack.workspace(),
            ids: self.ids,
            script: self.script,
            outcomes,
            requests: self.kernel.requests().all(),
            problems: self.kernel.problems(),
            unmatched: self.kernel.unmatched(),
            files,
        }
    }
}

/// Every stream that came to its end is valid, and no stream goes back in time.
fn check(recorded: &Recorded, outcome: &Outcome) {
    let Outcome::Stream(stream) = outcome else { return };
    if recorded.end == "complete" {
        verify(stream);
    } else {
        assert_ne!(stream.end, StreamEnd::Complete, "{}", recorded.end);
        let mut verifier = Verifier::new();
        for event in stream.json() {
            let Ok(Decoded::Known(event)) = decode_event(event.to_string().as_bytes()) else {
                panic!("{event}")
            };
            verifier.check(&event).unwrap();
        }
    }
    let times: Vec<i64> =
        stream.events.iter().map(|event| event.json["timestamp"].as_i64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
}

/// The execution that an event announces.
fn execution(event: &Value) -> Option<String> {
    let session = event["name"] == "iac-code.session.v1";
    session.then(|| event["value"]["executionId"].as_str().unwrap().to_owned())
}

fn body_of(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(bytes).into_owned()))
}
