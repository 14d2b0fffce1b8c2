use super::*;

#[tokio::test]
async fn row_16_the_same_request_joins_the_live_run_from_its_first_event() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let first = within(rejoin.run(request("r"))).await.unwrap();
    puppet.send("r", TextMessageStart::new("m"));
    puppet.say("r", 0..500);
    settled().await;
    // Order of keys, white space and spelling of numbers do not make another request.
    let again = r#"{ "protocolVersion":"1.0", "messages":[], "runId":"r", "threadId":"t" }"#;
    let second = within(rejoin.run(body(again))).await.unwrap();
    puppet.say("r", 500..600);
    puppet.finish("r");
    let (first, second) = (rest(first).await, rest(second).await);
    assert_eq!(first.len(), 604);
    assert_eq!(first, second);
    assert_eq!(puppet.asked(), 1);
}

#[tokio::test]
async fn row_16_a_finished_run_answers_what_it_answered_questions_and_failures_too() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let ask = Outcome::interrupt([Interrupt::new("i", "confirmation")]);
    let ends: [(&str, Event); 3] = [
        ("done", RunFinished::new("t", "done").into()),
        ("asks", RunFinished::new("t", "asks").with_outcome(ask).into()),
        ("fails", agui_core::RunError::new("no").with_code("X").into()),
    ];
    for (run, end) in ends {
        let first = within(rejoin.run(request(run))).await.unwrap();
        puppet.send(run, TextMessageStart::new("m"));
        puppet.send(run, end);
        let first = rest(first).await;
        settled().await;
        assert_eq!(rejoin.runs().count(), 0, "{run}: a run that has ended does not go on");
        let again = rest(within(rejoin.run(request(run))).await.unwrap()).await;
        assert_eq!(first, again, "{run}");
    }
    assert_eq!(puppet.asked(), 3);
}

#[tokio::test]
async fn another_request_with_the_same_run_id_is_refused() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let stream = within(rejoin.run(request("r"))).await.unwrap();
    let other = || body(r#"{"threadId":"t","runId":"r","messages":[],"state":1}"#);
    assert_eq!(code(within(rejoin.run(other())).await), (409, "RUN_ID_CONFLICT".to_owned()));
    puppet.finish("r");
    rest(stream).await;
    settled().await;
    assert_eq!(code(within(rejoin.run(other())).await), (409, "RUN_ID_CONFLICT".to_owned()));
    // A run id is unique within its thread only.
    let elsewhere = body(r#"{"threadId":"u","runId":"r","messages":[]}"#);
    assert!(within(rejoin.run(elsewhere)).await.is_ok());
    assert_eq!(puppet.asked(), 2);
}

#[tokio::test]
async fn a_run_is_shown_to_its_requester_only() {
    let (puppet, rejoin) = setup(RejoinConfig::default().with_requester(&["X-Session", "authorization"]));
    let by = |headers: &[(&str, &str)]| {
        headers.iter().fold(request("r"), |request, (name, value)| request.with_header(*name, *value))
    };
    let mine: &[(&str, &str)] = &[("x-session", "s"), ("authorization", "Bearer a"), ("x-trace", "1")];
    let stream = within(rejoin.run(by(mine))).await.unwrap();
    let others: [&[(&str, &str)]; 4] = [
        &[],
        &[("x-session", "s")],
        &[("x-session", "s"), ("authorization", "Bearer b")],
        &[("x-session", "z"), ("authorization", "Bearer a")],
    ];
    for _ in 0..2 {
        for other in others {
            let answer = code(within(rejoin.run(by(other))).await);
            assert_eq!(answer, (409, "RUN_ID_CONFLICT".to_owned()), "{other:?}");
        }
        // The second time it has ended.
        puppet.0.sinks.lock().unwrap().remove("r");
        settled().await;
    }
    let again = [("x-trace", "2"), ("authorization", "Bearer a"), ("x-session", "s")];
    let again = within(rejoin.run(by(&again))).await.unwrap();
    assert_eq!(rest(stream).await, rest(again).await);
    assert_eq!(puppet.asked(), 1);
}

#[test]
fn large_bodies_are_compared_byte_by_byte() {
    let with = |space: &str, length: usize| format!("{{\"a\":{space}1,\"b\":\"{}\"}}", "x".repeat(length));
    let same = |length| digest(with("", length).as_bytes()) == digest(with(" ", length).as_bytes());
    assert!(same(10) && same(MEANING_MAX_BYTES - 100));
    assert!(!same(MEANING_MAX_BYTES));
    let large = with("", MEANING_MAX_BYTES);
    assert_eq!(digest(large.as_bytes()), digest(large.as_bytes()));
}

#[tokio::test]
async fn whoever_asks_while_the_agent_decides_gets_the_same_answer_and_a_refusal_leaves_no_trace() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let gate = Arc::new(Notify::new());
    *puppet.0.slow.lock().unwrap() = Some(Arc::clone(&gate));
    puppet.0.refuse.store(1, Ordering::SeqCst);
    for expected in [Err("THREAD_BUSY"), Ok(())] {
        let asking: Vec<_> = (0..3)
            .map(|_| {
                let rejoin = rejoin.clone();
                tokio::spawn(async move { rejoin.run(request("r")).await })
            })
            .collect();
        settled().await;
        assert_eq!(rejoin.runs().count(), 1);
        gate.notify_one();
        let mut streams = Vec::new();
        for asked in asking {
            let answer = within(asked).await.unwrap();
            assert_eq!(answer.as_ref().map(|_| ()).map_err(|problem| &*problem.code), expected);
            streams.extend(answer.ok());
        }
        settled().await;
        assert_eq!(rejoin.runs().count(), usize::from(expected.is_ok()));
    }
    assert_eq!(puppet.asked(), 2);
}
