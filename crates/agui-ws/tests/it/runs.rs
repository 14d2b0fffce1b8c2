//! Runs, cancels and refusals.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agui_core::{BoxFuture, Json, Problem, RunFinished, StateSnapshot, TextMessageContent, TextMessageStart};
use agui_ws::{Activity, CancelMessage, Control, WsConfig, WsContext, WsEnd};
use futures_util::SinkExt as _;
use tokio_tungstenite::tungstenite::{Bytes, Message};

use crate::agents::{agent, channel, handing_out, say};
use crate::client::{connect, connect_with, input};

const WHOLE: [&str; 5] =
    ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"];

#[tokio::test]
async fn r17_many_turns_on_one_socket_as_text_or_binary() {
    let (mut client, served) = connect(agent(|request| async move { Ok(say(&request, &["hi"])) })).await;
    client.ask("t", "r1").await;
    assert_eq!(client.run_types().await, WHOLE);
    client.0.send(Message::Binary(Bytes::from(input("t", "r2")))).await.unwrap();
    assert_eq!(client.next().await, r#"{"type":"RUN_STARTED","threadId":"t","runId":"r2"}"#);
    assert_eq!(client.run_types().await, WHOLE[1..]);
    client.0.close(None).await.unwrap();
    assert_eq!((client.next().await, client.next().await), ("CLOSE".to_owned(), "END".to_owned()));
    assert_eq!(served.await.unwrap(), WsEnd::ClosedByPeer(None));
}

#[tokio::test]
async fn r17_a_user_interrupts_a_silent_run_and_asks_again() {
    let (agent, mut sinks) = handing_out();
    let (mut client, _served) = connect(agent).await;
    client.ask("t", "r1").await;
    let mut sink = sinks.recv().await.unwrap();
    sink.send(TextMessageStart::new("m"));
    assert_eq!(client.next().await, r#"{"type":"RUN_STARTED","threadId":"t","runId":"r1"}"#);
    assert_eq!(client.next().await, r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#);
    client.send(r#"{"type":"cancel","runId":"r1"}"#).await;
    assert_eq!(client.run_types().await, ["TEXT_MESSAGE_END", "RUN_ERROR"]);
    sink.closed().await;

    client.ask("t", "r2").await;
    let mut sink = sinks.recv().await.unwrap();
    sink.send(RunFinished::new("t", "r2"));
    assert_eq!(client.run_types().await, ["RUN_STARTED", "RUN_FINISHED"]);
}

#[tokio::test]
async fn a_second_input_is_refused_while_the_first_run_goes_on() {
    let (agent, mut sinks) = handing_out();
    let (mut client, _served) = connect(agent).await;
    client.ask("t", "r1").await;
    assert_eq!(client.next().await, r#"{"type":"RUN_STARTED","threadId":"t","runId":"r1"}"#);
    client.ask("t", "r2").await;
    let refusal: serde_json::Value = serde_json::from_str(&client.next().await).unwrap();
    assert_eq!(
        (&refusal["code"], &refusal["runId"], &refusal["metadata"]["refusal"]),
        (&"SESSION_BUSY".into(), &"r2".into(), &true.into())
    );
    sinks.recv().await.unwrap().send(RunFinished::new("t", "r1"));
    assert_eq!(client.next().await, r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r1"}"#);
    assert!(sinks.try_recv().is_err(), "the second input started nothing");
}

struct Ends(Json);

impl Control for Ends {
    fn cancel(
        &self,
        message: CancelMessage,
        language: agui_i18n::Language,
    ) -> BoxFuture<'_, Result<Json, Problem>> {
        assert_eq!(language, agui_i18n::Language::Fr);
        let result = self.0.clone();
        Box::pin(async move {
            match message.execution_id.as_deref() {
                Some("e") => Ok(result),
                Some("panic") => panic!("as it was told"),
                _ => Err(Problem::new(404, "EXECUTION_NOT_FOUND", "introuvable")),
            }
        })
    }

    fn takes(&self, message: &CancelMessage) -> bool {
        message.execution_id.is_some()
    }
}

#[tokio::test]
async fn a_control_answers_beside_the_run_and_what_it_does_not_take_ends_the_run() {
    let (agent, mut sinks) = handing_out();
    let control = Arc::new(Ends(Json::from_string(r#"{"status":"cancelled"}"#.to_owned()).unwrap()));
    let mut headers = http::HeaderMap::new();
    headers.insert("accept-language", http::HeaderValue::from_static("fr"));
    let context = WsContext::new().with_headers(&headers).with_control(control);
    let (mut client, _served) = connect_with(agent, WsConfig::new(), context, 1 << 20).await;
    client.ask("t", "r1").await;
    let sink = sinks.recv().await.unwrap();
    assert_eq!(client.next().await, r#"{"type":"RUN_STARTED","threadId":"t","runId":"r1"}"#);
    for (execution, answer) in [
        ("e", r#""result":{"status":"cancelled"}"#),
        ("x", r#""error":{"code":"EXECUTION_NOT_FOUND","message":"introuvable"}"#),
        ("panic", r#""error":{"code":"INTERNAL_ERROR","message":"Une erreur interne s’est produite."}"#),
    ] {
        client.send(format!(r#"{{"type":"cancel","executionId":"{execution}"}}"#)).await;
        let value = format!(r#"{{"executionId":"{execution}",{answer}}}"#);
        assert_eq!(
            client.next().await,
            format!(r#"{{"type":"CUSTOM","name":"agui.cancel.v1","value":{value}}}"#)
        );
    }
    client.send(r#"{"type":"cancel"}"#).await;
    assert_eq!(client.run_types().await, ["RUN_ERROR"]);
    sink.closed().await;
}

#[tokio::test]
async fn what_an_agent_refuses_or_breaks_at_leaves_the_socket_open() {
    let agent = agent(|request| async move {
        match request.input.run_id.as_str() {
            "refuse" => Err(Problem::new(409, "RESUME_REQUIRED", "Answer first.")),
            "panic" => panic!("secret=/etc/passwd"),
            _ => Ok(say(&request, &["hi"])),
        }
    });
    let (mut client, _served) = connect(agent).await;
    for (run, code, message) in
        [("refuse", "RESUME_REQUIRED", "Answer first."), ("panic", "AGENT_ERROR", "Agent execution failed.")]
    {
        client.ask("t", run).await;
        assert_eq!(
            client.next().await,
            format!(
                r#"{{"type":"RUN_ERROR","message":"{message}","code":"{code}","threadId":"t","runId":"{run}","metadata":{{"refusal":true}}}}"#
            )
        );
    }
    client.ask("t", "r").await;
    assert_eq!(client.run_types().await, WHOLE);
}

#[tokio::test]
async fn a_run_gets_the_message_and_the_headers_of_the_handshake() {
    let agent = agent(|request| async move {
        let seen = format!(
            "{} {:?} {:?}",
            String::from_utf8_lossy(&request.body),
            request.accept_language.as_deref(),
            request.header("x-session"),
        );
        Ok(say(&request, &[&seen]))
    });
    let mut headers = http::HeaderMap::new();
    headers.insert("accept-language", http::HeaderValue::from_static("de"));
    headers.insert("x-session", http::HeaderValue::from_static("s-1"));
    let context = WsContext::new().with_headers(&headers);
    let (mut client, _served) = connect_with(agent, WsConfig::new(), context, 1 << 20).await;
    client.send(r#" {"runId":"r","threadId":"t","messages":[],"x":1}"#).await;
    let mut delta = String::new();
    while delta.is_empty() {
        let event: serde_json::Value = serde_json::from_str(&client.next().await).unwrap();
        delta = event["delta"].as_str().unwrap_or_default().to_owned();
    }
    assert_eq!(delta, r#" {"runId":"r","threadId":"t","messages":[],"x":1} Some("de") Some("s-1")"#);
}

#[tokio::test]
async fn a_large_message_is_read_and_a_large_event_arrives_in_frames_that_are_let_through() {
    let agent = agent(|request| async move {
        let (mut sink, stream) = channel(&request);
        let state = request.input.state.unwrap();
        let text: String = state.parse().unwrap();
        sink.stage(StateSnapshot::new(state));
        sink.stage(TextMessageStart::new("m"));
        sink.stage(TextMessageContent::new("m", text));
        sink.send(RunFinished::new("t", "r"));
        Ok(stream)
    });
    let (mut client, _served) = connect(agent).await;
    let text = "é\"\n語😀".repeat(40_000);
    let json = serde_json::to_string(&text).unwrap();
    client.send(format!(r#"{{"threadId":"t","runId":"r","messages":[],"state":{json}}}"#)).await;
    let started = client.next().await;
    assert!(started.contains("RUN_STARTED"), "{started}");
    assert_eq!(client.next().await, format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":{json}}}"#));
    let mut joined = String::new();
    loop {
        let event: serde_json::Value = serde_json::from_str(&client.next().await).unwrap();
        match event["type"].as_str() {
            Some("TEXT_MESSAGE_CONTENT") => joined.push_str(event["delta"].as_str().unwrap()),
            Some("RUN_FINISHED") => break,
            _ => {}
        }
    }
    assert!(joined == text);
}

#[tokio::test]
async fn a_run_counts_as_active_until_its_end() {
    let (agent, mut sinks) = handing_out();
    let changes = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&changes);
    let activity = Activity::observed(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let context = WsContext::new().with_activity(activity.clone());
    let (mut client, _served) = connect_with(agent, WsConfig::new(), context, 1 << 20).await;
    assert_eq!(activity.runs(), 0);
    client.ask("t", "r").await;
    let mut sink = sinks.recv().await.unwrap();
    assert_eq!(activity.runs(), 1);
    sink.send(RunFinished::new("t", "r"));
    assert_eq!(client.run_types().await, ["RUN_STARTED", "RUN_FINISHED"]);
    sink.closed().await;
    assert_eq!((activity.runs(), changes.load(Ordering::Relaxed)), (0, 2));
}
