//! Who has been silent for how long, and what follows from it.

use std::time::Duration;

use crate::WsTimeouts;

/// What a silence calls for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alarm {
    /// The client has never said anything.
    NoFirstMessage,
    /// Nothing has happened for long.
    Idle,
    /// A ping is due.
    Ping,
    /// A ping stayed unanswered.
    Vanished,
}

/// Watches one socket. Time is told as the age of the socket.
#[derive(Debug)]
pub(crate) struct Watch {
    timeouts: WsTimeouts,
    /// Whether the client has said anything.
    greeted: bool,
    /// Since when nothing has happened.
    quiet_since: Duration,
    /// While a run is active.
    pings: Option<Pings>,
}

#[derive(Debug, Clone, Copy)]
struct Pings {
    next: Duration,
    answer: Answer,
}

/// What is known of the answer to the last ping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    NotNeeded,
    /// The ping is to be sent.
    PingDue,
    /// The ping has not reached the network yet, so nothing can be expected.
    PingWaits,
    Due(Duration),
}

impl Watch {
    pub(crate) const fn new(timeouts: WsTimeouts) -> Self {
        Self { timeouts, greeted: false, quiet_since: Duration::ZERO, pings: None }
    }

    /// The client sent a message.
    pub(crate) const fn message(&mut self, now: Duration) {
        self.greeted = true;
        self.quiet_since = now;
    }

    /// Something came from the client, if only a pong.
    pub(crate) fn life(&mut self) {
        if let Some(pings) = &mut self.pings
            && pings.answer != Answer::PingDue
        {
            pings.answer = Answer::NotNeeded;
        }
    }

    pub(crate) fn run_begins(&mut self, now: Duration) {
        self.pings = Some(Pings { next: now + self.timeouts.ping, answer: Answer::NotNeeded });
    }

    pub(crate) const fn run_ends(&mut self, now: Duration) {
        self.pings = None;
        self.quiet_since = now;
    }

    /// A ping shall be sent as soon as one can leave.
    pub(crate) const fn want_ping(&mut self) {
        if let Some(pings) = &mut self.pings {
            pings.answer = Answer::PingDue;
        }
    }

    /// Whether a ping shall be sent.
    pub(crate) const fn wants_ping(&self) -> bool {
        matches!(self.pings, Some(Pings { answer: Answer::PingDue, .. }))
    }

    /// A ping was handed over to be sent.
    pub(crate) fn pinged(&mut self, now: Duration) {
        if let Some(pings) = &mut self.pings {
            *pings = Pings { next: now + self.timeouts.ping, answer: Answer::PingWaits };
        }
    }

    /// Everything that was handed over has been sent.
    pub(crate) fn flushed(&mut self, now: Duration) {
        if let Some(pings) = &mut self.pings
            && pings.answer == Answer::PingWaits
        {
            pings.answer = Answer::Due(now + self.timeouts.pong);
        }
    }

    /// What is due next, and when.
    fn next(&self) -> Option<(Duration, Alarm)> {
        match self.pings {
            Some(Pings { answer: Answer::Due(due), .. }) => Some((due, Alarm::Vanished)),
            Some(Pings { answer: Answer::PingDue | Answer::PingWaits, .. }) => None,
            Some(Pings { next, answer: Answer::NotNeeded }) => Some((next, Alarm::Ping)),
            None if self.greeted => Some((self.quiet_since + self.timeouts.idle, Alarm::Idle)),
            None => Some((self.timeouts.first_message, Alarm::NoFirstMessage)),
        }
    }

    /// When to ask for an [`alarm`](Self::alarm).
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.next().map(|(at, _)| at)
    }

    /// What is due.
    pub(crate) fn alarm(&self, now: Duration) -> Option<Alarm> {
        self.next().filter(|(at, _)| *at <= now).map(|(_, alarm)| alarm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_client_that_never_speaks_is_sent_away_and_one_that_stops_is_idle() {
        let mut watch = Watch::new(WsTimeouts::new());
        assert_eq!(watch.next(), Some((s(30), Alarm::NoFirstMessage)));
        assert_eq!(watch.alarm(s(29)), None);
        assert_eq!(watch.alarm(s(30)), Some(Alarm::NoFirstMessage));
        watch.message(s(20));
        assert_eq!(watch.next(), Some((s(620), Alarm::Idle)));
        watch.life();
        assert_eq!(watch.deadline(), Some(s(620)), "pings of the client do not make it busy");
    }

    #[test]
    fn pings_are_sent_only_while_a_run_is_active() {
        let mut watch = Watch::new(WsTimeouts::new());
        watch.message(s(1));
        watch.run_begins(s(1));
        assert_eq!(watch.next(), Some((s(21), Alarm::Ping)));
        watch.want_ping();
        assert!(watch.wants_ping() && watch.next().is_none());
        watch.pinged(s(21));
        assert!(!watch.wants_ping());
        watch.flushed(s(21));
        watch.life();
        assert_eq!(watch.next(), Some((s(41), Alarm::Ping)));
        watch.run_ends(s(30));
        assert_eq!(watch.next(), Some((s(630), Alarm::Idle)));
    }

    #[test]
    fn a_ping_waits_for_its_answer_from_the_moment_it_was_sent() {
        let mut watch = Watch::new(WsTimeouts::new());
        watch.run_begins(s(0));
        watch.pinged(s(20));
        assert_eq!(watch.next(), None, "a slow reader is not a dead one");
        watch.flushed(s(50));
        assert_eq!(watch.next(), Some((s(80), Alarm::Vanished)));
        watch.flushed(s(60));
        assert_eq!(watch.deadline(), Some(s(80)));
        watch.life();
        assert_eq!(watch.next(), Some((s(40), Alarm::Ping)));
    }
}
