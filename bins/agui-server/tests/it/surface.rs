//! What a caller meets before any run starts: health, tokens, caps, languages (S1).

use agui_i18n::Language;
use agui_iac_code::MessageKey;
use agui_testkit::client::input::cancel_body;
use http::Method;
use serde_json::{Value, json};

use crate::stack::{Stack, demo, refusal};

#[tokio::test]
async fn s1_1_health_names_protocol_and_versions_to_everybody_and_asks_nobody() {
    let kernel = demo().await;
    let stack = Stack::start_with(&kernel.url(), &[], &[("IAC_CODE_AGUI_AUTH_TOKEN", "tok")]).await;
    let response = stack.client.get("/health").await.unwrap();
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    assert_eq!(
        response.json().await.unwrap(),
        json!({
            "status": "ok", "protocol": "ag-ui", "protocolPackageVersion": "1.0",
            "executionKernel": "a2a-1.0", "serverVersion": env!("CARGO_PKG_VERSION"),
        })
    );
    assert_eq!(kernel.requests().kinds(), [""; 0]);
}

#[tokio::test]
async fn s1_5_a_run_and_a_cancel_need_the_token() {
    let kernel = demo().await;
    let stack = Stack::start_with(&kernel.url(), &[], &[("IAC_CODE_AGUI_AUTH_TOKEN", "tok")]).await;
    let cancel = "/extensions/iac-code/v1/executions/e/cancel";
    let run = stack.input("t", "r1").with_user("chat").to_json();
    for client in [stack.client.clone(), stack.client.clone().with_token("tok2")] {
        for (path, body) in [("/", &run), (cancel, &cancel_body("t"))] {
            let response = client.post(path, body).await.unwrap();
            assert_eq!(response.header("www-authenticate"), Some("Bearer"), "{path}");
            let (status, code, _) = refusal(response).await;
            assert_eq!((status, code.as_str()), (401, "UNAUTHORIZED"), "{path}");
        }
    }
    assert!(!stack.has_state("t"));
    assert_eq!(kernel.requests().kinds(), [""; 0]);

    let client = stack.client.clone().with_header("authorization", "bEARER tok");
    assert_eq!(client.post(cancel, &cancel_body("t")).await.unwrap().status, 404);
    assert!(client.post("/", &run).await.unwrap().is_stream());
}

#[tokio::test]
async fn s1_7_a_cancel_body_may_have_64_kib_and_not_a_byte_more() {
    let kernel = demo().await;
    let stack = Stack::start(&kernel.url()).await;
    let path = "/extensions/iac-code/v1/executions/e/cancel";
    let body = cancel_body("t").to_string();
    for (bytes, expected) in
        [(64 * 1024, (404, "EXECUTION_NOT_FOUND")), (64 * 1024 + 1, (413, "REQUEST_TOO_LARGE"))]
    {
        let padded = format!("{body}{}", " ".repeat(bytes - body.len()));
        let response = stack.client.send(Method::POST, path, Some(padded.into())).await.unwrap();
        let (status, code, _) = refusal(response).await;
        assert_eq!((status, code.as_str()), expected, "{bytes}");
    }
}

#[tokio::test]
async fn s1_6_the_preferred_language_wins_over_the_header_and_only_it_reaches_the_kernel() {
    let kernel = demo().await;
    let mut stack = Stack::start(&kernel.url()).await;
    stack.client = stack.client.clone().with_header("accept-language", "xx, ja;q=0.3, fr;q=0.8");
    let tools = json!([{"name": "x", "description": "", "parameters": {}}]);
    let wrong = || stack.input("t", "r1").with_user("chat").with("tools", tools.clone());
    let cases = [
        (wrong(), Language::Fr),
        (wrong().with_iac_code("preferredLanguage", json!("de-AT")), Language::De),
        (wrong().with_iac_code("preferredLanguage", json!("xx")), Language::Fr),
    ];
    for (input, language) in cases {
        let (_, _, message) = stack.refused(&input).await;
        assert_eq!(message, agui_i18n::text(language, MessageKey::InputTools), "{language:?}");
    }

    stack.say("t", "r1", "chat").await;
    stack
        .run(&stack.input("t", "r2").with_user("chat").with_iac_code("preferredLanguage", json!("de")))
        .await;
    let sent = kernel.requests().of("SendStreamingMessage");
    let languages: Vec<&Value> =
        sent.iter().map(|request| &request.message()["metadata"]["iac_code"]["preferredLanguage"]).collect();
    assert_eq!(languages, [&Value::Null, &json!("de")], "weakness 36");
}
