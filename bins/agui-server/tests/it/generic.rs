//! `--profile generic`: an agent that is not iac-code and knows nothing of it.

mod asks;
mod cards;
mod ends;
mod files;
mod runs;

use agui_testkit::client::Recording;
use agui_testkit::client::input::RunInput;
use agui_testkit::faulty::{FaultyServer, Script, Step};
use serde_json::{Value, json};

use crate::stack::{Stack, faulty};

const CARD: &str = "GET /.well-known/agent-card.json";
const OLD_CARD: &str = "GET /.well-known/agent.json";

/// A scripted agent and the server in front of it.
struct Plain {
    agent: FaultyServer,
    stack: Stack,
}

impl Plain {
    /// An agent of A2A 1.0 that can stream.
    async fn start(script: Script) -> Self {
        Self::with_card(&card("1.0", true), script, &[]).await
    }

    async fn with_card(card: &Value, script: Script, flags: &[&str]) -> Self {
        let agent = faulty(Script::new()).await;
        agent.set_script(script.always(CARD, [Step::json(200, &at(card, &agent.url()))]));
        let flags = [&["--profile", "generic"], flags].concat();
        let stack = Stack::start_with(&agent.url(), &flags, &[]).await;
        Self { agent, stack }
    }

    /// The next exchanges; the card stays.
    fn play(&self, script: Script) {
        self.agent.set_script(script);
    }

    async fn say(&self, thread: &str, run: &str) -> Recording {
        self.stack.run(&input(thread, run).with_user("go")).await
    }

    /// The messages that the agent got, oldest first.
    fn messages(&self) -> Vec<Value> {
        let all = self.agent.requests().all();
        all.iter().map(|request| request.message().clone()).filter(Value::is_object).collect()
    }

    async fn cancel(&self, recording: &Recording, thread: &str) -> (u16, Value) {
        let execution = ids(recording)["executionId"].as_str().unwrap().to_owned();
        let path = format!("/extensions/iac-code/v1/executions/{execution}/cancel");
        let response = self.stack.client.post(&path, &json!({"threadId": thread})).await.unwrap();
        (response.status, response.json().await.unwrap())
    }
}

/// A request without anything that only iac-code knows.
fn input(thread: &str, run: &str) -> RunInput {
    RunInput::new(thread, run, "").with("forwardedProps", json!({}))
}

/// A card whose one address is filled in by [`at`].
fn card(version: &str, streaming: bool) -> Value {
    let interface = json!({"url": "", "protocolBinding": "JSONRPC", "protocolVersion": version});
    json!({"name": "plain", "supportedInterfaces": [interface], "capabilities": {"streaming": streaming}})
}

/// The card with the agent's address, which agents tend to call by another name.
fn at(card: &Value, url: &str) -> Value {
    let own = format!("{}/", url.replace("127.0.0.1", "localhost"));
    let mut card = card.clone();
    for place in ["/supportedInterfaces/0/url", "/url"] {
        if let Some(address) = card.pointer_mut(place) {
            *address = json!(own);
        }
    }
    card
}

/// A streamed answer of 1.0.
fn stream(results: impl IntoIterator<Item = Value>) -> Vec<Step> {
    std::iter::once(Step::sse()).chain(results.into_iter().map(Step::Result)).collect()
}

/// The task `T1` as it stands.
fn task(state: &str) -> Value {
    json!({"id": "T1", "contextId": "C1", "status": {"state": format!("TASK_STATE_{state}")}})
}

fn status(state: &str, message: Option<Value>) -> Value {
    let mut update =
        json!({"taskId": "T1", "contextId": "C1", "status": {"state": format!("TASK_STATE_{state}")}});
    if let Some(message) = message {
        update["status"]["message"] = message;
    }
    json!({"statusUpdate": update})
}

fn says(id: &str, text: &str) -> Value {
    json!({"messageId": id, "role": "ROLE_AGENT", "parts": [{"text": text}]})
}

fn artifact(id: &str, parts: &Value) -> Value {
    json!({"artifactUpdate": {"taskId": "T1", "contextId": "C1", "artifact": {"artifactId": id, "parts": parts}}})
}

/// A turn that is done at once.
fn done() -> Vec<Step> {
    stream([json!({"task": task("SUBMITTED")}), status("COMPLETED", Some(says("m1", "Done.")))])
}

/// A turn that stops at a question.
fn asks(id: &str, question: &str) -> Vec<Step> {
    stream([json!({"task": task("WORKING")}), status("INPUT_REQUIRED", Some(says(id, question)))])
}

/// The value of a custom event.
fn custom<'r>(recording: &'r Recording, name: &str) -> Vec<&'r Value> {
    let events = recording.events.iter().map(|event| &event.json);
    events.filter(|event| event["name"] == name).map(|event| &event["value"]).collect()
}

/// The ids that the run announced.
fn ids(recording: &Recording) -> &Value {
    custom(recording, "a2a.task.v1").first().expect("the ids of the task")
}

/// The text messages, in the order in which they began.
fn texts(recording: &Recording) -> Vec<String> {
    let mut texts: Vec<(String, String)> = Vec::new();
    for event in recording.events.iter().map(|event| &event.json) {
        if event["type"] != "TEXT_MESSAGE_CONTENT" {
            continue;
        }
        let (id, delta) = (event["messageId"].as_str().unwrap(), event["delta"].as_str().unwrap());
        match texts.iter_mut().find(|(known, _)| known == id) {
            Some((_, text)) => text.push_str(delta),
            None => texts.push((id.to_owned(), delta.to_owned())),
        }
    }
    texts.into_iter().map(|(_, text)| text).collect()
}
