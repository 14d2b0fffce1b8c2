//! `GET /ws`.

use serde_json::json;

use crate::fake_agent::{FINISHED, FakeAgent, STARTED, Step, hello};
use crate::socket::{Came, Socket, refused};
use crate::stack::{PATIENCE, SESSION, Shim, say};

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let held = async {
        while !holds() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, held).await.is_ok(), "{what}");
}

#[tokio::test]
async fn r16_r17_row_5_many_runs_share_one_socket() {
    let shim = Shim::demo().await;
    let mut socket = Socket::open(&shim).await;
    for run in ["r1", "r2", "r3"] {
        let events = socket.run(&say("t", run, "chat")).await;
        assert_eq!((&events[0]["type"], &events[0]["runId"]), (&json!("RUN_STARTED"), &json!(run)));
        assert_eq!(events.last().unwrap()["type"], "RUN_FINISHED");
    }
}

#[tokio::test]
async fn r17_row_6_a_cancel_message_ends_the_run_that_streams() {
    let shim = Shim::demo().await;
    let mut socket = Socket::open(&shim).await;
    socket.send(&say("t", "r1", "hold")).await;
    socket.until("TEXT_MESSAGE_CONTENT").await;
    socket.send(&json!({"type": "cancel", "runId": "r1"})).await;
    let mut kinds = Vec::new();
    loop {
        let event = socket.event().await;
        kinds.push(event["type"].as_str().unwrap().to_owned());
        if matches!(&*kinds[kinds.len() - 1], "RUN_FINISHED" | "RUN_ERROR") {
            break;
        }
    }
    assert_eq!(socket.run(&say("t", "r2", "chat")).await.last().unwrap()["type"], "RUN_FINISHED");
}

#[tokio::test]
async fn r17_a_cancel_message_right_behind_the_input_is_not_lost() {
    let shim = Shim::demo().await;
    let mut socket = Socket::open(&shim).await;
    for thread in 0..16 {
        socket.send(&say(&format!("t{thread}"), "r", "hold")).await;
        socket.send(&json!({"type": "cancel"})).await;
        let events = socket.rest_of_run().await;
        assert_eq!(events.last().unwrap()["code"], "CANCELLED", "{thread}: {events:?}");
    }
}

#[tokio::test]
async fn a_second_input_is_told_that_the_session_is_busy() {
    let agent = FakeAgent::start(vec![STARTED, Step::Hold, FINISHED]).await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    let mut socket = Socket::open(&shim).await;
    socket.send(&say("t", "r1", "hi")).await;
    assert_eq!(socket.event().await["type"], "RUN_STARTED");
    socket.send(&say("t", "r2", "hi")).await;
    let refused = socket.event().await;
    assert_eq!((&refused["type"], &refused["code"]), (&json!("RUN_ERROR"), &json!("SESSION_BUSY")));
    agent.release();
    assert_eq!(socket.event().await, json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r1"}));
}

#[tokio::test]
async fn row_4_a_bad_message_is_answered_and_the_socket_stays() {
    let shim = Shim::demo().await;
    let mut socket = Socket::open(&shim).await;
    for bad in [r#"{"threadId":"t-1"}"#, "not json", "[]"] {
        socket.send_text(bad).await;
        let event = socket.event().await;
        assert_eq!(
            (&event["type"], &event["code"]),
            (&json!("RUN_ERROR"), &json!("VALIDATION_ERROR")),
            "{bad}"
        );
    }
    assert_eq!(socket.run(&say("t", "r", "chat")).await.last().unwrap()["type"], "RUN_FINISHED");
}

#[tokio::test]
async fn row_7_a_text_frame_is_one_bare_event_unless_the_old_form_is_asked_for() {
    let agent = FakeAgent::start(hello()).await;
    let bare = Shim::in_front_of(&agent.url(), &[]).await;
    let mut socket = Socket::open(&bare).await;
    socket.send(&say("t", "r", "hi")).await;
    assert_eq!(socket.text().await, r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#);

    let old = Shim::in_front_of(&agent.url(), &["--ws-frames", "sse"]).await;
    let mut socket = Socket::open(&old).await;
    socket.send(&say("t", "r", "hi")).await;
    let text = socket.text().await;
    assert_eq!(text, "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n");
}

#[tokio::test]
async fn row_8_a_long_delta_is_cut_into_frames_that_the_edge_takes() {
    let long = "ä".repeat(100_000);
    let delta =
        format!("data: {{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"{long}\"}}\n\n");
    let [start, _, end] = crate::fake_agent::TEXT;
    let agent = FakeAgent::start(vec![STARTED, start, Step::Record(delta), end, FINISHED]).await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    let mut socket = Socket::open(&shim).await;
    socket.send(&say("t", "r", "hi")).await;
    let mut came = String::new();
    loop {
        let text = socket.text().await;
        assert!(text.len() <= 32_000, "{} bytes", text.len());
        let event: serde_json::Value = serde_json::from_str(&text).unwrap();
        came.push_str(event["delta"].as_str().unwrap_or_default());
        if event["type"] == "RUN_FINISHED" {
            break;
        }
    }
    assert_eq!(came, long);
}

#[tokio::test]
async fn row_8_a_flood_is_coalesced_to_the_rate_that_the_edge_takes() {
    let shim = Shim::demo().await;
    let mut socket = Socket::open(&shim).await;
    let events = socket.run(&say("t", "r", "long 20000")).await;
    // 20,000 pieces came in a fraction of the minute and a half that one frame for each would take.
    assert!(events.len() < 2_000, "{} frames", events.len());
}

#[tokio::test]
async fn row_9_binary_messages_and_the_bearer_protocol_are_taken() {
    let shim = Shim::demo().await;
    let offered =
        [("Sec-WebSocket-Protocol", "base64UrlBearerAuthorization, base64UrlBearerAuthorization.dG9rZW4")];
    let mut socket = Socket::open_with(&shim, "/ws", &offered).await.unwrap();
    assert_eq!(socket.answer.headers()["sec-websocket-protocol"], "base64UrlBearerAuthorization");
    socket.send_binary(&say("t", "r", "chat")).await;
    assert_eq!(socket.rest_of_run().await.last().unwrap()["type"], "RUN_FINISHED");
}

#[tokio::test]
async fn row_10_a_client_that_goes_while_the_agent_is_silent_ends_the_run() {
    let agent = FakeAgent::start(vec![STARTED, Step::Hold, FINISHED]).await;
    let shim = Shim::in_front_of(&agent.url(), &[]).await;
    let mut socket = Socket::open(&shim).await;
    socket.send(&say("t", "r", "hi")).await;
    socket.event().await;
    assert_eq!(agent.open(), 1);
    socket.close().await;
    until("the agent is let go of", || agent.open() == 0).await;
    shim.pings("Healthy").await;
}

#[tokio::test]
async fn row_11_an_idle_socket_is_not_pinged_and_is_closed_in_the_end() {
    let shim = Shim::start(&["--demo", "--ws-idle", "0.3", "--ws-ping", "0.02"], &[]).await;
    let mut socket = Socket::open(&shim).await;
    socket.run(&say("t", "r", "chat")).await;
    let during_run = socket.pings;
    assert_eq!(socket.next().await, Came::Closed(Some(1000)));
    assert_eq!(socket.pings, during_run, "pings while nothing ran");
}

#[tokio::test]
async fn the_first_message_has_to_come_in_time() {
    let shim = Shim::start(&["--demo", "--ws-first-message", "0.1"], &[]).await;
    assert_eq!(Socket::open(&shim).await.next().await, Came::Closed(Some(1008)));
}

#[tokio::test]
async fn strange_pages_get_no_socket() {
    let shim = Shim::start(&["--demo", "--allow-origin", "https://mine.example"], &[]).await;
    let open = async |origin| Socket::open_with(&shim, "/ws", &[("Origin", origin)]).await;
    assert!(open("https://mine.example").await.is_ok());
    let (status, _, body) = refused(open("https://other.example").await.err().unwrap());
    assert_eq!(status, 403);
    assert!(body.contains("ACCESS_DENIED"), "{body}");
}

#[tokio::test]
async fn r3_a_socket_takes_its_session_from_the_header_or_from_the_query() {
    let shim = Shim::demo().await;
    let query = format!("/ws?qualifier=DEFAULT&{SESSION}=s-query");
    for (path, headers, expected) in [
        ("/ws", &[(SESSION, "s-header")][..], "s-header"),
        (&*query, &[], "s-query"),
        (&*query, &[(SESSION, "s-header")], "s-header"),
    ] {
        let mut socket = Socket::open_with(&shim, path, headers).await.unwrap();
        let thread = format!("t-{}", path.len() + headers.len());
        let events = socket.run(&say(&thread, "r", "chat")).await;
        let session = events.iter().find(|event| event["name"] == "iac-code.session.v1").unwrap();
        assert_eq!(session["value"]["rosInvocationId"], expected);
    }
}
