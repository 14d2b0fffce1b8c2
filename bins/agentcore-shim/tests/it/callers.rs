//! Who may call.

use bytes::Bytes;
use hmac::{Hmac, Mac as _};
use http::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use crate::socket::{Socket, refused};
use crate::stack::{Shim, outcome, refusal, run_with, say};

const TOKEN: (&str, &str) = ("AGENTCORE_SHIM_AUTH_TOKEN", "tok-1");
const ARN: &str = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/my_agent-AbCdEf1234";

#[tokio::test]
async fn r27_a_bearer_token_and_a_session_are_a_call() {
    let shim = Shim::start(&["--demo", "--auth", "bearer"], &[TOKEN]).await;
    let client = shim.in_session("s-1").with_token("tok-1");
    assert_eq!(outcome(&run_with(&client, &say("t", "r", "chat")).await), "success");
    for path in ["/ping", "/health"] {
        assert_eq!(shim.client.get(path).await.unwrap().status, 200, "{path} asks nobody");
    }
    // The hook that the platform calls before there is a session; with whatever body and type, or none.
    let typed = shim.client.clone().with_header("content-type", "application/x-www-form-urlencoded");
    for (client, body) in [(&shim.client, None), (&typed, Some(Bytes::from_static(b"a=b")))] {
        assert_eq!(client.send(Method::POST, "/warmup", body).await.unwrap().status, 200);
    }
}

#[tokio::test]
async fn r33_r34_who_shows_no_token_learns_where_to_get_one() {
    let flags = ["--demo", "--auth", "bearer", "--runtime-arn", ARN];
    let shim = Shim::start(&flags, &[TOKEN]).await;
    let response = shim.client.post("/invocations", &say("t", "r", "chat")).await.unwrap();
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    assert!(response.header("x-amzn-requestid").is_some());
    assert_eq!(
        response.header("www-authenticate"),
        Some(
            "Bearer resource_metadata=\"https://bedrock-agentcore.us-west-2.amazonaws.com/runtimes/\
             arn%3Aaws%3Abedrock-agentcore%3Aus-west-2%3A123456789012%3Aruntime%2Fmy_agent-AbCdEf1234\
             /invocations/.well-known/oauth-protected-resource?qualifier=DEFAULT\""
        )
    );
    let (status, event) = refusal(response).await;
    assert_eq!((status, event["code"].as_str()), (401, Some("UNAUTHORIZED")));

    for path in ["/.well-known/oauth-protected-resource", "/invocations/.well-known/oauth-protected-resource"]
    {
        let response = shim.client.get(path).await.unwrap();
        assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
        let document = response.json().await.unwrap();
        assert!(document["resource"].as_str().unwrap().contains("/runtimes/arn%3Aaws"), "{document}");
    }
}

#[tokio::test]
async fn row_9_a_browser_shows_its_token_as_a_subprotocol() {
    let shim = Shim::start(&["--demo", "--auth", "bearer"], &[TOKEN]).await;
    // `tok-1` in base64url.
    let offered = "base64UrlBearerAuthorization, base64UrlBearerAuthorization.dG9rLTE";
    let mut socket = Socket::open_with(&shim, "/ws", &[("Sec-WebSocket-Protocol", offered)]).await.unwrap();
    assert_eq!(socket.answer.headers()["sec-websocket-protocol"], "base64UrlBearerAuthorization");
    assert_eq!(socket.run(&say("t", "r", "chat")).await.last().unwrap()["type"], "RUN_FINISHED");
    for headers in [&[][..], &[("Sec-WebSocket-Protocol", "base64UrlBearerAuthorization.d3Jvbmc")]] {
        let (status, headers, _) = refused(Socket::open_with(&shim, "/ws", headers).await.err().unwrap());
        assert_eq!(status, 401);
        assert!(headers.contains_key("www-authenticate"));
    }
}

/// Keys of an issuer and tokens that it signed; the key that signed them is gone.
pub(crate) fn tokens() -> Value {
    serde_json::from_str(include_str!("tokens.json")).unwrap()
}

/// An issuer on this machine: its address is that of its discovery document.
pub(crate) async fn issuer() -> (String, AbortOnDropHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let about = json!({"issuer": "https://issuer.example", "jwks_uri": format!("{base}/keys")});
    let keys = json!({"keys": tokens()["keys"]});
    let serve = async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") && socket.read_buf(&mut head).await.is_ok_and(|read| read > 0)
            {
            }
            let body = if head.starts_with(b"GET /keys") { keys.to_string() } else { about.to_string() };
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = socket.write_all(answer.as_bytes()).await;
        }
    };
    let task = AbortOnDropHandle::new(tokio::spawn(serve));
    (format!("{base}/.well-known/openid-configuration"), task)
}

#[tokio::test]
async fn r26_r33_tokens_of_an_issuer_are_checked_as_the_platform_does() {
    let (url, _issuer) = issuer().await;
    let flags = [
        "--demo",
        "--auth",
        "jwt",
        "--jwt-discovery-url",
        &url,
        "--jwt-audience",
        "a1",
        "--jwt-client",
        "c1",
        "--jwt-scope",
        "run",
        "--runtime-arn",
        ARN,
    ];
    let shim = Shim::start(&flags, &[]).await;
    let tokens = tokens();
    let call = async |token: Option<&str>| {
        let client = match token {
            Some(name) => shim.client.clone().with_token(tokens[name].as_str().unwrap()),
            None => shim.client.clone(),
        };
        client.post("/invocations", &say("t", "r", "chat")).await.unwrap()
    };
    assert_eq!(call(Some("good")).await.status, 200);
    for (token, status, code, challenge) in [
        (None, 401, "UNAUTHORIZED", "Bearer resource_metadata="),
        (Some("expired"), 401, "UNAUTHORIZED", "Bearer error=\"invalid_token\", resource_metadata="),
        (Some("for_others"), 401, "UNAUTHORIZED", "Bearer error=\"invalid_token\", resource_metadata="),
        (Some("without_scope"), 403, "ACCESS_DENIED", "Bearer error=\"insufficient_scope\", scope=\"run\""),
    ] {
        let response = call(token).await;
        let asked = response.header("www-authenticate").unwrap_or_default().to_owned();
        let (told, event) = refusal(response).await;
        assert_eq!((told, event["code"].as_str()), (status, Some(code)), "{token:?}");
        assert!(asked.starts_with(challenge), "{token:?}: {asked}");
    }
    let document =
        shim.client.get("/.well-known/oauth-protected-resource").await.unwrap().json().await.unwrap();
    assert_eq!(document["scopes_supported"], json!(["run"]));
    assert_eq!(document["authorization_servers"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_stranger_does_not_use_up_the_allowance_of_a_session() {
    let variables = [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "s3cret")];
    let flags = ["--demo", "--auth", "sigv4", "--region", "us-west-2", "--rate-limit", "1/h"];
    let shim = Shim::start(&flags, &variables).await;
    let body = say("t", "r", "chat").to_string();
    // The hash of the body is not announced, so that a signature can be told from a guess by the whole request only.
    for (secret, status) in [("guess", 403), ("guess", 403), ("s3cret", 200), ("s3cret", 429), ("guess", 403)]
    {
        let mut client = shim.in_session("s-1");
        for (name, value) in signed(shim.port, &body, secret) {
            client = client.with_header(name, &value);
        }
        let sent = client.send(Method::POST, "/invocations", Some(body.clone().into())).await.unwrap();
        assert_eq!(sent.status, status, "{secret}");
    }
}

/// Signs a `POST /invocations` as AWS clients do; gives the headers beside `Host` and `Content-Type`.
fn signed(port: u16, body: &str, secret: &str) -> Vec<(&'static str, String)> {
    let hash = |text: &str| hex(&Sha256::digest(text.as_bytes()));
    let mac = |key: &[u8], text: &str| {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(text.as_bytes());
        mac.finalize().into_bytes().to_vec()
    };
    let time = now_as_aws_writes_it();
    let day = &time[..8];
    let names = "host;x-amz-date";
    let request =
        format!("POST\n/invocations\n\nhost:127.0.0.1:{port}\nx-amz-date:{time}\n\n{names}\n{}", hash(body));
    let scope = format!("{day}/us-west-2/bedrock-agentcore/aws4_request");
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hash(&request));
    let key = [day, "us-west-2", "bedrock-agentcore", "aws4_request"]
        .iter()
        .fold(format!("AWS4{secret}").into_bytes(), |key, part| mac(&key, part));
    let signature = hex(&mac(&key, &text));
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/{scope}, SignedHeaders={names}, Signature={signature}"
    );
    vec![("x-amz-date", time), ("authorization", authorization)]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `20261130T204500Z`
fn now_as_aws_writes_it() -> String {
    jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string()
}

#[tokio::test]
async fn r28_r35_signed_requests_are_taken_and_others_get_403_without_a_challenge() {
    let variables = [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "s3cret")];
    let shim = Shim::start(&["--demo", "--auth", "sigv4", "--region", "us-west-2"], &variables).await;
    let body = say("t", "r", "chat").to_string();
    let call = async |headers: Vec<(&'static str, String)>, body: &str| {
        let mut client = shim.client.clone();
        for (name, value) in headers {
            client = client.with_header(name, &value);
        }
        client.send(Method::POST, "/invocations", Some(body.to_owned().into())).await.unwrap()
    };
    let other = say("t", "r", "something else").to_string();
    for (what, headers, body) in [
        ("unsigned", Vec::new(), &body),
        ("signed by somebody else", signed(shim.port, &body, "guess"), &body),
        ("signed for another body", signed(shim.port, &other, "s3cret"), &body),
    ] {
        let response = call(headers, body).await;
        assert_eq!(response.header("www-authenticate"), None, "{what}");
        let (status, event) = refusal(response).await;
        assert_eq!((status, event["code"].as_str()), (403, Some("ACCESS_DENIED")), "{what}");
    }
    assert_eq!(call(signed(shim.port, &body, "s3cret"), &body).await.status, 200);
}
