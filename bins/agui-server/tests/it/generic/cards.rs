//! How the agent is found, and what its card decides.

use std::process::{Command, Stdio};

use agui_testkit::faulty::{Script, Step};
use serde_json::{Value, json};

use super::{CARD, OLD_CARD, Plain, at, card, done, input, stream, task, texts};
use crate::stack::{Stack, error_code, faulty, outcome, refusal};

/// What the server says when it does not start.
async fn refused_start(script: Script, flags: &[&str]) -> String {
    let agent = faulty(script).await;
    let dir = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new(env!("CARGO_BIN_EXE_agui-server"));
    command
        .args(["--port", &port.to_string(), "--profile", "generic", "--a2a-url", &agent.url()])
        .args(flags)
        .env_clear()
        .env("HOME", dir.path())
        .stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn a_card_of_0_3_is_found_where_0_3_has_it_and_chooses_its_methods() {
    let agent = faulty(Script::new()).await;
    let old =
        json!({"name": "plain", "url": "", "protocolVersion": "0.3.0", "capabilities": {"streaming": true}});
    let update = |state: &str, text: &str| {
        json!({"kind": "status-update", "taskId": "T1", "contextId": "C1", "final": true, "status": {"state": state,
            "message": {"kind": "message", "messageId": "m1", "role": "agent", "parts": [{"kind": "text", "text": text}]}}})
    };
    let script = Script::new()
        .always(CARD, [Step::json(404, &json!({"detail": "Not Found"}))])
        .always(OLD_CARD, [Step::json(200, &at(&old, &agent.url()))])
        .on("message/stream", stream([update("completed", "Done.")]));
    agent.set_script(script);
    let stack = Stack::start_with(&agent.url(), &["--profile", "generic"], &[]).await;
    let run = stack.run(&input("t", "r").with_user("go")).await;
    assert_eq!((outcome(&run), texts(&run)), ("success", vec!["Done.".to_owned()]));
    let sent = &agent.requests().of("message/stream")[0];
    assert_eq!(sent.header("a2a-version"), Some("0.3"));
    assert_eq!(
        sent.message(),
        &json!({"kind": "message", "role": "user", "messageId": "m-r-1", "parts": [{"kind": "text", "text": "go"}]})
    );
}

#[tokio::test]
async fn the_first_interface_that_can_be_talked_to_is_chosen_with_its_tenant() {
    let mut many = card("1.0", true);
    many["supportedInterfaces"] = json!([
        {"url": "", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "blue"},
        {"url": "http://127.0.0.1:1/", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
    ]);
    let interfaces = many["supportedInterfaces"].as_array_mut().unwrap();
    let grpc = json!({"url": "http://127.0.0.1:1/", "protocolBinding": "GRPC", "protocolVersion": "1.0"});
    interfaces.push(grpc);
    let plain = Plain::with_card(&many, Script::new().on("SendStreamingMessage", done()), &[]).await;
    assert_eq!(outcome(&plain.say("t", "r").await), "success");
    let sent = plain.agent.requests().of("SendStreamingMessage");
    assert_eq!(sent[0].json["params"]["tenant"], "blue");
}

#[tokio::test]
async fn an_agent_that_cannot_be_talked_to_ends_the_start_with_a_clear_word() {
    let with = |bindings: &[&str]| {
        let interfaces: Vec<Value> = bindings
            .iter()
            .map(|it| json!({"url": "http://127.0.0.1:1/", "protocolBinding": it, "protocolVersion": "1.0"}))
            .collect();
        Script::new().always(CARD, [Step::json(200, &json!({"supportedInterfaces": interfaces}))])
    };
    let elsewhere = json!({"supportedInterfaces": [
        {"url": "http://127.0.0.1:1/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]});
    let elsewhere = Script::new().always(CARD, [Step::json(200, &elsewhere)]);
    let nothing = Script::new().always("*", [Step::json(404, &json!({}))]);
    let locked = Script::new().always("*", [Step::json(401, &json!({"error": "Unauthorized"}))]);
    let cases: [(Script, &[&str], &str); 7] = [
        (with(&["GRPC"]), &[], "the agent card offers gRPC only"),
        (with(&["HTTP+JSON", "GRPC"]), &[], "the agent card offers HTTP+JSON and gRPC only"),
        (with(&[]), &[], "the agent card offers no known interface"),
        (elsewhere.clone(), &["--a2a-token", "t0ken"], "another host, where the token is not sent"),
        (elsewhere, &["--allow-remote-a2a"], "to another host or port than the one that was given"),
        (nothing, &[], "no agent card was found"),
        (locked, &[], "not authorized (HTTP 401)"),
    ];
    for (script, flags, expected) in cases {
        let said = refused_start(script, flags).await;
        assert!(
            said.contains("--a2a-url: the A2A agent cannot be used: ") && said.contains(expected),
            "{said}"
        );
        assert!(!said.contains("t0ken"), "{said}");
    }
}

#[tokio::test]
async fn the_token_goes_to_the_card_and_to_every_call() {
    let script = Script::new().on("SendStreamingMessage", done());
    let plain = Plain::with_card(&card("1.0", true), script, &["--a2a-token", "t0ken"]).await;
    assert_eq!(outcome(&plain.say("t", "r").await), "success");
    let all = plain.agent.requests().all();
    assert_eq!(all.len(), 2);
    assert!(all.iter().all(|request| request.header("authorization") == Some("Bearer t0ken")));
    assert!(!plain.stack.log().contains("t0ken"));
}

#[tokio::test]
async fn an_agent_that_comes_later_is_waited_for() {
    let agent = faulty(Script::new().always(CARD, [Step::json(503, &json!({}))])).await;
    let stack = Stack::start_with(&agent.url(), &["--profile", "generic"], &[]).await;
    let early = stack.run(&input("t", "r1").with_user("go")).await;
    assert_eq!(error_code(&early), "A2A_UNAVAILABLE");
    agent.set_script(
        Script::new()
            .always(CARD, [Step::json(200, &at(&card("1.0", true), &agent.url()))])
            .on("SendStreamingMessage", done()),
    );
    stack.wait_for_log(&["the A2A agent is found"]).await;
    assert_eq!(outcome(&stack.run(&input("t", "r2").with_user("go")).await), "success");
}

#[tokio::test]
async fn an_agent_that_cannot_stream_is_asked_until_it_is_done() {
    let mut half = task("WORKING");
    half["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "one "}]}]);
    let mut whole = task("COMPLETED");
    whole["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "one "}, {"text": "two"}]}]);
    let script = Script::new()
        .on("SendMessage", [Step::Reply(json!({"task": task("SUBMITTED")}))])
        .times(2, "GetTask", [Step::Reply(half)])
        .on("GetTask", [Step::Reply(whole)]);
    let plain = Plain::with_card(&card("1.0", false), script, &[]).await;
    let run = plain.say("t", "r").await;
    assert_eq!((outcome(&run), texts(&run)), ("success", vec!["one two".to_owned()]));
    let sent = &plain.agent.requests().of("SendMessage")[0].json["params"]["configuration"];
    assert_eq!(sent, &json!({"returnImmediately": true}), "the task is wanted at once");
    assert_eq!(plain.agent.requests().count("GetTask"), 3);
}

#[tokio::test]
async fn requests_of_the_other_profile_are_not_asked_for_and_iac_code_requests_still_are() {
    let plain = Plain::start(Script::new().on("SendStreamingMessage", done())).await;
    let iac = plain.stack.input("t", "r1").with_user("go");
    assert_eq!(outcome(&plain.stack.run(&iac).await), "success", "any properties are fine");
    let metadata = &plain.messages()[0]["metadata"];
    assert!(metadata.is_null(), "they are not for the agent: {metadata}");
    let agent = faulty(Script::new()).await;
    let stack = Stack::start(&agent.url()).await;
    let (status, code, _) = refusal(stack.post(&input("t", "r1").with_user("go")).await).await;
    assert_eq!((status, code.as_str()), (400, "INVALID_INPUT"));
}

#[tokio::test]
async fn threads_of_the_two_profiles_are_not_each_others() {
    let mut plain = Plain::start(Script::new().on("SendStreamingMessage", done())).await;
    assert_eq!(outcome(&plain.say("t", "r1").await), "success");
    plain.stack.stop().await;
    plain.stack.reconfigure(&[], &[]);
    plain.stack.launch().await;
    let (status, code, _) = plain.stack.refused(&plain.stack.input("t", "r2").with_user("go")).await;
    assert_eq!((status, code.as_str()), (409, "THREAD_BINDING_CONFLICT"));
}
