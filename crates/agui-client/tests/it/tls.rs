//! Agents behind `https`.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use agui_client::{AgentConfig, ClientError, HttpAgent};
use agui_core::RunAgentInput;
use agui_testkit::faulty::refusing_url;
use agui_tls::Trust;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use crate::authority::Authority;
use crate::http::{FINISHED, STARTED, soon};

/// An agent for one connection; its task gives the request and the protocol that was agreed on.
async fn agent(
    server: Arc<ServerConfig>,
) -> (SocketAddr, tokio::task::JoinHandle<Option<(String, Vec<u8>)>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::spawn(async move {
        let (socket, _) = listener.accept().await.ok()?;
        let mut stream = TlsAcceptor::from(server).accept(socket).await.ok()?;
        let mut request = Vec::new();
        while !request.ends_with(b"}") {
            stream.read_buf(&mut request).await.ok()?;
        }
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
             data: {STARTED}\n\ndata: {FINISHED}\n\n"
        );
        stream.write_all(answer.as_bytes()).await.ok()?;
        stream.shutdown().await.ok()?;
        let alpn = stream.get_ref().1.alpn_protocol().unwrap_or_default().to_vec();
        Some((String::from_utf8(request).ok()?, alpn))
    });
    (address, served)
}

fn client(address: SocketAddr, authority: Option<&Authority>) -> HttpAgent {
    let dir = tempfile::tempdir().unwrap();
    let mut trust = Trust::public();
    if let Some(authority) = authority {
        let path = dir.path().join("authority.pem");
        std::fs::write(&path, authority.pem()).unwrap();
        trust = trust.with_file(path);
    }
    let url = format!("https://localhost:{}/run", address.port());
    HttpAgent::new(AgentConfig::new(url).with_tls(trust.client_config().unwrap())).unwrap()
}

fn input() -> RunAgentInput {
    RunAgentInput::new("t", "r", Vec::new())
}

#[tokio::test]
async fn a_run_over_tls_speaks_http_1() {
    let authority = Authority::new("test");
    let (address, served) = agent(authority.server("localhost", &[b"h2", b"http/1.1"])).await;
    let mut run = soon(client(address, Some(&authority)).run(input())).await.unwrap();
    let mut events = 0;
    while let Some(event) = soon(run.next()).await {
        event.unwrap();
        events += 1;
    }
    assert_eq!(events, 2);
    let (request, alpn) = served.await.unwrap().unwrap();
    assert!(request.starts_with("POST /run HTTP/1.1\r\n"), "{request}");
    assert_eq!(alpn, b"http/1.1");
}

#[tokio::test]
async fn who_is_not_trusted_gets_no_request() {
    let (known, unknown) = (Authority::new("known"), Authority::new("unknown"));
    let cases = [
        (unknown.server("localhost", &[]), Some(&known)),
        (known.server("other.example", &[]), Some(&known)),
        (known.server("localhost", &[]), None),
    ];
    for (server, trusted) in cases {
        let (address, served) = agent(server).await;
        let refused = soon(client(address, trusted).run(input())).await.unwrap_err();
        assert!(matches!(refused, ClientError::Tls(_)), "{refused:?}");
        assert!(served.await.unwrap().is_none());
    }
}

#[tokio::test]
async fn who_does_not_listen_is_not_reached() {
    let url = refusing_url().await.unwrap().replace("http://", "https://");
    let agent = HttpAgent::new(AgentConfig::new(url)).unwrap();
    assert!(matches!(agent.run(input()).await, Err(ClientError::Connect(_))));
}
