//! Connections that a recorded cut can cut.

use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use agui_transport::AguiService;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

tokio::task_local! {
    /// Whether the connection that this task serves is to break once everything is written.
    static IS_CUT: Arc<AtomicBool>;
}

/// Serves the requests of one connection until either side ends it.
pub(super) async fn serve(stream: TcpStream, service: AguiService) {
    let is_cut = Arc::new(AtomicBool::new(false));
    // Records are small and must not wait for each other's acknowledgements; one that has gone is noticed below.
    let _ = stream.set_nodelay(true);
    let socket = TokioIo::new(Socket { stream, is_cut: Arc::clone(&is_cut) });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new());
    let served = http.serve_connection(socket, TowerToHyperService::new(service));
    // A client that breaks off is none of our business.
    let _ = IS_CUT.scope(is_cut, served).await;
}

/// Ends the connection of the answer that is being written, behind what was written so far and without the
/// end that HTTP has for it. Never ready on such a connection.
pub(super) async fn cut() {
    if IS_CUT.try_with(|is_cut| is_cut.store(true, Ordering::Relaxed)).is_ok() {
        pending::<()>().await;
    }
}

/// The socket of a connection.
struct Socket {
    stream: TcpStream,
    is_cut: Arc<AtomicBool>,
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    /// HTTP flushes when it has handed over all it has: here the connection breaks, and nothing is lost.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        if self.is_cut.load(Ordering::Relaxed) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
