//! The same answers, given to a server that exists already.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Frame, SizeHint};
use tokio_util::sync::WaitForCancellationFutureOwned;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tower_service::Service;

use crate::Stopped;
use crate::activity::Activity;
use crate::answer::AnswerBody;
use crate::gate::{Gate, Seat};
use crate::serve;
use crate::socket::Wire;

/// An agent as a `tower_service::Service`, for any body and any server that speaks HTTP.
///
/// It decodes, checks, refuses and streams as [`Server`](crate::Server) does, by the same code. Made by
/// [`ServerBuilder::into_service`](crate::ServerBuilder::into_service); clones are the same service.
/// Needs a tokio runtime. Routes that [upgrade](crate::Route::upgrade) work where the server is made
/// with hyper and lets connections be upgraded, as axum does.
///
/// ```
/// use std::sync::Arc;
///
/// # fn service(agent: impl agui_core::Agent) -> Result<agui_transport::AguiService, agui_transport::ServerError> {
/// agui_transport::Server::builder(Arc::new(agent)).run_path("/agent").into_service()
/// # }
/// ```
#[derive(Clone)]
pub struct AguiService {
    gate: Arc<Gate>,
}

impl AguiService {
    pub(crate) fn new(gate: Gate) -> Self {
        Self { gate: Arc::new(gate) }
    }

    #[cfg(feature = "axum")]
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &str> {
        self.gate.routes.patterns()
    }

    /// What goes on right now. Connections are the server's, so none are counted.
    #[must_use]
    pub fn activity(&self) -> Activity {
        self.gate.activity.clone()
    }

    /// Stops as [`Server::serve`](crate::Server::serve) does when its token is cancelled: refuses new
    /// runs with 503, gives what is open [`Timeouts::shutdown`](crate::Timeouts::shutdown), and then ends
    /// it. Call it while the server still serves, so that the last events are read; health is answered
    /// on.
    pub async fn stop(&self) -> Stopped {
        serve::wind_down(&self.gate).await
    }
}

impl<B> Service<Request<B>> for AguiService
where
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = Response<AguiBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<AguiBody>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let gate = Arc::clone(&self.gate);
        Box::pin(async move {
            let wire = Arc::new(Wire::default());
            let ending = Ending::new(&gate, Arc::clone(&wire));
            let answer = gate.answer(request.map(Box::pin), Seat::Regular, wire).await;
            Ok(answer.map(|body| AguiBody::new(body, ending)))
        })
    }
}

impl fmt::Debug for AguiService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AguiService").field("activity", &self.gate.activity).finish_non_exhaustive()
    }
}

/// The body of an answer of [`AguiService`].
///
/// Its only error is that the service was [stopped](AguiService::stop) and time ran out, so that the
/// stream had to be cut.
///
/// Example: see [`AguiService`].
pub struct AguiBody {
    body: AnswerBody,
    /// `None` for a body that is there in full.
    ending: Option<Ending>,
}

/// How a stream hears that the service stops; while it exists, a stop waits.
struct Ending {
    last_call: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    now: Pin<Box<WaitForCancellationFutureOwned>>,
    wire: Arc<Wire>,
    _token: TaskTrackerToken,
}

impl Ending {
    fn new(gate: &Gate, wire: Arc<Wire>) -> Self {
        let stop = gate.stop.child();
        Self {
            last_call: Some(Box::pin(stop.last_call.cancelled_owned())),
            now: Box::pin(stop.now.cancelled_owned()),
            wire,
            _token: gate.tasks.token(),
        }
    }

    /// Ready when the stream has to be cut; before that it is called to end by itself.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(last_call) = &mut self.last_call
            && last_call.as_mut().poll(cx).is_ready()
        {
            self.wire.call_last();
            self.last_call = None;
        }
        self.now.as_mut().poll(cx)
    }
}

impl AguiBody {
    fn new(body: AnswerBody, ending: Ending) -> Self {
        let streams = matches!(body, AnswerBody::Events(_));
        Self { body, ending: streams.then_some(ending) }
    }
}

impl Body for AguiBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = self.get_mut();
        if let Some(ending) = &mut this.ending
            && ending.poll(cx).is_ready()
        {
            this.body = AnswerBody::Whole(None);
            this.ending = None;
            return Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into())));
        }
        let frame = Pin::new(&mut this.body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None)) {
            this.ending = None;
        }
        frame.map(|frame| frame.map(|frame| frame.map_err(|never| match never {})))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Debug for AguiBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AguiBody").field("streams", &self.ending.is_some()).finish_non_exhaustive()
    }
}
