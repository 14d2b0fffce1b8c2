//! The kernel as a program that is started and watched.

use std::path::PathBuf;

use a2a_client::{Client, ClientConfig};
use agui_iac_code::Secret;

use crate::HostError;
use crate::managed::{CommandLine, Output, Program};

/// An A2A kernel that listens on a port of this machine that it is told.
#[derive(Debug)]
pub(crate) struct KernelProgram {
    words: Vec<String>,
    roots: String,
}

impl KernelProgram {
    /// The kernel that `words` start, which may work in `roots`.
    pub(crate) fn new(words: Vec<String>, roots: &[PathBuf]) -> Result<Self, HostError> {
        let roots = std::env::join_paths(roots).map_err(HostError::Roots)?;
        Ok(Self { words, roots: roots.to_string_lossy().into_owned() })
    }
}

impl Program for KernelProgram {
    type Handle = Client;

    fn name(&self) -> &'static str {
        "the local A2A process"
    }

    fn command(&self, port: u16, token: &Secret) -> CommandLine {
        let fill = |word: &String| word.replace("{host}", "127.0.0.1").replace("{port}", &port.to_string());
        let command = CommandLine::new(self.words.iter().map(fill), Output::Discarded)
            // The only place where the token is handed over: not on a command line that others can read.
            .with_variable("IACCODE_A2A_HTTP_TOKEN", token.expose());
        match std::env::var_os("IACCODE_A2A_ALLOWED_CWDS") {
            Some(_) => command,
            None => command.with_variable("IACCODE_A2A_ALLOWED_CWDS", &self.roots),
        }
    }

    fn handle(&self, port: u16, token: Secret) -> Result<Client, HostError> {
        let config = ClientConfig::new(format!("http://127.0.0.1:{port}/")).with_token(token);
        Client::new(config).map_err(HostError::KernelAddress)
    }

    async fn is_ready(&self, client: &Client) -> bool {
        client.health().await.is_ok()
    }
}
