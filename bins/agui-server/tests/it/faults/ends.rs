//! What the kernel says about the end of a task.

use agui_testkit::faulty::{Script, Step, ids};
use agui_testkit::wire::{self, State, agent_message, iac, status};
use serde_json::{Value, json};

use super::{Case, End, case, check, unavailable};
use crate::stack::interrupts;
use crate::upstream::{CANCEL, GET, Rig, SEND, SUBSCRIBE, update};

#[tokio::test]
async fn c19_each_end_of_a_task_is_told_once_and_the_first_one_counts() {
    let end = |state: State| update(state, json!({}));
    let mut said = update(State::Failed, json!({"error": {"retryable": false, "errorId": "ab12"}}));
    if let Step::Result(update) = &mut said {
        update["statusUpdate"]["status"]["message"] = agent_message(&ids(), "m", "boom");
    }
    let failed = |words| End::Error("A2A_EXECUTION_FAILED", words);
    let turn = |steps: &[Step]| Step::turn([&[Step::text("Hi")], steps].concat());
    check(
        &[],
        vec![
            case("completed", turn(&[end(State::Completed)]), End::Success("Hi"), 0),
            case("failed", turn(&[end(State::Failed)]), failed("failed"), 0),
            case("failed with a reason", turn(&[said]), failed("ab12"), 0),
            case("rejected", turn(&[end(State::Rejected)]), failed("failed"), 0),
            case("canceled", turn(&[end(State::Canceled)]), End::Error("CANCELLED", "cancelled"), 0),
            case("failed, then completed", turn(&[end(State::Failed), end(State::Completed)]), failed(""), 0),
            case(
                "completed, then failed",
                turn(&[end(State::Completed), end(State::Failed)]),
                End::Success("Hi"),
                0,
            ),
            case(
                "completed twice",
                turn(&[end(State::Completed), end(State::Completed)]),
                End::Success("Hi"),
                0,
            ),
            case(
                "completed, then text",
                turn(&[end(State::Completed), Step::text("more")]),
                End::Success("Hi"),
                0,
            ),
            case("completed, then a reset", turn(&[end(State::Completed), Step::Rst]), End::Success("Hi"), 0),
            case(
                "completed, and the stream stays open",
                turn(&[end(State::Completed), Step::Stall]),
                End::Success("Hi"),
                0,
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn weakness_24_an_error_inside_the_stream_ends_the_run_and_its_id_is_no_task() {
    let error = || Step::ErrorEvent { code: -32603, message: "boom".into() };
    let failed = || End::Error("A2A_EXECUTION_FAILED", "failed");
    check(
        &[],
        vec![
            case("first of all", [Step::sse(), error()], failed(), 0),
            case("in the middle", Step::turn([Step::text("Hi"), error(), Step::text("more")]), failed(), 1),
            case(
                "and the stream stays open",
                Step::turn([Step::text("Hi"), error(), Step::Stall]),
                failed(),
                1,
            ),
            case(
                "as a plain datum",
                Step::turn([Step::Datum(
                    r#"{"jsonrpc":"2.0","id":"9","error":{"code":-32603,"message":"x"}}"#.into(),
                )]),
                failed(),
                1,
            ),
        ],
    )
    .await;
}

/// An update with a state of any name.
fn unknown(state: &str) -> Step {
    let mut update = status(&ids(), State::Working, iac(&ids(), json!({})));
    update["statusUpdate"]["status"]["state"] = json!(state);
    Step::Result(update)
}

#[tokio::test]
async fn c40_states_and_kinds_in_both_spellings_and_unknown_ones_by_rule() {
    let old = |state: &str, last: bool| {
        let update = json!({
            "kind": "status-update", "taskId": ids().task_id, "contextId": ids().context_id, "final": last,
            "status": {"state": state}, "metadata": {"iac_code": {"iacCodeSessionId": "faulty-session"}},
        });
        Step::Result(update)
    };
    let old_task = || {
        let message = json!({"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "Hi"}]});
        Step::Result(json!({
            "kind": "task", "id": ids().task_id, "contextId": ids().context_id,
            "status": {"state": "working", "message": message},
        }))
    };
    let paused = Script::new()
        .on(SEND, Step::turn([Step::text("Hi"), unknown("paused")]))
        .always(GET, [Step::Reply(json!({"id": ids().task_id, "status": {"state": "paused"}}))])
        .always(SUBSCRIBE, [Step::error(-32004, "x")]);
    check(
        &[],
        vec![
            case("0.3 completed", [Step::sse(), old_task(), old("completed", true)], End::Success("Hi"), 0),
            case(
                "0.3 input-required, not final",
                [Step::sse(), old_task(), old("input-required", false)],
                End::Success("Hi"),
                0,
            ),
            case("cancelled with two l", Step::turn([unknown("cancelled")]), End::Error("CANCELLED", ""), 0),
            case(
                "an unknown state, then an end",
                Step::turn([unknown("paused"), Step::text("Hi"), update(State::Completed, json!({}))]),
                End::Success("Hi"),
                0,
            ),
            Case {
                what: "an unknown state and nothing more",
                script: paused,
                end: unavailable(""),
                cancels: 1,
            },
            case(
                "unknown results",
                Step::turn([
                    Step::Result(json!({"news": 1})),
                    Step::Result(json!(7)),
                    Step::Datum("not json".into()),
                    Step::text("Hi"),
                    update(State::Completed, json!({})),
                ]),
                End::Success("Hi"),
                0,
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn weakness_9_an_identity_that_changes_ends_the_run_and_the_task() {
    let other = |task: &str, context: &str, session: &str| {
        let other = wire::Ids::new(task, context, session);
        Step::Result(status(&other, State::Working, iac(&other, json!({}))))
    };
    let own = ids();
    let (task, context, session) = (own.task_id.as_str(), own.context_id.as_str(), own.session_id.as_str());
    let changed = |words| End::Error("A2A_PROTOCOL_ERROR", words);
    let turn = |step: Step| Step::turn([Step::text("Hi"), step, Step::Stall]);
    check(
        &[],
        vec![
            case("another context", turn(other(task, "stranger", session)), changed("context"), 1),
            case("another task", turn(other("stranger", context, session)), changed("task"), 1),
            case("another session", turn(other(task, context, "stranger")), changed("session"), 1),
        ],
    )
    .await;
}

#[tokio::test]
async fn weakness_29_a_task_that_stopped_for_a_reason_is_no_success() {
    let stop = |more: Value| Step::turn([Step::text("Hi"), update(State::InputRequired, more)]);
    check(
        &[],
        vec![
            case(
                "a passing failure",
                stop(json!({"error": {"retryable": true, "errorId": "e"}})),
                End::Error("A2A_EXECUTION_FAILED", "temporary"),
                1,
            ),
            case(
                "a backup",
                stop(json!({"backupBlocked": {"reason": "terminal", "recoverable": true, "error": "x"}})),
                End::Error("SESSION_BACKUP_NOT_READY", "backup"),
                1,
            ),
            case(
                "a suspended wait",
                stop(json!({"permissionWait": {"status": "suspended", "resumable": true}})),
                End::Error("A2A_EXECUTION_FAILED", "suspended"),
                1,
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn c09_whatever_a_task_waits_for_is_asked() {
    let mut prompt = update(State::InputRequired, json!({}));
    if let Step::Result(update) = &mut prompt {
        update["statusUpdate"]["status"]["message"] = agent_message(&ids(), "q", "Which region?");
    }
    let mut bare = status(&ids(), State::InputRequired, json!({}));
    bare["statusUpdate"].as_object_mut().unwrap().remove("metadata");
    let mut sign_in = update(State::AuthRequired, json!({}));
    if let Step::Result(update) = &mut sign_in {
        update["statusUpdate"]["status"]["message"] =
            agent_message(&ids(), "q", "Open https://192.0.2.1/login");
    }
    let asked = crate::upstream::permission("p1", "call-1", "x");
    let cases = [
        ("a: with everything", update(State::InputRequired, json!({"input": asked})), "Allow once?"),
        ("b: without metadata", Step::Result(bare), "Input required"),
        ("c: with words only", prompt, "Which region?"),
        ("d: a sign-in", sign_in, "Open https://192.0.2.1/login"),
        ("d: a sign-in without words", update(State::AuthRequired, json!({})), "Sign-in required"),
    ];
    let rig = Rig::start(Script::new()).await;
    for (at, (what, step, words)) in cases.into_iter().enumerate() {
        // e: the stream stays open, and the run ends all the same.
        let begin = Step::Result(wire::task(&ids(), State::Working, None));
        rig.play(Script::new().on(SEND, [Step::sse(), begin, step, Step::Stall]));
        let run = rig.say(&format!("t{at}"), "r1").await;
        let interrupt = &interrupts(&run)[0];
        let message = interrupt["message"].as_str().unwrap();
        assert!(message.contains(words), "{what}: {message}");
        assert!(interrupt["responseSchema"].is_object(), "{what}");
        assert!(interrupt["expiresAt"].is_string(), "{what}");
        rig.kernel.connections().wait_open(0).await.unwrap();
    }
    assert_eq!(rig.count(CANCEL), 0);
}
