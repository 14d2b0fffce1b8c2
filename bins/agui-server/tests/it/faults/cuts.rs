//! Streams that end too early.

use agui_testkit::faulty::{Script, Step, ids};
use agui_testkit::wire::{self, State};
use serde_json::json;

use super::{Case, End, check, unavailable};
use crate::upstream::{GET, SEND, SUBSCRIBE, followed, followed_text, found};

#[tokio::test]
async fn c18_a_stream_that_is_cut_never_looks_like_a_finished_answer() {
    let deltas = || [Step::text("total 1"), Step::text(",9")];
    let half = Step::Half { result: wire::text_delta(&ids(), "00"), bytes: 40 };
    let cuts = [
        ("a clean end", Step::turn(deltas())),
        ("a close without the last chunk", Step::turn([deltas().to_vec(), vec![Step::Fin]].concat())),
        ("a reset", Step::turn([deltas().to_vec(), vec![Step::Rst]].concat())),
        ("half a datum", Step::turn([deltas().to_vec(), vec![half.clone(), Step::Fin]].concat())),
        ("half a datum and a clean end", Step::turn([deltas().to_vec(), vec![half]].concat())),
    ];
    // Nobody knows how the task stands.
    let unknown = |(what, steps): (&'static str, Vec<Step>)| Case {
        what,
        script: Script::new().on(SEND, steps).always(GET, [Step::json(500, &json!({}))]),
        end: unavailable("lost"),
        cancels: 1,
    };
    check(&[], cuts.clone().into_iter().map(unknown).collect()).await;

    // The kernel knows: the run goes on with what it says (case C37).
    let rest = || [Step::sse(), followed_text(",900"), followed(State::Completed, json!({}))];
    let follow = |(what, steps): (&'static str, Vec<Step>)| Case {
        what,
        script: Script::new()
            .on(SEND, steps)
            .on(GET, [found(State::Working, json!({}))])
            .on(SUBSCRIBE, rest()),
        end: End::Success("total 1,9,900"),
        cancels: 0,
    };
    check(&[], cuts.into_iter().map(follow).collect()).await;
}

#[tokio::test]
async fn c37_the_task_ends_between_the_look_and_the_subscription() {
    let cut = || Step::turn([Step::text("Hello")]);
    let done = || found(State::Completed, json!({}));
    let working = || found(State::Working, json!({}));
    let no_end = || [Step::sse(), followed(State::Working, json!({}))];
    let script = |subscribed: Vec<Step>, looks: [Step; 2]| {
        let [first, second] = looks;
        Script::new().on(SEND, cut()).on(GET, [first]).on(SUBSCRIBE, subscribed).on(GET, [second])
    };
    let failed = || found(State::Failed, json!({"error": {"errorId": "e7"}}));
    let refused = vec![Step::error(-32001, "Task x is not active")];
    let error_frame = vec![Step::sse(), Step::ErrorEvent { code: -32004, message: "terminal".into() }];
    check(
        &[],
        vec![
            Case {
                what: "a refusal",
                script: script(refused.clone(), [working(), done()]),
                end: End::Success("Hello"),
                cancels: 0,
            },
            Case {
                what: "an empty stream",
                script: script(vec![Step::sse()], [working(), done()]),
                end: End::Success("Hello"),
                cancels: 0,
            },
            Case {
                what: "a stream without an end",
                script: script(no_end().to_vec(), [working(), done()]),
                end: End::Success("Hello"),
                cancels: 0,
            },
            Case {
                what: "an error frame",
                script: script(error_frame, [working(), done()]),
                end: End::Success("Hello"),
                cancels: 0,
            },
            Case {
                what: "it failed meanwhile",
                script: script(refused.clone(), [working(), failed()]),
                end: End::Error("A2A_EXECUTION_FAILED", "e7"),
                cancels: 0,
            },
            Case {
                what: "it is gone meanwhile",
                script: script(refused, [working(), Step::error(-32001, "x")]),
                end: End::Error("EXECUTION_LOST", "task"),
                cancels: 0,
            },
            Case {
                what: "it goes on for ever without saying anything",
                script: Script::new().on(SEND, cut()).always(GET, [working()]).always(SUBSCRIBE, no_end()),
                end: unavailable("lost"),
                cancels: 1,
            },
        ],
    )
    .await;
}
