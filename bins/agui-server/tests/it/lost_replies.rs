//! Messages and answers that the kernel took although its reply was lost: nothing is done twice, and nothing goes on
//! behind everybody's back.

use agui_testkit::client::input::{decision, resolved};
use agui_testkit::faulty::{Script, Step, ids};
use agui_testkit::wire::State;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::stack::{PATIENCE, error_code, interrupt_id, interrupts, outcome, verify};
use crate::upstream::{CANCEL, GET, PIPELINE, Rig, SEND, asks, found, permission, update};

const LIST: &str = "ListTasks";

/// How the kernel loses the first message: with nothing said, or in a stream that says nothing.
fn losses() -> [Vec<Step>; 2] {
    let lost = || Step::Await("lost".into());
    [vec![lost(), Step::Rst], vec![Step::sse(), lost(), Step::Rst]]
}

/// A run on thread `t` whose message the kernel takes without a word, while it has a task of another conversation and
/// perhaps the one that the message began; gives the code of its end.
async fn lose(rig: &Rig, run: &str, loss: Vec<Step>, mine: bool) -> String {
    let before = rig.count(SEND);
    rig.play(Script::new().on(SEND, loss));
    let events = rig.stack.post(&rig.input("t", run).with_user("deploy")).await.events();
    rig.kernel.requests().wait_for(SEND, before + 1).await.unwrap();
    let sent = rig.kernel.requests().of(SEND).pop().unwrap();
    rig.play(kernel_with(sent.message(), mine));
    rig.kernel.release("lost");
    let recording = timeout(PATIENCE, events.collect()).await.unwrap();
    verify(&recording);
    error_code(&recording).to_owned()
}

/// A kernel that lists a task of another conversation, and perhaps the one that `message` began.
fn kernel_with(message: &Value, mine: bool) -> Script {
    let task = |id: &str, context: &Value| json!({"id": id, "contextId": context, "status": {"state": "TASK_STATE_WORKING"}});
    let mut tasks = vec![task("theirs", &json!("of-somebody-else"))];
    if mine {
        tasks.push(task("mine", &message["contextId"]));
    }
    Script::new().on(LIST, [Step::Reply(json!({"tasks": tasks}))]).on(SEND, Step::good_turn("fine"))
}

fn cancelled(rig: &Rig) -> Vec<String> {
    let id =
        |request: &agui_testkit::LoggedRequest| request.json["params"]["id"].as_str().unwrap().to_owned();
    rig.kernel.requests().of(CANCEL).iter().map(id).collect()
}

#[tokio::test]
async fn c01_a_message_that_was_taken_without_a_reply_leaves_no_task_behind() {
    for loss in losses() {
        let rig = Rig::start(Script::new()).await;
        assert_eq!(lose(&rig, "r1", loss, true).await, "A2A_UNAVAILABLE");
        assert_eq!(cancelled(&rig), ["mine"]);
        assert_eq!(outcome(&rig.say("t", "r2").await), "success");
        assert_eq!((rig.count(LIST), rig.count(CANCEL), rig.count(SEND)), (1, 1, 2));
    }
}

#[tokio::test]
async fn c01_a_message_that_is_still_on_its_way_when_it_is_looked_for_is_found_by_the_next_one() {
    for loss in losses() {
        let rig = Rig::start(Script::new()).await;
        assert_eq!(lose(&rig, "r1", loss, false).await, "A2A_UNAVAILABLE");
        assert_eq!(cancelled(&rig), [""; 0]);
        let sent = rig.kernel.requests().of(SEND).pop().unwrap();
        rig.play(kernel_with(sent.message(), true));
        assert_eq!(outcome(&rig.say("t", "r2").await), "success");
        assert_eq!(cancelled(&rig), ["mine"]);
        assert_eq!(rig.kernel.requests().kinds().last().map(String::as_str), Some(SEND), "and only then");
        assert_eq!((rig.count(LIST), rig.count(SEND)), (2, 2));
    }
}

#[tokio::test]
async fn c01_a_message_that_was_refused_is_not_looked_for() {
    let rig = Rig::start(Script::new().on(SEND, [Step::error(-32602, "Unsupported run mode.")])).await;
    assert_eq!(error_code(&rig.say("t", "r1").await), "A2A_EXECUTION_FAILED");
    rig.play(Script::new().on(SEND, Step::good_turn("fine")));
    assert_eq!(outcome(&rig.say("t", "r2").await), "success");
    assert_eq!(rig.kernel.requests().kinds(), [SEND, SEND]);
}

/// An event of the pipeline, as the stream and the journal have it.
fn event(sequence: u32, kind: &str, data: &Value) -> Value {
    json!({
        "schemaVersion": "1.0", "eventId": format!("e{sequence}"), "sequence": sequence, "eventType": kind,
        "scope": "step", "pipelineRunId": "p", "taskId": ids().task_id, "contextId": ids().context_id,
        "status": if kind == "input_required" { "input_required" } else { "working" }, "data": data,
        "iacCodeSessionId": "faulty-session",
    })
}

/// A confirmation with what the user has set.
fn confirmation(password: &str) -> Value {
    json!({
        "kind": "deployment_confirmation", "prompt": "Deploy?", "cost": {"monthly_estimate": "CNY 100"},
        "parameter_overrides": {"Password": password}, "effective_deployment_parameters": {"Password": password},
        "options": [{"id": "confirm", "label": "Deploy"}, {"id": "cancel", "label": "Do not deploy"}],
    })
}

/// The journal for whoever missed these events.
fn journal(events: &[Value]) -> Step {
    let mut events = json!(events);
    for event in events.as_array_mut().unwrap() {
        // The query names the task, and nothing the conversation.
        let event = event.as_object_mut().unwrap();
        event.remove("contextId");
        event.insert("taskId".into(), json!("faulty-task"));
    }
    Step::json(200, &json!({"snapshot": null, "events": events}))
}

#[tokio::test]
async fn c01_a_confirmation_that_was_taken_without_a_reply_is_not_given_again_to_the_next_question() {
    let asked = event(1, "input_required", &confirmation("s3cr3t-1"));
    let first = Step::turn([update(State::InputRequired, json!({"pipeline": asked}))]);
    let rig = Rig::start(Script::new().on(SEND, first)).await;
    let run = rig.say("t", "r1").await;
    let id = interrupt_id(&run);
    assert_eq!(interrupts(&run)[0]["metadata"]["parameter_overrides"], json!({"Password": "s3cr3t-1"}));
    let answer =
        |run: &str| rig.input("t", run).with_answer(resolved(&id, &json!({"selectedId": "confirm"})));

    rig.play(
        Script::new()
            .on(GET, [found(State::InputRequired, json!({}))])
            .on(PIPELINE, [journal(&[])])
            .on(SEND, [Step::sse(), Step::Rst]),
    );
    assert_eq!(error_code(&rig.stack.run(&answer("r2")).await), "A2A_UNAVAILABLE");
    assert_eq!(rig.answers().len(), 1);

    // The kernel has confirmed and asks for the next one. What it has received it does not name.
    let received =
        event(2, "input_received", &json!({"kind": "deployment_confirmation", "user_input_length": 7}));
    let next = event(3, "input_required", &confirmation("s3cr3t-2"));
    rig.play(
        Script::new()
            .always(GET, [found(State::InputRequired, json!({}))])
            .always(PIPELINE, [journal(&[received, next])]),
    );
    let again = rig.stack.run(&answer("r3")).await;
    assert_ne!(interrupt_id(&again), id);
    assert_eq!(interrupts(&again)[0]["metadata"]["parameter_overrides"], json!({"Password": "s3cr3t-2"}));
    assert_eq!((rig.answers().len(), rig.count(CANCEL)), (1, 0), "one confirmation");
    assert_eq!(error_code(&rig.stack.run(&answer("r4")).await), "INCOMPLETE_RESUME", "the next one has none");
    for (name, text) in rig.stack.state_files() {
        assert!(!text.contains("s3cr3t"), "S11.4: {name}: {text}");
    }
}

#[tokio::test]
async fn c01_who_denies_what_was_allowed_by_an_answer_without_a_reply_is_told_so() {
    let p = permission("p1", "call-1", "x");
    let rig = Rig::start(Script::new().on(SEND, asks(&p))).await;
    let id = interrupt_id(&rig.say("t", "r1").await);
    let answer = |run: &str, word: &str| rig.input("t", run).with_answer(decision(&id, word));
    rig.play(
        Script::new()
            .on(GET, [found(State::InputRequired, json!({"input": p}))])
            .on(SEND, [Step::sse(), Step::Rst]),
    );
    assert_eq!(error_code(&rig.stack.run(&answer("r2", "allow_once")).await), "A2A_UNAVAILABLE");

    let received =
        json!({"inputReceived": {"kind": "permission", "inputId": "p1", "decision": "allow_once"}});
    rig.play(Script::new().always(GET, [found(State::Working, received.clone())]));
    assert_eq!(error_code(&rig.stack.run(&answer("r3", "deny")).await), "RESUME_ALREADY_APPLIED");
    let (_, code, _) = rig.stack.refused(&rig.input("t", "r4").with_user("x")).await;
    assert_eq!(code, "RESUME_REQUIRED");
    // The same answer again is the one that counts: the run goes on from there.
    rig.play(
        Script::new()
            .on(GET, [found(State::Working, received)])
            .always(GET, [found(State::Completed, json!({}))]),
    );
    assert_eq!(outcome(&rig.stack.run(&answer("r5", "allow_once")).await), "success");
    assert_eq!((rig.answers().len(), rig.count(CANCEL)), (1, 0));
}
