//! How sockets end. Time is the runtime's, and stands still while anything can be done.

use std::time::Duration;

use agui_core::{RunFinished, TextMessageContent, TextMessageStart};
use agui_ws::{WsConfig, WsContext, WsEnd};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::AsyncWriteExt as _;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_util::sync::CancellationToken;

use crate::agents::{agent, handing_out, say};
use crate::client::{connect, connect_with, input};

#[tokio::test]
async fn a_client_that_closes_ends_a_silent_run_at_once() {
    let (agent, mut sinks) = handing_out();
    let (mut client, served) = connect(agent).await;
    client.ask("t", "r").await;
    let sink = sinks.recv().await.unwrap();
    let close = CloseFrame { code: 1001.into(), reason: "page left".into() };
    client.0.close(Some(close)).await.unwrap();
    sink.closed().await;
    assert_eq!(served.await.unwrap(), WsEnd::ClosedByPeer(Some(1001)));
}

#[tokio::test]
async fn a_connection_that_breaks_ends_a_silent_run_at_once() {
    let (agent, mut sinks) = handing_out();
    let (mut client, served) = connect(agent).await;
    client.ask("t", "r").await;
    let sink = sinks.recv().await.unwrap();
    drop(client);
    sink.closed().await;
    assert_eq!(served.await.unwrap(), WsEnd::Lost);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_vanished_without_a_word_is_noticed_by_a_ping() {
    let (agent, mut sinks) = handing_out();
    let (mut client, served) = connect(agent).await;
    let asked = Instant::now();
    client.ask("t", "r").await;
    let sink = sinks.recv().await.unwrap();
    // The client is not polled any more, so nothing answers.
    sink.closed().await;
    assert_eq!(served.await.unwrap(), WsEnd::Vanished);
    assert_eq!(asked.elapsed().as_secs(), 50);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_answers_pings_keeps_a_silent_run() {
    let (agent, mut sinks) = handing_out();
    let (mut client, _served) = connect(agent).await;
    client.ask("t", "r").await;
    let mut sink = sinks.recv().await.unwrap();
    let mut pings = 0;
    while pings < 5 {
        if let Message::Ping(_) = client.0.next().await.unwrap().unwrap() {
            pings += 1;
        }
    }
    sink.send(RunFinished::new("t", "r"));
    assert_eq!(client.run_types().await, ["RUN_FINISHED"]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_takes_nothing_holds_the_run_back_and_is_given_up() {
    let (agent, mut sinks) = handing_out();
    let (mut client, served) = connect_with(agent, WsConfig::new(), WsContext::new(), 4096).await;
    client.ask("t", "r").await;
    let mut sink = sinks.recv().await.unwrap();
    sink.send(TextMessageStart::new("m"));
    let mut given = 0;
    while !sink.is_closed() {
        sink.ready().await;
        sink.send(TextMessageContent::new("m", "x".repeat(1000)));
        given += 1;
        // Lets the socket take what it can.
        tokio::task::yield_now().await;
    }
    assert!(given < 3_000, "{given} kB were taken from the agent");
    assert_eq!(served.await.unwrap(), WsEnd::Stalled);
}

#[tokio::test(start_paused = true)]
async fn silence_is_closed_politely() {
    let config = WsConfig::new();
    let (mut client, served) = connect(agent(|request| async move { Ok(say(&request, &["hi"])) })).await;
    let opened = Instant::now();
    assert_eq!(client.next().await, "CLOSE 1008 The request was not received in time.");
    assert_eq!(opened.elapsed(), config.timeouts.first_message);
    assert_eq!(client.next().await, "END");
    assert_eq!(served.await.unwrap(), WsEnd::Closed(1008));

    let (mut client, served) = connect(agent(|request| async move { Ok(say(&request, &["hi"])) })).await;
    client.ask("t", "r").await;
    client.run_types().await;
    let ended = Instant::now();
    assert_eq!(client.next().await, "CLOSE 1000 idle");
    assert_eq!(ended.elapsed().as_secs(), config.timeouts.idle.as_secs());
    drop(client);
    assert_eq!(served.await.unwrap(), WsEnd::Closed(1000));
}

#[tokio::test]
async fn a_message_that_is_too_large_closes_with_1009_although_the_client_is_still_sending() {
    for fragments in [1, 40] {
        let (agent, mut sinks) = handing_out();
        let config = WsConfig::new().with_max_message_bytes(10_000);
        let (mut client, served) = connect_with(agent, config, WsContext::new(), 4096).await;
        client.ask("t", "r").await;
        let sink = sinks.recv().await.unwrap();
        let (mut sending, mut receiving) = client.0.split();
        let send = async move {
            for fragment in 0..fragments {
                let code = OpCode::Data(if fragment == 0 { Data::Text } else { Data::Continue });
                let part = vec![b' '; 120_000 / fragments];
                let frame = Frame::message(part, code, fragment + 1 == fragments);
                // The server may have closed meanwhile.
                if sending.send(Message::Frame(frame)).await.is_err() {
                    break;
                }
            }
        };
        let receive = async {
            loop {
                match receiving.next().await {
                    Some(Ok(Message::Close(Some(frame)))) => return u16::from(frame.code),
                    Some(Ok(_)) => {}
                    other => panic!("{other:?}"),
                }
            }
        };
        let ((), code) = tokio::join!(send, receive);
        assert_eq!(code, 1009);
        drop(receiving);
        sink.closed().await;
        assert_eq!(served.await.unwrap(), WsEnd::Closed(1009));
    }
}

#[tokio::test]
async fn what_is_no_websocket_and_no_text_is_closed_with_its_code() {
    // A masked text frame with half a character, and an unmasked frame.
    let table: [(&[u8], u16); 2] = [(&[0x81, 0x81, 0, 0, 0, 0, 0xc3], 1007), (&[0x81, 0x01, b' '], 1002)];
    for (bytes, code) in table {
        let (agent, _sinks) = handing_out();
        let (mut client, served) = connect(agent).await;
        client.0.get_mut().write_all(bytes).await.unwrap();
        let close = client.next().await;
        assert!(close.starts_with(&format!("CLOSE {code} ")), "{close}");
        drop(client);
        assert_eq!(served.await.unwrap(), WsEnd::Closed(code));
    }
}

#[tokio::test]
async fn unreadable_messages_are_answered_and_the_fifth_in_a_row_closes() {
    let (agent, _sinks) = handing_out();
    let (mut client, served) = connect(agent).await;
    for _ in 0..5 {
        client.send(r#"{"threadId":"t-1"}"#).await;
        let answer = client.next().await;
        assert!(answer.contains("VALIDATION_ERROR") && answer.contains("/runId"), "{answer}");
    }
    assert_eq!(client.next().await, "CLOSE 1007 The request is not valid.");
    drop(client);
    assert_eq!(served.await.unwrap(), WsEnd::Closed(1007));
}

#[tokio::test]
async fn a_shutdown_waits_for_the_run_until_the_last_call() {
    let (agent, mut sinks) = handing_out();
    let (asked, last_call) = (CancellationToken::new(), CancellationToken::new());
    let context = WsContext::new().with_stop(asked.clone(), last_call.clone());
    let (mut client, served) = connect_with(agent, WsConfig::new(), context, 1 << 20).await;
    client.ask("t", "r").await;
    let mut sink = sinks.recv().await.unwrap();
    asked.cancel();
    client.send(input("t", "r2")).await;
    assert_eq!(client.next().await, r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#);
    let refusal = client.next().await;
    assert!(refusal.contains("SHUTTING_DOWN") && refusal.contains(r#""runId":"r2""#), "{refusal}");
    sink.send(TextMessageStart::new("m"));
    assert_eq!(client.next().await, r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#);
    last_call.cancel();
    assert_eq!(client.run_types().await, ["TEXT_MESSAGE_END", "RUN_ERROR"]);
    assert_eq!(client.next().await, "CLOSE 1001 The server is shutting down. Try again later.");
    assert_eq!(client.next().await, "END");
    sink.closed().await;
    assert_eq!(served.await.unwrap(), WsEnd::Closed(1001));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_confirm_a_close_is_not_waited_for_long() {
    let (agent, _sinks) = handing_out();
    let asked = CancellationToken::new();
    let context = WsContext::new().with_stop(asked.clone(), CancellationToken::new());
    let (client, served) = connect_with(agent, WsConfig::new(), context, 1 << 20).await;
    asked.cancel();
    let since = Instant::now();
    assert_eq!(served.await.unwrap(), WsEnd::Closed(1001));
    assert!(since.elapsed() <= Duration::from_secs(10));
    drop(client);
}
