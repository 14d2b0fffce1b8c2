use super::*;

/// Sends until the run is over, waiting as long as the pace asks for.
fn send_all(bench: &mut Bench) -> Vec<String> {
    let mut sent = bench.sent();
    while !matches!(bench.session.run, Run::None) {
        let deadline = bench.session.poll_deadline(bench.now).unwrap();
        bench.now = bench.now.max(deadline);
        sent.extend(bench.sent());
    }
    sent
}

#[test]
fn thousands_of_deltas_leave_in_few_frames_and_not_too_many_a_second() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    let deltas: Vec<String> = (0..5_000).map(|index| format!("{index} ")).collect();
    let [started, start, _] = opening("t", "r1");
    bench.give(
        [started, start].into_iter().chain(deltas.iter().map(|delta| text(delta))).chain(ending("t", "r1")),
    );
    let sent = send_all(&mut bench);
    let joined: String = sent
        .iter()
        .filter_map(|text| {
            serde_json::from_str::<serde_json::Value>(text).unwrap()["delta"].as_str().map(str::to_owned)
        })
        .collect();
    assert_eq!(joined, deltas.concat());
    assert_eq!(bench.frames.len(), 5, "what waits together leaves together");
}

#[test]
fn few_deltas_leave_as_they_came() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    bench.give(opening("t", "r1").into_iter().chain([text("a"), text("b")]));
    assert_eq!(bench.sent().len(), 5);
}

#[test]
fn deltas_are_joined_while_the_socket_is_slow() {
    let mut bench = Bench::new(WsConfig::new());
    bench.run("t", "r1");
    bench.give(opening("t", "r1"));
    bench.sent();
    bench.session.handle_blocked();
    bench.give([text("a"), text("b")]);
    assert_eq!(bench.sent(), [r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"ab"}"#]);
    bench.give([text("a"), text("b")]);
    assert_eq!(bench.sent().len(), 2);
}

#[test]
fn a_run_is_asked_for_events_only_when_they_can_be_sent() {
    let mut bench = Bench::new(WsConfig::new().with_max_frames_per_second(8));
    bench.run("t", "r1");
    bench.give(opening("t", "r1"));
    assert!(!bench.session.wants_events(bench.now));
    assert_eq!(bench.sent().len(), 2, "the burst is a quarter of the rate");
    assert!(!bench.session.wants_events(bench.now));
    let next = bench.session.poll_deadline(bench.now).unwrap();
    bench.now = next;
    assert_eq!(bench.sent().len(), 1);
    assert!(!bench.session.wants_events(bench.now), "the pace is used up");
    bench.now = bench.session.poll_deadline(bench.now).unwrap();
    assert!(bench.session.wants_events(bench.now));
}

#[test]
fn frames_that_continue_a_message_and_pings_keep_the_pace_too() {
    let config = WsConfig::new().with_max_frames_per_second(8).with_max_frame_bytes(256);
    let mut bench = Bench::new(config);
    bench.run("t", "r1");
    let state = Json::from_string(format!("\"{}\"", "é".repeat(2_000))).unwrap();
    let [started, ..] = opening("t", "r1");
    bench.give([started, StateSnapshot::new(state).into(), RunFinished::new("t", "r1").into()]);
    bench.pass(Duration::from_secs(20));
    let sent = send_all(&mut bench);
    assert_eq!((sent[0].as_str(), sent.len()), ("PING", 4));
    assert_eq!(bench.frames.len(), 1 + 1 + 16 + 1);
    for (index, (at, bytes)) in bench.frames.iter().enumerate() {
        assert!(*bytes <= 256);
        let within =
            bench.frames[index..].iter().take_while(|(next, _)| *next - *at < Duration::from_secs(1));
        assert!(within.count() <= 8);
    }
}

#[test]
fn a_refusal_does_not_wait_for_the_run_but_for_the_message_that_was_begun() {
    let config = WsConfig::new().with_max_frames_per_second(4).with_max_frame_bytes(256);
    let mut bench = Bench::new(config);
    bench.run("t", "r1");
    let state = Json::from_string(format!("\"{}\"", "s".repeat(400))).unwrap();
    let [started, ..] = opening("t", "r1");
    bench.give([started, StateSnapshot::new(state).into(), RunFinished::new("t", "r1").into()]);
    assert_eq!(bench.sent(), [OPENING[0]]);
    bench.now = bench.session.poll_deadline(bench.now).unwrap();
    assert_eq!(bench.sent(), [""; 0], "one frame of two");
    bench.receive(&input("t", "r2"));
    let kinds: Vec<String> = send_all(&mut bench)
        .iter()
        .map(|text| {
            serde_json::from_str::<serde_json::Value>(text).unwrap()["type"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds, ["STATE_SNAPSHOT", "RUN_ERROR", "RUN_FINISHED"]);
}
