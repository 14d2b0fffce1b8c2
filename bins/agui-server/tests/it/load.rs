//! Many runs at once through the real binary, with clients that leave, cancels and a kernel that fails:
//! afterwards everything is as before (invariant 5, cases C14 and C15).

use std::sync::Arc;
use std::time::Duration;

use agui_testkit::client::EventStream;
use agui_testkit::faulty::{FaultyServer, Script, Step, ids};
use agui_testkit::wire::tool;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::stack::{Stack, faulty, outcome, verify};
use crate::upstream::{SEND, complete};

const THREADS: usize = 200;
/// Runs of a thread, one after the other, in each half.
const RUNS_A_HALF: usize = 5;
/// Longest time of a half.
const HALF_TIME: Duration = Duration::from_secs(120);
/// How much resident memory the second half may add: room for the allocator's habits, and far less than
/// one leaked task or buffer a run would take.
const MORE_KIB: u64 = 16 * 1024;
/// A wait on a stream that has gone silent ends soon.
const FLAGS: [&str; 2] = ["--a2a-idle-timeout", "0.5"];

/// How a client treats a run.
#[derive(Debug, Clone, Copy)]
enum Client {
    Reads,
    /// Leaves after that many events.
    Leaves(usize),
    /// Cancels through the extension once the session is announced.
    Cancels,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_runs_with_every_fault_leave_nothing_behind() {
    let seed =
        std::env::var("AGUI_LOAD_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(rand::random);
    say(&format!("AGUI_LOAD_SEED={seed}"));
    let mut random = StdRng::seed_from_u64(seed);
    let kernel = faulty(faults(&mut random)).await;
    let stack = Arc::new(Stack::start_with(&kernel.url(), &FLAGS, &[]).await);
    let files = open_files(&stack);

    half(&stack, &mut random, 0).await;
    settle(&stack, &kernel, files).await;
    let memory = resident_kib(&stack);
    kernel.set_script(faults(&mut random));
    half(&stack, &mut random, 1).await;
    settle(&stack, &kernel, files).await;
    let after = resident_kib(&stack);
    assert!(after < memory + MORE_KIB, "{memory} KiB after one half, {after} KiB after both");

    // No thread is busy: each takes a plain run at once.
    kernel.set_script(complete(Script::new().always(SEND, Step::good_turn("fine"))));
    let mut last = JoinSet::new();
    for thread in 0..THREADS {
        let stack = Arc::clone(&stack);
        last.spawn(async move { outcome(&stack.say(&format!("t{thread}"), "last", "go").await).to_owned() });
    }
    assert_eq!(last.join_all().await, vec!["success"; THREADS]);
    settle(&stack, &kernel, files).await;
}

/// A behaviour for each run of a half, and some for calls that come on top.
fn faults(random: &mut StdRng) -> Script {
    let script =
        (0..THREADS * RUNS_A_HALF).fold(Script::new(), |script, _| script.on(SEND, behaviour(random)));
    complete(script.always(SEND, Step::good_turn("fine")))
}

fn behaviour(random: &mut StdRng) -> Vec<Step> {
    let text = || Step::text("some words ");
    let said = (0..random.random_range(1..12)).map(|_| text());
    let mut steps = Step::turn(said);
    match random.random_range(0..12) {
        0 => steps.push(Step::Rst),
        1 => steps.push(Step::Fin),
        2 => steps.push(Step::Stall),
        3 => steps.push(Step::ErrorEvent { code: -32603, message: "broken".into() }),
        4 => steps.push(Step::Datum("{\"result\":".into())),
        5 => steps.extend([Step::Half { result: json!({"statusUpdate": {}}), bytes: 9 }, Step::Fin]),
        6 => return vec![Step::json(503, &json!({}))],
        7 => return vec![Step::error(-32602, "refused")],
        8 => return vec![Step::Rst],
        9 => {
            let started = json!({"status": "started", "toolUseId": "call-1", "name": "bash"});
            steps.extend([Step::Result(tool(&ids(), &started)), Step::Fin]);
        }
        _ => steps.extend(Step::turn_end("some words")),
    }
    steps
}

/// All threads at once, each with its runs one after the other.
async fn half(stack: &Arc<Stack>, random: &mut StdRng, number: usize) {
    let mut threads = JoinSet::new();
    for thread in 0..THREADS {
        let clients: Vec<Client> = (0..RUNS_A_HALF).map(|_| client(random)).collect();
        let stack = Arc::clone(stack);
        threads.spawn(async move {
            for (run, client) in clients.into_iter().enumerate() {
                play(&stack, &format!("t{thread}"), &format!("r{number}-{run}"), client).await;
            }
        });
    }
    let all = async {
        while let Some(done) = threads.join_next().await {
            done.unwrap();
        }
    };
    timeout(HALF_TIME, all).await.expect("all runs end");
}

fn client(random: &mut StdRng) -> Client {
    match random.random_range(0..10) {
        0..3 => Client::Leaves(random.random_range(0..12)),
        3..5 => Client::Cancels,
        _ => Client::Reads,
    }
}

async fn play(stack: &Stack, thread: &str, run: &str, client: Client) {
    let input = stack.input(thread, run).with_user("go");
    let mut events = loop {
        let response = stack.post(&input).await;
        if response.is_stream() {
            break response.events();
        }
        // The run before it, whose client has left, is being cancelled.
        assert_eq!(response.status, 409, "{thread} {run}");
        sleep(Duration::from_millis(20)).await;
    };
    match client {
        Client::Reads => {}
        Client::Leaves(after) => {
            for _ in 0..after {
                let _ = events.next().await;
            }
            return;
        }
        Client::Cancels => {
            let session = events.read_until(|event| event.kind() == "CUSTOM").await;
            // A run that failed before has no session.
            if let Some(session) = session {
                let execution = session.json["value"]["executionId"].as_str().unwrap();
                let (code, _) = stack.cancel(execution, thread, &format!("inv-{thread}")).await;
                assert_eq!(code, 200, "{thread} {run}");
            }
        }
    }
    read_on(events).await;
}

/// The rest of a stream, which has to be valid as a whole.
async fn read_on(mut events: EventStream) {
    while events.next().await.is_some() {}
    verify(&events.abort());
}

/// Waits until no call to the kernel is open and the server has as many files open as at its start.
async fn settle(stack: &Stack, kernel: &FaultyServer, files: usize) {
    kernel.connections().wait_open(0).await.unwrap();
    let settled = async {
        while open_files(stack) > files {
            sleep(Duration::from_millis(10)).await;
        }
    };
    let settled = timeout(crate::stack::PATIENCE, settled).await;
    assert!(settled.is_ok(), "{} files at the start, {} now", files, open_files(stack));
}

fn open_files(stack: &Stack) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", stack.process_id())).unwrap().count()
}

fn resident_kib(stack: &Stack) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", stack.process_id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Shown when the test fails: the seed plays the same faults again.
#[expect(clippy::print_stdout, reason = "tests")]
fn say(what: &str) {
    println!("{what}");
}
