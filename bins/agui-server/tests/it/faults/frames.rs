//! Streams that are hard to read.

use agui_testkit::faulty::{Eol, Framing, Script, Step, ids};
use agui_testkit::wire::{self, State, iac, tool};
use serde_json::{Value, json};

use super::{Case, End, case, check, unavailable};
use crate::upstream::{GET, SEND, update};

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
    let until_close =
        [vec![Step::sse_framed(Framing::UntilClose)], Step::good_turn("fine")[1..].to_vec()].concat();
    let cut = Script::new().on(SEND, no_line_end).on(GET, [Step::error(-32601, "x")]);
    check(
        &[],
        vec![
            case("CRLF", with_eol(Eol::Crlf), End::Success("fine"), 0),
            case("LF", with_eol(Eol::Lf), End::Success("fine"), 0),
            case("CR", with_eol(Eol::Cr), End::Success("fine"), 0),
            case("comments, fields, several lines, a split CRLF", odd, End::Success("fine"), 0),
            case("a last line without a blank one", no_blank_line, End::Success("fine"), 0),
            case(
                "line separators in text (weakness 22)",
                separators,
                End::Success("a\u{2028}b\u{2029}c\u{85}d"),
                0,
            ),
            case("no framing", until_close, End::Success("fine"), 0),
            Case { what: "half a line", script: cut, end: unavailable(""), cancels: 1 },
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
            case(
                "half a surrogate",
                Step::turn([datum(r"plan \ud83d done", ""), done()]),
                End::Success("plan \u{fffd} done"),
                0,
            ),
            case(
                "NaN",
                Step::turn([datum("Hi", r#","usage":{"cpu":NaN,"inputTokens":Infinity}"#), done()]),
                End::Success("Hi"),
                0,
            ),
            case(
                "deep nesting",
                Step::turn([
                    datum("Hi", &format!(r#","x":{}{}"#, "[".repeat(2000), "]".repeat(2000))),
                    Step::text("Ho"),
                    done(),
                ]),
                End::Success("HiHo"),
                0,
            ),
            case(
                "counts that are none (weakness 28)",
                Step::turn([Step::text("Hi"), update(State::Working, usage), done()]),
                End::Success("Hi"),
                0,
            ),
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
