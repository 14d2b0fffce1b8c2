//! A server that is killed: at rest, in the middle of a run, and in the middle of each write.

use std::time::Duration;

use agui_testkit::client::input::{RunInput, decision};
use agui_testkit::client::{Recording, StreamEnd};
use agui_testkit::demo::DemoKernel;
use agui_testkit::faulty::{Script, Step, ids};
use agui_testkit::wire::{self, State};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::stack::{PATIENCE, Stack, demo, error_code, faulty, interrupt_id, last, outcome};
use crate::upstream::{CANCEL, Rig, SEND, complete, permission, update};

#[tokio::test]
async fn c06_a_question_survives_a_crash_under_its_id_and_is_answered_once() {
    let kernel = demo().await;
    let mut stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("t", "r1", "write").await);
    stack.kill();
    stack.launch().await;
    let (_, code, message) = stack.refused(&stack.input("t", "r2").with_user("x")).await;
    assert_eq!(code, "RESUME_REQUIRED");
    assert!(message.contains(&id), "{message}");
    let resumed = stack.run(&stack.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!((outcome(&resumed), kernel.executed_tools()), ("success", 1));
    stack.kill();
    stack.launch().await;
    let repeated = stack.run(&stack.input("t", "r3").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!((error_code(&repeated), kernel.executed_tools()), ("RESUME_ALREADY_APPLIED", 1));
}

#[tokio::test]
async fn c06_a_pipeline_survives_a_crash_and_repeats_nothing() {
    let kernel = demo().await;
    let mut stack = Stack::start(&kernel.url()).await;
    let asked = stack.run(&stack.input("t", "r1").with_user("confirm")).await;
    let id = interrupt_id(&asked);
    stack.kill();
    stack.launch().await;
    let answer = agui_testkit::client::input::resolved(&id, &json!({"selectedId": "confirm"}));
    let done = stack.run(&stack.input("t", "r2").with_answer(answer)).await;
    assert_eq!(outcome(&done), "success");
    let ids = |run: &Recording| -> Vec<String> {
        let of_pipeline = run.events.iter().filter(|event| event.json["name"] == "iac-code.pipeline.v1");
        of_pipeline.map(|event| event.json["value"]["eventId"].to_string()).collect()
    };
    let (before, after) = (ids(&asked), ids(&done));
    assert!(!before.is_empty() && !after.is_empty());
    assert!(after.iter().all(|id| !before.contains(id)), "{before:?} {after:?}");
}

#[tokio::test]
async fn weakness_6_after_a_crash_in_the_middle_of_a_run_the_next_message_cancels_the_task_first() {
    let kernel = demo().await;
    let mut stack = Stack::start(&kernel.url()).await;
    let mut events = stack.post(&stack.input("t", "r1").with_user("hold")).await.events();
    events.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT").await.unwrap();
    stack.kill();
    stack.launch().await;
    assert_eq!(kernel.running_tasks(), 1, "the task goes on");

    assert_eq!(outcome(&stack.say("t", "r2", "chat").await), "success");
    assert_eq!(kernel.running_tasks(), 0);
    assert_eq!(kernel.requests().kinds(), [SEND, CANCEL, SEND]);
}

/// The second write of a run is that of its task's id.
const DIES_SAVING_THE_TASK: [(&str, &str); 1] = [("AGUI_FAILPOINT", "store.before_temp:kill@2")];

/// Starts a task over a server that dies before it has saved the task's id, and a new server.
async fn orphaned(kernel: &DemoKernel) -> Stack {
    orphaned_on(kernel, Stack::start_with(&kernel.url(), &[], &DIES_SAVING_THE_TASK).await).await
}

async fn orphaned_on(kernel: &DemoKernel, mut stack: Stack) -> Stack {
    let cut = send(&stack, &stack.input("t", "r1").with_user("hold")).await;
    assert!(matches!(cut, Got::Nothing), "the server dies");
    stack.kill();
    stack.reconfigure(&[], &[]);
    stack.launch().await;
    assert!(stack.state_file("t")["execution"]["taskId"].is_null());
    assert_eq!(kernel.running_tasks(), 1, "the task goes on, and nobody has its id");
    stack
}

#[tokio::test]
async fn weakness_6_a_task_whose_id_was_not_saved_is_found_and_cancelled_before_the_next_one() {
    let kernel = demo().await;
    let stack = orphaned(&kernel).await;
    assert_eq!(outcome(&stack.say("t", "r2", "chat").await), "success");
    assert_eq!(kernel.running_tasks(), 0);
    assert_eq!(outcome(&stack.say("t", "r3", "chat").await), "success");
    assert_eq!(kernel.requests().kinds(), [SEND, "ListTasks", CANCEL, SEND, SEND]);
}

#[tokio::test]
async fn weakness_6_a_task_whose_id_was_not_saved_is_cancelled_by_who_cancels_its_execution() {
    let kernel = demo().await;
    let stack = orphaned(&kernel).await;
    let execution = stack.state_file("t")["execution"]["executionId"].as_str().unwrap().to_owned();
    let reply = stack.cancel(&execution, "t", "inv-t").await;
    assert_eq!(reply, (200, json!({"executionId": execution, "status": "cancelled"})));
    assert_eq!(kernel.running_tasks(), 0);
    let reply = stack.cancel(&execution, "t", "inv-t").await;
    assert_eq!(reply, (200, json!({"executionId": execution, "status": "already_terminal"})));
    assert_eq!(kernel.requests().kinds(), [SEND, "ListTasks", CANCEL]);
}

#[tokio::test]
async fn weakness_6_while_the_kernel_cannot_say_what_it_has_the_next_message_waits() {
    let kernel = faulty(complete(Script::new())).await;
    let stack = Stack::start_with(&kernel.url(), &[], &DIES_SAVING_THE_TASK).await;
    let mut rig = Rig { stack, kernel };
    rig.play(Script::new().on(SEND, Step::turn([Step::Stall])));
    assert!(matches!(send(&rig.stack, &rig.input("t", "r1").with_user("go")).await, Got::Nothing));
    rig.stack.kill();
    rig.stack.reconfigure(&[], &[]);
    rig.stack.launch().await;
    let next = rig.input("t", "r2").with_user("go");
    for steps in [vec![Step::json(500, &json!({}))], vec![Step::Rst]] {
        rig.play(Script::new().on("ListTasks", steps));
        let (status, code, _) = rig.stack.refused(&next).await;
        assert_eq!((status, code.as_str()), (503, "A2A_UNAVAILABLE"));
    }
    // A kernel that knows no such question gets the message.
    rig.play(Script::new().on("ListTasks", [Step::error(-32601, "x")]).on(SEND, Step::good_turn("fine")));
    assert_eq!(outcome(&rig.stack.run(&next).await), "success");
    assert_eq!(rig.count(SEND), 2);
}

#[tokio::test]
async fn weakness_6_while_the_kernel_cannot_be_told_the_next_message_waits_and_burns_no_id() {
    let silent = Step::turn([Step::text("Hi"), Step::Stall]);
    let mut rig = Rig::start(Script::new().on(SEND, silent)).await;
    let mut events = rig.stack.post(&rig.input("t", "r1").with_user("go")).await.events();
    events.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT").await.unwrap();
    rig.stack.kill();
    rig.stack.launch().await;
    rig.play(Script::new().on(CANCEL, [Step::json(500, &json!({}))]).on(SEND, Step::good_turn("fine")));
    let next = rig.input("t", "r2").with_user("go");
    let (status, code, _) = rig.stack.refused(&next).await;
    assert_eq!((status, code.as_str()), (503, "A2A_UNAVAILABLE"));
    assert_eq!(outcome(&rig.stack.run(&next).await), "success");
    assert_eq!(rig.kernel.requests().kinds(), [SEND, CANCEL, CANCEL, SEND]);
}

#[tokio::test]
async fn c06_a_state_file_that_cannot_be_read_is_a_503_and_not_an_empty_thread() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    interrupt_id(&stack.say("t", "r1", "write").await);
    let path = stack.state_dir().join("state/threads/t.json");
    let good = std::fs::read(&path).unwrap();
    let sent = kernel.requests().all().len();
    for damaged in [&good[..good.len() / 2], b"", b"[]"] {
        std::fs::write(&path, damaged).unwrap();
        let (status, code, _) = stack.refused(&stack.input("t", "r2").with_user("x")).await;
        assert_eq!((status, code.as_str()), (503, "STATE_UNAVAILABLE"));
        let (status, body) = stack.cancel("any", "t", "inv-t").await;
        assert_eq!((status, &body["error"]["code"]), (503, &Value::from("STATE_UNAVAILABLE")));
    }
    assert_eq!(kernel.requests().all().len(), sent);
    std::fs::write(&path, &good).unwrap();
    let (_, code, _) = stack.refused(&stack.input("t", "r2").with_user("x")).await;
    assert_eq!(code, "RESUME_REQUIRED");
}

/// What a client got out of one request to a server that may die meanwhile.
enum Got {
    Refused(String),
    Whole(Box<Recording>),
    /// The server died.
    Nothing,
}

async fn send(stack: &Stack, input: &RunInput) -> Got {
    let Ok(response) = stack.client.post("/", &input.to_json()).await else { return Got::Nothing };
    if !response.is_stream() {
        let Ok(body) = response.json().await else { return Got::Nothing };
        return Got::Refused(body["error"]["code"].as_str().unwrap_or_default().to_owned());
    }
    let recording = timeout(PATIENCE, response.events().collect()).await.expect("the stream ends");
    match recording.end {
        StreamEnd::Complete => {
            crate::stack::verify(&recording);
            Got::Whole(Box::new(recording))
        }
        _ => Got::Nothing,
    }
}

/// A client that wants one file written, sees the server die at most once, and starts it again.
struct Driver {
    kernel: DemoKernel,
    stack: Stack,
    runs: u32,
    died: bool,
}

impl Driver {
    fn input(&mut self) -> RunInput {
        self.runs += 1;
        self.stack.input("t", &format!("r{}", self.runs))
    }

    async fn send(&mut self, input: &RunInput) -> Got {
        let got = send(&self.stack, input).await;
        if matches!(got, Got::Nothing) {
            assert!(!self.died, "it dies once: {}", self.stack.log());
            self.died = true;
            self.stack.kill();
            self.stack.reconfigure(&[], &[]);
            self.stack.launch().await;
        }
        got
    }

    /// Goes on until the file is written or the execution is clearly lost; says which.
    async fn drive(&mut self) -> &'static str {
        let first = self.input().with_user("write");
        let mut asked = match self.send(&first).await {
            Got::Whole(run) => Some(interrupt_id(&run)),
            Got::Refused(code) => panic!("{code}"),
            Got::Nothing => None,
        };
        for _ in 0..4 {
            let input = match &asked {
                Some(id) => self.input().with_answer(decision(id, "allow_once")),
                // The client saw no question: it asks again, and hears about one that waits.
                None => self.input().with_user("write"),
            };
            match self.send(&input).await {
                Got::Whole(run) => match run.find("RUN_FINISHED") {
                    Some(end) if end["outcome"]["type"] == "interrupt" => asked = Some(interrupt_id(&run)),
                    Some(_) => return "written",
                    None => return lost(error_code(&run)),
                },
                Got::Refused(code) => {
                    assert_eq!(code, "RESUME_REQUIRED");
                    let (_, _, message) =
                        self.stack.refused(&self.stack.input("t", "probe").with_user("x")).await;
                    asked = message.rsplit(' ').next().map(str::to_owned);
                }
                Got::Nothing => {}
            }
        }
        panic!("the thread is stuck: {}", self.stack.log());
    }
}

fn lost(code: &str) -> &'static str {
    match code {
        "RESUME_ALREADY_APPLIED" => "applied",
        "EXECUTION_LOST" => "lost",
        other => panic!("{other}"),
    }
}

/// Kills the server at the n-th pass of a point and drives the thread on; whether it came to that.
async fn killed_at(point: &str, pass: u32) -> bool {
    let kernel = demo().await;
    let failpoint = format!("store.{point}:kill@{pass}");
    let stack = Stack::start_with(&kernel.url(), &[], &[("AGUI_FAILPOINT", &failpoint)]).await;
    let mut driver = Driver { kernel, stack, runs: 0, died: false };
    let end = driver.drive().await;
    let what = format!("{failpoint}: {end}");
    assert_eq!(driver.kernel.executed_tools(), u64::from(end != "lost"), "{what}");
    loop {
        let after = driver.input().with_user("chat");
        match driver.send(&after).await {
            Got::Whole(run) => break assert_eq!(outcome(&run), "success", "{what}"),
            Got::Refused(code) => panic!("{what}: {code}"),
            Got::Nothing => {}
        }
    }
    assert_eq!(driver.kernel.running_tasks(), 0, "{what}");
    driver.died
}

#[tokio::test]
async fn s11_6_a_crash_in_the_middle_of_any_write_leaves_a_thread_that_goes_on_and_no_tool_runs_twice() {
    const POINTS: [&str; 4] = ["before_temp", "during_temp", "before_rename", "done"];
    // Two runs, the task and its session, the question, the answer, the end: six or seven saves, and those of
    // the run after them.
    const PASSES: u32 = 8;
    let mut deaths = 0;
    let mut running = tokio::task::JoinSet::new();
    for point in POINTS {
        for pass in 1..=PASSES {
            running.spawn(killed_at(point, pass));
            if running.len() >= 4 {
                deaths += u32::from(running.join_next().await.unwrap().unwrap());
            }
        }
    }
    while let Some(died) = running.join_next().await {
        deaths += u32::from(died.unwrap());
    }
    assert_eq!(deaths, 4 * PASSES, "every point was passed that often");
}

/// The message of a run that asks and whose n-th save fails. The kernel names its task, waits, names its
/// session, waits, and asks.
async fn save_fails(point: &str, pass: u32) -> String {
    let ids = ids();
    let steps = [
        Step::sse(),
        Step::Result(wire::task(&ids, State::Working, None)),
        Step::Await("task".into()),
        update(State::Working, json!({})),
        Step::Await("session".into()),
        update(State::InputRequired, json!({"input": permission("p1", "call-1", "x")})),
    ];
    let kernel = faulty(complete(Script::new().on(SEND, steps).on(SEND, Step::good_turn("fine")))).await;
    let failpoint = format!("store.{point}:error@{pass}");
    let stack = Stack::start_with(&kernel.url(), &[], &[("AGUI_FAILPOINT", &failpoint)]).await;
    let input = stack.input("t", "r1").with_user("go");
    let saved = async |what: &str| {
        while stack.state_file("t").pointer(what).is_none_or(Value::is_null) {
            sleep(Duration::from_millis(2)).await;
        }
    };
    let release = async {
        kernel.requests().wait_for(SEND, 1).await.unwrap();
        if pass > 2 {
            saved("/execution/taskId").await;
        }
        kernel.release("task");
        if pass > 3 {
            saved("/iacCodeSessionId").await;
        }
        kernel.release("session");
    };
    let (run, ()) = tokio::join!(stack.run(&input), release);
    assert_eq!(error_code(&run), "STATE_PERSISTENCE_FAILED", "{failpoint}");
    assert_eq!(kernel.requests().count(CANCEL), 1, "{failpoint}");
    let announced = run.find("CUSTOM").is_some();
    assert_eq!(announced, pass > 3, "what is not saved is not announced: {failpoint}");
    assert_eq!(outcome(&stack.say("t", "r2", "go").await), "success", "{failpoint}");
    last(&run)["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn s11_6_what_cannot_be_saved_is_not_announced_and_its_task_is_cancelled() {
    let kernel = demo().await;
    let stack =
        Stack::start_with(&kernel.url(), &[], &[("AGUI_FAILPOINT", "store.before_rename:error@1")]).await;
    let (status, code, _) = stack.refused(&stack.input("t", "r1").with_user("write")).await;
    assert_eq!((status, code.as_str()), (503, "STATE_UNAVAILABLE"));
    assert_eq!(kernel.requests().kinds(), [""; 0], "nothing was sent for a run that is not known");
    assert_eq!(outcome(&stack.say("t", "r1", "chat").await), "success");

    // Before the new record takes the place of the old one, and after it.
    for point in ["before_rename", "before_directory_sync"] {
        assert_eq!(save_fails(point, 2).await, "The execution mapping could not be committed.");
        assert_eq!(save_fails(point, 3).await, "The execution session mapping could not be committed.");
        assert_eq!(save_fails(point, 4).await, "The interrupted execution state could not be committed.");
    }
}
