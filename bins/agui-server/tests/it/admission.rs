//! Which requests may run, and in which order they are looked at (S9, S2.12).

use std::collections::BTreeSet;

use agui_testkit::client::TestResponse;
use agui_testkit::client::input::{RunInput, decision};
use http::Method;
use serde_json::{Value, json};

use crate::stack::{Stack, demo, execution_id, interrupt_id, outcome, refusal};

/// Status and code of a refusal.
async fn code(stack: &Stack, input: &RunInput) -> (u16, String) {
    let (status, code, _) = stack.refused(input).await;
    (status, code)
}

fn refused(code: &str) -> (u16, String) {
    (409, code.to_owned())
}

async fn post_text(stack: &Stack, body: &str) -> TestResponse {
    stack.client.send(Method::POST, "/", Some(body.to_owned().into())).await.unwrap()
}

#[tokio::test]
async fn s9_2_a_thread_that_is_not_known_takes_a_message_and_nothing_else() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let resume = stack.input("t", "r1").with_answer(decision("p", "deny"));
    let guidance = stack
        .input("t", "r1")
        .with_user("x")
        .with_pipeline("selling")
        .with_iac_code("activeGuidance", json!(true));

    assert_eq!(code(&stack, &resume).await, refused("EXECUTION_LOST"));
    assert_eq!(code(&stack, &guidance).await, refused("EXECUTION_LOST"));
    assert!(!stack.has_state("t"));
    assert_eq!(kernel.requests().kinds(), [""; 0]);
    assert_eq!(outcome(&stack.say("t", "r1", "chat").await), "success", "no run id was used up");
}

#[tokio::test]
async fn s9_2_while_a_run_is_active_its_id_counts_first_then_that_it_is_busy() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let first = stack.input("t", "r1").with_user("hold");
    let mut running = stack.post(&first).await.events();
    running.read_until(|event| event.kind() == "TEXT_MESSAGE_CONTENT").await.unwrap();
    let sent = kernel.requests().all().len();

    let elsewhere = format!("{}/other", stack.workspace());
    let cases = [
        (first.clone(), "DUPLICATE_RUN_ID"),
        (stack.input("t", "r1").with_user("hold!"), "RUN_ID_CONFLICT"),
        (stack.input("t", "r2").with_user("hold"), "THREAD_BUSY"),
        (stack.input("t", "r2").with_answer(decision("p", "deny")), "THREAD_BUSY"),
        (stack.input("t", "r2").with_user("x").with_iac_code("cwd", json!(elsewhere)), "THREAD_BUSY"),
        (stack.input("t", "r2").with_user("x").with_iac_code("userId", json!("bob")), "THREAD_BUSY"),
    ];
    for (input, expected) in cases {
        assert_eq!(code(&stack, &input).await, refused(expected), "{}", input.to_json());
    }
    assert!(!stack.state_dir().join("ws/other").exists(), "weakness 61");
    assert_eq!(kernel.requests().all().len(), sent);

    kernel.release_holds();
    while running.next().await.is_some() {}
    assert_eq!(running.so_far().find("RUN_FINISHED").unwrap()["runId"], "r1");
}

#[tokio::test]
async fn s3_2_a_thread_stays_with_its_workspace_and_its_requester() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let of_alice =
        |run: &str| stack.input("t", run).with_user("chat").with_iac_code("userId", json!("alice"));
    assert_eq!(outcome(&stack.run(&of_alice("r1")).await), "success");

    let other = format!("{}/other", stack.workspace());
    let cases = [
        stack.input("t", "r2").with_user("chat"),
        of_alice("r2").with_iac_code("userId", json!("bob")),
        of_alice("r2").with_iac_code("cwd", json!(other)),
    ];
    for input in cases {
        assert_eq!(code(&stack, &input).await, refused("THREAD_BINDING_CONFLICT"), "{}", input.to_json());
    }
    // The same directory by another name is the same workspace.
    std::os::unix::fs::symlink(stack.workspace(), stack.state_dir().join("ws/link")).unwrap();
    let linked = of_alice("r2").with_iac_code("cwd", json!(format!("{}/link/", stack.workspace())));
    assert_eq!(outcome(&stack.run(&linked).await), "success");
}

#[tokio::test]
async fn s9_2_while_questions_are_open_the_binding_counts_first_then_the_invocation_then_the_questions() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let id = interrupt_id(&stack.say("t", "r1", "write").await);
    let sent = kernel.requests().all().len();
    let answer = || stack.input("t", "r2").with_answer(decision(&id, "allow_once"));
    let guidance = stack
        .input("t", "r2")
        .with_user("x")
        .with_pipeline("selling")
        .with_iac_code("activeGuidance", json!(true));

    let cases = [
        (answer().with("runId", json!("r1")), "RUN_ID_CONFLICT"),
        (answer().with_iac_code("userId", json!("bob")), "THREAD_BINDING_CONFLICT"),
        (
            stack.input("t", "r2").with_user("x").with_iac_code("userId", json!("bob")),
            "THREAD_BINDING_CONFLICT",
        ),
        (answer().with_iac_code("rosInvocationId", json!("other")), "EXECUTION_LOST"),
        (stack.input("t", "r2").with_user("use another region"), "RESUME_REQUIRED"),
        (stack.input("t", "r2").with_user("x").with("resume", json!([])), "RESUME_REQUIRED"),
        (guidance, "RESUME_REQUIRED"),
    ];
    for (input, expected) in cases {
        assert_eq!(code(&stack, &input).await, refused(expected), "{}", input.to_json());
    }
    assert_eq!(kernel.requests().all().len(), sent, "nothing is sent for a refused request");
    assert_eq!(outcome(&stack.run(&answer()).await), "success", "and the question can be answered still");
}

#[tokio::test]
async fn c24_of_twenty_requests_at_once_one_runs_and_the_others_hear_that_it_does() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let post = |number: usize| {
        let user = if number.is_multiple_of(2) { "alice" } else { "bob" };
        let input = stack.input("t", &format!("r{number}")).with_user("hold");
        let (client, body) = (stack.client.clone(), input.with_iac_code("userId", json!(user)).to_json());
        tokio::spawn(async move { client.post("/", &body).await.unwrap() })
    };
    let posts: Vec<_> = (0..20).map(post).collect();
    let (mut winners, mut codes) = (Vec::new(), Vec::new());
    for response in posts {
        let response = response.await.unwrap();
        match response.is_stream() {
            true => winners.push(response),
            false => codes.push(refusal(response).await),
        }
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(codes.len(), 19);
    assert!(
        codes.iter().all(|(status, code, _)| (*status, code.as_str()) == (409, "THREAD_BUSY")),
        "{codes:?}"
    );
    kernel.release_holds();
    let recording = winners.remove(0).events().collect().await;
    let runs: BTreeSet<_> =
        recording.events.iter().filter_map(|event| event.json["runId"].as_str()).collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!(kernel.requests().count("SendStreamingMessage"), 1);
}

#[tokio::test]
async fn c17_a_run_id_is_used_once_over_restarts_key_orders_and_spellings_of_numbers() {
    let kernel = demo().await;
    let mut stack = Stack::start(&kernel.url()).await;
    let cwd = stack.workspace();
    let body = |state: &str, order: bool| {
        let props = format!(r#"{{"schemaVersion":1,"rosInvocationId":"inv","cwd":{}}}"#, json!(cwd));
        let (a, b) = (
            r#""threadId":"t","runId":"r1""#.to_owned(),
            format!(
                r#""state":{state},"messages":[{{"id":"m","role":"user","content":"chat"}}],"tools":[],"context":[],"forwardedProps":{{"iacCode":{props}}}"#
            ),
        );
        if order { format!("{{{a},{b}}}") } else { format!("{{{b} , {a}}}") }
    };
    let run = post_text(&stack, &body(r#"{"n":1,"s":"é"}"#, true)).await;
    assert!(run.is_stream());
    run.events().collect().await;

    for restarted in [false, true] {
        if restarted {
            stack.kill();
            stack.launch().await;
        }
        let cases = [
            (body(r#"{"n":1,"s":"é"}"#, true), "DUPLICATE_RUN_ID"),
            (body(r#"{"s":"\u00e9","n":1}"#, false), "DUPLICATE_RUN_ID"),
            (body(r#"{"n":1.0,"s":"é"}"#, true), "DUPLICATE_RUN_ID"),
            (body(r#"{"n":2,"s":"é"}"#, true), "RUN_ID_CONFLICT"),
            (body(r#"{"n":1,"s":"e"}"#, true), "RUN_ID_CONFLICT"),
        ];
        for (text, expected) in cases {
            let (status, code, _) = refusal(post_text(&stack, &text).await).await;
            assert_eq!((status, code.as_str()), (409, expected), "restarted: {restarted}, {text}");
        }
    }
    // Run ids belong to their thread.
    assert_eq!(outcome(&stack.say("other", "r1", "chat").await), "success");
    for number in 2..12 {
        stack.say("t2", &format!("r{number}"), "chat").await;
    }
    let old = stack.input("t2", "r2").with_user("chat");
    assert_eq!(code(&stack, &old).await, refused("DUPLICATE_RUN_ID"), "long after it left the small file");
    assert_eq!(kernel.requests().count("SendStreamingMessage"), 12);
}

/// What is wrong with an input, and what the message has to say.
type BadInput = (RunInput, &'static str, &'static str);

fn bad_inputs(stack: &Stack) -> Vec<BadInput> {
    let good = || stack.input("t", "r1").with_user("chat");
    let part = |part: Value| stack.input("t", "r1").with_message(json!({"role": "user", "content": [part]}));
    let image = |mime: &str, data: &str| {
        part(json!({"type": "image", "source": {"type": "data", "value": data, "mimeType": mime}}))
    };
    let secret = "s3cr3t-value";
    let in_ws = |tail: &str| json!(format!("{}/{tail}", stack.workspace()));
    let tool = json!([{"name": secret, "description": "", "parameters": {}}]);
    vec![
        (good().with("threadId", json!("")), "INVALID_INPUT", "/threadId"),
        (good().with("threadId", json!(7)), "INVALID_INPUT", "/threadId"),
        (good().with("runId", json!(" \t")), "INVALID_INPUT", "/runId"),
        (good().with("runId", json!("x".repeat(1025))), "INVALID_INPUT", "/runId"),
        (good().with("messages", json!({})), "INVALID_INPUT", "/messages"),
        (good().with("tools", tool), "INVALID_INPUT", "/tools"),
        (good().with("forwardedProps", json!(null)), "INVALID_INPUT", "/forwardedProps"),
        (good().with("forwardedProps", json!({"x": secret})), "INVALID_INPUT", "/forwardedProps/iacCode"),
        (
            good().with_iac_code("schemaVersion", json!(2)),
            "INVALID_INPUT",
            "/forwardedProps/iacCode/schemaVersion",
        ),
        (good().with_iac_code("schemaVersion", json!(true)), "INVALID_INPUT", "/schemaVersion"),
        (good().with_iac_code("unknown", json!(secret)), "INVALID_INPUT", "/forwardedProps/iacCode/unknown"),
        (good().with_iac_code("llm_api_key", json!(secret)), "INVALID_INPUT", "/iacCode/llm_api_key"),
        (good().with_iac_code("rosInvocationId", json!("")), "INVALID_INPUT", "/rosInvocationId"),
        (good().with_iac_code("thinking", json!({"budget": 0})), "INVALID_INPUT", "/thinking/budget"),
        (good().with_iac_code("runMode", json!(secret)), "INVALID_INPUT", "/runMode"),
        (good().with_iac_code("activeGuidance", json!(true)), "INVALID_INPUT", "/activeGuidance"),
        (good().with_iac_code("cwd", json!("ws")), "INVALID_INPUT", "/cwd"),
        (good().with_iac_code("cwd", json!("~")), "INVALID_INPUT", "absolute"),
        (good().with_iac_code("cwd", json!("/etc")), "INVALID_INPUT", "outside"),
        (good().with_iac_code("cwd", in_ws("../x")), "INVALID_INPUT", "outside"),
        (good().with_iac_code("cwd", in_ws("root/etc")), "INVALID_INPUT", "outside"),
        (good().with_iac_code("cwd", in_ws("file")), "INVALID_INPUT", "not a directory"),
        (stack.input("t", "r1"), "INVALID_INPUT", "/messages"),
        (stack.input("t", "r1").with_user("  "), "INVALID_INPUT", "/messages/0/content"),
        (
            part(
                json!({"type": "audio", "source": {"type": "data", "value": "AA==", "mimeType": "audio/wav"}}),
            ),
            "INVALID_INPUT",
            "/messages/0/content/0",
        ),
        (
            part(
                json!({"type": "image", "source": {"type": "url", "value": "https://192.0.2.1/s3cr3t-value"}}),
            ),
            "INVALID_INPUT",
            "/messages/0/content/0/source",
        ),
        (image("image/svg+xml", "AAAA"), "INVALID_INPUT", "/messages/0/content/0"),
        (image("image/png", "s3cr3t-value!"), "INVALID_INPUT", "base64"),
        (image("image/png", "AAAA"), "INVALID_INPUT", "/messages/0/content/0/source/value"),
        (
            good().with("resume", json!([{"interruptId": "p", "status": "maybe"}])),
            "INVALID_INPUT",
            "/resume/0/status",
        ),
    ]
}

#[tokio::test]
async fn s2_12_bad_input_names_its_field_burns_no_run_id_and_reaches_nobody() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    std::fs::write(stack.state_dir().join("ws/file"), "").unwrap();
    std::os::unix::fs::symlink("/", stack.state_dir().join("ws/root")).unwrap();
    for (input, expected, words) in bad_inputs(&stack) {
        let (status, code, message) = stack.refused(&input).await;
        let what = input.to_json();
        assert_eq!((status, code.as_str()), (400, expected), "{what}: {message}");
        assert!(message.contains(words), "{what}: {message}");
        assert!(!message.contains("s3cr3t"), "{message}");
    }
    assert!(!stack.has_state("t"));
    assert_eq!(kernel.requests().kinds(), [""; 0]);

    assert_eq!(outcome(&stack.say("t", "r1", "chat").await), "success", "the run id is still free");
    let (before, sent) = (stack.state_file("t"), kernel.requests().all().len());
    for (input, _, words) in bad_inputs(&stack) {
        if words != "/runId" {
            assert_eq!(stack.post(&input.with("runId", json!("r2"))).await.status, 400, "{words}");
        }
    }
    assert_eq!(stack.state_file("t"), before, "a stored thread is not touched");
    assert_eq!(kernel.requests().all().len(), sent);
}

#[tokio::test]
async fn s2_12_bodies_that_are_no_run_input_are_refused_before_anything_else() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let deep = format!(r#"{{"threadId":{}{}}}"#, "[".repeat(20_000), "]".repeat(20_000));
    let twice = stack.input("t", "r1").with_user("chat").to_json().to_string();
    let twice = twice.replacen('{', r#"{"threadId":"other","#, 1);
    let cases = [
        ("", "INVALID_JSON"),
        ("{", "INVALID_JSON"),
        ("[]", "INVALID_INPUT"),
        (r#"{"cpu":NaN}"#, "INVALID_JSON"),
        (&deep, "INVALID_JSON"),
        (&twice, "INVALID_INPUT"),
    ];
    for (body, expected) in cases {
        let (status, code, _) = refusal(post_text(&stack, body).await).await;
        assert_eq!((status, code.as_str()), (400, expected), "{}", &body[..body.len().min(60)]);
    }
    assert_eq!(kernel.requests().kinds(), [""; 0]);
}

#[tokio::test]
async fn c76_whatever_a_thread_is_called_it_has_a_state_of_its_own() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let long = "a".repeat(300);
    let names = [
        "feishu:oc_1",
        "../x",
        "..",
        ".",
        "CON",
        "con.txt",
        "a/b",
        "a\\b",
        "\u{c4}",
        "A\u{308}",
        "T1",
        "t1",
        "x.",
        "x ",
        "emoji-\u{1f680}",
        "nul\u{0}byte",
        &long,
        "%2e%2e",
        "aguiid~41",
    ];
    let mut executions = BTreeSet::new();
    let input = |name: &str| stack.input(name, "r1").with_iac_code("rosInvocationId", json!("inv"));
    for name in names {
        let run = stack.run(&input(name).with_user("chat")).await;
        assert_eq!(outcome(&run), "success", "{name:?}");
        assert_eq!(run.find("RUN_STARTED").unwrap()["threadId"], name);
        executions.insert(execution_id(&run));
    }
    assert_eq!(executions.len(), names.len());
    for name in names {
        let (_, code, _) = stack.refused(&input(name).with_user("other")).await;
        assert_eq!(code, "RUN_ID_CONFLICT", "{name:?} is known by its own name");
    }
    let documents = stack.state_files();
    let threads = documents.keys().filter(|name| name.ends_with(".json"));
    assert_eq!(threads.clone().count(), names.len());
    assert!(threads.clone().all(|name| name.starts_with("threads/") && name.matches('/').count() == 1));
}

#[tokio::test]
async fn s3_3_the_workspace_is_made_by_a_run_that_is_admitted_and_no_variable_is_expanded() {
    let kernel = demo().await;
    let stack = Stack::start_with(&kernel.url(), &[], &[("SECRET", "s3cr3t")]).await;
    let cwd = format!("{}/$SECRET/~/new", stack.workspace());
    let input = |run: &str| stack.input("t", run).with_user("chat").with_iac_code("cwd", json!(cwd));
    stack
        .refused(&input("r1").with("tools", json!([{"name": "x", "description": "", "parameters": {}}])))
        .await;
    assert!(!std::path::Path::new(&cwd).exists(), "weakness 61");

    assert_eq!(outcome(&stack.run(&input("r1")).await), "success");
    assert!(std::path::Path::new(&cwd).is_dir(), "weakness 58");
    let sent = kernel.requests().of("SendStreamingMessage");
    assert_eq!(sent[0].message()["metadata"]["iac_code"]["cwd"], json!(cwd));
}
