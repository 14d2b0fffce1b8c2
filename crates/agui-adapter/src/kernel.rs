//! The kernel as the coordinator sees it: a client, which a restarted kernel replaces.

use a2a_client::Client;
use agui_iac_code::{ErrorCode, ErrorNotice};
use tokio::sync::watch;

/// Where the A2A kernel is now.
///
/// ```
/// use a2a_client::{Client, ClientConfig};
/// use agui_adapter::Kernel;
/// use tokio::sync::watch;
///
/// // Whoever starts the kernel tells where it is.
/// let (place, client) = watch::channel(None);
/// let kernel = Kernel::changing(client);
/// place.send_replace(Some(Client::new(ClientConfig::new("http://127.0.0.1:41242/"))?));
/// # drop(kernel);
/// # Ok::<(), a2a_client::ClientError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Kernel {
    client: watch::Receiver<Option<Client>>,
}

impl Kernel {
    /// A kernel that stays where it is.
    #[must_use]
    pub fn fixed(client: Client) -> Self {
        // A receiver keeps its last value when the sender is gone.
        Self { client: watch::channel(Some(client)).1 }
    }

    /// A kernel that somebody restarts; `None` while there is none.
    #[must_use]
    pub const fn changing(client: watch::Receiver<Option<Client>>) -> Self {
        Self { client }
    }

    /// The client of the kernel that runs now.
    pub(crate) fn client(&self) -> Result<Client, ErrorNotice> {
        self.client.borrow().clone().ok_or_else(|| ErrorNotice::new(ErrorCode::A2aUnavailable))
    }
}
