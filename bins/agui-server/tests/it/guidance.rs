//! Messages into a pipeline that runs (S12.4).

use agui_testkit::client::input::RunInput;
use agui_testkit::client::{EventStream, Recording};
use agui_testkit::faulty::{Script, Step, ids};
use agui_testkit::wire::State;
use serde_json::{Value, json};

use crate::stack::{Stack, error_code, last, outcome, refusal, verify};
use crate::upstream::{CANCEL, Rig, SEND, question, update};

fn event(sequence: u32, kind: &str) -> Value {
    json!({
        "schemaVersion": "1.0", "eventId": format!("e{sequence}"), "sequence": sequence, "eventType": kind,
        "scope": "pipeline", "pipelineRunId": "p", "taskId": ids().task_id, "contextId": ids().context_id,
        "pipelineName": "selling", "status": "working", "data": {}, "iacCodeSessionId": "faulty-session",
    })
}

/// A pipeline that runs until it is released.
fn pipeline() -> Vec<Step> {
    Step::turn([
        update(State::Working, json!({"pipeline": event(1, "pipeline_started")})),
        Step::Await("on".into()),
        update(State::Working, json!({"pipeline": event(2, "pipeline_completed")})),
        update(State::Completed, json!({})),
    ])
}

fn guidance(stack: &Stack, run: &str) -> RunInput {
    stack
        .input("t", run)
        .with_user("use spot instances")
        .with_pipeline("selling")
        .with_iac_code("activeGuidance", json!(true))
}

/// A pipeline under way.
async fn under_way(rig: &Rig) -> EventStream {
    let input = rig.input("t", "r1").with_user("build").with_pipeline("selling");
    let mut events = rig.stack.post(&input).await.events();
    events.read_until(|event| event.json["name"] == "iac-code.pipeline.v1").await.unwrap();
    events
}

async fn rest(mut events: EventStream) -> Recording {
    while events.next().await.is_some() {}
    let recording = events.abort();
    verify(&recording);
    recording
}

#[tokio::test]
async fn s12_4_guidance_reaches_the_task_and_leaves_the_run_alone() {
    let taken = [Step::sse(), update(State::Working, json!({"pipeline": event(9, "interrupt_received")}))];
    let script = Script::new().on(SEND, pipeline()).on(SEND, taken).on(SEND, [Step::error(-32602, "no")]);
    let rig = Rig::start(script).await;
    let running = under_way(&rig).await;

    let guided = rig.stack.run(&guidance(&rig.stack, "r2")).await;
    assert_eq!(outcome(&guided), "success");
    assert_eq!(guided.kinds(), ["RUN_STARTED", "RUN_FINISHED"]);
    let sent = rig.kernel.requests().of(SEND);
    assert_eq!(sent[1].message()["taskId"], "faulty-task");
    assert_eq!(sent[1].message()["parts"], json!([{"text": "use spot instances"}]));

    let refused = rig.stack.run(&guidance(&rig.stack, "r3")).await;
    assert_eq!(error_code(&refused), "A2A_EXECUTION_FAILED");
    let (_, code, _) = rig.stack.refused(&guidance(&rig.stack, "r2")).await;
    assert_eq!(code, "DUPLICATE_RUN_ID");

    rig.kernel.release("on");
    assert_eq!(outcome(&rest(running).await), "success");
    assert_eq!(rig.count(CANCEL), 0);
    let (status, code, _) = rig.stack.refused(&guidance(&rig.stack, "r4")).await;
    assert_eq!((status, code.as_str()), (409, "EXECUTION_LOST"), "nothing runs any more");
}

#[tokio::test]
async fn weaknesses_10_and_48_guidance_is_for_pipelines_and_for_their_own_requester() {
    let normal =
        Step::turn([Step::text("Hi"), Step::Await("on".into()), update(State::Completed, json!({}))]);
    let rig = Rig::start(Script::new().on(SEND, normal).on(SEND, pipeline())).await;
    let mut running = rig.stack.post(&rig.input("t", "r1").with_user("go")).await.events();
    running.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT").await.unwrap();
    let (status, code, _) = rig.stack.refused(&guidance(&rig.stack, "r2")).await;
    assert_eq!((status, code.as_str()), (409, "EXECUTION_LOST"), "a normal turn cannot be steered");
    rig.kernel.release("on");
    assert_eq!(outcome(&rest(running).await), "success");

    let rig = Rig::start(Script::new().on(SEND, pipeline())).await;
    let running = under_way(&rig).await;
    let cases = [
        guidance(&rig.stack, "r2").with_iac_code("rosInvocationId", json!("somebody-else")),
        guidance(&rig.stack, "r2").with_iac_code("userId", json!("bob")),
        guidance(&rig.stack, "r2").with("resume", json!([{"interruptId": "x", "status": "cancelled"}])),
    ];
    let codes = ["EXECUTION_LOST", "THREAD_BINDING_CONFLICT", "EXECUTION_LOST"];
    for (input, expected) in cases.into_iter().zip(codes) {
        let (_, code, _) = rig.stack.refused(&input).await;
        assert_eq!(code, expected);
    }
    assert_eq!(rig.count(SEND), 1);
    rig.kernel.release("on");
    assert_eq!(outcome(&rest(running).await), "success");
}

#[tokio::test]
async fn s12_4_guidance_for_a_pipeline_that_asks_is_no_answer() {
    let asks = [
        update(State::Working, json!({"pipeline": event(1, "pipeline_started")})),
        update(State::InputRequired, json!({"input": question("q1", "Which zone?")})),
    ];
    let rig = Rig::start(Script::new().on(SEND, Step::turn(asks))).await;
    let asked = rig.stack.run(&rig.input("t", "r1").with_user("build").with_pipeline("selling")).await;
    assert_eq!(last(&asked)["outcome"]["type"], "interrupt");
    let (status, code, message) = refusal(rig.stack.post(&guidance(&rig.stack, "r2")).await).await;
    assert_eq!((status, code.as_str()), (409, "RESUME_REQUIRED"));
    assert!(message.contains("q1"), "{message}");
    assert_eq!(rig.count(SEND), 1);
}

#[tokio::test]
async fn s12_4_the_demo_pipeline_takes_guidance_while_it_works() {
    let config =
        agui_testkit::demo::DemoConfig::instant().with_delta_delay(std::time::Duration::from_millis(20));
    let kernel = agui_testkit::demo::DemoKernel::start(config).await.unwrap();
    let stack = Stack::start(&kernel.url()).await;
    let mut running =
        stack.post(&stack.input("t", "r1").with_user("build").with_pipeline("selling")).await.events();
    running.read_until(|event| event.kind() == "STEP_STARTED").await.unwrap();
    assert_eq!(outcome(&stack.run(&guidance(&stack, "r2")).await), "success");
    let recording = rest(running).await;
    assert_eq!(outcome(&recording), "interrupt");
}
