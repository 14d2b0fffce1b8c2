//! Recorded exchanges of the real kernel, replayed through one mapper a run.

use std::collections::{BTreeMap, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use agui_core::Event;
use agui_mapper::{Ending, MapperConfig, ResumePoint};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sse_frame::Decoder;

use crate::stream::Run;

/// Longest datum in bytes; the recorded ones are far below.
const MAX_DATUM_BYTES: usize = 16 << 20;

#[derive(Deserialize)]
struct Exchange {
    path: Option<String>,
    #[serde(default)]
    body: Value,
    #[serde(default)]
    chunks: Vec<(f64, String)>,
    status: Option<u16>,
    #[serde(default)]
    rheaders: Vec<(String, String)>,
}

impl Exchange {
    fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    fn params(&self) -> &Value {
        &self.body["params"]
    }

    fn raw(&self) -> String {
        self.chunks.iter().map(|(_, text)| text.as_str()).collect()
    }

    fn is_stream(&self) -> bool {
        self.rheaders
            .iter()
            .any(|(name, value)| name == "content-type" && value.starts_with("text/event-stream"))
    }

    /// The results of the exchange, as JSON text.
    fn results(&self) -> Vec<Box<RawValue>> {
        if !self.is_stream() {
            return result_of(self.raw().as_bytes()).into_iter().collect();
        }
        let mut decoder = Decoder::new(MAX_DATUM_BYTES);
        decoder.push(Bytes::from(self.raw()));
        let mut results = Vec::new();
        while let Some(frame) = decoder.next_frame().unwrap() {
            results.extend(result_of(&frame.data));
        }
        results
    }
}

fn result_of(reply: &[u8]) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Reply {
        result: Option<Box<RawValue>>,
    }
    serde_json::from_slice::<Reply>(reply).ok()?.result
}

fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces")
}

/// The lines of a file of a trace; large ones are compressed.
fn lines(name: &str, file: &str) -> Vec<String> {
    let path = traces().join(name).join(file);
    let mut text = String::new();
    match std::fs::File::open(&path) {
        Ok(mut file) => file.read_to_string(&mut text).unwrap(),
        Err(_) => {
            let file = std::fs::File::open(path.with_extension("jsonl.gz")).unwrap();
            flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap()
        }
    };
    text.lines().map(str::to_owned).collect()
}

fn exchanges(name: &str) -> Vec<Exchange> {
    lines(name, "a2a.jsonl").iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A thread as a simple coordinator drives it.
#[derive(Default)]
struct Thread {
    runs: Vec<Run>,
    present: Option<Run>,
    answered: Vec<Box<str>>,
    executions: usize,
}

impl Thread {
    fn config(&self) -> MapperConfig {
        let run = format!("run{}", self.runs.len() + 1);
        MapperConfig::new("thread", run, format!("execution{}", self.executions), "invocation", "")
    }

    /// Ends the present run as its last state says.
    fn end(&mut self) {
        let Some(mut run) = self.present.take() else { return };
        let observed = run.mapper.observed();
        let state = observed.last_state.as_ref().map(|state| state.as_str().to_owned()).unwrap_or_default();
        let interrupts: Vec<_> = observed.open_inputs.iter().map(|open| open.interrupt.clone()).collect();
        let ending = match state.as_str() {
            _ if !interrupts.is_empty() => Ending::Interrupt(interrupts),
            "TASK_STATE_COMPLETED" | "TASK_STATE_INPUT_REQUIRED" => Ending::Success,
            "TASK_STATE_CANCELED" => Ending::Cancelled { message: "Cancelled.".into() },
            _ => Ending::Error { code: "A2A_EXECUTION_FAILED".into(), message: "Failed.".into() },
        };
        run.finish(ending);
        self.runs.push(run);
    }

    fn begin(&mut self) {
        self.end();
        self.executions += 1;
        self.answered.clear();
        self.present = Some(Run::new(self.config()));
    }

    fn resume(&mut self, task: &str) {
        self.end();
        let before = self.runs.last().unwrap();
        let position: ResumePoint =
            serde_json::from_str(&serde_json::to_string(&before.mapper.position()).unwrap()).unwrap();
        let config = self
            .config()
            .with_task_id(task)
            .with_resume(position)
            .with_pending(before.mapper.observed().open_inputs.clone())
            .with_answered(self.answered.iter().cloned());
        self.present = Some(Run::new(config));
    }

    fn play(&mut self, exchange: &Exchange) {
        let message = &exchange.params()["message"];
        match exchange.method() {
            "SendStreamingMessage" if message["taskId"].is_null() => self.begin(),
            "SendStreamingMessage" | "SendMessage" => self.answer(message),
            _ => {}
        }
        let Some(run) = &mut self.present else { return };
        let path = exchange.path.as_deref().unwrap_or_default();
        if path.starts_with("/iac-code/pipeline/state") && exchange.status == Some(200) {
            run.recover_raw(serde_json::from_str(&exchange.raw()).unwrap());
        }
        if path == "/" && exchange.method() != "CancelTask" {
            for result in exchange.results() {
                run.feed_raw(&result);
            }
        }
    }

    /// Notes the questions that a message answers: the permission it names, or all that are answered in words.
    fn answer(&mut self, message: &Value) {
        let Some(run) = &mut self.present else { return };
        let named = message["parts"][0]["data"]["inputId"].as_str().map(str::to_owned);
        let open = run.mapper.observed().open_inputs.iter();
        let answered: Vec<Box<str>> = match named {
            Some(id) => vec![id.into()],
            None => open
                .filter(|open| open.interrupt.reason != "tool_call")
                .map(|open| open.input_id.clone())
                .collect(),
        };
        for id in answered {
            run.mapper.answered(&id);
            self.answered.push(id);
        }
    }
}

/// Plays a trace and gives the runs of each thread, in order.
fn play(name: &str) -> Vec<Vec<Run>> {
    let mut threads: BTreeMap<String, Thread> = BTreeMap::new();
    let mut tasks: BTreeMap<String, String> = BTreeMap::new();
    for exchange in exchanges(name) {
        let params = exchange.params();
        let path = exchange.path.clone().unwrap_or_default();
        let task = [&params["id"], &params["message"]["taskId"], &exchange.body["taskId"]]
            .into_iter()
            .find_map(Value::as_str)
            .map(str::to_owned)
            .or_else(|| Some(path.split_once("taskId=")?.1.split('&').next()?.to_owned()));
        let context = match params["message"]["contextId"].as_str() {
            Some(context) => context.to_owned(),
            None => task.as_ref().and_then(|task| tasks.get(task)).cloned().unwrap_or_default(),
        };
        let thread = threads.entry(context.clone()).or_default();
        if path == "/iac-code/session/ensure-restored" && thread.present.is_some() {
            thread.resume(task.as_deref().unwrap_or_default());
        }
        thread.play(&exchange);
        if let Some(task) = thread.present.as_ref().and_then(|run| run.mapper.observed().task_id.get()) {
            tasks.insert(task.to_owned(), context);
        }
    }
    threads
        .into_values()
        .map(|mut thread| {
            thread.end();
            thread.runs
        })
        .collect()
}

fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(traces())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// [`Run`] checks each event with the verifier; here the runs of a thread are checked against each other.
#[test]
fn s5_4_every_recorded_exchange_gives_valid_streams() {
    let mut runs = 0;
    for name in names() {
        for thread in play(&name) {
            let (mut messages, mut results) = (HashSet::new(), HashSet::new());
            for run in &thread {
                runs += 1;
                let ends = run
                    .events()
                    .iter()
                    .filter(|event| matches!(event, Event::RunFinished(_) | Event::RunError(_)));
                assert_eq!(ends.count(), 1, "{name}");
                for event in run.events() {
                    let id = match event {
                        Event::TextMessageStart(event) => &event.message_id,
                        Event::ReasoningStart(event) => &event.message_id,
                        Event::ToolCallResult(event) => {
                            let task = run.mapper.observed().task_id.get().unwrap_or_default().to_owned();
                            assert!(results.insert((task, event.tool_call_id.clone())), "{name}: {event:?}");
                            &event.message_id
                        }
                        _ => continue,
                    };
                    assert!(messages.insert(id.clone()), "{name}: {id}");
                }
            }
        }
    }
    assert!(runs > 100, "{runs}");
}

/// What the recorded client of the Python adapter was shown, thread by thread, with the events that count.
fn python_events(name: &str) -> Vec<Value> {
    lines(name, "agui.jsonl")
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter_map(|line| line.get("event").cloned())
        .collect()
}

/// In these scenarios the Python adapter showed the right text, calls and steps.
#[test]
fn text_calls_and_steps_are_those_of_the_recorded_clients() {
    for name in [
        "a_plain_text",
        "b_reasoning",
        "c_allow_once",
        "d_deny",
        "e_cancelled",
        "g_two_permissions",
        "l_images",
        "n1_restart_agui",
        "n2_restart_both",
        "q_long_output",
        "f1_question_selected",
        "o9_solution_first",
    ] {
        let python = python_events(name);
        let threads = play(name);
        let ours: Vec<Value> = threads
            .iter()
            .flatten()
            .flat_map(|run| run.events().iter().map(|event| serde_json::to_value(event).unwrap()))
            .collect();
        for (kind, members) in [
            ("TEXT_MESSAGE_CONTENT", &["delta"][..]),
            ("REASONING_MESSAGE_CONTENT", &["delta"]),
            ("TOOL_CALL_START", &["toolCallId", "toolCallName"]),
            ("TOOL_CALL_RESULT", &["toolCallId", "content"]),
            ("STEP_STARTED", &["stepName"]),
        ] {
            let of = |events: &[Value]| -> Vec<Vec<Value>> {
                let of_kind = events.iter().filter(|event| event["type"] == kind);
                let mut all: Vec<Vec<Value>> = of_kind
                    .map(|event| members.iter().map(|member| event[*member].clone()).collect())
                    .collect();
                all.sort_by_key(|members| format!("{members:?}"));
                all
            };
            assert_eq!(of(&ours), of(&python), "{name} {kind}");
        }
    }
}

fn golden(name: &str) -> String {
    let mut text = String::new();
    for thread in play(name) {
        for run in thread {
            for line in run.lines() {
                let shown: String = line.chars().take(240).collect();
                text.push_str(&shown);
                if shown.len() < line.len() {
                    text.push_str(&format!(" ... {} bytes", line.len()));
                }
                text.push('\n');
            }
            text.push('\n');
        }
    }
    text
}

#[test]
fn golden_streams_are_unchanged() {
    for name in [
        "b_reasoning",
        "c_allow_once",
        "d_deny",
        "f1_question_selected",
        "g_two_permissions",
        "i_cancel",
        "m1_llm_400",
        "n2_restart_both",
        "o1_pipeline",
        "o2_pipeline_two",
        "o8_pipeline_llm_error",
        "o12_rollback",
    ] {
        insta::assert_snapshot!(name, golden(name));
    }
}
