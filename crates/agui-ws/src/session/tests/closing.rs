use super::*;

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn several_unreadable_messages_in_a_row_close_the_socket_and_a_readable_one_starts_anew() {
    let mut bench = Bench::new(WsConfig::new());
    let missing = r#"{"type":"RUN_ERROR","message":"Invalid AG-UI RunAgentInput envelope. The field /runId is missing.","code":"VALIDATION_ERROR","threadId":"t-1","metadata":{"refusal":true}}"#;
    for _ in 0..4 {
        bench.receive(r#"{"threadId":"t-1"}"#);
        assert_eq!(bench.sent(), [missing]);
    }
    bench.run("t", "r1");
    for _ in 0..4 {
        bench.receive(r#"{"threadId":"t-1"}"#);
        assert_eq!(bench.sent(), [missing]);
    }
    bench.receive(r#"{"threadId":"t-1"}"#);
    assert_eq!(bench.sent(), [missing, "CLOSE 1007 The request is not valid."]);
    assert_eq!(bench.acts(), ["start r1", "stop r1 0 client_gone"]);
    assert_eq!(bench.session.end(), None, "the client may confirm");
    bench.session.handle_peer_close(bench.now, Some(1007));
    assert_eq!(bench.session.end(), Some(WsEnd::Closed(1007)));
}

#[test]
fn what_cannot_be_read_on_closes_at_once_and_waits_for_nobody() {
    let table = [
        (Broken::TooLarge, 1009, "The AG-UI request body is too large."),
        (Broken::NotText, 1007, "The request body is not valid JSON."),
        (Broken::Protocol, 1002, "The request is not valid."),
    ];
    for (broken, code, reason) in table {
        let mut bench = Bench::new(WsConfig::new());
        bench.run("t", "r1");
        bench.give(opening("t", "r1"));
        bench.receive(&input("t", "r2"));
        bench.session.handle_broken(bench.now, broken);
        assert_eq!(bench.sent(), [format!("CLOSE {code} {reason}")]);
        assert_eq!(bench.session.end(), Some(WsEnd::Closed(code)));
        assert_eq!(bench.acts(), ["start r1", "stop r1 0 client_gone"]);
    }
}

#[test]
fn a_client_that_never_speaks_is_sent_away() {
    let mut bench = Bench::new(WsConfig::new());
    assert_eq!(bench.session.poll_deadline(bench.now), Some(s(30)));
    bench.pass(s(30));
    assert_eq!(bench.sent(), ["CLOSE 1008 The request was not received in time."]);
    bench.pass(s(5));
    assert_eq!(bench.session.end(), Some(WsEnd::Closed(1008)), "it does not even confirm");
}

#[test]
fn an_idle_socket_is_closed_without_having_been_pinged() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    bench.give([RunStarted::new("t", "r1").into(), RunFinished::new("t", "r1").into()]);
    bench.sent();
    bench.pass(s(599));
    bench.session.handle_life();
    assert_eq!(bench.sent(), [""; 0]);
    assert_eq!(bench.session.poll_deadline(bench.now), Some(s(600)));
    bench.pass(s(1));
    assert_eq!(bench.sent(), ["CLOSE 1000 idle"]);
}

#[test]
fn a_client_that_vanishes_during_a_run_ends_it() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    bench.pass(s(20));
    assert_eq!(bench.sent(), ["PING"]);
    bench.session.handle_life();
    bench.pass(s(20));
    assert_eq!(bench.sent(), ["PING"]);
    assert_eq!(bench.session.poll_deadline(bench.now), Some(s(70)));
    bench.pass(s(30));
    assert_eq!(bench.session.end(), Some(WsEnd::Vanished));
    assert_eq!(bench.acts(), ["start r1", "stop r1 0 client_gone"]);
}

#[test]
fn a_client_whose_answers_are_not_read_has_not_vanished() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    bench.pass(s(20));
    assert_eq!(bench.sent(), ["PING"]);
    for _ in 0..MAX_ANSWERS {
        bench.receive_for(r#"{"type":"cancel"}"#, CancelBy::Control);
    }
    // The answer to this ping stays unread behind the cancels that are carried out.
    bench.pass(s(20));
    assert_eq!(bench.sent(), ["PING"]);
    bench.pass(s(30));
    assert_eq!(bench.session.end(), None);
}

#[test]
fn a_socket_that_ends_drops_its_run() {
    type Input = fn(&mut Session, Duration);
    let table: [(Input, WsEnd); 4] = [
        (|session, now| session.handle_peer_close(now, Some(1001)), WsEnd::ClosedByPeer(Some(1001))),
        (|session, now| session.handle_peer_close(now, None), WsEnd::ClosedByPeer(None)),
        (|session, now| session.handle_lost(now, WsEnd::Lost), WsEnd::Lost),
        (|session, now| session.handle_lost(now, WsEnd::Stalled), WsEnd::Stalled),
    ];
    for (ended, end) in table {
        let mut bench = Bench::new(WsConfig::new());
        bench.run("t", "r1");
        bench.give(opening("t", "r1"));
        bench.sent();
        ended(&mut bench.session, bench.now);
        assert_eq!(bench.session.end(), Some(end));
        assert_eq!(bench.acts(), ["start r1", "stop r1 3 client_gone"]);
        assert_eq!(bench.sent(), [""; 0]);
        ended(&mut bench.session, bench.now);
        assert_eq!(bench.session.end(), Some(end));
    }
}

#[test]
fn a_waiting_socket_leaves_as_soon_as_the_server_is_about_to_stop() {
    let mut bench = Bench::new(WsConfig::new());
    bench.session.handle_stop(bench.now);
    assert_eq!(bench.sent(), ["CLOSE 1001 The server is shutting down. Try again later."]);
}

#[test]
fn a_run_may_end_in_its_own_words_before_the_server_stops() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    bench.give(opening("t", "r1"));
    bench.sent();
    bench.session.handle_stop(bench.now);
    bench.receive(&input("t", "r2"));
    let refusal = r#"{"type":"RUN_ERROR","message":"The server is shutting down. Try again later.","code":"SHUTTING_DOWN","threadId":"t","runId":"r2","metadata":{"refusal":true}}"#;
    assert_eq!(bench.sent(), [refusal]);
    bench.give(ending("t", "r1"));
    let close = "CLOSE 1001 The server is shutting down. Try again later.";
    assert_eq!(bench.sent(), [ENDING[0], ENDING[1], close]);
    assert_eq!(bench.acts(), ["start r1", "stop r1 5 complete"]);
}

#[test]
fn a_run_that_does_not_end_is_ended_at_the_last_call_or_when_time_is_up() {
    let error = r#"{"type":"RUN_ERROR","message":"The server is shutting down. Try again later.","code":"SHUTTING_DOWN"}"#;
    let close = "CLOSE 1001 The server is shutting down. Try again later.";
    let stops: [fn(&mut Bench); 2] = [
        |bench| bench.session.handle_last_call(bench.now),
        |bench| {
            bench.session.handle_stop(bench.now);
            assert_eq!(bench.session.poll_deadline(bench.now), Some(s(20)));
            bench.pass(s(20));
        },
    ];
    for stop in stops {
        let mut bench = Bench::new(WsConfig::new());
        bench.run("t", "r1");
        bench.give(opening("t", "r1"));
        bench.sent();
        stop(&mut bench);
        assert_eq!(bench.sent(), [ENDING[0], error, close]);
        assert_eq!(bench.acts(), ["start r1", "stop r1 3 shutdown"]);
    }
}

#[test]
fn a_run_that_has_not_begun_is_refused_at_the_last_call() {
    let mut bench = Bench::new(WsConfig::new());
    bench.receive(&input("t", "r1"));
    bench.session.handle_stop(bench.now);
    bench.session.handle_last_call(bench.now);
    let refusal = r#"{"type":"RUN_ERROR","message":"The server is shutting down. Try again later.","code":"SHUTTING_DOWN","threadId":"t","runId":"r1","metadata":{"refusal":true}}"#;
    assert_eq!(bench.sent(), [refusal, "CLOSE 1001 The server is shutting down. Try again later."]);
    assert_eq!(bench.acts(), ["start r1", "stop r1 0 shutdown"]);
}

#[test]
fn after_the_close_nothing_is_heard_and_nothing_is_said() {
    let mut bench = Bench::new(WsConfig::new());
    bench.session.handle_stop(bench.now);
    bench.sent();
    bench.receive(&input("t", "r1"));
    assert_eq!((bench.sent().len(), bench.acts().len()), (0, 0));
    bench.session.handle_lost(bench.now, WsEnd::Lost);
    assert_eq!(bench.session.end(), Some(WsEnd::Closed(1001)));
}

#[test]
fn a_goodbye_that_cannot_be_sent_is_given_up() {
    let mut bench = Bench::new(WsConfig::new());
    bench.session.handle_stop(bench.now);
    // The connection takes nothing: no frame is asked for.
    bench.pass(s(5));
    assert_eq!(bench.session.end(), None);
    bench.pass(s(5));
    assert_eq!(bench.session.end(), Some(WsEnd::Closed(1001)));
}
