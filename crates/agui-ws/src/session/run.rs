//! The run of a socket: how it is asked for, cancelled, ended and forgotten.

use std::time::Duration;

use agui_core::{Repairer, RunError};
use agui_i18n::Language;
use agui_iac_code::ErrorCode;

use super::{Action, CancelBy, CancelOrder, RunEnded, RunReport, Session};
use crate::inbound::{Named, Wanted};
use crate::replies::Reply;
use crate::words::Fault;
use crate::{CancelMessage, OpenRun};

/// The run of a socket.
#[derive(Debug)]
pub(super) enum Run {
    None,
    /// The agent was asked.
    Starting(RunKey),
    Streaming(Box<Live>),
}

#[derive(Debug, Clone)]
pub(super) struct RunKey {
    pub(super) number: u64,
    pub(super) open: OpenRun,
    pub(super) language: Language,
}

#[derive(Debug)]
pub(super) struct Live {
    pub(super) key: RunKey,
    /// Knows what was sent, so that the run can be ended from here at any time.
    pub(super) repairer: Repairer,
    pub(super) events: u64,
    /// Set when it was ended from here; what the agent still says is not sent.
    pub(super) ended_here: bool,
}

impl Session {
    pub(super) fn want_run(&mut self, now: Duration, wanted: Box<Wanted>) {
        let open = OpenRun::new(wanted.input.thread_id.clone(), wanted.input.run_id.clone());
        let refusal = if self.stop_at.is_some() {
            Some(ErrorCode::ShuttingDown)
        } else if matches!(self.run, Run::None) {
            None
        } else {
            Some(ErrorCode::SessionBusy)
        };
        if let Some(code) = refusal {
            return self.refuse(Fault::of(code, wanted.language), Named::of(&open));
        }
        self.runs += 1;
        self.asides.thread_id = Some(open.thread_id.clone());
        self.run = Run::Starting(RunKey { number: self.runs, open, language: wanted.language });
        self.watch.run_begins(now);
        self.actions.push_back(Action::Start(wanted));
    }

    pub(super) fn cancel(
        &mut self,
        now: Duration,
        mut message: CancelMessage,
        language: Language,
        by: CancelBy,
    ) {
        let open = match &self.run {
            Run::None => None,
            Run::Starting(key) => Some(key),
            Run::Streaming(live) => Some(&live.key),
        };
        message.open_run = open.map(|key| key.open.clone());
        let meant = open.filter(|key| message.may_mean(&key.open)).cloned();
        match (by, meant) {
            (CancelBy::Control, meant) => {
                self.cancels += 1;
                let order = CancelOrder { message, language, of_run: meant.map(|key| key.number) };
                self.actions.push_back(Action::Cancel(Box::new(order)));
            }
            (CancelBy::Socket, None) => {
                let outcome = Err(Fault::of(ErrorCode::ExecutionNotFound, language));
                self.replies.push_back(Reply::Cancel { message, outcome, of_run: None });
            }
            (CancelBy::Socket, Some(key)) => self.cancel_here(now, &key),
        }
    }

    pub(super) fn cancel_here(&mut self, now: Duration, key: &RunKey) {
        match &self.run {
            Run::None => {}
            Run::Streaming(live) if live.ended_here => {}
            Run::Streaming(_) => self.end_run(ErrorCode::Cancelled, RunEnded::Cancelled),
            Run::Starting(_) => {
                self.refuse(Fault::of(ErrorCode::Cancelled, key.language), Named::of(&key.open));
                self.drop_run(now, RunEnded::Cancelled);
            }
        }
    }

    pub(super) fn refuse(&mut self, fault: Fault, named: Named) {
        self.replies.push_back(Reply::Refusal { fault, named });
    }

    /// Whether the open run only has to be told of as ended.
    pub(super) const fn is_ending(&self) -> bool {
        match &self.run {
            Run::Streaming(live) => live.ended_here,
            Run::None | Run::Starting(_) => false,
        }
    }

    /// Ends the open run: what was sent of it is closed, what was not sent is not.
    pub(super) fn end_run(&mut self, code: ErrorCode, ended: RunEnded) {
        let Run::Streaming(live) = &mut self.run else { return };
        live.ended_here = true;
        let fault = Fault::of(code, live.key.language);
        self.pieces.clear();
        let mut last = Vec::new();
        live.repairer.close(RunError::new(fault.message).with_code(code.as_str()), &mut last);
        self.staged.extend(last);
        let report = RunReport { run: live.key.open.clone(), events: live.events, ended };
        self.actions.push_back(Action::Stop(report));
    }

    /// Forgets the run, if there is one.
    pub(super) fn drop_run(&mut self, now: Duration, ended: RunEnded) {
        self.pieces.clear();
        self.staged.clear();
        let (open, events, told) = match std::mem::replace(&mut self.run, Run::None) {
            Run::None => return,
            Run::Starting(key) => (key.open, 0, false),
            Run::Streaming(live) => (live.key.open, live.events, live.ended_here),
        };
        self.watch.run_ends(now);
        if !told {
            self.actions.push_back(Action::Stop(RunReport { run: open, events, ended }));
        }
    }
}
