//! An issuer on loopback whose answers a test sets and counts.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agui_auth::{Clock, DeniedReason, JwtConfig, JwtVerifier};
use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// Noon of 2026-11-30, when the tokens of the fixture become valid.
pub(crate) const NOON_S: u64 = 1_796_040_000;

pub(crate) const NAME: &str = "https://issuer.test";

type Answer = (StatusCode, String);

/// What the issuer answers, and how often it was asked.
#[derive(Clone)]
pub(crate) struct IssuerStub {
    pub(crate) address: SocketAddr,
    scheme: &'static str,
    answers: Arc<Mutex<[Answer; 2]>>,
    asked: Arc<[watch::Sender<u32>; 2]>,
    open: watch::Sender<bool>,
    seconds: Arc<AtomicU64>,
}

impl IssuerStub {
    pub(crate) async fn new(keys: Value) -> Self {
        Self::start(keys, None).await
    }

    /// The same over TLS.
    pub(crate) async fn over_tls(keys: Value, tls: TlsAcceptor) -> Self {
        Self::start(keys, Some(tls)).await
    }

    async fn start(keys: Value, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let stub = Self {
            address,
            scheme,
            answers: Arc::new(Mutex::new([(StatusCode::OK, String::new()), (StatusCode::OK, String::new())])),
            asked: Arc::new([watch::Sender::new(0), watch::Sender::new(0)]),
            open: watch::Sender::new(true),
            seconds: Arc::new(AtomicU64::new(NOON_S)),
        };
        stub.answer_discovery(
            StatusCode::OK,
            json!({"issuer": NAME, "jwks_uri": stub.url("/keys")}).to_string(),
        );
        stub.set_keys(&keys);
        tokio::spawn(stub.clone().serve(listener, tls));
        stub
    }

    async fn serve(self, listener: TcpListener, tls: Option<TlsAcceptor>) {
        while let Ok((socket, _)) = listener.accept().await {
            let (stub, tls) = (self.clone(), tls.clone());
            tokio::spawn(async move {
                match tls {
                    None => stub.talk(socket).await,
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(socket).await {
                            stub.talk(stream).await;
                        }
                    }
                }
            });
        }
    }

    async fn talk(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let service = service_fn(|request| self.answer(request));
        // A client that leaves early is part of some tests.
        let _ =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        let which = usize::from(request.uri().path() == "/keys");
        self.asked[which].send_modify(|asked| *asked += 1);
        let mut open = self.open.subscribe();
        open.wait_for(|open| *open).await.unwrap();
        let (status, body) = self.answers.lock().unwrap()[which].clone();
        let mut response = Response::new(Full::from(body));
        *response.status_mut() = status;
        response.headers_mut().insert("location", self.url("/keys").parse().unwrap());
        Ok(response)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    pub(crate) fn answer_discovery(&self, status: StatusCode, body: String) {
        self.answers.lock().unwrap()[0] = (status, body);
    }

    pub(crate) fn answer_keys(&self, status: StatusCode, body: String) {
        self.answers.lock().unwrap()[1] = (status, body);
    }

    pub(crate) fn set_keys(&self, keys: &Value) {
        self.answer_keys(StatusCode::OK, json!({ "keys": keys }).to_string());
    }

    /// Everything fails from now on.
    pub(crate) fn break_down(&self) {
        self.answer_discovery(StatusCode::BAD_GATEWAY, String::new());
    }

    /// Holds answers back, or lets them go.
    pub(crate) fn set_open(&self, open: bool) {
        self.open.send_replace(open);
    }

    /// How often the discovery document and the keys were asked for.
    pub(crate) fn asked(&self) -> (u32, u32) {
        (*self.asked[0].borrow(), *self.asked[1].borrow())
    }

    pub(crate) async fn wait_until_asked(&self, times: u32) {
        self.asked[0].subscribe().wait_for(|asked| *asked >= times).await.unwrap();
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.seconds.fetch_add(by.as_secs(), Ordering::SeqCst);
    }

    pub(crate) fn now_s(&self) -> u64 {
        self.seconds.load(Ordering::SeqCst)
    }

    /// Conditions that the tokens of these tests meet.
    pub(crate) fn config(&self) -> JwtConfig {
        let seconds = Arc::clone(&self.seconds);
        let clock = Clock::from_fn(move || Duration::from_secs(seconds.load(Ordering::SeqCst)));
        JwtConfig::new(self.url("/.well-known/openid-configuration").parse().unwrap())
            .with_audience(["agent"])
            .with_clock(clock)
    }

    pub(crate) fn verifier(&self) -> JwtVerifier {
        JwtVerifier::new(self.config()).unwrap()
    }
}

pub(crate) fn headers(token: impl AsRef<str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, format!("Bearer {}", token.as_ref()).parse().unwrap());
    headers
}

pub(crate) async fn verdict(verifier: &JwtVerifier, token: impl AsRef<str>) -> Result<(), DeniedReason> {
    verifier.check(&headers(token)).await.map(|_| ()).map_err(|denied| denied.reason())
}
