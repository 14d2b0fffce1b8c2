//! Answers to a kernel whose task is not as it was left (S8.7, weaknesses 21 and 33).

use agui_testkit::client::input::decision;
use agui_testkit::faulty::{Script, Step};
use agui_testkit::wire::State;
use serde_json::{Value, json};

use crate::stack::{error_code, interrupt_id, last, outcome};
use crate::upstream::{GET, Rig, SEND, SUBSCRIBE, asks, found, permission, received_and_done, task, update};

#[tokio::test]
async fn weakness_21_a_question_whose_parameters_are_no_numbers_can_be_asked_and_answered() {
    let mut asked = permission("p1", "call-1", "x");
    asked["displayParameters"] = json!({"format": "json", "value": {"cpu": "@nan@"}});
    let metadata = json!({"iac_code": {"iacCodeSessionId": "faulty-session", "input": asked}}).to_string();
    let datum = format!(
        r#"{{"result":{{"statusUpdate":{{"taskId":"@task@","contextId":"@context@","status":{{"state":"TASK_STATE_INPUT_REQUIRED"}},"metadata":{}}}}},"id":"1","jsonrpc":"2.0"}}"#,
        metadata.replace("\"@nan@\"", "NaN")
    );
    let rig =
        Rig::start(Script::new().on(SEND, Step::turn([Step::text("I ask. "), Step::Datum(datum)]))).await;
    let asked = rig.say("t", "r1").await;
    let shown = &last(&asked)["outcome"]["interrupts"][0]["metadata"]["displayParameters"]["value"]["cpu"];
    assert_eq!(*shown, Value::Null);
    let id = interrupt_id(&asked);
    rig.play(
        Script::new()
            .on(GET, [found(State::InputRequired, json!({}))])
            .on(SEND, received_and_done("permission", "p1")),
    );
    let answer = rig.input("t", "r2").with_answer(decision(&id, "allow_once"));
    assert_eq!(outcome(&rig.stack.run(&answer).await), "success");
}

#[tokio::test]
async fn weakness_33_an_answer_the_kernel_had_taken_before_the_crash_still_shows_its_result() {
    let p = permission("p1", "call-1", "x");
    let receipt = json!({"inputReceived": {"kind": "permission", "inputId": "p1", "recovered": true, "duplicate": true}});
    let mut done = task(State::Completed, json!({}));
    done["history"] = json!([{"messageId": "m9", "role": "ROLE_AGENT", "parts": [{"text": "It is done."}]}]);
    let script = Script::new()
        .on(SEND, asks(&p))
        .on(GET, [found(State::InputRequired, json!({"input": p}))])
        .on(SEND, [Step::sse(), update(State::Working, receipt)])
        .on(GET, [found(State::Working, json!({}))])
        .on(SUBSCRIBE, [Step::error(-32001, "Task is not active")])
        .always(GET, [Step::Reply(done)]);
    let rig = Rig::start(script).await;
    let id = interrupt_id(&rig.say("t", "r1").await);
    let run = rig.stack.run(&rig.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(outcome(&run), "success");
    assert!(run.text("TEXT_MESSAGE_CONTENT").contains("It is done."), "{:?}", run.json());
}

#[tokio::test]
async fn s8_7_a_task_of_another_identity_is_not_answered() {
    let p = permission("p1", "call-1", "x");
    let mut stranger = task(State::InputRequired, json!({"input": p}));
    stranger["id"] = json!("stranger");
    let mut elsewhere = task(State::InputRequired, json!({"input": p}));
    elsewhere["contextId"] = json!("stranger");
    let rig = Rig::start(Script::new()).await;
    for (thread, other) in [("t", stranger), ("u", elsewhere)] {
        rig.play(Script::new().on(SEND, asks(&p)).on(GET, [Step::Reply(other)]));
        let id = interrupt_id(&rig.say(thread, "r1").await);
        let sent = rig.count(SEND);
        let run = rig.stack.run(&rig.input(thread, "r2").with_answer(decision(&id, "allow_once"))).await;
        assert_eq!(error_code(&run), "A2A_PROTOCOL_ERROR", "{thread}");
        assert_eq!(rig.count(SEND), sent, "no answer goes to somebody else's task");
    }
}
