//! Log lines: text or JSON, to standard error or output.

use std::io::{self, Write};

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

/// Form of the log lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LogFormat {
    /// One readable line an event.
    #[default]
    Text,
    /// One JSON object an event.
    Json,
}

/// What is logged, how and where.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LogConfig {
    /// Variable that overrides which messages are logged, in the usual filter syntax.
    pub filter_variable: &'static str,
    /// Which messages are logged otherwise: `info` or `debug` (default `info`).
    pub level: &'static str,
    /// Form of the lines (default text).
    pub format: LogFormat,
    /// Whether they go to standard output instead of standard error.
    pub to_stdout: bool,
}

impl LogConfig {
    /// Readable lines of level `info` to standard error.
    #[must_use]
    pub const fn new(filter_variable: &'static str) -> Self {
        Self { filter_variable, level: "info", format: LogFormat::Text, to_stdout: false }
    }

    /// Sets the form of the lines.
    #[must_use]
    pub const fn with_format(mut self, format: LogFormat) -> Self {
        self.format = format;
        self
    }

    /// Logs debug messages too.
    #[must_use]
    pub const fn with_debug(mut self) -> Self {
        self.level = "debug";
        self
    }

    /// Logs to standard output.
    #[must_use]
    pub const fn with_stdout(mut self) -> Self {
        self.to_stdout = true;
        self
    }

    /// Installs the subscriber of the process; once.
    pub fn start(&self) {
        let filter =
            EnvFilter::try_from_env(self.filter_variable).unwrap_or_else(|_| EnvFilter::new(self.level));
        let writer = if self.to_stdout {
            BoxMakeWriter::new(|| Box::new(io::stdout()) as Box<dyn Write>)
        } else {
            BoxMakeWriter::new(|| Box::new(io::stderr()) as Box<dyn Write>)
        };
        // When nobody reads the log any more, a complaint about it could not be written either: writing it
        // would panic in whatever task has just logged.
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(writer)
            .with_ansi(false)
            .log_internal_errors(false);
        match self.format {
            LogFormat::Text => subscriber.init(),
            LogFormat::Json => subscriber.json().flatten_event(true).with_span_list(false).init(),
        }
    }
}
