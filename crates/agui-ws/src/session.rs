//! What comes in on one socket, what goes out, and when it is closed. Opens no socket and reads no clock.
//!
//! Time is told as the age of the socket. After each input the caller carries out
//! [`poll_action`](Session::poll_action) and sends [`poll_frame`](Session::poll_frame) until both have
//! nothing more, and calls [`handle_timeout`](Session::handle_timeout) at
//! [`poll_deadline`](Session::poll_deadline).

use std::collections::VecDeque;
use std::time::Duration;

use agui_core::{AGENT_ERROR, Event, Json, Problem, Repairer, RunError};
use agui_i18n::Language;
use agui_iac_code::ErrorCode;

use crate::frames::{Close, Message};
use crate::inbound::{Inbound, Named};
use crate::pace::Pace;
use crate::pieces::Pieces;
use crate::replies::{Asides, Reply};
use crate::watch::Watch;
use crate::words::Fault;
use crate::{WsConfig, WsEnd};

mod action;
mod leaving;
mod outgoing;
mod run;

pub(crate) use action::{Action, Broken, CancelBy, CancelOrder, RunEnded, RunReport};
use leaving::Phase;
use run::{Live, Run};

/// Answers that wait to be sent, and cancels that are carried out, at most (16). A client that asks for
/// more is not read until it has taken some.
const MAX_ANSWERS: usize = 16;

/// The state of one socket.
#[derive(Debug)]
pub(crate) struct Session {
    config: WsConfig,
    /// For what is not about a message.
    language: Language,
    phase: Phase,
    run: Run,
    /// Runs that were asked for; the last one's number.
    runs: u64,
    /// What the agent gave and was not sent.
    pieces: Pieces,
    /// The same after the repairer, or from it.
    staged: VecDeque<Event>,
    /// Texts of this server that belong together.
    asides_begun: VecDeque<Vec<u8>>,
    asides: Asides,
    replies: VecDeque<Reply>,
    /// The message of which a part was sent.
    message: Option<Message>,
    actions: VecDeque<Action>,
    pace: Pace,
    watch: Watch,
    /// Whether the client can still be heard.
    hears: bool,
    /// Unreadable messages in a row.
    unreadable: u32,
    cancels: usize,
    /// Whether the socket took nothing for a while since events were last asked for.
    blocked: bool,
    /// Whether what waits is joined although there is room in the pace.
    pressed: bool,
    /// When runs that are still open are ended, if the server stops.
    stop_at: Option<Duration>,
}

impl Session {
    /// A socket whose handshake is done. Texts that are not about a message are in `language`.
    pub(crate) fn new(config: &WsConfig, language: Language) -> Self {
        let config = config.bounded();
        Self {
            config,
            language,
            phase: Phase::Open,
            run: Run::None,
            runs: 0,
            pieces: Pieces::default(),
            staged: VecDeque::new(),
            asides_begun: VecDeque::new(),
            asides: Asides::default(),
            replies: VecDeque::new(),
            message: None,
            actions: VecDeque::new(),
            pace: Pace::new(config.max_frames_per_second),
            watch: Watch::new(config.timeouts),
            hears: true,
            unreadable: 0,
            cancels: 0,
            blocked: false,
            pressed: false,
            stop_at: None,
        }
    }

    /// Whether the next message may be read.
    pub(crate) fn wants_message(&self) -> bool {
        !self.listens() || self.replies.len() + self.cancels < MAX_ANSWERS
    }

    /// Whether messages still have a meaning.
    pub(crate) const fn listens(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    /// Something came in, if only a pong.
    pub(crate) fn handle_life(&mut self) {
        self.watch.life();
    }

    /// A message came in; `by` says who carries it out if it is a cancel message.
    pub(crate) fn handle_message(&mut self, now: Duration, message: Inbound, by: CancelBy) {
        if !self.listens() {
            return;
        }
        self.watch.message(now);
        self.watch.life();
        if !matches!(message, Inbound::Unreadable(..)) {
            self.unreadable = 0;
        }
        match message {
            Inbound::Run(wanted) => self.want_run(now, wanted),
            Inbound::Cancel(message, language) => self.cancel(now, message, language, by),
            Inbound::Unreadable(fault, named) => {
                self.refuse(fault, named);
                self.unreadable += 1;
                if self.unreadable >= self.config.max_unreadable {
                    self.drop_run(now, RunEnded::ClientGone);
                    self.drain(now, Close::UNREADABLE, ErrorCode::ValidationError);
                }
            }
        }
    }

    /// The agent accepted the run that it was asked for.
    pub(crate) fn handle_started(&mut self) {
        if let Run::Starting(key) = &self.run {
            let repairer = Repairer::new(key.open.thread_id.clone(), key.open.run_id.clone());
            let live = Live { key: key.clone(), repairer, events: 0, ended_here: false };
            self.run = Run::Streaming(Box::new(live));
        }
    }

    /// The agent did not accept it. Without a problem, it broke off.
    pub(crate) fn handle_not_started(&mut self, now: Duration, problem: Option<Problem>) {
        let Run::Starting(key) = &self.run else { return };
        let fault = problem.map_or_else(|| Fault::of(ErrorCode::AgentError, key.language), Fault::from);
        let named = Named::of(&key.open);
        self.refuse(fault, named);
        self.drop_run(now, RunEnded::Refused);
        self.leave_if_stopping(now);
    }

    /// The run gave events. To be called when [`wants_events`](Self::wants_events) says so.
    pub(crate) fn handle_events(&mut self, events: &mut Vec<Event>) {
        self.pressed = std::mem::take(&mut self.blocked);
        self.pieces.extend(events.drain(..));
    }

    /// The stream of the run has ended.
    pub(crate) fn handle_stream_end(&mut self) {
        // Nothing to do after the terminal event, which is the last of every stream.
        if let Run::Streaming(live) = &mut self.run
            && self.pieces.is_empty()
            && !live.ended_here
        {
            let fault = Fault::of(ErrorCode::AgentError, live.key.language);
            let error = RunError::new(fault.message).with_code(AGENT_ERROR);
            let mut last = Vec::new();
            live.repairer.close(error, &mut last);
            self.staged.extend(last);
        }
    }

    /// A cancel order was carried out, or not.
    pub(crate) fn handle_cancelled(&mut self, order: CancelOrder, outcome: Result<Json, Option<Problem>>) {
        self.cancels = self.cancels.saturating_sub(1);
        let CancelOrder { message, language, of_run } = order;
        let outcome = outcome.map_err(|problem| {
            problem.map_or_else(|| Fault::of(ErrorCode::InternalError, language), Fault::from)
        });
        if matches!(self.phase, Phase::Open | Phase::Draining { .. }) {
            self.replies.push_back(Reply::Cancel { message, outcome, of_run });
        }
    }

    /// What comes in cannot be read on; nothing more will be handed in.
    pub(crate) fn handle_broken(&mut self, now: Duration, broken: Broken) {
        let (code, told) = match broken {
            Broken::TooLarge => (Close::TOO_LARGE, ErrorCode::RequestTooLarge),
            Broken::NotText => (Close::UNREADABLE, ErrorCode::InvalidJson),
            Broken::Protocol => (Close::PROTOCOL, ErrorCode::ValidationError),
        };
        self.hears = false;
        let reason = Fault::of(told, self.language).message;
        self.leave(now, Close::new(code, &reason));
    }

    /// The client closed the socket, or confirmed that it is closed.
    pub(crate) fn handle_peer_close(&mut self, now: Duration, code: Option<u16>) {
        let end = match self.phase {
            Phase::Left { code, .. } => WsEnd::Closed(code),
            Phase::Open | Phase::Draining { .. } | Phase::Leaving { .. } => WsEnd::ClosedByPeer(code),
            Phase::Over(end) => end,
        };
        self.end_with(now, end);
    }

    /// The connection is gone, or takes nothing any more.
    pub(crate) fn handle_lost(&mut self, now: Duration, end: WsEnd) {
        let end = match self.phase {
            Phase::Left { code, .. } => WsEnd::Closed(code),
            Phase::Over(end) => end,
            Phase::Open | Phase::Draining { .. } | Phase::Leaving { .. } => end,
        };
        self.end_with(now, end);
    }

    /// The server is about to stop: a run may go on to its end, for a while.
    pub(crate) fn handle_stop(&mut self, now: Duration) {
        self.stop_at.get_or_insert(now + self.config.timeouts.shutdown);
        self.leave_if_stopping(now);
    }

    /// The server stops: a run has to end.
    pub(crate) fn handle_last_call(&mut self, now: Duration) {
        self.stop_at = Some(now);
        match &self.run {
            Run::None => {}
            Run::Starting(key) => {
                let (named, language) = (Named::of(&key.open), key.language);
                self.refuse(Fault::of(ErrorCode::ShuttingDown, language), named);
                self.drop_run(now, RunEnded::Shutdown);
            }
            Run::Streaming(live) if live.ended_here => {}
            Run::Streaming(_) => self.end_run(ErrorCode::ShuttingDown, RunEnded::Shutdown),
        }
        self.leave_if_stopping(now);
    }

    /// Some time has passed.
    pub(crate) fn handle_timeout(&mut self, now: Duration) {
        match &self.phase {
            Phase::Open => self.check_silence(now),
            Phase::Draining { close, until } if *until <= now => {
                let close = close.clone();
                self.leave(now, close);
            }
            Phase::Leaving { close: Close { code, .. }, until } | Phase::Left { code, until }
                if *until <= now =>
            {
                let end = WsEnd::Closed(*code);
                self.end_with(now, end);
            }
            Phase::Draining { .. } | Phase::Leaving { .. } | Phase::Left { .. } | Phase::Over(_) => {}
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) and [`poll_frame`](Self::poll_frame) are due at the
    /// latest.
    pub(crate) fn poll_deadline(&self, now: Duration) -> Option<Duration> {
        let paced = (self.has_output() && self.pace.available(now) == 0).then(|| self.pace.next());
        let due = match &self.phase {
            Phase::Open => [self.watch.deadline(), self.stop_at.filter(|_| !self.is_ending())],
            Phase::Draining { until, .. } | Phase::Leaving { until, .. } | Phase::Left { until, .. } => {
                [Some(*until), None]
            }
            Phase::Over(_) => [None, None],
        };
        due.into_iter().chain([paced]).flatten().min()
    }

    /// What has to be done next.
    pub(crate) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// How the socket ended, when it has.
    pub(crate) const fn end(&self) -> Option<WsEnd> {
        match self.phase {
            Phase::Over(end) => Some(end),
            Phase::Open | Phase::Draining { .. } | Phase::Leaving { .. } | Phase::Left { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
