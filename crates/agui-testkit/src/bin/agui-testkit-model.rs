//! Runs the scripted model server: `agui-testkit-model [--script FILE] [--port N]`.
//!
//! Prints `{"port":N,"url":"http://127.0.0.1:N"}` as one line when it listens, and runs until it is
//! interrupted.

use std::error::Error;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;

use agui_testkit::model::{ModelScript, ModelServer};
use serde_json::json;

/// What the command line asks for.
#[derive(Debug, Default)]
struct Options {
    script: Option<String>,
    port: u16,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "agui-testkit-model: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let options = options(std::env::args().skip(1))?;
    let script = match &options.script {
        Some(path) => ModelScript::load(Path::new(path))?,
        None => ModelScript::default(),
    };
    let server = ModelServer::start_on(SocketAddr::from((Ipv4Addr::LOCALHOST, options.port)), script).await?;
    let line = json!({"port": server.addr().port(), "url": server.url()});
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()?;
    drop(out);
    tokio::signal::ctrl_c().await?;
    server.stop().await;
    Ok(())
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, Box<dyn Error>> {
    let mut options = Options::default();
    while let Some(name) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{name} needs a value"));
        match name.as_str() {
            "--script" => options.script = Some(value()?),
            "--port" => options.port = value()?.parse()?,
            _ => return Err(format!("unknown option {name}; known are --script FILE and --port N").into()),
        }
    }
    Ok(options)
}
