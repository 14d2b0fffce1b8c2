//! Log lines: text or JSON, to standard error or output.

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::flags::LogFormat;
use crate::settings::Settings;

/// Variable that overrides which messages are logged, in the usual filter syntax.
const FILTER_VARIABLE: &str = "AGUI_SERVER_LOG";

/// Installs the subscriber of the process.
pub(crate) fn start(settings: &Settings) {
    let level = if settings.debug { "debug" } else { "info" };
    let filter = EnvFilter::try_from_env(FILTER_VARIABLE).unwrap_or_else(|_| EnvFilter::new(level));
    let writer = if settings.log_stdout {
        BoxMakeWriter::new(|| Box::new(io::stdout()) as Box<dyn Write>)
    } else {
        BoxMakeWriter::new(|| Box::new(io::stderr()) as Box<dyn Write>)
    };
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(false);
    match settings.log_format {
        LogFormat::Text => subscriber.init(),
        LogFormat::Json => subscriber.json().flatten_event(true).init(),
    }
}
