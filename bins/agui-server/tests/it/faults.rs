//! A kernel that misbehaves: one stream, one ending, whatever comes (cases D, a2a.md §6.2).

use agui_testkit::client::Recording;
use agui_testkit::faulty::{Eol, Framing, Script, Step, ids, refusing_url};
use agui_testkit::wire::{self, State, agent_message, iac, status, tool};
use serde_json::{Value, json};

use crate::stack::{Stack, error_code, interrupts, last, outcome};
use crate::upstream::{CANCEL, GET, Rig, SEND, SUBSCRIBE, followed, followed_text, found, task, update};

/// How a run ends, and how often its task has to be cancelled.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Success(&'static str),
    /// Code and a piece of the message.
    Error(&'static str, &'static str),
}

struct Case {
    what: &'static str,
    script: Script,
    end: End,
    cancels: usize,
}

fn case(what: &'static str, steps: impl Into<Vec<Step>>, end: End, cancels: usize) -> Case {
    Case { what, script: Script::new().on(SEND, steps), end, cancels }
}

fn shown(run: &Recording) -> String {
    run.text("TEXT_MESSAGE_CONTENT")
}

fn check_end(what: &str, run: &Recording, end: &End) {
    match end {
        End::Success(text) => {
            assert_eq!(outcome(run), "success", "{what}");
            assert_eq!(shown(run), *text, "{what}");
        }
        End::Error(code, words) => {
            assert_eq!(error_code(run), *code, "{what}");
            let message = last(run)["message"].as_str().unwrap();
            assert!(message.contains(words), "{what}: {message}");
        }
    }
}

/// Plays each case on a thread of its own; afterwards a good kernel can go on with every thread.
async fn check(flags: &[&str], cases: Vec<Case>) {
    let rig = Rig::start_with(Script::new(), flags).await;
    for (at, case) in cases.iter().enumerate() {
        let before = rig.count(CANCEL);
        rig.play(case.script.clone());
        let run = rig.say(&format!("t{at}"), "r1").await;
        check_end(case.what, &run, &case.end);
        assert_eq!(rig.count(CANCEL) - before, case.cancels, "{}: cancels", case.what);
        rig.kernel.connections().wait_open(0).await.unwrap();
    }
    let cancels = rig.count(CANCEL);
    rig.play(Script::new().always(SEND, Step::good_turn("fine")));
    for (at, case) in cases.iter().enumerate() {
        let run = rig.say(&format!("t{at}"), "r2").await;
        assert_eq!(outcome(&run), "success", "after {}", case.what);
    }
    assert_eq!(rig.count(CANCEL), cancels, "nothing is left to cancel");
}

fn unavailable(words: &'static str) -> End {
    End::Error("A2A_UNAVAILABLE", words)
}

#[tokio::test]
async fn c36_a_streaming_call_that_is_not_answered_by_a_stream() {
    let backup = json!({"code": "SESSION_BACKUP_NOT_READY", "retryable": true});
    let rpc_backup = Step::Error { code: -32602, message: "x".into(), data: backup.clone() };
    let limited = Step::json(429, &json!({})).with_header("retry-after", "7");
    let elsewhere = Step::complete(302, "text/html", "").with_header("location", "http://192.0.2.1/");
    check(
        &[],
        vec![
            case("no such task", [Step::error(-32001, "no task")], End::Error("A2A_EXECUTION_FAILED", "refused"), 0),
            case("bad parameters", [Step::error(-32602, "x")], End::Error("A2A_EXECUTION_FAILED", "refused"), 0),
            case("a backup", [rpc_backup], End::Error("SESSION_BACKUP_NOT_READY", "3 seconds"), 0),
            case("a backup by status", [Step::json(409, &json!({"error": backup}))], End::Error("SESSION_BACKUP_NOT_READY", ""), 0),
            case("401", [Step::json(401, &json!({"error": "Unauthorized"}))], unavailable("unavailable"), 0),
            case("403", [Step::json(403, &json!({}))], unavailable("unavailable"), 0),
            case("429", [limited], End::Error("RATE_LIMIT_EXCEEDED", "7 seconds"), 0),
            case("429 without a hint", [Step::json(429, &json!({}))], End::Error("RATE_LIMIT_EXCEEDED", ""), 0),
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
            case("a message in a stream", [Step::sse(), Step::Result(message("Hello."))], End::Success("Hello."), 0),
            case("a message as the reply", [Step::Reply(message("Hello."))], End::Success("Hello."), 0),
            case("a task as the reply", [Step::Reply(json!({"task": done}))], End::Success("Done."), 0),
            case("the stream stays open", [Step::sse(), Step::Result(message("Hi.")), Step::Stall], End::Success("Hi."), 0),
        ],
    )
    .await;
}

fn with_eol(eol: Eol) -> Vec<Step> {
    let mut steps = Step::good_turn("fine");
    steps.insert(0, Step::Eol(eol));
    steps
}

/// The last update of a good turn as one piece of the body.
fn turn_end_data(text: &str) -> Vec<String> {
    let end = wire::timed_status(&ids(), State::InputRequired, iac(&ids(), json!({})));
    let results = [wire::text_delta(&ids(), text), end];
    results.iter().map(|result| wire::reply(&json!("1"), result)).collect()
}

#[tokio::test]
async fn c42_the_frames_of_a_stream_in_every_form_that_is_allowed() {
    let data = turn_end_data("fine");
    let body = |text: String| Step::Body(text.into());
    let pretty: Value = serde_json::from_str(&data[0]).unwrap();
    let lines = serde_json::to_string_pretty(&pretty).unwrap();
    let odd = Step::turn([
        Step::Body("\u{feff}: a comment\n\nid: 7\nretry: 10\nunknown: x\n\n".into()),
        Step::Ping,
        Step::Eol(Eol::Lf),
        Step::Datum(lines),
        body(format!("data:{}\r", data[1])),
        Step::Body("\n".into()),
        Step::Body("\r\n".into()),
    ]);
    let no_blank_line = Step::turn([Step::text("fine"), body(format!("data: {}\n", data[1]))]);
    let no_line_end = Step::turn([Step::text("fine"), body(format!("data: {}", data[1]))]);
    let mut separators = Step::turn([Step::text("a\u{2028}b\u{2029}c\u{85}d")]);
    separators.extend(Step::turn_end("a\u{2028}b\u{2029}c\u{85}d"));
    let until_close = [vec![Step::sse_framed(Framing::UntilClose)], Step::good_turn("fine")[1..].to_vec()].concat();
    let cut = Script::new().on(SEND, no_line_end).on(GET, [Step::error(-32601, "x")]);
    check(
        &[],
        vec![
            case("CRLF", with_eol(Eol::Crlf), End::Success("fine"), 0),
            case("LF", with_eol(Eol::Lf), End::Success("fine"), 0),
            case("CR", with_eol(Eol::Cr), End::Success("fine"), 0),
            case("comments, fields, several lines, a split CRLF", odd, End::Success("fine"), 0),
            case("a last line without a blank one", no_blank_line, End::Success("fine"), 0),
            case("line separators in text (weakness 22)", separators, End::Success("a\u{2028}b\u{2029}c\u{85}d"), 0),
            case("no framing", until_close, End::Success("fine"), 0),
            Case { what: "half a line", script: cut, end: unavailable(""), cancels: 1 },
        ],
    )
    .await;
}

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
        script: Script::new().on(SEND, steps).on(GET, [found(State::Working, json!({}))]).on(SUBSCRIBE, rest()),
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
            case("completed, then failed", turn(&[end(State::Completed), end(State::Failed)]), End::Success("Hi"), 0),
            case("completed twice", turn(&[end(State::Completed), end(State::Completed)]), End::Success("Hi"), 0),
            case("completed, then text", turn(&[end(State::Completed), Step::text("more")]), End::Success("Hi"), 0),
            case("completed, then a reset", turn(&[end(State::Completed), Step::Rst]), End::Success("Hi"), 0),
            case("completed, and the stream stays open", turn(&[end(State::Completed), Step::Stall]), End::Success("Hi"), 0),
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
            case("and the stream stays open", Step::turn([Step::text("Hi"), error(), Step::Stall]), failed(), 1),
            case("as a plain datum", Step::turn([Step::Datum(r#"{"jsonrpc":"2.0","id":"9","error":{"code":-32603,"message":"x"}}"#.into())]), failed(), 1),
        ],
    )
    .await;
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
    let unknown = |state: &str| {
        let mut update = status(&ids(), State::Working, iac(&ids(), json!({})));
        update["statusUpdate"]["status"]["state"] = json!(state);
        Step::Result(update)
    };
    let paused = Script::new()
        .on(SEND, Step::turn([Step::text("Hi"), unknown("paused")]))
        .always(GET, [Step::Reply(json!({"id": ids().task_id, "status": {"state": "paused"}}))])
        .always(SUBSCRIBE, [Step::error(-32004, "x")]);
    check(
        &[],
        vec![
            case("0.3 completed", [Step::sse(), old_task(), old("completed", true)], End::Success("Hi"), 0),
            case("0.3 input-required, not final", [Step::sse(), old_task(), old("input-required", false)], End::Success("Hi"), 0),
            case("cancelled with two l", Step::turn([unknown("cancelled")]), End::Error("CANCELLED", ""), 0),
            case("an unknown state, then an end", Step::turn([unknown("paused"), Step::text("Hi"), update(State::Completed, json!({}))]), End::Success("Hi"), 0),
            Case { what: "an unknown state and nothing more", script: paused, end: unavailable(""), cancels: 1 },
            case("unknown results", Step::turn([Step::Result(json!({"news": 1})), Step::Result(json!(7)), Step::Datum("not json".into()), Step::text("Hi"), update(State::Completed, json!({}))]), End::Success("Hi"), 0),
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
async fn c44_c68_half_surrogates_and_numbers_that_are_none_do_not_end_a_run() {
    let datum = |text: &str, more: &str| {
        let metadata = format!(r#"{{"iac_code":{{"iacCodeSessionId":"faulty-session"{more}}}}}"#);
        let message = format!(r#"{{"messageId":"m","role":"ROLE_AGENT","parts":[{{"text":"{text}"}}]}}"#);
        Step::Datum(format!(
            r#"{{"result":{{"statusUpdate":{{"taskId":"@task@","contextId":"@context@","status":{{"state":"TASK_STATE_WORKING","message":{message}}},"metadata":{metadata}}}}},"id":"1","jsonrpc":"2.0"}}"#
        ))
    };
    let done = || update(State::Completed, json!({}));
    let usage = json!({"usage": {"inputTokens": -1, "outputTokens": 1e30, "totalTokens": "many"}});
    check(
        &[],
        vec![
            case("half a surrogate", Step::turn([datum(r"plan \ud83d done", ""), done()]), End::Success("plan \u{fffd} done"), 0),
            case("NaN", Step::turn([datum("Hi", r#","usage":{"cpu":NaN,"inputTokens":Infinity}"#), done()]), End::Success("Hi"), 0),
            case("deep nesting", Step::turn([datum("Hi", &format!(r#","x":{}{}"#, "[".repeat(2000), "]".repeat(2000))), Step::text("Ho"), done()]), End::Success("HiHo"), 0),
            case("counts that are none (weakness 28)", Step::turn([Step::text("Hi"), update(State::Working, usage), done()]), End::Success("Hi"), 0),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_nonsense_order_of_updates_comes_out_as_a_valid_stream() {
    let tool = |value: Value| Step::Result(tool(&ids(), &value));
    let steps = Step::turn([
        tool(json!({"status": "completed", "toolUseId": "c1", "name": "x", "result": null})),
        tool(json!({"status": "input_delta", "toolUseId": "c2"})),
        tool(json!({"status": "started", "name": "x"})),
        Step::Result(wire::thinking(&ids(), "hm")),
        tool(json!({"status": "input_complete", "toolUseId": "c1", "toolInput": {"a": 1}})),
        Step::text("Hi"),
        tool(json!({"status": "started", "toolUseId": "c1", "name": "x"})),
        tool(json!({"status": "failed", "result": {"deep": [1]}})),
        update(State::Submitted, json!({})),
        Step::Result(wire::task(&ids(), State::Working, None)),
        Step::text(""),
        Step::Result(wire::final_text(&ids(), "Hi")),
        update(State::Completed, json!({})),
    ]);
    check(&[], vec![case("nonsense", steps, End::Success("Hi"), 0)]).await;
}

#[tokio::test]
async fn weakness_29_a_task_that_stopped_for_a_reason_is_no_success() {
    let stop = |more: Value| Step::turn([Step::text("Hi"), update(State::InputRequired, more)]);
    check(
        &[],
        vec![
            case("a passing failure", stop(json!({"error": {"retryable": true, "errorId": "e"}})), End::Error("A2A_EXECUTION_FAILED", "temporary"), 1),
            case("a backup", stop(json!({"backupBlocked": {"reason": "terminal", "recoverable": true, "error": "x"}})), End::Error("SESSION_BACKUP_NOT_READY", "backup"), 1),
            case("a suspended wait", stop(json!({"permissionWait": {"status": "suspended", "resumable": true}})), End::Error("A2A_EXECUTION_FAILED", "suspended"), 1),
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
        update["statusUpdate"]["status"]["message"] = agent_message(&ids(), "q", "Open https://192.0.2.1/login");
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

#[tokio::test]
async fn a_kernel_that_falls_silent_is_noticed() {
    let rig = Rig::start_with(Script::new(), &["--a2a-idle-timeout", "0.2", "--a2a-first-byte-timeout", "0.3", "--a2a-call-timeout", "0.3"]).await;
    let silent = Script::new()
        .on(SEND, Step::turn([Step::text("Hi"), Step::Stall]))
        .always(GET, [found(State::Working, json!({}))])
        .always(SUBSCRIBE, [Step::sse(), followed(State::Working, json!({})), Step::Stall]);
    let unreachable = Script::new().on(SEND, Step::turn([Step::Stall])).always(GET, [Step::Stall]);
    let no_head = Script::new().on(SEND, [Step::Stall]);
    for (what, script, cancels) in [("the stream", silent, 1), ("everything", unreachable, 1), ("no head", no_head, 0)] {
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
    rig.play(Script::new().on(SEND, Step::turn([Step::huge(1_500_000), update(State::Completed, json!({}))])));
    let run = rig.say("t", "r1").await;
    assert_eq!(outcome(&run), "success");
    assert_eq!(shown(&run).len(), 1_500_000);
    assert!(run.events.iter().all(|event| event.raw.len() < 64 * 1024));

    let script = Script::new().on(SEND, Step::turn([Step::huge(2_500_000)])).on(GET, [Step::error(-32603, "x")]);
    rig.play(script);
    let run = rig.say("t", "r2").await;
    check_end("too large", &run, &unavailable("understood"));
    assert_eq!(rig.count(CANCEL), 1);
}
