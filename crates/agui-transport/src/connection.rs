//! One connection from its first byte to its last.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::gate::{Gate, Seat};
use crate::head_timer::HeadTimer;
use crate::socket::{self, Held, Socket, Wire};

/// Bytes that a connection buffers for reading a head or for writing (64 KiB, or the head limit if
/// that is larger). Bounds what a slow reader costs, together with the queue of its run.
const BUFFER_BYTES: usize = 64 * 1024;

/// How long a connection over the cap may live (10 s): it gets one answer.
const STANDING_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves the requests of a connection until either side ends it.
pub(crate) async fn serve(
    gate: Arc<Gate>,
    stream: TcpStream,
    seat: Seat,
    permit: Option<OwnedSemaphorePermit>,
) {
    let wire = Arc::new(Wire::new(Held { _counted: gate.activity.enter_connection(), _permit: permit }));
    // Events are small and must not wait for each other's acknowledgements.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection was gone before it was served");
        return;
    }
    socket::limit_unacknowledged(&stream, gate.timeouts.write);
    let ended = match seat {
        Seat::Regular => Ok(exchange(gate, stream, seat, wire).await),
        Seat::Standing => timeout(STANDING_TIMEOUT, exchange(gate, stream, seat, wire)).await,
    };
    if let Ok(Err(error)) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

/// Requests in, answers out; at each step of a shutdown, less.
async fn exchange(gate: Arc<Gate>, stream: TcpStream, seat: Seat, wire: Arc<Wire>) -> hyper::Result<()> {
    // Its own tokens, so that the connections do not share locks.
    let stop = gate.stop.child();
    let io = TokioIo::new(Socket::new(stream, Arc::clone(&wire), gate.timeouts.write));
    let http = protocol(&gate, seat, &wire);
    let service = {
        let wire = Arc::clone(&wire);
        service_fn(move |request| {
            let answer = Arc::clone(&gate).answer(request, seat, Arc::clone(&wire));
            async { Ok::<_, Infallible>(answer.await) }
        })
    };
    // Every future below may be dropped at any await; the connection stays pinned and is polled on.
    let mut connection = pin!(http.serve_connection(io, service).with_upgrades());
    tokio::select! {
        biased;
        ended = connection.as_mut() => return ended,
        () = stop.asked.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        biased;
        ended = connection.as_mut() => return ended,
        // The next poll of the connection reaches its stream.
        () = stop.last_call.cancelled() => wire.call_last(),
    }
    tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = stop.now.cancelled() => Ok(()),
    }
}

fn protocol(gate: &Gate, seat: Seat, wire: &Arc<Wire>) -> http1::Builder {
    let mut http = http1::Builder::new();
    match gate.timeouts.idle {
        Some(idle) => http.timer(HeadTimer::new(Arc::clone(wire), gate.timeouts.head, idle)),
        None => http.timer(TokioTimer::new()),
    };
    http.header_read_timeout(gate.timeouts.head)
        .max_header_size(gate.limits.max_head_bytes)
        .max_buf_size(gate.limits.max_head_bytes.max(BUFFER_BYTES))
        // A client that closes its writing side has left; see the crate's documentation.
        .half_close(false)
        .keep_alive(seat == Seat::Regular);
    http
}
