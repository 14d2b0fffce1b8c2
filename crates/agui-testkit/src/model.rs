//! A scripted model with the OpenAI chat-completions interface, for driving the real kernel.
//!
//! It plays the `llm_script.json` of a recorded trace: a request takes the first turn that fits and
//! still has uses left, and gets the turn's steps as a stream or as one answer.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use crate::error::TestkitError;
use crate::log::RequestLog;
use crate::net::{ANY_PORT, Connections, Running, serve_http};

mod http;
mod pattern;
mod reply;
mod script;

pub use script::ModelScript;

/// The running model server. Dropping it closes every socket.
#[derive(Debug)]
pub struct ModelServer {
    running: Running,
    model: Arc<Model>,
}

#[derive(Debug)]
pub(crate) struct Model {
    script: Mutex<ModelScript>,
    released: watch::Sender<HashSet<String>>,
    entries: Mutex<Vec<Value>>,
}

impl ModelServer {
    /// Starts on a free loopback port.
    ///
    /// # Errors
    /// [`TestkitError::Bind`].
    pub async fn start(script: ModelScript) -> Result<Self, TestkitError> {
        Self::start_on(ANY_PORT, script).await
    }

    /// Starts on a given address.
    ///
    /// # Errors
    /// [`TestkitError::Bind`].
    pub async fn start_on(addr: SocketAddr, script: ModelScript) -> Result<Self, TestkitError> {
        let (released, _) = watch::channel(HashSet::new());
        let model = Arc::new(Model { script: Mutex::new(script), released, entries: Mutex::default() });
        let running = serve_http(addr, usize::MAX, Arc::clone(&model)).await?;
        Ok(Self { running, model })
    }

    /// `http://127.0.0.1:port`; the base URL for clients is this plus `/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        self.running.url()
    }

    /// The address it listens on.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.running.addr
    }

    /// Every request.
    #[must_use]
    pub fn requests(&self) -> &RequestLog {
        &self.running.log
    }

    /// Connections accepted and open.
    #[must_use]
    pub fn connections(&self) -> &Connections {
        &self.running.connections
    }

    /// What was asked, and the number of the turn that answered (-1 for the fallback), one a request.
    #[must_use]
    pub fn log(&self) -> Vec<Value> {
        self.model.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the script and takes back every release.
    pub fn set_script(&self, script: ModelScript) {
        self.model.set_script(script);
    }

    /// Lets every `hold` of that name go on, now and later.
    pub fn release(&self, name: &str) {
        self.model.release(name);
    }

    /// Stops listening and closes every socket.
    pub async fn stop(self) {
        self.running.stop().await;
    }
}

impl Model {
    fn set_script(&self, script: ModelScript) {
        *self.script.lock().unwrap_or_else(PoisonError::into_inner) = script;
        self.released.send_modify(HashSet::clear);
    }

    fn release(&self, name: &str) {
        self.released.send_modify(|released| {
            released.insert(name.to_owned());
        });
    }
}
