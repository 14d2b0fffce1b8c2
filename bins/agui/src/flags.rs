//! The command line.

use std::path::PathBuf;

use agui_client::Accept;
use clap::{Args, Parser, Subcommand, ValueEnum};

mod help;

/// A terminal client for AG-UI agents.
#[derive(Debug, Parser)]
#[command(name = "agui", version, about, long_about = help::ABOUT, after_long_help = help::EXIT_CODES)]
pub(crate) struct Flags {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Talk to an agent: stream its answer, answer its questions, until the work is done.
    #[command(after_long_help = help::RUN)]
    Run(Box<RunFlags>),
    /// Judge a stream by the rules of AG-UI 1.0: of an agent, a file, or standard input.
    #[command(after_long_help = help::VERIFY)]
    Verify(Box<VerifyFlags>),
    /// Write what an agent answers to a trace file, with secrets taken out.
    #[command(after_long_help = help::RECORD)]
    Record(Box<RecordFlags>),
    /// Serve a trace file as an AG-UI endpoint.
    #[command(after_long_help = help::REPLAY)]
    Replay(ReplayFlags),
}

/// How an agent is reached.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectFlags {
    /// Header of every request, as `Name: value`; repeatable.
    #[arg(long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// Environment variable with a bearer token, so that it stands in no process list.
    #[arg(long, value_name = "NAME")]
    pub(crate) bearer_env: Option<String>,
    /// Seconds that the agent may be silent before it is given up.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: u64,
    /// Declare no protocol version, as clients before 1.0 did.
    #[arg(long)]
    pub(crate) legacy: bool,
}

/// What is said to the agent. Values are JSON, or `@FILE` for the content of a file.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Request")]
pub(crate) struct RequestFlags {
    /// The thread; a new one unless given.
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,
    /// Shared state to begin with.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) state: Option<String>,
    /// Tools that you carry out yourself, an array of `{name, description, parameters}`.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) tools: Option<String>,
    /// Properties that are forwarded to the agent.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) props: Option<String>,
    /// File to attach to the prompt, for example an image; repeatable.
    #[arg(long = "attach", value_name = "FILE")]
    pub(crate) attachments: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunFlags {
    /// Address of the agent.
    pub(crate) url: String,
    /// What you say; `-` reads it from standard input. May be left out if answers are given.
    pub(crate) prompt: Option<String>,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
    /// Answer to a question of the agent, or result of one of your tools; repeatable. ID is the id of the
    /// interrupt or call, the reason of the interrupt, the name of the tool, or `*`. The JSON text `cancel`,
    /// without quotes, leaves the question.
    #[arg(long = "answer", value_name = "ID=JSON", help_heading = "Answers")]
    pub(crate) answers: Vec<String>,
    /// File with a JSON object of answers by ID.
    #[arg(long = "answers", value_name = "FILE", help_heading = "Answers")]
    pub(crate) answer_file: Option<PathBuf>,
    /// Ask nothing: end with exit code 3 at the first question without an answer.
    #[arg(long, help_heading = "Answers")]
    pub(crate) no_input: bool,
    /// Write every event as one line of JSON; implies `--no-input`.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Also show shared state and events of the application.
    #[arg(short, long, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// Encoding of the events that is asked for; an agent that does not have it answers with the other.
    #[arg(long, value_enum, default_value_t, help_heading = "Connection")]
    pub(crate) encoding: Encoding,
    #[command(flatten)]
    pub(crate) connect: ConnectFlags,
}

/// How events are written on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Encoding {
    /// Server-sent events, which every agent has.
    #[default]
    Sse,
    /// Protocol buffers: smaller, but numbers of opaque JSON become doubles.
    Binary,
}

impl From<Encoding> for Accept {
    fn from(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Sse => Self::Text,
            Encoding::Binary => Self::Binary,
        }
    }
}

/// The form of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for test reports.
    Junit,
}

/// What counts as failure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Errors.
    #[default]
    Error,
    /// Errors and warnings.
    Warning,
    /// Nothing.
    None,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyFlags {
    /// Address of an agent, or a file: an event stream, JSON lines, a JSON array, a trace; `-` for standard
    /// input.
    pub(crate) source: String,
    /// What is said to the agent.
    #[arg(default_value = "Hello! Please answer briefly.")]
    pub(crate) prompt: String,
    /// Form of the report.
    #[arg(long, value_enum, default_value_t, help_heading = "Report")]
    pub(crate) format: Format,
    /// Write the report to a file instead of standard output.
    #[arg(short, long, value_name = "FILE", help_heading = "Report")]
    pub(crate) output: Option<PathBuf>,
    /// Rule that is not reported; repeatable.
    #[arg(long = "off", value_name = "RULE", help_heading = "Report")]
    pub(crate) off: Vec<String>,
    /// What counts as failure.
    #[arg(long, value_enum, default_value_t, help_heading = "Report")]
    pub(crate) fail_on: FailOn,
    /// Warnings that are let pass; one more is a failure.
    #[arg(long, value_name = "N", help_heading = "Report")]
    pub(crate) max_warnings: Option<usize>,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
    #[command(flatten)]
    pub(crate) connect: ConnectFlags,
}

#[derive(Debug, Args)]
pub(crate) struct RecordFlags {
    /// Address of the agent.
    pub(crate) url: String,
    /// The trace file; it must not exist, except with `--append`.
    pub(crate) file: PathBuf,
    /// What you say; `-` reads it from standard input. May be left out if answers are given.
    pub(crate) prompt: Option<String>,
    /// Add another exchange to a trace, for example the answer to a question.
    #[arg(long)]
    pub(crate) append: bool,
    /// Answer to a question of the exchange before, by the id of the interrupt; repeatable.
    #[arg(long = "answer", value_name = "ID=JSON")]
    pub(crate) answers: Vec<String>,
    /// Text to take out wherever it occurs, beside what looks like a secret; repeatable.
    #[arg(long = "redact-env", value_name = "NAME")]
    pub(crate) redact_env: Vec<String>,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
    #[command(flatten)]
    pub(crate) connect: ConnectFlags,
}

/// How fast a trace is replayed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pace {
    /// With the pauses of the recording.
    #[default]
    Original,
    /// Without any pause.
    Fast,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayFlags {
    /// The trace file.
    pub(crate) file: PathBuf,
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: std::net::IpAddr,
    /// Port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 8000)]
    pub(crate) port: u16,
    /// How fast.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) pace: Pace,
    /// Keep the ids of the recording instead of those of each request.
    #[arg(long)]
    pub(crate) keep_ids: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Flags::command().debug_assert();
    }
}
