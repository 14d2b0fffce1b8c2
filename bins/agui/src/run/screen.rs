//! Events as text for a terminal. Pure.

use std::collections::{BTreeMap, BTreeSet};

use agui_core::{Event, Json, Message, MessageId, Outcome, RunError, RunFinished, TokenUsage, ToolCallId};

use crate::plain::{line, plain};

/// How much of arguments, results and contents is shown, in characters.
const SHORT: usize = 300;

/// Whether colours are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Plain,
    Ansi,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Usual,
    /// Also shared state and events of the application.
    All,
}

/// A look, as the parameter of an escape sequence.
#[derive(Debug, Clone, Copy)]
enum Style {
    Dim = 2,
    Red = 31,
    Green = 32,
    Cyan = 36,
}

/// What the cursor stands behind.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cursor {
    LineStart,
    /// Words of the message with this id.
    Text(Box<str>),
    Thought(Box<str>),
}

/// Turns the events of a conversation into what a person reads.
///
/// Nothing that an agent sends reaches the output as anything but text, see [`plain`].
#[derive(Debug)]
pub(crate) struct Screen {
    colour: Colour,
    detail: Detail,
    cursor: Cursor,
    calls: BTreeMap<ToolCallId, Call>,
    /// Messages that have come as text.
    shown: BTreeSet<MessageId>,
    usage: Vec<TokenUsage>,
}

/// A tool call that is being written.
#[derive(Debug, Default)]
struct Call {
    name: String,
    arguments: String,
}

impl Screen {
    pub(crate) const fn new(colour: Colour, detail: Detail) -> Self {
        Self {
            colour,
            detail,
            cursor: Cursor::LineStart,
            calls: BTreeMap::new(),
            shown: BTreeSet::new(),
            usage: Vec::new(),
        }
    }

    /// Appends what an event shows.
    pub(crate) fn event(&mut self, event: &Event, out: &mut String) {
        match event {
            Event::TextMessageStart(e) => drop(self.shown.insert(e.message_id.clone())),
            Event::MessagesSnapshot(e) => self.snapshot(&e.messages, out),
            Event::TextMessageContent(e) => {
                self.words(Cursor::Text(e.message_id.as_str().into()), &e.delta, out);
            }
            Event::ReasoningMessageContent(e) => {
                self.words(Cursor::Thought(e.message_id.as_str().into()), &e.delta, out);
            }
            Event::TextMessageEnd(_) | Event::ReasoningMessageEnd(_) => self.end_line(out),
            Event::ToolCallStart(e) => {
                let call = Call { name: e.tool_call_name.clone(), arguments: String::new() };
                self.calls.insert(e.tool_call_id.clone(), call);
            }
            Event::ToolCallArgs(e) => {
                self.calls.entry(e.tool_call_id.clone()).or_default().arguments.push_str(&e.delta);
            }
            Event::ToolCallEnd(e) => {
                let call = self.calls.entry(e.tool_call_id.clone()).or_default();
                let text = format!("→ {}({})", line(&call.name, SHORT), line(&call.arguments, SHORT));
                self.line(Style::Cyan, &text, out);
            }
            Event::ToolCallResult(e) => {
                let call = self.calls.get(&e.tool_call_id);
                let name = call.map_or_else(|| e.tool_call_id.as_str(), |call| call.name.as_str());
                let text = format!("← {}: {}", line(name, SHORT), line(&e.content.to_text(), SHORT));
                self.line(Style::Cyan, &text, out);
            }
            Event::StepStarted(e) => self.line(Style::Dim, &format!("▸ {}", line(&e.step_name, SHORT)), out),
            Event::StepFinished(e) => {
                self.line(Style::Dim, &format!("✓ {}", line(&e.step_name, SHORT)), out);
            }
            Event::SubagentStarted(e) => {
                self.line(Style::Dim, &format!("▸ subagent {}", line(&e.name, SHORT)), out);
            }
            Event::SubagentFinished(_) => self.line(Style::Dim, "✓ subagent", out),
            Event::SubagentError(e) => {
                self.line(Style::Red, &format!("✗ subagent: {}", line(&e.message, SHORT)), out);
            }
            Event::ActivitySnapshot(e) => self.note(&e.activity_type, e.content.as_json(), out),
            Event::ActivityDelta(e) => self.serialised(&e.activity_type, &e.patch, out),
            Event::RunFinished(e) => self.finished(e, out),
            Event::RunError(e) => self.failed(e, out),
            event => self.detail(event, out),
        }
    }

    /// Appends the tokens of the whole conversation, if agents have told any.
    pub(crate) fn summary(&mut self, out: &mut String) {
        for usage in std::mem::take(&mut self.usage) {
            let counts = [
                ("in", usage.input_tokens),
                ("cached", usage.cached_input_tokens),
                ("out", usage.output_tokens),
                ("reasoning", usage.reasoning_tokens),
            ];
            let counts =
                counts.iter().filter_map(|(name, count)| count.map(|count| format!("{name} {count}")));
            let names = [usage.provider.as_deref(), usage.model.as_deref()];
            let names = names.into_iter().flatten().collect::<Vec<_>>().join("/");
            let text = format!("tokens: {} ({})", counts.collect::<Vec<_>>().join(", "), line(&names, SHORT));
            self.line(Style::Dim, text.trim_end_matches(" ()"), out);
        }
    }

    /// Appends a line break unless the cursor is at the start of a line.
    pub(crate) fn end_line(&mut self, out: &mut String) {
        if self.cursor != Cursor::LineStart {
            if matches!(self.cursor, Cursor::Thought(_)) && self.colour == Colour::Ansi {
                out.push_str("\u{1b}[0m");
            }
            out.push('\n');
            self.cursor = Cursor::LineStart;
        }
    }

    /// Events that most readers do not need.
    fn detail(&mut self, event: &Event, out: &mut String) {
        match event {
            // Progress is why somebody waits in patience.
            Event::Custom(e) if self.detail == Detail::All || e.name.contains("progress") => {
                self.note(&e.name, &e.value, out);
            }
            Event::StateSnapshot(e) if self.detail == Detail::All => self.note("state", &e.snapshot, out),
            Event::StateDelta(e) if self.detail == Detail::All => self.serialised("state", &e.delta, out),
            Event::Raw(e) if self.detail == Detail::All => {
                self.note(e.source.as_deref().unwrap_or("raw"), &e.event, out);
            }
            _ => {}
        }
    }

    fn words(&mut self, cursor: Cursor, delta: &str, out: &mut String) {
        if delta.is_empty() {
            return;
        }
        if self.cursor != cursor {
            self.end_line(out);
            if matches!(cursor, Cursor::Thought(_)) && self.colour == Colour::Ansi {
                out.push_str("\u{1b}[2m");
            }
            self.cursor = cursor;
        }
        out.push_str(&plain(delta));
    }

    /// Answers that come in no other way: those behind the last words of the user.
    fn snapshot(&mut self, messages: &[Message], out: &mut String) {
        let begin = messages.iter().rposition(|message| matches!(message, Message::User(_)));
        for message in &messages[begin.map_or(0, |at| at + 1)..] {
            let Message::Assistant(answer) = message else { continue };
            if let Some(text) = &answer.content
                && self.shown.insert(answer.id.clone())
            {
                self.words(Cursor::Text(answer.id.as_str().into()), text, out);
                self.end_line(out);
            }
        }
    }

    fn finished(&mut self, event: &RunFinished, out: &mut String) {
        self.end_line(out);
        self.add_usage(&event.usage);
        if matches!(event.outcome, Some(Outcome::Cancelled)) {
            self.line(Style::Red, "✗ cancelled by the agent", out);
        }
        if let Some(result) = &event.result {
            self.line(Style::Green, &format!("= {}", line(result.get(), SHORT)), out);
        }
    }

    fn failed(&mut self, event: &RunError, out: &mut String) {
        self.add_usage(&event.usage);
        let code = event.code.as_deref().map(|code| format!(" [{}]", line(code, SHORT)));
        let text = format!("✗ {}{}", plain(&event.message), code.unwrap_or_default());
        self.line(Style::Red, &text, out);
    }

    fn note(&mut self, name: &str, content: &Json, out: &mut String) {
        let text = format!("· {} {}", line(name, SHORT), line(content.get(), SHORT));
        self.line(Style::Dim, &text, out);
    }

    fn serialised(&mut self, name: &str, content: &impl serde::Serialize, out: &mut String) {
        if let Ok(content) = Json::from_serialize(content) {
            self.note(name, &content, out);
        }
    }

    /// One line of its own; `text` is harmless already.
    fn line(&mut self, style: Style, text: &str, out: &mut String) {
        self.end_line(out);
        match self.colour {
            Colour::Plain => out.push_str(text),
            Colour::Ansi => out.push_str(&format!("\u{1b}[{}m{text}\u{1b}[0m", style as u8)),
        }
        out.push('\n');
    }

    /// Adds counts to those of the same model; several runs make one conversation.
    fn add_usage(&mut self, usage: &[TokenUsage]) {
        let add = |sum: &mut Option<u64>, more: Option<u64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or_default().saturating_add(more));
            }
        };
        for new in usage {
            let same = |known: &&mut TokenUsage| known.provider == new.provider && known.model == new.model;
            let Some(known) = self.usage.iter_mut().find(same) else {
                self.usage.push(new.clone());
                continue;
            };
            add(&mut known.input_tokens, new.input_tokens);
            add(&mut known.cached_input_tokens, new.cached_input_tokens);
            add(&mut known.output_tokens, new.output_tokens);
            add(&mut known.reasoning_tokens, new.reasoning_tokens);
        }
    }
}

#[cfg(test)]
mod tests;
