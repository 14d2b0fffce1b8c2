//! An A2A agent of any make: found by its card, now or as soon as it is there.

use std::time::Duration;

use a2a_client::{Client, ClientConfig, ClientError, discover};
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::HostError;

/// First pause before the card is asked for again; doubled each time …
const RETRY_FIRST: Duration = Duration::from_millis(500);
/// … up to this.
const RETRY_MAX: Duration = Duration::from_secs(30);

/// The agent's client, `None` until its card could be read; `stop` ends the search.
///
/// # Errors
/// [`HostError::Agent`] if the agent is there and cannot be talked to.
pub(crate) async fn find(
    config: ClientConfig,
    stop: CancellationToken,
) -> Result<watch::Receiver<Option<Client>>, HostError> {
    match ask(&config).await {
        Ok(client) => Ok(watch::channel(Some(client)).1),
        Err(error) if may_pass(&error) => {
            tracing::warn!(%error, "the A2A agent does not answer yet");
            let (found, client) = watch::channel(None);
            tokio::spawn(stop.run_until_cancelled_owned(search(config, found)));
            Ok(client)
        }
        Err(error) => Err(HostError::Agent(error)),
    }
}

async fn ask(config: &ClientConfig) -> Result<Client, ClientError> {
    let found = discover(config.clone()).await?;
    let (version, streaming) = (found.version.header_value(), found.card.streaming);
    tracing::info!(version, streaming, "the A2A agent is found");
    Ok(found.client)
}

async fn search(config: ClientConfig, found: watch::Sender<Option<Client>>) {
    let mut pause = RETRY_FIRST;
    loop {
        sleep(pause).await;
        match ask(&config).await {
            Ok(client) => {
                found.send_replace(Some(client));
                return;
            }
            Err(error) if may_pass(&error) => tracing::debug!(%error, "the A2A agent does not answer yet"),
            // Whoever operates the agent may still correct it.
            Err(error) => tracing::error!(%error, "the A2A agent cannot be talked to"),
        }
        pause = (pause * 2).min(RETRY_MAX);
    }
}

/// Whether the agent may only not be there yet.
fn may_pass(error: &ClientError) -> bool {
    match error {
        ClientError::Connect(_)
        | ClientError::ConnectTimeout { .. }
        | ClientError::ClosedEarly
        | ClientError::Cut(_)
        | ClientError::Timeout { .. }
        | ClientError::RateLimited { .. } => true,
        ClientError::Http(failure) => failure.status >= 500,
        _ => false,
    }
}
