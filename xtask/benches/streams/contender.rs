//! The three ways from the kernel to the client.

use std::{env, net::SocketAddr, path::Path, process::Command, time::Duration};

use agui_testkit::replay::{BulkConfig, BulkServer, BulkStream};
use anyhow::{Context, Result};
use bytes::Bytes;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};

use crate::child::Process;

/// Marks the first text in what a client of the kernel reads.
const KERNEL_TEXT: &[u8] = b"\"ROLE_AGENT\"";
/// Marks text in what a client of the server reads.
const SERVER_TEXT: &[u8] = b"\"TEXT_MESSAGE_CONTENT\"";
/// How long the server may take to listen.
const START_TRIES: u32 = 200;
const START_PAUSE: Duration = Duration::from_millis(25);

/// A kernel and the three ways to it.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) contenders: [Contender; 3],
    /// Serves for as long as this value lives.
    _kernel: BulkServer,
}

impl Stage {
    /// Place of the proxy among the contenders.
    pub(crate) const FLOOR: usize = 1;

    pub(crate) async fn start(stream: BulkStream, config: BulkConfig, server: &Path) -> Result<Self> {
        let kernel = BulkServer::start(stream, config).await?;
        let address = kernel.url().trim_start_matches("http://").trim_end_matches('/').parse()?;
        let contenders = [
            Contender::kernel(address),
            Contender::proxy(address)?,
            Contender::server(server, address).await?,
        ];
        Ok(Self { contenders, _kernel: kernel })
    }
}

/// Something that streams can be asked from.
#[derive(Debug)]
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) address: SocketAddr,
    /// Its process, unless it is part of this one.
    pub(crate) process: Option<Process>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Speaks A2A.
    Kernel,
    /// Speaks AG-UI; the directory holds its workspace and its state.
    Server(TempDir),
}

impl Contender {
    /// The client straight at the kernel.
    fn kernel(kernel: SocketAddr) -> Self {
        Self { name: "kernel itself", address: kernel, process: None, kind: Kind::Kernel }
    }

    /// This program again as a proxy.
    fn proxy(kernel: SocketAddr) -> Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.arg("--proxy").arg(kernel.to_string());
        let (process, line) = Process::start_and_read(&mut command)?;
        let address = line.parse().with_context(|| format!("address of the proxy: {line}"))?;
        Ok(Self { name: "floor (proxy)", address, process: Some(process), kind: Kind::Kernel })
    }

    /// The server under test, with a workspace and a state directory of its own.
    async fn server(program: &Path, kernel: SocketAddr) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let address = TcpListener::bind(("127.0.0.1", 0)).await?.local_addr()?;
        let mut command = Command::new(program);
        command.args(["--host", "127.0.0.1", "--port", &address.port().to_string()]);
        command.env("IAC_CODE_AGUI_A2A_URL", format!("http://{kernel}/"));
        command.env("IAC_CODE_AGUI_A2A_TOKEN", "bench-token");
        command.env("IAC_CODE_AGUI_STATE_DIR", directory.path().join("state"));
        command.env("IAC_CODE_AGUI_ALLOWED_CWDS", directory.path());
        command.env("IAC_CODE_CONFIG_DIR", directory.path().join("config"));
        let mut process = Process::start(&mut command)?;
        for _ in 0..START_TRIES {
            if TcpStream::connect(address).await.is_ok() {
                return Ok(Self {
                    name: "agui-server",
                    address,
                    process: Some(process),
                    kind: Kind::Server(directory),
                });
            }
            anyhow::ensure!(!process.has_ended()?, "the server ended at once");
            tokio::time::sleep(START_PAUSE).await;
        }
        anyhow::bail!("the server does not listen on {address}")
    }

    /// The request for one answer; `run` must be new for each one.
    pub(crate) fn request(&self, thread: &str, run: &str) -> Bytes {
        let value = match &self.kind {
            Kind::Kernel => json!({
                "jsonrpc": "2.0", "id": run, "method": "SendStreamingMessage",
                "params": { "message": {
                    "messageId": run, "contextId": format!("context-{thread}"), "role": "ROLE_USER",
                    "parts": [{ "text": "go" }], "metadata": {},
                } },
            }),
            Kind::Server(directory) => json!({
                "threadId": thread, "runId": run, "protocolVersion": "1.0",
                "state": {}, "tools": [], "context": [],
                "messages": [{ "id": run, "role": "user", "content": "go" }],
                "forwardedProps": { "iacCode": {
                    "schemaVersion": 1, "rosInvocationId": "bench", "cwd": directory.path(),
                } },
            }),
        };
        value.to_string().into()
    }

    pub(crate) fn text_marker(&self) -> &'static [u8] {
        match self.kind {
            Kind::Kernel => KERNEL_TEXT,
            Kind::Server(_) => SERVER_TEXT,
        }
    }

    /// Texts more than deltas: the kernel repeats the whole answer at its end, the server does not.
    pub(crate) fn extra_texts(&self) -> usize {
        usize::from(matches!(self.kind, Kind::Kernel))
    }
}
