//! Interrupts and their answers.

mod mixed;
mod over;
mod taken;

use agui_testkit::client::Recording;
use agui_testkit::client::input::{cancelled, decision, resolved};
use agui_testkit::faulty::Step;
use agui_testkit::wire::State;
use serde_json::{Value, json};

use crate::stack::{Stack, demo, error_code, interrupt_id, interrupts, last, outcome, refusal};
use crate::upstream::update;

#[tokio::test]
async fn s7_2_a_permission_that_is_allowed_runs_the_tool_once() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let asked = stack.say("t", "r1", "write a file").await;
    let id = interrupt_id(&asked);

    let resumed = stack.run(&stack.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;

    assert_eq!(outcome(&resumed), "success");
    assert_eq!(kernel.executed_tools(), 1);
    let result = resumed.find("TOOL_CALL_RESULT").unwrap();
    assert_eq!(result["toolCallId"], asked.find("TOOL_CALL_START").unwrap()["toolCallId"]);
    assert!(resumed.find("TOOL_CALL_START").is_none(), "case C12");
}

#[tokio::test]
async fn s8_5_a_payload_that_does_not_fit_is_refused_and_a_corrected_one_works() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("t", "r1", "write a file").await);
    let before = stack.state_file("t");
    let bad = [
        json!(null),
        json!(""),
        json!({}),
        json!({"decision": "ALLOW_ONCE"}),
        json!({"decision": "deny", "reason": null}),
        json!({"decision": "allow_once", "note": "x"}),
    ];
    for payload in bad {
        let refused = stack.run(&stack.input("t", "r2").with_answer(resolved(&id, &payload))).await;
        assert_eq!(error_code(&refused), "RESUME_PAYLOAD_INVALID", "{payload}");
    }
    assert_eq!(stack.state_file("t"), before, "no run id is used up, nothing is touched");

    let resumed = stack.run(&stack.input("t", "r2").with_answer(decision(&id, "deny"))).await;
    assert_eq!(outcome(&resumed), "success");
    assert_eq!(kernel.executed_tools(), 0);
}

#[tokio::test]
async fn s8_6_a_repeated_answer_does_not_run_the_tool_again() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("t", "r1", "write a file").await);
    stack.run(&stack.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;

    for (run, answer) in
        [("r3", decision(&id, "allow_once")), ("r4", decision(&id, "deny")), ("r5", cancelled(&id))]
    {
        let repeated = stack.run(&stack.input("t", run).with_answer(answer)).await;
        assert_eq!(error_code(&repeated), "RESUME_ALREADY_APPLIED", "{run}");
    }
    stack.say("t", "r6", "thanks").await;
    let much_later = stack.run(&stack.input("t", "r7").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(error_code(&much_later), "RESUME_ALREADY_APPLIED");
    assert_eq!(kernel.executed_tools(), 1);
}

#[tokio::test]
async fn s9_2_a_message_while_a_question_is_open_is_refused_and_names_it() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("t", "r1", "write a file").await);

    let response = stack.post(&stack.input("t", "r2").with_user("use another region")).await;
    let (status, code, message) = refusal(response).await;
    assert_eq!((status, code.as_str()), (409, "RESUME_REQUIRED"));
    assert!(message.contains(&id), "{message}");

    let resumed = stack.run(&stack.input("t", "r2").with_answer(decision(&id, "deny"))).await;
    assert_eq!(outcome(&resumed), "success");
}

#[tokio::test]
async fn c05_nobody_answers_what_was_asked_on_another_thread_or_of_somebody_else() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("t", "r1", "write").await);
    let other = interrupt_id(&stack.say("u", "r1", "write").await);
    let sent = kernel.requests().all().len();
    let made_up = stack.run(&stack.input("t", "r2").with_answer(decision("perm-404", "allow_once"))).await;
    let elsewhere = stack.run(&stack.input("t", "r2").with_answer(decision(&other, "allow_once"))).await;
    for refused in [&made_up, &elsewhere] {
        assert_eq!(error_code(refused), "UNKNOWN_INTERRUPT");
        assert_eq!(last(refused)["message"], last(&made_up)["message"], "no hint where it exists");
    }
    let (status, code, _) = stack
        .refused(
            &stack
                .input("t", "r2")
                .with_answer(decision(&id, "allow_once"))
                .with_iac_code("rosInvocationId", json!("x")),
        )
        .await;
    assert_eq!((status, code.as_str()), (409, "EXECUTION_LOST"));
    assert_eq!((kernel.requests().all().len(), kernel.executed_tools()), (sent, 0));
}

#[tokio::test]
async fn c13_empty_messages_and_an_empty_resume_are_fine() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let id =
        interrupt_id(&stack.run(&stack.input("t", "r1").with_user("write").with("resume", json!([]))).await);
    let resume = stack.input("t", "r2").with_answer(decision(&id, "deny")).with("messages", json!([]));
    assert_eq!(outcome(&stack.run(&resume).await), "success");
}

/// A kernel whose task waits for `inputs`, all at once, beside the stream or not.
fn waits_for(main: &[&Value], beside: &[&Value]) -> Vec<Step> {
    let mut steps = Step::turn([Step::text("I ask. ")]);
    for input in beside {
        let mut input = (*input).clone();
        input["subPipelineId"] = json!("candidate-1");
        steps.push(update(State::Working, json!({"input": input})));
    }
    for input in main {
        steps.push(update(State::InputRequired, json!({"input": input})));
    }
    steps
}

/// The input id that an answer names.
fn named(part: &Value) -> (&str, &str) {
    (
        part["data"]["inputId"].as_str().unwrap_or("text"),
        part["data"]["decision"].as_str().or_else(|| part["text"].as_str()).unwrap(),
    )
}

fn ids_of(recording: &Recording) -> Vec<String> {
    interrupts(recording).iter().map(|interrupt| interrupt["id"].as_str().unwrap().to_owned()).collect()
}
