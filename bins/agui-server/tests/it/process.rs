//! The server as a process: several of them, stopping, idling, and the kernel it starts itself.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agui_testkit::client::input::{RunInput, decision};
use agui_testkit::client::{Recording, TestClient};
use agui_testkit::faulty::{Script, Step};
use agui_testkit::wire::State;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::stack::{PATIENCE, Stack, demo, error_code, interrupt_id, outcome, verify};
use crate::upstream::{CANCEL, Rig, SEND, update};

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let held = async {
        while !holds() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(timeout(PATIENCE, held).await.is_ok(), "{what}");
}

#[tokio::test]
async fn weakness_12_a_thread_whose_file_is_held_up_holds_no_other_thread_up() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    stack.say("slow", "r1", "chat").await;
    let lock =
        File::options().append(true).open(stack.state_dir().join("state/threads/.slow.json.lock")).unwrap();
    lock.lock().unwrap();
    let waiting = {
        let (client, body) = (stack.client.clone(), stack.input("slow", "r2").with_user("chat").to_json());
        tokio::spawn(async move { client.post("/", &body).await.unwrap() })
    };
    for run in ["r1", "r2", "r3"] {
        assert_eq!(outcome(&stack.say("other", run, "chat").await), "success");
    }
    assert!(!waiting.is_finished(), "its admission waits for the lock");
    lock.unlock().unwrap();
    assert_eq!(outcome(&waiting.await.unwrap().events().collect().await), "success");
}

#[tokio::test]
async fn weakness_15_two_servers_on_one_state_directory_see_what_the_other_did() {
    let kernel = demo().await;
    let one = Stack::start(&kernel.url()).await;
    let (state, workspace) = (one.state_dir().join("state"), one.workspace());
    let variables = [
        ("IAC_CODE_AGUI_STATE_DIR", state.to_str().unwrap()),
        ("IAC_CODE_AGUI_ALLOWED_CWDS", workspace.as_str()),
    ];
    let two = Stack::start_with(&kernel.url(), &[], &variables).await;
    let say = |run: &str| one.input("t", run).with_user("chat");
    for (at, run) in ["r1", "r2", "r3", "r4"].into_iter().enumerate() {
        let (first, second) = if at % 2 == 0 { (&one, &two) } else { (&two, &one) };
        assert_eq!(outcome(&first.run(&say(run)).await), "success");
        for stack in [second, first] {
            let (_, code, _) = stack.refused(&say(run)).await;
            assert_eq!(code, "DUPLICATE_RUN_ID", "{run}");
        }
    }
    let id = interrupt_id(&one.run(&one.input("t", "r5").with_user("write")).await);
    let (_, code, _) = two.refused(&say("r6")).await;
    assert_eq!(code, "RESUME_REQUIRED");
    let answered = two.run(&one.input("t", "r6").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!((outcome(&answered), kernel.executed_tools()), ("success", 1));
    let again = one.run(&one.input("t", "r7").with_answer(decision(&id, "deny"))).await;
    assert_eq!(error_code(&again), "RESUME_ALREADY_APPLIED");
}

#[tokio::test]
async fn c73_a_stop_ends_the_streams_with_an_event_and_keeps_the_questions() {
    let kernel = demo().await;
    let mut stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("asks", "r1", "write").await);
    let mut streams = Vec::new();
    for thread in ["a", "b", "c"] {
        let mut events = stack.post(&stack.input(thread, "r1").with_user("hold")).await.events();
        events.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT").await.unwrap();
        streams.push(tokio::spawn(events.collect()));
    }
    stack.stop().await;
    for stream in streams {
        let recording = stream.await.unwrap();
        verify(&recording);
        assert_eq!(error_code(&recording), "SHUTTING_DOWN");
    }
    assert_eq!(
        (kernel.requests().count(CANCEL), kernel.connections().open()),
        (3, 0),
        "what waits is left alone"
    );

    stack.launch().await;
    for thread in ["a", "b", "c"] {
        assert_eq!(outcome(&stack.say(thread, "r2", "chat").await), "success", "no thread stays busy");
    }
    let answer = stack.input("asks", "r2").with_answer(decision(&id, "allow_once"));
    assert_eq!((outcome(&stack.run(&answer).await), kernel.executed_tools()), ("success", 1));
}

/// A server that starts its own kernel, which is the demo of the same program: all that is asked of it
/// here is that it lives.
struct Supervisor {
    dir: tempfile::TempDir,
    process: Child,
    client: TestClient,
}

impl Supervisor {
    async fn start(flags: &[&str]) -> Self {
        Self::start_in(flags, &[]).await
    }

    /// With these variables in its environment.
    async fn start_in(flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let program = env!("CARGO_BIN_EXE_agui-server");
        let kernel = format!(
            "{program} --demo --host {{host}} --port {{port}} --state-dir {}",
            dir.path().join("k").display()
        );
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = File::create(dir.path().join("log")).unwrap();
        let process = Command::new(program)
            .args(["--port", &port.to_string(), "--a2a-command", &kernel])
            .args(flags)
            .env_clear()
            .env("HOME", dir.path())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let client = TestClient::new(&format!("http://127.0.0.1:{port}/")).unwrap();
        let supervisor = Self { dir, process, client };
        until("the server is ready", || supervisor.log().contains("ready addr")).await;
        supervisor
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    async fn kernel_health(&self) -> Value {
        self.client.get("/health").await.unwrap().json().await.unwrap()["kernel"].clone()
    }

    /// The kernel is the child of the guard, which is the child of the server.
    fn guard(&self) -> Option<i32> {
        child(i32::try_from(self.process.id()).unwrap())
    }

    fn kernel(&self) -> Option<Pid> {
        child(self.guard()?).and_then(Pid::from_raw)
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn child(parent: i32) -> Option<i32> {
    let of_task = |task: PathBuf| std::fs::read_to_string(task.join("children")).ok();
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).ok()?;
    let children: String = tasks.filter_map(|task| of_task(task.ok()?.path())).collect();
    children.split_whitespace().next()?.parse().ok()
}

fn is_gone(process: Pid) -> bool {
    let status =
        std::fs::read_to_string(Path::new("/proc").join(process.as_raw_nonzero().to_string()).join("stat"));
    // One that ended and that nobody waited for is a zombie.
    status.map_or(true, |text| text.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

/// A demo server as a newcomer starts it: nothing is said about where threads are kept.
fn demo_server(dir: &Path, port: u16, log: impl Into<Stdio>) -> Child {
    Command::new(env!("CARGO_BIN_EXE_agui-server"))
        .args(["--demo", "--debug", "--port", &port.to_string()])
        .env_clear()
        .env("HOME", dir)
        .env("IAC_CODE_AGUI_ALLOWED_CWDS", dir)
        .stdin(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}

async fn answering(port: u16) -> TestClient {
    let client = TestClient::new(&format!("http://127.0.0.1:{port}/")).unwrap();
    let ready = async {
        while client.get("/health").await.is_err() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, ready).await.expect("the server starts");
    client
}

#[tokio::test]
async fn a_demo_that_is_started_again_knows_nothing_of_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for _ in 0..2 {
        let mut process = demo_server(dir.path(), port, Stdio::null());
        let client = answering(port).await;
        let input = RunInput::new("t1", "r1", dir.path().to_str().unwrap()).with_user("tool");
        let response = client.post("/", &input.to_json()).await.unwrap();
        let run = timeout(PATIENCE, response.events().collect()).await.expect("the run ends");
        verify(&run);
        assert_eq!(outcome(&run), "success");
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert!(!dir.path().join(".iac-code").exists());
}

#[tokio::test]
async fn a_server_whose_log_nobody_reads_any_more_serves_and_stops_as_ever() {
    let dir = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    // A socket, as the log of a supervised process often is: writing to it fails once its reader is gone.
    let (log, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut process = demo_server(dir.path(), port, std::os::fd::OwnedFd::from(theirs));
    drop(log);
    let client = answering(port).await;
    let cwd = dir.path().to_str().unwrap();
    let input = RunInput::new("t", "r", cwd).with_user("write");
    let response = client.post("/", &input.to_json()).await.unwrap();
    verify(&timeout(PATIENCE, response.events().collect()).await.expect("the run ends"));
    kill_process(Pid::from_child(&process), Signal::TERM).unwrap();
    let mut code = None;
    until("the server has stopped", || {
        code = process.try_wait().unwrap().and_then(|status| status.code());
        code.is_some()
    })
    .await;
    assert_eq!(code, Some(0));
}

#[tokio::test]
async fn weakness_16_a_kernel_that_lives_is_left_alone() {
    let server = Supervisor::start(&[]).await;
    let kernel = server.kernel();
    // Several times as long as the guard takes to notice that its lifeline is gone.
    for _ in 0..50 {
        let health = server.kernel_health().await;
        assert_eq!(health, json!({"managed": true, "status": "ready", "restarts": 0}));
        sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(server.kernel(), kernel);
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn weakness_16_a_kernel_that_dies_is_noticed_and_started_again() {
    let server = Supervisor::start(&[]).await;
    assert_eq!(server.kernel_health().await, json!({"managed": true, "status": "ready", "restarts": 0}));
    let first = server.kernel().expect("a kernel");
    kill_process(first, Signal::KILL).unwrap();
    let again = async {
        while server.kernel_health().await != json!({"managed": true, "status": "ready", "restarts": 1}) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, again).await.expect("it is ready again");
    let second = server.kernel().expect("a kernel");
    assert_ne!(first, second);
    assert!(is_gone(first));
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_kernel_inherits_what_its_tools_need_and_none_of_the_servers_own_tokens() {
    let own = ["IAC_CODE_AGUI_AUTH_TOKEN", "IAC_CODE_AGUI_A2A_TOKEN", "AGENTCORE_SHIM_UPSTREAM_TOKEN"];
    let variables: Vec<(&str, &str)> =
        own.into_iter().map(|name| (name, "s3cret")).chain([("MODEL_API_TOKEN", "of-the-model")]).collect();
    let server = Supervisor::start_in(&[], &variables).await;
    for process in
        [server.guard().expect("a guard"), server.kernel().expect("a kernel").as_raw_nonzero().get()]
    {
        let environment = std::fs::read_to_string(format!("/proc/{process}/environ")).unwrap();
        assert!(!environment.contains("s3cret"), "{environment}");
        assert!(environment.contains("MODEL_API_TOKEN=of-the-model"), "{environment}");
        assert!(environment.contains("IACCODE_A2A_HTTP_TOKEN="), "{environment}");
    }
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn weakness_16_a_kernel_does_not_outlive_its_server_however_that_ends() {
    for signal in [Signal::KILL, Signal::TERM] {
        let mut server = Supervisor::start(&[]).await;
        let kernel = server.kernel().expect("a kernel");
        kill_process(Pid::from_child(&server.process), signal).unwrap();
        server.process.wait().unwrap();
        until("the kernel ends", || is_gone(kernel)).await;
    }
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn weakness_16_a_kernel_does_not_outlive_its_guard_and_the_server_starts_both_again() {
    let mut server = Supervisor::start(&[]).await;
    assert_eq!(server.kernel_health().await, json!({"managed": true, "status": "ready", "restarts": 0}));
    let kernel = server.kernel().expect("a kernel");
    let guard = server.guard().and_then(Pid::from_raw).expect("a guard");
    kill_process(guard, Signal::KILL).unwrap();
    until("the kernel ends", || is_gone(kernel)).await;
    let again = async {
        while server.kernel_health().await != json!({"managed": true, "status": "ready", "restarts": 1}) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, again).await.expect("it is ready again");
    let second = server.kernel().expect("a kernel");
    assert_ne!(kernel, second);

    // Both at once, as by their common name.
    let guard = server.guard().and_then(Pid::from_raw).expect("a guard");
    server.process.kill().unwrap();
    kill_process(guard, Signal::KILL).unwrap();
    server.process.wait().unwrap();
    until("the kernel ends", || is_gone(second)).await;
}

#[tokio::test]
async fn weakness_17_a_question_that_nobody_answers_does_not_keep_an_idle_server_up_for_ever() {
    let kernel = demo().await;
    let flags = ["--idle-shutdown", "0.4", "--interrupt-ttl", "1"];
    let mut stack = Stack::start_with(&kernel.url(), &flags, &[]).await;
    interrupt_id(&stack.say("t", "r1", "write").await);
    stack.ended().await;
    assert_eq!(stack.state_file("t")["execution"]["pending"], json!({}), "it lapsed before");
    assert_eq!(kernel.requests().count(CANCEL), 1);
}

#[tokio::test]
async fn c72_a_client_that_does_not_read_holds_its_own_kernel_stream_back_and_nobody_else() {
    // More than all socket buffers on the way can hold.
    const PIECES: usize = 200;
    const PIECE: usize = 100_000;
    let mut steps: Vec<Step> = (0..PIECES).map(|_| Step::huge(PIECE)).collect();
    steps.push(update(State::Completed, json!({})));
    let rig = Rig::start(Script::new().always(SEND, Step::turn(steps))).await;
    let mut events = rig.stack.post(&rig.input("t", "r1").with_user("go")).await.events();
    events.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT").await.unwrap();

    let whole =
        |recording: &Recording| assert_eq!(recording.text("TEXT_MESSAGE_CONTENT").len(), PIECES * PIECE);
    let other = rig.stack.post(&rig.input("other", "r1").with_user("go")).await.events();
    whole(&timeout(PATIENCE * 3, other.collect()).await.unwrap());
    assert_eq!(rig.kernel.connections().open(), 1, "the first stream is not done, though it began earlier");
    let recording = timeout(PATIENCE * 3, events.collect()).await.unwrap();
    verify(&recording);
    whole(&recording);
}
