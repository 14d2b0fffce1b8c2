//! From an address to an agent.

use std::sync::{Arc, Mutex};

use a2a_client::{ClientError, discover};
use a2a_wire::ProtocolVersion;

use crate::peer::{Peer, answer, json_answer, message, said, soon};

const TASK: &str =
    r#"{"result":{"id":"T1","status":{"state":"TASK_STATE_WORKING"}},"id":"1","jsonrpc":"2.0"}"#;

/// A peer that has `card` at `place` and nothing at other places, answers calls with a task, and keeps the
/// first line of each request. `PORT` in the card is its own.
async fn agent(place: &'static str, card: &'static str) -> (Peer, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&lines);
    let peer = Peer::start(move |_, mut connection| {
        let log = Arc::clone(&log);
        async move {
            let request = connection.read_request().await;
            let line = request.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
            let host = request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned();
            let reply = match line.strip_prefix("GET ") {
                Some(path) if path == place => {
                    json_answer(&card.replace("PORT", host.split(':').nth(1).unwrap()))
                }
                Some(_) => answer("404 Not Found", "content-type: text/html\r\n", "<html>"),
                None => json_answer(TASK),
            };
            log.lock().unwrap().push(line);
            connection.write(&reply).await;
        }
    })
    .await;
    (peer, lines)
}

#[tokio::test]
async fn the_card_below_the_address_wins_over_the_one_at_the_root() {
    let card = r#"{"supportedInterfaces":[{"url":"http://127.0.0.1:PORT/a2a/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
        "capabilities":{"streaming":true}}"#;
    let places = [
        "/a2a/.well-known/agent-card.json",
        "/.well-known/agent-card.json",
        "/a2a/.well-known/agent.json",
        "/.well-known/agent.json",
    ];
    for (number, place) in places.iter().enumerate() {
        let (peer, lines) = agent(place, card).await;
        let mut config = peer.config();
        config.url.push_str("a2a/");
        let found = soon(Box::pin(discover(config))).await.unwrap();
        assert_eq!((found.version, found.card.streaming), (ProtocolVersion::V1_0, true));
        assert_eq!(said(&soon(found.client.send(&message())).await.unwrap()), "task T1 TASK_STATE_WORKING");
        let mut expected: Vec<String> =
            places[..=number].iter().map(|place| format!("GET {place}")).collect();
        expected.push("POST /a2a/rpc".to_owned());
        assert_eq!(*lines.lock().unwrap(), expected);
    }
}

#[tokio::test]
async fn a_card_of_0_3_chooses_0_3_and_one_without_json_rpc_is_no_use() {
    let old = r#"{"url":"http://0.0.0.0:PORT/","protocolVersion":"0.3.0","preferredTransport":"GRPC",
        "additionalInterfaces":[{"url":"http://localhost:PORT/rpc","transport":"JSONRPC"}]}"#;
    let (peer, lines) = agent("/.well-known/agent.json", old).await;
    let found = soon(Box::pin(discover(peer.config()))).await.unwrap();
    assert_eq!((found.version, found.card.streaming), (ProtocolVersion::V0_3, false));
    soon(found.client.send(&message())).await.unwrap();
    assert_eq!(lines.lock().unwrap().last().unwrap(), "POST /rpc");

    let rest =
        r#"{"url":"http://localhost:PORT/","protocolVersion":"0.3.0","preferredTransport":"HTTP+JSON"}"#;
    let (peer, _) = agent("/card.json", rest).await;
    let mut config = peer.config();
    config.url.push_str("card.json");
    let refused = soon(Box::pin(discover(config))).await.unwrap_err();
    assert!(matches!(refused, ClientError::NoInterface { offers: "HTTP+JSON only" }), "{refused}");

    let (peer, _) = agent("/nowhere", rest).await;
    assert!(matches!(soon(Box::pin(discover(peer.config()))).await, Err(ClientError::NoCard)));
}

#[cfg(not(feature = "tls"))]
#[tokio::test]
async fn https_needs_the_feature() {
    let config = a2a_client::ClientConfig::new("https://127.0.0.1/");
    let refused = soon(Box::pin(discover(config))).await.unwrap_err();
    assert!(matches!(refused, ClientError::TlsUnsupported), "{refused}");
}
