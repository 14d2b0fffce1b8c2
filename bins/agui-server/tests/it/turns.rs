//! What of a request reaches the kernel, and what of a conversation is kept (S2, S3, S9, S11.4).

use std::collections::BTreeSet;

use agui_testkit::client::Recording;
use agui_testkit::faulty::{Script, Step, ids};
use agui_testkit::wire::State;
use serde_json::{Value, json};

use crate::stack::{Stack, demo, execution_id, interrupt_id, outcome};
use crate::upstream::{Rig, SEND, asks, permission, update};

fn session(recording: &Recording) -> &Value {
    let custom = recording.find("CUSTOM").expect("a session event");
    assert_eq!(custom["name"], "iac-code.session.v1");
    &custom["value"]
}

#[tokio::test]
async fn s2_4_and_s2_7_state_and_context_stay_out_of_the_prompt_and_s2_3_the_parent_is_named() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let input = stack
        .input("t", "r1")
        .with_user("chat")
        .with("parentRunId", json!("r0"))
        .with("state", json!({"animal": "zebra"}))
        .with("context", json!([{"description": "animal", "value": "giraffe"}]));
    let run = stack.run(&input).await;
    assert_eq!(outcome(&run), "success");
    let started = run.find("RUN_STARTED").unwrap();
    assert_eq!((&started["parentRunId"], &started["runId"]), (&json!("r0"), &json!("r1")));
    let sent = kernel.requests().of(SEND);
    let body = String::from_utf8(sent[0].body.to_vec()).unwrap();
    assert!(!body.contains("zebra") && !body.contains("giraffe"), "{body}");
    assert_eq!(sent[0].message()["parts"], json!([{"text": "chat"}]));
}

#[tokio::test]
async fn s2_5_a_new_execution_is_the_last_user_message_wherever_it_stands() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let input = stack
        .input("t", "r1")
        .with_user("write a file")
        .with_message(json!({"role": "assistant", "content": "no"}))
        .with_user("chat")
        .with_message(json!({"role": "assistant", "content": "write a file"}));
    assert_eq!(outcome(&stack.run(&input).await), "success");
    let sent = kernel.requests().of(SEND);
    assert_eq!(sent[0].message()["parts"], json!([{"text": "chat"}]));
}

#[tokio::test]
async fn s3_0_the_kernel_gets_what_was_given_in_its_own_words_and_nothing_else() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let cwd = stack.workspace();
    let props = json!({
        "copilot": {"theme": "dark"},
        "iacCode": {
            "schemaVersion": 1, "rosInvocationId": "inv-t", "cwd": cwd,
            "candidatePresentation": "rich", "thinking": {"effort": "high"},
        },
    });
    let input = stack.input("t", "r1").with_user("chat").with("forwardedProps", props);
    assert_eq!(outcome(&stack.run(&input).await), "success");
    let sent = kernel.requests().of(SEND);
    let expected = json!({
        "cwd": cwd, "rosInvocationId": "inv-t",
        "candidatePresentation": "rich-v1", "thinking": {"effort": "high"},
    });
    assert_eq!(sent[0].message()["metadata"]["iac_code"], expected, "weaknesses 31, 35 and 36");
}

#[tokio::test]
async fn s9_1_the_turns_of_a_thread_share_context_and_session_and_s3_1_each_may_have_its_invocation() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let first = stack.say("t", "r1", "chat").await;
    let second = stack
        .run(&stack.input("t", "r2").with_user("chat").with_iac_code("rosInvocationId", json!("later")))
        .await;
    let (one, two) = (session(&first), session(&second));
    for shared in ["threadId", "contextId", "sessionId"] {
        assert_eq!(one[shared], two[shared], "{shared}");
        assert!(one[shared].is_string(), "{shared}");
    }
    assert_ne!(one["executionId"], two["executionId"]);
    assert_eq!((&one["aguiRunId"], &two["aguiRunId"]), (&json!("r1"), &json!("r2")));
    let sent = kernel.requests().of(SEND);
    assert_eq!(sent[0].message()["contextId"], sent[1].message()["contextId"]);

    let execution = execution_id(&second);
    assert_eq!(stack.cancel(&execution, "t", "inv-t").await.0, 404, "the invocation of another execution");
    assert_eq!(stack.cancel(&execution, "t", "later").await.1["status"], "already_terminal");
}

#[tokio::test]
async fn s11_4_neither_what_was_said_nor_an_artifact_is_stored() {
    let artifact = json!({"artifactUpdate": {
        "taskId": ids().task_id, "contextId": ids().context_id,
        "artifact": {"artifactId": "A1", "name": "template", "parts": [{"text": "ocelot-template"}]},
    }});
    let mut steps = Step::turn([Step::text("wombat-answer"), Step::Result(artifact)]);
    steps.extend(asks(&permission("p1", "call-1", "x")).into_iter().skip(2));
    let rig = Rig::start(Script::new().on(SEND, steps)).await;
    let input = rig
        .input("t", "r1")
        .with_message(json!({"role": "assistant", "content": "heron-history"}))
        .with_user("platypus-question")
        .with("state", json!({"animal": "zebra-state"}));
    let run = rig.stack.run(&input).await;
    interrupt_id(&run);
    let shown: String = run.events.iter().map(|event| event.raw.as_str()).collect();
    assert!(shown.contains("wombat-answer") && shown.contains("ocelot-template"), "{shown}");
    let files = rig.stack.state_files();
    assert!(files.keys().any(|name| name.ends_with("t.json")));
    for (name, text) in files {
        for word in ["wombat", "ocelot", "platypus", "heron", "zebra"] {
            assert!(!text.contains(word), "{word} is in {name}: {text}");
        }
    }
}

#[tokio::test]
async fn c50_a_second_turn_may_bring_the_history_as_clients_store_it() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    stack.say("t", "r1", "chat").await;
    let mut body = stack
        .input("t", "r2")
        .with_message(json!({"role": "developer", "content": "be brief"}))
        .with_message(json!({"role": "user", "content": "chat", "name": null, "createdAt": "x"}))
        .with_message(
            json!({"role": "assistant", "content": null, "toolCalls": [], "name": null, "createdAt": 1}),
        )
        .with_message(json!({"role": "reasoning", "content": "hm"}))
        .with_message(json!({"role": "activity", "activityType": "a", "content": {}}))
        .with_message(json!({"role": "narrator", "content": "once upon a time"}))
        .with_user("chat again")
        .to_json();
    for member in ["state", "tools", "context"] {
        body.as_object_mut().unwrap().remove(member);
    }
    let run = stack.client.post("/", &body).await.unwrap();
    assert!(run.is_stream());
    assert_eq!(outcome(&run.events().collect().await), "success");
    let sent = kernel.requests().of(SEND);
    assert_eq!(sent[1].message()["parts"], json!([{"text": "chat again"}]));
}

#[tokio::test]
async fn c51_equal_words_and_equal_ids_of_the_kernel_are_not_taken_for_the_same() {
    let rig = Rig::start(Script::new().always(SEND, Step::good_turn("yes"))).await;
    let ids_of = |run: &Recording| -> BTreeSet<String> {
        let ids = run.events.iter().filter(|event| event.kind() == "TEXT_MESSAGE_START");
        ids.map(|event| event.json["messageId"].as_str().unwrap().to_owned()).collect()
    };
    let mut seen = BTreeSet::new();
    for run in ["r1", "r2"] {
        let run = rig.stack.say("t", run, "yes").await;
        assert_eq!(run.text("TEXT_MESSAGE_CONTENT"), "yes");
        let ids = ids_of(&run);
        assert_eq!(ids.len(), 1);
        assert!(seen.is_disjoint(&ids), "{seen:?} {ids:?}");
        seen.extend(ids);
    }
    let sent = rig.kernel.requests().of(SEND);
    assert_eq!(
        sent.iter().map(|request| request.message()["parts"][0]["text"].clone()).collect::<Vec<_>>(),
        ["yes", "yes"]
    );
    let messages: BTreeSet<String> =
        sent.iter().map(|request| request.message()["messageId"].to_string()).collect();
    assert_eq!(messages.len(), 2);
}

#[tokio::test]
async fn c32_text_of_any_script_is_neither_escaped_nor_wrapped_on_its_way() {
    let text = "创建一个 VPC 🚀";
    let rig = Rig::start(Script::new().on(SEND, Step::good_turn(text))).await;
    let run = rig.stack.say("t", "r1", text).await;
    let delta = run.events.iter().find(|event| event.kind() == "TEXT_MESSAGE_CONTENT").unwrap();
    assert!(delta.raw.contains(text), "{}", delta.raw);
    assert_eq!(delta.raw.matches("data:").count(), 1);
    let sent = rig.kernel.requests().of(SEND);
    assert!(String::from_utf8(sent[0].body.to_vec()).unwrap().contains(text));
}

#[tokio::test]
async fn c67_digits_of_the_kernel_reach_the_client_as_they_were_written() {
    let digits = r#"{"accountId":1234567890123456789,"price":0.1,"v":1.0,"e":1E400,"m":-0}"#;
    let datum = |member: &str| {
        Step::Datum(format!(
            r#"{{"result":{{"statusUpdate":{{"taskId":"@task@","contextId":"@context@","status":{{"state":"TASK_STATE_WORKING"}},"metadata":{{"iac_code":{{"iacCodeSessionId":"faulty-session","tool":{member}}}}}}}}},"id":"1","jsonrpc":"2.0"}}"#
        ))
    };
    let steps = [
        datum(r#"{"status":"started","toolUseId":"c1","name":"bash"}"#),
        datum(&format!(
            r#"{{"status":"input_complete","toolUseId":"c1","name":"bash","toolInput":{digits}}}"#
        )),
        datum(r#"{"status":"completed","toolUseId":"c1","name":"bash","result":"ok"}"#),
        update(State::Completed, json!({})),
    ];
    let rig = Rig::start(Script::new().on(SEND, Step::turn(steps))).await;
    let run = rig.say("t", "r1").await;
    assert_eq!(run.text("TOOL_CALL_ARGS"), digits);
}
