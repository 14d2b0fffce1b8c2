//! Agents behind `https`.

use std::net::Ipv4Addr;
use std::sync::Arc;

use a2a_client::{ClientConfig, ClientError, discover};
use agui_iac_code::Secret;
use agui_tls::Trust;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use crate::authority::Authority;
use crate::peer::{json_answer, message, said, soon};

/// An agent that has a card and answers messages with a task; gives its port.
async fn agent(server: Arc<ServerConfig>) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let Ok(mut stream) = TlsAcceptor::from(Arc::clone(&server)).accept(socket).await else {
                continue;
            };
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") && !request.ends_with(b"}") {
                if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                    break;
                }
            }
            let card = format!(
                r#"{{"supportedInterfaces":[{{"url":"https://localhost:{port}/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}}]}}"#
            );
            let task =
                r#"{"result":{"task":{"id":"T1","status":{"state":"TASK_STATE_COMPLETED"}}},"id":"1"}"#;
            let is_call = request.starts_with(b"POST /a2a HTTP/1.1\r\n");
            let _ = stream.write_all(&json_answer(if is_call { task } else { &card })).await;
            let _ = stream.shutdown().await;
        }
    });
    port
}

fn config(port: u16, authority: &Authority) -> ClientConfig {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("authority.pem");
    std::fs::write(&path, authority.pem()).unwrap();
    let trust = Trust::public().with_file(path).client_config().unwrap();
    ClientConfig::new(format!("https://localhost:{port}/")).with_tls(trust)
}

#[tokio::test]
async fn card_and_calls_go_over_tls_and_the_token_with_them() {
    let authority = Authority::new("test");
    let port = agent(authority.server("localhost", &[b"h2", b"http/1.1"])).await;
    let config = config(port, &authority).with_token(Secret::new("t0ken"));
    let found = soon(Box::pin(discover(config))).await.unwrap();
    let mut stream = soon(found.client.send_streaming(&message())).await.unwrap();
    assert_eq!(said(&soon(stream.next()).await.unwrap().unwrap()), "task T1 TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn who_is_not_trusted_gets_no_request() {
    let (known, unknown) = (Authority::new("known"), Authority::new("unknown"));
    for server in [unknown.server("localhost", &[]), known.server("other.example", &[])] {
        let port = agent(server).await;
        let refused = soon(Box::pin(discover(config(port, &known)))).await.unwrap_err();
        assert!(matches!(refused, ClientError::Tls(_)), "{refused:?}");
    }
}
