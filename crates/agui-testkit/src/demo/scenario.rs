//! The scenarios and the words that choose them.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use uuid::Uuid;

use super::message::{Message, RpcError};
use super::task::Mode;
use super::turn::{End, Turn};
use crate::wire::{Ids, agent_message};

mod candidates;
mod chat;
mod pipeline;
mod place;
mod questions;
mod tools;
mod trouble;

/// The words that choose a scenario and what each of them does. The first of them in the prompt wins;
/// a prompt without any is answered as `chat`, or by `pipeline` when the request asks for a pipeline.
pub const SCENARIOS: &[(&str, &str)] = &[
    ("chat", "thinks, repeats what you said and tells what it can do"),
    ("tool", "runs a read-only tool and talks about its result"),
    ("progress", "runs a remote tool that reports its progress"),
    ("write", "asks for permission to write a file; allow and deny end differently"),
    ("both", "asks for permission twice, one after the other"),
    ("identity", "asks for permission and refuses the first answer: the cloud identity has to be checked"),
    ("question", "a pipeline that asks a question with options and free text"),
    ("pipeline", "a pipeline with two parallel candidates, a permission in each, and a selection"),
    ("confirm", "a pipeline that ends with a deployment to confirm"),
    ("slow", "120 lines, one a second, to be cancelled"),
    ("hold", "says one thing and is silent for minutes, to be cancelled"),
    ("long", "2000 pieces of text without a pause; `long 500` for 500"),
    ("retry", "fails for the moment; the same message works when it is sent again"),
    ("fail", "fails for good"),
    ("refuse", "is refused before anything starts"),
    ("direct", "answers with a plain message instead of a task"),
];

/// One of [`SCENARIOS`], or the clean-up that a flag of the request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scenario {
    Chat,
    Tool,
    Progress,
    Write,
    Both,
    Identity,
    Question,
    Pipeline,
    Confirm,
    Slow,
    Hold,
    Long,
    Retry,
    Fail,
    Direct,
    Cleanup,
}

impl Scenario {
    pub(super) const fn mode(self) -> Mode {
        match self {
            Self::Question | Self::Pipeline | Self::Confirm => Mode::Pipeline,
            _ => Mode::Normal,
        }
    }
}

/// The scenario of a message.
pub(super) fn choose(message: &Message) -> Result<Scenario, RpcError> {
    if message.cleanup_only {
        return Ok(Scenario::Cleanup);
    }
    let lower = message.text.to_lowercase();
    let known = |word: &str| SCENARIOS.iter().find(|(name, _)| *name == word).map(|(name, _)| *name);
    let word = lower.split(|c: char| !c.is_alphanumeric()).find_map(known);
    Ok(match word {
        Some("tool") => Scenario::Tool,
        Some("progress") => Scenario::Progress,
        Some("write") => Scenario::Write,
        Some("both") => Scenario::Both,
        Some("identity") => Scenario::Identity,
        Some("question") => Scenario::Question,
        Some("pipeline") => Scenario::Pipeline,
        Some("confirm") => Scenario::Confirm,
        Some("slow") => Scenario::Slow,
        Some("hold") => Scenario::Hold,
        Some("long") => Scenario::Long,
        Some("retry") => Scenario::Retry,
        Some("fail") => Scenario::Fail,
        Some("direct") => Scenario::Direct,
        Some("refuse") => {
            return Err(RpcError::invalid("Current model demo-model does not support this input."));
        }
        None if message.mode == Some(Mode::Pipeline) => match message.pipeline_name.as_str() {
            "selling_solution_first" => Scenario::Confirm,
            _ => Scenario::Pipeline,
        },
        _ => Scenario::Chat,
    })
}

/// The whole answer of a scenario that makes no task.
pub(super) fn direct_reply(scenario: Scenario, message: &Message) -> Option<Value> {
    if scenario != Scenario::Direct {
        return None;
    }
    let ids = Ids::new("", message.context_id.as_str(), "");
    let text = format!("Without any task: {}", message.text);
    let mut reply = agent_message(&ids, &Uuid::new_v4().to_string(), &text);
    reply.as_object_mut()?.remove("taskId");
    Some(reply)
}

/// Plays a scenario to its end.
pub(super) fn play(scenario: Scenario, turn: &Turn) -> BoxFuture<'_, End> {
    match scenario {
        Scenario::Chat | Scenario::Direct => chat::chat(turn).boxed(),
        Scenario::Long => chat::long(turn).boxed(),
        Scenario::Slow => chat::slow(turn).boxed(),
        Scenario::Hold => chat::hold(turn).boxed(),
        Scenario::Cleanup => chat::cleanup(turn).boxed(),
        Scenario::Tool => tools::tool(turn).boxed(),
        Scenario::Progress => tools::progress(turn).boxed(),
        Scenario::Write => tools::write(turn, tools::Identity::Clear).boxed(),
        Scenario::Identity => tools::write(turn, tools::Identity::Doubtful).boxed(),
        Scenario::Both => tools::both(turn).boxed(),
        Scenario::Retry => trouble::retry(turn).boxed(),
        Scenario::Fail => trouble::fail(turn).boxed(),
        Scenario::Question => questions::question(turn).boxed(),
        Scenario::Confirm => questions::confirm(turn).boxed(),
        Scenario::Pipeline => pipeline::pipeline(turn).boxed(),
    }
}
