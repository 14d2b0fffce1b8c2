use super::*;

#[tokio::test]
async fn runs_are_listed_and_cancelled_by_thread_and_id() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let runs = rejoin.runs();
    let stream = within(rejoin.run(request("r"))).await.unwrap();
    let old = body(r#"{"threadId":"t","runId":"old","messages":[]}"#);
    let old = within(rejoin.run(old)).await.unwrap();
    puppet.send("r", TextMessageStart::new("m"));
    settled().await;
    let listed = runs.list().into_iter().map(|run| (run.run_id.to_string(), run.readers, run.events));
    let listed: std::collections::BTreeSet<_> = listed.collect();
    assert_eq!(Vec::from_iter(listed), [("old".to_owned(), 1, 1), ("r".to_owned(), 1, 2)]);

    assert!(runs.knows(&"t".into(), &"r".into()) && !runs.knows(&"u".into(), &"r".into()));
    assert_eq!(runs.cancel(&"t".into(), &"nothing".into()), CancelOutcome::Unknown);
    assert_eq!(runs.cancel(&"u".into(), &"r".into()), CancelOutcome::Unknown);
    assert_eq!(runs.cancel(&"t".into(), &"r".into()), CancelOutcome::Cancelled);
    let events = rest(stream).await;
    let Some(Event::RunFinished(end)) = events.last() else { panic!("{events:?}") };
    assert_eq!((events.len(), end.outcome.clone()), (4, Some(Outcome::Cancelled)), "the message is closed");
    assert!(puppet.is_left("r"));
    // A client that names no version does not know that outcome.
    assert_eq!(runs.cancel(&"t".into(), &"old".into()), CancelOutcome::Cancelled);
    assert_eq!(last_code(&rest(old).await), Some("CANCELLED"));
    settled().await;
    assert_eq!(runs.cancel(&"t".into(), &"r".into()), CancelOutcome::AlreadyEnded);
    assert!(runs.knows(&"t".into(), &"r".into()));
    assert_eq!(runs.count(), 0);
}

#[tokio::test]
async fn a_shutdown_ends_every_run_and_takes_no_more() {
    let (puppet, rejoin) = setup(RejoinConfig::default().with_abandon(Abandon::Never));
    let stream = within(rejoin.run(request("r"))).await.unwrap();
    let stuck = within(rejoin.run(request("stuck"))).await.unwrap();
    puppet.send("stuck", TextMessageStart::new("m"));
    puppet.say("stuck", 0..3_000);
    settled().await;
    *puppet.0.slow.lock().unwrap() = Some(Arc::new(Notify::new()));
    let undecided = {
        let rejoin = rejoin.clone();
        tokio::spawn(async move { rejoin.run(request("undecided")).await })
    };
    settled().await;
    within(rejoin.shutdown()).await;
    assert_eq!(last_code(&rest(stream).await), Some("SHUTTING_DOWN"));
    assert_eq!(last_code(&rest(stuck).await), Some("SHUTTING_DOWN"));
    let refused = (503, "SHUTTING_DOWN".to_owned());
    assert_eq!(code(within(undecided).await.unwrap()), refused);
    assert_eq!(code(within(rejoin.run(request("late"))).await), refused);
    assert_eq!(rejoin.runs().count(), 0);
}

#[tokio::test]
async fn a_run_is_ended_by_its_requester_only() {
    let (puppet, rejoin) = setup(RejoinConfig::default().with_requester(&["x-session"]));
    let by = |session: &str| rejoin.runs().asked_for_by(&[("x-session".into(), session.into())]);
    let stream = within(rejoin.run(request("r").with_header("x-session", "mine"))).await.unwrap();
    let nobody = rejoin.runs().asked_for_by(&[]);
    for other in [&by("theirs"), &nobody] {
        assert!(!other.knows(&"t".into(), &"r".into()));
        assert_eq!(other.list(), []);
        assert_eq!(other.cancel(&"t".into(), &"r".into()), CancelOutcome::Unknown);
    }
    settled().await;
    assert!(!puppet.is_left("r"));
    let mine = by("mine");
    assert!(mine.knows(&"t".into(), &"r".into()) && mine.list().len() == 1);
    assert_eq!(mine.cancel(&"t".into(), &"r".into()), CancelOutcome::Cancelled);
    rest(stream).await;
    settled().await;
    assert_eq!(mine.cancel(&"t".into(), &"r".into()), CancelOutcome::AlreadyEnded);
    assert_eq!(nobody.cancel(&"t".into(), &"r".into()), CancelOutcome::Unknown);
}
