use super::*;

#[tokio::test(start_paused = true)]
async fn the_agent_is_left_when_the_last_reader_is_gone_for_as_long_as_the_policy_says() {
    let after = Abandon::After(Duration::from_secs(30));
    for (abandon, patience_s) in [(Abandon::AtOnce, Some(0)), (after, Some(30)), (Abandon::Never, None)] {
        let (puppet, rejoin) = setup(RejoinConfig::default().with_abandon(abandon));
        let one = within(rejoin.run(request("r"))).await.unwrap();
        let two = within(rejoin.run(request("r"))).await.unwrap();
        drop(one);
        sleep(Duration::from_secs(1_000)).await;
        assert!(!puppet.is_left("r"), "{abandon:?}: somebody reads");
        drop(two);
        let left = Instant::now();
        let ended = timeout(Duration::from_secs(86_400), async {
            rejoin.runs().watch().wait_for(|live| *live == 0).await.unwrap();
            left.elapsed().as_secs()
        });
        assert_eq!(ended.await.ok(), patience_s, "{abandon:?}");
        assert_eq!(puppet.is_left("r"), patience_s.is_some(), "{abandon:?}");
        if patience_s.is_some() {
            // It does not run again: it was cancelled, and says so.
            let again = rest(within(rejoin.run(request("r"))).await.unwrap()).await;
            let Some(Event::RunFinished(end)) = again.last() else { panic!("{again:?}") };
            assert_eq!(end.outcome, Some(Outcome::Cancelled));
        }
        assert_eq!(puppet.asked(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_comes_back_in_time_keeps_the_run() {
    let (puppet, rejoin) =
        setup(RejoinConfig::default().with_abandon(Abandon::After(Duration::from_secs(30))));
    drop(within(rejoin.run(request("r"))).await.unwrap());
    sleep(Duration::from_secs(29)).await;
    let back = within(rejoin.run(request("r"))).await.unwrap();
    sleep(Duration::from_secs(1_000)).await;
    puppet.finish("r");
    assert_eq!(rest(back).await.len(), 2);
}

#[tokio::test]
async fn a_caller_that_leaves_while_the_agent_decides_does_not_decide_for_others() {
    let (puppet, rejoin) = setup(RejoinConfig::default());
    let gate = Arc::new(Notify::new());
    *puppet.0.slow.lock().unwrap() = Some(Arc::clone(&gate));
    let ask = |rejoin: &Rejoin| {
        let rejoin = rejoin.clone();
        tokio::spawn(async move { rejoin.run(request("r")).await })
    };
    let (first, second) = (ask(&rejoin), ask(&rejoin));
    settled().await;
    first.abort();
    settled().await;
    gate.notify_one();
    let stream = within(second).await.unwrap().unwrap();
    puppet.finish("r");
    assert_eq!(rest(stream).await.len(), 2);

    // Without others the agent is not asked any longer.
    *puppet.0.slow.lock().unwrap() = Some(Arc::new(Notify::new()));
    let rejoin_other = rejoin.clone();
    let alone = tokio::spawn(async move { rejoin_other.run(request("alone")).await });
    settled().await;
    assert_eq!(rejoin.runs().count(), 1);
    alone.abort();
    within(rejoin.runs().watch().wait_for(|live| *live == 0)).await.unwrap();
}
