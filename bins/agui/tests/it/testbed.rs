//! An agent that does what the first word of the prompt says.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agui_core::{
    Agent, BoxFuture, EventSink, Interrupt, JsonObject, Problem, RunAgentInput, RunError, RunLimits,
    RunRequest, RunStream, TokenUsage,
};
use agui_transport::Server;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A running agent; dropping it stops it.
pub(crate) struct Testbed {
    addr: SocketAddr,
    seen: Arc<Seen>,
    stop: CancellationToken,
    _runtime: tokio::runtime::Runtime,
}

/// What the agent has seen.
#[derive(Default)]
struct Seen {
    inputs: Mutex<Vec<Value>>,
    headers: Mutex<Vec<(String, String)>>,
    /// Runs whose client has gone before their end.
    left: AtomicUsize,
}

impl Testbed {
    pub(crate) fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let seen = Arc::new(Seen::default());
        let stop = CancellationToken::new();
        let agent = Arc::new(Obedient(Arc::clone(&seen)));
        let server = runtime.block_on(Server::builder(agent).bind(([127, 0, 0, 1], 0).into())).unwrap();
        let addr = server.local_addr();
        let stopped = stop.clone();
        runtime.spawn(async move { server.serve(stopped).await });
        Self { addr, seen, stop, _runtime: runtime }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.addr)
    }

    /// The requests so far.
    pub(crate) fn inputs(&self) -> Vec<Value> {
        self.seen.inputs.lock().unwrap().clone()
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let headers = self.seen.headers.lock().unwrap();
        headers.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    /// Waits until the client of a run has gone.
    pub(crate) fn wait_until_left(&self) {
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        while self.seen.left.load(Ordering::SeqCst) == 0 {
            assert!(std::time::Instant::now() < deadline, "the client is there still");
            std::thread::yield_now();
        }
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

struct Obedient(Arc<Seen>);

impl Agent for Obedient {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunStream, Problem>> {
        Box::pin(async move {
            self.0.inputs.lock().unwrap().push(serde_json::from_slice(&request.body).unwrap());
            let headers = request.headers.iter().map(|(name, value)| (name.to_string(), value.to_string()));
            self.0.headers.lock().unwrap().extend(headers);
            let said =
                request.input.last_user_message().map(|message| message.content.to_text().into_owned());
            let word = said.unwrap_or_default().split(' ').next().unwrap_or_default().to_owned();
            if word == "lie" {
                let text = "no\nagui: 5 events recorded\r\n\u{1b}[2Jdone\u{2028}twice";
                return Err(Problem::new(403, "NO\nWAY", text));
            }
            if word == "refuse" {
                return Err(Problem::new(409, "THREAD_BUSY", "Somebody else is talking."));
            }
            let (sink, stream) = EventSink::start(&request.input, RunLimits::default());
            let seen = Arc::clone(&self.0);
            tokio::spawn(async move { obey(&word, &request.input, sink, &seen).await });
            Ok(stream)
        })
    }
}

async fn obey(word: &str, input: &RunAgentInput, sink: EventSink, seen: &Seen) {
    if input.resume.first().is_some_and(|answer| answer.interrupt_id.as_str() == "deaf") {
        return sink.interrupt([Interrupt::new("deaf", "input_required")]);
    }
    if input.resume.first().is_some_and(|answer| answer.interrupt_id.as_str() == "vault") {
        sink.text_message().delta("taken");
        return sink.finish();
    }
    if let Some(answer) = input.resume.first() {
        let payload = answer.payload.as_ref().map_or("nothing", |payload| payload.get());
        sink.text_message().delta(format!("answer: {} {payload}", answer.status.as_str()));
        return sink.finish();
    }
    match word {
        "ask" => sink.interrupt([question()]),
        "vault" => sink.interrupt([secret_question()]),
        "evil" => {
            sink.text_message().delta("\u{1b}]0;owned\u{7}\u{1b}[2Jred");
            sink.fail(RunError::new("\u{9b}31mfailed").with_code("EVIL\u{1b}"));
        }
        "fail" => sink.fail(RunError::new("the model is gone").with_code("MODEL")),
        "cancel" => sink.cancelled(),
        "cut" => drop(sink.text_message()),
        "hold" => {
            sink.text_message().delta("waiting");
            sink.closed().await;
            seen.left.fetch_add(1, Ordering::SeqCst);
        }
        "add" => add(input, sink),
        "secret" => {
            let mut text = sink.text_message();
            for piece in ["the password: hun", "ter2 and ", "s3cr3t-from", "-env"] {
                text.delta(piece);
            }
            text.end();
            sink.finish();
        }
        _ => work(word, sink),
    }
}

/// Everything that a run shows.
fn work(word: &str, sink: EventSink) {
    let step = sink.step("look");
    sink.reasoning().delta("Let me see.");
    let mut call = sink.tool_call("read_file");
    call.args(r#"{"path":"a.txt"}"#);
    call.end().result("hello");
    step.end();
    sink.text_message().delta(format!("You said {word}."));
    sink.set_usage([TokenUsage::default()
        .with_model("big")
        .with_input_tokens(12_u64)
        .with_output_tokens(3_u64)]);
    sink.finish();
}

/// Calls a tool of the client, then tells its result.
fn add(input: &RunAgentInput, sink: EventSink) {
    let result = input.messages.iter().rev().find_map(|message| match message {
        agui_core::Message::Tool(message) => Some(message.content.to_text().into_owned()),
        _ => None,
    });
    match result {
        Some(result) => sink.text_message().delta(format!("sum: {result}")),
        None => sink.tool_call("add").args("[1,2]"),
    }
    sink.finish();
}

fn question() -> Interrupt {
    let schema = json!({
        "type": "object", "required": ["size", "name", "count"], "additionalProperties": false,
        "properties": {
            "size": {"type": "string", "enum": ["small", "large"], "title": "Size"},
            "name": {"type": "string", "minLength": 2},
            "count": {"type": "integer", "minimum": 1, "default": 1},
            "backup": {"type": "boolean"},
            "zones": {"type": "array", "items": {"enum": ["a", "b"]}},
        },
    });
    Interrupt::new("q-1", "input_required")
        .with_message("What shall I build?")
        .with_response_schema(JsonObject::from_serialize(&schema).unwrap())
}

/// Asks for something that is not to be seen.
fn secret_question() -> Interrupt {
    let schema = json!({
        "type": "object", "required": ["user", "code"],
        "properties": {
            "user": {"type": "string"},
            "code": {"type": "string", "format": "password", "minLength": 4},
            "note": {"type": "string"},
        },
    });
    Interrupt::new("vault", "input_required")
        .with_message("Who are you?")
        .with_response_schema(JsonObject::from_serialize(&schema).unwrap())
}
