//! `agui run`: a conversation with an agent, until its work is done.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::{Duration, Instant};

use agui_client::{ClientError, Conversation, HttpAgent, Run, RunEnd};
use agui_core::{Event, Interrupt, InterruptId, RunAgentInput, ToolCall};
use anyhow::{Result, bail};
use tokio::time::timeout;

pub(crate) mod answers;
mod console;
pub(crate) mod form;
mod screen;

use answers::{Answer, Answers, entry};
use console::{Console, Input, QUIET};
use form::{Form, Step};
use screen::{Detail, Screen};

use crate::exit::{self, Exit};
use crate::flags::RunFlags;
use crate::plain;
use crate::request::{self, Connection};

/// Longest reason why a line is no answer, in characters.
const WHY_CHARS: usize = 1_000;

pub(crate) async fn run(flags: RunFlags) -> Result<Exit> {
    let mut connection = Connection::new(&flags.url, &flags.connect)?;
    connection.config = connection.config.with_accept(flags.encoding.into());
    let answers = Answers::new(&flags.answers, flags.answer_file.as_deref())?;
    let thread = request::conversation(&flags.request, flags.prompt.as_deref())?;
    let has_words = !thread.messages().is_empty();
    if !has_words && answers.is_empty() {
        bail!("say something: a prompt, an attachment or an answer is missing");
    }
    let agent = HttpAgent::new(connection.config)?;
    let console = Console::new();
    let detail = if flags.verbose { Detail::All } else { Detail::Usual };
    let screen = Screen::new(console.colour(), detail);
    let output = if flags.json { Output::Json } else { Output::Text };
    let may_ask = !flags.json && !flags.no_input;
    let started = Instant::now();
    let answered = BTreeSet::new();
    let mut session = Session { agent, thread, answers, console, screen, output, may_ask, started, answered };
    or_stopped(Box::pin(session.converse(!has_words))).await
}

/// Ends the work at Ctrl-C by dropping it, which closes the connection; a second Ctrl-C ends the process,
/// should anything hold it up.
pub(crate) async fn or_stopped(work: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    tokio::select! {
        ended = work => ended,
        signal = tokio::signal::ctrl_c() => {
            signal?;
            tokio::spawn(async {
                if tokio::signal::ctrl_c().await.is_ok() {
                    std::process::exit(i32::from(Exit::Interrupted.number()));
                }
            });
            exit::warn("stopped");
            Ok(Exit::Interrupted)
        }
    }
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Output {
    Text,
    Json,
}

struct Session {
    agent: HttpAgent,
    thread: Conversation,
    answers: Answers,
    console: Console,
    screen: Screen,
    output: Output,
    may_ask: bool,
    /// When the run began.
    started: Instant,
    /// The questions that were asked so far.
    answered: BTreeSet<InterruptId>,
}

impl Session {
    /// Runs until nothing is left to answer. A session that only resumes sends the answers it was given.
    async fn converse(&mut self, only_resumes: bool) -> Result<Exit> {
        let mut resume = if only_resumes { self.answers.to_resume() } else { Vec::new() };
        self.answered.extend(resume.iter().map(|entry| entry.interrupt_id.clone()));
        let exit = loop {
            let mut input = self.thread.request(request::new_id(), request::now())?;
            input.resume.append(&mut resume);
            let end = match self.one_run(input).await {
                Ok(end) => end,
                Err(error) => {
                    self.end_line()?;
                    return self.broken(error);
                }
            };
            match end {
                RunEnd::Failed(_) => break Exit::Failure,
                RunEnd::Cancelled => break Exit::Cancelled,
                RunEnd::Interrupted { .. } => {
                    if !self.answer_interrupts().await? {
                        break Exit::Waiting;
                    }
                }
                _ if self.pending_calls().is_empty() => break Exit::Success,
                _ => {
                    if !self.answer_calls().await? {
                        break Exit::Waiting;
                    }
                }
            }
        };
        if self.output == Output::Text {
            let mut text = String::new();
            self.screen.summary(&mut text);
            self.console.write(&text)?;
        }
        Ok(exit)
    }

    /// A fault of the stream is a failed run; an agent that was not reached is trouble.
    fn broken(&self, error: anyhow::Error) -> Result<Exit> {
        let is_fault = error.downcast_ref::<ClientError>().is_some_and(|error| {
            matches!(
                error,
                ClientError::Cut(_)
                    | ClientError::Idle { .. }
                    | ClientError::Sse(_)
                    | ClientError::Proto(_)
                    | ClientError::Decode(_)
                    | ClientError::Violation(_)
                    | ClientError::Unterminated { .. }
            )
        });
        if is_fault {
            exit::warn(&format!("{error:#}"));
            return Ok(Exit::Failure);
        }
        Err(error)
    }

    async fn one_run(&mut self, input: RunAgentInput) -> Result<RunEnd> {
        let agent = self.agent.clone();
        self.started = Instant::now();
        let mut run = self.while_quiet(agent.run(input)).await??;
        while let Some(event) = self.next(&mut run).await? {
            let event = event?;
            if let Some(warning) = self.thread.apply(&event) {
                exit::warn(&warning.to_string());
            }
            self.show(&event)?;
            for note in run.take_notes() {
                exit::warn(&note.to_string());
            }
        }
        self.end_line()?;
        run.end().cloned().ok_or_else(|| ClientError::Unterminated { run_id: None }.into())
    }

    async fn next(&mut self, run: &mut Run) -> Result<Option<Result<Event, ClientError>>> {
        self.while_quiet(run.next()).await
    }

    /// Waits, and shows the time of it once nothing has come for a while.
    async fn while_quiet<T>(&mut self, work: impl Future<Output = T>) -> Result<T> {
        let mut work = std::pin::pin!(work);
        let mut patience = QUIET;
        loop {
            if let Ok(done) = timeout(patience, work.as_mut()).await {
                return Ok(done);
            }
            if self.output == Output::Text {
                self.console.elapsed(self.started.elapsed())?;
            }
            patience = Duration::from_secs(1);
        }
    }

    fn show(&mut self, event: &Event) -> Result<()> {
        let mut text = String::new();
        match self.output {
            Output::Text => self.screen.event(event, &mut text),
            Output::Json => {
                text.push_str(&plain::json(&serde_json::to_string(event)?));
                text.push('\n');
            }
        }
        Ok(self.console.write(&text)?)
    }

    fn end_line(&mut self) -> Result<()> {
        let mut text = String::new();
        self.screen.end_line(&mut text);
        Ok(self.console.write(&text)?)
    }

    /// Answers every open question; `false` if one has no answer.
    async fn answer_interrupts(&mut self) -> Result<bool> {
        for interrupt in self.thread.interrupts().to_vec() {
            // Asked again under the same id, the agent did not take what it was given.
            let is_new = self.answered.insert(interrupt.id.clone());
            let answer = match self.answers.to_interrupt(&interrupt).filter(|_| is_new) {
                Some(answer) => answer.clone(),
                None if self.may_ask => match self.ask(&interrupt).await? {
                    Some(answer) => answer,
                    None => return self.waits(&interrupt),
                },
                None => return self.waits(&interrupt),
            };
            self.thread.resume_with(entry(interrupt.id, answer))?;
        }
        Ok(true)
    }

    fn waits(&mut self, interrupt: &Interrupt) -> Result<bool> {
        self.end_line()?;
        let id = &interrupt.id;
        let thread = plain::shell_word(self.thread.thread_id().as_str());
        let answer = plain::shell_word(&format!("{id}=JSON"));
        exit::warn(&format!("interrupt {id} waits for an answer: --thread {thread} --answer {answer}"));
        Ok(false)
    }

    /// The dialogue about one question; `None` if the input ends.
    async fn ask(&mut self, interrupt: &Interrupt) -> Result<Option<Answer>> {
        let mut form = Form::new(interrupt);
        self.console.write(form.intro())?;
        loop {
            let input = if form.is_secret() { Input::Hidden } else { Input::Open };
            let Some(line) = self.console.read_line(&form.prompt(), input).await? else { return Ok(None) };
            self.console.repeat(form.shown(&line))?;
            match form.line(&line) {
                Step::Next => {}
                Step::Again(why) => self.console.write(&format!("! {}\n", plain::line(&why, WHY_CHARS)))?,
                Step::Done(payload) => return Ok(Some(Answer::Resolve(payload))),
                Step::Cancelled => return Ok(Some(Answer::Cancel)),
            }
        }
    }

    /// Calls of tools that nobody but the user can carry out.
    fn pending_calls(&self) -> Vec<ToolCall> {
        let calls = self.thread.pending_tool_calls().iter().filter_map(|id| self.thread.tool_call(id));
        let is_ours =
            |call: &&ToolCall| self.thread.tools().iter().any(|tool| tool.name == call.function.name);
        calls.filter(is_ours).cloned().collect()
    }

    /// Gives the results of the user's own tools; `false` if one has none.
    async fn answer_calls(&mut self) -> Result<bool> {
        for call in self.pending_calls() {
            let result = match self.answers.to_call(&call) {
                Some(result) => result,
                None if self.may_ask => {
                    let name = plain::line(&call.function.name, 80);
                    let prompt = format!("? result of {name}: ");
                    let Some(line) = self.console.read_line(&prompt, Input::Open).await? else {
                        return Ok(false);
                    };
                    self.console.repeat(&line)?;
                    line.trim_end_matches(['\r', '\n']).to_owned()
                }
                None => {
                    let answer = plain::shell_word(&format!("{}=JSON", call.id));
                    exit::warn(&format!("call {} waits for its result: --answer {answer}", call.id));
                    return Ok(false);
                }
            };
            self.thread.answer_call(&call.id, request::new_id(), result)?;
        }
        Ok(true)
    }
}
