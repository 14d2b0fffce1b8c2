use proptest::prelude::*;

use super::*;

/// One step of a play with several clients.
#[derive(Debug, Clone)]
enum Move {
    Ask { run: usize, other_body: bool },
    Leave { client: usize },
    Say { run: usize, deltas: usize },
    Finish { run: usize },
    Cancel { run: usize },
    Wait,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let step = prop_oneof![
        4 => (0_usize..3, prop::bool::weighted(0.1)).prop_map(|(run, other_body)| Move::Ask { run, other_body }),
        2 => (0_usize..6).prop_map(|client| Move::Leave { client }),
        4 => (0_usize..3, 0_usize..300).prop_map(|(run, deltas)| Move::Say { run, deltas }),
        1 => (0_usize..3).prop_map(|run| Move::Finish { run }),
        1 => (0_usize..3).prop_map(|run| Move::Cancel { run }),
        3 => Just(Move::Wait),
    ];
    prop::collection::vec(step, 1..40)
}

/// Plays `moves`; gives what every client that stayed has seen, by run, and how often the agent was asked.
async fn play(moves: Vec<Move>, abandon: Abandon) -> (Vec<(usize, Vec<Event>)>, usize, usize) {
    let (puppet, rejoin) = setup(RejoinConfig::default().with_abandon(abandon));
    let mut clients: Vec<(usize, RunStream)> = Vec::new();
    let mut said = [0_usize; 3];
    let alive = |run: &str| puppet.0.sinks.lock().unwrap().contains_key(run);
    for step in moves {
        match step {
            Move::Ask { run, other_body } => {
                let name = format!("r{run}");
                let asked = if other_body {
                    body(&format!(r#"{{"threadId":"t","runId":"{name}","messages":[],"state":0}}"#))
                } else {
                    request(&name)
                };
                if let Ok(stream) = within(rejoin.run(asked)).await {
                    clients.push((run, stream));
                }
            }
            Move::Leave { client } if client < clients.len() => drop(clients.swap_remove(client)),
            Move::Say { run, deltas } if alive(&format!("r{run}")) => {
                let name = format!("r{run}");
                if said[run] == 0 {
                    puppet.send(&name, TextMessageStart::new("m"));
                }
                puppet.say(&name, said[run]..said[run] + deltas);
                said[run] += deltas;
            }
            Move::Finish { run } if alive(&format!("r{run}")) => puppet.finish(&format!("r{run}")),
            Move::Cancel { run } => {
                let _ = rejoin.runs().cancel(&"t".into(), &format!("r{run}").into());
            }
            Move::Wait => settled().await,
            Move::Leave { .. } | Move::Say { .. } | Move::Finish { .. } => {}
        }
    }
    let left: Vec<String> = puppet.0.sinks.lock().unwrap().keys().cloned().collect();
    left.iter().for_each(|run| puppet.finish(run));
    let mut seen = Vec::new();
    for (run, stream) in clients {
        seen.push((run, rest(stream).await));
    }
    within(rejoin.runs().watch().wait_for(|live| *live == 0)).await.unwrap();
    (seen, puppet.asked(), rejoin.shared.table.finished().0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever happens when: no run id runs twice, all readers of a run see the same valid stream, and nothing
    /// is left behind.
    #[test]
    fn a_run_id_is_one_run(moves in moves(), grace in any::<bool>()) {
        let abandon = if grace { Abandon::After(Duration::from_secs(5)) } else { Abandon::AtOnce };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let (seen, asked, finished) = runtime.unwrap().block_on(play(moves, abandon));
        prop_assert!(asked <= 3);
        prop_assert_eq!(finished, asked);
        let mut by_run: HashMap<usize, Vec<Event>> = HashMap::new();
        for (run, events) in seen {
            let first = by_run.entry(run).or_insert_with(|| events.clone());
            prop_assert_eq!(&*first, &events);
        }
    }
}
