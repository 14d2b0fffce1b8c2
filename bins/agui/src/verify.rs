//! `agui verify`: a stream, judged by the rules of the protocol.

use std::io::{self, Read as _, Write as _};

use agui_client::HttpAgent;
use anyhow::{Context as _, Result, bail};

mod drive;
mod finding;
mod judge;
mod members;
mod order;
mod report;
mod rules;
mod source;

use finding::Judged;
use judge::{Circumstances, Peer, judge};
use rules::Rule;

use crate::exit::Exit;
use crate::flags::VerifyFlags;
use crate::request::{self, Connection};
use crate::run::or_stopped;

/// The source that is standard input.
const STDIN: &str = "-";

pub(crate) async fn run(flags: VerifyFlags) -> Result<Exit> {
    or_stopped(verify(&flags)).await
}

async fn verify(flags: &VerifyFlags) -> Result<Exit> {
    let off = flags.off.iter().map(|id| Rule::named(id).with_context(|| format!("there is no rule {id}")));
    let off: Vec<Rule> = off.collect::<Result<_>>()?;
    let mut judged = if is_address(&flags.source) { agent(flags).await? } else { file(flags).await? };
    for judged in &mut judged {
        judged.findings.retain(|finding| !off.contains(&finding.rule));
    }
    let report = report::write(flags.format, &judged);
    match &flags.output {
        Some(path) => std::fs::write(path, report).with_context(|| format!("writing {}", path.display()))?,
        None => io::stdout().write_all(report.as_bytes())?,
    }
    let fails = report::fails(&judged, flags.fail_on, flags.max_warnings);
    Ok(if fails { Exit::Failure } else { Exit::Success })
}

fn is_address(source: &str) -> bool {
    source.starts_with("http://") || source.starts_with("https://")
}

/// Judges what an agent answers.
async fn agent(flags: &VerifyFlags) -> Result<Vec<Judged>> {
    let connection = Connection::new(&flags.source, &flags.connect)?;
    let mut thread = request::conversation(&flags.request, Some(&flags.prompt))?;
    let input = thread.request(request::new_id(), request::now())?;
    let circumstances = Circumstances {
        request: Some((input.thread_id.clone(), input.run_id.clone())),
        state: Some(thread.state()),
        peer: if flags.connect.legacy { Peer::Legacy } else { Peer::Current },
    };
    let agent = HttpAgent::new(connection.config)?;
    let stream = drive::stream(&agent, input).await?;
    // A query may be a secret.
    let source = flags.source.split('?').next().unwrap_or_default().to_owned();
    Ok(vec![Judged { source, events: stream.records.len(), findings: judge(&stream, &circumstances) }])
}

/// Judges a file; every exchange of a trace for itself.
async fn file(flags: &VerifyFlags) -> Result<Vec<Judged>> {
    let name = if flags.source == STDIN { "standard input" } else { &flags.source };
    let source = flags.source.clone();
    // Elsewhere, so that Ctrl-C is heard while standard input says nothing.
    let read = tokio::task::spawn_blocking(move || match source.as_str() {
        STDIN => {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        }
        path => std::fs::read(path),
    });
    let read = read.await.unwrap_or_else(|error| Err(io::Error::other(error)));
    let bytes = read.with_context(|| format!("reading {name}"))?;
    let peer = if flags.connect.legacy { Peer::Legacy } else { Peer::Unknown };
    let circumstances = Circumstances { peer, ..Circumstances::default() };
    let streams = source::read(&bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        bail!("{name} is empty");
    }
    Ok(streams
        .iter()
        .map(|stream| Judged {
            source: format!("{}{}", flags.source, stream.name),
            events: stream.records.len(),
            findings: judge(stream, &circumstances),
        })
        .collect())
}
