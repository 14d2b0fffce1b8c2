//! Agents that say things, make things and ask, seen through connections that break: each piece of text is
//! shown once.

use std::collections::{BTreeMap, BTreeSet};

use agui_core::Event;
use agui_mapper::{Dialect, Ending};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::stream::{Run, config};

/// Names of messages and of artifacts alike.
const NAMES: [&str; 5] = ["a", "b", "a#2", "message", ""];

/// What happens next.
#[derive(Debug, Clone)]
enum Step {
    /// The agent says something about its work, under a new id, the last one or one of [`NAMES`].
    Say(Id),
    /// An artifact grows; possibly by its last piece.
    Grow { artifact: usize, last: bool },
    /// An artifact is sent as a whole: with more text than before, or with another text.
    Put { artifact: usize, fresh: bool },
    /// The connection breaks.
    Cut,
    /// The task is read, and subscribed to again.
    Look,
    /// The task is read as it was when it was read last.
    LookBack,
    /// The agent asks, and gets its answer.
    Ask,
    /// The agent asks, and goes on before it gets an answer.
    AskInVain,
}

#[derive(Debug, Clone)]
enum Id {
    New,
    Last,
    Named(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let id = prop_oneof![3 => Just(Id::New), 3 => Just(Id::Last), 1 => (0..NAMES.len()).prop_map(Id::Named)];
    let artifact = || 0..NAMES.len();
    prop_oneof![
        6 => id.prop_map(Step::Say),
        6 => (artifact(), prop::bool::weighted(0.2)).prop_map(|(artifact, last)| Step::Grow { artifact, last }),
        3 => (artifact(), any::<bool>()).prop_map(|(artifact, fresh)| Step::Put { artifact, fresh }),
        2 => Just(Step::Cut),
        2 => Just(Step::Look),
        1 => Just(Step::LookBack),
        1 => Just(Step::Ask),
        1 => Just(Step::AskInVain),
    ]
}

/// What a piece of text belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Message(String),
    Artifact(String),
}

/// A task as its agent knows it.
#[derive(Default)]
struct Agent {
    /// Role, id and text, oldest first.
    history: Vec<(&'static str, String, String)>,
    status: Option<(String, String)>,
    state: &'static str,
    artifacts: Vec<(String, String)>,
    pieces: usize,
    messages: usize,
    /// What each piece of text belongs to, in the order in which they came to be.
    made: Vec<(String, Source)>,
    old_spelling: bool,
}

impl Agent {
    /// A piece of text like no other, sometimes too short to be recognised by more than all of it.
    fn piece(&mut self, source: Source) -> String {
        self.pieces += 1;
        let piece = format!("<{}{}>", self.pieces, ".".repeat(self.pieces * 7 % 23));
        self.made.push((piece.clone(), source));
        piece
    }

    fn new_id(&mut self) -> String {
        self.messages += 1;
        format!("m{}", self.messages)
    }

    /// The message that the status has had goes to the history.
    fn set_status(&mut self, state: &'static str, message: Option<(String, String)>) {
        if let Some((id, text)) = self.status.take() {
            self.history.push(("agent", id, text));
        }
        (self.state, self.status) = (state, message);
    }

    fn say(&mut self, id: &Id) -> Value {
        let id = match id {
            Id::New => self.new_id(),
            Id::Last => self.status.as_ref().map_or_else(|| "a".to_owned(), |(id, _)| id.clone()),
            Id::Named(name) => NAMES[*name].to_owned(),
        };
        let text = self.piece(Source::Message(id.clone()));
        self.set_status("working", Some((id, text)));
        self.update()
    }

    fn artifact(&mut self, name: usize) -> &mut String {
        let at = self.artifacts.iter().position(|(id, _)| id == NAMES[name]).unwrap_or_else(|| {
            self.artifacts.push((NAMES[name].to_owned(), String::new()));
            self.artifacts.len() - 1
        });
        &mut self.artifacts[at].1
    }

    fn grow(&mut self, name: usize, last: bool) -> Value {
        let piece = self.piece(Source::Artifact(NAMES[name].to_owned()));
        self.artifact(name).push_str(&piece);
        self.artifact_update(NAMES[name], &piece, true, last)
    }

    fn put(&mut self, name: usize, fresh: bool) -> Value {
        let piece = self.piece(Source::Artifact(NAMES[name].to_owned()));
        let text = self.artifact(name);
        if fresh {
            text.clear();
        }
        text.push_str(&piece);
        let text = text.clone();
        self.artifact_update(NAMES[name], &text, false, false)
    }

    /// Asks something, which is no part of the answer.
    fn ask(&mut self) -> Value {
        let question = (self.new_id(), "What now?".to_owned());
        self.set_status("input_required", Some(question));
        self.update()
    }

    fn get_answer(&mut self) {
        self.set_status("working", None);
        let id = self.new_id();
        self.history.push(("user", id, "That.".to_owned()));
    }

    fn part(&self, text: &str) -> Value {
        if self.old_spelling { json!({"kind": "text", "text": text}) } else { json!({"text": text}) }
    }

    fn message(&self, role: &str, id: &str, text: &str) -> Value {
        let parts = [self.part(text)];
        if self.old_spelling {
            json!({"kind": "message", "role": role, "messageId": id, "parts": parts})
        } else {
            json!({"role": format!("ROLE_{}", role.to_uppercase()), "messageId": id, "parts": parts})
        }
    }

    fn status(&self) -> Value {
        let message = self.status.as_ref().map(|(id, text)| self.message("agent", id, text));
        let state = match self.old_spelling {
            true => self.state.replace('_', "-"),
            false => format!("TASK_STATE_{}", self.state.to_uppercase()),
        };
        json!({"state": state, "message": message})
    }

    fn wrap(&self, name: &str, kind: &str, mut value: Value) -> Value {
        if self.old_spelling {
            value["kind"] = json!(kind);
            value
        } else {
            json!({ name: value })
        }
    }

    fn update(&self) -> Value {
        let update = json!({"taskId": "T1", "contextId": "C1", "status": self.status()});
        self.wrap("statusUpdate", "status-update", update)
    }

    fn artifact_update(&self, id: &str, text: &str, append: bool, last: bool) -> Value {
        let artifact = json!({"artifactId": id, "parts": [self.part(text)]});
        let update = json!({"taskId": "T1", "contextId": "C1", "artifact": artifact, "append": append, "lastChunk": last});
        self.wrap("artifactUpdate", "artifact-update", update)
    }

    fn task(&self) -> Value {
        let history: Vec<Value> =
            self.history.iter().map(|(role, id, text)| self.message(role, id, text)).collect();
        let artifacts: Vec<Value> = self
            .artifacts
            .iter()
            .map(|(id, text)| json!({"artifactId": id, "parts": [self.part(text)]}))
            .collect();
        let task = json!({"id": "T1", "contextId": "C1", "status": self.status(), "history": history, "artifacts": artifacts});
        self.wrap("task", "task", task)
    }
}

/// A thread that follows an agent over several runs.
struct Thread {
    agent: Agent,
    run: Run,
    runs: usize,
    connected: bool,
    last_look: Option<Value>,
    events: Vec<Event>,
}

impl Thread {
    fn begin(old_spelling: bool) -> Self {
        let agent = Agent { state: "working", old_spelling, ..Agent::default() };
        let run = Run::new(config("r1").with_dialect(Dialect::Plain));
        Self { agent, run, runs: 1, connected: true, last_look: None, events: Vec::new() }
    }

    fn hear(&mut self, update: &Value) {
        if self.connected {
            self.run.feed(update);
        }
    }

    fn look(&mut self) {
        let task = self.agent.task();
        self.run.feed(&task);
        self.last_look = Some(task);
        self.connected = true;
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Say(id) => {
                let update = self.agent.say(id);
                self.hear(&update);
            }
            Step::Grow { artifact, last } => {
                let update = self.agent.grow(*artifact, *last);
                self.hear(&update);
            }
            Step::Put { artifact, fresh } => {
                let update = self.agent.put(*artifact, *fresh);
                self.hear(&update);
            }
            Step::Cut => self.connected = false,
            Step::Look => self.look(),
            Step::LookBack => {
                if let Some(task) = self.last_look.clone() {
                    self.run.feed(&task);
                }
            }
            Step::Ask => {
                self.park();
                self.resume();
                let open = self.run.mapper.observed().open_inputs[0].input_id.to_string();
                self.run.mapper.answered(&open);
                self.agent.get_answer();
            }
            Step::AskInVain => {
                self.park();
                let update = self.agent.say(&Id::New);
                self.resume();
                self.hear(&update);
            }
        }
    }

    fn park(&mut self) {
        let question = self.agent.ask();
        self.hear(&question);
        if !self.connected {
            self.look();
        }
        let open = &self.run.mapper.observed().open_inputs;
        let questions = open.iter().map(|open| open.interrupt.clone()).collect();
        self.run.finish(Ending::Interrupt(questions));
    }

    /// The next run reads the task first, and goes on without a stream until it is looked for.
    fn resume(&mut self) {
        self.events.extend_from_slice(self.run.events());
        self.runs += 1;
        let stored = serde_json::to_string(&self.run.mapper.position()).unwrap();
        let next = config(&format!("r{}", self.runs))
            .with_dialect(Dialect::Plain)
            .with_task_id("T1")
            .with_resume(serde_json::from_str(&stored).unwrap())
            .with_pending(self.run.mapper.observed().open_inputs.clone());
        self.run = Run::new(next);
        self.last_look = None;
        self.look();
        self.connected = false;
    }

    /// The task is done; all that it said was heard.
    fn end(mut self) -> (Agent, Vec<Event>) {
        self.agent.set_status("completed", None);
        let update = self.agent.update();
        self.hear(&update);
        if !self.connected {
            self.look();
        }
        self.run.finish(Ending::Success);
        self.events.extend_from_slice(self.run.events());
        (self.agent, self.events)
    }
}

/// The pieces of a text, which are in angle brackets.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('>')
}

/// The text of each message on the stream.
fn messages(events: &[Event]) -> BTreeMap<String, String> {
    let mut messages: BTreeMap<String, String> = BTreeMap::new();
    for event in events {
        if let Event::TextMessageContent(event) = event {
            messages.entry(event.message_id.to_string()).or_default().push_str(&event.delta);
        }
    }
    messages
}

fn check(agent: &Agent, events: &[Event]) {
    let order: BTreeMap<&str, (usize, &Source)> =
        agent.made.iter().enumerate().map(|(at, (piece, source))| (&**piece, (at, source))).collect();
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    let messages = messages(events);
    for (id, text) in &messages {
        let known: Vec<_> = pieces(text).map(|piece| order.get(piece).copied()).collect();
        assert!(known.iter().all(Option::is_some), "{id} is no text of the agent: {text}");
        let sources: BTreeSet<_> = known.iter().flatten().map(|(_, source)| source).collect();
        assert_eq!(sources.len(), 1, "{id} mixes {text}");
        assert!(known.is_sorted(), "{id} is out of order: {text}");
        for piece in pieces(text) {
            *shown.entry(piece).or_default() += 1;
        }
    }
    let repeated: Vec<_> = shown.iter().filter(|(_, times)| **times > 1).collect();
    assert!(repeated.is_empty(), "{repeated:?}");
    let lasting = agent.artifacts.iter().flat_map(|(_, text)| pieces(text));
    let said = agent.made.iter().filter(|(_, source)| matches!(source, Source::Message(_)));
    for piece in lasting.chain(said.map(|(piece, _)| &**piece)) {
        assert!(shown.contains_key(piece), "{piece} is lost");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn c37_whatever_breaks_each_piece_of_text_is_shown_once(
        steps in prop::collection::vec(step(), 0..40),
        old_spelling in any::<bool>(),
    ) {
        let mut thread = Thread::begin(old_spelling);
        for step in &steps {
            thread.take(step);
        }
        let (agent, events) = thread.end();
        check(&agent, &events);
    }
}
