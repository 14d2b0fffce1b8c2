//! Questions as forms: from the schema of an interrupt to an answer that fits it. Pure.

use agui_core::{Interrupt, Json};
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value, json};

mod field;
pub(crate) mod secret;
mod shape;

use field::Field;
use shape::{Alternative, Shape};

use crate::plain;

/// What leaves a question.
const CANCEL: &str = "/cancel";
/// What gives the whole answer as JSON.
const RAW: &str = "/json";

/// What becomes of a line that the user has typed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// The next question is due.
    Next,
    /// The line is no answer; why.
    Again(String),
    /// The answer; `None` is an answer without a payload.
    Done(Option<Json>),
    /// The question is left.
    Cancelled,
}

/// The dialogue about one interrupt.
///
/// Show [`intro`](Self::intro), then [`prompt`](Self::prompt) before each line until there is an end.
pub(crate) struct Form {
    intro: String,
    alternatives: Vec<Alternative>,
    /// `None` without a schema that can be used: then anything is an answer.
    validator: Option<Validator>,
    /// `$defs` of the schema.
    definitions: Value,
    /// Something that is asked for is not to be seen, so no fault quotes what was typed.
    has_secrets: bool,
    progress: Progress,
}

/// How far the dialogue has come.
enum Progress {
    /// One of several alternatives is to be chosen.
    Choosing,
    /// The fields of an alternative are filled in, in order.
    Filling { alternative: usize, field: usize, given: Map<String, Value> },
}

impl Form {
    /// The form for a question.
    pub(crate) fn new(interrupt: &Interrupt) -> Self {
        let schema: Option<Value> = interrupt.response_schema.as_ref().and_then(|schema| schema.parse().ok());
        let alternatives = schema.as_ref().map(shape::alternatives).unwrap_or_default();
        let validator = schema.as_ref().and_then(validator);
        let definitions = schema.as_ref().and_then(|schema| schema.get("$defs")).cloned();
        let definitions = definitions.filter(Value::is_object).unwrap_or_else(|| json!({}));
        let has_secrets = schema.as_ref().is_some_and(|schema| secret::is_secret("", schema, schema));
        let (intro, progress) = (intro(interrupt), Progress::Choosing);
        let mut form = Self { intro, alternatives, validator, definitions, has_secrets, progress };
        form.restart();
        form
    }

    /// What is asked, and of what kind.
    pub(crate) fn intro(&self) -> &str {
        &self.intro
    }

    /// The lines before the next input; they end where the user types.
    pub(crate) fn prompt(&self) -> String {
        match self.current() {
            Some(field) => field.prompt(),
            None if self.alternatives.is_empty() => "answer (text or JSON, empty for none): ".to_owned(),
            None => {
                let labels = self.alternatives.iter().map(|alternative| alternative.label.as_str());
                field::numbered(labels, None)
            }
        }
    }

    /// Whether what is typed now is not to be seen.
    pub(crate) fn is_secret(&self) -> bool {
        self.current().is_some_and(|field| field.is_secret)
    }

    /// As much of a line as may be written where others read.
    pub(crate) fn shown<'a>(&self, line: &'a str) -> &'a str {
        let is_whole_answer = raw(line.trim()).is_some();
        if self.is_secret() || (self.has_secrets && is_whole_answer) { "" } else { line }
    }

    /// Takes a line.
    pub(crate) fn line(&mut self, line: &str) -> Step {
        let line = line.trim();
        if line == CANCEL {
            return Step::Cancelled;
        }
        if let Some(text) = raw(line) {
            return match serde_json::from_str(text) {
                Ok(value) => self.check(&value),
                Err(error) => Step::Again(format!("not JSON: {error}")),
            };
        }
        if self.alternatives.is_empty() {
            return self.free(line);
        }
        match self.current() {
            Some(field) => match field.parse(line).and_then(|value| self.fits(field, value)) {
                Ok(value) => self.take(value),
                Err(why) => Step::Again(why),
            },
            None => match field::chosen(line, self.alternatives.len()) {
                Some(alternative) => {
                    self.begin(alternative);
                    self.settle()
                }
                None => Step::Again(format!("a number from 1 to {}", self.alternatives.len())),
            },
        }
    }

    /// The field that is asked for.
    fn current(&self) -> Option<&Field> {
        let Progress::Filling { alternative, field, .. } = &self.progress else { return None };
        match &self.alternatives.get(*alternative)?.shape {
            Shape::Object { fields, .. } => fields.get(*field),
            Shape::Single(single) => Some(single),
        }
    }

    /// The value if the schema of its field admits it, so that a mistake is told where it is made.
    fn fits(&self, field: &Field, value: Option<Value>) -> Result<Option<Value>, String> {
        let Some(found) = &value else { return Ok(value) };
        let schema = json!({ "allOf": [field.schema], "$defs": self.definitions });
        let schema = validator(&schema);
        match schema.as_ref().and_then(|schema| schema.iter_errors(found).next()) {
            Some(error) => Err(self.told(&error)),
            None => Ok(value),
        }
    }

    fn restart(&mut self) {
        if self.alternatives.len() == 1 {
            self.begin(0);
        } else {
            self.progress = Progress::Choosing;
        }
    }

    fn begin(&mut self, alternative: usize) {
        let given = match self.alternatives.get(alternative).map(|chosen| &chosen.shape) {
            Some(Shape::Object { fixed, .. }) => fixed.clone(),
            Some(Shape::Single(_)) | None => Map::new(),
        };
        self.progress = Progress::Filling { alternative, field: 0, given };
    }

    /// Keeps the value of the current field and goes on.
    fn take(&mut self, value: Option<Value>) -> Step {
        let Progress::Filling { alternative, field, given } = &mut self.progress else { return Step::Next };
        match self.alternatives.get(*alternative).map(|chosen| &chosen.shape) {
            Some(Shape::Object { fields, .. }) => {
                if let (Some(key), Some(value)) = (fields.get(*field).map(|field| field.key.clone()), value) {
                    given.insert(key, value);
                }
                *field += 1;
                self.settle()
            }
            Some(Shape::Single(_)) | None => match value {
                Some(value) => self.check(&value),
                None => Step::Done(None),
            },
        }
    }

    /// Gives the answer if every field is filled in.
    fn settle(&mut self) -> Step {
        if self.current().is_some() {
            return Step::Next;
        }
        let Progress::Filling { given, .. } = &mut self.progress else { return Step::Next };
        let value = Value::Object(std::mem::take(given));
        self.check(&value)
    }

    /// The answer if the schema admits it; else the dialogue begins anew.
    fn check(&mut self, value: &Value) -> Step {
        if let Some(error) = self.validator.as_ref().and_then(|schema| schema.iter_errors(value).next()) {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
            let why = format!("{place}{}", self.told(&error));
            self.restart();
            return Step::Again(why);
        }
        match Json::from_serialize(value) {
            Ok(json) => Step::Done(Some(json)),
            Err(error) => Step::Again(error.to_string()),
        }
    }

    /// Why a value does not fit; without the value if it may be a secret.
    fn told(&self, error: &ValidationError<'_>) -> String {
        if self.has_secrets { error.masked().to_string() } else { error.to_string() }
    }

    /// Without a schema, JSON is JSON and everything else is text.
    fn free(&mut self, line: &str) -> Step {
        if line.is_empty() && self.validator.is_none() {
            return Step::Done(None);
        }
        self.check(&serde_json::from_str(line).unwrap_or_else(|_| Value::from(line)))
    }
}

/// The whole answer that a line gives as JSON, if it does.
fn raw(line: &str) -> Option<&str> {
    line.strip_prefix(RAW).filter(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// As servers check answers: 2020-12, patterns in linear time, nothing fetched from elsewhere. `None` if the
/// schema is itself broken; then the server is the one to say so.
fn validator(schema: &Value) -> Option<Validator> {
    let options = jsonschema::draft202012::options().with_pattern_options(PatternOptions::regex());
    options.should_validate_formats(false).build(schema).ok()
}

fn intro(interrupt: &Interrupt) -> String {
    let said = interrupt.message.as_deref().unwrap_or("The agent asks:");
    let expiry = interrupt.expires_at.as_deref().map(|at| format!(", until {}", plain::line(at, 40)));
    format!(
        "? {}\n  [{}, {}{}]\n",
        plain::plain(said),
        plain::line(interrupt.id.as_str(), 80),
        plain::line(&interrupt.reason, 40),
        expiry.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests;
