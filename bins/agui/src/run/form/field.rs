//! One thing to fill in.

use serde_json::{Number, Value};

use crate::plain;

/// Whether a terminal can be told here not to show what is typed.
const HIDES: bool = cfg!(unix);

/// Longest label or title, in characters.
const LABEL_CHARS: usize = 200;

/// A member of an object, or the whole answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// Name of the member; empty for a whole answer.
    pub(super) key: String,
    /// What the user reads.
    pub(super) title: String,
    pub(super) kind: Kind,
    pub(super) is_required: bool,
    pub(super) default: Option<Value>,
    /// What is typed is not to be seen, now or later.
    pub(super) is_secret: bool,
    pub(super) schema: Value,
}

/// What a field takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    /// One of a list.
    Choice(Vec<Choice>),
    /// Any number of a list.
    Several(Vec<Choice>),
    /// Whatever the others do not cover, as JSON.
    Json,
}

impl Kind {
    /// Whether the value itself is typed, not the number of an entry.
    pub(super) const fn is_typed(&self) -> bool {
        match self {
            Self::Text | Self::Integer | Self::Number | Self::Json => true,
            Self::Boolean | Self::Choice(_) | Self::Several(_) => false,
        }
    }
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub(super) value: Value,
    pub(super) label: String,
}

impl Field {
    /// The lines before the input.
    pub(super) fn prompt(&self) -> String {
        let mut hints = Vec::new();
        match &self.kind {
            Kind::Text | Kind::Choice(_) => {}
            Kind::Integer => hints.push("whole number".to_owned()),
            Kind::Number => hints.push("number".to_owned()),
            Kind::Boolean => hints.push("y/n".to_owned()),
            Kind::Several(_) => hints.push("numbers with commas".to_owned()),
            Kind::Json => hints.push("JSON".to_owned()),
        }
        match &self.default {
            Some(_) if self.is_secret => hints.push("empty for the default".to_owned()),
            Some(default) => hints.push(format!("empty for {}", shown(default))),
            None if !self.is_required => hints.push("empty for none".to_owned()),
            None => {}
        }
        if self.is_secret && HIDES {
            hints.push("hidden".to_owned());
        }
        let hints = if hints.is_empty() { String::new() } else { format!(" ({})", hints.join(", ")) };
        let title = plain::line(&self.title, LABEL_CHARS);
        match &self.kind {
            Kind::Choice(choices) | Kind::Several(choices) => {
                let list = numbered(choices.iter().map(|choice| choice.label.as_str()), Some(&hints));
                if title.is_empty() { list } else { format!("{title}:\n{list}") }
            }
            _ if title.is_empty() => format!("answer{hints}: "),
            _ => format!("{title}{hints}: "),
        }
    }

    /// The value that a line means; `None` if the field is left out.
    pub(super) fn parse(&self, line: &str) -> Result<Option<Value>, String> {
        if line.is_empty() {
            if let Some(default) = &self.default {
                return Ok(Some(default.clone()));
            }
            if !self.is_required {
                return Ok(None);
            }
        }
        match &self.kind {
            Kind::Text => Ok(Value::from(line)),
            Kind::Integer => match line.parse::<i64>() {
                Ok(number) => Ok(Value::from(number)),
                Err(_) => Err("a whole number".to_owned()),
            },
            Kind::Number => match line.parse::<f64>().ok().and_then(Number::from_f64) {
                // Whole numbers keep their digits.
                Some(number) => Ok(line.parse::<i64>().map_or(Value::Number(number), Value::from)),
                None => Err("a number".to_owned()),
            },
            Kind::Boolean => match line.to_lowercase().as_str() {
                "y" | "yes" | "true" | "1" => Ok(Value::Bool(true)),
                "n" | "no" | "false" | "0" => Ok(Value::Bool(false)),
                _ => Err("y or n".to_owned()),
            },
            Kind::Choice(choices) => match picked(line, choices) {
                Some(choice) => Ok(choice.value.clone()),
                None => Err(format!("a number from 1 to {}", choices.len())),
            },
            Kind::Several(choices) => {
                let words = line.split(',').map(str::trim).filter(|word| !word.is_empty());
                let values = words.map(|word| picked(word, choices).map(|choice| choice.value.clone()));
                match values.collect::<Option<Vec<Value>>>() {
                    Some(values) => Ok(Value::Array(values)),
                    None => Err(format!("numbers from 1 to {}, with commas between", choices.len())),
                }
            }
            Kind::Json => serde_json::from_str(line).map_err(|error| format!("not JSON: {error}")),
        }
        .map(Some)
    }
}

/// A numbered list and the place to type.
pub(super) fn numbered<'a>(labels: impl Iterator<Item = &'a str>, hints: Option<&str>) -> String {
    let mut lines = String::new();
    for (index, label) in labels.enumerate() {
        lines.push_str(&format!("  {}) {}\n", index + 1, plain::line(label, LABEL_CHARS)));
    }
    format!("{lines}choice{}: ", hints.unwrap_or_default())
}

/// The index that a number of a list means.
pub(super) fn chosen(line: &str, count: usize) -> Option<usize> {
    line.parse::<usize>().ok().and_then(|number| number.checked_sub(1)).filter(|index| *index < count)
}

/// By number, else by what it says.
fn picked<'a>(word: &str, choices: &'a [Choice]) -> Option<&'a Choice> {
    let same = |choice: &&Choice| choice.label == word || choice.value.as_str() == Some(word);
    choices.iter().find(same).or_else(|| choices.get(chosen(word, choices.len())?))
}

/// A value as the user would type it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => plain::line(text, LABEL_CHARS),
        other => plain::line(&other.to_string(), LABEL_CHARS),
    }
}
