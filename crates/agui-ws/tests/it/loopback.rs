//! A real socket, a real handshake, and the client of another crate.

use agui_ws::{WsConfig, WsContext, accept, authorization, serve};
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::client::Response;

use crate::agents::{agent, say};
use crate::client::Client;

/// Answers one connection as a server would.
async fn answer(listener: TcpListener) {
    let (mut io, _) = listener.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(io.read_u8().await.unwrap());
    }
    let mut headers = HeaderMap::new();
    for line in std::str::from_utf8(&head).unwrap().lines().skip(1).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').unwrap();
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_str(value.trim()).unwrap());
    }
    let token = authorization(&headers).map(|value| value.to_str().unwrap().to_owned());
    let mut reply = "HTTP/1.1 101 Switching Protocols\r\n".to_owned();
    for (name, value) in &accept(&headers).unwrap() {
        reply.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
    }
    io.write_all(format!("{reply}\r\n").as_bytes()).await.unwrap();
    let agent = agent(move |request| {
        let token = token.clone().unwrap_or_default();
        async move { Ok(say(&request, &[&token])) }
    });
    serve(io, agent, &WsConfig::new(), WsContext::new().with_headers(&headers)).await;
}

async fn connect(protocols: Option<&'static str>) -> (Client<TcpStream>, Response) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(answer(listener));
    let mut request = format!("ws://{address}/ws").into_client_request().unwrap();
    if let Some(protocols) = protocols {
        request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static(protocols));
    }
    let io = TcpStream::connect(address).await.unwrap();
    let (socket, response) = client_async(request, io).await.unwrap();
    (Client(socket), response)
}

#[tokio::test]
async fn a_client_that_sends_its_token_as_a_subprotocol_is_understood_and_answered() {
    // The client fails by itself if the server chooses nothing of what it offered.
    let offered = "base64UrlBearerAuthorization.dG9rZW4, base64UrlBearerAuthorization";
    let (mut client, response) = connect(Some(offered)).await;
    assert_eq!(response.headers()["sec-websocket-protocol"], "base64UrlBearerAuthorization");
    client.ask("t", "r").await;
    assert_eq!(client.next().await, r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#);
    assert_eq!(client.next().await, r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#);
    assert_eq!(
        client.next().await,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Bearer token"}"#
    );
}

#[tokio::test]
async fn a_client_without_subprotocols_gets_none_and_closes_in_order() {
    let (mut client, response) = connect(None).await;
    assert!(!response.headers().contains_key("sec-websocket-protocol"));
    client.ask("t", "r1").await;
    client.run_types().await;
    client.ask("t", "r2").await;
    client.run_types().await;
    client.0.close(None).await.unwrap();
    let rest: Vec<_> = client.0.collect().await;
    assert!(rest.iter().all(Result::is_ok), "{rest:?}");
}
