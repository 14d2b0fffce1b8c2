//! The loop around a session.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use agui_core::{Agent, Event};
use bytes::Bytes;
use futures_util::{Sink as _, SinkExt, Stream as _};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{CloseFrame, Frame as RawFrame};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::work::Work;
use super::{WsConfig, WsContext, WsEnd};
use crate::frames::Frame;
use crate::inbound::Inbound;
use crate::session::{Action, Broken, CancelBy, Session};
use crate::stall::Watched;

/// Bytes read at a time (16 KiB): most messages are read at once, and a thousand sockets cost little.
const READ_BYTES: usize = 16 * 1024;

/// Rounds of work before other tasks of the runtime get a turn (64).
const ROUNDS: usize = 64;

/// Bytes read after a close that followed on something unreadable (64 MiB): enough for any client that
/// did not listen before it had sent everything.
const LINGER_BYTES: u64 = 64 * 1024 * 1024;

/// One socket and everything that is polled for it.
pub(super) struct Driver<Io> {
    socket: WebSocketStream<Watched<Io>>,
    session: Session,
    work: Work,
    asked: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    last_call: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    opened: Instant,
    timer: Pin<Box<Sleep>>,
    batch: Vec<Event>,
    /// Nothing more can be read as messages.
    deaf: bool,
    /// Frames were handed over that may not have been sent.
    unflushed: bool,
    close_timeout: Duration,
}

impl<Io: AsyncRead + AsyncWrite + Unpin + Send> Driver<Io> {
    pub(super) async fn new(io: Io, agent: Arc<dyn Agent>, config: &WsConfig, context: WsContext) -> Self {
        let config = config.bounded();
        // Nothing is collected before it is written: what the client does not take holds the run back.
        let limits = WebSocketConfig::default()
            .read_buffer_size(READ_BYTES)
            .write_buffer_size(0)
            .max_message_size(Some(config.max_message_bytes))
            .max_frame_size(Some(config.max_message_bytes));
        let io = Watched::new(io, config.timeouts.write);
        let language = agui_i18n::choose(None, context.accept_language.as_deref());
        Self {
            socket: WebSocketStream::from_raw_socket(io, Role::Server, Some(limits)).await,
            session: Session::new(&config, language),
            asked: Some(Box::pin(context.asked.clone().cancelled_owned())),
            last_call: Some(Box::pin(context.last_call.clone().cancelled_owned())),
            work: Work::new(agent, context),
            opened: Instant::now(),
            timer: Box::pin(sleep(Duration::ZERO)),
            batch: Vec::new(),
            deaf: false,
            unflushed: false,
            close_timeout: config.timeouts.close,
        }
    }

    /// Does what can be done; ready when the socket has ended.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<WsEnd> {
        for _ in 0..ROUNDS {
            let now = self.opened.elapsed();
            self.session.handle_timeout(now);
            self.poll_stop(cx, now);
            let mut progress = self.poll_messages(cx, now);
            progress |= self.poll_work(cx, now);
            progress |= self.act();
            progress |= self.poll_events(cx, now);
            progress |= self.poll_frames(cx, now);
            if let Some(end) = self.session.end() {
                self.act();
                return Poll::Ready(end);
            }
            if !progress && self.poll_timer(cx).is_pending() {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Lets the last frames arrive and closes the connection, if somebody is there.
    pub(super) async fn finish(mut self, end: WsEnd) {
        if matches!(end, WsEnd::Lost | WsEnd::Vanished | WsEnd::Stalled) {
            return;
        }
        let goodbye = async {
            // An error means that the other side has gone already.
            let _ = SinkExt::flush(&mut self.socket).await;
            let deaf = self.deaf;
            let io = self.socket.get_mut();
            let _ = io.shutdown().await;
            if deaf {
                // Closing a connection on which bytes are unread would take the close frame back.
                let _ = tokio::io::copy(&mut io.take(LINGER_BYTES), &mut tokio::io::sink()).await;
            }
        };
        if timeout(self.close_timeout, goodbye).await.is_err() {
            tracing::debug!("a websocket was not closed in time");
        }
    }

    fn poll_stop(&mut self, cx: &mut Context<'_>, now: Duration) {
        if is_ready(&mut self.asked, cx) {
            self.session.handle_stop(now);
        }
        if is_ready(&mut self.last_call, cx) {
            self.session.handle_last_call(now);
        }
    }

    /// Takes one message, if one may be taken.
    fn poll_messages(&mut self, cx: &mut Context<'_>, now: Duration) -> bool {
        if self.deaf || self.work.is_reading() || !self.session.wants_message() {
            return false;
        }
        let Poll::Ready(received) = Pin::new(&mut self.socket).poll_next(cx) else { return false };
        match received {
            Some(Ok(Message::Text(text))) => self.take_message(text.into(), now),
            Some(Ok(Message::Binary(bytes))) => self.take_message(bytes, now),
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => self.session.handle_life(),
            Some(Ok(Message::Close(frame))) => {
                self.session.handle_peer_close(now, frame.map(|frame| frame.code.into()));
            }
            Some(Err(error)) => self.fail(&error, now),
            None => {
                self.deaf = true;
                self.session.handle_lost(now, WsEnd::Lost);
            }
        }
        true
    }

    fn take_message(&mut self, body: Bytes, now: Duration) {
        if !self.session.listens() {
            return;
        }
        if let Some(message) = self.work.read(body) {
            self.hand_over(message, now);
        }
    }

    fn hand_over(&mut self, message: Inbound, now: Duration) {
        let by = match &message {
            Inbound::Cancel(message, _) if self.work.controls(message) => CancelBy::Control,
            _ => CancelBy::Socket,
        };
        self.session.handle_message(now, message, by);
    }

    /// The connection or what comes over it is broken.
    fn fail(&mut self, error: &Error, now: Duration) {
        tracing::debug!(%error, "a websocket failed");
        self.deaf = true;
        match error {
            Error::Capacity(_) => self.session.handle_broken(now, Broken::TooLarge),
            Error::Utf8(_) => self.session.handle_broken(now, Broken::NotText),
            Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
                self.session.handle_lost(now, WsEnd::Lost);
            }
            Error::Protocol(_) => self.session.handle_broken(now, Broken::Protocol),
            Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => {
                self.session.handle_lost(now, WsEnd::Stalled);
            }
            _ => self.session.handle_lost(now, WsEnd::Lost),
        }
    }

    fn poll_work(&mut self, cx: &mut Context<'_>, now: Duration) -> bool {
        let mut progress = false;
        if let Poll::Ready(message) = self.work.poll_read(cx) {
            progress = true;
            match message {
                Some(message) => self.hand_over(message, now),
                None => self.session.handle_lost(now, WsEnd::Lost),
            }
        }
        if let Poll::Ready(started) = self.work.poll_started(cx) {
            progress = true;
            match started {
                Ok(()) => self.session.handle_started(),
                Err(problem) => self.session.handle_not_started(now, problem),
            }
        }
        while let Poll::Ready((order, outcome)) = self.work.poll_cancelled(cx) {
            progress = true;
            self.session.handle_cancelled(order, outcome);
        }
        progress
    }

    /// Does what the session asks for.
    fn act(&mut self) -> bool {
        let mut acted = false;
        while let Some(action) = self.session.poll_action() {
            acted = true;
            match action {
                Action::Start(wanted) => self.work.start(*wanted),
                Action::Stop(report) => self.work.stop(&report),
                Action::Cancel(order) => self.work.cancel(*order),
            }
        }
        acted
    }

    /// Takes what the run has, if it can be sent.
    fn poll_events(&mut self, cx: &mut Context<'_>, now: Duration) -> bool {
        if !self.session.wants_events(now) || Pin::new(&mut self.socket).poll_ready(cx).is_pending() {
            return false;
        }
        let Some(stream) = self.work.stream() else { return false };
        match stream.poll_batch(cx, &mut self.batch) {
            Poll::Ready(true) => self.session.handle_events(&mut self.batch),
            Poll::Ready(false) => self.session.handle_stream_end(),
            Poll::Pending => return false,
        }
        true
    }

    fn poll_frames(&mut self, cx: &mut Context<'_>, now: Duration) -> bool {
        let mut progress = false;
        loop {
            let ready = match Pin::new(&mut self.socket).poll_ready(cx) {
                Poll::Ready(ready) => ready,
                Poll::Pending => {
                    self.session.handle_blocked();
                    return progress;
                }
            };
            let sent = ready.and_then(|()| match self.session.poll_frame(now) {
                Some(frame) => Pin::new(&mut self.socket).start_send(encoded(frame)).map(|()| true),
                None => Ok(false),
            });
            match sent {
                Ok(true) => (self.unflushed, progress) = (true, true),
                Ok(false) => break,
                Err(error) => {
                    self.fail(&error, now);
                    return true;
                }
            }
        }
        if self.unflushed {
            match Pin::new(&mut self.socket).poll_flush(cx) {
                Poll::Ready(Ok(())) => {
                    self.unflushed = false;
                    self.session.handle_flushed(now);
                }
                Poll::Ready(Err(error)) => self.fail(&error, now),
                Poll::Pending => self.session.handle_blocked(),
            }
        }
        progress
    }

    /// Ready when the session has to look at the time.
    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.session.poll_deadline(self.opened.elapsed()) else { return Poll::Pending };
        let deadline = self.opened + deadline;
        if self.timer.deadline() != deadline {
            self.timer.as_mut().reset(deadline);
        }
        self.timer.as_mut().poll(cx)
    }
}

/// Whether a wait is over; true once.
fn is_ready(wait: &mut Option<Pin<Box<WaitForCancellationFutureOwned>>>, cx: &mut Context<'_>) -> bool {
    let over = wait.as_mut().is_some_and(|wait| wait.as_mut().poll(cx).is_ready());
    if over {
        *wait = None;
    }
    over
}

fn encoded(frame: Frame) -> Message {
    match frame {
        Frame::Text { payload, last } => {
            Message::Frame(RawFrame::message(payload, OpCode::Data(Data::Text), last))
        }
        Frame::Continuation { payload, last } => {
            Message::Frame(RawFrame::message(payload, OpCode::Data(Data::Continue), last))
        }
        Frame::Ping => Message::Ping(Bytes::new()),
        Frame::Close(close) => Message::Close(Some(CloseFrame {
            code: close.code.into(),
            reason: String::from(close.reason).into(),
        })),
    }
}
