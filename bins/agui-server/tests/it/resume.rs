//! Interrupts and their answers.

use agui_testkit::client::Recording;
use agui_testkit::client::input::{cancelled, decision, resolved};
use agui_testkit::demo::{DemoConfig, DemoKernel};
use agui_testkit::faulty::{Script, Step, ids};
use agui_testkit::wire::State;
use serde_json::{Value, json};

use crate::stack::{Stack, demo, error_code, interrupt_id, interrupts, last, outcome, refusal};
use crate::upstream::{
    CANCEL, GET, PIPELINE, RESTORE, Rig, SEND, UNARY, acknowledged, asks, found, permission, question, received,
    received_and_done, update,
};

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
    (part["data"]["inputId"].as_str().unwrap_or("text"), part["data"]["decision"].as_str().or_else(|| part["text"].as_str()).unwrap())
}

fn ids_of(recording: &Recording) -> Vec<String> {
    interrupts(recording).iter().map(|interrupt| interrupt["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn weakness_37_a_question_and_a_permission_in_one_resume_each_get_their_answer() {
    let (p, q) = (permission("p1", "call-1", "x"), question("q1", "Which zone?"));
    let script = Script::new()
        .on(SEND, waits_for(&[&q], &[&p]))
        .on(GET, [found(State::InputRequired, json!({"input": q, "pendingPermissions": [p]}))])
        .on(UNARY, [acknowledged("p1", "call-1", "allow_once")])
        .on(SEND, received_and_done("ask_user_question", "q1"));
    let rig = Rig::start(script).await;
    let asked = rig.say("t", "r1").await;
    let mut ids = ids_of(&asked);
    ids.sort();
    assert_eq!(ids, ["p1", "q1"]);
    let resume = rig
        .input("t", "r2")
        .with_answer(resolved("q1", &json!({"selectedId": "b"})))
        .with_answer(decision("p1", "allow_once"));
    assert_eq!(outcome(&rig.stack.run(&resume).await), "success");
    let answers = rig.answers();
    assert_eq!(answers.iter().map(named).collect::<Vec<_>>(), [("p1", "allow_once"), ("text", "Zone B")]);
    assert_eq!(rig.stack.state_file("t")["execution"]["pending"], json!({}));
}

#[tokio::test]
async fn weakness_38_two_questions_in_one_resume_each_get_their_answer() {
    let (a, b) = (question("q1", "Which zone?"), question("q2", "Which size?"));
    let batch = |input: &Value, sequence: u32, state: State| {
        let envelope = json!({
            "schemaVersion": "1.0", "eventId": format!("e{sequence}"), "sequence": sequence,
            "eventType": "input_required", "scope": "step", "pipelineRunId": "p", "taskId": ids().task_id,
            "contextId": ids().context_id, "status": "input_required", "data": input,
            "iacCodeSessionId": "faulty-session",
        });
        update(state, json!({"pipeline": envelope, "input": input}))
    };
    let first = [batch(&a, 1, State::Working), batch(&b, 2, State::InputRequired)];
    let again = update(State::InputRequired, json!({"input": b}));
    let script = Script::new()
        .on(SEND, Step::turn(first))
        .on(GET, [found(State::InputRequired, json!({"input": b}))])
        .on(SEND, received("ask_user_question", "q1", [again]))
        .on(SEND, received_and_done("ask_user_question", "q2"));
    let rig = Rig::start(script).await;
    let asked = rig.say("t", "r1").await;
    assert_eq!(ids_of(&asked), ["q1", "q2"]);
    let resume = rig
        .input("t", "r2")
        .with_answer(resolved("q1", &json!({"freeText": "anywhere"})))
        .with_answer(resolved("q2", &json!({"selectedId": "a"})));
    assert_eq!(outcome(&rig.stack.run(&resume).await), "success");
    let answers = rig.answers();
    assert_eq!(answers.iter().map(named).collect::<Vec<_>>(), [("text", "anywhere"), ("text", "Zone A")]);
}

#[tokio::test]
async fn weakness_39_the_stream_of_the_first_answer_shows_the_second_question_and_it_is_answered() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let first = interrupt_id(&stack.say("t", "r1", "both").await);
    let second = interrupt_id(&stack.run(&stack.input("t", "r2").with_answer(decision(&first, "allow_once"))).await);
    assert_ne!(first, second);
    let done = stack.run(&stack.input("t", "r3").with_answer(decision(&second, "deny"))).await;
    assert_eq!((outcome(&done), kernel.executed_tools()), ("success", 1));

    let (a, b) = (permission("p1", "call-1", "x"), permission("p2", "call-2", "y"));
    let script = Script::new()
        .on(SEND, Step::turn([update(State::InputRequired, json!({"input": a, "pendingPermissions": [b]}))]))
        .on(GET, [found(State::InputRequired, json!({"input": a}))])
        .on(SEND, received("permission", "p1", [update(State::InputRequired, json!({"input": b}))]))
        .on(UNARY, [acknowledged("p2", "call-2", "deny")])
        .always(GET, [found(State::Completed, json!({}))]);
    let rig = Rig::start(script).await;
    let mut ids = ids_of(&rig.say("t", "r1").await);
    ids.sort();
    assert_eq!(ids, ["p1", "p2"]);
    let resume =
        rig.input("t", "r2").with_answer(decision("p2", "deny")).with_answer(decision("p1", "allow_once"));
    let done = rig.stack.run(&resume).await;
    let answers = rig.answers();
    let mut named: Vec<_> = answers.iter().map(named).collect();
    named.sort_unstable();
    assert_eq!(named, [("p1", "allow_once"), ("p2", "deny")], "{done:?}");
}

#[tokio::test]
async fn c03_permissions_of_parallel_branches_are_listed_together_and_answered_one_by_one() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let run = |run: &str| stack.input("t", run).with_pipeline("selling");
    let asked = stack.run(&run("r1").with_user("build a site")).await;
    let asked_for = interrupts(&asked);
    assert_eq!(asked_for.len(), 2, "{asked_for:?}");
    let id = |at: usize| asked_for[at]["id"].as_str().unwrap().to_owned();
    let resume = run("r2").with_answer(decision(&id(1), "deny")).with_answer(decision(&id(0), "allow_once"));
    let chosen = stack.run(&resume).await;
    assert_eq!(kernel.executed_tools(), 1);
    let selection = &interrupts(&chosen)[0];
    assert_eq!(selection["metadata"]["kind"], "candidate_selection");

    let choice = selection["metadata"]["standardOptions"][0]["id"].as_str().unwrap();
    let answer = resolved(selection["id"].as_str().unwrap(), &json!({"selectedId": choice}));
    let done = stack.run(&run("r3").with_answer(answer)).await;
    assert_eq!(outcome(&done), "success");

    // What happened is told once, whichever run it fell into.
    let runs = [&asked, &chosen, &done];
    let all = |kind: &str| runs.iter().flat_map(|run| run.events.iter()).filter(|event| event.kind() == kind).count();
    let calls: std::collections::BTreeSet<_> = runs
        .iter()
        .flat_map(|run| run.events.iter())
        .filter(|event| event.kind() == "TOOL_CALL_START")
        .map(|event| event.json["toolCallId"].to_string())
        .collect();
    assert_eq!(all("TOOL_CALL_START"), calls.len());
    assert_eq!(all("TOOL_CALL_RESULT"), calls.len());
    let events: Vec<_> = runs
        .iter()
        .flat_map(|run| run.events.iter())
        .filter(|event| event.json["name"] == "iac-code.pipeline.v1")
        .map(|event| event.json["value"]["eventId"].to_string())
        .collect();
    let distinct: std::collections::BTreeSet<_> = events.iter().collect();
    assert_eq!(events.len(), distinct.len());
    let ended = done.events.iter().any(|event| event.json["value"]["eventType"] == "pipeline_completed");
    assert!(ended, "{:?}", done.kinds());
}

#[tokio::test]
async fn a_pipeline_that_ends_right_after_its_permissions_is_told_to_its_end() {
    let p = permission("p1", "call-1", "x");
    let event = |sequence: u32, kind: &str| {
        json!({
            "schemaVersion": "1.0", "eventId": format!("e{sequence}"), "sequence": sequence, "eventType": kind,
            "scope": "pipeline", "pipelineRunId": "p", "taskId": ids().task_id, "contextId": null,
            "pipelineName": "selling", "status": "working", "data": {}, "iacCodeSessionId": "faulty-session",
        })
    };
    let mut beside = p.clone();
    beside["subPipelineId"] = json!("candidate-1");
    let script = Script::new()
        .on(
            SEND,
            Step::turn([
                update(State::Working, json!({"pipeline": event(1, "pipeline_started")})),
                update(State::Working, json!({"input": beside})),
                Step::Stall,
            ]),
        )
        .on(GET, [found(State::Working, json!({"pendingPermissions": [p]}))])
        .on(UNARY, [acknowledged("p1", "call-1", "allow_once")])
        .on(GET, [found(State::Completed, json!({}))]);
    let rig = Rig::start(script).await;
    let id = interrupt_id(&rig.say("t", "r1").await);
    let events = [event(2, "candidate_completed"), event(3, "pipeline_completed")];
    rig.play(
        Script::new()
            .on(PIPELINE, [Step::json(200, &json!({"snapshot": null, "events": []}))])
            .on(GET, [found(State::Working, json!({"pendingPermissions": [p]}))])
            .on(UNARY, [acknowledged("p1", "call-1", "allow_once")])
            .on(GET, [found(State::Completed, json!({}))])
            .always(PIPELINE, [Step::json(200, &json!({"snapshot": null, "events": events}))]),
    );
    let done = rig.stack.run(&rig.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(outcome(&done), "success");
    let told: Vec<_> = done.events.iter().filter_map(|event| event.json["value"]["eventType"].as_str()).collect();
    assert_eq!(told, ["candidate_completed", "pipeline_completed"]);
}

#[tokio::test]
async fn c04_a_partial_resume_is_refused_before_anything_is_sent() {
    let (a, b) = (permission("p1", "call-1", "x"), permission("p2", "call-2", "y"));
    let done = || found(State::Completed, json!({}));
    let script = Script::new()
        .on(SEND, waits_for(&[], &[&a, &b]))
        .on(GET, [found(State::Working, json!({"pendingPermissions": [a, b]}))])
        .on(UNARY, [acknowledged("p2", "call-2", "deny")])
        .on(UNARY, [acknowledged("p1", "call-1", "allow_once")])
        .always(GET, [done()]);
    let rig = Rig::start(script).await;
    let asked = rig.say("t", "r1").await;
    assert_eq!(interrupts(&asked).len(), 2);
    let before = rig.kernel.requests().all().len();
    let allow = |id: &str| decision(id, "allow_once");
    let cases = [
        (vec![allow("p1")], "INCOMPLETE_RESUME"),
        (vec![allow("p1"), allow("p1")], "INCOMPLETE_RESUME"),
        (vec![allow("p1"), allow("p2"), allow("p1")], "INCOMPLETE_RESUME"),
        (vec![allow("p1"), allow("p9")], "UNKNOWN_INTERRUPT"),
        (vec![allow("p1"), allow("p2"), allow("p9")], "UNKNOWN_INTERRUPT"),
    ];
    for (answers, code) in cases {
        let resume = answers.into_iter().fold(rig.input("t", "r2"), |input, answer| input.with_answer(answer));
        assert_eq!(error_code(&rig.stack.run(&resume).await), code);
    }
    assert_eq!(rig.kernel.requests().all().len(), before);
    // `cancelled` is an answer, too: for a permission it means deny.
    let resume = rig.input("t", "r2").with_answer(cancelled("p2")).with_answer(allow("p1"));
    assert_eq!(outcome(&rig.stack.run(&resume).await), "success");
    let answers = rig.answers();
    let mut named: Vec<_> = answers.iter().map(named).collect();
    named.sort_unstable();
    assert_eq!(named, [("p1", "allow_once"), ("p2", "deny")]);
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
        .refused(&stack.input("t", "r2").with_answer(decision(&id, "allow_once")).with_iac_code("rosInvocationId", json!("x")))
        .await;
    assert_eq!((status, code.as_str()), (409, "EXECUTION_LOST"));
    assert_eq!((kernel.requests().all().len(), kernel.executed_tools()), (sent, 0));
}

#[tokio::test]
async fn weakness_30_an_identity_error_keeps_the_permission_and_says_why() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("t", "r1", "identity").await);
    let again = stack.run(&stack.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(interrupt_id(&again), id, "the same question is open");
    let message = interrupts(&again)[0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("identity") && message.contains("Allow once?"), "{message}");
    assert_eq!(kernel.executed_tools(), 0);
    let done = stack.run(&stack.input("t", "r3").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!((outcome(&done), kernel.executed_tools()), ("success", 1));
    assert!(error_code(&stack.run(&stack.input("t", "r4").with_answer(decision(&id, "deny"))).await) == "RESUME_ALREADY_APPLIED");
}

#[tokio::test]
async fn weakness_34_an_approval_that_counts_as_denied_is_told_to_the_user() {
    let p = permission("p1", "call-1", "x");
    let acked = json!({"permissionAck": {
        "schemaVersion": 1, "kind": "permission_ack", "inputId": "p1", "toolUseId": "call-1", "decision": "deny", "accepted": true,
    }});
    let mut streamed = received("permission", "p1", [update(State::Working, acked)]);
    streamed.extend(Step::turn_end("Nothing was done."));
    let look = || found(State::Working, json!({"pendingPermissions": [p]}));
    let cases = [
        Script::new()
            .on(SEND, waits_for(&[], &[&p]))
            .on(GET, [look()])
            .on(UNARY, [acknowledged("p1", "call-1", "deny")])
            .always(GET, [found(State::Completed, json!({}))]),
        Script::new().on(SEND, asks(&p)).on(GET, [look()]).on(SEND, streamed),
    ];
    let rig = Rig::start(Script::new()).await;
    for (at, script) in cases.into_iter().enumerate() {
        rig.play(script);
        let thread = format!("t{at}");
        let id = interrupt_id(&rig.say(&thread, "r1").await);
        let resume = rig.input(&thread, "r2").with_answer(decision(&id, "allow_once"));
        let done = rig.stack.run(&resume.with_iac_code("preferredLanguage", json!("de"))).await;
        assert_eq!(outcome(&done), "success", "{at}");
        let text = done.text("TEXT_MESSAGE_CONTENT");
        assert!(text.contains("als Ablehnung gewertet"), "{at}: {text}");
    }
    // Who denies gets what was asked for.
    rig.play(
        Script::new()
            .on(SEND, waits_for(&[], &[&p]))
            .on(GET, [look()])
            .on(UNARY, [acknowledged("p1", "call-1", "deny")])
            .always(GET, [found(State::Completed, json!({}))]),
    );
    let id = interrupt_id(&rig.say("u", "r1").await);
    let done = rig.stack.run(&rig.input("u", "r2").with_answer(decision(&id, "deny"))).await;
    assert_eq!(done.text("TEXT_MESSAGE_CONTENT"), "");
}

#[tokio::test]
async fn c77_changed_arguments_void_the_old_id_and_the_new_one_works_even_after_a_restart() {
    let one = permission("p1", "call-1", "delete d-1");
    let three = permission("p1", "call-1", "delete d-1 d-2 d-3");
    let shows = || found(State::InputRequired, json!({"input": three}));
    let script = Script::new()
        .on(SEND, asks(&one))
        .always(GET, [shows()])
        .on(SEND, received_and_done("permission", "p1"));
    let mut rig = Rig::start(script).await;
    let old = interrupt_id(&rig.say("t", "r1").await);
    let answer = |rig: &Rig, run: &str, id: &str| rig.input("t", run).with_answer(decision(id, "allow_once"));

    let changed = rig.stack.run(&answer(&rig, "r2", &old)).await;
    let new = interrupt_id(&changed);
    assert_ne!(new, old);
    assert_eq!(rig.count(SEND), 1, "the answer to other arguments is not sent");
    assert_eq!(rig.stack.state_file("t")["execution"]["pending"]["p1"]["value"]["inputId"], "p1");

    for restarted in [false, true] {
        if restarted {
            rig.stack.kill();
            rig.stack.launch().await;
        }
        let (_, code, message) = rig.stack.refused(&rig.input("t", "r3").with_user("x")).await;
        assert_eq!(code, "RESUME_REQUIRED");
        assert!(message.contains(&new), "{message}");
        let late = rig.stack.run(&answer(&rig, "r3", &old)).await;
        assert_eq!(error_code(&late), "UNKNOWN_INTERRUPT", "restarted: {restarted}");
    }
    assert_eq!(outcome(&rig.stack.run(&answer(&rig, "r4", &new)).await), "success");
    let answers = rig.answers();
    assert_eq!(answers.iter().map(named).collect::<Vec<_>>(), [("p1", "allow_once")], "under the kernel's own id");
    let again = rig.stack.run(&answer(&rig, "r5", &new)).await;
    assert_eq!(error_code(&again), "RESUME_ALREADY_APPLIED");
}

#[tokio::test]
async fn c01_an_answer_whose_run_then_fails_is_spent_only_if_the_kernel_took_it() {
    let p = permission("p1", "call-1", "x");
    let look = || found(State::InputRequired, json!({"input": p}));
    // Not taken: refused, cut, a page, no answer to the call.
    let not_taken: [(&str, Vec<Step>, &str); 6] = [
        ("refused", vec![Step::error(-32602, "input_response_mismatch: x")], "A2A_UNAVAILABLE"),
        ("a backup", vec![Step::Error { code: -32602, message: "x".into(), data: json!({"code": "SESSION_BACKUP_NOT_READY", "retryable": true}) }], "SESSION_BACKUP_NOT_READY"),
        ("closed", vec![Step::Fin], "A2A_UNAVAILABLE"),
        ("an empty stream", vec![Step::sse()], "A2A_UNAVAILABLE"),
        ("a page", vec![Step::complete(200, "text/html", "x")], "A2A_UNAVAILABLE"),
        ("not readable", vec![Step::sse(), Step::Datum("{".into())], "A2A_UNAVAILABLE"),
    ];
    let rig = Rig::start(Script::new()).await;
    for (at, (what, steps, code)) in not_taken.into_iter().enumerate() {
        let thread = format!("t{at}");
        rig.play(Script::new().on(SEND, asks(&p)).always(GET, [look()]).on(SEND, steps));
        let id = interrupt_id(&rig.say(&thread, "r1").await);
        let answer = |run: &str| rig.input(&thread, run).with_answer(decision(&id, "allow_once"));
        let failed = rig.stack.run(&answer("r2")).await;
        assert_eq!(error_code(&failed), code, "{what}");
        let (_, required, _) = rig.stack.refused(&rig.input(&thread, "r3").with_user("x")).await;
        assert_eq!(required, "RESUME_REQUIRED", "{what}");
        rig.play(Script::new().always(GET, [look()]).on(SEND, received_and_done("permission", "p1")));
        assert_eq!(outcome(&rig.stack.run(&answer("r4")).await), "success", "{what}");
    }
    assert_eq!(rig.count(CANCEL), 0);

    // Taken, then cut, and nobody knows how the task stands: the answer is spent, the task cancelled.
    let cut = received("permission", "p1", [Step::text("I do it. "), Step::Rst]);
    rig.play(Script::new().on(SEND, asks(&p)).on(GET, [look()]).on(SEND, cut).always(GET, [Step::json(500, &json!({}))]));
    let id = interrupt_id(&rig.say("u", "r1").await);
    let answer = |run: &str| rig.input("u", run).with_answer(decision(&id, "allow_once"));
    assert_eq!(error_code(&rig.stack.run(&answer("r2")).await), "A2A_UNAVAILABLE");
    assert_eq!(rig.count(CANCEL), 1);
    let sent = rig.count(SEND);
    assert_eq!(error_code(&rig.stack.run(&answer("r3")).await), "RESUME_ALREADY_APPLIED");
    assert_eq!(rig.count(SEND), sent, "one decision");
}

#[tokio::test]
async fn c07_a_question_whose_task_is_gone_is_lost_once_and_the_thread_goes_on() {
    let p = permission("p1", "call-1", "x");
    let gone = || Step::error(-32001, "Task not found");
    let restore = |status: u16, body: &Value| Script::new().on(SEND, asks(&p)).on(RESTORE, [Step::json(status, body)]);
    let look = || found(State::InputRequired, json!({"input": p}));
    let cases: [(&str, Script, &str, bool); 6] = [
        ("the task is gone", Script::new().on(SEND, asks(&p)).on(GET, [gone()]), "EXECUTION_LOST", true),
        ("it went meanwhile", Script::new().on(SEND, asks(&p)).on(GET, [look()]).on(SEND, [gone()]), "EXECUTION_LOST", true),
        ("the session is gone", restore(404, &json!({"status": "not_found"})), "EXECUTION_LOST", true),
        ("it was canceled", Script::new().on(SEND, asks(&p)).on(GET, [found(State::Canceled, json!({}))]), "CANCELLED", true),
        ("a backup runs", restore(409, &json!({"error": {"code": "SESSION_BACKUP_NOT_READY", "retryable": true}})), "SESSION_BACKUP_NOT_READY", false),
        ("restoring fails", restore(503, &json!({"error": "x"})), "A2A_UNAVAILABLE", false),
    ];
    let rig = Rig::start(Script::new()).await;
    for (at, (what, script, code, lost)) in cases.into_iter().enumerate() {
        let thread = format!("t{at}");
        rig.play(script);
        let id = interrupt_id(&rig.say(&thread, "r1").await);
        let answer = |run: &str| rig.input(&thread, run).with_answer(decision(&id, "allow_once"));
        assert_eq!(error_code(&rig.stack.run(&answer("r2")).await), code, "{what}");
        if lost {
            rig.play(Script::new().on(SEND, Step::good_turn("fine")));
            assert_eq!(error_code(&rig.stack.run(&answer("r3")).await), "EXECUTION_LOST", "{what}");
            assert_eq!(outcome(&rig.say(&thread, "r4").await), "success", "{what}");
        } else {
            rig.play(Script::new().on(GET, [look()]).on(SEND, received_and_done("permission", "p1")));
            assert_eq!(outcome(&rig.stack.run(&answer("r3")).await), "success", "{what}");
        }
    }
    assert_eq!(rig.count(CANCEL), 0);
}

#[tokio::test]
async fn a_session_that_is_gone_is_replaced_by_the_next_message() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("t", "r1", "write").await);
    let addr = kernel.addr();
    kernel.stop().await;
    let kernel = DemoKernel::start(DemoConfig::instant().with_addr(addr)).await.unwrap();
    let lost = stack.run(&stack.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(error_code(&lost), "EXECUTION_LOST");
    assert_eq!(outcome(&stack.say("t", "r3", "chat").await), "success");
    assert_eq!(kernel.executed_tools(), 0);
}

#[tokio::test]
async fn s8_3_giving_a_question_up_ends_the_task_and_is_told_as_the_client_understands_it() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    for (thread, speaks_1_0) in [("new", true), ("old", false)] {
        let id = interrupt_id(&stack.run(&stack.input(thread, "r1").with_user("question")).await);
        let mut resume = stack.input(thread, "r2").with_answer(cancelled(&id));
        if speaks_1_0 {
            resume = resume.with("protocolVersion", json!("1.0"));
        }
        let given_up = stack.run(&resume).await;
        if speaks_1_0 {
            assert_eq!(outcome(&given_up), "cancelled");
        } else {
            assert_eq!(error_code(&given_up), "CANCELLED");
        }
        assert_eq!(kernel.running_tasks(), 0);
        assert_eq!(outcome(&stack.say(thread, "r3", "chat").await), "success");
    }
    assert_eq!(kernel.requests().count(CANCEL), 2);
}

#[tokio::test]
async fn s8_3_giving_up_one_question_allows_nothing_else_on_its_task() {
    let (p, q) = (permission("p1", "call-1", "x"), question("q1", "Which zone?"));
    let script = Script::new()
        .on(SEND, waits_for(&[&q], &[&p]))
        .on(GET, [found(State::InputRequired, json!({"input": q, "pendingPermissions": [p]}))]);
    let rig = Rig::start(script).await;
    rig.say("t", "r1").await;
    let resume = rig.input("t", "r2").with_answer(decision("p1", "allow_once")).with_answer(cancelled("q1"));
    assert_eq!(error_code(&rig.stack.run(&resume).await), "CANCELLED");
    assert_eq!((rig.count(CANCEL), rig.answers().len()), (1, 0));
}

#[tokio::test]
async fn weakness_40_a_question_that_appeared_meanwhile_does_not_cost_the_answers() {
    let (a, b) = (permission("p1", "call-1", "x"), permission("p2", "call-2", "y"));
    let both = || found(State::Working, json!({"pendingPermissions": [a, b]}));
    let script = Script::new()
        .on(SEND, waits_for(&[], &[&a]))
        .on(GET, [both()])
        .on(UNARY, [acknowledged("p1", "call-1", "allow_once")])
        .on(GET, [found(State::Working, json!({"pendingPermissions": [b]}))])
        .on(GET, [found(State::Working, json!({"pendingPermissions": [b]}))])
        .on(UNARY, [acknowledged("p2", "call-2", "deny")])
        .always(GET, [found(State::Completed, json!({}))]);
    let rig = Rig::start(script).await;
    let id = interrupt_id(&rig.say("t", "r1").await);
    let more = rig.stack.run(&rig.input("t", "r2").with_answer(decision(&id, "allow_once"))).await;
    assert_eq!(interrupt_id(&more), "p2", "only what is new is asked");
    let done = rig.stack.run(&rig.input("t", "r3").with_answer(decision("p2", "deny"))).await;
    assert_eq!(outcome(&done), "success");
    let answers = rig.answers();
    assert_eq!(answers.iter().map(named).collect::<Vec<_>>(), [("p1", "allow_once"), ("p2", "deny")]);
}

#[tokio::test]
async fn a_kernel_whose_task_store_stays_behind_does_not_ask_again() {
    let kernel = DemoKernel::start(DemoConfig::instant().with_stale_get_task()).await.unwrap();
    let stack = Stack::start(&kernel.url()).await;
    let first = interrupt_id(&stack.say("t", "r1", "both").await);
    let asked = stack.run(&stack.input("t", "r2").with_answer(decision(&first, "allow_once"))).await;
    let second = interrupt_id(&asked);
    assert_ne!(first, second);
    let done = stack.run(&stack.input("t", "r3").with_answer(decision(&second, "allow_once"))).await;
    assert_eq!((outcome(&done), kernel.executed_tools()), ("success", 2));
    assert!(done.text("TEXT_MESSAGE_CONTENT").contains("2 of 2 files"));
}

#[tokio::test]
async fn c13_empty_messages_and_an_empty_resume_are_fine() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.run(&stack.input("t", "r1").with_user("write").with("resume", json!([]))).await);
    let resume = stack.input("t", "r2").with_answer(decision(&id, "deny")).with("messages", json!([]));
    assert_eq!(outcome(&stack.run(&resume).await), "success");
}
