//! Answers that were given beforehand, by flags and files.

use std::collections::BTreeMap;
use std::path::Path;

use agui_core::{Interrupt, InterruptId, Json, ResumeEntry, ResumeStatus, ToolCall};
use anyhow::{Context as _, Result};

/// The text that leaves a question.
const CANCEL: &str = "cancel";
/// The key that fits every question.
const ANY: &str = "*";

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Resolve(Option<Json>),
    Cancel,
}

/// Answers by what they answer: an id, a reason, the name of a tool, or anything.
#[derive(Debug, Default)]
pub(crate) struct Answers(BTreeMap<String, Answer>);

impl Answers {
    /// Reads `ID=JSON` pairs and a file with an object. A flag wins over the file.
    pub(crate) fn new(pairs: &[String], file: Option<&Path>) -> Result<Self> {
        let mut answers = BTreeMap::new();
        if let Some(path) = file {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
            let given: BTreeMap<String, Json> =
                serde_json::from_str(&text).with_context(|| format!("{} is no object", path.display()))?;
            answers.extend(given.into_iter().map(|(id, json)| (id, Answer::Resolve(Some(json)))));
        }
        for pair in pairs {
            let (id, text) = pair.split_once('=').context("an answer is written as ID=JSON")?;
            let answer = match text {
                CANCEL => Answer::Cancel,
                "" => Answer::Resolve(None),
                text => Answer::Resolve(Some(
                    Json::from_string(text.to_owned())
                        .with_context(|| format!("the answer to {id} is not JSON"))?,
                )),
            };
            answers.insert(id.to_owned(), answer);
        }
        Ok(Self(answers))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The answer to a question.
    pub(crate) fn to_interrupt(&self, interrupt: &Interrupt) -> Option<&Answer> {
        self.first(&[interrupt.id.as_str(), &interrupt.reason])
    }

    /// The result of a call of one of the user's tools, as text.
    pub(crate) fn to_call(&self, call: &ToolCall) -> Option<String> {
        match self.first(&[call.id.as_str(), &call.function.name])? {
            Answer::Resolve(Some(json)) => Some(json.parse().unwrap_or_else(|_| json.get().to_owned())),
            Answer::Resolve(None) | Answer::Cancel => Some(String::new()),
        }
    }

    /// All of them as the first words of a request, for questions that an earlier process was asked.
    pub(crate) fn to_resume(&self) -> Vec<ResumeEntry> {
        let entries = self.0.iter().filter(|(id, _)| *id != ANY);
        entries.map(|(id, answer)| entry(InterruptId::new(id.as_str()), answer.clone())).collect()
    }

    fn first(&self, keys: &[&str]) -> Option<&Answer> {
        keys.iter().chain(&[ANY]).find_map(|key| self.0.get(*key))
    }
}

/// An answer as it is sent.
pub(crate) fn entry(interrupt_id: InterruptId, answer: Answer) -> ResumeEntry {
    match answer {
        Answer::Cancel => ResumeEntry::new(interrupt_id, ResumeStatus::Cancelled),
        Answer::Resolve(payload) => {
            let mut entry = ResumeEntry::new(interrupt_id, ResumeStatus::Resolved);
            entry.payload = payload;
            entry
        }
    }
}

#[cfg(test)]
mod tests {
    use agui_core::FunctionCall;

    use super::*;

    fn answers(pairs: &[&str]) -> Result<Answers> {
        Answers::new(&pairs.iter().map(|&pair| pair.to_owned()).collect::<Vec<_>>(), None)
    }

    #[test]
    fn the_closest_key_wins() {
        let answers = answers(&["*=0", "confirmation=1", "i-1=2", "i-2=cancel"]).unwrap();
        let cases = [
            ("i-1", "confirmation", Answer::Resolve(Some(Json::from_string("2".to_owned()).unwrap()))),
            ("i-2", "confirmation", Answer::Cancel),
            ("i-3", "confirmation", Answer::Resolve(Some(Json::from_string("1".to_owned()).unwrap()))),
            ("i-4", "other", Answer::Resolve(Some(Json::from_string("0".to_owned()).unwrap()))),
        ];
        for (id, reason, expected) in cases {
            assert_eq!(answers.to_interrupt(&Interrupt::new(id, reason)), Some(&expected), "{id}");
        }
        assert_eq!(answers.to_resume().len(), 3);
    }

    #[test]
    fn results_of_tools_are_text() {
        let answers = answers(&["add=3", "say=\"hi\"", "stop=cancel"]).unwrap();
        for (name, expected) in [("add", Some("3")), ("say", Some("hi")), ("stop", Some("")), ("none", None)]
        {
            let call = ToolCall::new("c", FunctionCall::new(name, "{}"));
            assert_eq!(answers.to_call(&call).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        assert!(answers(&["no equals sign"]).is_err());
        assert!(answers(&["i=not json"]).is_err());
    }
}
