use super::*;

#[tokio::test(start_paused = true)]
async fn a_slow_reader_neither_holds_the_others_up_nor_costs_more_than_the_log() {
    let (puppet, rejoin) = setup(RejoinConfig::default().with_log(usize::MAX, 300_000));
    let slow = within(rejoin.run(request("r"))).await.unwrap();
    let fast = within(rejoin.run(request("r"))).await.unwrap();
    let reading = tokio::spawn(rest(fast));
    puppet.send("r", TextMessageStart::new("m"));
    let total = 40_000;
    for number in 0..total / 100 {
        puppet.say("r", number * 100..number * 100 + 100);
        settled().await;
    }
    // Its first events are gone, so nobody can join any more.
    assert_eq!(code(within(rejoin.run(request("r"))).await), (409, "SESSION_BUSY".to_owned()));
    puppet.finish("r");
    assert_eq!(within(reading).await.unwrap().len(), total + 4);
    let shown = rest(slow).await;
    assert!(shown.len() < total);
    assert_eq!(last_code(&shown), Some("SESSION_BUSY"));
    // It has run, and its answer is not kept: it does not run again.
    assert_eq!(code(within(rejoin.run(request("r"))).await), (409, "DUPLICATE_RUN_ID".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_does_not_read_holds_the_run_back_while_it_is_the_only_one() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let stream = within(rejoin.run(request("r"))).await.unwrap();
    puppet.send("r", TextMessageStart::new("m"));
    let mut written = 0;
    loop {
        settled().await;
        let sinks = puppet.0.sinks.lock().unwrap();
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        if sinks["r"].poll_ready(&mut cx).is_pending() {
            break;
        }
        drop(sinks);
        puppet.say("r", written..written + 1);
        written += 1;
        assert!(written < 20_000, "the run is not held back");
    }
    puppet.finish("r");
    assert_eq!(rest(stream).await.len(), written + 4, "and loses nothing");
}

#[tokio::test(start_paused = true)]
async fn finished_runs_are_forgotten_by_time_by_number_and_by_size() {
    let minute = Duration::from_secs(60);
    let (puppet, rejoin) = setup(RejoinConfig::default().with_finished(minute, 3, 2_000));
    let play = async |run: &str, text: &str| {
        let stream = within(rejoin.run(request(run))).await.unwrap();
        if !text.is_empty() {
            puppet.send(run, TextMessageStart::new("m"));
            puppet.send(run, TextMessageContent::new("m", text));
        }
        puppet.finish(run);
        rest(stream).await;
        settled().await;
    };
    let large = "x".repeat(1_000);
    play("a", &large).await;
    play("b", &large).await;
    // Together too large: the oldest is remembered without its events.
    assert_eq!(code(within(rejoin.run(request("a"))).await), (409, "DUPLICATE_RUN_ID".to_owned()));
    assert!(within(rejoin.run(request("b"))).await.is_ok());
    play("c", "").await;
    play("d", "").await;
    let (runs, bytes) = rejoin.shared.table.finished();
    assert!(runs == 3 && bytes < 2_000, "{runs} {bytes}");
    assert_eq!(puppet.asked(), 4);
    // Too many: the oldest is forgotten, and so runs again.
    play("a", "").await;
    assert_eq!(puppet.asked(), 5);
    sleep(minute).await;
    play("a", "").await;
    assert_eq!(puppet.asked(), 6);
    assert_eq!(rejoin.shared.table.finished().0, 1);
}
