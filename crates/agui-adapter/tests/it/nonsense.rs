//! Whatever a kernel sends: the stream is valid and has one terminal event, and the thread is free again.

use std::sync::Arc;
use std::time::Duration;

use a2a_client::{Client, ClientConfig};
use agui_adapter::{Adapter, AdapterConfig, Kernel};
use agui_core::{Agent, Event, Outcome, Problem, RunAgentInput, RunRequest, RunStream, Verifier};
use agui_store::MemoryStore;
use agui_testkit::client::input::{RunInput, cancelled, resolved};
use agui_testkit::faulty::{FaultyServer, Script, Step, ids};
use agui_testkit::wire::{self, State, iac, status};
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time::timeout;

/// Scenarios that are played side by side: most of their time they wait for a question beside the stream.
const SCENARIOS: usize = 24;
/// Runs of one conversation.
const RUNS: usize = 4;

/// What a kernel does, one conversation long.
#[derive(Debug, Clone)]
struct Scenario {
    streams: Vec<Vec<Thing>>,
    ends: Vec<Finish>,
    looks: Vec<Look>,
    cancel: Look,
}

/// One thing in a stream.
#[derive(Debug, Clone)]
enum Thing {
    Text(u8),
    Final(u8),
    Thinking,
    Tool(u8, u8),
    Usage,
    State(u8, bool),
    Asks(u8, u8, bool),
    Lists(u8),
    Receipt(u8, u8),
    Pipeline(u8, u8),
    Artifact,
    Task(u8),
    Message,
    Stranger(u8),
    Garbage(u8),
    ErrorEvent,
}

#[derive(Debug, Clone, Copy)]
enum Finish {
    End,
    Fin,
    Rst,
    Half,
}

/// The answer to a call about the task.
#[derive(Debug, Clone, Copy)]
enum Look {
    State(u8),
    Asks(u8),
    NotFound,
    NotCancelable,
    Broken,
}

fn thing() -> impl Strategy<Value = Thing> {
    prop_oneof![
        4 => (0..4_u8).prop_map(Thing::Text),
        1 => (0..4_u8).prop_map(Thing::Final),
        1 => Just(Thing::Thinking),
        3 => (0..7_u8, 0..3_u8).prop_map(|(status, call)| Thing::Tool(status, call)),
        1 => Just(Thing::Usage),
        3 => (0..9_u8, any::<bool>()).prop_map(|(state, error)| Thing::State(state, error)),
        3 => (0..3_u8, 0..3_u8, any::<bool>()).prop_map(|(kind, id, stops)| Thing::Asks(kind, id, stops)),
        1 => (0..3_u8).prop_map(Thing::Lists),
        2 => (0..5_u8, 0..3_u8).prop_map(|(kind, id)| Thing::Receipt(kind, id)),
        3 => (0..12_u8, 0..6_u8).prop_map(|(event, sequence)| Thing::Pipeline(event, sequence)),
        1 => Just(Thing::Artifact),
        1 => (0..9_u8).prop_map(Thing::Task),
        1 => Just(Thing::Message),
        1 => (0..3_u8).prop_map(Thing::Stranger),
        1 => (0..5_u8).prop_map(Thing::Garbage),
        1 => Just(Thing::ErrorEvent),
    ]
}

fn look() -> impl Strategy<Value = Look> {
    prop_oneof![
        3 => (0..8_u8).prop_map(Look::State),
        2 => (0..3_u8).prop_map(Look::Asks),
        1 => Just(Look::NotFound),
        1 => Just(Look::NotCancelable),
        1 => Just(Look::Broken),
    ]
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let finish = prop_oneof![Just(Finish::End), Just(Finish::Fin), Just(Finish::Rst), Just(Finish::Half)];
    let streams = prop::collection::vec(prop::collection::vec(thing(), 0..10), 1..6);
    let ends = prop::collection::vec(finish, 6);
    (streams, ends, prop::collection::vec(look(), 1..6), look())
        .prop_map(|(streams, ends, looks, cancel)| Scenario { streams, ends, looks, cancel })
}

fn name(stem: &str, number: u8) -> String {
    if number == 0 { String::new() } else { format!("{stem}{number}") }
}

fn state(number: u8) -> State {
    State::ALL[usize::from(number) % State::ALL.len()]
}

/// Subscriptions and looks do not name the context, so their answers must not either.
fn nameless(mut result: Value) -> Value {
    for kind in ["statusUpdate", "artifactUpdate", "task", "message"] {
        if let Some(update) = result[kind].as_object_mut() {
            update.remove("contextId");
        }
    }
    result
}

fn question(kind: u8, id: u8) -> Value {
    let kinds = ["permission", "ask_user_question", "unheard_of"];
    json!({
        "schemaVersion": 1, "kind": kinds[usize::from(kind)], "inputId": name("q", id), "toolUseId": name("c", id),
        "requestTaskId": ids().task_id, "prompt": "?", "required": true, "allowFreeText": true,
        "options": [{"id": "a"}, {"id": "a"}],
    })
}

fn result(thing: &Thing) -> Value {
    let own = ids();
    let update = |state: State, more: Value| status(&own, state, iac(&own, more));
    match thing {
        Thing::Text(text) => wire::text_delta(&own, &name("text ", *text)),
        Thing::Final(text) => wire::final_text(&own, &name("text ", *text)),
        Thing::Thinking => wire::thinking(&own, "hm"),
        Thing::Tool(at, call) => tool(*at, *call),
        Thing::Usage => update(State::Working, json!({"usage": {"inputTokens": -1, "outputTokens": 2.0}})),
        Thing::State(number, true) => update(state(*number), json!({"error": {"retryable": true}})),
        Thing::State(number, false) => update(state(*number), json!({})),
        Thing::Asks(kind, id, stops) => {
            let state = if *stops { State::InputRequired } else { State::Working };
            update(state, json!({"input": question(*kind, *id)}))
        }
        Thing::Lists(id) => {
            update(State::Working, json!({"pendingPermissions": [question(0, *id), question(0, *id)]}))
        }
        Thing::Receipt(kind, id) => update(State::Working, receipt(*kind, *id)),
        Thing::Pipeline(event, sequence) => update(State::Working, pipeline(*event, *sequence)),
        Thing::Artifact => wire::artifact(&own, json!({"artifactId": "a", "parts": [{"text": "x"}]})),
        Thing::Task(number) => wire::task(&own, state(*number), None),
        Thing::Message => json!({"message": wire::agent_message(&own, "m", "Hi")}),
        Thing::Stranger(which) => stranger(*which),
        Thing::Garbage(_) | Thing::ErrorEvent => Value::Null,
    }
}

fn tool(at: u8, call: u8) -> Value {
    let all = ["started", "input_delta", "input_complete", "progress", "completed", "failed", "?"];
    let (status, id) = (all[usize::from(at)], name("c", call));
    wire::tool(&ids(), &json!({"status": status, "toolUseId": id, "name": "x", "toolInput": {"a": at}}))
}

fn receipt(kind: u8, id: u8) -> Value {
    let kinds = [
        "inputReceived",
        "permissionAck",
        "permissionIdentityError",
        "permissionRecovered",
        "permissionWait",
    ];
    let about =
        json!({"inputId": name("q", id), "kind": "permission", "accepted": false, "decision": "deny"});
    json!({ kinds[usize::from(kind)]: about })
}

/// Types of pipeline events that are mapped in ways of their own.
const EVENTS: [&str; 12] = [
    "pipeline_started",
    "step_started",
    "step_completed",
    "text_delta",
    "thinking_delta",
    "tool_started",
    "tool_result",
    "input_required",
    "permission_requested",
    "permission_resolved",
    "message_tombstone",
    "pipeline_completed",
];

fn pipeline(event: u8, sequence: u8) -> Value {
    let data = json!({
        "text": "x", "stepId": "s", "toolUseId": "c1", "toolName": "x", "kind": "deployment_confirmation",
        "inputId": "q1",
    });
    json!({"pipeline": {
        "eventId": name("e", sequence), "sequence": sequence, "eventType": EVENTS[usize::from(event)],
        "pipelineRunId": "p", "taskId": ids().task_id, "iacCodeSessionId": ids().session_id, "data": data,
    }})
}

/// An update of another task, context or session.
fn stranger(which: u8) -> Value {
    let mut other = ids();
    match which {
        0 => other.task_id = "stranger".to_owned(),
        1 => other.context_id = "stranger".to_owned(),
        _ => other.session_id = "stranger".to_owned(),
    }
    status(&other, State::Working, iac(&other, json!({})))
}

fn step(thing: &Thing, names_context: bool) -> Step {
    match thing {
        Thing::Garbage(which) => {
            let all = ["", "{", "null", r#"{"result":{}}"#, r#"{"result":{"statusUpdate":{"status":7}}}"#];
            Step::Datum(all[usize::from(*which)].to_owned())
        }
        Thing::ErrorEvent => Step::ErrorEvent { code: -32603, message: "x".to_owned() },
        other if names_context => Step::Result(result(other)),
        other => Step::Result(nameless(result(other))),
    }
}

fn stream(things: &[Thing], end: Finish, names_context: bool) -> Vec<Step> {
    let mut steps = vec![Step::sse()];
    steps.extend(things.iter().map(|thing| step(thing, names_context)));
    match end {
        Finish::End => {}
        Finish::Fin => steps.push(Step::Fin),
        Finish::Rst => steps.push(Step::Rst),
        Finish::Half => steps.push(Step::Half { result: wire::text_delta(&ids(), "half"), bytes: 20 }),
    }
    steps
}

fn answer(look: Look) -> Step {
    let task = |state: State, more: Value| {
        let metadata = json!({"iac_code": iac(&ids(), more)});
        Step::Reply(json!({"id": ids().task_id, "status": {"state": state.as_str()}, "metadata": metadata}))
    };
    match look {
        Look::State(number) => task(state(number), json!({})),
        Look::Asks(id) => task(State::InputRequired, json!({"input": question(0, id)})),
        Look::NotFound => Step::error(-32001, "x"),
        Look::NotCancelable => Step::error(-32002, "x"),
        Look::Broken => Step::json(500, &json!({})),
    }
}

fn script(scenario: &Scenario) -> Script {
    let mut script = Script::new();
    for (at, things) in scenario.streams.iter().enumerate() {
        let end = scenario.ends[at];
        script = script
            .on("SendStreamingMessage", stream(things, end, true))
            .on("SubscribeToTask", stream(things, end, false));
        let reply = things.first().map_or(Value::Null, |thing| nameless(result(thing)));
        script = script.on("SendMessage", [Step::Reply(reply)]);
    }
    for look in &scenario.looks {
        script = script.on("GetTask", [answer(*look)]);
    }
    script
        .always("CancelTask", [answer(scenario.cancel)])
        .always("POST /iac-code/session/ensure-restored", [Step::json(200, &json!({"status": "current"}))])
}

/// A client that answers what it was asked last, as long as it waits.
struct Talk {
    adapter: Adapter,
    workspace: tempfile::TempDir,
    /// The ids of the last questions, and whether each is a permission.
    asked: Vec<(String, bool)>,
}

impl Talk {
    /// Sends a message, or the answers if the thread waits for them; `None` if the thread cannot go on now.
    async fn run(&mut self, number: usize) -> Option<Vec<Event>> {
        let run = format!("r{number}");
        let message = RunInput::new("t", &run, self.workspace.path().to_str().unwrap());
        let stream = match self.post(&message.clone().with_user("go")).await {
            Ok(stream) => stream,
            Err(problem) if problem.code == "RESUME_REQUIRED" => {
                self.post(&self.answers(message, number)).await.unwrap()
            }
            Err(problem) => {
                assert_eq!(
                    problem.code, "A2A_UNAVAILABLE",
                    "the task that was left behind cannot be cancelled"
                );
                return None;
            }
        };
        let events: Vec<Event> = timeout(Duration::from_secs(30), stream.collect()).await.unwrap();
        check(&run, &events);
        assert!(!self.adapter.is_thread_active(&"t".into()), "the thread is free");
        Some(events)
    }

    async fn post(&self, input: &RunInput) -> Result<RunStream, Problem> {
        let body = input.to_json().to_string();
        self.adapter.run(RunRequest::new(RunAgentInput::decode(body.as_bytes()).unwrap(), body.into())).await
    }

    fn answers(&self, mut input: RunInput, number: usize) -> RunInput {
        for (at, (id, is_permission)) in self.asked.iter().enumerate() {
            input = input.with_answer(match (is_permission, (at + number) % 3) {
                (_, 2) => cancelled(id),
                (true, _) => resolved(id, &json!({"decision": "allow_once"})),
                (false, _) => resolved(id, &json!({"freeText": "x"})),
            });
        }
        input
    }
}

/// A conversation with such a kernel.
async fn converse(scenario: &Scenario) {
    let kernel = FaultyServer::start(script(scenario)).await.unwrap();
    let workspace = tempfile::tempdir().unwrap();
    let config = ClientConfig::new(kernel.url()).with_idle_timeout(Duration::from_secs(2));
    let settings = AdapterConfig::new([workspace.path().to_owned()]);
    let client = Kernel::fixed(Client::new(config).unwrap());
    let adapter = Adapter::new(settings, Arc::new(MemoryStore::new()), client);
    let mut talk = Talk { adapter, workspace, asked: Vec::new() };
    for number in 0..RUNS {
        let Some(events) = talk.run(number).await else { break };
        if let Some(asked) = questions(&events) {
            talk.asked = asked;
        }
    }
    talk.adapter.shutdown().await;
    kernel.connections().wait_open(0).await.unwrap();
}

fn check(run: &str, events: &[Event]) {
    let mut verifier = Verifier::for_run("t", run);
    for event in events {
        verifier.check(event).unwrap_or_else(|violation| panic!("{violation}: {events:#?}"));
    }
    verifier.finish().unwrap();
    let ends = |event: &&Event| matches!(event, Event::RunFinished(_) | Event::RunError(_));
    assert_eq!(events.iter().filter(ends).count(), 1);
}

/// The questions that ended a run.
fn questions(events: &[Event]) -> Option<Vec<(String, bool)>> {
    let Some(Event::RunFinished(finished)) = events.last() else { return None };
    let Some(Outcome::Interrupt { interrupts }) = &finished.outcome else { return None };
    Some(interrupts.iter().map(|asked| (asked.id.to_string(), asked.reason == "tool_call")).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s5_4_whatever_the_kernel_sends_every_run_is_valid_and_ends_once(
        scenarios in prop::collection::vec(scenario(), SCENARIOS),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(join_all(scenarios.iter().map(converse)));
    }
}
