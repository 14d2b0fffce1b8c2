//! `agui record` and `agui replay`: exchanges with an agent as a file.

use std::fs;
use std::io::Write as _;
use std::time::Instant;

use agui_client::HttpAgent;
use anyhow::{Context as _, Result, bail, ensure};

mod capture;
mod lines;
mod redact;
mod serve;

use capture::Captured;
use lines::{Exchange, Line};
use redact::Redactor;
pub(crate) use redact::is_telling;

use crate::exit::{self, Exit};
use crate::flags::{RecordFlags, ReplayFlags};
use crate::request::{self, Connection};
use crate::run::answers::Answers;

/// Makes a run and writes what went over the wire.
pub(crate) async fn record(flags: RecordFlags) -> Result<Exit> {
    let before = match fs::read_to_string(&flags.file) {
        Ok(text) if flags.append => lines::exchanges(&text)?,
        Ok(_) => bail!("{} exists already; --append adds to it", flags.file.display()),
        Err(_) => Vec::new(),
    };
    let n = before.iter().map(|exchange| exchange.n).max().unwrap_or(0) + 1;
    let connection = Connection::new(&flags.url, &flags.connect)?;
    let answers = Answers::new(&flags.answers, None)?;
    let mut request_flags = flags.request;
    // What is added goes on with the thread that is there.
    if request_flags.thread.is_none() {
        request_flags.thread = before.last().and_then(Exchange::thread_id);
    }
    let mut thread = request::conversation(&request_flags, flags.prompt.as_deref())?;
    ensure!(
        !thread.messages().is_empty() || !answers.is_empty(),
        "say something: a prompt, an attachment or an answer is missing"
    );
    let mut input = thread.request(request::new_id(), request::now())?;
    input.resume = answers.to_resume();

    let mut secrets = connection.secrets;
    for name in &flags.redact_env {
        secrets.push(std::env::var(name).with_context(|| format!("reading the variable {name}"))?);
    }
    let mut captured = Captured::new(n, &connection.config, &input)?;
    secrets.extend(captured.mask_answers(&lines::schemas(&before)));
    let redactor = Redactor::new(secrets);
    let agent = HttpAgent::new(connection.config)?;
    let started = Instant::now();
    // A stop keeps what has come so far.
    let stopped = tokio::select! {
        done = captured.run(&agent, input, started) => done.map(|()| false),
        signal = tokio::signal::ctrl_c() => signal.map(|()| true).map_err(Into::into),
    }?;
    if stopped {
        captured.stop(started);
    }
    let (events, is_complete) = (captured.events(), captured.is_complete());
    write(&flags.file, flags.append, &captured.into_lines(&redactor))?;
    exit::warn(&format!("{events} events recorded in {}", flags.file.display()));
    Ok(match (stopped, is_complete) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Success,
        (false, false) => Exit::Failure,
    })
}

fn write(path: &std::path::Path, append: bool, lines: &[Line]) -> Result<()> {
    let mut options = fs::OpenOptions::new();
    if append {
        options.append(true).create(true);
    } else {
        options.write(true).create_new(true);
    }
    // Whoever records may not think of who else reads.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
    }
    let mut file = options.open(path).with_context(|| format!("writing {}", path.display()))?;
    file.write_all(&text).with_context(|| format!("writing {}", path.display()))
}

/// Serves a trace until Ctrl-C.
pub(crate) async fn replay(flags: ReplayFlags) -> Result<Exit> {
    let name = flags.file.display();
    let text = fs::read_to_string(&flags.file).with_context(|| format!("reading {name}"))?;
    let exchanges = lines::exchanges(&text).with_context(|| format!("{name} is no trace"))?;
    ensure!(!exchanges.is_empty(), "{name} holds no exchange");
    serve::run(exchanges, &flags).await
}
