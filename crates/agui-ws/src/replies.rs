//! What this server says itself, beside the events of the agent.
//!
//! A message can be refused, and a cancel message is answered. Neither is part of a run, and a client
//! must be able to tell:
//!
//! * A refusal is a `RUN_ERROR` with `metadata.refusal` and the ids of the refused input. Where no run
//!   is open it is a whole stream, as a refused request has over HTTP. Inside a run it says nothing
//!   about that run.
//! * The answer to a cancel message is a `CUSTOM` event, which is valid inside any run. Where no run is
//!   open it comes as a run of its own; a failure is a refusal there.

use agui_core::{Custom, Event, Json, RunFinished, RunStarted, ThreadId};
use serde::Serialize;

use crate::inbound::Named;
use crate::words::Fault;
use crate::{CANCEL, CancelMessage, REFUSED, RefusalForm};

/// Thread of an answer that is about no thread.
const NO_THREAD: &str = "cancel";

/// Something to say that waits for its moment.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A message did not lead to a run.
    Refusal { fault: Fault, named: Named },
    /// What became of a cancel message; `of_run` is the number of the run on the socket that it meant.
    Cancel { message: CancelMessage, outcome: Result<Json, Fault>, of_run: Option<u64> },
}

/// Where the client stands, by what was sent to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// No run is open.
    Idle,
    /// A run is about to open.
    Awaiting,
    /// The run of this number is open.
    Inside(u64),
}

/// What answers outside of any run need to know.
#[derive(Debug, Default)]
pub(crate) struct Asides {
    /// Thread of the last run, so that a socket that had one thread keeps one thread.
    pub(crate) thread_id: Option<ThreadId>,
    /// Runs that were made up for answers.
    made_up: u64,
}

impl Reply {
    /// Whether it can be said where the client stands.
    pub(crate) fn is_due(&self, standing: Standing, form: RefusalForm) -> bool {
        match self {
            Self::Refusal { .. } if form == RefusalForm::RunError => true,
            Self::Refusal { .. } | Self::Cancel { .. } => standing != Standing::Awaiting,
        }
    }

    /// The JSON texts that say it; none if what happened meanwhile has said it.
    pub(crate) fn say(self, standing: Standing, form: RefusalForm, asides: &mut Asides) -> Vec<Vec<u8>> {
        let inside = matches!(standing, Standing::Inside(_));
        match self {
            Self::Refusal { fault, named } if inside && form == RefusalForm::Custom => {
                custom(REFUSED, &Told::new(&fault, &named)).iter().filter_map(json).collect()
            }
            Self::Refusal { fault, named } => vec![refusal(&fault, &named)],
            Self::Cancel { message, outcome, of_run: None } if !inside => match outcome {
                Ok(result) => asides.run(&message, result),
                Err(fault) => {
                    let thread_id = message.thread_id.as_ref().map(ThreadId::as_str);
                    let run_id = message.run_id.as_ref().map(agui_core::RunId::as_str);
                    vec![refusal(&fault, &Named::new(thread_id, run_id))]
                }
            },
            // The end of a run answers the wish for it.
            Self::Cancel { of_run: Some(run), .. } if standing != Standing::Inside(run) => Vec::new(),
            Self::Cancel { message, outcome, .. } => {
                custom(CANCEL, &Answer::new(&message, &outcome)).iter().filter_map(json).collect()
            }
        }
    }
}

impl Asides {
    /// An answer in a run of its own.
    fn run(&mut self, message: &CancelMessage, result: Json) -> Vec<Vec<u8>> {
        self.made_up += 1;
        let run_id = format!("cancel-{}", self.made_up);
        let thread_id = message.thread_id.clone().or_else(|| self.thread_id.clone());
        let thread_id = thread_id.unwrap_or_else(|| ThreadId::new(NO_THREAD));
        let started = RunStarted::new(thread_id.clone(), run_id.as_str());
        let answer = custom(CANCEL, &Answer::new(message, &Ok(result)));
        let finished = RunFinished::new(thread_id, run_id.as_str());
        [Some(started.into()), answer, Some(finished.into())].iter().flatten().filter_map(json).collect()
    }
}

/// A `RUN_ERROR` that can be told from the end of a run.
fn refusal(fault: &Fault, named: &Named) -> Vec<u8> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct RunError<'a> {
        r#type: &'static str,
        message: &'a str,
        code: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        thread_id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<&'a str>,
        metadata: Mark,
    }

    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Mark {
        refusal: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_seconds: Option<u32>,
    }

    let event = RunError {
        r#type: "RUN_ERROR",
        message: &fault.message,
        code: &fault.code,
        thread_id: named.thread_id.as_deref(),
        run_id: named.run_id.as_deref(),
        metadata: Mark { refusal: true, retry_after_seconds: fault.retry_after_s },
    };
    serde_json::to_vec(&event).unwrap_or_default()
}

/// What a client is told of a fault inside a `CUSTOM` event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<u32>,
}

impl<'a> Told<'a> {
    fn new(fault: &'a Fault, named: &'a Named) -> Self {
        Self {
            code: &fault.code,
            message: &fault.message,
            thread_id: named.thread_id.as_deref(),
            run_id: named.run_id.as_deref(),
            retry_after_seconds: fault.retry_after_s,
        }
    }
}

/// Value of the answer to a cancel message: what was named, and a result or an error.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Told<'a>>,
}

impl<'a> Answer<'a> {
    fn new(message: &'a CancelMessage, outcome: &'a Result<Json, Fault>) -> Self {
        const NOBODY: &Named = &Named { thread_id: None, run_id: None };
        Self {
            thread_id: message.thread_id.as_ref().map(ThreadId::as_str),
            run_id: message.run_id.as_ref().map(agui_core::RunId::as_str),
            execution_id: message.execution_id.as_deref(),
            result: outcome.as_ref().ok(),
            error: outcome.as_ref().err().map(|fault| Told::new(fault, NOBODY)),
        }
    }
}

fn custom(name: &str, value: &impl Serialize) -> Option<Event> {
    // Strings and raw JSON have a JSON form; the other arm does not happen.
    let value = Json::from_serialize(value).ok()?;
    Some(Custom::new(name, value).into())
}

/// The JSON text of an event.
pub(crate) fn json(event: &Event) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    match event.to_json_into(&mut text) {
        Ok(()) => Some(text),
        Err(error) => {
            tracing::error!(%error, "an event that cannot be written is left out");
            None
        }
    }
}
