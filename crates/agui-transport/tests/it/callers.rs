//! Who calls, and how often.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use agui_auth::{Authenticator, Clock, JwtConfig, JwtVerifier, RateLimit};
use agui_core::{Agent as _, RunAgentInput, RunRequest};
use agui_transport::{CALLER, Health, Route, RouteReply, RouteRequest, rate_limited, still_let_in};
use http::{HeaderMap, HeaderName, StatusCode};
use serde_json::{Value, json};

use crate::agents::{PARROT, Scripted, begin, finish, parrot};
use crate::rig::{INPUT, Rig, request};

const JSON: &str = "Content-Type: application/json";
const TOKEN: &str = "Authorization: Bearer s3cret";

#[tokio::test]
async fn the_agent_is_told_who_calls_and_no_client_can_say_it() {
    for (authenticator, expected) in
        [(Authenticator::Open, None), (Authenticator::bearer("s3cret").unwrap(), Some("bearer"))]
    {
        let (tell, told) = mpsc::channel();
        let agent = Scripted(move |request: RunRequest| {
            tell.send(request.header(CALLER).map(str::to_owned)).unwrap();
            let (sink, stream) = begin(&request);
            finish(&request, sink);
            async { Ok(stream) }
        });
        let rig = Rig::with(agent, |server| {
            server.authenticator(authenticator).route(Route::get("/me", |request: RouteRequest| async move {
                RouteReply::json(StatusCode::OK, &request.caller.map(|caller| caller.to_string()))
            }))
        })
        .await;
        assert_eq!(rig.exchange(request("POST / HTTP/1.1", &[JSON, TOKEN], INPUT)).await.head.status, 200);
        assert_eq!(told.recv().unwrap().as_deref(), expected);
        let me = rig.exchange(request("GET /me HTTP/1.1", &[TOKEN], "")).await;
        assert_eq!(me.body, serde_json::to_string(&expected).unwrap());

        let mut client = rig.connect().await;
        client.send(request("POST / HTTP/1.1", &[JSON, TOKEN, ":caller: somebody"], INPUT)).await;
        assert_eq!(client.head().await.status, 400);
    }
}

#[tokio::test]
async fn r31_runs_that_come_in_another_way_share_the_allowance() {
    let limit = RateLimit::per_session("2/h".parse().unwrap());
    let header = HeaderName::from_static("x-session");
    let elsewhere = rate_limited(Arc::new(parrot()), limit.clone(), header.clone());
    let rig = Rig::with(parrot(), |server| server.rate_limit(limit, header)).await;
    let asked = |session: &str| {
        let input = RunAgentInput::decode(INPUT.as_bytes()).unwrap();
        RunRequest::new(input, INPUT.into()).with_header("x-session", session)
    };
    assert!(elsewhere.run(asked("a")).await.is_ok());
    let run = request("POST / HTTP/1.1", &[JSON, "X-Session: a"], INPUT);
    assert_eq!(rig.exchange(&run).await.body, PARROT);
    for _ in 0..2 {
        let refused = elsewhere.run(asked("a")).await.unwrap_err();
        assert_eq!(
            (refused.status, &*refused.code, refused.retry_after_s),
            (429, "RATE_LIMIT_EXCEEDED", Some(1800))
        );
        assert_eq!(refused.message, "Too many requests. Try again in 1800 seconds.");
        assert_eq!(rig.exchange(&run).await.head.status, 429);
    }
    assert!(elsewhere.run(asked("b")).await.is_ok());
    assert!(format!("{elsewhere:?}").starts_with("Rated {"));
}

/// The key of an issuer, and tokens of it that expire at the end of the century.
const TOKENS: &str = include_str!("../../../../bins/agentcore-shim/tests/it/tokens.json");
const EXPIRES_S: u64 = 4_102_444_800;

#[tokio::test]
async fn a_caller_who_stays_longer_than_its_token_lasts_gets_no_more_runs() {
    let tokens: Value = serde_json::from_str(TOKENS).unwrap();
    let keys = Health::ok(&json!({ "keys": tokens["keys"] }));
    let keys = Rig::with(parrot(), |server| server.probe("/keys", move || keys.clone())).await;
    let place = format!("http://{}/keys", keys.addr);
    let about = Health::ok(&json!({"issuer": "https://issuer.example", "jwks_uri": place}));
    let path = "/.well-known/openid-configuration";
    let issuer = Rig::with(parrot(), |server| server.probe(path, move || about.clone())).await;

    let now = Arc::new(AtomicU64::new(EXPIRES_S - 10));
    let clock = Arc::clone(&now);
    let config = JwtConfig::new(format!("http://{}{path}", issuer.addr).parse().unwrap())
        .with_audience(["a1"])
        .with_clock(Clock::from_fn(move || Duration::from_secs(clock.load(Ordering::Acquire))));
    let authenticator = Authenticator::Jwt(JwtVerifier::new(config).unwrap());
    let mut headers = HeaderMap::new();
    headers.insert("authorization", format!("Bearer {}", tokens["good"].as_str().unwrap()).parse().unwrap());
    let agent = still_let_in(Arc::new(parrot()), authenticator, headers);
    let asked = || RunRequest::new(RunAgentInput::decode(INPUT.as_bytes()).unwrap(), INPUT.into());

    assert!(agent.run(asked()).await.is_ok());
    now.store(EXPIRES_S + 60, Ordering::Release);
    let refused = agent.run(asked()).await.unwrap_err();
    assert_eq!((refused.status, &*refused.code), (401, "UNAUTHORIZED"));
    assert!(format!("{agent:?}").starts_with("StillLetIn {"));
}
