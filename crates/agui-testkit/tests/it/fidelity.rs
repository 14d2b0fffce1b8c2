//! The demo kernel against the recorded one: the same events have the same members of the same types.

use std::collections::{BTreeMap, BTreeSet};

use agui_testkit::client::TestClient;
use agui_testkit::client::a2a::Outgoing;
use agui_testkit::demo::DemoConfig;
use agui_testkit::replay::{Exchange, Trace, fixtures_dir};
use agui_testkit::wire::doubles;
use serde_json::{Value, json};

use crate::kernel::{demo, get, get_task, iac, says, stream, task_id, word};

/// Members whose content belongs to the model or to a tool.
const FREE: [&str; 9] = [
    "toolInput",
    "fields",
    "input.conclusion",
    "conclusion",
    "conclusions",
    "step_conclusions",
    "normalizedConclusion",
    "result.resources",
    "userInput",
];

/// Members that the kernel's documentation knows and the record happens not to have.
const DOCUMENTED: [&str; 1] = ["input.options[].totalMonthlyCost"];

/// Members that depend on the tool, or on the moment at which the kernel was asked.
const VARYING: [&str; 2] = ["tool.artifact.", "executionControl.blockers"];

/// Paths of all leaves with their types; items of a list share a path.
fn leaves(path: &str, value: &Value, out: &mut BTreeSet<String>) {
    if FREE.iter().any(|free| path.ends_with(free)) {
        out.insert(format!("{path} free"));
        return;
    }
    let kind = match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| leaves(&format!("{path}.{key}"), value, out));
            return;
        }
        Value::Array(items) => {
            items.iter().for_each(|item| leaves(&format!("{path}[]"), item, out));
            return;
        }
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "double",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
    };
    out.insert(format!("{path} {kind}"));
}

fn members(value: &Value) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    leaves("", value, &mut out);
    out
}

/// The members of one that the other lacks, but for some.
fn beyond(some: &BTreeSet<String>, other: &BTreeSet<String>, allowed: &[&str]) -> Vec<String> {
    let known = |member: &&String| !allowed.iter().any(|allowed| member.contains(allowed));
    some.difference(other).filter(known).cloned().collect()
}

/// What the events of one word have: all members that occur, and those that each of them has.
#[derive(Debug, Default)]
struct Shape {
    any: BTreeSet<String>,
    every: Option<BTreeSet<String>>,
}

fn fixtures() -> Vec<Trace> {
    let paths = std::fs::read_dir(fixtures_dir()).unwrap().map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.is_dir() && !path.ends_with("q2_long_synthetic"));
    paths.map(|path| Trace::load(&path).unwrap()).collect()
}

/// The JSON of all pipeline states of the record.
fn states(traces: &[Trace]) -> Vec<Value> {
    let exchanges = traces.iter().flat_map(|trace| &trace.exchanges);
    let states = exchanges
        .filter(|exchange| exchange.status == Some(200) && exchange.kind() == "GET /iac-code/pipeline/state");
    states.map(|exchange| serde_json::from_slice(&exchange.pieces[0].1).unwrap()).collect()
}

/// The shapes of all events by word; what only a journal shows counts as occurring.
fn shapes(traces: &[Trace]) -> BTreeMap<String, Shape> {
    let mut shapes: BTreeMap<String, Shape> = BTreeMap::new();
    let exchanges = traces.iter().flat_map(|trace| &trace.exchanges);
    for event in exchanges.filter(|exchange| exchange.is_stream()).flat_map(Exchange::events) {
        let shape = shapes.entry(word(&event)).or_default();
        let members = members(&event["result"]);
        shape.any.extend(members.iter().cloned());
        shape.every = Some(match shape.every.take() {
            Some(every) => every.intersection(&members).cloned().collect(),
            None => members,
        });
    }
    for mut envelope in states(traces).iter().flat_map(|state| state["events"].as_array().unwrap().clone()) {
        doubles(&mut envelope);
        let event_type = envelope["eventType"].as_str().unwrap().to_owned();
        let result = json!({"statusUpdate": {"metadata": {"iac_code": {"pipeline": envelope}}}});
        shapes.entry(event_type).or_default().any.extend(members(&result));
    }
    shapes
}

/// Says a word and allows, or answers, whatever the kernel asks; gives every event.
async fn conversation(client: &TestClient, text: &str) -> Vec<Value> {
    let context = format!("agui-{text}");
    let message = |id: &str| Outgoing::new(id, &context, "/ws");
    let mut events = Vec::new();
    let mut next = message("m").with_text(text);
    loop {
        let mut stream = client.post("/", &next.streaming()).await.unwrap().events();
        let second_candidate = |event: &Value| {
            let pipeline = &iac(event)["pipeline"];
            pipeline["eventType"] == "permission_requested" && pipeline["candidate"]["index"] == json!(1.0)
        };
        if stream.read_until(|event| second_candidate(&event.json)).await.is_some() {
            for event in stream.so_far().json().iter().filter(|event| !iac(event)["input"].is_null()) {
                let answer = message("a").with_decision(&iac(event)["input"], "allow_once");
                crate::kernel::call(client, &answer.unary()).await;
            }
        }
        events.extend(stream.collect().await.json());
        let input = iac(events.last().unwrap())["input"].clone();
        next = match input["kind"].as_str() {
            None => return events,
            Some("permission") => message("a").with_decision(&input, "allow_once"),
            Some(_) => message("a").with_text("basic").with_task(input["requestTaskId"].as_str().unwrap()),
        };
    }
}

#[tokio::test]
async fn the_demo_kernel_has_the_members_of_the_recorded_one() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let shapes = shapes(&fixtures());
    let mut compared = BTreeSet::new();
    let mut wrong = BTreeSet::new();
    for text in ["chat", "tool", "both", "fail", "question", "pipeline"] {
        for event in conversation(&client, text).await {
            let word = word(&event);
            let Some(shape) = shapes.get(&word) else { continue };
            let members = members(&event["result"]);
            let extra = beyond(&members, &shape.any, &DOCUMENTED);
            wrong.extend(extra.iter().map(|member| format!("{word}: {member} is not in the record")));
            let missing = beyond(shape.every.as_ref().unwrap_or(&members), &members, &VARYING);
            wrong.extend(missing.iter().map(|member| format!("{word}: {member} is missing")));
            compared.insert(word);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared.len() > 30, "{compared:?}");
}

#[tokio::test]
async fn a_parked_task_looks_as_the_recorded_one() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let asked = stream(&client, &says("write a file")).await;
    let mine = members(&get_task(&client, &task_id(&asked)).await);
    let trace = Trace::fixture("c_allow_once").unwrap();
    let reply = &trace.exchanges.iter().find(|exchange| exchange.kind() == "GetTask").unwrap().pieces[0].1;
    let theirs: Value = serde_json::from_slice(reply).unwrap();
    let theirs = members(&theirs["result"]);
    assert_eq!((beyond(&mine, &theirs, &VARYING), beyond(&theirs, &mine, &VARYING)), (vec![], vec![]));
}

#[tokio::test]
async fn a_snapshot_has_the_members_of_the_recorded_ones() {
    let (_kernel, client) = demo(DemoConfig::instant()).await;
    let events = conversation(&client, "pipeline").await;
    let id = events[0]["result"]["task"]["id"].as_str().unwrap().to_owned();
    let (_, state) = get(&client, &format!("/iac-code/pipeline/state?taskId={id}&afterSequence=3")).await;
    let keys = |state: &Value| -> BTreeSet<String> {
        state["snapshot"].as_object().unwrap().keys().cloned().collect()
    };
    let recorded = states(&fixtures());
    assert!(recorded.iter().all(|other| keys(other) == keys(&state)));
    let any: BTreeSet<String> = recorded.iter().flat_map(|state| members(&state["snapshot"])).collect();
    assert_eq!(beyond(&members(&state["snapshot"]), &any, &DOCUMENTED), Vec::<String>::new());
}
