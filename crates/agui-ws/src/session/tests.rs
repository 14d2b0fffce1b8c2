use agui_core::{
    RunFinished, RunStarted, StateSnapshot, TextMessageContent, TextMessageEnd, TextMessageStart,
};
use bytes::Bytes;

use super::*;
use crate::frames::Frame;
use crate::{OpenRun, RefusalForm, WsFraming};

mod any_run;
mod cancelling;
mod closing;
mod pacing;

/// A session, its time, and what it has sent.
pub(super) struct Bench {
    pub(super) session: Session,
    pub(super) now: Duration,
    /// Every data frame: when, and how large.
    pub(super) frames: Vec<(Duration, usize)>,
    partial: Vec<u8>,
}

impl Bench {
    pub(super) fn new(config: WsConfig) -> Self {
        let session = Session::new(&config, Language::En);
        Self { session, now: Duration::ZERO, frames: Vec::new(), partial: Vec::new() }
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now += time;
        self.session.handle_timeout(self.now);
    }

    pub(super) fn receive(&mut self, message: &str) {
        self.receive_for(message, CancelBy::Socket);
    }

    pub(super) fn receive_for(&mut self, message: &str, by: CancelBy) {
        let message = Inbound::read(&Bytes::copy_from_slice(message.as_bytes()), None);
        self.session.handle_message(self.now, message, by);
    }

    pub(super) fn actions(&mut self) -> Vec<Action> {
        std::iter::from_fn(|| self.session.poll_action()).collect()
    }

    /// The short form of the actions.
    pub(super) fn acts(&mut self) -> Vec<String> {
        let shown = |action: Action| match action {
            Action::Start(wanted) => format!("start {}", wanted.input.run_id),
            Action::Stop(report) => {
                format!("stop {} {} {}", report.run.run_id, report.events, report.ended.as_str())
            }
            Action::Cancel(order) => format!("cancel {:?} {:?}", order.message.run_id, order.of_run),
        };
        self.actions().into_iter().map(shown).collect()
    }

    /// Asks for a run and has the agent accept it.
    pub(super) fn run(&mut self, thread: &str, run: &str) {
        self.receive(&input(thread, run));
        self.session.handle_started();
    }

    pub(super) fn give(&mut self, events: impl IntoIterator<Item = Event>) {
        assert!(self.session.wants_events(self.now));
        self.session.handle_events(&mut events.into_iter().collect());
    }

    /// What can be sent now: texts, `PING`, `CLOSE code reason`.
    pub(super) fn sent(&mut self) -> Vec<String> {
        let mut sent = Vec::new();
        while let Some(frame) = self.session.poll_frame(self.now) {
            let (payload, last) = match frame {
                Frame::Text { payload, last } => {
                    assert!(self.partial.is_empty(), "a message begins inside another");
                    (payload, last)
                }
                Frame::Continuation { payload, last } => {
                    assert!(!self.partial.is_empty(), "nothing to continue");
                    (payload, last)
                }
                Frame::Ping => {
                    sent.push("PING".to_owned());
                    self.frames.push((self.now, 0));
                    continue;
                }
                Frame::Close(close) => {
                    sent.push(format!("CLOSE {} {}", close.code, close.reason));
                    continue;
                }
            };
            self.frames.push((self.now, payload.len()));
            self.partial.extend_from_slice(&payload);
            if last {
                sent.push(String::from_utf8(std::mem::take(&mut self.partial)).unwrap());
            }
        }
        self.session.handle_flushed(self.now);
        sent
    }
}

pub(super) fn input(thread: &str, run: &str) -> String {
    format!(r#"{{"threadId":"{thread}","runId":"{run}","messages":[]}}"#)
}

pub(super) fn opening(thread: &str, run: &str) -> [Event; 3] {
    [RunStarted::new(thread, run).into(), TextMessageStart::new("m").into(), text("hello")]
}

pub(super) fn ending(thread: &str, run: &str) -> [Event; 2] {
    [TextMessageEnd::new("m").into(), RunFinished::new(thread, run).into()]
}

pub(super) fn text(delta: &str) -> Event {
    TextMessageContent::new("m", delta).into()
}

const OPENING: [&str; 3] = [
    r#"{"type":"RUN_STARTED","threadId":"t","runId":"r1"}"#,
    r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#,
    r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hello"}"#,
];

const ENDING: [&str; 2] = [
    r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
    r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r1"}"#,
];

#[test]
fn runs_follow_each_other_on_one_socket() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    bench.give(opening("t", "r1"));
    assert_eq!(bench.sent(), OPENING);
    bench.give(ending("t", "r1"));
    assert_eq!(bench.sent(), ENDING);
    bench.run("t", "r2");
    bench.give([RunStarted::new("t", "r2").into(), RunFinished::new("t", "r2").into()]);
    assert_eq!(bench.sent().len(), 2);
    let acts = ["start r1", "stop r1 5 complete", "start r2", "stop r2 2 complete"];
    assert_eq!(bench.acts(), acts);
}

#[test]
fn a_second_input_is_refused_with_its_own_ids_and_the_first_run_goes_on() {
    let busy = |run: &str| {
        format!(
            r#"{{"type":"RUN_ERROR","message":"The session is already processing a request.","code":"SESSION_BUSY","threadId":"t","runId":"{run}","metadata":{{"refusal":true}}}}"#
        )
    };
    let mut bench = Bench::new(WsConfig::new());
    bench.receive(&input("t", "r1"));
    bench.receive(&input("t", "early"));
    assert_eq!(bench.sent(), [busy("early")]);
    bench.session.handle_started();
    bench.give(opening("t", "r1"));
    bench.receive(&input("t", "r2"));
    // Even the same run once more can be told from an end of the run.
    bench.receive(&input("t", "r1"));
    assert_eq!(bench.sent(), [&[busy("r2"), busy("r1")], OPENING.map(str::to_owned).as_slice()].concat());
    bench.give(ending("t", "r1"));
    assert_eq!(bench.sent(), ENDING);
    assert_eq!(bench.acts(), ["start r1", "stop r1 5 complete"]);
}

#[test]
fn a_refusal_can_take_a_form_that_every_verifier_accepts() {
    let mut bench = Bench::new(WsConfig::new().with_refusals(RefusalForm::Custom));
    bench.receive(&input("t", "r1"));
    bench.receive(&input("t", "r2"));
    assert_eq!(bench.sent(), [""; 0], "nothing may come before RUN_STARTED");
    bench.session.handle_started();
    bench.give(opening("t", "r1"));
    let refused = r#"{"type":"CUSTOM","name":"agui.refused.v1","value":{"code":"SESSION_BUSY","message":"The session is already processing a request.","threadId":"t","runId":"r2"}}"#;
    assert_eq!(bench.sent(), [OPENING[0], refused, OPENING[1], OPENING[2]]);
    bench.give(ending("t", "r1"));
    assert_eq!(bench.sent(), ENDING);
    bench.receive("?");
    let unreadable = r#"{"type":"RUN_ERROR","message":"The request body is not valid JSON.","code":"VALIDATION_ERROR","metadata":{"refusal":true}}"#;
    assert_eq!(bench.sent(), [unreadable]);
}

#[test]
fn a_problem_of_the_agent_refuses_the_run_and_the_socket_stays() {
    let mut bench = Bench::new(WsConfig::new());
    bench.receive(&input("t", "r1"));
    let problem = Problem::new(503, "A2A_UNAVAILABLE", "Not now.").with_retry_after_s(3);
    bench.session.handle_not_started(bench.now, Some(problem));
    assert_eq!(
        bench.sent(),
        [
            r#"{"type":"RUN_ERROR","message":"Not now.","code":"A2A_UNAVAILABLE","threadId":"t","runId":"r1","metadata":{"refusal":true,"retryAfterSeconds":3}}"#
        ]
    );
    bench.receive(&input("t", "r2"));
    bench.session.handle_not_started(bench.now, None);
    assert_eq!(
        bench.sent(),
        [
            r#"{"type":"RUN_ERROR","message":"Agent execution failed.","code":"AGENT_ERROR","threadId":"t","runId":"r2","metadata":{"refusal":true}}"#
        ]
    );
    bench.run("t", "r3");
    let acts = ["start r1", "stop r1 0 refused", "start r2", "stop r2 0 refused", "start r3"];
    assert_eq!(bench.acts(), acts);
}

#[test]
fn a_stream_that_breaks_off_is_ended() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    bench.give(opening("t", "r1"));
    bench.sent();
    bench.session.handle_stream_end();
    let failed = r#"{"type":"RUN_ERROR","message":"Agent execution failed.","code":"AGENT_ERROR"}"#;
    assert_eq!(bench.sent(), [ENDING[0], failed]);
    assert_eq!(bench.acts(), ["start r1", "stop r1 5 complete"]);
}

#[test]
fn what_follows_the_end_of_a_stream_is_not_ended_twice() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    bench.give([RunStarted::new("t", "r1").into(), RunFinished::new("t", "r1").into()]);
    bench.session.handle_stream_end();
    assert_eq!(bench.sent(), [OPENING[0], ENDING[1]]);
    bench.session.handle_stream_end();
    assert_eq!(bench.sent(), [""; 0]);
}

#[test]
fn a_client_that_asks_faster_than_it_reads_is_not_read() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    for _ in 0..MAX_ANSWERS {
        assert!(bench.session.wants_message());
        bench.receive(&input("t", "again"));
    }
    assert!(!bench.session.wants_message());
    assert_eq!(bench.sent().len(), MAX_ANSWERS);
    assert!(bench.session.wants_message());
}

#[test]
fn events_can_be_framed_as_server_sent_events() {
    let state = Json::from_string(format!("\"{}\"", "s".repeat(300))).unwrap();
    let mut bench = Bench::new(WsConfig::new().with_framing(WsFraming::Sse).with_max_frame_bytes(256));
    bench.run("t", "r1");
    let [started, start, _] = opening("t", "r1");
    bench.give([started, start, text(&"x".repeat(250)), StateSnapshot::new(state.clone()).into()]);
    let sent = bench.sent();
    assert_eq!(sent[0], format!("data: {}\n\n", OPENING[0]));
    assert_eq!(
        *sent.last().unwrap(),
        format!("data: {{\"type\":\"STATE_SNAPSHOT\",\"snapshot\":{}}}\n\n", state.get())
    );
    assert_eq!(sent.len(), 5, "the delta is cut so that it fits with what is around it");
    assert!(bench.frames.iter().all(|(_, bytes)| *bytes <= 256));
    assert_eq!(bench.frames.len(), 6, "the snapshot takes two frames");
}
