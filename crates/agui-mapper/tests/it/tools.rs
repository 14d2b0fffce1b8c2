//! Tool calls of the normal turn.

use agui_core::Message;
use agui_mapper::Ending;
use serde_json::json;

use crate::kernel::{delta, tool, working};
use crate::stream::{Run, config};

#[test]
fn w50_a_call_without_arguments_ends_before_its_result() {
    let mut run = Run::first();
    run.feed(&tool("started", "c1", json!({})));
    run.feed(&tool("completed", "c1", json!({"result": "ok"})));
    assert_eq!(run.body(), ["call+ c1 bash", "call- c1", "result r1:result:1 c1 \"ok\""]);
}

#[test]
fn w51_calls_without_ids_are_told_apart() {
    let nameless = |status: &str, name: &str, more: serde_json::Value| {
        let mut item = tool(status, "", more);
        item["statusUpdate"]["metadata"]["iac_code"]["tool"]["name"] = json!(name);
        item
    };
    let mut run = Run::first();
    run.feed(&nameless("started", "bash", json!({})));
    run.feed(&nameless("started", "read", json!({})));
    run.feed(&nameless("started", "bash", json!({})));
    run.feed(&nameless("input_complete", "bash", json!({"toolInput": {"n": 1}})));
    run.feed(&nameless("input_complete", "bash", json!({"toolInput": {"n": 2}})));
    run.feed(&nameless("completed", "read", json!({"result": "r"})));
    run.feed(&nameless("completed", "bash", json!({"result": "b1"})));
    run.feed(&nameless("failed", "bash", json!({"result": "b2"})));
    assert_eq!(
        run.body(),
        [
            "call+ r1:bash:1 bash",
            "call+ r1:read:2 read",
            "call+ r1:bash:3 bash",
            "args  r1:bash:1 {\"n\":1}",
            "call- r1:bash:1",
            "args  r1:bash:3 {\"n\":2}",
            "call- r1:bash:3",
            "call- r1:read:2",
            "result r1:result:4 r1:read:2 \"r\"",
            "result r1:result:5 r1:bash:1 \"b1\"",
            "result r1:result:6 r1:bash:3 \"b2\" {\"iacCode\":{\"status\":\"failed\"}}",
        ]
    );
}

#[test]
fn w57_results_keep_what_the_tool_gave() {
    let cases = [
        ("completed", json!({"result": "text"}), r#""text""#),
        ("completed", json!({"result": null}), r#""""#),
        ("completed", json!({}), r#""""#),
        ("completed", json!({"result": {"n": 1.0, "a": [1, "x y"]}}), r#""{\"a\":[1,\"x y\"],\"n\":1.0}""#),
        ("completed", json!({"result": 7}), r#""7""#),
        ("completed", json!({"result": "{ \"a\" : 1 }"}), r#""{ \"a\" : 1 }""#),
        ("failed", json!({"result": "denied"}), r#""denied" {"iacCode":{"status":"failed"}}"#),
    ];
    for (status, more, content) in cases {
        let mut run = Run::first();
        run.feed(&tool(status, "c1", more));
        assert_eq!(run.body(), [format!("result r1:result:1 c1 {content}")]);
    }
}

#[test]
fn c67_arguments_are_the_kernels_text() {
    let text = r#"{"statusUpdate":{"taskId":"T1","contextId":"C1","status":{"state":"TASK_STATE_WORKING"},"metadata":{"iac_code":{"tool":{
        "status":"input_complete","toolUseId":"c1","name":"bash","toolInput":{ "z" : 1234567890123456789,
        "price":0.1, "v":1.0, "e":1E400, "m":-0, "a":"x  y" }}}}}}"#;
    let mut run = Run::first();
    run.feed_raw(serde_json::from_str(text).unwrap());
    assert_eq!(
        run.body()[1],
        r#"args  c1 {"z":1234567890123456789,"price":0.1,"v":1.0,"e":1E400,"m":-0,"a":"x  y"}"#
    );
}

#[test]
fn hidden_arguments_show_their_shape() {
    let mut run = Run::first();
    run.feed(&tool("input_complete", "c1", json!({"inputSummary": {"tool_name": "bash"}})));
    assert_eq!(run.body(), ["call+ c1 bash", r#"args  c1 {"summary":{"tool_name":"bash"}}"#, "call- c1"]);
}

#[test]
fn c46_interleaved_calls_keep_their_own_arguments_and_results() {
    let mut run = Run::first();
    run.feed(&delta("Two at once."));
    run.feed(&tool("started", "a", json!({})));
    run.feed(&tool("started", "b", json!({})));
    run.feed(&tool("input_delta", "a", json!({"partialJsonLength": 4})));
    run.feed(&tool("input_complete", "b", json!({"toolInput": {"q": "b"}})));
    run.feed(&tool("input_complete", "a", json!({"toolInput": {"q": "a"}})));
    run.feed(&tool("completed", "b", json!({"result": "B"})));
    run.feed(&tool("completed", "a", json!({"result": "A"})));
    run.feed(&tool("completed", "a", json!({"result": "A again"})));
    let body = run.body();
    assert_eq!(
        body[3..],
        [
            "call+ a bash of r1:message:1",
            "call+ b bash of r1:message:1",
            "args  b {\"q\":\"b\"}",
            "call- b",
            "args  a {\"q\":\"a\"}",
            "call- a",
            "result r1:result:2 b \"B\"",
            "result r1:result:3 a \"A\"",
        ]
    );
}

#[test]
fn c46_a_call_id_that_is_used_again_names_another_call() {
    let mut run = Run::first();
    for result in ["first", "second"] {
        run.feed(&tool("started", "call_0", json!({})));
        run.feed(&tool("input_complete", "call_0", json!({"toolInput": {}})));
        run.feed(&tool("completed", "call_0", json!({"result": result})));
    }
    assert_eq!(
        run.body(),
        [
            "call+ call_0 bash",
            "args  call_0 {}",
            "call- call_0",
            "result r1:result:1 call_0 \"first\"",
            "call+ call_0~2 bash",
            "args  call_0~2 {}",
            "call- call_0~2",
            "result r1:result:2 call_0~2 \"second\"",
        ]
    );
}

#[test]
fn c51_a_call_id_of_the_clients_history_is_not_used_again() {
    let history: Vec<Message> = serde_json::from_value(json!([
        {"id": "a1", "role": "assistant", "toolCalls": [
            {"id": "call_0", "type": "function", "function": {"name": "bash", "arguments": "{\"half"}}]},
    ]))
    .unwrap();
    let mut run = Run::new(config("r2").with_history(&history));
    run.feed(&tool("started", "call_0", json!({})));
    run.feed(&tool("completed", "call_0", json!({"result": "x"})));
    assert_eq!(run.body(), ["call+ call_0~2 bash", "call- call_0~2", "result r2:result:1 call_0~2 \"x\""]);
}

#[test]
fn s6_3_progress_is_a_custom_event_and_announces_nothing() {
    let mut run = Run::first();
    run.feed(&tool("progress", "c2", json!({"mcp": {"progress": 3.0, "total": 9.0}})));
    assert_eq!(
        run.body(),
        [
            r#"custom iac-code.tool-progress.v1 {"schemaVersion":1,"mcp":{"progress":3.0,"total":9.0},"name":"bash","status":"progress","toolUseId":"c2"}"#
        ]
    );
}

#[test]
fn c65_a_long_result_is_cut_and_long_arguments_are_split() {
    let mut run = Run::first();
    let long = "y".repeat(150_000);
    run.feed(&tool("input_complete", "c1", json!({"toolInput": {"text": long}})));
    run.feed(&tool("completed", "c1", json!({"result": long})));
    run.finish(Ending::Success);
    let mut args = String::new();
    for event in run.events() {
        assert!(serde_json::to_string(event).unwrap().len() < 64 * 1024);
        if let agui_core::Event::ToolCallArgs(event) = event {
            args.push_str(&event.delta);
        }
    }
    assert_eq!(args, serde_json::to_string(&json!({"text": long})).unwrap());
    assert!(run.lines().iter().any(|line| line.ends_with("[... 90000 bytes left out]\"")));
}

#[test]
fn s5_3_usage_ends_the_run() {
    let mut run = Run::first();
    run.feed(&working(
        json!({"usage": {"provider": "p", "model": "m", "inputTokens": 11.0, "outputTokens": 6.0,
        "totalTokens": 20.0, "cachedInputTokens": 3.0}}),
    ));
    let lines = run.succeed();
    assert_eq!(
        lines[1],
        r#"run- success [{"provider":"p","model":"m","inputTokens":14,"outputTokens":6,"totalTokens":20,"cachedInputTokens":3}]"#
    );
}
