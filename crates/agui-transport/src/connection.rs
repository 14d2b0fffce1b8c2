//! One connection from its first byte to its last.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until};

use crate::gate::{Gate, Seat};
use crate::socket::{Socket, Wire};

/// Bytes that a connection buffers for reading a head or for writing (64 KiB, or the head limit if
/// that is larger). Bounds what a slow reader costs, together with the queue of its run.
const BUFFER_BYTES: usize = 64 * 1024;

/// How long a connection over the cap may live (10 s): it gets one answer.
const STANDING_TIMEOUT: Duration = Duration::from_secs(10);

/// Far enough to never be reached (a year).
const NO_DEADLINE: Duration = Duration::from_secs(365 * 24 * 3600);

/// Serves the requests of a connection until either side ends it.
pub(crate) async fn serve(gate: Arc<Gate>, stream: TcpStream, seat: Seat) {
    let _counted = gate.activity.enter_connection();
    // Events are small and must not wait for each other's acknowledgements.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection was gone before it was served");
        return;
    }
    let lifetime = match seat {
        Seat::Regular => NO_DEADLINE,
        Seat::Standing => STANDING_TIMEOUT,
    };
    let deadline = sleep_until(Instant::now() + lifetime);
    let stop = gate.stop.clone();
    let wire = Arc::new(Wire::default());
    let io = TokioIo::new(Socket::new(stream, Arc::clone(&wire), gate.timeouts.write));
    let http = protocol(&gate, seat);
    let service = service_fn(move |request| {
        let answer = Arc::clone(&gate).answer(request, seat, Arc::clone(&wire));
        async { Ok::<_, Infallible>(answer.await) }
    });

    let mut connection = pin!(http.serve_connection(io, service));
    let mut deadline = pin!(deadline);
    // All of these may be dropped at any await: `connection` is pinned and polled again.
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = stop.asked.cancelled() => None,
        () = deadline.as_mut() => return,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection.as_mut() => ended,
                () = stop.now.cancelled() => return,
                () = deadline.as_mut() => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection broke");
    }
}

fn protocol(gate: &Gate, seat: Seat) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(gate.timeouts.head)
        .max_header_size(gate.limits.max_head_bytes)
        .max_buf_size(gate.limits.max_head_bytes.max(BUFFER_BYTES))
        // A client that closes its writing side has left; see the crate's documentation.
        .half_close(false)
        .keep_alive(seat == Seat::Regular);
    http
}
