//! Interrupts and their answers.

use agui_testkit::client::input::{cancelled, decision, resolved};
use serde_json::json;

use crate::stack::{Stack, demo, error_code, interrupt_id, outcome, refusal};

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
    let bad = [json!(null), json!(""), json!({}), json!({"decision": "ALLOW_ONCE"}),
        json!({"decision": "deny", "reason": null}), json!({"decision": "allow_once", "note": "x"})];
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

    for (run, answer) in [("r3", decision(&id, "allow_once")), ("r4", decision(&id, "deny")), ("r5", cancelled(&id))] {
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
