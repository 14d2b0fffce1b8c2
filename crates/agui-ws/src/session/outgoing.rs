//! The sending half: what is said next, in how many frames, and when.

use std::time::Duration;

use agui_core::Event;
use bytes::Bytes;

use super::{Action, Phase, Run, RunEnded, RunReport, Session};
use crate::frames::{Frame, Message};
use crate::pieces::Joining;
use crate::replies::{Standing, json};
use crate::{WsEnd, WsFraming};

/// What the framing as a server-sent event puts around an event, in bytes.
const SSE_BYTES: usize = b"data: \n\n".len();

impl Session {
    /// Whether the run may give events: nothing else waits to be sent, and something may be sent.
    pub(crate) fn wants_events(&self, now: Duration) -> bool {
        self.listens()
            && matches!(&self.run, Run::Streaming(live) if !live.ended_here)
            && self.pieces.is_empty()
            && self.staged.is_empty()
            && self.asides_begun.is_empty()
            && self.message.is_none()
            && self.pace.available(now) > 0
    }

    /// The next frame to send, if there is one and it may leave now.
    pub(crate) fn poll_frame(&mut self, now: Duration) -> Option<Frame> {
        match &self.phase {
            Phase::Left { .. } | Phase::Over(_) => return None,
            Phase::Leaving { .. } => return self.say_goodbye(),
            Phase::Open | Phase::Draining { .. } => {}
        }
        if self.pace.available(now) == 0 {
            return None;
        }
        if self.watch.wants_ping() {
            self.watch.pinged(now);
            self.pace.take(now);
            return Some(Frame::Ping);
        }
        let message = self.message.take().or_else(|| self.next_message(now));
        let Some(mut message) = message else { return self.finish_draining(now) };
        let (frame, more) = message.next_frame(self.config.max_frame_bytes);
        self.message = more.then_some(message);
        self.pace.take(now);
        Some(frame)
    }

    /// The socket cannot take more for now.
    pub(crate) const fn handle_blocked(&mut self) {
        self.blocked = true;
    }

    /// All frames that were given out have been sent.
    pub(crate) fn handle_flushed(&mut self, now: Duration) {
        self.watch.flushed(now);
        // A client that cannot be heard cannot confirm the close.
        if let (Phase::Left { code, .. }, false) = (&self.phase, self.hears) {
            let end = WsEnd::Closed(*code);
            self.end_with(now, end);
        }
    }

    /// Whether there is, or may at any time be, something to send.
    pub(super) fn has_output(&self) -> bool {
        match &self.phase {
            Phase::Draining { .. } => true,
            Phase::Open => {
                self.message.is_some()
                    || !self.asides_begun.is_empty()
                    || !self.replies.is_empty()
                    || !self.staged.is_empty()
                    || !matches!(self.run, Run::None)
            }
            Phase::Leaving { .. } | Phase::Left { .. } | Phase::Over(_) => false,
        }
    }

    fn next_message(&mut self, now: Duration) -> Option<Message> {
        let text = loop {
            if let Some(text) = self.asides_begun.pop_front() {
                break text;
            }
            if self.begin_aside() {
                continue;
            }
            if let Some(text) = json(&self.next_event(now)?) {
                break text;
            }
        };
        Some(Message::new(self.framed(text)))
    }

    /// Begins to say the first reply whose moment has come.
    fn begin_aside(&mut self) -> bool {
        let (standing, form) = (self.standing(), self.config.refusals);
        let due = self.replies.iter().position(|reply| reply.is_due(standing, form));
        let Some(reply) = due.and_then(|index| self.replies.remove(index)) else { return false };
        self.asides_begun.extend(reply.say(standing, form, &mut self.asides));
        true
    }

    fn standing(&self) -> Standing {
        match &self.run {
            Run::None => Standing::Idle,
            Run::Streaming(live) if live.events > 0 => Standing::Inside(live.key.number),
            Run::Starting(_) | Run::Streaming(_) => Standing::Awaiting,
        }
    }

    /// The next event of the run. The terminal one closes the run.
    fn next_event(&mut self, now: Duration) -> Option<Event> {
        let event = loop {
            if let Some(event) = self.staged.pop_front() {
                break event;
            }
            let Run::Streaming(live) = &mut self.run else { return None };
            let waiting = u32::try_from(self.pieces.len()).unwrap_or(u32::MAX);
            let joined = self.pressed || waiting > self.pace.available(now);
            let joining = if joined { Joining::On } else { Joining::Off };
            let around = match self.config.framing {
                WsFraming::Json => 0,
                WsFraming::Sse => SSE_BYTES,
            };
            let piece = self.pieces.next(joining, self.config.max_frame_bytes - around)?;
            // The stream is valid already; the repairer keeps count of what is open.
            let mut checked = Vec::with_capacity(1);
            live.repairer.push(piece, &mut checked);
            self.staged.extend(checked);
        };
        if let Run::Streaming(live) = &mut self.run {
            live.events += 1;
        }
        if matches!(event, Event::RunFinished(_) | Event::RunError(_)) {
            self.close_run(now);
        }
        Some(event)
    }

    /// The client has been told that the run is over.
    fn close_run(&mut self, now: Duration) {
        let Run::Streaming(live) = std::mem::replace(&mut self.run, Run::None) else { return };
        self.watch.run_ends(now);
        if !live.ended_here {
            let report = RunReport { run: live.key.open, events: live.events, ended: RunEnded::Complete };
            self.actions.push_back(Action::Stop(report));
        }
        self.leave_if_stopping(now);
    }

    fn framed(&self, text: Vec<u8>) -> Bytes {
        match self.config.framing {
            WsFraming::Json => text.into(),
            WsFraming::Sse => [b"data: ".as_slice(), &text, b"\n\n"].concat().into(),
        }
    }

    /// Everything was said.
    fn finish_draining(&mut self, now: Duration) -> Option<Frame> {
        let Phase::Draining { close, .. } = &self.phase else { return None };
        let until = now + self.config.timeouts.close;
        self.phase = Phase::Leaving { close: close.clone(), until };
        self.say_goodbye()
    }

    fn say_goodbye(&mut self) -> Option<Frame> {
        let Phase::Leaving { close, until } = &self.phase else { return None };
        let (frame, code, until) = (Frame::Close(close.clone()), close.code, *until);
        self.phase = Phase::Left { code, until };
        Some(frame)
    }
}
