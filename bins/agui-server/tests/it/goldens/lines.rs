//! The readable form of what came of a script: one line an event.

use std::fmt::Write as _;

use agui_testkit::client::{Recording, StreamEnd};
use serde_json::{Map, Value};

use super::canon::renamed;
use super::names::Names;
use super::play::{Outcome, Played};
use super::script::{RECORDED_WORKSPACE, Recorded};

/// Deltas of one message in a row that are shown one by one; of more, only the number and the text.
const SHOWN_DELTAS: usize = 100;
/// Bytes of a text of an event that are shown whole; of a longer one, only its ends.
const SHOWN_TEXT: usize = 4_000;
/// The same for texts that the kernel is sent.
const SHOWN_SENT: usize = 400;
/// Bytes of each end that is shown.
const SHOWN_END: usize = 40;

/// Members that stand at the start of a line, without their names; the rest follows as JSON.
const SHOWN: [&str; 8] =
    ["messageId", "toolCallId", "toolCallName", "stepName", "name", "delta", "content", "activityType"];

/// The whole outcome of a trace.
pub(super) fn document(played: &Played) -> String {
    let mut names = Names::default();
    names.replace(&played.workspace, RECORDED_WORKSPACE);
    for (recorded, ours) in &played.ids {
        names.replace(recorded, ours);
    }
    let mut out = String::new();
    for (recorded, outcome) in played.script.recorded.iter().zip(&played.outcomes) {
        heading(&mut out, recorded);
        match outcome {
            Outcome::Stream(stream) => events(&mut out, stream, &played.workspace, &mut names),
            Outcome::Answer { status, body } => writeln!(out, "{status} {body}").unwrap(),
        }
        out.push('\n');
    }
    for (name, text) in played.files.iter().filter(|(name, _)| !is_lock(name)) {
        if name.contains(".runs/") {
            writeln!(out, "== state/{name}, entries: {}\n", text.lines().count()).unwrap();
            continue;
        }
        writeln!(out, "== state/{name}").unwrap();
        match serde_json::from_str::<Value>(text) {
            Ok(value) => {
                names.learn(&value);
                let value = without_clock(value);
                writeln!(out, "{}", serde_json::to_string_pretty(&value).unwrap()).unwrap();
            }
            Err(_) => writeln!(out, "{text}").unwrap(),
        }
        out.push('\n');
    }
    out.push_str("== asked of the kernel\n");
    for request in &played.requests {
        let request = super::requests::item(request, &played.workspace);
        writeln!(out, "{} {}", request.kind, cut(&request.value)).unwrap();
    }
    names.redact(out.trim_end())
}

/// A value without the middle of long strings.
fn cut(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(shortened(text, SHOWN_SENT)),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                // How an image was scaled down is the business of its encoder.
                let encoded = name == "bytes" && value.as_str().is_some_and(|text| text.len() > SHOWN_SENT);
                (name.clone(), if encoded { Value::from("<image>") } else { cut(value) })
            };
            members.iter().map(member).collect()
        }
        Value::Array(items) => items.iter().map(cut).collect(),
        other => other.clone(),
    }
}

fn heading(out: &mut String, recorded: &Recorded) {
    write!(out, "== {} {}", recorded.method, recorded.path).unwrap();
    if recorded.is_run {
        let body = recorded.json();
        write!(out, " {} {}", text(&body["threadId"]), text(&body["runId"])).unwrap();
        match body.get("resume").and_then(Value::as_array) {
            Some(answers) => {
                for answer in answers {
                    let payload = answer.get("payload").map(Value::to_string).unwrap_or_default();
                    write!(
                        out,
                        "\n   {} {} {payload}",
                        text(&answer["interruptId"]),
                        text(&answer["status"])
                    )
                    .unwrap();
                }
            }
            None => {
                let last =
                    body["messages"].as_array().and_then(|messages| messages.last()).unwrap_or(&Value::Null);
                write!(out, " {}", shortened(&last["content"].to_string(), SHOWN_TEXT)).unwrap();
            }
        }
    } else if let Some(body) = &recorded.body {
        write!(out, " {body}").unwrap();
    }
    for (name, value) in &recorded.headers {
        write!(out, " {name}: {value}").unwrap();
    }
    out.push('\n');
}

fn events(out: &mut String, stream: &Recording, workspace: &str, names: &mut Names) {
    let events: Vec<Value> = stream.json().iter().map(|event| renamed(event, workspace)).collect();
    let mut at = 0;
    while let Some(event) = events.get(at) {
        names.learn(event);
        let same =
            |other: &&Value| other["type"] == event["type"] && other["messageId"] == event["messageId"];
        let run: Vec<&Value> = events[at..].iter().take_while(same).collect();
        if event["type"] == "TEXT_MESSAGE_CONTENT" && run.len() > SHOWN_DELTAS {
            let text: String = run.iter().filter_map(|event| event["delta"].as_str()).collect();
            let id = event["messageId"].as_str().unwrap();
            writeln!(out, "TEXT_MESSAGE_CONTENT {id} {} times, {}", run.len(), shortened(&text, SHOWN_TEXT))
                .unwrap();
            at += run.len();
            continue;
        }
        line(out, event);
        at += 1;
    }
    match &stream.end {
        StreamEnd::Complete => {}
        end => writeln!(out, "-- {end:?}").unwrap(),
    }
    for comment in &stream.comments {
        writeln!(out, "-- comment {}", comment.text).unwrap();
    }
}

fn line(out: &mut String, event: &Value) {
    let mut rest: Map<String, Value> = event.as_object().unwrap().clone();
    rest.remove("timestamp");
    write!(out, "{}", text(&rest.remove("type").unwrap())).unwrap();
    for name in SHOWN {
        match rest.remove(name) {
            None => {}
            Some(Value::String(text)) if matches!(name, "delta" | "content") => {
                write!(out, " {}", shortened(&Value::from(text).to_string(), SHOWN_TEXT)).unwrap();
            }
            Some(Value::String(text)) => write!(out, " {text}").unwrap(),
            Some(value) => write!(out, " {}", shortened(&value.to_string(), SHOWN_TEXT)).unwrap(),
        }
    }
    let interrupts =
        rest.get_mut("outcome").and_then(|outcome| outcome.as_object_mut()?.remove("interrupts"));
    if !rest.is_empty() {
        write!(out, " {}", Value::Object(rest)).unwrap();
    }
    out.push('\n');
    for interrupt in interrupts.iter().filter_map(Value::as_array).flatten() {
        writeln!(out, "   {interrupt}").unwrap();
    }
}

/// Both ends of a long text.
fn shortened(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let boundary = |at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let (head, tail) = (&text[..boundary(SHOWN_END)], &text[boundary(text.len() - SHOWN_END)..]);
    format!("{head} … {} bytes … {tail}", text.len())
}

fn is_lock(name: &str) -> bool {
    [".lock", ".run"].iter().any(|ending| name.ends_with(ending))
}

/// A stored document without the milliseconds of the clock, and without the number of its saves.
fn without_clock(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let member = |(key, value): (String, Value)| {
                let value = match value.as_u64() {
                    Some(_) if key == "revision" => Value::from("<count>"),
                    Some(number) if number > 1_000_000_000_000 => Value::from("<ms>"),
                    _ => without_clock(value),
                };
                (key, value)
            };
            Value::Object(members.into_iter().map(member).collect())
        }
        Value::Array(items) => items.into_iter().map(without_clock).collect(),
        other => other,
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
