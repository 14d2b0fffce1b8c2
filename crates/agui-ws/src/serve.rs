//! Serving one socket: moves messages, events and time between the connection, the agent and the
//! [`Session`], which decides.

use std::future::poll_fn;
use std::sync::Arc;

use agui_core::Agent;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{WsConfig, WsContext};

mod driver;
mod work;

use driver::Driver;

/// How a socket ended.
///
/// Example: see [`serve`](serve()).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WsEnd {
    /// This side closed it, with this code.
    Closed(u16),
    /// The client closed it, with a code if it gave one.
    ClosedByPeer(Option<u16>),
    /// The connection broke.
    Lost,
    /// The client did not answer a ping.
    Vanished,
    /// The client accepted nothing for too long.
    Stalled,
}

/// Serves AG-UI on a connection whose upgrade has been answered, until it ends.
///
/// Must run inside a tokio runtime with time enabled. Dropping the future drops the connection, and
/// the stream of an open run with it.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use agui_core::Agent;
/// use agui_ws::{WsConfig, WsContext, WsEnd, serve};
///
/// # async fn on_upgraded(io: tokio::net::TcpStream, request: &http::HeaderMap, agent: Arc<dyn Agent>) {
/// let context = WsContext::new().with_headers(request);
/// let end: WsEnd = serve(io, agent, &WsConfig::new(), context).await;
/// # }
/// ```
pub async fn serve<Io>(io: Io, agent: Arc<dyn Agent>, config: &WsConfig, context: WsContext) -> WsEnd
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let mut driver = Driver::new(io, agent, config, context).await;
    let end = poll_fn(|cx| driver.poll(cx)).await;
    tracing::debug!(?end, "websocket ended");
    driver.finish(end).await;
    end
}
