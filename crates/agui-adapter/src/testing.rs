//! What the unit tests of this crate share.

use std::sync::Arc;

use a2a_client::{Client, ClientConfig};
use agui_core::{RunAgentInput, RunRequest};
use agui_iac_code::ErrorNotice;
use agui_store::MemoryStore;
use agui_testkit::client::input::RunInput;
use tempfile::TempDir;

use crate::adapter::Adapter;
use crate::config::AdapterConfig;
use crate::kernel::Kernel;
use crate::request::{self, Request};

/// An adapter whose kernel nobody has started, with a workspace of its own.
pub(crate) struct Bench {
    pub(crate) adapter: Adapter,
    workspace: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let workspace = tempfile::tempdir().unwrap();
        let config = AdapterConfig::new([workspace.path().to_owned()]);
        let client = Client::new(ClientConfig::new("http://127.0.0.1:1/")).unwrap();
        let adapter = Adapter::new(config, Arc::new(MemoryStore::new()), Kernel::fixed(client));
        Self { adapter, workspace }
    }

    /// A run input of the thread `t` in the workspace.
    pub(crate) fn input(&self, run: &str) -> RunInput {
        RunInput::new("t", run, self.workspace.path().to_str().unwrap())
    }

    /// The input as the coordinator takes it, after the checks that need no state.
    pub(crate) async fn request(&self, input: &RunInput) -> Result<Request, ErrorNotice> {
        let body = input.to_json().to_string();
        let decoded = RunAgentInput::decode(body.as_bytes()).unwrap();
        let request = RunRequest::new(decoded, body.into());
        let language = request::language(self.adapter.shared.config.profile, &request);
        Request::check(&self.adapter.shared, request, language).await
    }
}
