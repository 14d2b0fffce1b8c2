//! Calls that are not answered as they should be.

use agui_testkit::faulty::{Script, Step, ids, refusing_url};
use agui_testkit::wire::{State, agent_message};
use serde_json::json;

use super::{End, case, check, check_end, shown, unavailable};
use crate::stack::{Stack, error_code, outcome};
use crate::upstream::{CANCEL, GET, Rig, SEND, SUBSCRIBE, followed, found, task, update};

#[tokio::test]
async fn c36_a_streaming_call_that_is_not_answered_by_a_stream() {
    let backup = json!({"code": "SESSION_BACKUP_NOT_READY", "retryable": true});
    let rpc_backup = Step::Error { code: -32602, message: "x".into(), data: backup.clone() };
    let limited = Step::json(429, &json!({})).with_header("retry-after", "7");
    let elsewhere = Step::complete(302, "text/html", "").with_header("location", "http://192.0.2.1/");
    check(
        &[],
        vec![
            case(
                "no such task",
                [Step::error(-32001, "no task")],
                End::Error("A2A_EXECUTION_FAILED", "refused"),
                0,
            ),
            case(
                "bad parameters",
                [Step::error(-32602, "x")],
                End::Error("A2A_EXECUTION_FAILED", "refused"),
                0,
            ),
            case("a backup", [rpc_backup], End::Error("SESSION_BACKUP_NOT_READY", "3 seconds"), 0),
            case(
                "a backup by status",
                [Step::json(409, &json!({"error": backup}))],
                End::Error("SESSION_BACKUP_NOT_READY", ""),
                0,
            ),
            case("401", [Step::json(401, &json!({"error": "Unauthorized"}))], unavailable("unavailable"), 0),
            case("403", [Step::json(403, &json!({}))], unavailable("unavailable"), 0),
            case("429", [limited], End::Error("RATE_LIMIT_EXCEEDED", "7 seconds"), 0),
            case(
                "429 without a hint",
                [Step::json(429, &json!({}))],
                End::Error("RATE_LIMIT_EXCEEDED", ""),
                0,
            ),
            case("500", [Step::json(500, &json!({}))], unavailable(""), 0),
            case("502 as a page", [Step::complete(502, "text/html", "<h1>502</h1>")], unavailable(""), 0),
            case("a page", [Step::complete(200, "text/html", "<h1>hi</h1>")], unavailable("understood"), 0),
            case("204", [Step::Socket("HTTP/1.1 204 No Content\r\n\r\n".into())], unavailable(""), 0),
            case("a redirect", [elsewhere], unavailable(""), 0),
            case("gzip", [Step::json(200, &json!({})).gzipped()], unavailable("understood"), 0),
            case("no HTTP", [Step::Socket("HELLO\r\n\r\n".into()), Step::Fin], unavailable(""), 0),
            case("nothing", [Step::Fin], unavailable("lost"), 0),
            case("a reset", [Step::Rst], unavailable(""), 0),
            case("JSON that is no reply", [Step::json(200, &json!([1]))], unavailable(""), 0),
        ],
    )
    .await;
}

#[tokio::test]
async fn a2a_unavailable_when_nobody_listens_and_the_thread_goes_on_when_somebody_does() {
    let stack = Stack::start(&refusing_url().await.unwrap()).await;
    for run in ["r1", "r2"] {
        let run = stack.say("t", run, "go").await;
        assert_eq!(error_code(&run), "A2A_UNAVAILABLE");
    }
}

/// A plain reply to the streaming call: the task, or a message.
#[tokio::test]
async fn weakness_27_an_answer_without_a_stream_is_an_answer() {
    let message = |text: &str| {
        let mut message = agent_message(&ids(), "m1", text);
        message.as_object_mut().unwrap().remove("taskId");
        json!({"message": message})
    };
    let mut done = task(State::Completed, json!({}));
    done["status"]["message"] = agent_message(&ids(), "m2", "Done.");
    check(
        &[],
        vec![
            case(
                "a message in a stream",
                [Step::sse(), Step::Result(message("Hello."))],
                End::Success("Hello."),
                0,
            ),
            case("a message as the reply", [Step::Reply(message("Hello."))], End::Success("Hello."), 0),
            case("a task as the reply", [Step::Reply(json!({"task": done}))], End::Success("Done."), 0),
            case(
                "the stream stays open",
                [Step::sse(), Step::Result(message("Hi.")), Step::Stall],
                End::Success("Hi."),
                0,
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_kernel_that_falls_silent_is_noticed() {
    let rig = Rig::start_with(
        Script::new(),
        &["--a2a-idle-timeout", "0.2", "--a2a-first-byte-timeout", "0.3", "--a2a-call-timeout", "0.3"],
    )
    .await;
    let silent = Script::new()
        .on(SEND, Step::turn([Step::text("Hi"), Step::Stall]))
        .always(GET, [found(State::Working, json!({}))])
        .always(SUBSCRIBE, [Step::sse(), followed(State::Working, json!({})), Step::Stall]);
    let unreachable = Script::new().on(SEND, Step::turn([Step::Stall])).always(GET, [Step::Stall]);
    let no_head = Script::new().on(SEND, [Step::Stall]);
    for (what, script, cancels) in
        [("the stream", silent, 1), ("everything", unreachable, 1), ("no head", no_head, 0)]
    {
        let before = rig.count(CANCEL);
        rig.play(script);
        let run = rig.say(what, "r1").await;
        check_end(what, &run, &unavailable("stopped responding"));
        assert_eq!(rig.count(CANCEL) - before, cancels, "{what}");
        rig.kernel.connections().wait_open(0).await.unwrap();
    }
    // Pings are signs of life.
    let mut steps = vec![Step::text("Hi")];
    for _ in 0..4 {
        steps.extend([Step::Sleep(std::time::Duration::from_millis(100)), Step::Ping]);
    }
    steps.push(update(State::Completed, json!({})));
    rig.play(Script::new().on(SEND, Step::turn(steps)));
    assert_eq!(outcome(&rig.say("pings", "r1").await), "success");
}

#[tokio::test]
async fn c65_a_huge_text_comes_in_small_pieces_and_a_monstrous_one_ends_the_run() {
    let rig = Rig::start_with(Script::new(), &["--a2a-max-datum", "2000000"]).await;
    rig.play(
        Script::new().on(SEND, Step::turn([Step::huge(1_500_000), update(State::Completed, json!({}))])),
    );
    let run = rig.say("t", "r1").await;
    assert_eq!(outcome(&run), "success");
    assert_eq!(shown(&run).len(), 1_500_000);
    assert!(run.events.iter().all(|event| event.raw.len() < 64 * 1024));

    let script =
        Script::new().on(SEND, Step::turn([Step::huge(2_500_000)])).on(GET, [Step::error(-32603, "x")]);
    rig.play(script);
    let run = rig.say("t", "r2").await;
    check_end("too large", &run, &unavailable("understood"));
    assert_eq!(rig.count(CANCEL), 1);
}
