//! Several questions in one resume, each with its own answer.

use agui_testkit::client::input::{RunInput, cancelled, decision, resolved};
use agui_testkit::faulty::{Script, Step, ids};
use agui_testkit::wire::State;
use serde_json::{Value, json};

use super::{ids_of, named, waits_for};
use crate::stack::{Stack, demo, error_code, interrupt_id, interrupts, outcome};
use crate::upstream::{
    GET, PIPELINE, Rig, SEND, UNARY, acknowledged, found, permission, question, received, received_and_done,
    update,
};

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
    let second =
        interrupt_id(&stack.run(&stack.input("t", "r2").with_answer(decision(&first, "allow_once"))).await);
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
    let all = |kind: &str| {
        runs.iter().flat_map(|run| run.events.iter()).filter(|event| event.kind() == kind).count()
    };
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
    let told: Vec<_> =
        done.events.iter().filter_map(|event| event.json["value"]["eventType"].as_str()).collect();
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
        let resume = answers.into_iter().fold(rig.input("t", "r2"), RunInput::with_answer);
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
