//! What a recording tells a client to do, in its causal order.

use std::collections::BTreeMap;

use agui_testkit::replay::Trace;
use serde_json::Value;

/// Text that the recordings have in place of the workspace directory.
pub(super) const RECORDED_WORKSPACE: &str = "/workspace/ws";

/// One request of the recording with everything that came back.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    /// HTTP method.
    pub(super) method: String,
    /// Path.
    pub(super) path: String,
    /// Header names and values that the client added.
    pub(super) headers: Vec<(String, String)>,
    /// The body as it was sent.
    pub(super) body: Option<String>,
    /// Whether it asks for a run.
    pub(super) is_run: bool,
    /// HTTP status of the answer.
    pub(super) status: Option<u16>,
    /// The events of the stream; empty for other answers.
    pub(super) events: Vec<Value>,
    /// The body of an answer that is no stream.
    pub(super) answer: Value,
    /// `complete`, `aborted`, `truncated`: how the stream ended for the recorded client.
    pub(super) end: String,
}

impl Recorded {
    /// The body as JSON.
    pub(super) fn json(&self) -> Value {
        self.body.as_deref().and_then(|body| serde_json::from_str(body).ok()).unwrap_or_default()
    }
}

/// One thing to do. Numbers are indices of [`Script::recorded`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Sends a run; its stream is read while the script goes on.
    Run(usize),
    /// Sends a request and waits for its answer.
    Call(usize),
    /// Waits until the stream has brought as much as the recorded one had.
    Reach(usize, Progress),
    /// Waits for the end of the stream.
    End(usize),
    /// Closes the client's end of the stream.
    Leave(usize),
    /// Tells the kernel that the recording has come to this place.
    Mark(String),
    /// Ends the server by a signal and starts it again.
    Restart,
    /// Kills the server and starts it again.
    Crash,
    /// Stops the server, spoils the file of a thread, and starts it again.
    Spoil(String),
}

/// How far a stream has come, in what every adapter has to tell alike.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Bytes of text.
    pub(super) text: usize,
    /// Announced sessions.
    pub(super) sessions: usize,
}

impl Progress {
    pub(super) fn add(&mut self, event: &Value) {
        match event["type"].as_str() {
            Some("TEXT_MESSAGE_CONTENT") => self.text += event["delta"].as_str().map_or(0, str::len),
            Some("CUSTOM") if event["name"] == "iac-code.session.v1" => self.sessions += 1,
            _ => {}
        }
    }

    pub(super) fn covers(self, other: Self) -> bool {
        self.text >= other.text && self.sessions >= other.sessions
    }
}

/// A recording as a list of steps.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) recorded: Vec<Recorded>,
    pub(super) steps: Vec<Step>,
    /// Recorded number of a run to its index.
    runs: BTreeMap<u64, usize>,
    /// Runs whose streams are open, with what they have brought.
    open: BTreeMap<usize, Progress>,
    /// The request that waits for its answer.
    waiting: usize,
}

impl Script {
    pub(super) fn read(name: &str) -> Self {
        let mut script = Self::default();
        for record in Trace::fixture(name).unwrap().agui().unwrap() {
            script.record(&record);
        }
        // The recording does not say when the file of the first thread was spoilt.
        if name == "n6_bad_state_file" {
            let third = script.steps.iter().position(|step| *step == Step::Run(2)).unwrap();
            script.steps.insert(third, Step::Spoil("thread-n6".to_owned()));
        }
        script
    }

    fn record(&mut self, record: &Value) {
        let run = record["n"].as_u64().and_then(|number| self.runs.get(&number).copied());
        match (record["kind"].as_str().unwrap(), run) {
            ("request", _) => self.request(record),
            ("response", run) => {
                let of = &mut self.recorded[run.unwrap_or(self.waiting)];
                of.status = Some(record["status"].as_u64().unwrap().try_into().unwrap());
                if run.is_none() {
                    of.answer = answer(record);
                }
            }
            ("body", Some(run)) => self.recorded[run].answer = record["body"].clone(),
            ("event", Some(run)) => {
                let event = record["event"].clone();
                self.open.entry(run).or_default().add(&event);
                self.recorded[run].events.push(event);
            }
            ("end", Some(run)) => self.end(run, record["end"].as_str().unwrap()),
            ("mark", _) => {
                self.reach();
                self.steps.push(Step::Mark(record["name"].as_str().unwrap().to_owned()));
            }
            ("note", _) => match record["text"].as_str().unwrap() {
                "restart agui" => self.steps.push(Step::Restart),
                "restart agui (SIGKILL)" => {
                    self.reach();
                    self.steps.push(Step::Crash);
                }
                _ => {}
            },
            // Comments are paced by the clock of the recording.
            ("comment", _) => {}
            (kind, _) => panic!("a record of kind {kind}"),
        }
    }

    fn request(&mut self, record: &Value) {
        self.reach();
        let text = |name: &str| record[name].as_str().map(str::to_owned);
        let headers = record["headers"].as_object().into_iter().flatten();
        let headers = headers.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()));
        let body = record.get("body").filter(|body| !body.is_null()).map(Value::to_string);
        let number = record["n"].as_u64();
        let at = self.recorded.len();
        self.recorded.push(Recorded {
            method: text("method").unwrap(),
            path: text("path").unwrap(),
            headers: headers.collect(),
            body: body.or_else(|| text("body_text")),
            is_run: number.is_some(),
            ..Recorded::default()
        });
        match number {
            Some(number) => {
                self.runs.insert(number, at);
                self.open.insert(at, Progress::default());
                self.steps.push(Step::Run(at));
            }
            None => {
                self.waiting = at;
                self.steps.push(Step::Call(at));
            }
        }
    }

    fn end(&mut self, run: usize, end: &str) {
        self.recorded[run].end = end.to_owned();
        if end == "aborted" {
            self.reach();
        }
        self.open.remove(&run);
        self.steps.push(if end == "aborted" { Step::Leave(run) } else { Step::End(run) });
    }

    /// What follows came after what the open streams had brought.
    fn reach(&mut self) {
        let reached = self.open.iter().filter(|(_, progress)| **progress != Progress::default());
        self.steps.extend(reached.map(|(run, progress)| Step::Reach(*run, *progress)));
    }
}

/// The body of a plain answer: JSON, or its text.
fn answer(record: &Value) -> Value {
    match record.get("body_text").and_then(Value::as_str) {
        Some(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
        None => record["body"].clone(),
    }
}
