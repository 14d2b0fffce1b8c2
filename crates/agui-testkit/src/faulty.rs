//! An upstream that misbehaves as it is told, byte by byte.
//!
//! A [`Script`] says for each kind of request which [`Step`]s to take. The server counts
//! connections and keeps every request, so a test can say "exactly one CancelTask came" and
//! "no socket is open".

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::error::TestkitError;
use crate::log::RequestLog;
use crate::net::{ANY_PORT, Connections, Running, listen};
use crate::wire::Ids;

mod play;
mod script;
mod step;

pub use script::Script;
pub use step::{Eol, Framing, Step};

/// Marker that a step replaces with the context id of the request.
pub const CONTEXT: &str = "@context@";
/// Marker that a step replaces with the task id of the request, or with [`NEW_TASK`].
pub const TASK: &str = "@task@";
/// Marker that a step replaces with the message id of the request.
pub const MESSAGE: &str = "@message@";
/// The task id where the request has none.
pub const NEW_TASK: &str = "faulty-task";

/// Identities made of the markers: what is built with them fits the request that it answers.
#[must_use]
pub fn ids() -> Ids {
    Ids::new(TASK, CONTEXT, "faulty-session")
}

/// The misbehaving server. Dropping it closes every socket.
#[derive(Debug)]
pub struct FaultyServer {
    running: Running,
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    script: Mutex<Script>,
    released: watch::Sender<HashSet<String>>,
    unmatched: Mutex<Vec<String>>,
}

impl FaultyServer {
    /// Starts on a free loopback port.
    ///
    /// # Errors
    /// [`TestkitError::Bind`].
    pub async fn start(script: Script) -> Result<Self, TestkitError> {
        Self::start_on(ANY_PORT, script).await
    }

    /// Starts on a given address: a server that "comes back" after another one was stopped.
    ///
    /// # Errors
    /// [`TestkitError::Bind`].
    pub async fn start_on(addr: SocketAddr, script: Script) -> Result<Self, TestkitError> {
        let (released, _) = watch::channel(HashSet::new());
        let shared = Arc::new(Shared { script: Mutex::new(script), released, unmatched: Mutex::default() });
        let for_connections = Arc::clone(&shared);
        let running = listen(addr, usize::MAX, move |socket, connected, log| {
            let shared = Arc::clone(&for_connections);
            async move { play::connection(socket, &connected, &log, &shared).await }
        })
        .await?;
        Ok(Self { running, shared })
    }

    /// `http://127.0.0.1:port`.
    #[must_use]
    pub fn url(&self) -> String {
        self.running.url()
    }

    /// The address it listens on.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.running.addr
    }

    /// Every request that was read to its end.
    #[must_use]
    pub fn requests(&self) -> &RequestLog {
        &self.running.log
    }

    /// Connections accepted and open.
    #[must_use]
    pub fn connections(&self) -> &Connections {
        &self.running.connections
    }

    /// The kinds of the requests for which the script had nothing left.
    #[must_use]
    pub fn unmatched(&self) -> Vec<String> {
        self.shared.unmatched.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets every [`Step::Await`] of that name go on, now and later.
    pub fn release(&self, name: &str) {
        self.shared.released.send_modify(|released| {
            released.insert(name.to_owned());
        });
    }

    /// Replaces the script for the requests to come.
    pub fn set_script(&self, script: Script) {
        *self.shared.script.lock().unwrap_or_else(PoisonError::into_inner) = script;
    }

    /// Stops listening and closes every socket; ends when they are closed.
    pub async fn stop(self) {
        self.running.stop().await;
    }
}

/// A URL of a loopback port on which nobody listens.
///
/// # Errors
/// [`TestkitError::Bind`] when no port is free.
pub async fn refusing_url() -> Result<String, TestkitError> {
    let listener = tokio::net::TcpListener::bind(ANY_PORT)
        .await
        .map_err(|source| TestkitError::Bind { addr: ANY_PORT, source })?;
    Ok(format!("http://{}", listener.local_addr()?))
}
