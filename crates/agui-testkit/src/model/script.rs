//! The script format and the choice of a turn.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::pattern::Pattern;
use crate::error::TestkitError;

/// A script: turns in order, and what to say when none fits.
#[derive(Debug, Clone)]
pub struct ModelScript {
    turns: Vec<Turn>,
    fallback: Vec<Step>,
}

#[derive(Debug, Clone)]
struct Turn {
    when: Vec<(Fact, Pattern)>,
    left: u64,
    steps: Vec<Step>,
}

/// What a condition looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fact {
    LastUser,
    Last,
    LastRole,
    System,
    Body,
    Tool,
    NoTool,
}

/// One step of a turn; the members are carried out in this order.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Step {
    /// An HTTP error instead of an answer.
    pub(super) error: Option<Failure>,
    pub(super) text: Option<String>,
    pub(super) texts: Vec<String>,
    /// A text with `%d` for the number, sent `n` times.
    pub(super) repeat: Option<String>,
    pub(super) n: u64,
    pub(super) reasoning: Option<String>,
    pub(super) reasonings: Vec<String>,
    pub(super) tool: Option<ToolCall>,
    pub(super) delay_ms: u64,
    /// Waits until that name is released.
    pub(super) hold: Option<String>,
    /// Cuts the connection.
    pub(super) drop: bool,
    pub(super) finish: Option<String>,
    pub(super) usage: Option<Usage>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Failure {
    pub(super) status: Option<u16>,
    pub(super) body: Option<Value>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct ToolCall {
    pub(super) id: String,
    pub(super) name: String,
    /// An object, or the raw text of one.
    pub(super) args: Value,
    /// Characters in one piece (default 16).
    pub(super) chunk: Option<usize>,
}

impl ToolCall {
    pub(super) fn arguments(&self) -> String {
        self.args.as_str().map_or_else(|| self.args.to_string(), str::to_owned)
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
    pub(super) cached_tokens: u64,
}

impl Default for ModelScript {
    fn default() -> Self {
        let text = Some("(no scripted turn matched)".to_owned());
        Self { turns: Vec::new(), fallback: vec![Step { text, ..Step::default() }] }
    }
}

impl ModelScript {
    /// Reads a script file.
    ///
    /// # Errors
    /// An unreadable file, or see [`from_json`](Self::from_json).
    pub fn load(path: &Path) -> Result<Self, TestkitError> {
        let read = |source| TestkitError::Read { path: path.to_owned(), source };
        let text = std::fs::read(path).map_err(read)?;
        Self::from_json(&serde_json::from_slice(&text).map_err(TestkitError::Script)?)
    }

    /// The script of the trace of that name.
    ///
    /// # Errors
    /// See [`load`](Self::load).
    pub fn fixture(name: &str) -> Result<Self, TestkitError> {
        Self::load(&crate::replay::fixtures_dir().join(name).join("llm_script.json"))
    }

    /// Reads `{"turns": [{"when", "times", "steps"}], "fallback": {"steps"}}`.
    ///
    /// # Errors
    /// [`TestkitError::Script`] for members of another type, [`TestkitError::Pattern`] for conditions
    /// beyond literals, `.*` and `|`.
    pub fn from_json(value: &Value) -> Result<Self, TestkitError> {
        let mut script = Self::default();
        for turn in value["turns"].as_array().into_iter().flatten() {
            let mut when = Vec::new();
            for (key, pattern) in turn["when"].as_object().into_iter().flatten() {
                let pattern = Pattern::parse(pattern.as_str().unwrap_or_default())?;
                when.push((Fact::parse(key)?, pattern));
            }
            let left = match turn["times"].as_u64() {
                Some(0) => u64::MAX,
                Some(times) => times,
                None => 1,
            };
            script.turns.push(Turn { when, left, steps: steps(&turn["steps"])? });
        }
        if !value["fallback"]["steps"].is_null() {
            script.fallback = steps(&value["fallback"]["steps"])?;
        }
        Ok(script)
    }

    /// How many turns it has.
    #[must_use]
    pub const fn turns(&self) -> usize {
        self.turns.len()
    }

    /// Uses up the first turn that fits; gives its number, or `None` with the steps of the fallback.
    pub(super) fn pick(&mut self, request: &Value, raw: &str) -> (Option<usize>, Vec<Step>) {
        let facts = Facts::of(request, raw);
        let fits = |turn: &&mut Turn| {
            turn.left > 0 && turn.when.iter().all(|(fact, pattern)| facts.hold(*fact, pattern))
        };
        match self.turns.iter_mut().enumerate().find(|(_, turn)| fits(turn)) {
            Some((at, turn)) => {
                turn.left -= u64::from(turn.left != u64::MAX);
                (Some(at), turn.steps.clone())
            }
            None => (None, self.fallback.clone()),
        }
    }
}

fn steps(value: &Value) -> Result<Vec<Step>, TestkitError> {
    Vec::<Step>::deserialize(value).map_err(TestkitError::Script)
}

impl Fact {
    fn parse(name: &str) -> Result<Self, TestkitError> {
        Ok(match name {
            "last_user" => Self::LastUser,
            "last" => Self::Last,
            "last_role" => Self::LastRole,
            "system" => Self::System,
            "body" => Self::Body,
            "tool" => Self::Tool,
            "no_tool" => Self::NoTool,
            other => {
                let unknown = format!("unknown condition {other}");
                return Err(TestkitError::Script(serde::de::Error::custom(unknown)));
            }
        })
    }
}

/// What the conditions look at in one request.
struct Facts<'a> {
    last_user: String,
    last: String,
    last_role: &'a str,
    system: String,
    body: &'a str,
    tools: Vec<&'a str>,
}

impl<'a> Facts<'a> {
    fn of(request: &'a Value, body: &'a str) -> Self {
        let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let role = |message: &'a Value| message["role"].as_str().unwrap_or_default();
        let last_user = messages.iter().rev().find(|message| role(message) == "user");
        let system: Vec<String> =
            messages.iter().filter(|message| role(message) == "system").map(message_text).collect();
        let tools = request["tools"].as_array().into_iter().flatten();
        Self {
            last_user: last_user.map(message_text).unwrap_or_default(),
            last: messages.last().map(message_text).unwrap_or_default(),
            last_role: messages.last().map(role).unwrap_or_default(),
            system: system.join("\n"),
            body,
            tools: tools.filter_map(|tool| tool["function"]["name"].as_str()).collect(),
        }
    }

    fn hold(&self, fact: Fact, pattern: &Pattern) -> bool {
        let offered = || self.tools.iter().any(|tool| pattern.is_whole(tool));
        match fact {
            Fact::LastUser => pattern.found_in(&self.last_user),
            Fact::Last => pattern.found_in(&self.last),
            Fact::LastRole => pattern.found_in(self.last_role),
            Fact::System => pattern.found_in(&self.system),
            Fact::Body => pattern.found_in(self.body),
            Fact::Tool => offered(),
            Fact::NoTool => !offered(),
        }
    }
}

/// The text of a message; parts that are no text stand as `<type>`.
pub(super) fn message_text(message: &Value) -> String {
    let content = &message["content"];
    let part = |part: &Value| {
        let kind = || format!("<{}>", part["type"].as_str().unwrap_or_default());
        part["text"].as_str().map_or_else(kind, str::to_owned)
    };
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn picked(script: &mut ModelScript, request: &Value) -> i64 {
        script.pick(request, &request.to_string()).0.map_or(-1, |at| i64::try_from(at).unwrap())
    }

    #[test]
    fn a_turn_is_taken_as_often_as_it_says_and_in_order() {
        let mut script = ModelScript::from_json(&json!({"turns": [
            {"when": {"last_user": "first"}, "steps": []},
            {"when": {"last_role": "user", "no_tool": "complete_step"}, "times": 0, "steps": []},
            {"when": {"tool": "complete_step", "system": "plan.*now"}, "times": 2, "steps": []},
        ]}))
        .unwrap();
        let user = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "first"}]}]});
        let step = json!({
            "messages": [{"role": "system", "content": "plan it\nnow"}, {"role": "user", "content": "x"}],
            "tools": [{"function": {"name": "complete_step"}}],
        });
        let got: Vec<i64> =
            [&user, &user, &user, &step, &step, &step].map(|request| picked(&mut script, request)).into();
        assert_eq!(got, [0, 1, 1, 2, 2, -1]);
    }

    #[test]
    fn every_recorded_script_is_understood() {
        let mut read = 0;
        for entry in std::fs::read_dir(crate::replay::fixtures_dir()).unwrap() {
            let path = entry.unwrap().path().join("llm_script.json");
            if path.exists() {
                ModelScript::load(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                read += 1;
            }
        }
        assert!(read > 40, "{read} scripts");
    }
}
