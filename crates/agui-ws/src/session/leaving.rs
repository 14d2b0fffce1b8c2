//! How a socket comes to its end.

use std::time::Duration;

use agui_iac_code::ErrorCode;

use super::{Run, RunEnded, Session};
use crate::WsEnd;
use crate::frames::Close;
use crate::watch::Alarm;
use crate::words::Fault;

/// How far a socket is from its end.
#[derive(Debug)]
pub(super) enum Phase {
    Open,
    /// What was begun is said, then the socket is closed.
    Draining {
        close: Close,
        until: Duration,
    },
    /// The close frame is next.
    Leaving {
        close: Close,
        until: Duration,
    },
    /// The close frame was handed over.
    Left {
        code: u16,
        until: Duration,
    },
    Over(WsEnd),
}

impl Session {
    pub(super) fn check_silence(&mut self, now: Duration) {
        if self.stop_at.is_some_and(|at| at <= now) && !self.is_ending() {
            return self.handle_last_call(now);
        }
        match self.watch.alarm(now) {
            None => {}
            Some(Alarm::Ping) => self.watch.want_ping(),
            Some(Alarm::NoFirstMessage) => self.drain(now, Close::POLICY, ErrorCode::RequestTimeout),
            Some(Alarm::Idle) => self.drain_with(now, Close::new(Close::NORMAL, "idle")),
            // Its answer may be among what is not read.
            Some(Alarm::Vanished) if !self.wants_message() => self.watch.life(),
            Some(Alarm::Vanished) => self.end_with(now, WsEnd::Vanished),
        }
    }

    pub(super) fn leave_if_stopping(&mut self, now: Duration) {
        if self.stop_at.is_some() && matches!(self.run, Run::None) {
            self.drain(now, Close::AWAY, ErrorCode::ShuttingDown);
        }
    }

    pub(super) fn drain(&mut self, now: Duration, code: u16, told: ErrorCode) {
        let reason = Fault::of(told, self.language).message;
        self.drain_with(now, Close::new(code, &reason));
    }

    pub(super) fn drain_with(&mut self, now: Duration, close: Close) {
        if self.listens() {
            self.phase = Phase::Draining { close, until: now + self.config.timeouts.close };
        }
    }

    /// Closes without another word.
    pub(super) fn leave(&mut self, now: Duration, close: Close) {
        if matches!(self.phase, Phase::Open | Phase::Draining { .. }) {
            self.silence(now);
            self.phase = Phase::Leaving { close, until: now + self.config.timeouts.close };
        }
    }

    pub(super) fn end_with(&mut self, now: Duration, end: WsEnd) {
        self.silence(now);
        self.phase = Phase::Over(end);
    }

    /// Drops whatever was to be said.
    pub(super) fn silence(&mut self, now: Duration) {
        self.drop_run(now, RunEnded::ClientGone);
        self.replies.clear();
        self.asides_begun.clear();
        self.message = None;
    }
}
